"""The list of expectations of a freeze."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal

from freeze_engine.analysis.expectations.accuracy import error_within, outputs_close
from freeze_engine.analysis.expectations.attributes import none_preserved, preserved
from freeze_engine.analysis.expectations.folding import FoldCount, folded, read_fold
from freeze_engine.analysis.expectations.outcome import checks_passed, freeze_finished, notices_absent
from freeze_engine.analysis.expectations.quantisation import stays_quantised
from freeze_engine.analysis.expectations.resources import constants_within, not_slower, ratio_within, survives_saving
from freeze_engine.analysis.expectations.result import Finding
from freeze_engine.analysis.finished import is_finished
from freeze_engine.errors import FreezerError
from freeze_engine.requests.options import Measure
from freeze_engine.requests.suggestions import did_you_mean
from freeze_engine.trace import Trace
from freeze_engine.trace.notice_codes import NOTICE_CODES

Texts = str | tuple[str, ...]
"""One text or several."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """The user's expectations of a freeze; that the freeze finishes is always expected.

    Attributes:
        max_error: the largest absolute error that an output of the frozen module may have.
        within_tolerance: whether its outputs must be within ``torch.testing.assert_close``'s default tolerances.
        reference: what these two compare with: the eager module, as it is or in double precision.
        expect_folded: kinds of folds that must have happened: ``conv_bn`` at least once, ``conv_bn=20`` just as often,
            ``conv_bn:all`` at least once and wherever it could have. Kinds are those of `Rewrite.kind`.
        no_preserved: patterns of attributes none of which may be preserved; ``()`` for all that the user did not ask to
            preserve. ``*`` stands for anything, dots included.
        expect_preserved: patterns of attributes that must be preserved, each of at least one.
        max_latency_ratio: the largest time, relative to the first step's, that the frozen module may take.
        no_slower: whether it must not be measurably slower than the first step.
        max_constant_bytes: the most bytes that the constants of a final graph may hold.
        saves: whether the frozen module must survive saving and loading.
        no_failed_checks: whether all checks of the frozen module (`Trace.checks`) must have passed.
        stays_quantised: whether every quantised weight must stay quantised.
        no_notices: codes of notices that must not be there, of `freeze_engine.NOTICE_CODES`.
    """

    max_error: float | None = None
    within_tolerance: bool = False
    reference: Literal["eager", "float64"] = "eager"
    expect_folded: Texts = ()
    no_preserved: Texts | None = None
    expect_preserved: Texts = ()
    max_latency_ratio: float | None = None
    no_slower: bool = False
    max_constant_bytes: int | None = None
    saves: bool = False
    no_failed_checks: bool = False
    stays_quantised: bool = False
    no_notices: Texts = ()

    def __post_init__(self) -> None:
        """Rejects expectations that no trace could answer.

        Raises:
            FreezerError: a limit is negative or no number, a reference or the code of a notice is not known, or a fold
                cannot be read.
        """
        for name in ("max_error", "max_latency_ratio", "max_constant_bytes"):
            limit = getattr(self, name)
            if limit is not None and not 0 <= limit < float("inf"):
                raise FreezerError(f"{name}={limit!r} is not a limit: give a number from 0 on")
        if self.reference not in ("eager", "float64"):
            raise FreezerError(f"reference={self.reference!r} is not known: errors are against 'eager' or 'float64'")
        for code in _several(self.no_notices):
            if code not in NOTICE_CODES:
                meant = did_you_mean(code, NOTICE_CODES)
                raise FreezerError(f"there is no notice {code!r}.{meant} The codes are {', '.join(NOTICE_CODES)}.")
        tuple(self.folds())

    @property
    def empty(self) -> bool:
        """Returns whether nothing is expected except that the freeze finishes."""
        return all(getattr(self, field.name) == field.default for field in fields(self) if field.name != "reference")

    def folds(self) -> Iterator[FoldCount]:
        """Yields the expectation for each kind of fold."""
        return (read_fold(text) for text in _several(self.expect_folded))

    def measure(self) -> Measure | None:
        """Returns the measurements that the expectations need, ``None`` for none."""
        latency = self.max_latency_ratio is not None or self.no_slower
        numerics = self.max_error is not None or self.within_tolerance
        memory = self.max_constant_bytes is not None or self.saves
        if not (latency or numerics or memory):
            return None
        return Measure(latency=latency, numerics=numerics, memory=memory, runtime=False)

    def evaluate(self, trace: Trace) -> tuple[Finding, ...]:
        """Checks a trace against the expectations.

        Args:
            trace: the recording; also one whose freeze failed.

        Returns:
            One finding per expectation, for patterns, folds, checks and notices one each, in the order of the fields;
            first of all one on the freeze itself if that failed.
        """
        ended = tuple(freeze_finished(trace))
        found = tuple(self._findings(trace))
        return (*ended, *(found if is_finished(trace) else map(_undecided, found)))

    def _findings(self, trace: Trace) -> Iterator[Finding]:
        if self.max_error is not None:
            yield error_within(trace, self.max_error, self.reference)
        if self.within_tolerance:
            yield outputs_close(trace, self.reference)
        yield from (folded(trace, fold) for fold in self.folds())
        if self.no_preserved is not None:
            yield from (none_preserved(trace, pattern) for pattern in _several(self.no_preserved) or (None,))
        yield from (preserved(trace, pattern) for pattern in _several(self.expect_preserved))
        if self.max_latency_ratio is not None:
            yield ratio_within(trace, self.max_latency_ratio)
        if self.no_slower:
            yield not_slower(trace)
        if self.max_constant_bytes is not None:
            yield constants_within(trace, self.max_constant_bytes)
        if self.saves:
            yield survives_saving(trace)
        if self.no_failed_checks:
            yield from checks_passed(trace)
        if self.stays_quantised:
            yield stays_quantised(trace)
        yield from (notices_absent(trace, code) for code in _several(self.no_notices))


def _undecided(finding: Finding) -> Finding:
    message = "The freeze did not come to its end, so this was not decided."
    return replace(finding, outcome="cannot tell", message=message, evidence=(), remedy="")


def _several(texts: Texts) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)
