"""Hypothesis strategies: valid snapshots and traces with odd texts and numbers of every kind."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from freeze_engine.trace import (
    AttributeFate,
    Baseline,
    Block,
    Constant,
    Environment,
    Evidence,
    Fate,
    GraphSnapshot,
    Interval,
    Latency,
    Node,
    Notice,
    Numerics,
    OutputError,
    Reason,
    SourceLines,
    SourceRef,
    Step,
    Trace,
    Value,
)

texts: SearchStrategy[str] = st.one_of(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=5),
    st.sampled_from(["</script><script>alert(1)</script>", "\x00", "\u2028", "\u202e", "ünï", ""]),
)
"""Any text, also hostile markup, control and bidirectional characters."""

finite: SearchStrategy[float] = st.floats(allow_nan=False, allow_infinity=False)
numbers: SearchStrategy[float] = st.floats(allow_nan=False)
counts: SearchStrategy[int] = st.integers(min_value=0, max_value=2**63 - 1)
_times: SearchStrategy[float] = st.floats(1e-30, 1e30)
_shapes = st.lists(st.integers(0, 9), max_size=4).map(tuple)
_sources = st.builds(SourceRef, texts, st.integers(1, 10**6), st.integers(0, 200))
_types = st.sampled_from(["Tensor", "int", "Float(2, device=cpu)", "List[Tensor]"])
_constants = st.builds(
    Constant,
    _shapes,
    st.sampled_from(["float32", "quint8"]),
    st.just("cpu"),
    counts,
    st.none() | texts,
    st.none() | st.just("00ff00ff00ff00ff"),
    st.none() | finite,
    st.none() | finite,
    st.none() | finite,
    st.none() | finite,
    counts,
)
_operators = st.sampled_from(["aten::add", "aten::relu", "prim::Constant", "prim::If"])


@st.composite
def _body(draw: DrawFn, prefix: str, visible: tuple[str, ...], depth: int) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    """Draws nodes and outputs whose uses are defined; names and ids start with ``prefix``, so they are unique."""
    nodes: list[Node] = []
    for number in range(draw(st.integers(0, 3))):
        name = f"{prefix}{number}"
        inputs = draw(st.lists(st.sampled_from(visible), max_size=3)) if visible else []
        blocks = draw(st.sampled_from([0, 0, 1, 2])) if depth else 0
        nodes.append(
            Node(
                id=name,
                op=draw(_operators),
                inputs=tuple(inputs),
                outputs=(Value(name, draw(_types)),) if draw(st.booleans()) else (),
                attributes=tuple(draw(st.lists(st.tuples(texts, texts), max_size=2))),
                blocks=tuple(draw(_block(f"{name}.{index}.", visible, depth - 1)) for index in range(blocks)),
                module=draw(texts),
                source=draw(st.none() | _sources),
                constant=draw(st.none() | _constants),
            )
        )
        visible += tuple(value.name for value in nodes[-1].outputs)
    outputs = draw(st.lists(st.sampled_from(visible), max_size=2)) if visible else []
    return tuple(nodes), tuple(outputs)


@st.composite
def _block(draw: DrawFn, prefix: str, visible: tuple[str, ...], depth: int) -> Block:
    scope = f"{prefix}/" if draw(st.booleans()) else ""
    given = tuple(Value(f"{scope or prefix}in{index}", draw(_types)) for index in range(draw(st.integers(0, 2))))
    seen = (() if scope else visible) + tuple(value.name for value in given)
    nodes, outputs = draw(_body(scope or prefix, seen, depth))
    return Block(given, nodes, outputs, scope)


@st.composite
def snapshots(draw: DrawFn, prefix: str = "") -> GraphSnapshot:
    """Draws valid snapshots: every use is defined, names and ids are unique, blocks nest up to two levels.

    Args:
        draw: from Hypothesis.
        prefix: of every name and id.
    """
    given = tuple(
        Value(f"{prefix}{name}", draw(_types)) for name in draw(st.sampled_from([(), ("self",), ("self", "x")]))
    )
    nodes, outputs = draw(_body(prefix, tuple(value.name for value in given), 2))
    return GraphSnapshot(given, nodes, outputs)


def _intervals(values: SearchStrategy[float]) -> SearchStrategy[Interval]:
    return st.lists(values, min_size=3, max_size=3).map(lambda three: Interval(*(sorted(three)[i] for i in (1, 0, 2))))


_latencies = st.builds(
    Latency,
    st.sampled_from(["cpu", "cuda:0"]),
    counts,
    st.lists(counts, max_size=3).map(tuple),
    st.integers(0, 1000),
    _intervals(_times),
    st.none() | _intervals(_times),
    st.sampled_from(["baseline", "faster", "slower", "no measurable difference"]),
    st.lists(texts, max_size=2).map(tuple),
    st.none() | _intervals(_times),
    st.none() | st.sampled_from(["faster", "slower", "no measurable difference"]),
)
_numerics = st.builds(
    Numerics,
    st.sampled_from(["eager", "float64"]),
    st.lists(
        st.builds(OutputError, texts, numbers, numbers, numbers, counts, st.booleans(), st.none() | numbers), max_size=2
    ).map(tuple),
    st.none() | texts,
    texts,
)
_measured = {
    "latency": st.lists(_latencies, max_size=2, unique_by=lambda each: each.device).map(tuple),
    "numerics": st.lists(_numerics, max_size=2).map(tuple),
}


@st.composite
def _steps(draw: DrawFn) -> tuple[Step, ...]:
    last: dict[str, GraphSnapshot] = {}
    steps: list[Step] = []
    for index in range(draw(st.integers(0, 4))):
        method = draw(st.sampled_from(["forward", "describe"]))
        changed = method not in last or draw(st.booleans())
        last[method] = draw(snapshots(draw(st.sampled_from(["", "é."])))) if changed else last[method]
        fields: dict[str, Any] = draw(
            st.fixed_dictionaries(
                {
                    **_measured,
                    "round": st.none() | st.integers(1, 9),
                    "duration_ns": st.none() | counts,
                    "executable": st.just(True),
                    "constant_bytes": counts,
                    "code": st.none() | texts,
                    "log": st.lists(texts, max_size=2).map(tuple),
                }
            )
        )
        steps.append(Step(index, draw(texts), draw(texts), method, last[method], changed, **fields))
    return tuple(steps)


_reasons: SearchStrategy[Reason] = st.sampled_from(["requested", "mutated_in_place", "unknown"])
_GONE: tuple[Fate, ...] = ("inlined", "folded", "dropped")


@st.composite
def _fates(draw: DrawFn, steps: int) -> tuple[AttributeFate, ...]:
    some_step = st.none() | st.integers(0, steps - 1) if steps else st.none()
    fates = []
    alone: list[str] = []
    for path in sorted(draw(st.sets(texts, max_size=3))):
        same_as = draw(st.sampled_from(["", *alone]))
        alone += [] if same_as else [path]
        reason = draw(st.none() | _reasons)
        fates.append(
            AttributeFate(
                path=path,
                kind=draw(st.sampled_from(["parameter", "buffer", "attribute", "submodule"])),
                type=draw(texts),
                shape=draw(st.none() | _shapes),
                dtype=draw(st.none() | texts),
                nbytes=draw(counts),
                fate="preserved" if reason else draw(st.sampled_from(_GONE)),
                reason=reason,
                evidence=tuple(draw(st.lists(st.builds(Evidence, texts, source=st.none() | _sources), max_size=2))),
                advice=draw(texts),
                step=draw(some_step),
                same_as=same_as,
            )
        )
    return tuple(fates)


@st.composite
def traces(draw: DrawFn) -> Trace:
    """Draws traces that `freeze_engine.trace.validation.check_trace` accepts, without NaN so that they compare."""
    steps = draw(_steps())
    environment = st.builds(
        Environment, texts, texts, texts, texts, st.lists(texts, max_size=2).map(tuple), st.integers(1, 64)
    )
    return Trace(
        name=draw(texts),
        backend=draw(st.sampled_from(["torchscript", "inductor"])),
        call=draw(texts),
        options=tuple(draw(st.lists(st.tuples(texts, texts), max_size=2))),
        inputs=(),
        environment=draw(environment),
        steps=steps,
        attributes=draw(_fates(len(steps))),
        baselines=tuple(draw(st.lists(st.builds(Baseline, texts, **_measured), max_size=1))),
        notices=tuple(draw(st.lists(st.builds(Notice, texts, texts), max_size=2))),
        sources=tuple(
            draw(st.lists(st.builds(SourceLines, texts, st.just(1), st.lists(texts).map(tuple)), max_size=1))
        ),
        duration_ns=draw(st.none() | counts),
        created=draw(texts),
    )
