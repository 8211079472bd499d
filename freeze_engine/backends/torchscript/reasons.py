"""Why an attribute is still on the frozen module, and on what evidence.

The rules are those of ``AttributePropagator`` in ``torch/csrc/jit/passes/freeze_module.cpp`` (torch 2.13.0).
Each verdict stands on torch's own log line, on a node of the recorded graph, or on torch's alias analysis; what
none of these shows is ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.torchscript.aliases import WriterSearch
from freeze_engine.backends.torchscript.attributes import ModuleAttribute
from freeze_engine.backends.torchscript.slots import SlotAccess, slot_accesses
from freeze_engine.trace import Evidence, GraphSnapshot, Node, Reason, SourceRef, Step

_IN_PLACE = re.compile(r"attribute: (?P<name>.+) in %(?P<value>.+?) has inplace writer")
_SET = re.compile(r"attribute: (?P<name>.+) is set")
_NOT_CONSTANT = re.compile(r"(?:attribute: )?(?P<name>.+) is not materializable\.")
_MANGLE = re.compile(r"___torch_mangle_\d+\.")
_RULES = "torch/csrc/jit/passes/freeze_module.cpp"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why one attribute was preserved.

    Attributes:
        reason: in the words of the trace.
        evidence: the first is the deciding one.
        step: index of the step that decided, if one did.
    """

    reason: Reason
    evidence: tuple[Evidence, ...] = ()
    step: int | None = None


@dataclass(frozen=True, slots=True)
class MethodRecord:
    """What is known of one frozen method.

    Attributes:
        method: dotted path of the method.
        searched: the step whose graph torch searched for writes (the inlined graph).
        decided: the step that recorded the writes, with torch's log of it.
        propagated: the step that made constants, if it was reached.
        final: the last step.
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


class ReasonFinder:
    """Tells why each attribute of a frozen module was preserved.

    Args:
        before: slots of the module that came in.
        after: slots of the frozen module.
        requested: names that the user asked to preserve.
        records: the frozen methods.
    """

    def __init__(
        self,
        before: Mapping[str, ModuleAttribute],
        after: Mapping[str, ModuleAttribute],
        requested: Sequence[str],
        records: Sequence[MethodRecord],
    ) -> None:
        self._before = before
        self._after = after
        self._requested = tuple(requested)
        self._records = tuple(records)
        self._verdicts: dict[str, Verdict] = {}
        self._sets: dict[str, Verdict] = {}
        self._writes: dict[str, Verdict] = {}
        for record in self._records:
            self._find_sets(record)
            self._find_in_place_writes(record)
        self._remaining = [
            (record, access)
            for record in self._records
            for access in record.accesses(record.final.graph)
            if access.node.op == "prim::GetAttr"
        ]

    def find(self) -> dict[str, Verdict]:
        """Returns the verdict on every slot of the frozen module, by path."""
        slots = [path for path in self._after if self._after[path].kind != "submodule"]
        for path in slots:
            self._verdicts[path] = self._direct(path) or Verdict("unknown")
        for path in slots:
            if self._verdicts[path].reason == "unknown":
                self._verdicts[path] = self._indirect(path) or self._unexplained(path)
        # A submodule is judged after everything it holds, so the deepest come first.
        for path in sorted(self._after.keys() - set(slots), key=lambda each: -each.count(".")):
            self._verdicts[path] = self._submodule(path)
        return self._verdicts

    def _unexplained(self, path: str) -> Verdict:
        training = self._before.get("training")
        if training is not None and training.value is True and self._after[path].kind != "attribute":
            fact = "the module is in training mode, in which torch keeps parameters and buffers, and what holds them"
            return Verdict("unknown", (Evidence(f"{fact} ({_RULES})"),))
        if self._records:
            return Verdict("unknown")
        fact = "no method was frozen: the module has no forward, and preserved_attrs names no method"
        return Verdict("unknown", (Evidence(fact),))

    def _find_sets(self, record: MethodRecord) -> None:
        """Pairs torch's "is set" lines, which give a name only, with the nodes that set such a name."""
        logged = {match["name"] for line in record.decided.log if (match := _SET.fullmatch(line))}
        for access in record.accesses(record.searched.graph):
            name = access.name
            if access.node.op != "prim::SetAttr" or access.path is None or name not in logged:
                continue
            fact = f"torch's log: attribute: {name} is set ({_RULES})"
            evidence = self._evidence(fact, record, access)
            self._sets.setdefault(access.path, Verdict("set_in_method", (evidence,), record.decided.index))

    def _find_in_place_writes(self, record: MethodRecord) -> None:
        reads = [each for each in record.accesses(record.searched.graph) if each.node.op == "prim::GetAttr"]
        for line in record.decided.log:
            match = _IN_PLACE.fullmatch(line)
            if match is None:
                continue
            for access in reads:
                # A fork's values carry a prefix in the trace that torch's log does not know.
                if access.value.rpartition("/")[2] == match["value"] and access.path is not None:
                    verdict = Verdict(
                        "mutated_in_place", (self._write_evidence(line, record, access),), record.decided.index
                    )
                    self._writes.setdefault(access.path, verdict)

    def _write_evidence(self, line: str, record: MethodRecord, access: SlotAccess) -> Evidence:
        fact = f"torch's log: {line} ({_RULES})"
        found = record.search.first_write(access.value) if record.search else None
        if found is None:
            return self._evidence(fact, record, access)
        node, chain = found
        return Evidence(fact, record.method, record.searched.index, node.id, node.op, node.source, chain)

    def _evidence(self, fact: str, record: MethodRecord, access: SlotAccess, step: Step | None = None) -> Evidence:
        node, step = access.node, step or record.searched
        # torch gives an assignment no source line of its own, nor always the value that it assigns.
        source = node.source or _nearest_source(step.graph, node)
        return Evidence(fact, record.method, step.index, node.id, node.op, source)

    def _direct(self, path: str) -> Verdict | None:
        """Judges by what was asked for and by what the methods do with the attribute itself."""
        also = tuple(
            item for verdict in (self._sets.get(path), self._writes.get(path)) if verdict for item in verdict.evidence
        )
        if path in self._requested:
            return Verdict("requested", (Evidence(f"preserved_attrs names {path!r}"), *also))
        kept_whole = self._preserved_module_around(path)
        if kept_whole is not None:
            return Verdict("module_preserved", (kept_whole, *also))
        if path in self._sets or path in self._writes:
            first = self._sets.get(path) or self._writes[path]
            return Verdict(first.reason, also, first.step)
        return None

    def _preserved_module_around(self, path: str) -> Evidence | None:
        for name in self._requested:
            if path.startswith(f"{name}.") and name in self._before and self._before[name].kind == "submodule":
                return Evidence(f"preserved_attrs names the submodule {name!r}, which torch keeps whole ({_RULES})")
        for record in self._records:
            returned = {_plain(value) for value in _returned_types(record.final.graph)}
            for parent in _ancestors(path):
                if _plain(self._after[parent].type) in returned:
                    fact = f"{record.method} returns the submodule {parent!r}, so torch keeps it whole ({_RULES})"
                    return Evidence(fact, record.method, record.final.index)
        return None

    def _indirect(self, path: str) -> Verdict | None:
        """Judges by the attribute's neighbours: shared memory, a remaining read, an instance of the same class."""
        return self._aliased(path) or self._unread(path) or self._shared_class(path)

    def _aliased(self, path: str) -> Verdict | None:
        storages = _storages(self._before.get(path))
        for other, verdict in self._verdicts.items():
            if other == path or verdict.reason not in (
                "requested",
                "set_in_method",
                "mutated_in_place",
                "module_preserved",
            ):
                continue
            if storages & _storages(self._before.get(other)):
                fact = f"it shares memory with {other!r}, which is preserved ({verdict.reason})"
                return Verdict("aliases_preserved", (Evidence(fact), *verdict.evidence), verdict.step)
        return None

    def _unread(self, path: str) -> Verdict | None:
        """Judges by a ``prim::GetAttr`` that still stands in a final graph."""
        name = path.rpartition(".")[2]
        for record, access in self._remaining:
            if access.name != name:
                continue
            if access.path is None and self._may_be_read_by(record, access, path):
                fact = "a read of it stays, and its chain of reads does not lead back to self"
                evidence = self._evidence(f"{fact} ({_RULES})", record, access, record.final)
                return Verdict("unresolved_path", (evidence,), _index(record.propagated))
            if access.path == path:
                return self._standing_read(record, access, name)
        return None

    def _standing_read(self, record: MethodRecord, access: SlotAccess, name: str) -> Verdict | None:
        log = record.propagated.log if record.propagated else ()
        for line in log:
            match = _NOT_CONSTANT.fullmatch(line)
            if match and match["name"] == name:
                fact = f"torch's log: {line} ({_RULES})"
                return Verdict(
                    "not_constant", (self._evidence(fact, record, access, record.final),), _index(record.propagated)
                )
        return None

    def _may_be_read_by(self, record: MethodRecord, access: SlotAccess, path: str) -> bool:
        types = {value.name: value.type for node in record.final.graph.walk() for value in node.outputs}
        types.update((value.name, value.type) for value in record.final.graph.inputs)
        read_from = types.get(access.node.inputs[0], "") if access.node.inputs else ""
        return _plain(read_from) == _plain(self._after[path].owner)

    def _shared_class(self, path: str) -> Verdict | None:
        slot, name = self._after[path], path.rpartition(".")[2]
        for other, verdict in self._verdicts.items():
            if other == path or other.rpartition(".")[2] != name or verdict.reason in ("unknown", "shared_class"):
                continue
            if self._after[other].owner == slot.owner:
                fact = (
                    f"{other!r}, a slot of the same class, is preserved ({verdict.reason}); torch keeps or removes "
                    f"a slot for all instances of a class ({_RULES})"
                )
                return Verdict("shared_class", (Evidence(fact), *verdict.evidence), verdict.step)
        return None

    def _submodule(self, path: str) -> Verdict:
        if path in self._requested:
            return Verdict("requested", (Evidence(f"preserved_attrs names {path!r}"),))
        below = next((name for name in self._requested if name.startswith(f"{path}.")), None)
        if below:
            return Verdict("ancestor_of_requested", (Evidence(f"preserved_attrs names {below!r}, which it holds"),))
        kept_whole = self._preserved_module_around(f"{path}.")
        if kept_whole is not None:
            return Verdict("module_preserved", (kept_whole,))
        held = [
            each
            for each, verdict in self._verdicts.items()
            if each.startswith(f"{path}.") and (verdict.reason != "unknown" or verdict.evidence)
        ]
        if held:
            verdict = self._verdicts[held[0]]
            fact = f"it holds {held[0]!r}, which is preserved ({verdict.reason})"
            return Verdict(verdict.reason, (Evidence(fact), *verdict.evidence), verdict.step)
        return self._unread(path) or self._shared_class(path) or self._unexplained(path)


def _index(step: Step | None) -> int | None:
    return step.index if step else None


def _nearest_source(graph: GraphSnapshot, node: Node) -> SourceRef | None:
    """Returns the line of the closest node before ``node`` that has one."""
    nearest = None
    for each in graph.walk():
        if each.id == node.id:
            return nearest
        nearest = each.source or nearest
    return None


def _plain(type_text: str) -> str:
    """A class's name without the counter torch adds when it copies the class."""
    return _MANGLE.sub("", type_text)


def _ancestors(path: str) -> list[str]:
    parts = path.split(".")[:-1]
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _returned_types(graph: GraphSnapshot) -> list[str]:
    types = {value.name: value.type for node in graph.walk() for value in node.outputs}
    types.update((value.name, value.type) for value in graph.inputs)
    return [types[name] for name in graph.outputs if name in types]


def _storages(attribute: ModuleAttribute | None) -> set[Any]:
    if attribute is None:
        return set()
    return {
        tensor.untyped_storage().data_ptr()
        for tensor in attribute.tensors
        if tensor.layout is torch.strided and tensor.numel()
    }
