"""Reads the arguments of an exported program's module: which are lists or dicts, and which go by name only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from freeze_engine.errors import ModelSpecError
from freeze_engine.tensors.input_specs import spec_parts


@dataclass(frozen=True, slots=True)
class Structure:
    """A list, tuple, dict or other container that a program takes as one argument.

    Attributes:
        name: of its type, such as ``dict``.
        leaves: how many inputs of the graph it holds.
    """

    name: str
    leaves: int


def argument_kinds(module: object) -> list[Structure | None]:
    """Returns the structure of each argument of a program's module, positional ones first; ``None`` for a plain one.

    Returns:
        Nothing for a module that is none of a program.
    """
    args, kwargs = _input_specs(module)
    return [_structure(each) for each in (*args, *kwargs.values())]


def keyword_names(module: object) -> tuple[str, ...]:
    """Returns the arguments that a program's module takes by their names only."""
    return tuple(_input_specs(module)[1])


def _structure(spec: Any) -> Structure | None:
    # A leaf has no type (torch.utils._pytree, torch 2.6 to 2.13).
    return None if spec.type is None else Structure(getattr(spec.type, "__name__", str(spec.type)), spec.num_leaves)


def _input_specs(module: object) -> tuple[list[Any], dict[str, Any]]:
    """Returns the structures of a program's arguments, ``_in_spec`` of its module (torch 2.6 to 2.13).

    Raises:
        ModelSpecError: they contradict each other.
    """
    spec = getattr(module, "_in_spec", None)
    parts = [] if spec is None else spec_parts(spec)
    if len(parts) != 2 or parts[0].type is not tuple or parts[1].type is not dict:
        return [], {}
    args, kwargs = parts
    names, keywords = kwargs.context, spec_parts(kwargs)
    if not isinstance(names, (list, tuple)) or len(set(names)) != len(names) or len(names) != len(keywords):
        raise ModelSpecError(
            f"the exported program has {len(keywords)} keyword inputs, and names them as {names!r}; export it again"
        )
    return spec_parts(args), dict(zip(names, keywords, strict=True))
