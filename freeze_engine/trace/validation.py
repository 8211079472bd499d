"""Validates the rules of a trace beyond its types: names that exist, uses that are defined, steps in order.

Readers of a trace rely on them: `freeze_engine.load` refuses a file that breaks one, `freeze_engine.save` a trace
that does, and the recorder is tested against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, pairwise

from freeze_engine.errors import InvalidTraceError
from freeze_engine.trace import Constant, Latency, Payoff, Trace
from freeze_engine.trace.rules.graphs import GraphNames, graph_problems, nesting_problem
from freeze_engine.trace.rules.references import References, graphs_of
from freeze_engine.trace.rules.texts import plain_text
from freeze_engine.trace.rules.values import value_problems

_SHOWN = 20


def check_trace(trace: Trace) -> None:
    """Checks that a trace keeps the rules of the data model.

    Args:
        trace: any trace.

    Raises:
        InvalidTraceError: it does not; the message lists what is wrong, step and node named (20 at most).
    """
    found = problems(trace)
    if not found:
        return
    more = f"\n  … and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    listed = "".join(f"\n  {problem}" for problem in found[:_SHOWN])
    raise InvalidTraceError(f"trace {trace.name!r} breaks the rules of the data model:{listed}{more}")


def problems(trace: Trace) -> tuple[str, ...]:
    """Returns the defects of a trace, one sentence each; empty for a valid one. Takes linear time.

    - Every text can be written as UTF-8. Every whole number is from 0 to 2**63 - 1, a round at least 1. An interval
      is of times or ratios, above 0, its value between its ends. Words are of the list that their type names.
    - Steps are numbered from 0; a step that changed nothing has the graph of the method's step before it.
    - In a snapshot, node ids and value names are unique, nested blocks included, and every use is defined
      before it: a block sees what encloses it, a block with a scope only what it receives itself. Blocks nest
      80 deep at most.
    - The inputs that a step describes are inputs of its graph.
    - Rewrites, writes, near misses and evidence name nodes of the snapshots they speak of.
    - No two baselines have the same name, no two passes of the ablation the same stage and name, and nothing has two
      latencies on one device.
    - Attributes are sorted by path, which is unique; a reason belongs to ``preserved`` and only there. One that is the
      same as another names an attribute that is the same as no other.
    - Locations name values of the method's final graph; step indices are in range.
    - A summary of numbers counts no more elements than were looked at.
    - Kernels name nodes of the last graph of their program's method, and origins of its first.
    - What the executor makes of a method is of a method of the trace, once each, and its graph keeps the rules of
      snapshots; shares of time are from 0 to 1.
    - A call path names a method of the trace and nodes that some snapshot of it has; a node is in one path at most.

    Args:
        trace: any trace.
    """
    unfit = (*_numbered(trace), *_nested(trace), *_nested_runtime(trace))
    # The rules below look steps up by their number, and nodes up by recursion.
    found = unfit or (
        *value_problems(trace),
        *_inputs(trace),
        *_fates(trace),
        *_summaries(trace),
        *_measured_once(trace),
        *_runtime(trace),
        *References(trace).problems(),
    )
    return tuple(map(plain_text, found))


def _numbered(trace: Trace) -> Iterator[str]:
    for position, step in enumerate(trace.steps):
        if step.index != position:
            yield f"step {step.index} ({step.name}): is at position {position}"


def _nested(trace: Trace) -> Iterator[str]:
    for step, graph in graphs_of(trace):
        if problem := nesting_problem(graph.nodes):
            yield f"step {step.index} ({step.name}), {problem}"


def _nested_runtime(trace: Trace) -> Iterator[str]:
    for runtime in trace.runtime:
        problem = nesting_problem(runtime.graph.nodes) if runtime.graph is not None else None
        if problem:
            yield f"runtime of {runtime.method}, {problem}"


def _runtime(trace: Trace) -> Iterator[str]:
    yield from _repeated("runtime of {}", (runtime.method for runtime in trace.runtime))
    for runtime in trace.runtime:
        where = f"runtime of {runtime.method}"
        if runtime.method not in trace.methods:
            yield f"{where}: is of an unknown method"
        if runtime.graph is not None and not GraphNames(runtime.graph).is_sound:
            yield from (f"{where}{problem}" for problem in graph_problems(runtime.graph))
        yield from (
            f"{where}: {kernel.name} takes {kernel.share} of the time, which is not a share"
            for kernel in runtime.kernels
            if not 0 <= kernel.share <= 1
        )
        known = {node.id for node in runtime.graph.walk()} if runtime.graph is not None else set()
        for time in runtime.times:
            if time.time_ns < 0:
                yield f"{where}: a time of {time.time_ns} ns"
            yield from (f"{where}: the time of the unknown node {node}" for node in time.nodes if node not in known)


def _inputs(trace: Trace) -> Iterator[str]:
    for step in trace.steps:
        names = {value.name for value in step.graph.inputs} if step.inputs else set()
        for each in step.inputs:
            if each.name not in names:
                yield f"step {step.index} ({step.name}): says what {each.name!r} is, which is not an input of its graph"


def _fates(trace: Trace) -> Iterator[str]:
    for fate, following in pairwise(trace.attributes):
        if fate.path >= following.path:
            yield f"attribute {following.path!r}: comes after {fate.path!r}; paths are sorted and unique"
    for fate in trace.attributes:
        if (fate.fate == "preserved") != (fate.reason is not None):
            yield f"attribute {fate.path!r}: is {fate.fate} with the reason {fate.reason}"
    alone = {fate.path for fate in trace.attributes if not fate.same_as}
    for fate in trace.attributes:
        if fate.same_as and fate.same_as not in alone:
            yield f"attribute {fate.path!r}: is the same as {fate.same_as!r}, which is not an attribute by itself"


def _summaries(trace: Trace) -> Iterator[str]:
    seen: set[int] = set()
    held = chain(_constants(trace), ((f"attribute {fate.path!r}", fate.tensor) for fate in trace.attributes))
    for place, constant in held:
        if constant is None or constant.values is None or id(constant) in seen:
            continue
        seen.add(id(constant))
        if sum(constant.values.histogram) > constant.values.counted:
            yield f"{place}: its histogram counts more elements than were looked at"


def _constants(trace: Trace) -> Iterator[tuple[str, Constant]]:
    """Yields the constants of all nodes, each node once, at its first place."""
    seen: set[int] = set()
    for step, graph in graphs_of(trace):
        new = [node for node in graph.nodes if id(node) not in seen]
        seen.update(map(id, new))
        for node in replace(graph, nodes=tuple(new)).walk():
            if node.constant is not None:
                yield f"step {step.index} ({step.name}), node {node.id}", node.constant


def _measured_once(trace: Trace) -> Iterator[str]:
    yield from _repeated("baseline {}", (baseline.name for baseline in trace.baselines))
    yield from _repeated("ablation of {0[0]} / {0[1]}", ((entry.stage, entry.name) for entry in trace.ablation))
    measured: Iterator[tuple[str, tuple[Latency, ...] | tuple[Payoff, ...]]] = chain(
        ((f"step {step.index} ({step.name})", step.latency) for step in trace.steps if len(step.latency) > 1),
        ((f"baseline {baseline.name}", baseline.latency) for baseline in trace.baselines),
        ((f"ablation of {entry.stage} / {entry.name}", entry.latency) for entry in trace.ablation),
    )
    for what, latencies in measured:
        yield from (f"{what}, latency on {problem}" for problem in _repeated("{}", (each.device for each in latencies)))


def _repeated(what: str, names: Iterable[object]) -> Iterator[str]:
    seen: set[object] = set()
    for name in names:
        if name in seen:
            yield f"{what.format(name)}: is there twice"
        seen.add(name)
