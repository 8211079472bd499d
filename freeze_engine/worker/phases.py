"""The phases of a recording, and how far the whole recording is: a share that never decreases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.worker.request import RecordRequest

#: Thousandths in which the whole recording is counted.
WHOLE: Final = 1000

STARTING: Final = "Starting"
SCRIPTING: Final = "Scripting"
TRACING: Final = "Tracing"
FREEZING_PHASE: Final = "Freezing"
COMPILING: Final = "Compiling"
READING: Final = "Reading what was recorded"
MEMORY: Final = "Measuring memory"
PREPARING: Final = "Preparing to measure"
LATENCY: Final = "Measuring latency"
NUMERICS: Final = "Comparing numbers"
KERNELS: Final = "Timing kernels"
EXECUTOR: Final = "Looking at the executor's graph"
ABLATION: Final = "Freezing without each pass"
ABLATION_LATENCY: Final = "Measuring latency without each pass"
ABLATION_NUMERICS: Final = "Comparing numbers without each pass"
CHECKS: Final = "Checking the frozen module"
SAVING: Final = "Saving"
KEEPING: Final = "Keeping what was recorded"

#: Width of each phase in the bar, relative to the others. Widths are no times: no remaining time is computed from them.
_WIDTHS: Final = {
    STARTING: 6,
    SCRIPTING: 4,
    TRACING: 4,
    FREEZING_PHASE: 12,
    COMPILING: 25,
    READING: 6,
    MEMORY: 5,
    PREPARING: 6,
    LATENCY: 50,
    NUMERICS: 15,
    KERNELS: 5,
    EXECUTOR: 2,
    ABLATION: 15,
    ABLATION_LATENCY: 50,
    ABLATION_NUMERICS: 15,
    CHECKS: 20,
    SAVING: 2,
}
#: The first word or words of a recording's messages; those in a phase that is not counted come with units of no use.
_PHASES: Final = (
    ("importing torch", STARTING, True),
    ("loading the model", STARTING, True),
    ("making the inputs", STARTING, True),
    ("scripting", SCRIPTING, False),
    ("tracing", TRACING, False),
    ("freezing", FREEZING_PHASE, False),
    ("compiling without freezing", PREPARING, True),
    ("compiling", COMPILING, False),
    ("reading what was recorded", READING, False),
    ("running the model once", MEMORY, True),
    ("saving and loading", MEMORY, True),
    ("preparing to run the steps", PREPARING, True),
    ("making it ", PREPARING, True),
    ("latency: ", LATENCY, True),
    ("timing the kernels", KERNELS, False),
    ("looking at the executor's graph", EXECUTOR, False),
    ("numerics: ", NUMERICS, True),
    ("ablation: freezing ", ABLATION, True),
    ("ablation: warming ", ABLATION_LATENCY, True),
    ("ablation: round ", ABLATION_LATENCY, True),
    ("ablation: running ", ABLATION_NUMERICS, True),
    ("ablation: comparing ", ABLATION_NUMERICS, True),
    ("check: ", CHECKS, True),
    ("writing the trace", SAVING, False),
    ("keeping what was recorded", KEEPING, False),
)


def phase_of(message: str) -> tuple[str | None, bool]:
    """Returns the phase that a message of a recording belongs to, and whether its units are shares of that phase."""
    return next(((phase, counted) for start, phase, counted in _PHASES if message.startswith(start)), (None, False))


def planned(request: RecordRequest, *, has_inputs: bool = True, via: str = "script") -> tuple[str, ...]:
    """Returns the phases that a recording will go through, in order.

    Args:
        request: the request.
        has_inputs: whether the recording has inputs; without any, TorchScript measures nothing.
        via: how the module becomes TorchScript, where the request leaves it open.
    """
    measure = request.measure if has_inputs else None
    is_inductor = request.backend != "torchscript"
    phases = [STARTING]
    convert = TRACING if (request.via or via) == "trace" else SCRIPTING
    phases += [COMPILING] if is_inductor else [convert, FREEZING_PHASE]
    phases.append(READING)
    if measure is not None:
        compares = measure.latency or measure.numerics
        wanted: tuple[tuple[str, bool], ...] = (
            (MEMORY, measure.memory and not is_inductor),
            (PREPARING, compares),
            (LATENCY, measure.latency),
            (NUMERICS, measure.numerics),
            (KERNELS, measure.latency and is_inductor),
            (EXECUTOR, measure.runtime and not is_inductor),
        )
        phases += [phase for phase, is_wanted in wanted if is_wanted]
        if request.ablation:
            wanted = ((ABLATION, True), (ABLATION_LATENCY, measure.latency), (ABLATION_NUMERICS, measure.numerics))
            phases += [phase for phase, is_wanted in wanted if is_wanted]
    phases += [CHECKS] if request.checks else []
    return (*phases, SAVING)


@dataclass(frozen=True, slots=True)
class Course:
    """How far a whole recording is.

    Attributes:
        phases: all that it goes through, in order.
        phase: the current one, empty before the first.
        done: thousandths of the whole; never less than before.
    """

    phases: tuple[str, ...]
    phase: str = ""
    done: int = 0

    def advanced(self, message: str, done: int, total: int) -> Course:
        """Returns the course after a report of the recording; an unknown message leaves the phase as it is.

        Args:
            message: as reported.
            done, total: units of the phase.
        """
        phase, is_counted = phase_of(message)
        if phase is None or phase not in self.phases:
            return Course(self.phases, phase or self.phase, self.done)
        share = min(1.0, max(0.0, done / total)) if is_counted and total > 0 else 0.0
        at = self.phases.index(phase)
        reached = _width(self.phases[:at]) + share * _width(self.phases[at : at + 1])
        return Course(self.phases, phase, max(self.done, int(WHOLE * reached / _width(self.phases))))

    @property
    def later(self) -> tuple[str, ...]:
        """The phases that are still to come."""
        return self.phases[self.phases.index(self.phase) + 1 :] if self.phase in self.phases else ()


def _width(phases: Sequence[str]) -> int:
    return sum(_WIDTHS[phase] for phase in phases)
