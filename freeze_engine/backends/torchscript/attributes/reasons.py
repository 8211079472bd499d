"""Reasons why an attribute is still on the frozen module, with their evidence.

The rules are those of ``AttributePropagator`` in ``torch/csrc/jit/passes/freeze_module.cpp`` (torch 2.13.0).
Each verdict rests on torch's own log line, on a node of the recorded graph, or on torch's alias analysis; what
none of these shows is ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.torchscript.attributes.advice_texts import text
from freeze_engine.backends.torchscript.attributes.returned import Returned, returned_cause, value_types
from freeze_engine.backends.torchscript.attributes.standing import StandingReads, needs
from freeze_engine.backends.torchscript.attributes.verdicts import Cause, Verdict, verdict_of
from freeze_engine.backends.torchscript.attributes.writes import (
    RULES,
    MethodRecord,
    assignments,
    evidence_of,
    in_place_writes,
)
from freeze_engine.backends.torchscript.graph.attribute_reads import SlotAccess
from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute
from freeze_engine.trace import Evidence, Step

_NOT_CONSTANT = re.compile(r"(?:attribute: )?(?P<name>.+) is not materializable\.")
_INDIRECT = ("unknown", "outside_graphs", "shared_class")


class ReasonFinder:
    """Finds the reason why each attribute of a frozen module was preserved.

    Args:
        before: slots of the module that came in.
        after: slots of the frozen module.
        requested: names that the user asked to preserve.
        records: the frozen methods.
        with_line: gives an assignment its line, which torch does not keep.
    """

    def __init__(
        self,
        before: Mapping[str, ModuleAttribute],
        after: Mapping[str, ModuleAttribute],
        requested: Sequence[str],
        records: Sequence[MethodRecord],
        with_line: Callable[[str, Evidence], Evidence],
    ) -> None:
        self._before = before
        self._after = after
        self._requested = tuple(requested)
        self._records = tuple(records)
        self._verdicts: dict[str, Verdict] = {}
        self._sets = assignments(self._records, after, with_line)
        self._writes = in_place_writes(self._records, after)
        self._reads = StandingReads(self._records)
        self._returned = Returned(self._records)
        self._named = _by_name(after)
        self._types = {record.method: value_types(record.final.graph) for record in self._records}
        self._storages = {path: _storages(before.get(path)) for path in after if after[path].kind != "submodule"}

    def find(self) -> dict[str, Verdict]:
        """Returns the verdict on every slot of the frozen module, by path."""
        slots = [path for path in self._after if self._after[path].kind != "submodule"]
        alone = {path: verdict for path in slots if (verdict := verdict_of(self._alone(path)))}
        alone |= {path: verdict for path in alone if (verdict := verdict_of(self._left_behind(path, slots)))}
        held = {path: _with(alone.get(path), self._aliased(path, alone)) for path in slots}
        kept = {path: verdict for path in slots if (verdict := held[path] or verdict_of(self._unread(path)))}
        for path in slots:
            shared = () if self._is_of_returned_class(path) else self._shared_class(path, kept)
            self._verdicts[path] = _with(kept.get(path), shared) or self._unexplained(path)
        # A submodule is judged after everything it holds, so the deepest come first.
        for path in sorted(self._after.keys() - set(slots), key=lambda each: (-each.count("."), each)):
            self._verdicts[path] = verdict_of(self._submodule(path)) or self._unexplained(path)
        return self._verdicts

    def _unexplained(self, path: str) -> Verdict:
        evidence: tuple[Evidence, ...] = ()
        remedy, training = "", self._before.get("training")
        is_kept_in_training = self._after[path].kind != "attribute" or path.rpartition(".")[2] == "training"
        if training is not None and training.value is True and is_kept_in_training:
            fact = "the module is in training mode, in which torch keeps parameters and buffers, and what holds them"
            evidence, remedy = (Evidence(f"{fact} ({RULES})"),), text("evaluation", what="the module")
        elif not self._records:
            fact = "no method was frozen: the module has no forward, and preserved_attrs names no method"
            return Verdict((Cause("outside_graphs", (Evidence(fact),), None, "", text("wrapped")),))
        return Verdict((Cause("unknown", evidence, None, "", remedy),))

    def _alone(self, path: str) -> Iterator[Cause]:
        """Yields the user's request to preserve it, and what the methods do with the attribute itself."""
        if path in self._requested:
            yield Cause("requested", (Evidence(f"preserved_attrs names {path!r}"),))
        yield from self._kept_whole(path)
        for found in (self._sets, self._writes):
            if path in found:
                yield found[path]
        yield from self._under_assigned(path)

    def _left_behind(self, path: str, slots: Sequence[str]) -> Iterator[Cause]:
        """Judges an attribute whose write later passes removed: it stays only since its submodule does."""
        owner = path.rpartition(".")[0]
        if not owner or path not in self._writes or path in (*self._sets, *self._requested) or self._reads.of(path):
            return
        if any(True for _ in self._kept_whole(path)):
            return
        other = next((each for each in slots if each.startswith(f"{owner}.") and self._reads.of(each)), None)
        if other is not None:
            fact = (
                f"torch's search for writes found one, in a branch that later passes removed; it stays with the "
                f"submodule {owner!r}, of which {other!r} is read ({RULES})"
            )
            evidence = (Evidence(fact), *self._writes[path].evidence)
            yield Cause("module_preserved", evidence, self._writes[path].step, "", text("with_owner", other=other))

    def _under_assigned(self, path: str) -> Iterator[Cause]:
        """Judges an attribute of a submodule that a method assigns: which one is read is not known before it runs."""
        if not self._reads.of(path):
            return
        for parent in _ancestors(path):
            if parent in self._sets:
                cause = self._sets[parent]
                fact = Evidence(f"it is read from {parent!r}, which is assigned in a method ({RULES})")
                yield Cause("set_in_method", (fact, *cause.evidence), cause.step, parent)

    def _kept_whole(self, path: str) -> Iterator[Cause]:
        """Judges a slot by the modules around it that torch keeps whole."""
        for name in self._requested:
            if path.startswith(f"{name}.") and name in self._before and self._before[name].kind == "submodule":
                fact = f"preserved_attrs names the submodule {name!r}, which torch keeps whole ({RULES})"
                yield Cause("module_preserved", (Evidence(fact),), None, name)
        for parent in ("", *_ancestors(path)):
            for record, returned in self._returned.like(self._class_of(parent)):
                yield returned_cause(record, returned, parent)

    def _class_of(self, path: str) -> str:
        return self._after[path].type if path else self._returned.own_type

    def _is_of_returned_class(self, path: str) -> bool:
        """Returns whether torch keeps a slot's whole class since a method returns one: other slots need no name."""
        return any(True for _ in self._returned.like(self._after[path].owner))

    def _aliased(self, path: str, kept: Mapping[str, Verdict]) -> Iterator[Cause]:
        """Yields the attributes that share memory with one, and that are kept for their own sake."""
        storages, own = self._storages[path], _causes(kept.get(path))
        for other, verdict in kept.items() if storages else ():
            if other != path and storages & self._storages[other] and not own.issuperset(verdict.causes):
                fact = f"it shares memory with {other!r}, which is preserved ({verdict.reason})"
                yield Cause("aliases_preserved", (Evidence(fact), *verdict.evidence), verdict.step, other)

    def _unread(self, path: str) -> Iterator[Cause]:
        """Judges by a ``prim::GetAttr`` that is still in a final graph."""
        for record, access in self._reads.of(path):
            yield from self._not_constant(record, access)
        for record, access in self._reads.of(None) if path in self._after else ():
            if access.name == path.rpartition(".")[2] and self._may_be_read_by(record, access, path):
                fact = "a read of it stays, and its chain of reads does not lead back to self"
                evidence = evidence_of(f"{fact} ({RULES})", record, access, record.final)
                yield Cause("unresolved_path", (evidence,), _index(record.propagated))

    def _not_constant(self, record: MethodRecord, access: SlotAccess) -> Iterator[Cause]:
        for line in record.propagated.log if record.propagated else ():
            match = _NOT_CONSTANT.fullmatch(line)
            if match and match["name"] == access.name:
                evidence = evidence_of(f"torch's log: {line} ({RULES})", record, access, record.final)
                yield Cause("not_constant", (evidence,), _index(record.propagated))
                return

    def _may_be_read_by(self, record: MethodRecord, access: SlotAccess, path: str) -> bool:
        read_from = self._types[record.method].get(access.node.inputs[0]) if access.node.inputs else None
        return read_from == self._after[path].owner

    def _shared_class(self, path: str, kept: Mapping[str, Verdict]) -> Iterator[Cause]:
        """Yields the same slot of other instances of the class."""
        slot, name, own = self._after[path], path.rpartition(".")[2], _causes(kept.get(path))
        for other in self._named[name]:
            if other == path or other not in kept or self._after[other].owner != slot.owner:
                continue
            if own.issuperset(kept[other].causes):
                continue
            fact = (
                f"{other!r}, a slot of the same class, is preserved ({kept[other].reason}); torch keeps or removes "
                f"a slot for all instances of a class ({RULES})"
            )
            yield Cause("shared_class", (Evidence(fact), *kept[other].evidence), kept[other].step, other)

    def _submodule(self, path: str) -> Iterator[Cause]:
        """Yields what keeps a submodule: the user's request, reads from it, and uses of it as a whole."""
        if path in self._requested:
            yield Cause("requested", (Evidence(f"preserved_attrs names {path!r}"),))
        for name in self._requested:
            if name.startswith(f"{path}."):
                yield Cause("ancestor_of_requested", (Evidence(f"preserved_attrs names {name!r}, which it holds"),))
        yield from self._kept_whole(path)
        for record, returned in self._returned.like(self._after[path].type):
            if returned == path:
                yield returned_cause(record, returned, path)
        if path in self._sets:
            yield self._sets[path]
        direct = [*self._under_assigned(path), *self._holding(path), *self._needed(path)]
        yield from direct or self._unread(path)
        known = {each: verdict for each, verdict in self._verdicts.items() if verdict.reason not in _INDIRECT}
        shared = [*self._shared_class(path, known)]
        yield from shared
        if not direct and not shared:
            yield from self._holding(path, read=False)

    def _holding(self, path: str, *, read: bool = True) -> Iterator[Cause]:
        """Yields the attributes that a submodule holds, by default only those that methods read or write."""
        found: dict[Verdict, list[str]] = {}
        for each, verdict in self._verdicts.items():
            if not each.startswith(f"{path}.") or self._after[each].kind == "submodule":
                continue
            if read and not self._reads.of(each) and each not in self._sets:
                continue
            if verdict.reason != "unknown" or verdict.evidence:
                found.setdefault(verdict.without_class, []).append(each)
        for verdict, held in found.items():
            names, are = listed(map(repr, held)), "is" if len(held) == 1 else "are"
            fact = Evidence(f"it holds {names}, which {are} preserved ({verdict.reason})")
            yield Cause(verdict.reason, (fact, *verdict.evidence), verdict.step, held[0])

    def _needed(self, path: str) -> Iterator[Cause]:
        """Yields the nodes that use a submodule as a whole in the final graphs."""
        lost = [*self._lost_in_forks(path)]
        yield from lost
        for record, access in self._reads.of(path):
            first = [each.evidence[0] for each in self._not_constant(record, access)]
            for need in needs(self._reads, record, access, path):
                if not (lost and need.evidence.op == "prim::fork"):
                    yield Cause("not_constant", (*first, need.evidence), _index(record.propagated), "", need.remedy)

    def _lost_in_forks(self, path: str) -> Iterator[Cause]:
        """Yields what a fork assigns or reads of a submodule, and what torch forgets to keep (torch 2.13)."""
        for name in (*self._sets, *self._reads.below(path)):
            if name in self._after or not name.startswith(f"{path}."):
                continue
            causes = [self._sets[name]] if name in self._sets else self._unread(name)
            for cause in causes:
                fact = Evidence(f"it holds {name!r}, which a fork needs: torch keeps the submodule, not the attribute")
                yield Cause(cause.reason, (fact, *cause.evidence), cause.step, name)


def _causes(verdict: Verdict | None) -> frozenset[Cause]:
    return frozenset(verdict.causes if verdict else ())


def _with(verdict: Verdict | None, more: Iterable[Cause]) -> Verdict | None:
    return verdict_of((*(verdict.causes if verdict else ()), *more))


def _by_name(slots: Mapping[str, ModuleAttribute]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in slots:
        found.setdefault(path.rpartition(".")[2], []).append(path)
    return found


def _index(step: Step | None) -> int | None:
    return step.index if step else None


def _ancestors(path: str) -> list[str]:
    parts = path.split(".")[:-1]
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _storages(attribute: ModuleAttribute | None) -> set[Any]:
    if attribute is None:
        return set()
    return {
        tensor.untyped_storage().data_ptr()
        for tensor in attribute.tensors
        if tensor.layout is torch.strided and tensor.numel()
    }
