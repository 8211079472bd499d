"""Fate of each attribute of the module, with the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from freeze_engine.trace.graph import Constant
from freeze_engine.trace.source import SourceRef

ASSUMED: Final = "torch assumes"
"""Marks the fact of a write that torch only assumes: the line writes something, not surely this attribute."""

Fate = Literal["inlined", "folded", "preserved", "dropped"]


AttributeKind = Literal["parameter", "buffer", "attribute", "submodule"]


Reason = Literal[
    "requested",
    "ancestor_of_requested",
    "set_in_method",
    "mutated_in_place",
    "aliases_preserved",
    "module_preserved",
    "not_constant",
    "shared_class",
    "unresolved_path",
    "interface",
    "mutated_input",
    "aliases_output",
    "not_a_parameter",
    "read_live",
    "outside_graphs",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One link of an alias chain: a value, and the node that defines it."""

    value: str
    node: str
    op: str
    source: SourceRef | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that a verdict is based on.

    Attributes:
        fact: the torch fact: a log line of the run, or the rule and the file it is in.
        method: the method it was seen in.
        step: index of the step whose snapshot ``node`` is in.
        node: id of the deciding node.
        op: its operator.
        source: the user's source line of that node.
        chain: from the written value back to the attribute's ``prim::GetAttr``, both ends included.
    """

    fact: str
    method: str | None = None
    step: int | None = None
    node: str | None = None
    op: str | None = None
    source: SourceRef | None = None
    chain: tuple[ChainLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """A constant of a final graph that holds an attribute's value."""

    method: str
    value: str


@dataclass(frozen=True, slots=True)
class AttributeFate:
    """The fate of one parameter, buffer, attribute or submodule.

    Attributes:
        path: dotted, from the top module (``layer1.0.bn1.weight``).
        kind: its kind on the original module.
        type: torch's type text.
        shape: sizes of a tensor, else ``None``.
        dtype: of a tensor, else ``None``.
        nbytes: bytes of the tensors it holds, 0 for anything else.
        fate: what freezing did with it.
        reason: why it was preserved; ``None`` for the other fates.
        evidence: the evidence for the verdict; the first is the deciding one.
        advice: what the user could change; empty if nothing.
        step: index of the step that decided, ``None`` if it was never used by any step.
        locations: the constants that hold its value now.
        same_as: path of the attribute, first in the module, that is the very same tensor (tied weights); empty for that
            one, and for all that is held under one path. Its bytes are counted there.
        tensor: the summary of its tensor before freezing, ``None`` for anything else or where it was not kept.
        updatable: whether the compiled package takes a new value for it (``load_constants``); ``None`` where there is
            no package.
    """

    path: str
    kind: AttributeKind
    type: str
    shape: tuple[int, ...] | None
    dtype: str | None
    nbytes: int
    fate: Fate
    reason: Reason | None = None
    evidence: tuple[Evidence, ...] = ()
    advice: str = ""
    step: int | None = None
    locations: tuple[Location, ...] = ()
    same_as: str = ""
    tensor: Constant | None = None
    updatable: bool | None = None
