"""What the page will load first, made in a process of its own while this one still loads the server.

Run as ``python -m viewer.dashboard.early TRACE [TRACE]`` it writes to standard output: a line of JSON that tells of the
traces, then the payload.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

import freeze_engine as fe
from viewer.dashboard.library import RecentTrace
from viewer.dashboard.payloads import Key, Payload, make_payload, payload_key


class EarlyPayload:
    """The payload of one trace, or of two side by side; inside the block it is being made.

    Args:
        paths: absolute, of the trace files; with none there is nothing to make.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._key: Key | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> EarlyPayload:
        if not self.paths:
            return self
        # Whatever is wrong with the files, or with starting a process, shows again when the server makes the payload.
        with suppress(fe.FreezerError, OSError):
            self._key = payload_key(self.paths)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "viewer.dashboard.early", *map(str, self.paths)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt at the terminal is for the server
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def payload(self) -> Payload:
        """Waits for the payload and returns it; makes it here and now where the process could not.

        Raises:
            FreezerError: a trace is not there or cannot be read.
        """
        process, key = self._process, self._key
        if process is None or process.stdout is None:
            return make_payload(self.paths)
        told, packed = process.stdout.readline(), process.stdout.read()
        if process.wait() != 0 or key != payload_key(self.paths):
            return make_payload(self.paths)
        return Payload(packed, tuple(RecentTrace(**each) for each in json.loads(told)))


def main(arguments: Sequence[str]) -> None:
    """Writes the payload of the traces that are named."""
    payload = make_payload([Path(argument) for argument in arguments])
    sys.stdout.buffer.write(json.dumps([asdict(each) for each in payload.shown]).encode() + b"\n" + payload.data)


if __name__ == "__main__":
    main(sys.argv[1:])
