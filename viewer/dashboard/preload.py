"""Renders the page's first payload in a renderer process while this process still imports the server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import freeze_engine as fe
from viewer.dashboard.payloads import Key, payload_key
from viewer.dashboard.render_process import Limits, RenderProcess


class EarlyPayload:
    """The payload of one trace, or of two side by side; its renderer process lives inside the `with` block.

    Args:
        paths: absolute, of the trace files; without any there is nothing to render.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._key: Key | None = None
        self._process: RenderProcess | None = None

    def __enter__(self) -> EarlyPayload:
        if not self.paths:
            return self
        # An error in the files, or in starting a process, surfaces again when the server renders the payload.
        with suppress(fe.FreezerError, OSError):
            self._key = payload_key(self.paths)
            self._process = RenderProcess(Limits())
            self._process.send("payload", self.paths)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.close()

    def take(self) -> RenderProcess | None:
        """Returns the process, whose result `receive` reads; ``None`` if there is none, or a file has changed since."""
        with suppress(fe.FreezerError):
            if self._key == payload_key(self.paths):
                return self._process
        return None
