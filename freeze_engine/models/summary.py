"""Summary of a model's contents and arguments, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace import AttributeKind


@dataclass(frozen=True, slots=True)
class ModelAttribute:
    """One parameter, buffer, attribute or submodule of a model.

    Attributes:
        path: dotted, from the top module.
        kind: what it is.
        type: torch's type text; of a module that is not scripted yet, the Python type's name.
        shape, dtype: of a tensor, else ``None``.
        nbytes: bytes of the tensors it holds, 0 for anything else.
        same_as: path of the attribute before it that is the very same tensor, empty for all others.
    """

    path: str
    kind: AttributeKind
    type: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    nbytes: int = 0
    same_as: str = ""


@dataclass(frozen=True, slots=True)
class ModelParameter:
    """One parameter of a model's ``forward``, with a suggestion of what to pass.

    Attributes:
        name: of the parameter.
        type: torch's or Python's type text, empty if nothing is declared.
        is_required: whether a call needs it.
        default: text of its default value, ``None`` if it has none.
        is_keyword: whether it is passed by its name only.
        input: the suggestion, as a text of ``--input`` without the name; ``None`` if there is none.
        source: origin of the suggestion: the inputs that the MODEL brings, the sizes in the program, the operator that
            uses the parameter first, or its type; empty without a suggestion.
        note: what the suggestion rests on, in a few words.
    """

    name: str
    type: str
    is_required: bool
    default: str | None = None
    is_keyword: bool = False
    input: str | None = None
    source: Literal["example", "program", "operator", "type", ""] = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The facts about a model that a form needs.

    Attributes:
        name: a short name.
        attributes: what can be preserved, submodules before what they hold; last the flags that torch gives every
            module.
        methods: names of the top module's methods, ``forward`` first.
        inputs: those that the MODEL brings, as texts of ``--input``; ``None`` if it brings none, or some that
            cannot be written so.
        brings_inputs: whether the MODEL brings inputs, which are the default.
        via: how it gets into TorchScript.
        preserved: the attributes that are preserved by default.
        training: whether it is in training mode, which freezing refuses.
        devices: of this machine: ``cpu``, ``cuda:0``, …
        parameters: of ``forward``; ``None`` if they cannot be read, or take any number of arguments.
    """

    name: str
    attributes: tuple[ModelAttribute, ...]
    methods: tuple[str, ...]
    inputs: tuple[str, ...] | None
    brings_inputs: bool
    via: Literal["script", "trace"]
    preserved: tuple[str, ...]
    training: bool
    devices: tuple[str, ...]
    parameters: tuple[ModelParameter, ...] | None = None
