"""The checks that ask whether a candidate is good."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from freeze_engine.bisection.outcome import Verdict
from freeze_engine.bisection.prefix import Prefix
from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.measure import statistics
from freeze_engine.measure.candidate import CandidateError, inference, reported
from freeze_engine.measure.generated import GIVEN
from freeze_engine.measure.latency import measure_latency
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.options import AccuracyCheck, CommandCheck, LatencyCheck
from freeze_engine.trace import Numerics

_SKIP, _ABORT = 125, 128
_STANDARD_ERROR = 2
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check says of a candidate.

    Attributes:
        verdict: the verdict.
        detail: what it stands on, in one line.
        inputs: name of the inputs that show it, see `freeze_engine.measure.generated`.
        raised: whether the candidate did not run at all.
    """

    verdict: Verdict
    detail: str
    inputs: str = GIVEN
    raised: bool = False


class Check(Protocol):
    """A question put to one candidate after the other."""

    is_cheap: bool
    """Whether every step can be asked, and not only those that a search needs."""

    @property
    def name(self) -> str:
        """What is checked, in words."""

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Asks.

        Args:
            prefix: the candidate.
            before: an earlier one that is good.
        """


@dataclass(slots=True)
class Accuracy:
    """Whether the outputs are those of the eager module.

    Attributes:
        options: what to accept.
        eager: the module as it was before freezing.
        inputs: what to run both on.
    """

    options: AccuracyCheck
    eager: torch.nn.Module
    inputs: Inputs
    is_cheap: bool = True

    @property
    def name(self) -> str:
        """What is checked, in words."""
        most = self.options.max_error
        wanted = "torch.testing.assert_close" if most is None else f"within {most:g}"
        return f"accuracy: outputs against eager, {wanted}"

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Runs both and compares."""
        options = NumericsOptions(reference64=False, input_sets=self.options.input_sets)
        report = measure_numerics([prefix.candidate], self.eager, self.inputs.args, self.inputs.kwargs, options)
        numerics = report.numerics[prefix.candidate.key]
        failed = next((each for each in numerics if not self._accepts(each)), None)
        if failed is None:
            return Answer("good", f"largest error {max((each.max_abs for each in numerics), default=0.0):.3g}")
        said = f"largest error {failed.max_abs:.3g}" if failed.error is None else failed.error.splitlines()[0][:_SHOWN]
        where = "" if failed.inputs == GIVEN else f", on generated inputs ({failed.inputs})"
        return Answer("bad", f"{said}{where}", failed.inputs, raised=failed.error is not None and not failed.outputs)

    def _accepts(self, numerics: Numerics) -> bool:
        most = self.options.max_error
        if most is None:
            return numerics.close
        within = (output.max_abs <= most and not output.nonfinite for output in numerics.outputs)
        return numerics.error is None and all(within)


@dataclass(slots=True)
class Latency:
    """Whether it is no slower than an earlier candidate, run in turns with it.

    Attributes:
        options: how long to measure, and what to accept.
        inputs: what to run both on.
        device: where.
    """

    options: LatencyCheck
    inputs: Inputs
    device: str
    is_cheap: bool = False

    @property
    def name(self) -> str:
        """What is checked, in words."""
        return f"latency on {self.device}: no more than {self.options.margin:.0%} slower"

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Measures both in the same rounds."""
        if prefix is before:
            return Answer("good", "what the others are held against")
        options = LatencyOptions(seconds=self.options.seconds, margin=self.options.margin)
        pair = [before.candidate, prefix.candidate]
        report = measure_latency(pair, self.inputs.args, self.inputs.kwargs, self.device, options)
        ours, theirs = prefix.candidate.key, before.candidate.key
        if ours in report.failures:
            return Answer("untestable", f"could not be timed: {report.failures[ours]}"[:_SHOWN])
        if theirs in report.failures:
            return Answer("untestable", f"{before.name} could not be timed: {report.failures[theirs]}"[:_SHOWN])
        times = [np.array(report.samples[key]) for key in (ours, theirs)]
        comparison = statistics.compare(times[0], times[1], options.margin)
        (claim,) = statistics.verdicts([comparison])
        ratio = comparison.ratio
        text = f"{ratio.value:.3f} × the time of {before.name} ({ratio.low:.3f} to {ratio.high:.3f}): {claim}"
        return Answer("bad" if claim == "slower" else "good", text)


@dataclass(slots=True)
class Command:
    """Whether a command that gets the candidate as a file exits with 0.

    It is run as ``git bisect run`` runs one: 0 is good, 1 to 127 bad but for 125, which cannot be tested; anything else
    ends the search. What it prints goes to standard error.

    Attributes:
        options: the command.
        suffix: what the file's name ends with.
    """

    options: CommandCheck
    suffix: str
    is_cheap: bool = False

    @property
    def name(self) -> str:
        """What is checked, in words."""
        return f"command: {shlex.join(self.options.words)}"

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Writes the candidate and runs the command."""
        with tempfile.TemporaryDirectory(prefix="freezer-bisect-") as folder:
            file = Path(folder) / f"candidate{self.suffix}"
            try:
                with inference(), reported():
                    given = prefix.save(file)
                    inputs = Path(folder) / "inputs.pt"
                    torch.save({"args": tuple(given.args), "kwargs": dict(given.kwargs)}, inputs)
            except CandidateError as error:
                return Answer("untestable", f"torch cannot save it: {' '.join(str(error).split())}"[:_SHOWN])
            return self._run(file, inputs, prefix)

    def _run(self, file: Path, inputs: Path, prefix: Prefix) -> Answer:
        words, limit_s = self.options.words, self.options.limit_s
        told: dict[str, Any] = {
            "FREEZER_CANDIDATE": file,
            "FREEZER_INPUTS": inputs,
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
        code = ended.returncode
        if code == _SKIP:
            return Answer("untestable", f"exited with {code}")
        if code < 0 or code >= _ABORT:
            ending = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
            raise FreezerError(
                f"{words[0]} {ending} on {prefix.name}, which ends the search; exit with 1 for a bad candidate"
            )
        return Answer("bad" if code else "good", f"exited with {code}")
