"""Finds the fate of every attribute: inlined, folded, preserved or dropped, and the step that decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.torchscript.attributes.advice import Adviser
from freeze_engine.backends.torchscript.attributes.chain_facts import Chain, ChainFacts
from freeze_engine.backends.torchscript.attributes.constant_ends import pooled_with
from freeze_engine.backends.torchscript.attributes.same_tensors import same_tensor, with_other_names
from freeze_engine.backends.torchscript.attributes.verdicts import Verdict
from freeze_engine.backends.torchscript.attributes.written_values import WrittenValues
from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute
from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS, INLINE
from freeze_engine.trace import AttributeFate, Constant, Evidence, Fate, Location, Step

_UNLOGGED = "torch's log was not there to be read, which alone tells what became of it before"


def fates(
    before: Mapping[str, ModuleAttribute],
    after: Mapping[str, ModuleAttribute],
    verdicts: Mapping[str, Verdict],
    chains: Sequence[Chain],
) -> tuple[AttributeFate, ...]:
    """Judges every slot of the original module.

    Args:
        before: slots of the original module.
        after: slots of the frozen module.
        verdicts: why each slot of ``after`` is still there.
        chains: the frozen methods.

    Returns:
        One fate per slot of ``before``, sorted by path.
    """
    judge = _Judge(before, after, verdicts, chains, Adviser(before, verdicts, WrittenValues(chains)))
    return tuple(with_other_names((judge.fate(before[path]) for path in sorted(before)), before))


class _Judge:
    def __init__(
        self,
        before: Mapping[str, ModuleAttribute],
        after: Mapping[str, ModuleAttribute],
        verdicts: Mapping[str, Verdict],
        chains: Sequence[Chain],
        adviser: Adviser,
    ) -> None:
        self._before = before
        self._after = after
        self._adviser = adviser
        self._verdicts = verdicts
        self._facts = tuple(ChainFacts(chain) for chain in chains)
        logged = not chains or any(step.stage == INLINE for chain in chains for step in chain.steps)
        self._named = None if logged else tuple((chain, _named_constants(chain)) for chain in chains)

    def fate(self, slot: ModuleAttribute) -> AttributeFate:
        if slot.path in self._after:
            return self._preserved(slot)
        if slot.kind == "submodule":
            return self._submodule(slot)
        holder = next((facts for facts in self._facts if slot.path in facts.last_held), None)
        if holder:
            return self._constant(slot, holder)
        return self._dropped(slot) if self._named is None else self._unlogged(slot, self._named)

    def _preserved(self, slot: ModuleAttribute) -> AttributeFate:
        verdict = self._verdicts[slot.path]
        advice = self._adviser.advice(slot.path)
        places = self._locations(slot.path, held=True) if slot.kind != "submodule" else ()
        evidence = (*verdict.evidence, *self._read_as_constant(places))
        fields = {"reason": verdict.reason, "advice": advice, "locations": places}
        return _fate(slot, "preserved", evidence, verdict.step, **fields)

    def _read_as_constant(self, places: Sequence[Location]) -> Iterator[Evidence]:
        """Yields the constants of an attribute that stays, which no method reads from the module any more."""
        for place in places:
            facts = next(facts for facts in self._facts if facts.chain.method == place.method)
            maker, step = facts.makers.get(place.value), facts.chain.steps[-1].index
            fact = f"{place.method} reads it as the constant %{place.value}: to assign it later changes nothing there"
            yield Evidence(fact, place.method, step, maker, "prim::Constant")

    def _submodule(self, slot: ModuleAttribute) -> AttributeFate:
        """A submodule is no constant itself: it is inlined with the attributes that are read from it."""
        for facts in self._facts:
            if slot.path in facts.reads or slot.path in facts.holding:
                fact = "its methods were inlined, and what they read from it became constants or went with them"
                return _fate(slot, "inlined", (Evidence(fact),), facts.folding.index if facts.folding else None)
        return self._dropped(slot) if self._named is None else self._unlogged(slot, self._named)

    def _constant(self, slot: ModuleAttribute, holder: ChainFacts) -> AttributeFate:
        standing = self._locations(slot.path, held=True)
        evidence = holder.folded.get(slot.path, ())
        if standing:
            step = holder.folding.index if holder.folding else None
            return _fate(slot, "inlined", (*evidence, *self._pooled(slot, standing)), step, locations=standing)
        end = holder.end_of(slot.path)
        merged = self._locations(slot.path, held=False)
        same = self._with_same_memory(slot.path, holder, merged)
        if same:
            step = holder.folding.index if holder.folding else None
            return _fate(slot, "inlined", evidence, step, locations=same)
        inside = self._inside(slot.path, holder, merged)
        if inside:
            step = holder.folding.index if holder.folding else None
            names = listed(f"%{each.value}" for each in inside)
            put = Evidence(f"{end.step.name} put it into {names}, unchanged", end.method, end.step.index)
            return _fate(slot, "inlined", (put, *evidence), step, locations=inside)
        apart = self._taken_out(slot.path, holder, merged)
        if apart:
            step = holder.folding.index if holder.folding else None
            names = listed(f"%{each.value}" for each in apart)
            fact = f"{end.step.name} took elements out of it, unchanged; the last graph has them in {names}"
            took = Evidence(fact, end.method, end.step.index)
            return _fate(slot, "inlined", (took, *evidence), step, locations=apart)
        first, *more = (*end.evidence(slot.path, merged), *holder.left_over(slot.path))
        return _fate(slot, "folded", (first, *evidence, *more), end.step.index, locations=merged)

    def _pooled(self, slot: ModuleAttribute, standing: Sequence[Location]) -> Iterator[Evidence]:
        """Yields the constants of tensors that torch made of another attribute, of equal value."""
        for place in standing if slot.tensors else ():
            facts = next(facts for facts in self._facts if facts.chain.method == place.method)
            other = facts.owners.get(place.value, slot.path)
            if other != slot.path and place.value not in {each.node for each in facts.folded.get(slot.path, ())}:
                keys = {same_tensor(slot.value), same_tensor(self._before[other].value)}
                maker, same = facts.makers.get(place.value), len(keys) == 1 and None not in keys
                yield pooled_with(place, other, facts.chain.steps[-1], maker, same=same)

    def _with_same_memory(self, path: str, holder: ChainFacts, merged: Sequence[Location]) -> tuple[Location, ...]:
        """Returns the constants that are the attribute itself under another name, such as a slice of all of it."""
        place = holder.last_place(path)
        kept = place.constants
        memory = {_memory(kept[name]) for name in place.held.get(path, ()) if name in kept} - {None}
        finals = {facts.chain.method: facts.final.constants for facts in self._facts}
        return tuple(each for each in merged if _memory(finals[each.method].get(each.value)) in memory)

    def _inside(self, path: str, holder: ChainFacts, merged: Sequence[Location]) -> tuple[Location, ...]:
        """Returns the constant lists, tuples and dictionaries of the last graph that the attribute was put into."""
        collected = holder.collected(path) if merged else ()
        return tuple(each for each in merged if each.method == holder.chain.method and each.value in collected)

    def _taken_out(self, path: str, holder: ChainFacts, merged: Sequence[Location]) -> tuple[Location, ...]:
        """Returns the constants of the last graph if all that were made of the attribute are its elements."""
        elements = holder.taken_out(path) if merged else frozenset()
        finals = {facts.chain.method: facts.final.reading for facts in self._facts}
        same = all(finals[each.method].content(each.value) in elements for each in merged)
        return tuple(merged) if elements and same else ()

    def _locations(self, path: str, *, held: bool) -> tuple[Location, ...]:
        return tuple(
            Location(facts.chain.method, name)
            for facts in self._facts
            for name in (facts.final.held if held else facts.final.derived).get(path, ())
        )

    def _unlogged(self, slot: ModuleAttribute, named: Sequence[tuple[Chain, Mapping[str, Step]]]) -> AttributeFate:
        """Without torch's log only the name remains: a constant is called ``self.<path>`` until a fold replaces it."""
        name = f"self.{slot.path}"
        fact = Evidence(f"torch named a constant after it (torch/csrc/jit/passes/freeze_module.cpp); {_UNLOGGED}")
        found = [(chain, last[name]) for chain, last in named if name in last]
        final = [chain.method for chain, last in found if last is chain.steps[-1]]
        if final:
            locations = () if slot.kind == "submodule" else tuple(Location(method, name) for method in final)
            return _fate(slot, "inlined", (fact,), None, locations=locations)
        for chain, last in found:
            after = chain.steps[chain.steps.index(last) + 1]
            removed = Evidence(f"{after.name} removed it", chain.method, after.index)
            return _fate(slot, "folded", (removed, fact), after.index)
        return _fate(slot, "dropped", (Evidence(f"no constant is named after it; {_UNLOGGED}"),), None)

    def _dropped(self, slot: ModuleAttribute) -> AttributeFate:
        """Nothing preserved reads it; if there was a read at first, the evidence names the step that removed it."""
        for facts in self._facts:
            step = facts.removed_by.get(slot.path)
            if step is not None:
                node = facts.reads[slot.path]
                fact = f"{step.name} removed the last read of it"
                evidence = Evidence(fact, facts.chain.method, None, None, node.op, node.source)
                return _fate(slot, "dropped", (evidence,), step.index)
        return _fate(slot, "dropped", (Evidence("no frozen method reads it"),), None)


def _memory(constant: Constant | None) -> tuple[object, ...] | None:
    """Returns a key that is equal for one tensor under several names, ``None`` if its content is not known."""
    if constant is None or constant.digest is None or constant.storage is None:
        return None
    return constant.storage, constant.shape, constant.dtype, constant.digest


def _named_constants(chain: Chain) -> dict[str, Step]:
    """Returns, by the name of a constant, the last step whose graph has it; a module's is that of what it holds."""
    last: dict[str, Step] = {}
    for step in chain.steps:
        for name in {node.outputs[0].name for node in step.graph.walk() if node.op in CONSTANT_OPS}:
            parts = name.split(".")
            last |= {".".join(parts[: count + 1]): step for count in range(len(parts))}
    return last


def _fate(
    slot: ModuleAttribute,
    fate: Fate,
    evidence: tuple[Evidence, ...],
    step: int | None,
    **fields: Any,
) -> AttributeFate:
    single = slot.value if isinstance(slot.value, torch.Tensor) else None
    return AttributeFate(
        slot.path,
        slot.kind,
        slot.type,
        tuple(single.shape) if single is not None else None,
        str(single.dtype).removeprefix("torch.") if single is not None else None,
        slot.nbytes,
        fate,
        evidence=evidence,
        step=step,
        **fields,
    )
