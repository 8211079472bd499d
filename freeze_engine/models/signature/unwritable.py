"""Types of parameters that no ``--input`` can give a value of, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from freeze_engine.models.summary import ModelParameter

_CONTAINERS: Final = re.compile(
    r"(?:typing\.)?(?:Dict|dict|Mapping|OrderedDict|List|list|Sequence|Iterable|Tuple|tuple|NamedTuple|Set|set|str)\b"
)
_CHOICE: Final = re.compile(r"(?:typing\.)?(?:Optional|Union)\[(.*)\]")
REMEDY: Final = (
    "inputs here are tensors and numbers only. Write a function that returns the model and its inputs, and choose "
    "package.module:function as the model"
)
"""What to do about an input that cannot be written, as the end of a sentence."""


def is_unwritable(declared: str) -> bool:
    """Returns whether a declared type is that of containers or texts, which the form and ``--input`` cannot write.

    Args:
        declared: as in `ModelParameter.type`; a union with another type can be written.
    """
    kinds = [each for each in _alternatives(declared) if each != "None"]
    return bool(kinds) and all(_CONTAINERS.match(each) for each in kinds)


def _alternatives(declared: str) -> list[str]:
    """Returns the types of which a value may have one, those of unions in unions too."""
    choice = _CHOICE.fullmatch(declared)
    if choice is not None:
        return [each for part in _parts(choice[1], ",") for each in _alternatives(part)]
    parts = _parts(declared, "|")
    return parts if len(parts) == 1 else [each for part in parts for each in _alternatives(part)]


def _parts(text: str, separator: str) -> list[str]:
    """Splits a text at a separator, where that is not in brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == separator and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def unwritable_text(name: str, declared: str) -> str:
    """Returns why an input cannot be given, and what to do."""
    return f"{name} takes {declared}, and {REMEDY}"


def with_notes(found: Sequence[ModelParameter]) -> list[ModelParameter]:
    """Adds the remedy to each required parameter whose values cannot be written."""
    return [
        replace(each, note=REMEDY)
        if each.is_required and each.input is None and not each.note and is_unwritable(each.type)
        else each
        for each in found
    ]
