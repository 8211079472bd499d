"""Finds the attributes that the frozen methods write, from torch's log of its search for writes.

The rules are those of ``AttributePropagator`` in ``torch/csrc/jit/passes/freeze_module.cpp`` (torch 2.13.0).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace

from freeze_engine.backends.torchscript.attributes.aliases import AssumedWrite, WildWrite, WriterSearch
from freeze_engine.backends.torchscript.attributes.verdicts import WILDCARD, Cause
from freeze_engine.backends.torchscript.graph.attribute_reads import SlotAccess, slot_accesses
from freeze_engine.backends.torchscript.graph.forks import unscoped
from freeze_engine.trace import ASSUMED, Evidence, GraphSnapshot, Step

RULES = "torch/csrc/jit/passes/freeze_module.cpp"
_IN_PLACE = re.compile(r"attribute: (?P<name>.+) in %(?P<value>.+?) has inplace writer")
_CONTAINER = re.compile(r".*\[\]|(Dict)?\(.*\)")
_SET = re.compile(r"attribute: (?P<name>.+) is set")


@dataclass(frozen=True, slots=True)
class MethodRecord:
    """Facts about one frozen method.

    Attributes:
        method: dotted path of the method.
        searched: the step whose graph torch searched for writes (the inlined graph).
        decided: the step that recorded the writes, with torch's log of it.
        propagated: the step that made constants, if it was reached.
        final: the last step of torch's ``_freeze_module``, which removes attributes at its end.
        search: the alias analysis of the inlined graph, ``None`` where it could not be made again.
    """

    method: str
    searched: Step
    decided: Step
    propagated: Step | None
    final: Step
    search: WriterSearch | None

    @property
    def self_path(self) -> str:
        """Dotted path of the module whose method it is."""
        return self.method.rpartition(".")[0]

    def accesses(self, graph: GraphSnapshot) -> list[SlotAccess]:
        """Lists the attribute reads and writes in one of the method's graphs."""
        return list(slot_accesses(graph, self.self_path))


def assignments(
    records: Iterable[MethodRecord], kept: Container[str], with_line: Callable[[str, Evidence], Evidence]
) -> dict[str, Cause]:
    """Returns the attributes that a method assigns to, by path, with each assignment as evidence.

    Args:
        records: the frozen methods.
        kept: paths of the attributes that are still on the frozen module.
        with_line: gives an assignment its line, which torch does not keep.
    """
    found: dict[str, Cause] = {}
    for record in records:
        for path, evidence in _assigned(record, kept):
            known = found.get(path, Cause("set_in_method", (), record.decided.index))
            found[path] = replace(known, evidence=(*known.evidence, with_line(path, evidence)))
    return found


def in_place_writes(records: Iterable[MethodRecord], kept: Container[str]) -> dict[str, Cause]:
    """Returns the attributes that a method writes in place, by path, with each write as evidence.

    Args:
        records: the frozen methods.
        kept: paths of the attributes that are still on the frozen module.
    """
    found: dict[str, Cause] = {}
    for record in records:
        for path, evidence in _written_in_place(record, kept):
            known = found.get(path, Cause("mutated_in_place", (), record.decided.index))
            if all((each.node, each.method) != (evidence.node, evidence.method) for each in known.evidence):
                found[path] = replace(known, evidence=(*known.evidence, evidence))
    return found


def evidence_of(fact: str, record: MethodRecord, access: SlotAccess, step: Step | None = None) -> Evidence:
    """Returns a read or write of an attribute as evidence.

    Args:
        fact: what it shows.
        record: of the method.
        access: the read or write.
        step: whose graph it is in; by default the one that torch searched for writes.
    """
    node, step = access.node, step or record.searched
    return Evidence(fact, record.method, step.index, node.id, node.op, node.source)


def _assigned(record: MethodRecord, kept: Container[str]) -> Iterator[tuple[str, Evidence]]:
    """Pairs torch's "is set" lines, which give a name only, with the nodes that set such a name."""
    logged = {match["name"] for line in record.decided.log if (match := _SET.fullmatch(line))}
    for access in record.accesses(record.searched.graph):
        if access.node.op != "prim::SetAttr" or access.path is None:
            continue
        if access.name in logged:
            yield access.path, evidence_of(f"torch's log: attribute: {access.name} is set ({RULES})", record, access)
        elif access.path in kept:  # torch logs no assignment to an attribute that it keeps already
            yield access.path, evidence_of(f"{record.method} assigns it ({RULES})", record, access)


def _written_in_place(record: MethodRecord, kept: Container[str]) -> Iterator[tuple[str, Evidence]]:
    reads: dict[str, list[tuple[str, SlotAccess]]] = {}
    for access in record.accesses(record.searched.graph):
        if access.node.op == "prim::GetAttr" and access.path is not None:
            # A fork's values carry a prefix in the trace that torch's log does not know.
            reads.setdefault(unscoped(access.value), []).append((access.path, access))
    linked = _LinkedWriters(record, (each for found in reads.values() for each in found))
    for line in record.decided.log:
        match = _IN_PLACE.fullmatch(line)
        for path, access in reads.pop(match["value"], ()) if match else ():
            found = _write_evidence(f"torch's log: {line}", record, access, linked.of(path))
            yield from ((path, evidence) for evidence in found)
    # torch logs no writer of an attribute that it already knows to be mutable (``recordMutableAttrs``).
    for path, access in (each for found in reads.values() for each in found):
        if path in kept and record.search and record.search.is_written(access.value):
            fact = f"torch's alias analysis: %{access.value} is written in place"
            found = _write_evidence(fact, record, access, linked.of(path))
            yield from ((path, evidence) for evidence in found if evidence.chain)


class _LinkedWriters:
    """Finds the nodes that write an attribute through any of its reads; for most attributes nothing needs them."""

    def __init__(self, record: MethodRecord, reads: Iterable[tuple[str, SlotAccess]]) -> None:
        self._search = record.search
        self._reads: dict[str, list[str]] = {}
        for path, access in reads:
            self._reads.setdefault(path, []).append(access.value)

    def of(self, path: str) -> set[str]:
        """Returns the ids of the nodes that write the attribute."""
        search = self._search
        return {node.id for value in self._reads[path] for node, _ in search.writes(value)} if search else set()


def _write_evidence(fact: str, record: MethodRecord, access: SlotAccess, linked: Container[str]) -> Iterator[Evidence]:
    found = record.search.writes(access.value) if record.search else []
    for node, chain in found:
        given = (record.searched.index, node.id, node.op, node.source)
        one_of = record.search.one_of_several(chain) if record.search else None
        choice = f"each element of %{one_of.value} ({one_of.op}) may be the one that is written" if one_of else ""
        yield Evidence(f"{fact}{_assumed(choice)} ({RULES})", record.method, *given, chain)
    # Without the write that goes through a list the value may not be in one, for all that torch knows.
    through = {link.value for _, chain in found for link in chain}
    wild = record.search.wild_writes(access.value) if record.search else []
    if _CONTAINER.fullmatch(access.node.outputs[0].type) and linked:
        wild = []  # what two lists hold may be one tensor: for torch that makes the lists alike, not one list
    wild = [each for each in wild if each.node.id not in linked]
    wild = [each for each in wild if not found or through.isdisjoint(link.value for link in each.put[:1])]
    for each in wild:
        yield _wild_evidence(fact, record, access, each)
    assumed = record.search.assumed_writes(access.value) if record.search else []
    assumed = [other for other in assumed if not (other.is_guess and (found or wild))]
    assumed = [other for other in assumed if not found or through.isdisjoint(link.value for link in other.way[:1])]
    yield from (_assumed_evidence(fact, record, each) for each in assumed)
    if not found and not wild and not assumed:
        yield replace(evidence_of(f"{fact} ({RULES})", record, access), source=None)  # its line is that of a read


def _wild_evidence(fact: str, record: MethodRecord, access: SlotAccess, write: WildWrite) -> Evidence:
    node = write.node
    ends = [f"%{write.written}, which {node.op} writes, is of %{link.value} ({link.op})" for link in write.taken[-1:]]
    ends += [f"%{access.value} is of %{link.value} ({link.op})" for link in write.put[:1]]
    said = (
        f"{fact}; {WILDCARD}: {ASSUMED} that what is in lists, tuples and dictionaries may all be one tensor: "
        f"{', and '.join(ends) or f'%{access.value} and %{write.written}'}"
    )
    given = (record.searched.index, node.id, node.op, node.source)
    chain = (*write.taken, *write.put) if write.taken and write.put else ()
    return Evidence(f"{said} ({RULES})", record.method, *given, chain)


def _assumed_evidence(fact: str, record: MethodRecord, write: AssumedWrite) -> Evidence:
    node = write.node
    given = (record.searched.index, node.id, node.op, node.source)
    return Evidence(f"{fact}{_assumed(write.rule)} ({RULES})", record.method, *given, write.way)


def _assumed(said: str) -> str:
    return f"; {ASSUMED} that {said}" if said else ""
