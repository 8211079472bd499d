"""Why attributes remain in a frozen file, and what freezing left in its graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from freeze_engine.opening.bounds import MAX_DEPTH, MAX_NAME
from freeze_engine.trace import (
    AttributeFate,
    AttributeKind,
    ChainLink,
    Constant,
    Evidence,
    GraphSnapshot,
    Node,
    Reason,
    Step,
)

_VIEWS: Final = frozenset(
    f"aten::{name}"
    for name in (
        *("alias", "as_strided", "chunk", "detach", "diagonal", "expand", "expand_as", "flatten", "narrow", "permute"),
        *("reshape", "select", "slice", "split", "squeeze", "t", "transpose", "unbind", "unflatten", "unsqueeze"),
        *("view", "view_as", "__getitem__"),
    )
)
_GATHERS: Final = frozenset(("prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"))
_RANDOM: Final = ("rand", "normal", "bernoulli", "multinomial", "poisson", "dropout", "exponential")
#: Of one attribute: pieces of evidence, and the links of their chains after which no other is added.
_MAX_EVIDENCE: Final = 20
_MAX_LINKS: Final = 1_000
_NOT_TOLD: Final = (
    "No method in the file writes it. It may have been named in preserved_attrs when the module was frozen; the file "
    "does not say."
)


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute that the file still holds.

    Attributes:
        path: dotted, from the top module.
        kind: its kind.
        type: its type in the code, or the class of a submodule.
        value: what the file holds.
        tensor: the summary of a tensor.
        nbytes: bytes of the tensors that it holds without being one.
    """

    path: str
    kind: AttributeKind
    type: str
    value: Any
    tensor: Constant | None = None
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class ConstantChains:
    """Operations of a graph that read constants only.

    Attributes:
        operations: how many.
        ends: those that no other of them reads, in order.
    """

    operations: int
    ends: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Write:
    reason: Reason
    evidence: Evidence


def remaining_attributes(slots: Sequence[Slot], steps: Sequence[Step]) -> tuple[AttributeFate, ...]:
    """Returns the fates of a frozen file's attributes: all are preserved, for a reason where the code shows one.

    Args:
        slots: what the file holds.
        steps: of its methods.
    """
    writes: dict[str, list[_Write]] = {}
    held = frozenset(slot.path for slot in slots)
    for step in steps:
        for path, write in _writes(step, held):
            known = writes.setdefault(path, [])
            if len(known) < _MAX_EVIDENCE and sum(len(each.evidence.chain) for each in known) < _MAX_LINKS:
                known.append(write())
    inside = {slot.path.rpartition(".")[0] for slot in slots}
    found = []
    for slot in slots:
        known = writes.get(slot.path, [])
        reason: Reason = known[0].reason if known else "unknown"
        evidence = tuple(write.evidence for write in known) or (Evidence(_NOT_TOLD),)
        if not known and slot.kind == "submodule" and slot.path in inside:
            evidence = (Evidence("It holds attributes that remain."),)
        tensor = slot.tensor
        found.append(
            AttributeFate(
                path=slot.path,
                kind=slot.kind,
                type=slot.type,
                shape=None if tensor is None else tensor.shape,
                dtype=None if tensor is None else tensor.dtype,
                nbytes=slot.nbytes if tensor is None else tensor.nbytes,
                fate="preserved",
                reason=reason,
                evidence=evidence,
                step=evidence[0].step,
                tensor=tensor,
            )
        )
    return tuple(sorted(found, key=lambda fate: fate.path))


def _writes(step: Step, held: frozenset[str]) -> Iterator[tuple[str, Callable[[], _Write]]]:
    """Yields the attributes that a method assigns or writes in place, with a function that makes the evidence.

    Args:
        step: of the method.
        held: paths of the attributes that the file holds.
    """
    graph = step.graph
    prefix = step.method.rpartition(".")[0]
    made = {value.name: node for node in graph.walk() for value in node.outputs}
    roots = _roots(graph)
    top = graph.inputs[0].name if graph.inputs else ""
    for node in graph.walk():
        if node.op == "prim::SetAttr" and node.inputs:
            path = _path(node.inputs[0], _named(node), made, top, prefix)
            if path in held:
                fact = f"{step.method} assigns it (prim::SetAttr), so it cannot be a constant"
                yield path, partial(_write, "set_in_method", fact, step, node)
        elif _is_in_place(node):
            read = made.get(roots.get(node.inputs[0], ""))
            if read is None or read.op != "prim::GetAttr" or not read.inputs:
                continue
            path = _path(read.inputs[0], _named(read), made, top, prefix)
            if path in held:
                fact = f"{step.method} writes its memory in place, so it cannot be a constant"
                yield path, partial(_write, "mutated_in_place", fact, step, node, made)


def _write(reason: Reason, fact: str, step: Step, node: Node, made: Mapping[str, Node] | None = None) -> _Write:
    chain = _chain(node.inputs[0], made) if made is not None else ()
    return _Write(reason, Evidence(fact, step.method, step.index, node.id, node.op, None, chain))


def _roots(graph: GraphSnapshot) -> dict[str, str]:
    """Returns, by value, the value that it is a view of in the end."""
    roots: dict[str, str] = {}
    for node in graph.walk():
        for value in node.outputs:
            roots[value.name] = roots.get(node.inputs[0], node.inputs[0]) if _is_view(node) else value.name
    return roots


def _is_view(node: Node) -> bool:
    return bool(node.inputs) and (node.op in _VIEWS or _is_in_place(node))


def _is_in_place(node: Node) -> bool:
    name = node.op.rpartition("::")[2]
    return bool(node.inputs) and name.endswith("_") and not name.endswith("__")


def _chain(value: str, made: Mapping[str, Node]) -> tuple[ChainLink, ...]:
    """Returns the way from a written value back to what it is a view of."""
    links: list[ChainLink] = []
    while (node := made.get(value)) is not None and len(links) < len(made):
        links.append(ChainLink(value, node.id, node.op))
        if not _is_view(node):
            break
        value = node.inputs[0]
    return tuple(links)


def _named(node: Node) -> str:
    return (node.attribute("name") or "").strip('"')


def _path(owner: str, name: str, made: Mapping[str, Node], top: str, prefix: str) -> str:
    """Returns the path of an attribute; empty where its owner is not read from the module, or nests too deeply."""
    parts = [name]
    for _ in range(MAX_DEPTH + 1):
        if len(parts[-1]) > MAX_NAME:
            return ""
        if owner == top:
            return ".".join([*([prefix] if prefix else []), *reversed(parts)])
        node = made.get(owner)
        if node is None or node.op != "prim::GetAttr" or not node.inputs:
            return ""
        parts.append(_named(node))
        owner = node.inputs[0]
    return ""


def constant_chains(graph: GraphSnapshot) -> ConstantChains:
    """Finds the operations that read constants only.

    Operations with effects or random numbers are left out; so are lists and tuples of constants, unless an operation
    reads them.
    """
    fixed: set[str] = set()
    gathers: list[Node] = []
    found: list[Node] = []
    for node in graph.walk():
        known = node.op == "prim::Constant"
        if not known and node.inputs and node.outputs and not node.blocks and fixed.issuperset(node.inputs):
            if node.op in _GATHERS:
                known = True
                gathers.append(node)
            elif _is_pure(node):
                known = True
                found.append(node)
        if known:
            fixed.update(value.name for value in node.outputs)
    read = {name for node in found for name in node.inputs}
    for node in reversed(gathers):
        if any(value.name in read for value in node.outputs):
            read.update(node.inputs)
    ends = (node for node in found if not any(value.name in read for value in node.outputs))
    return ConstantChains(len(found), tuple(ends))


def _is_pure(node: Node) -> bool:
    namespace, _, name = node.op.partition("::")
    return namespace == "aten" and not _is_in_place(node) and not any(word in name for word in _RANDOM)
