"""Expectations about the folds that must happen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from freeze_engine.analysis.expectations.result import Finding, counted, source_text, step_nodes, step_text
from freeze_engine.errors import FreezerError
from freeze_engine.requests.suggestions import did_you_mean
from freeze_engine.trace import NearMiss, Node, Trace

#: Kinds of TorchScript, all of them, and the ones of Inductor's that are not named after a pattern of torch's.
FOLD_KINDS: Final = (
    "aten_conv",
    "bn_bn",
    "concat_linear",
    "constant",
    "conv_add",
    "conv_add_relu",
    "conv_bn",
    "conv_mul",
    "conv_relu",
    "dropout",
    "embedding_add",
    "embedding_mul",
    "functional",
    "linear_add",
    "linear_bn",
    "linear_mul",
    "linear_transpose",
    "mkldnn",
)
_RECORD: Final = "Record the freeze itself: freezer-ui record, or freezer-ui run."
_FORM: Final = re.compile(r"(?P<kind>\w+)(?:=(?P<count>\d+)|(?P<all>:all))?")


@dataclass(frozen=True, slots=True)
class FoldCount:
    """The number of times that a kind of fold must happen.

    Attributes:
        kind: as in `Rewrite.kind`.
        count: just so often; ``any`` for at least once, ``all`` for at least once and wherever it could have.
    """

    kind: str
    count: int | Literal["any", "all"] = "any"


def read_fold(text: str) -> FoldCount:
    """Reads ``conv_bn``, ``conv_bn=20`` or ``conv_bn:all``.

    Raises:
        FreezerError: it is none of these.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise FreezerError(
            f"{text!r} is not an expectation of a fold; write its kind, such as conv_bn, conv_bn=20 or conv_bn:all"
        )
    if found["count"] is not None:
        return FoldCount(found["kind"], int(found["count"]))
    return FoldCount(found["kind"], "all" if found["all"] else "any")


def folded(trace: Trace, fold: FoldCount) -> Finding:
    """Expects a kind of fold to happen often enough.

    Args:
        trace: the recording.
        fold: the expected fold.
    """
    if not trace.is_recording:
        told = "The trace was read from what a freeze left, and shows no passes."
        return Finding("expect_folded", f"{fold.kind} folded{_often(fold)}", "cannot tell", told, (), _RECORD)
    kinds = Counter(rewrite.kind for step in trace.steps for rewrite in step.rewrites)
    missed = [miss for miss in trace.near_misses if miss.kind == fold.kind]
    happened = kinds[fold.kind]
    wanted = f"{fold.kind} folded{_often(fold)}"
    told = f"{fold.kind}: {happened} folded, {len(missed)} could have been and were not."
    failed = (
        happened != fold.count if isinstance(fold.count, int) else happened == 0 or (fold.count == "all" and missed)
    )
    doubt = _doubt(trace, fold.kind, kinds, missed)
    if not failed and doubt:
        return Finding("expect_folded", wanted, "cannot tell", told, (), doubt)
    if not failed:
        return Finding("expect_folded", wanted, "ok", told, tuple(_where(trace, fold.kind)))
    nodes = {index: step_nodes(trace, trace.steps[index]) for index in {miss.step for miss in missed}}
    evidence = [line for miss in missed for line in _near_miss(trace, miss, nodes[miss.step].get(miss.node))]
    if happened == 0 and not missed:
        others = ", ".join(f"{kind} ({number})" for kind, number in sorted(kinds.items())) or "none"
        evidence = [f"nothing was seen that could be folded so; folds of this freeze: {others}"]
    elif isinstance(fold.count, int):
        evidence = [*_where(trace, fold.kind), *evidence]
    advice = list(dict.fromkeys((*([doubt] if doubt else []), *(miss.advice for miss in missed if miss.advice))))
    if trace.uses_inductor and fold.kind.endswith("_bn"):
        op = fold.kind.removesuffix("_bn")
        advice.append(f"Inductor takes batch norms apart before it folds them: expect {op}_mul and {op}_add.")
    return Finding("expect_folded", wanted, "failed", told, tuple(evidence), " ".join(advice))


def _doubt(trace: Trace, kind: str, kinds: Mapping[str, int], missed: list[NearMiss]) -> str:
    """Returns a doubt about a kind that no fold has, empty if there may be one: patterns have any name."""
    if kind in FOLD_KINDS or kinds.get(kind) or missed:
        return ""
    meant = did_you_mean(kind, (*FOLD_KINDS, *kinds))
    if trace.uses_inductor and not meant:
        return ""
    return f"No fold is called {kind}.{meant} There are {', '.join(sorted({*FOLD_KINDS, *kinds}))}."


def _often(fold: FoldCount) -> str:
    if fold.count == "any":
        return ""
    return " wherever possible" if fold.count == "all" else f" {counted(fold.count, 'time')}"


def _where(trace: Trace, kind: str) -> Iterator[str]:
    for step in trace.steps:
        modules = [", ".join(rewrite.modules) for rewrite in step.rewrites if rewrite.kind == kind]
        if modules:
            names = [name for name in modules if name]
            yield f"{len(modules)} by {step_text(step)}" + (f": {'; '.join(names[:6])}" if names else "")


def _near_miss(trace: Trace, miss: NearMiss, node: Node | None) -> Iterator[str]:
    step = trace.steps[miss.step]
    beside = f" next to %{miss.neighbour}" if miss.neighbour else ""
    yield f"%{miss.node}{beside}, {step_text(step)}: {miss.reason}"
    yield f"  {miss.detail}"
    place = source_text(trace, None if node is None else node.source)
    if place:
        yield f"  at {place}"
