"""The criterion that a user's command decides."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from freeze_engine.diagnose.bisection.criteria import SHOWN, Answer
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix
from freeze_engine.errors import FreezerError
from freeze_engine.measure.candidate import CandidateError, inference, reported
from freeze_engine.process.fork import Lost
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.requests.criteria import CommandCriterion
from freeze_engine.requests.inputs import Inputs

_SKIP, _ABORT = 125, 128
#: Exit codes of shells that cannot run a command.
_SHELLS = {126: "a command that cannot be executed", 127: "a command that is not found"}
_STANDARD_ERROR = 2


@dataclass(slots=True)
class Command:
    """The criterion that a command, which gets the candidate as a file, exits with 0.

    It runs as under ``git bisect run``: 0 is good, 125 cannot be tested, others from 1 to 127 are bad; anything else
    ends the search. What it prints goes to standard error.

    Attributes:
        options: the command.
        suffix: what the file's name ends with.
        method: of the module, which the file has as its ``forward``.
    """

    options: CommandCriterion
    suffix: str
    method: str
    is_cheap: bool = False
    #: The command's own limit does not hold for the saving.
    limit_s: float | None = None

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Writes the candidate and runs the command."""
        with temporary_folder("freezer-bisect-") as folder:
            file = folder / f"candidate{self.suffix}"
            try:
                with inference(), reported():
                    given = prefix.save(file)
                    inputs = folder / "inputs.pt"
                    save_inputs(given, inputs)
            except CandidateError as error:
                return Answer("untestable", f"torch cannot save it: {' '.join(str(error).split())}"[:SHOWN])
            code = self._run(file, inputs, prefix)
        if isinstance(code, Answer):
            return code
        return self._meaning(code, prefix, is_first=prefix is before)

    def lost(self, lost: Lost) -> Answer:
        """Returns that it could not be saved: the command itself never ends the process that runs it."""
        return Answer("untestable", f"torch cannot save it: {lost.message}")

    def doubt(self) -> str | None:
        """Returns nothing: only its author knows why a command fails."""
        return None

    def _run(self, file: Path, inputs: Path, prefix: Prefix) -> int | Answer:
        words, limit_s = self.options.words, self.options.limit_s
        told: dict[str, Any] = {
            "FREEZER_CANDIDATE": file,
            "FREEZER_INPUTS": inputs,
            "FREEZER_METHOD": self.method,
            "FREEZER_STEP": "" if prefix.step is None else prefix.step,
        }
        environment = os.environ | {name: str(value) for name, value in told.items()}
        try:
            ended = subprocess.run(
                [*words, str(file)],
                env=environment,
                timeout=limit_s,
                stdin=subprocess.DEVNULL,
                stdout=_STANDARD_ERROR,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answer("bad", f"took longer than {limit_s:g} s")
        except OSError as error:
            raise FreezerError(f"{words[0]}: the command cannot be run: {error.strerror}") from error
        return ended.returncode

    def _meaning(self, code: int, prefix: Prefix, is_first: bool) -> Answer:
        """Returns what an exit code means.

        Raises:
            FreezerError: it ends the search.
        """
        program = self.options.words[0]
        if code == _SKIP:
            return Answer("untestable", f"exited with {code}")
        if code < 0 or code >= _ABORT:
            ending = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
            raise FreezerError(
                f"{program} {ending} on {prefix.name}, which ends the search; exit with 1 for a bad candidate"
            )
        if is_first and code in _SHELLS:
            # Nothing was frozen yet; `git bisect run` ends here as well.
            raise FreezerError(f"{program} exited with {code} on {prefix.name}: shells do so for {_SHELLS[code]}")
        return Answer("bad" if code else "good", f"exited with {code}")


def save_inputs(inputs: Inputs, file: Path) -> None:
    """Writes the inputs of a saved candidate, for ``torch.load``."""
    torch.save({"args": tuple(inputs.args), "kwargs": dict(inputs.kwargs)}, file)
