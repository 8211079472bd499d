"""Why an attribute is still on the frozen module, and on what evidence.

The rules are those of ``AttributePropagator`` in ``torch/csrc/jit/passes/freeze_module.cpp`` (torch 2.13.0).
Each verdict stands on torch's own log line, on a node of the recorded graph, or on torch's alias analysis; what
none of these shows is ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from freeze_engine.backends.torchscript.attributes import ModuleAttribute
from freeze_engine.backends.torchscript.slots import SlotAccess
from freeze_engine.backends.torchscript.writes import (
    RULES,
    MethodRecord,
    Verdict,
    assignments,
    evidence_of,
    in_place_writes,
)
from freeze_engine.trace import Evidence, GraphSnapshot, Reason, Step

_NOT_CONSTANT = re.compile(r"(?:attribute: )?(?P<name>.+) is not materializable\.")
_MANGLE = re.compile(r"___torch_mangle_\d+\.")


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
        self._sets = assignments(self._records)
        self._writes = in_place_writes(self._records, after)
        self._remaining = [
            (record, access)
            for record in self._records
            for access in record.accesses(record.final.graph)
            if access.node.op == "prim::GetAttr"
        ]

    def find(self) -> dict[str, Verdict]:
        """Returns the verdict on every slot of the frozen module, by path."""
        slots = [path for path in self._after if self._after[path].kind != "submodule"]
        alone = {path: verdict for path in slots if (verdict := self._direct(path))}
        held = {path: self._with(alone.get(path), self._aliased(path, alone)) for path in slots}
        kept = {path: verdict for path in slots if (verdict := held[path] or self._unread(path))}
        for path in slots:
            verdict = self._with(kept.get(path), self._shared_class(path, kept))
            self._verdicts[path] = verdict or self._unexplained(path)
        # A submodule is judged after everything it holds, so the deepest come first.
        for path in sorted(self._after.keys() - set(slots), key=lambda each: -each.count(".")):
            self._verdicts[path] = self._submodule(path)
        return self._verdicts

    def _unexplained(self, path: str) -> Verdict:
        training = self._before.get("training")
        if training is not None and training.value is True and self._after[path].kind != "attribute":
            fact = "the module is in training mode, in which torch keeps parameters and buffers, and what holds them"
            return Verdict("unknown", (Evidence(f"{fact} ({RULES})"),))
        if self._records:
            return Verdict("unknown")
        fact = "no method was frozen: the module has no forward, and preserved_attrs names no method"
        return Verdict("unknown", (Evidence(fact),))

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
                return Evidence(f"preserved_attrs names the submodule {name!r}, which torch keeps whole ({RULES})")
        for record in self._records:
            returned = {_plain(value) for value in _returned_types(record.final.graph)}
            for parent in _ancestors(path):
                if _plain(self._after[parent].type) in returned:
                    fact = f"{record.method} returns the submodule {parent!r}, so torch keeps it whole ({RULES})"
                    return Evidence(fact, record.method, record.final.index)
        return None

    def _with(self, verdict: Verdict | None, other: Verdict | None) -> Verdict | None:
        """Adds what would keep the attribute by itself, where that names anything that the verdict does not name."""
        if verdict is None or other is None:
            return verdict or other
        named = {_place(evidence) for evidence in verdict.evidence}
        if {_place(evidence) for evidence in other.evidence if evidence.node} <= named:
            return verdict
        return replace(verdict, evidence=tuple(dict.fromkeys((*verdict.evidence, *other.evidence))))

    def _aliased(self, path: str, kept: Mapping[str, Verdict]) -> Verdict | None:
        """Judges by the memory that an attribute shares with others, which are kept by themselves."""
        storages = _storages(self._before.get(path))
        found = [
            (f"it shares memory with {other!r}, which is preserved ({verdict.reason})", verdict)
            for other, verdict in kept.items()
            if other != path and storages & _storages(self._before.get(other))
        ]
        return _joined("aliases_preserved", found)

    def _unread(self, path: str) -> Verdict | None:
        """Judges by a ``prim::GetAttr`` that still stands in a final graph."""
        name = path.rpartition(".")[2]
        for record, access in self._remaining:
            if access.name != name:
                continue
            if access.path is None and self._may_be_read_by(record, access, path):
                fact = "a read of it stays, and its chain of reads does not lead back to self"
                evidence = evidence_of(f"{fact} ({RULES})", record, access, record.final)
                return Verdict("unresolved_path", (evidence,), _index(record.propagated))
            if access.path == path:
                return self._standing_read(record, access, name)
        return None

    def _standing_read(self, record: MethodRecord, access: SlotAccess, name: str) -> Verdict | None:
        log = record.propagated.log if record.propagated else ()
        for line in log:
            match = _NOT_CONSTANT.fullmatch(line)
            if match and match["name"] == name:
                fact = f"torch's log: {line} ({RULES})"
                return Verdict(
                    "not_constant", (evidence_of(fact, record, access, record.final),), _index(record.propagated)
                )
        return None

    def _may_be_read_by(self, record: MethodRecord, access: SlotAccess, path: str) -> bool:
        types = {value.name: value.type for node in record.final.graph.walk() for value in node.outputs}
        types.update((value.name, value.type) for value in record.final.graph.inputs)
        read_from = types.get(access.node.inputs[0], "") if access.node.inputs else ""
        return _plain(read_from) == _plain(self._after[path].owner)

    def _shared_class(self, path: str, kept: Mapping[str, Verdict]) -> Verdict | None:
        """Judges by the same slot of other instances of the class."""
        slot, name = self._after[path], path.rpartition(".")[2]
        found = [
            (
                f"{other!r}, a slot of the same class, is preserved ({verdict.reason}); torch keeps or removes "
                f"a slot for all instances of a class ({RULES})",
                verdict,
            )
            for other, verdict in kept.items()
            if other != path and other.rpartition(".")[2] == name and self._after[other].owner == slot.owner
        ]
        return _joined("shared_class", found)

    def _verdicts_known(self) -> dict[str, Verdict]:
        return {path: each for path, each in self._verdicts.items() if each.reason not in ("unknown", "shared_class")}

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
        shared = self._shared_class(path, self._verdicts_known())
        return self._unread(path) or shared or self._lost_in_fork(path) or self._unexplained(path)

    def _lost_in_fork(self, path: str) -> Verdict | None:
        """Judges a submodule by an attribute that a forked method writes, and that torch removes all the same."""
        for name, verdict in {**self._writes, **self._sets}.items():
            if name.startswith(f"{path}.") and name not in self._after:
                fact = (
                    f"it holds {name!r}, which is written in a fork: torch keeps the submodule and loses the attribute"
                )
                return Verdict(verdict.reason, (Evidence(fact), *verdict.evidence), verdict.step)
        return None


def _joined(reason: Reason, found: Sequence[tuple[str, Verdict]]) -> Verdict | None:
    """Returns the verdict that rests on other attributes' verdicts, ``None`` without any."""
    if not found:
        return None
    evidence = (each for fact, verdict in found for each in (Evidence(fact), *verdict.evidence))
    return Verdict(reason, tuple(dict.fromkeys(evidence)), found[0][1].step)


def _place(evidence: Evidence) -> tuple[object, ...]:
    """Returns what two mentions of one write have in common: its line, or its node where that has none."""
    source = evidence.source
    return (source.file, source.line) if source else (evidence.method, evidence.step, evidence.node)


def _index(step: Step | None) -> int | None:
    return step.index if step else None


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
