"""Compares a trace with torch's own objects: every difference from the live modules and graphs is a problem.

Nothing here reads torch's text or uses the recorder's logic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch

import freeze_engine as fe
from freeze_engine.trace import Block, Location

CONSTANTS = ("prim::Constant", "prim::ConstantMKLDNNTensor")
#: The passes of every method inside ``_freeze_module``.
PASSES = ("Inline", "RecordMutableAttrs", "PropagateAttributes", "ConstantPropagation", "ConstantPooling")


@dataclass(frozen=True)
class Frozen:
    """A finished freeze.

    Attributes:
        trace: its recording.
        source: the C++ module to freeze, ``None`` if the input was only a graph.
        result: the C++ module that torch returned, ``None`` if it returned none.
        graphs: the live graph of each method, by dotted method path.
        logged: whether the recorder had torch's log of ``_freeze_module``.
    """

    trace: fe.Trace
    source: Any
    result: Any
    graphs: dict[str, Any]
    logged: bool


def frozen_modules(captured: fe.Captured) -> list[Frozen]:
    freezes = tuple(captured._freezes.freezes)  # a capture drops them once its traces are read
    return [_frozen(freeze, trace) for freeze, trace in zip(freezes, captured.traces, strict=True)]


def _frozen(freeze: Any, trace: fe.Trace) -> Frozen:
    graphs = freeze.graphs
    if freeze.freeze_started_ns and freeze.result is not None:
        found = {name: live_graph(freeze.result, name) for name in ("forward", *freeze.preserved)}
        graphs = {name: graph for name, graph in found.items() if graph is not None}
    return Frozen(trace, freeze.source, freeze.result, graphs, freeze.log is not None)


def live_graph(module: Any, method: str) -> Any:
    """Returns the graph that a call of a dotted method path runs, ``None`` if there is no such method."""
    *path, name = method.split(".")
    for part in path:
        if not module.hasattr(part):
            return None
        module = module.getattr(part)
    has = hasattr(module, "_has_method") and module._has_method(name)
    return module._get_method(name).graph if has else None


def has(module: Any, path: str) -> bool:
    """Returns whether a frozen module still has the attribute or submodule of a dotted path."""
    found = module._c
    for name in path.split("."):
        if not found.hasattr(name):
            return False
        found = found.getattr(name)
    return True


def problems(frozen: Frozen) -> list[str]:
    """Returns all differences of a trace from torch's objects; empty for a correct trace."""
    found = [*fe.problems(frozen.trace), *file_problems(frozen.trace), *evidence_problems(frozen.trace)]
    if frozen.trace.failure is not None:
        return [*found, *(["a failed freeze has fates"] if frozen.trace.attributes else [])]
    found += graph_problems(frozen)
    if frozen.source is None or frozen.result is None:
        return found
    found += slot_problems(frozen)
    if found:
        return found  # the checks below walk live graph and snapshot in parallel, and slots and fates
    return [*constant_problems(frozen), *inlined_problems(frozen), *named_problems(frozen)]


def file_problems(trace: fe.Trace) -> Iterator[str]:
    if fe.loads(fe.dumps(trace)) != trace:
        yield "the trace is another one when it comes back from a file"


def evidence_problems(trace: fe.Trace) -> Iterator[str]:
    """A verdict needs evidence, and its chain leads through values of the named step back to the attribute's read."""
    for fate in trace.attributes:
        if fate.reason not in (None, "unknown") and not fate.evidence:
            yield f"{fate.path}: {fate.reason} without evidence"
        for evidence in fate.evidence:
            if not evidence.chain:
                continue
            missing = {link.value for link in evidence.chain} - value_names(trace.steps[evidence.step or 0].graph)
            yield from (f"{fate.path}: the chain's %{name} is not in step {evidence.step}" for name in sorted(missing))
            if evidence.chain[-1].op != "prim::GetAttr":
                yield f"{fate.path}: the chain ends in {evidence.chain[-1].op}"


def value_names(graph: fe.GraphSnapshot) -> set[str]:
    blocks = chain.from_iterable(node.blocks for node in graph.walk())
    received = chain(graph.inputs, *(block.inputs for block in blocks))
    return {value.name for value in chain(received, *(node.outputs for node in graph.walk()))}


def graph_problems(frozen: Frozen) -> Iterator[str]:
    """The last snapshot of each method is the graph that runs, and its steps are those of a whole freeze."""
    trace = frozen.trace
    if set(trace.methods) != set(frozen.graphs):
        yield f"the trace has the methods {sorted(trace.methods)}, the frozen module {sorted(frozen.graphs)}"
    for method in set(trace.methods) & set(frozen.graphs):
        steps = trace.method_steps(method)
        if steps[0].stage != "input":
            yield f"{method} begins with {steps[0].name}"
        passes = {name for step in steps for name in step.name.split(", ")}
        yield from (f"{method} has no step {name}" for name in PASSES if frozen.logged and name not in passes)
        ours, theirs = snapshot_shape(steps[-1].graph), live_shape(frozen.graphs[method])
        if ours != theirs:
            first = next((pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]), "its end")
            yield f"{method} ends otherwise than its live graph, first at {first}"


def snapshot_shape(body: fe.GraphSnapshot | Block, scope: str = "") -> list[Any]:
    """Returns operators, names and nesting of a snapshot, without the scopes of forks."""

    def plain(names: Any) -> list[str]:
        return [name.removeprefix(scope) for name in names]

    nodes = [
        (
            node.op,
            plain(node.inputs),
            plain(value.name for value in node.outputs),
            [snapshot_shape(block, block.scope or scope) for block in node.blocks],
        )
        for node in body.nodes
    ]
    return [plain(value.name for value in body.inputs), *nodes, plain(body.outputs)]


def live_shape(body: Any) -> list[Any]:
    """Returns the same for a live graph or block."""
    nodes = [
        (kind(node), names(node.inputs()), names(node.outputs()), [live_shape(inner) for inner in bodies(node)])
        for node in body.nodes()
    ]
    return [names(body.inputs()), *nodes, names(body.outputs())]


def names(values: Any) -> list[str]:
    return [value.debugName() for value in values]


def kind(node: Any) -> str:
    return f"^{node.pyname()}" if node.kind() == "prim::PythonOp" else str(node.kind())


def bodies(node: Any) -> list[Any]:
    """Returns the bodies inside a node as torch prints them: blocks, and the body of a fork."""
    forked = node.hasAttribute("Subgraph") and node.kind() != "prim::PythonOp"
    return [*node.blocks(), *([node.g("Subgraph")] if forked else [])]


def live_nodes(body: Any) -> Iterator[Any]:
    for node in body.nodes():
        yield node
        for inner in bodies(node):
            yield from live_nodes(inner)


def slot_problems(frozen: Frozen) -> Iterator[str]:
    """Each slot of the source has one fate, and ``preserved`` means that the slot still exists."""
    before, after = slots(frozen.source), slots(frozen.result)
    fates = {fate.path: fate.fate for fate in frozen.trace.attributes}
    preserved = {path for path, fate in fates.items() if fate == "preserved"}
    yield from (f"{path}: a fate, or a slot, without the other" for path in sorted(fates.keys() ^ before.keys()))
    yield from (f"{path}: preserved, or on the frozen module, only" for path in sorted(preserved ^ after.keys()))


def slots(module: Any, prefix: str = "") -> dict[str, Any]:
    """Returns the values of all slots by path, from the type of a C++ module."""
    layout = torch._C.ConcreteModuleType.from_jit_type(module._type())
    found = {prefix + name: module.getattr(name) for name in layout.get_attributes()}
    for name, child in torch._C.ModuleDict(module).items():
        found |= {prefix + name: child} | slots(child, f"{prefix}{name}.")
    return found


@dataclass(frozen=True)
class Held:
    """A constant of a final graph.

    Attributes:
        node: its node in the trace.
        name: its value's name, without the scope of a fork.
        value: its value in torch.
    """

    node: fe.Node
    name: str
    value: Any


def constants(frozen: Frozen) -> dict[Location, Held]:
    """Returns all constants of the final graphs."""
    found = {}
    for method, graph in frozen.graphs.items():
        final = frozen.trace.method_steps(method)[-1].graph
        for (scope, node), live in zip(scoped_nodes(final.nodes), live_nodes(graph), strict=True):
            if node.op in CONSTANTS:
                name = node.outputs[0].name
                found[Location(method, name)] = Held(node, name.removeprefix(scope), constant_value(live))
    return found


def scoped_nodes(nodes: tuple[fe.Node, ...], scope: str = "") -> Iterator[tuple[str, fe.Node]]:
    for node in nodes:
        yield scope, node
        for block in node.blocks:
            yield from scoped_nodes(block.nodes, block.scope or scope)


def constant_value(live: Any) -> Any:
    if not live.hasAttribute("value"):
        return None
    return live.t("value") if live.kindOf("value") == "t" else live.output().toIValue()


def constant_problems(frozen: Frozen) -> Iterator[str]:
    """A tensor constant's shape, dtype and digest in the trace are those of the live constant."""
    for place, held in constants(frozen).items():
        told, value = held.node.constant, held.value
        if not isinstance(value, torch.Tensor):
            continue
        if told is None or (told.shape, told.dtype) != (tuple(value.shape), str(value.dtype).removeprefix("torch.")):
            yield f"{place}: is a tensor of {value.dtype} {tuple(value.shape)}, told as {told}"
        elif told.digest and value.layout is torch.strided and not value.is_quantized and told.digest != digest(value):
            yield f"{place}: its digest is not that of the live constant"


def digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(content(tensor)[2]).hexdigest()[:16]


def content(tensor: torch.Tensor) -> tuple[tuple[int, ...], torch.dtype, bytes]:
    """Returns shape, dtype and bytes of a tensor in any layout."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    shape, dtype = tuple(plain.shape), plain.dtype
    if plain.is_quantized:
        plain = plain.int_repr()
    if plain.is_mkldnn or plain.layout is not torch.strided:
        plain = plain.to_dense()
    if plain.is_meta or not plain.numel():
        return shape, dtype, b""
    return shape, dtype, plain.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def same(one: Any, other: Any) -> bool:
    """Returns whether two values of TorchScript are equal bit by bit; objects are equal if their classes are."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return content(one) == content(other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if hasattr(one, "_type") and hasattr(other, "_type"):
        return bool(one._type().name() == other._type().name())
    return type(one) is type(other) and (one == other or repr(one) == repr(other))  # a NaN is not equal to itself


def holds(one: Any, other: Any) -> bool:
    """Returns whether a value equals another one, or is a list, tuple or dictionary that contains that tensor."""
    if same(one, other):
        return True
    parts = one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ()
    return isinstance(other, torch.Tensor) and any(holds(part, other) for part in parts)


def is_element(one: Any, other: Any) -> bool:
    """Returns whether a value is in a list, tuple or dictionary, or in one that this contains."""
    parts = other.values() if isinstance(other, dict) else other if isinstance(other, (list, tuple)) else ()
    return any(same(one, part) or is_element(one, part) for part in parts)


def inlined_problems(frozen: Frozen) -> Iterator[str]:
    """``inlined``: a constant equals the attribute's value, contains it or is in it; every location is a constant."""
    before, found = slots(frozen.source), constants(frozen)
    for fate in frozen.trace.attributes:
        where = f"{fate.path}, {fate.fate}"
        yield from (f"{where}: {place} is no constant" for place in fate.locations if place not in found)
        if fate.fate != "inlined" or fate.kind == "submodule":
            continue
        if not fate.locations:
            yield f"{where}: lives nowhere"
        for place in fate.locations:
            value = found[place].value if place in found else before[fate.path]
            if not holds(value, before[fate.path]) and not is_element(value, before[fate.path]):
                yield f"{where}: {place} has another value"


def named_problems(frozen: Frozen) -> Iterator[str]:
    """torch names an attribute's constant after the attribute; each such constant is the location of a fate.

    Conversely, an attribute that was not inlined has no constant of its name and value. Of equal constants torch keeps
    one, which may have the name of a removed attribute: that attribute's evidence records this.
    """
    pooled = {
        Location(evidence.method, evidence.node)
        for fate in frozen.trace.attributes
        for evidence in fate.evidence
        if "is still there for an equal value" in evidence.fact and evidence.node is not None
    }
    before, found = slots(frozen.source), constants(frozen)
    placed = {place for fate in frozen.trace.attributes for place in fate.locations}
    named = tuple(f"self.{path}" for path, value in before.items() if not isinstance(value, torch._C.ScriptModule))
    gone = {f"self.{fate.path}" for fate in frozen.trace.attributes if fate.fate in ("folded", "dropped")}
    for place, held in found.items():
        if place in pooled:
            continue
        if held.name.startswith(named) and place not in placed:
            yield f"{place}: named after an attribute, but no fate has it"
        if held.name in gone and same(held.value, before[held.name.removeprefix("self.")]):
            yield f"{place}: still is the value of an attribute that is said to be gone"
