"""Estimates the remaining time of a phase of a recording, from what the same phase has taken so far."""

from __future__ import annotations

from dataclasses import dataclass

#: In a phase of a few units, each of its own kind, the time of one says nothing about another.
_FEWEST_UNITS = 10
#: Before this much time has passed, an estimate would jump about.
_FIRST_TOLD_S = 1.0
#: Candidates are warmed up one after the other before they take rounds; a warm-up does not tell how long those take.
_WARM_UP = "latency: warming", "ablation: warming"


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


def kind_of(message: str) -> str:
    """Returns the kind of work that a message names: its phase, and the first word of what is done in it."""
    phase, _, rest = message.partition(": ")
    return f"{phase}: {rest.partition(' ')[0]}"
