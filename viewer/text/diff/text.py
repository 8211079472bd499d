"""Renders the difference of two freezes as text, for ``freezer-ui diff``."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Final, Literal

import freeze_engine as fe
from freeze_engine import analysis
from freeze_engine.trace import node_line
from viewer.text.diff.fates import fate_lines, is_weight
from viewer.text.diff.kernels import kernel_lines
from viewer.text.diff.measurements import error_lines, latency_lines
from viewer.text.diff.pass_pairs import purpose_lines
from viewer.text.printable import printable
from viewer.views.comparison import aspects
from viewer.views.comparison.aspects import Aspect
from viewer.views.comparison.folds import folded_lines
from viewer.views.failure import failure_message
from viewer.views.wording import counts_text

_WIDTH: Final = 100
_PASS_WIDTH: Final = 60
_SHOWN_NODES: Final = 6


def diff_text(diff: fe.TraceDiff, counted: Collection[Aspect], everything: bool = False) -> str:
    """Renders the difference of two traces for a terminal.

    Args:
        diff: of two traces, A and B.
        counted: the aspects in which a difference counts, for the conclusion.
        everything: whether to list all passes and attributes, also those without a new difference.

    Returns:
        Lines of at most 100 columns where words allow, the same for equal traces. Aspects in which nothing differs are
        left out, except measured numbers.
    """
    sections = (
        [_heading("A", diff.before), _heading("B", diff.after)],
        _section("Request", _settings(diff, ("recording", "options", "inputs"))),
        _section("Environment", _settings(diff, ("environment", "settings"))),
        _section("How they ended", _failures(diff)),
        _section("What each backend did for one purpose", purpose_lines(diff, everything)),
        _section(_passes_title(diff), () if diff.pairs and not everything else _passes(diff, everything)),
        _section("What torch.compile and AOTInductor fold", folded_lines(diff)),
        _section("Last graphs", chain.from_iterable(_final(diff, final, everything) for final in diff.finals)),
        _section(_attributes_title(diff), fate_lines(diff, everything)),
        _section("Folds that did not happen, in only one of them", _near_misses(diff)),
        _section("Latency, each from its own run", latency_lines(aspects.times(diff))),
        _section("Kernels", kernel_lines(diff, aspects.programs(diff), everything)),
        _section("Numeric error", error_lines(aspects.errors(diff))),
        _section("Checks", _checks(diff)),
        list(_conclusion(diff, counted)),
    )
    return "\n\n".join("\n".join(chain.from_iterable(map(_wrapped, lines))) for lines in sections if lines) + "\n"


def _attributes_title(diff: fe.TraceDiff) -> str:
    """Returns the section's title, with the numbers of parameters and buffers and of other attributes that differ."""
    counted = sum(map(is_weight, diff.attributes))
    others = len(diff.attributes) - counted
    rest = f", and {others} other attribute{'' if others == 1 else 's'}" if others else ""
    return f"Parameters and buffers: {counted} differ{rest}"


def _wrapped(line: str) -> list[str]:
    """Wraps a line at the width; continuation lines are indented."""
    line = printable(line)
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    ) or [line]


def _section(title: str, lines: Iterable[str]) -> list[str]:
    body = [f"  {line}" for line in lines]
    return [title, *body] if body else []


def _heading(side: str, trace: fe.Trace) -> str:
    where = f"torch {trace.environment.torch}, {trace.created}" if trace.created else f"torch {trace.environment.torch}"
    return f"{side}  {trace.name or 'unnamed model'}: {trace.backend}, {len(trace.steps)} steps, {where}"


def _settings(diff: fe.TraceDiff, subjects: Collection[str]) -> Iterator[str]:
    for setting in diff.settings:
        if setting.subject in subjects:
            before, after = (
                "(none)" if text is None else text or "(empty)" for text in (setting.before, setting.after)
            )
            name = f"input {setting.name}" if setting.subject == "inputs" else setting.name
            yield f"{name}: {before} → {after}"


def _failures(diff: fe.TraceDiff) -> Iterator[str]:
    if any(diff.failures):
        for side, failure in zip("AB", diff.failures, strict=True):
            ended = (
                f"{analysis.failure_title(failure)}. {failure_message(failure)}" if failure else "It came to its end."
            )
            yield f"{side}  {ended}"


def _passes_title(diff: fe.TraceDiff) -> str:
    differ = sum(_kind(diff, step) == "new" for step in diff.steps)
    return f"Passes: {differ} of {len(diff.steps)} differ in what they do"


def _passes(diff: fe.TraceDiff, everything: bool) -> Iterator[str]:
    kinds = [(_kind(diff, step), step) for step in diff.steps]
    told = [step for kind, step in kinds if everything or kind == "new"]
    several = len({step.method for step in diff.steps}) > 1
    width = min(_PASS_WIDTH, max((len(_pass_name(step, several)) for step in told), default=0))
    if told:
        yield f"{'A':>3} {'B':>3}  {'pass':<{width}}  what differs"
    for step in told:
        what = "; ".join(_pass_differences(diff, step)) or "nothing"
        places = (f"{'–' if place is None else place:>3}" for place in (step.before, step.after))
        yield f"{' '.join(places)}  {_pass_name(step, several):<{width}}  {what}"
    for kind, text in (("carried", "differ by what an earlier one left"), ("idle", "ran in only one, without effect")):
        number = sum(found == kind for found, _ in kinds)
        if number and not everything:
            yield f"… {number} {'more ' if told else ''}{text} (--all lists them)"


def _pass_name(step: analysis.StepDiff, with_method: bool) -> str:
    turn = f", round {step.round}" if step.round else ""
    return f"{step.stage} / {step.name}{turn}" + (f" of {step.method}" if with_method else "")


def _kind(diff: fe.TraceDiff, step: analysis.StepDiff) -> Literal["same", "new", "carried", "idle"]:
    """Returns whether a pass differs by its own work, only by an earlier pass's result, or only by its presence."""
    if step.graph is None:
        only = diff.before.steps[step.before] if step.before is not None else diff.after.steps[step.after or 0]
        return "new" if only.changed else "idle"
    if aspects.other_effect(diff, step):
        return "new"
    if not step.differs:
        return "same"
    return "carried" if step.carried else "new"


def _pass_differences(diff: fe.TraceDiff, step: analysis.StepDiff) -> Iterator[str]:
    sides = zip("AB", (step.before, step.after), (diff.before, diff.after), strict=True)
    present = [(side, trace.steps[place]) for side, place, trace in sides if place is not None]
    if step.graph is None:
        ((side, only),) = present
        yield f"only {side}, {'changed something' if only.changed else 'without effect'}"
        return
    if aspects.other_effect(diff, step):
        yield f"changed something in {next(side for side, one in present if one.changed)} only"
    if step.carried:
        yield "the graphs differ as before"
    elif not step.graph.empty:
        yield f"graph {counts_text(step.graph)}{_operators(step)}"
    yield from (
        f"{pair.reference}: {'A' if pair.after and pair.after.close else 'B'} is past tolerance"
        for pair in step.numerics
        if pair.verdict_differs
    )


def _operators(step: analysis.StepDiff) -> str:
    shown = analysis.listed(f"{op} {more:+}" for op, more in step.op_deltas)
    return f" (operators in B: {shown})" if shown else ""


def _final(diff: fe.TraceDiff, final: analysis.FinalDiff, everything: bool) -> Iterator[str]:
    before, after = aspects.constants(diff, final)
    if final.graph.empty and before == after:
        return
    yield f"{final.method}: {counts_text(final.graph) or 'the same nodes'}, {final.graph.kept} nodes the same"
    if final.op_deltas:
        yield f"  operators in B: {', '.join(f'{op} {more:+}' for op, more in final.op_deltas)}"
    if before != after:
        more = analysis.bytes_delta_text(after - before)
        yield f"  constants: {analysis.bytes_text(before)} → {analysis.bytes_text(after)} ({more})"
    nodes = list(_node_lines(diff, final))
    yield from (f"  {line}" for line in (nodes if everything else nodes[:_SHOWN_NODES]))
    if len(nodes) > _SHOWN_NODES and not everything:
        yield f"  … {len(nodes) - _SHOWN_NODES} more (--all lists them)"


def _node_lines(diff: fe.TraceDiff, final: analysis.FinalDiff) -> Iterator[str]:
    """Yields the differing inputs, then nodes, as torch prints them; nodes of only one graph come first."""
    before, after = diff.before.steps[final.before].graph, diff.after.steps[final.after].graph
    ours, theirs = ({node.id: node for node in graph.walk()} for graph in (before, after))
    yield from _input_lines(before, after)
    yield from (f"− {node_line(ours[name])}" for name in final.graph.removed)
    yield from (f"+ {node_line(theirs[name])}" for name in final.graph.added)
    for change in final.graph.changed:
        old, new = node_line(replace(ours[change.node], source=None)), node_line(theirs[change.node])
        yield f"~ {old} → {new}"


def _input_lines(before: fe.GraphSnapshot, after: fe.GraphSnapshot) -> Iterator[str]:
    for old, new in zip_longest(before.inputs, after.inputs):
        if old != new:
            sides = (f"%{value.name} : {value.type}" if value is not None else "(none)" for value in (old, new))
            yield f"input {' → '.join(sides)}"


def _near_misses(diff: fe.TraceDiff) -> Iterator[str]:
    for side, misses in zip("AB", diff.near_misses, strict=True):
        for miss in misses:
            beside = f" next to {miss.neighbour}" if miss.neighbour else ""
            yield f"{side}  {miss.kind}, {miss.node}{beside}: {miss.reason.replace('_', ' ')}"
            yield f"   {miss.detail}"


def _checks(diff: fe.TraceDiff) -> Iterator[str]:
    for name, pair in aspects.checks(diff).items():
        yield f"{name}: {' → '.join(map(analysis.check_outcome, pair))}"
        yield from (f"  {side}: {check.message}" for side, check in zip("AB", pair, strict=True))


def _conclusion(diff: fe.TraceDiff, counted: Collection[Aspect]) -> Iterator[str]:
    found = aspects.differing(diff)
    counting = [aspect for aspect in found if aspect in counted]
    others = [aspect for aspect in found if aspect not in counted]
    nothing = "Nothing differs." if diff.empty and not found else "Nothing that counts differs."
    yield f"They differ in {', '.join(counting)}." if counting else nothing
    if others:
        yield f"Not counted: {', '.join(others)}."
