"""Checks the nesting of inputs and outputs: a tree that torch writes as JSON in a text (``torch/utils/_pytree.py``)."""

from __future__ import annotations

from typing import Any

from freeze_engine.models.untrusted.exported_program.rules import (
    RefusedError,
    boolean,
    integer,
    listed,
    read_json,
    record,
    write_json,
)
from freeze_engine.models.untrusted.exported_program.texts import identifier, option

#: What `treespec_loads` understands; the only one there is up to torch 2.13.
_PROTOCOL = 1
_SEQUENCES = (
    "builtins.tuple",
    "builtins.list",
    "torch.Size",
    "torch.fx.immutable_collections.immutable_list",
)
_MAPPINGS = (
    "builtins.dict",
    "collections.OrderedDict",
    "torch.fx.immutable_collections.immutable_dict",
)


def input_spec(value: Any) -> str:
    """Takes the tree of the inputs: a tuple of arguments, and a dictionary of keyword arguments.

    torch writes the keywords into Python source (``_get_codegen`` of ``torch/export/_unlift.py``).
    """
    tree = _tree_of(value)
    children = tree["children_spec"]
    if tree["type"] != "builtins.tuple" or len(children) != 2 or children[1]["type"] != "builtins.dict":
        raise RefusedError(f"inputs of the form {value!r}")
    for key in _json(children[1]["context"]):
        identifier(key)
    return write_json([_PROTOCOL, tree]).decode()


def output_spec(value: Any) -> str:
    """Takes the tree of the outputs."""
    return write_json([_PROTOCOL, _tree_of(value)]).decode()


def _tree_of(value: Any) -> dict[str, Any]:
    content = _json(value)
    if type(content) is not list or len(content) != 2 or content[0] != _PROTOCOL:
        raise RefusedError(f"inputs or outputs of the form {value!r}")
    tree: dict[str, Any] = _node(content[1])
    return tree


def _node(value: Any) -> Any:
    found = record({"type": lambda kind: kind, "context": lambda text: text, "children_spec": listed(_node)})(value)
    found["context"] = _context(found["type"], found["context"], len(found["children_spec"]))
    return found


def _context(kind: Any, context: Any, children: int) -> str | None:
    """Returns what torch needs to know of a tree besides its children, built anew."""
    if kind is None and context is None and not children:
        return None
    if kind in _SEQUENCES:
        return "null"
    if kind in _MAPPINGS:
        keys = listed(_key)(_json(context))
        if len(keys) == children:
            return write_json(keys).decode()
    if kind == "collections.deque":
        longest = _json(context)
        return write_json(None if longest is None else integer(longest)).decode()
    raise RefusedError(f"inputs or outputs of the form {kind!r} with {context!r}")


def _key(value: Any) -> Any:
    if type(value) is str:
        return option(value)
    return boolean(value) if type(value) is bool else integer(value)


def _json(value: Any) -> Any:
    if type(value) is not str:
        raise RefusedError(f"inputs or outputs of the form {value!r}")
    return read_json(value.encode("utf-8", "surrogatepass"))
