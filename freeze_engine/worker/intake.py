"""Copies the traces of a sandboxed recording to the user's output folder, which the sandbox never sees."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from freeze_engine.errors import TraceFileError
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.worker.check_task import QUESTION
from freeze_engine.worker.child_process import WorkerProcess
from freeze_engine.worker.left_files import copy_left
from freeze_engine.worker.output_file import remove_unfinished, unfinished_file
from freeze_engine.worker.sandbox import Confinement, Sandbox
from freeze_engine.worker.strict import read_fields, read_object

_NAME: Final = "recorded.fztrace"
#: A trace file is packed, and unpacks to `freeze_engine.serde.MAX_BYTES` at most.
_MOST_BYTES: Final = 512 << 20
_CHECK_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Intake:
    """Validates and copies the trace files of one recording.

    Attributes:
        sandbox: where they are validated first.
        folder: of the recording, where the sandboxed process writes them.
        output: where the user wants the first; the others go beside it.
        others: names of further traces that may be there, see `freeze_engine.session.Recording`.
    """

    sandbox: Sandbox
    folder: Path
    output: Path
    others: tuple[str, ...] = ()

    @property
    def left(self) -> Path:
        """Returns the path where the sandboxed process writes the trace."""
        return self.folder / _NAME

    def take(self) -> None:
        """Copies the trace, in place of an earlier file.

        Raises:
            TraceFileError: the file is no trace, or cannot be written.
        """
        self._take(self.left, self.output)

    def take_others(self) -> None:
        """Copies the further traces, if there are any.

        Raises:
            TraceFileError: as of `take`.
        """
        for name in self.others:
            suffix = f".{name}.fztrace"
            if self.left.with_suffix(suffix).exists():
                self._take(self.left.with_suffix(suffix), self.output.with_suffix(suffix))

    def _take(self, left: Path, output: Path) -> None:
        copy = unfinished_file(output, self.folder)
        remove_unfinished(output, self.folder)
        try:
            copy_left(left, copy, _MOST_BYTES)
            self._check(copy, output)
            copy.replace(output)
        except OSError as error:
            raise TraceFileError(
                f"{output}: the recording's trace cannot be taken from its sandbox: {error}"
            ) from error
        finally:
            remove_unfinished(output, self.folder)

    def _check(self, copy: Path, output: Path) -> None:
        with temporary_folder("freezer-check-") as folder:
            (folder / QUESTION).write_text(json.dumps({"path": str(copy)}))
            process = WorkerProcess(
                "check_trace", folder, trusted=False, confinement=Confinement(self.sandbox, (copy,))
            )
            try:
                answers = deque(filter(None, process.lines(time.monotonic() + _CHECK_S)), maxlen=1)
            finally:
                process.close()
        if not answers:
            raise TraceFileError(f"{output}: what the recording left cannot be read: {process.last_words}")
        error = read_fields(_Answer, read_object(answers[0])).error
        if error is not None:
            told = error.replace(str(copy), str(output))
            raise TraceFileError(f"what the recording left is not a trace: {told}")


@dataclass(frozen=True, slots=True)
class _Answer:
    error: str | None
