"""Finds attributes that are one tensor: tied weights, and tensors that a list, tuple or dictionary also holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute
from freeze_engine.trace import AttributeFate, Evidence


@dataclass(frozen=True, slots=True)
class _Place:
    """The holder of a tensor: an attribute's path, and the place inside it (``[2]``, ``['a']``, empty for itself)."""

    path: str
    inside: str

    @property
    def text(self) -> str:
        return self.path + self.inside


def with_other_names(fates: Iterable[AttributeFate], slots: Mapping[str, ModuleAttribute]) -> list[AttributeFate]:
    """Returns the fates with other names of the same tensor; a name that no method reads is judged by the others.

    ``torch.nn.LSTM`` reads its weights from the list ``_flat_weights``, and a language model's ``lm_head.weight`` may
    be ``wte.weight``: the tensor is in the final graph, whatever became of that one name.

    Args:
        fates: of all slots.
        slots: of the original module, by path.
    """
    known = {fate.path: fate for fate in fates}
    places = _places(slots)
    judged = (_by_other_name(fate, slots[fate.path], places, known) for fate in known.values())
    return [replace(fate, same_as=_first_name(slots[fate.path], places)) for fate in judged]


def _first_name(slot: ModuleAttribute, places: Mapping[tuple[Any, ...], tuple[_Place, ...]]) -> str:
    """Returns the path by which a tensor was first found in the module; empty for that one, and for no tensor."""
    key = same_tensor(slot.value)
    names = (place.path for place in places.get(key, ()) if not place.inside) if key is not None else iter(())
    first = next(names, slot.path)
    return "" if first == slot.path else first


def same_tensor(value: Any) -> tuple[Any, ...] | None:
    """Returns a key that two names of one tensor share, ``None`` for a value without memory of its own."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or not value.numel() or value.is_meta:
        return None
    return value.data_ptr(), value.dtype, tuple(value.shape), value.stride()


def _by_other_name(
    fate: AttributeFate,
    slot: ModuleAttribute,
    places: Mapping[tuple[Any, ...], tuple[_Place, ...]],
    known: Mapping[str, AttributeFate],
) -> AttributeFate:
    key = same_tensor(slot.value) if fate.fate == "dropped" else None
    if key is None:
        return fate
    others = [(place, known[place.path]) for place in places[key] if place.path != fate.path]
    # A constant is better evidence than a preserved attribute, and a separate name better than a place in a list.
    others.sort(key=lambda each: (("inlined", "folded", "preserved", "dropped").index(each[1].fate), each[0].inside))
    if not others or others[0][1].fate == "dropped":
        return fate
    place, other = others[0]
    fact = Evidence(f"it is the same tensor as {place.text}, which is {other.fate}")
    if other.fate == "preserved":
        return replace(fate, evidence=(fact, *fate.evidence))
    return replace(fate, fate=other.fate, evidence=(fact, *other.evidence), step=other.step, locations=other.locations)


def _places(slots: Mapping[str, ModuleAttribute]) -> Mapping[tuple[Any, ...], tuple[_Place, ...]]:
    found: defaultdict[tuple[Any, ...], tuple[_Place, ...]] = defaultdict(tuple)
    for path, slot in slots.items():
        for inside, tensor in _held(slot.value) if slot.kind != "submodule" else ():
            key = same_tensor(tensor)
            if key is not None:
                found[key] += (_Place(path, inside),)
    return found


def _held(value: Any, inside: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the tensors inside a value, each with its place."""
    if isinstance(value, torch.Tensor):
        yield inside, value
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from _held(each, f"{inside}[{index}]")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _held(each, f"{inside}[{name!r}]")
