"""Finds the attribute reads that are left in the final graphs, and the nodes that need a submodule as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freeze_engine.backends.torchscript.attributes.advice_texts import text
from freeze_engine.backends.torchscript.attributes.writes import RULES, MethodRecord, evidence_of
from freeze_engine.backends.torchscript.graph.attribute_reads import SlotAccess, attribute_name
from freeze_engine.trace import Evidence, Node

NO_CONSTANT = "TorchScript has no constants for modules"


@dataclass(frozen=True, slots=True)
class User:
    """A use of a value.

    Attributes:
        node: the node; ``None`` for the method, which returns it.
        position: the value's place among its inputs.
    """

    node: Node | None
    position: int


class StandingReads:
    """The attributes that the final graphs read.

    Args:
        records: the frozen methods.
    """

    def __init__(self, records: Sequence[MethodRecord]) -> None:
        self._found: dict[str | None, list[tuple[MethodRecord, SlotAccess]]] = {}
        self._users: dict[str, dict[str, list[User]]] = {}
        for record in records:
            self._users[record.method] = _users(record)
            for access in record.accesses(record.final.graph):
                if access.node.op == "prim::GetAttr":
                    self._found.setdefault(access.path, []).append((record, access))

    def of(self, path: str | None) -> Sequence[tuple[MethodRecord, SlotAccess]]:
        """Returns the reads of an attribute; those that lead to no attribute for ``None``."""
        return self._found.get(path, ())

    def below(self, path: str) -> list[str]:
        """Returns the paths of the attributes of a submodule that are read."""
        return [each for each in self._found if each is not None and each.startswith(f"{path}.")]

    def users(self, record: MethodRecord, value: str) -> Sequence[User]:
        """Returns the uses of a value in a method's final graph, those inside forked subgraphs included."""
        return self._users[record.method].get(value, ())


def _users(record: MethodRecord) -> dict[str, list[User]]:
    graph = record.final.graph
    found: dict[str, list[User]] = {}
    for node in graph.walk():
        for position, name in enumerate(node.inputs):
            found.setdefault(name, []).append(User(node, position))
        for block in node.blocks:
            for name in block.outputs if not block.scope else ():
                found.setdefault(name, []).append(User(node, -1))
    for name in graph.outputs:
        found.setdefault(name, []).append(User(None, 0))
    for node in graph.walk():
        for block in node.blocks:
            for given, own in zip(node.inputs, block.inputs, strict=False) if block.scope else ():
                found.setdefault(given, []).extend(found.get(own.name, ()))
    return found


@dataclass(frozen=True, slots=True)
class Need:
    """A node that needs a submodule, so that torch cannot remove it.

    Attributes:
        evidence: the node.
        remedy: advice: how to do without it.
    """

    evidence: Evidence
    remedy: str


def needs(reads: StandingReads, record: MethodRecord, access: SlotAccess, path: str) -> Iterator[Need]:
    """Yields the nodes that use a submodule as a whole.

    Args:
        reads: of the final graphs.
        record: of the method that reads it.
        access: the read.
        path: of the submodule.
    """
    found = [(user, said) for user in reads.users(record, access.value) if (said := _need(user, record, path))]
    # A fork takes what its body needs, and the body is among the users.
    inner = [each for each in found if each[0].node is None or each[0].node.op != "prim::fork"]
    for user, said in inner or found:
        fact, remedy = said
        evidence = evidence_of(f"{fact}, and {NO_CONSTANT} ({RULES})", record, access, record.final)
        if user.node is not None:
            node = user.node
            evidence = Evidence(evidence.fact, record.method, record.final.index, node.id, node.op, node.source)
        yield Need(evidence, remedy)


def _need(user: User, record: MethodRecord, path: str) -> tuple[str, str] | None:
    node, names = user.node, {"path": path, "method": record.method}
    if node is None:
        return f"{record.method} returns it", text("not_returned", **names)
    if node.op == "prim::GetAttr" or (node.op == "prim::SetAttr" and user.position == 0):
        return None  # an attribute that is read from it or set on it has its own verdict
    if node.op == "prim::SetAttr":
        fact = f"{record.method} assigns it to {attribute_name(node)!r}"
        return fact, text("not_assigned_to", **names)
    if node.op == "prim::CallMethod":
        return "a fork calls it through an interface, which torch does not inline there", text("not_in_fork", **names)
    if node.op == "prim::fork":
        return "prim::fork takes it", text("unforked", **names)
    if node.op in ("prim::If", "prim::Loop"):
        return "a variable may be it or another module", text("straight", **names)
    return f"{node.op} takes it", text("not_collected", **names)
