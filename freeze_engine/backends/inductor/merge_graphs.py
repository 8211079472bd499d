"""Merges the graphs that were compiled for one callable into one trace, each as a method of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from freeze_engine.backends.common.source_text import merged_lines
from freeze_engine.trace import AttributeFate, Evidence, Failure, Fate, NearMiss, Notice, Step, Trace

#: Priority of the fates if graphs differ: an attribute that is an input of any graph is still needed.
ORDER: Sequence[Fate] = ("preserved", "inlined", "folded", "dropped")


@dataclass(frozen=True, slots=True)
class Part:
    """One compiled graph.

    Attributes:
        trace: of this graph alone, its steps numbered from 0.
        function: name of the callable's first graph.
        frame: Dynamo's number of the code that was compiled; ``None`` outside Dynamo.
        broken: why the graph ends before the function does; empty if it does not.
        resumed: whether the function begins before the graph does.
    """

    trace: Trace
    function: str = "forward"
    frame: str | None = None
    broken: str = ""
    resumed: bool = False


def merged(parts: Sequence[Part]) -> Trace:
    """Returns the trace of a callable from those of its graphs.

    Steps are numbered through, each graph's under a method name of its own. An attribute that any graph preserves is
    preserved; if its fates differ, the evidence names the graphs. The facts about the run as a
    whole (name, call, inputs, environment) come from the first.

    Args:
        parts: at least one, in the order they were compiled; constants of all name their storages alike.
    """
    names = method_names(parts)
    starts = [sum(len(part.trace.steps) for part in parts[:number]) for number in range(len(parts))]
    traces = [_placed(part.trace, name, start) for part, name, start in zip(parts, names, starts, strict=True)]
    if len(traces) == 1:
        judged = tuple(_attributes(names, traces, parts))
        return replace(traces[0], notices=tuple(_notices(traces)), attributes=judged)
    steps = [step for trace in traces for step in trace.steps]
    for number in range(1, len(parts)):
        before = parts[number - 1]
        if before.broken and "graph break" in names[number] and starts[number] < len(steps):
            first = steps[starts[number]]
            line = f"goes on after a graph break in {names[number - 1]}: {before.broken}"
            steps[first.index] = replace(first, log=(line, *first.log))
    durations = [trace.duration_ns for trace in traces]
    return replace(
        traces[0],
        steps=tuple(steps),
        attributes=tuple(_attributes(names, traces, parts)),
        near_misses=tuple(miss for trace in traces for miss in trace.near_misses),
        notices=tuple(_notices(traces)),
        sources=tuple(merged_lines([lines for trace in traces for lines in trace.sources])),
        programs=tuple(program for trace in traces for program in trace.programs),
        call_paths=tuple(path for trace in traces for path in trace.call_paths),
        failure=next((trace.failure for trace in traces if trace.failure), None),
        duration_ns=None if None in durations else sum(filter(None, durations)),
    )


def method_names(parts: Sequence[Part]) -> tuple[str, ...]:
    """Gives the graphs distinct names.

    Args:
        parts: in the order they were compiled.

    Returns:
        For each the function's name (``forward``); for code after the first ``, graph 2``, with
        ``(after a graph break)`` where the graph before it ended in one; and ``, recompiled`` from the second graph
        of the same code on.
    """
    names = []
    frames: dict[str | None, tuple[str, int]] = {}
    for number, part in enumerate(parts):
        known = frames.get(part.frame) if part.frame is not None else None
        if known is None:
            name = parts[0].function
            if frames:
                name += f", graph {len(frames) + 1}"
                name += " (after a graph break)" if parts[number - 1].broken else ""
            # Without a frame, nothing identifies the code: each is its own.
            frames[part.frame if part.frame is not None else f"graph {number}"] = (name, 1)
        else:
            name, times = known
            frames[part.frame] = (name, times + 1)
            name += ", recompiled" + (f" {times} times" if times > 1 else "")
        names.append(name)
    return tuple(names)


def _placed(trace: Trace, method: str, start: int) -> Trace:
    """Returns a trace as it is from step ``start`` on, under another method name."""
    if start == 0 and all(step.method == method for step in trace.steps):
        return trace
    return replace(
        trace,
        steps=tuple(replace(step, index=step.index + start, method=method) for step in trace.steps),
        attributes=tuple(_placed_fate(fate, method, start) for fate in trace.attributes),
        near_misses=tuple(_placed_miss(miss, start) for miss in trace.near_misses),
        notices=tuple(replace(notice, step=_moved(notice.step, start)) for notice in trace.notices),
        failure=_placed_failure(trace.failure, method, start),
        programs=tuple(replace(program, method=method) for program in trace.programs),
        call_paths=tuple(replace(path, method=method) for path in trace.call_paths),
    )


def _placed_fate(fate: AttributeFate, method: str, start: int) -> AttributeFate:
    evidence = tuple(
        replace(each, method=method if each.method else None, step=_moved(each.step, start)) for each in fate.evidence
    )
    locations = tuple(replace(each, method=method) for each in fate.locations)
    return replace(fate, evidence=evidence, locations=locations, step=_moved(fate.step, start))


def _placed_miss(miss: NearMiss, start: int) -> NearMiss:
    return replace(miss, step=miss.step + start)


def _placed_failure(failure: Failure | None, method: str, start: int) -> Failure | None:
    return failure and replace(failure, method=failure.method and method, step=_moved(failure.step, start))


def _moved(step: int | None, start: int) -> int | None:
    return None if step is None else step + start


def _attributes(names: Sequence[str], traces: Sequence[Trace], parts: Sequence[Part]) -> Iterator[AttributeFate]:
    found: dict[str, list[tuple[str, AttributeFate]]] = {}
    for name, trace in zip(names, traces, strict=True):
        for fate in trace.attributes:
            found.setdefault(fate.path, []).append((name, fate))
    passing = {name for name, part in zip(names, parts, strict=True) if part.broken}
    outside = _outside(names, parts)
    for path in sorted(found):
        merged_fate = _merged_fate(found[path], passing)
        enters = merged_fate.fate != "dropped" or any(fate.step is not None for _, fate in found[path])
        yield merged_fate if enters or not outside else _read_outside(merged_fate, outside)


def _merged_fate(found: Sequence[tuple[str, AttributeFate]], passing: Collection[str]) -> AttributeFate:
    """Joins the fates of one attribute; a graph that does not use it counts only if none does.

    Args:
        found: each graph's name and what it did.
        passing: the graphs that end in a graph break: what they pass on, a later graph may use.
    """
    entered = [pair for pair in found if pair[1].fate != "dropped"]
    own = [pair for pair in entered if pair[1].reason != "read_live" or pair[0] not in passing]
    used = own or entered or found[:1]
    _, first = min(used, key=lambda pair: ORDER.index(pair[1].fate))
    other = tuple(
        Evidence(f"in {name} it is {fate.fate}", name, fate.step) for name, fate in used if fate.fate != first.fate
    )
    locations = tuple(location for _, fate in used for location in fate.locations)
    return replace(first, evidence=(*first.evidence, *other), locations=locations)


def _outside(names: Sequence[str], parts: Sequence[Part]) -> str:
    """Returns where Python code runs between the graphs; empty where one graph covers the function."""
    broken = next((part.broken for part in parts if part.broken), "")
    if broken:
        return f"after the graph break at {broken}"
    if parts[0].resumed:
        return "before the first graph, up to a graph break"
    frames = {part.frame for part in parts if part.frame is not None}
    return f"between {names[0]} and the graphs of other functions" if len(frames) > 1 else ""


def _read_outside(fate: AttributeFate, outside: str) -> AttributeFate:
    """Judges an attribute that no graph has, where Python code that is no part of a graph may read it."""
    fact = Evidence(f"no graph reads it; Python code runs {outside}, and what that reads, it reads from the module")
    advice = "Record with fullgraph=True to see what keeps the function from being one graph."
    return replace(fate, fate="preserved", reason="outside_graphs", evidence=(fact,), advice=advice)


def _notices(traces: Sequence[Trace]) -> Iterable[Notice]:
    """Returns the notices of all, each once."""
    return dict.fromkeys(_all_notices(traces))


def _all_notices(traces: Sequence[Trace]) -> Iterator[Notice]:
    for trace in traces:
        yield from trace.notices
    first = traces[0]
    for trace in traces[1:]:
        settings = dict(first.environment.settings)
        other = [name for name, value in trace.environment.settings if settings.get(name) != value]
        if other:
            yield Notice(
                "settings_differ",
                f"Graphs were compiled under different settings ({', '.join(other)}); shown are those of the first.",
                _first_step(trace),
            )


def _first_step(trace: Trace) -> int | None:
    first: Step | None = trace.steps[0] if trace.steps else None
    return first.index if first else None
