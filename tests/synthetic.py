"""Builds traces of any size, the same on every call, for benchmarks and for tests of scaling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from random import Random
from typing import Literal

from freeze_engine.trace import (
    AttributeFate,
    Constant,
    Environment,
    GraphSnapshot,
    InputSpec,
    Interval,
    Latency,
    Location,
    Node,
    Numerics,
    OutputError,
    Rewrite,
    SourceRef,
    Step,
    Trace,
    Value,
)

Verdict = Literal["baseline", "faster", "slower", "no measurable difference"]
_NODES_PER_FOLD = 10
_ACTIVATION = "Float(1, 64, 56, 56, strides=[200704, 3136, 56, 1], requires_grad=0, device=cpu)"


@dataclass(frozen=True, slots=True)
class _Unit:
    """The nodes of one fold: those before it and those after it, in one place of the graph."""

    kind: str
    module: str
    before: tuple[Node, ...]
    after: tuple[Node, ...]


def _weight(name: str, module: str, shape: tuple[int, ...], random: Random) -> Node:
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    kept = Constant(
        shape,
        "float32",
        "cpu",
        4 * prod(shape),
        f"storage:{name}",
        f"{random.getrandbits(64):016x}",
        random.uniform(-2, -1),
        random.uniform(1, 2),
        random.gauss(0, 0.01),
        random.uniform(0.1, 0.2),
    )
    text = f"Float({', '.join(map(str, shape))}, strides={strides}, requires_grad=0, device=cpu)"
    outputs = (Value(name, text),)
    return Node(name, "prim::Constant", (), outputs, (("value", "<Tensor>"),), module=module, constant=kept)


def _call(name: str, op: str, inputs: tuple[str, ...], module: str, line: int) -> Node:
    source = SourceRef("torchvision/models/net.py", line, 15)
    return Node(name, op, inputs, (Value(name, _ACTIVATION),), module=module, source=source)


def _resnet_unit(number: int, start: str, random: Random) -> _Unit:
    """Returns conv + batch norm + relu + skip; the fold merges the batch norm into the conv."""
    module = f"layer{number // 8 + 1}.{number % 8}"
    conv, norm = f"{module}.conv", f"{module}.bn"
    channels = 64 << number % 3
    weight = _weight(f"self.{conv}.weight", conv, (channels, channels, 3, 3), random)
    stats = tuple(
        _weight(f"self.{norm}.{name}", norm, (channels,), random)
        for name in ("weight", "bias", "running_mean", "running_var")
    )
    fused = tuple(_weight(f"{kept.id}_fused_bn", conv, kept.constant.shape, random) for kept in (weight, stats[1]))
    product = _call(f"conv.{number}", "aten::conv2d", (start, weight.id, "none", "list", "list", "one"), conv, 90)
    normed = _call(f"norm.{number}", "aten::batch_norm", (product.id, *(kept.id for kept in stats), "list"), norm, 91)
    relu = _call(f"relu.{number}", "aten::relu", (normed.id,), f"{module}.relu", 92)
    joined = _call(f"add.{number}", "aten::add", (relu.id, start, "one"), module, 93)
    folded = replace(product, inputs=(start, fused[0].id, fused[1].id, "list", "list", "one"))
    after = (*fused, folded, replace(relu, inputs=(product.id,)), joined)
    return _Unit("conv_bn", module, (weight, *stats, product, normed, relu, joined), after)


def _transformer_unit(number: int, start: str, random: Random) -> _Unit:
    """Returns attention with a feed-forward; the fold concatenates its three projections."""
    module = f"encoder.layers.{number}"
    attention = f"{module}.self_attn"
    weights = tuple(_weight(f"self.{attention}.{name}.weight", attention, (256, 256), random) for name in "qkv")
    rest = tuple(_weight(f"self.{module}.linear{part}.weight", module, (256, 256), random) for part in (1, 2))
    heads = tuple(
        _call(f"{name}.{number}", "aten::linear", (start, weight.id, "none"), attention, 40)
        for name, weight in zip("qkv", weights, strict=True)
    )
    names = tuple(head.id for head in heads)
    attended = _call(f"attended.{number}", "aten::scaled_dot_product_attention", names, attention, 44)
    normed = _call(f"norm.{number}", "aten::layer_norm", (attended.id, "list", "none"), f"{module}.norm1", 50)
    hidden = _call(f"hidden.{number}", "aten::linear", (normed.id, rest[0].id, "none"), f"{module}.linear1", 51)
    gelu = _call(f"gelu.{number}", "aten::gelu", (hidden.id,), module, 52)
    output = _call(f"output.{number}", "aten::linear", (gelu.id, rest[1].id, "none"), f"{module}.linear2", 53)
    joined = _call(f"add.{number}", "aten::add", (output.id, start, "one"), module, 54)
    tail = (normed, hidden, gelu, output, joined)
    wide = _weight(f"self.{attention}.concat_weight", attention, (768, 256), random)
    product = _call(f"concat.{number}", "aten::linear", (start, wide.id, "none"), attention, 40)
    outputs = tuple(Value(f"{name}.split", _ACTIVATION) for name in names)
    split = Node(f"split.{number}", "prim::ConstantChunk", (product.id,), outputs, (("chunks", "3"), ("dim", "-1")))
    narrowed = replace(attended, inputs=tuple(value.name for value in outputs))
    return _Unit(
        "concat_linear",
        module,
        (*weights, *rest, *heads, attended, *tail),
        (wide, *rest, product, split, narrowed, *tail),
    )


_UNITS = {"resnet": _resnet_unit, "transformer": _transformer_unit}


def _units(count: int, shape: str, random: Random) -> Iterator[_Unit]:
    """Yields units until ``count`` nodes are reached; plain activations fill the rest."""
    start, number = "x", 0
    while True:
        unit = _UNITS[shape](number, start, random)
        if count < len(unit.before):
            break
        yield unit
        count, number, start = count - len(unit.before), number + 1, unit.before[-1].id
    for extra in range(count):
        relu = _call(f"tail.{extra}", "aten::relu", (start,), "tail", 99)
        start = relu.id
        yield _Unit("", "tail", (relu,), (relu,))


def _literals() -> tuple[Node, ...]:
    texts = {"none": ("NoneType", "None"), "list": ("int[]", "[1, 1]"), "one": ("int", "1")}
    return tuple(
        Node(name, "prim::Constant", (), (Value(name, type),), (("value", text),))
        for name, (type, text) in texts.items()
    )


def _snapshot(literals: tuple[Node, ...], units: list[_Unit], folded: int) -> GraphSnapshot:
    parts = (unit.after if number < folded else unit.before for number, unit in enumerate(units))
    nodes = (*literals, *chain.from_iterable(parts))
    inputs = (Value("self", "__torch__.Net"), Value("x", _ACTIVATION))
    return GraphSnapshot(inputs, nodes, (nodes[-1].outputs[0].name,))


def _rewrite(unit: _Unit) -> Rewrite:
    """Returns the nodes that one fold consumed and produced, without those that it left unchanged."""
    kept = set(unit.before) & set(unit.after)
    consumed = tuple(node for node in unit.before if node not in kept)
    return Rewrite(
        unit.kind,
        tuple(node.id for node in consumed),
        tuple(node.id for node in unit.after if node not in kept),
        tuple(node.id.removeprefix("self.") for node in consumed if node.constant),
        (unit.module,),
    )


def _step(index: int, graph: GraphSnapshot, rewrites: tuple[Rewrite, ...]) -> Step:
    median_ns = 1_000_000.0 - 5_000.0 * index
    interval = Interval(median_ns, 0.98 * median_ns, 1.03 * median_ns)
    ratio = Interval(1 - 0.005 * index, 0.98 - 0.005 * index, 1.02 - 0.005 * index) if index else None
    faster = ratio is not None and ratio.high < 1
    verdict: Verdict = "baseline" if ratio is None else "faster" if faster else "no measurable difference"
    error = 1e-7 * index
    return Step(
        index=index,
        stage="optimize_frozen_graph" if index else "input",
        name="FoldFrozenConvBatchnorm" if index else "input",
        method="forward",
        graph=graph,
        changed=bool(rewrites),
        round=index or None,
        duration_ns=1000 * index if index else None,
        executable=True,
        rewrites=rewrites,
        latency=(Latency("cpu", 9_000_000, (2_000_000,), 50, interval, ratio, verdict),),
        numerics=(Numerics("eager", (OutputError("0", error, error, 140.0 - index, 0, True),)),),
        constant_bytes=sum(node.constant.nbytes for node in graph.nodes if node.constant),
    )


def _fates(units: list[_Unit], folds: int, per_step: int) -> tuple[AttributeFate, ...]:
    fates = []
    for number, unit in enumerate(units):
        erased = {node.id for node in unit.before} - {node.id for node in unit.after}
        for node in unit.before:
            if node.constant is None:
                continue
            gone = number < folds and node.id in erased
            fates.append(
                AttributeFate(
                    path=node.id.removeprefix("self."),
                    kind="parameter",
                    type="Tensor",
                    shape=node.constant.shape,
                    dtype="float32",
                    nbytes=node.constant.nbytes,
                    fate="folded" if gone else "inlined",
                    step=number // per_step + 1 if gone else 0,
                    locations=(Location("forward", unit.after[0].id if gone else node.id),),
                )
            )
    return tuple(sorted(fates, key=lambda fate: fate.path))


def synthetic_trace(
    nodes: int = 10_000,
    steps: int = 30,
    shape: Literal["resnet", "transformer"] = "resnet",
    changed: float = 0.01,
) -> Trace:
    """Returns a valid trace of one method whose steps fold more and more of a deep network.

    `Node` objects that a step leaves unchanged are the same objects in both snapshots.

    Args:
        nodes: number of nodes in the first snapshot (at least 4).
        steps: number of steps, with the first one.
        shape: kind of network.
        changed: approximate fraction of the nodes that a step creates, erases or changes; once everything is
            folded, the following steps change nothing.
    """
    literals = _literals()
    units = list(_units(nodes - len(literals), shape, Random(nodes)))
    foldable = sum(bool(unit.kind) for unit in units)
    per_step = max(1, round(nodes * changed / _NODES_PER_FOLD)) if changed else 0
    done, graph, recorded = 0, _snapshot(literals, units, 0), []
    for index in range(steps):
        until = min(index * per_step, foldable)
        graph = _snapshot(literals, units, until) if until > done else graph
        recorded.append(_step(index, graph, tuple(map(_rewrite, units[done:until]))))
        done = until
    return Trace(
        name=f"synthetic {shape}",
        backend="torchscript",
        call=f"synthetic_trace({nodes}, {steps}, {shape!r}, {changed})",
        options=(),
        inputs=(InputSpec("0", "Tensor", (1, 64, 56, 56), "float32", "cpu"),),
        environment=Environment("2.13.0+cpu", "3.11.9", "Linux", "Imaginary CPU", (), 1),
        steps=tuple(recorded),
        attributes=_fates(units, done, per_step or 1),
        created="2026-01-02T03:04:05Z",
    )
