"""What came out of a sweep, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from freeze_engine.sweep import SweepRow

#: Recordings that a sentence names; it counts the others.
_NAMED: Final = 3
_STATUSES: Final = {"timed_out": "timed out", "over_limit": "over the memory limit"}


def sweep_sentences(rows: Sequence[SweepRow]) -> tuple[str, ...]:
    """Returns the outcome of some recordings: what was recorded, outputs, weights, time and checks.

    Args:
        rows: in the order of the table.

    Returns:
        Sentences, the first on what was recorded; nothing is said of what was not measured in any recording.
    """
    if not rows:
        return ("Nothing is recorded yet.",)
    recorded = [row for row in rows if row.is_recorded]
    parts = (_recorded, _outputs, _weights, _times, _checks)
    return tuple(sentence for part in parts for sentence in part(rows if part is _recorded else recorded))


def _recorded(rows: Sequence[SweepRow]) -> Iterator[str]:
    missing = [row for row in rows if not row.is_recorded]
    if not missing:
        yield "The recording is complete." if len(rows) == 1 else f"All {len(rows)} recordings are complete."
        return
    kinds = [status for status, _ in Counter(row.status for row in missing).most_common()]
    each = "; ".join(_missing(rows, status) for status in kinds)
    yield f"{len(rows) - len(missing)} of {len(rows)} recordings are complete; {each}."


def _missing(rows: Sequence[SweepRow], status: str) -> str:
    count = sum(row.status == status for row in rows)
    return f"{count} {_STATUSES.get(status, status)} ({_names(rows, lambda row: row.status == status)})"


def _outputs(rows: Sequence[SweepRow]) -> Iterator[str]:
    compared = [row for row in rows if row.is_close is not None]
    past = _names(compared, lambda row: row.is_close is False)
    count = sum(row.is_close is False for row in compared)
    left = len(rows) - len(compared)
    rest = f"; {left} {'was' if left == 1 else 'were'} not compared" if left else ""
    if compared and not count:
        which = "The outputs" if not left else f"The outputs of {len(compared)}"
        yield f"{which} are within torch's tolerances{rest}."
    elif compared:
        yield f"The outputs of {count} are past torch's tolerances ({past}){rest}."


def _weights(rows: Sequence[SweepRow]) -> Iterator[str]:
    known = [row for row in rows if row.frozen is not None]
    kept = sum(bool(row.preserved_names) for row in known)
    left = len(rows) - len(known)
    if known and not kept:
        rest = f" in {len(known)}; of {left} their fates are unknown" if left else ""
        yield f"All weights and buffers in use are frozen{rest}."
    elif known:
        named = _names(known, lambda row: bool(row.preserved_names), lambda row: f"{len(row.preserved_names)} in ")
        yield f"{kept} {'keeps' if kept == 1 else 'keep'} weights or buffers as attributes ({named})."


def _times(rows: Sequence[SweepRow]) -> Iterator[str]:
    claims = Counter(row.latency_claim for row in rows if row.latency_claim)
    if not claims:
        return
    slower = f" ({_names(rows, lambda row: row.latency_claim == 'slower')})" if claims["slower"] else ""
    same = claims.total() - claims["faster"] - claims["slower"]
    counts = (
        (claims["faster"], "faster"),
        (claims["slower"], f"slower{slower}"),
        (same, "without a measurable difference"),
    )
    yield f"Time per call after freezing: {', '.join(f'{count} {what}' for count, what in counts if count)}."


def _checks(rows: Sequence[SweepRow]) -> Iterator[str]:
    failed = sum(bool(row.checks_failed) for row in rows)
    if failed:
        yield f"Checks failed in {failed} ({_names(rows, lambda row: bool(row.checks_failed))})."


def _names(
    rows: Sequence[SweepRow], choose: Callable[[SweepRow], bool], before: Callable[[SweepRow], str] = lambda _: ""
) -> str:
    """Returns the names of the chosen rows, with the parts that tell a row from the others of its model.

    A model whose rows are all chosen, with the same text before each, is named once.
    """
    chosen = [row for row in rows if choose(row)]
    of_model: dict[str, list[SweepRow]] = {}
    for row in rows:
        of_model.setdefault(row.model, []).append(row)
    named: dict[str, int] = {}
    for row in chosen:
        siblings = of_model[row.model]
        is_whole = all(choose(other) and before(other) == before(row) for other in siblings)
        name = f"{before(row)}{row.model if is_whole else _distinct(row, siblings)}"
        named[name] = named.get(name, 0) + 1
    shown = list(named)[:_NAMED]
    more = len(chosen) - sum(named[name] for name in shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])])


def _distinct(row: SweepRow, siblings: Sequence[SweepRow]) -> str:
    parts = (row.options, row.backend, row.environment)
    others = zip(*((other.options, other.backend, other.environment) for other in siblings), strict=True)
    differing = [part for part, values in zip(parts, others, strict=True) if len(set(values)) > 1]
    return " · ".join([row.model, *differing])
