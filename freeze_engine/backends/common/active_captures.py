"""Active captures of each thread; torch stays patched as long as any thread has one."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from freeze_engine.backends.common.patching import Patch, patched

CaptureT = TypeVar("CaptureT")
MakePatches = Callable[[], tuple[Patch, ...]]


class ActiveCaptures(Generic[CaptureT]):
    """The active captures of one backend.

    A capture belongs to the thread, or async task, that entered it. The functions of torch are one per process: the
    first capture to begin replaces them, the last to end restores them.

    Args:
        name: of the context variable that holds them.
    """

    def __init__(self, name: str) -> None:
        self._inside: contextvars.ContextVar[tuple[CaptureT, ...]] = contextvars.ContextVar(name, default=())
        self._lock = threading.Lock()
        self._patched = contextlib.ExitStack()
        self._made: list[MakePatches] = []
        self._count = 0

    def here(self) -> tuple[CaptureT, ...]:
        """Returns the active captures of the running thread, outer ones first."""
        return self._inside.get()

    @contextlib.contextmanager
    def entered(self, capture: CaptureT, *patches: MakePatches) -> Iterator[None]:
        """Makes a capture active until the block ends.

        Args:
            capture: it belongs to this thread.
            patches: make the replacements in torch for it.
        """
        with self._lock:
            self._count += 1
        try:
            for make in patches:
                self.patch(make)
            self._inside.set((*self._inside.get(), capture))
            yield
        finally:
            # Captures may end in another order than they began.
            self._inside.set(tuple(each for each in self._inside.get() if each is not capture))
            self._leave()

    def patch(self, make: MakePatches) -> None:
        """Replaces functions of torch until the last capture ends, unless they are replaced already or none is active.

        Args:
            make: makes the patches; it also identifies them.
        """
        with self._lock:
            if self._count and make not in self._made:
                self._patched.enter_context(patched(make()))
                self._made.append(make)

    def _leave(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                self._made.clear()
                self._patched.close()
