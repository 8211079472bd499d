"""Why attributes remain in a frozen file, and what freezing left in its graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
    """

    path: str
    kind: AttributeKind
    type: str
    value: Any
    tensor: Constant | None = None


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
    for step in steps:
        for path, write in _writes(step):
            writes.setdefault(path, []).append(write)
    inside = {slot.path.rpartition(".")[0] for slot in slots}
    found = []
    for slot in slots:
        known = writes.get(slot.path, ())
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
                nbytes=0 if tensor is None else tensor.nbytes,
                fate="preserved",
                reason=reason,
                evidence=evidence,
                step=evidence[0].step,
                tensor=tensor,
            )
        )
    return tuple(sorted(found, key=lambda fate: fate.path))


def _writes(step: Step) -> Iterator[tuple[str, _Write]]:
    """Yields the attributes that a method assigns or writes in place, with the evidence."""
    graph = step.graph
    prefix = step.method.rpartition(".")[0]
    made = {value.name: node for node in graph.walk() for value in node.outputs}
    top = graph.inputs[0].name if graph.inputs else ""
    for node in graph.walk():
        if node.op == "prim::SetAttr" and node.inputs:
            path = _path(node.inputs[0], _named(node), made, top, prefix)
            if path is not None:
                fact = f"{step.method} assigns it (prim::SetAttr), so it cannot be a constant"
                yield path, _Write("set_in_method", Evidence(fact, step.method, step.index, node.id, node.op))
        elif _is_in_place(node):
            chain = _chain(node.inputs[0], made)
            read = made.get(chain[-1].value) if chain else None
            if read is None or read.op != "prim::GetAttr":
                continue
            path = _path(read.inputs[0], _named(read), made, top, prefix)
            if path is not None:
                fact = f"{step.method} writes its memory in place, so it cannot be a constant"
                yield (
                    path,
                    _Write("mutated_in_place", Evidence(fact, step.method, step.index, node.id, node.op, None, chain)),
                )


def _is_in_place(node: Node) -> bool:
    name = node.op.rpartition("::")[2]
    return bool(node.inputs) and name.endswith("_") and not name.endswith("__")


def _chain(value: str, made: Mapping[str, Node]) -> tuple[ChainLink, ...]:
    """Returns the way from a written value back to what it is a view of."""
    links: list[ChainLink] = []
    while (node := made.get(value)) is not None and len(links) < len(made):
        links.append(ChainLink(value, node.id, node.op))
        if not (node.op in _VIEWS or _is_in_place(node)) or not node.inputs:
            break
        value = node.inputs[0]
    return tuple(links)


def _named(node: Node) -> str:
    return (node.attribute("name") or "").strip('"')


def _path(owner: str, name: str, made: Mapping[str, Node], top: str, prefix: str) -> str | None:
    """Returns the path of an attribute, ``None`` where its owner is not read from the module."""
    parts = [name]
    for _ in range(len(made) + 1):
        if owner == top:
            return ".".join([*([prefix] if prefix else []), *reversed(parts)])
        node = made.get(owner)
        if node is None or node.op != "prim::GetAttr":
            return None
        parts.append(_named(node))
        owner = node.inputs[0]
    return None


def constant_chains(graph: GraphSnapshot) -> tuple[tuple[Node, ...], ...]:
    """Returns operations that read constants only, grouped by the last of each chain.

    Operations with effects or random numbers are left out; so are lists and tuples of constants, unless an operation
    reads them.
    """
    fixed: dict[str, tuple[Node, ...]] = {}
    read: set[str] = set()
    found: dict[str, tuple[Node, ...]] = {}
    for node in graph.walk():
        if node.op == "prim::Constant":
            fixed |= {value.name: () for value in node.outputs}
            continue
        known = node.inputs and node.outputs and not node.blocks and all(name in fixed for name in node.inputs)
        gathers = node.op in _GATHERS
        if not known or not (gathers or _is_pure(node)):
            continue
        chain = dict.fromkeys(each for name in node.inputs for each in fixed[name])
        whole = (*chain, node)
        fixed |= {value.name: whole for value in node.outputs}
        if not gathers:
            read.update(each.id for each in chain)
            found[node.id] = tuple(each for each in whole if each.op not in _GATHERS)
    return tuple(chain for name, chain in found.items() if name not in read)


def _is_pure(node: Node) -> bool:
    namespace, _, name = node.op.partition("::")
    return namespace == "aten" and not _is_in_place(node) and not any(word in name for word in _RANDOM)
