"""Estimates the remaining time of a recording, from what it has taken so far and what is planned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from freeze_engine.requests.options import Measure
from freeze_engine.worker.phases import EXECUTOR, NUMERICS, SAVING

#: In a phase of a few units, each of its own kind, the time of one says nothing about another.
_FEWEST_UNITS = 10
#: Before this much time has passed, an estimate would jump about.
_FIRST_TOLD_S = 1.0
#: Candidates are warmed up one after the other before they take rounds; a warm-up does not tell how long those take.
_WARM_UP = "latency: warming", "ablation: warming"
_ROUND: Final = "latency: round"
_NUMBER: Final = re.compile(r"latency: round (\d+)")
#: As `freeze_engine.measure.rounds.LatencyOptions` takes, however slow the model is.
_FEWEST_ROUNDS: Final = 10
#: Calls of each candidate before those that are compared (`freeze_engine.measure.numerics.NumericsOptions`).
_WARM_CALLS: Final = 2
#: As `freeze_engine.backends.torchscript.replay.runtime` calls the frozen module: at least this often, and
#: more often within this time.
_EXECUTOR_CALLS: Final = 7
_EXECUTOR_S: Final = 1.0
#: Reference runs beside those of the candidates: eager in its own dtype, and in float64.
_REFERENCES: Final = 2


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of the current work: units of one kind in one phase.

    Attributes:
        done, total: units of the phase.
        since_s: clock when the work began, in s.
        kind: what the units are, such as ``latency: round``; another kind has a pace of its own.
        begun: units of the phase that were done when the work began.
    """

    done: int
    total: int
    since_s: float
    kind: str = ""
    begun: int = 0

    def advanced(self, kind: str, done: int, total: int, now_s: float) -> Pace:
        """Returns the pace after a report; work of another kind, or counted anew, begins a new pace.

        Args:
            kind: what the units are.
            done, total: as reported.
            now_s: clock, in s.
        """
        if kind != self.kind or total != self.total or done < self.done:
            return Pace(done, total, now_s, kind, done)
        return Pace(done, total, self.since_s, kind, self.begun)

    def left_s(self, now_s: float) -> float | None:
        """Returns how many seconds the phase still takes, ``None`` if that is not known (yet, or any more).

        Args:
            now_s: clock, in s.
        """
        spent_s = now_s - self.since_s
        if (
            self.kind in _WARM_UP
            or self.total < _FEWEST_UNITS
            or not self.begun < self.done < self.total
            or spent_s < _FIRST_TOLD_S
        ):
            return None
        return spent_s * (self.total - self.done) / (self.done - self.begun)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The remaining time of a whole recording, as far as it is known.

    Latency takes as many rounds as fit into its time, and each round calls every candidate. Comparing numbers calls
    each once per set of inputs and a few times before, so a round says how long that takes.

    Attributes:
        measure: what is measured, ``None`` for nothing.
        pace: of the current work.
        candidates: how many graphs are timed against each other, as far as they were warmed up.
        number: of the round that runs; 0 where none does.
        round_s: time of one round of all of them, ``None`` before it is known.
    """

    measure: Measure | None
    pace: Pace
    candidates: int = 0
    number: int = 0
    round_s: float | None = None

    def advanced(self, message: str, done: int, total: int, now_s: float) -> Outlook:
        """Returns the outlook after a report.

        Args:
            message: as reported.
            done, total: units of the phase.
            now_s: clock, in s.
        """
        kind = kind_of(message)
        pace = self.pace.advanced(kind, done, total, now_s)
        candidates = self.candidates + (kind == _WARM_UP[0])
        round_s = self.round_s
        found = _NUMBER.match(message)
        number = int(found[1]) if found else 0
        if number > 1 and kind == self.pace.kind:
            round_s = (now_s - pace.since_s) / (number - 1)
        return replace(self, pace=pace, candidates=candidates, number=number, round_s=round_s)

    def phase_left_s(self, now_s: float) -> float | None:
        """Returns how many seconds the current phase still takes, ``None`` if that is not known.

        Args:
            now_s: clock, in s.
        """
        left_s = self.pace.left_s(now_s)
        if left_s is None or self.pace.kind != _ROUND or self.measure is None or len(self.measure.devices) > 1:
            return left_s
        # Rounds end when their time is over, unless there are too few of them.
        to_come_s = max(0, _FEWEST_ROUNDS + 1 - self.number) * (self.round_s or 0.0)
        return min(left_s, max(self.measure.seconds - (now_s - self.pace.since_s), to_come_s))

    def left_s(self, later: Sequence[str], now_s: float) -> float | None:
        """Returns how many seconds the recording still takes, ``None`` if the time of a phase is not known.

        Args:
            later: the phases that are still to come.
            now_s: clock, in s.
        """
        here_s = self.phase_left_s(now_s)
        times_s = [self._phase_s(phase) for phase in later]
        known_s = [each_s for each_s in times_s if each_s is not None]
        return here_s + sum(known_s) if here_s is not None and len(known_s) == len(times_s) else None

    def _phase_s(self, phase: str) -> float | None:
        """Returns the expected time of a phase that is still to come; saving takes no time that matters."""
        if phase == SAVING:
            return 0.0
        if self.round_s is None or self.measure is None or not self.candidates:
            return None
        call_s = self.round_s / self.candidates
        if phase == NUMERICS:
            sets = self.measure.input_sets
            return (sets + _WARM_CALLS) * self.round_s + sets * _REFERENCES * call_s
        return max(_EXECUTOR_CALLS * call_s, _EXECUTOR_S) if phase == EXECUTOR else None


def kind_of(message: str) -> str:
    """Returns the kind of work that a message names: its phase, and the first word of what is done in it."""
    phase, _, rest = message.partition(": ")
    return f"{phase}: {rest.partition(' ')[0]}"


def left_text(seconds: float) -> str:
    """Returns a remaining time in words, such as ``about 40 s left``."""
    return f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"
