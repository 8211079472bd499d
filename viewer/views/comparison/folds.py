"""Compares which weights torch.compile and AOTInductor fold, and by which passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.wording import pass_text

_SHOWN: Final = 12


def folded_lines(diff: fe.TraceDiff) -> Iterator[str]:
    """Yields the weights that only one of torch.compile and AOTInductor folds, with the pass; nothing for other pairs.

    Args:
        diff: of two traces.
    """
    if diff.across_backends or diff.before.backend == diff.after.backend:
        return
    ours, theirs = ({fate.path: fate for fate in trace.attributes} for trace in (diff.before, diff.after))
    sides = (("A", diff.before, ours, theirs), ("B", diff.after, theirs, ours))
    both = sum(fate.fate == theirs[path].fate == "folded" for path, fate in ours.items() if path in theirs)
    alone = [list(_folded_alone(*side)) for side in sides]
    yield f"both fold {both} of {len(ours)} parameters and buffers" + ("" if any(alone) else ", and neither any other")
    yield from (line for lines in alone for line in lines)
    unseen = diff.before if diff.before.backend == "inductor" else diff.after
    step = next((step for step in unseen.steps if step.name == "replace_params_with_constants"), None)
    if step is not None:
        side = "A" if unseen is diff.before else "B"
        yield f"AOTInductor begins with the parameters as constants; in {side}, {pass_text(step)} makes them constants"


def _folded_alone(
    side: str, trace: fe.Trace, ours: Mapping[str, fe.AttributeFate], theirs: Mapping[str, fe.AttributeFate]
) -> Iterator[str]:
    passes: defaultdict[str, list[str]] = defaultdict(list)
    for path, fate in ours.items():
        if fate.fate == "folded" and (path not in theirs or theirs[path].fate != "folded"):
            passes[decider_text(trace, fate)].append(path)
    for decider, paths in passes.items():
        yield f"only {side} folds, by {decider}: {analysis.listed(paths, _SHOWN)}"


def decider_text(trace: fe.Trace, fate: fe.AttributeFate) -> str:
    """Returns the pass that decided a fate."""
    return "no pass" if fate.step is None else pass_text(trace.steps[fate.step])
