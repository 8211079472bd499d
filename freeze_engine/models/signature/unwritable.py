"""Types of parameters that no ``--input`` can give a value of, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from freeze_engine.models.summary import ModelParameter

_CONTAINERS: Final = re.compile(
    r"(?:Optional\[)?(?:Dict|dict|Mapping|OrderedDict|List|list|Sequence|Iterable|Tuple|tuple|NamedTuple|Set|set|str)\b"
)
_REMEDY: Final = (
    "inputs here are tensors and numbers only. Write a function that returns the model and its inputs, and choose "
    "package.module:function as the model"
)


def is_unwritable(declared: str) -> bool:
    """Returns whether a declared type is that of containers or texts, which the form and ``--input`` cannot write.

    Args:
        declared: as in `ModelParameter.type`; a union with another type can be written.
    """
    return bool(_CONTAINERS.match(declared)) and " | " not in declared.replace(" | None", "")


def unwritable_text(name: str, declared: str) -> str:
    """Returns why an input cannot be given, and what to do."""
    return f"{name} takes {declared}, and {_REMEDY}"


def with_notes(found: Sequence[ModelParameter]) -> list[ModelParameter]:
    """Adds the remedy to each required parameter whose values cannot be written."""
    return [
        replace(each, note=_REMEDY)
        if each.is_required and each.input is None and not each.note and is_unwritable(each.type)
        else each
        for each in found
    ]
