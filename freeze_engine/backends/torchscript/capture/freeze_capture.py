"""Collects the freezes of one capture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from freeze_engine.backends.common.observer import SILENT, RecordingObserver
from freeze_engine.backends.torchscript.capture.raw import RawFreeze


class FreezeCapture:
    """The freezes seen by one ``with`` block, in the order they began.

    Args:
        observer: receives the events of the freezes.
        disabled_passes: names of the passes to disable.
    """

    def __init__(self, observer: RecordingObserver = SILENT, disabled_passes: tuple[str, ...] = ()) -> None:
        self.freezes: list[RawFreeze] = []
        self._observer = observer
        self._disabled_passes = disabled_passes
        #: The exceptions of this package that kept freezes from being recorded, in words.
        self.unread: list[str] = []
        #: Files of modules that were frozen before they were saved, as far as they were loaded.
        self.loaded_frozen: list[str] = []
        #: The functions of Python whose freezes happened inside a pass of torch that shows nothing of them.
        self.inside_passes: list[str] = []
        #: Called with a freeze when the user's call that made or continued it has ended.
        self.on_end: Callable[[RawFreeze], object] = lambda freeze: None
        #: Reads all that only live modules know; called before torch forgets its classes.
        self.settle: Callable[[], object] = lambda: None

    def begin(self, freeze: RawFreeze) -> None:
        """Adds a freeze that has just begun."""
        self.freezes.append(freeze)
        if self._observer is not SILENT:
            freeze.observer = self._observer
        if self._disabled_passes:
            freeze.disabled_passes = self._disabled_passes
            freeze.options["disabled_passes"] = list(self._disabled_passes)

    def drop(self, freeze: RawFreeze | None, error: Exception) -> None:
        """Forgets a freeze whose module cannot be read.

        Args:
            freeze: the freeze; ``None`` if it could not even begin.
            error: why.
        """
        if freeze is not None and freeze in self.freezes:
            self.freezes.remove(freeze)
        self.unread.append(f"{type(error).__name__}: {error}")

    def ended(self, freeze: RawFreeze) -> None:
        """Emits that a call of the user has ended, if the freeze is one of this capture."""
        if freeze in self.freezes:
            self.on_end(freeze)

    def find(self, graph: Any) -> RawFreeze | None:
        """Returns the latest freeze that has this live graph, or ``None``.

        A failed freeze left the module unchanged: later events of that module do not belong to it.
        """
        alive = (freeze for freeze in reversed(self.freezes) if freeze.failure is None)
        return next((freeze for freeze in alive if freeze.method_of(graph)), None)
