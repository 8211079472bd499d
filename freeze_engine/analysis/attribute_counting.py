"""Counts the attributes of a trace by fate, and their bytes; all views use the same counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, get_args

from freeze_engine.trace import AttributeFate, Trace
from freeze_engine.trace.attributes import Fate

FATES: Final[tuple[str, ...]] = get_args(Fate)
"""All fates, in the order of every list."""


def is_counted(fate: AttributeFate) -> bool:
    """Returns whether an attribute is a parameter or a buffer; headlines and tables count only these.

    One that is ``None`` is neither, such as the bias of ``nn.Linear(4, 4, bias=False)``.
    """
    is_none = fate.type == "NoneType" or (fate.type.startswith("Optional[") and fate.dtype is None)
    return fate.kind in ("parameter", "buffer") and not is_none


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """Number of attributes by fate; all views of a trace use the same counts.

    Attributes:
        fates: ``(fate, number of parameters and buffers)`` in a fixed order, without fates that do not occur.
        others: the same for all other attributes: submodules, flags, values.
    """

    fates: tuple[tuple[str, int], ...]
    others: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """Number of parameters and buffers."""
        return sum(count for _, count in self.fates)


def attribute_counts(attributes: Iterable[tuple[str, bool]]) -> AttributeCounts:
    """Counts attributes.

    Args:
        attributes: the fate of each, and the result of `is_counted`.
    """
    found = Counter(attributes)
    counted, others = (
        tuple((fate, found[fate, wanted]) for fate in FATES if found[fate, wanted]) for wanted in (True, False)
    )
    return AttributeCounts(counted, others)


def trace_counts(trace: Trace) -> AttributeCounts:
    """Counts the attributes of a trace."""
    return attribute_counts((fate.fate, is_counted(fate)) for fate in trace.attributes)


def held_bytes(trace: Trace) -> dict[str, int]:
    """Returns the bytes of each attribute by path; tied weights count once.

    Of tied names, the one under which most of the tensor is left gets the bytes, the first of equals; the others get 0.
    Bytes of a tensor subclass count for the tensors inside it, whose paths go on from its own.
    """
    left = ("preserved", "inlined", "folded", "dropped")
    found = {fate.path: fate.nbytes for fate in trace.attributes}
    names: dict[str, list[AttributeFate]] = {}
    for fate in trace.attributes:
        names.setdefault(fate.same_as or fate.path, []).append(fate)
    for tied in names.values():
        _, *others = sorted(tied, key=lambda fate: (not is_counted(fate), left.index(fate.fate), fate.same_as != ""))
        found |= {fate.path: 0 for fate in others}
    tensors = {fate.path for fate in trace.attributes if fate.shape is not None}
    inner_owners = {path.rpartition(".")[0] for path in tensors} & tensors
    found |= dict.fromkeys(inner_owners, 0)
    return found
