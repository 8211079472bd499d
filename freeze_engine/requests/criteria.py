"""The criteria of a search for the culprit; plain data, free of torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AccuracyCriterion:
    """The criterion that a candidate's outputs are those of the eager module.

    Attributes:
        max_error: largest absolute difference to accept, ``None`` for the tolerances of ``torch.testing.assert_close``.
        input_sets: as of `freeze_engine.Measure`.
        limit_s: time limit for one candidate, in s; one that takes longer is bad.
    """

    max_error: float | None = None
    input_sets: int = 3
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class LatencyCriterion:
    """The criterion that a candidate is no slower than an earlier one, run in turns with it.

    Attributes:
        seconds: to spend on each comparison, in s, warm-up apart.
        margin: relative slowdown to accept; what noise could explain is never claimed.
        limit_s: as of `AccuracyCriterion`.
    """

    seconds: float = 3.0
    margin: float = 0.01
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class CommandCriterion:
    """A command that gets the candidate as a file: exit code 0 is good, 125 skips it, others to 127 are bad.

    Attributes:
        words: the command; the file is added as its last argument.
        limit_s: time limit of one run, in s; a candidate that takes longer is bad.
    """

    words: tuple[str, ...]
    limit_s: float | None = None
