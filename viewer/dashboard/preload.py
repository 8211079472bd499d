"""What the page will load first, made in a renderer process while this one still loads the server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import freeze_engine as fe
from viewer.dashboard.payloads import Key, payload_key
from viewer.dashboard.render_process import Limits, RenderProcess


class EarlyPayload:
    """The payload of one trace, or of two side by side; inside the block it is being made, and its process lives.

    Args:
        paths: absolute, of the trace files; with none there is nothing to make.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._key: Key | None = None
        self._process: RenderProcess | None = None

    def __enter__(self) -> EarlyPayload:
        if not self.paths:
            return self
        # Whatever is wrong with the files, or with starting a process, shows again when the server makes the payload.
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
        """Returns the process, whose job `receive` ends; ``None`` where there is none, or a file has changed since."""
        with suppress(fe.FreezerError):
            if self._key == payload_key(self.paths):
                return self._process
        return None
