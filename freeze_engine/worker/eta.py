"""Estimates the remaining time of a phase of a recording."""

from __future__ import annotations

from dataclasses import dataclass

#: In a phase of a few units, each of its own kind, the time of one says nothing about another.
_FEWEST_UNITS = 10
#: Before this much time has passed, an estimate would jump about.
_FIRST_TOLD_S = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of the current phase.

    Attributes:
        done, total: units of the phase.
        since_s: clock when the phase began, in s.
    """

    done: int
    total: int
    since_s: float

    def advanced(self, done: int, total: int, now_s: float) -> Pace:
        """Returns the pace after a report; one that counts other units, or counts anew, begins a new phase.

        Args:
            done, total: as reported.
            now_s: clock, in s.
        """
        anew = total != self.total or done < self.done
        return Pace(done, total, now_s if anew else self.since_s)

    def left_s(self, now_s: float) -> float | None:
        """Returns how many seconds the phase still takes, ``None`` if that is not known (yet).

        Args:
            now_s: clock, in s.
        """
        spent_s = now_s - self.since_s
        if self.total < _FEWEST_UNITS or not 0 < self.done <= self.total or spent_s < _FIRST_TOLD_S:
            return None
        return spent_s * (self.total - self.done) / self.done
