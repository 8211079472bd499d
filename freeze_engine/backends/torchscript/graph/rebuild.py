"""Rebuilds a live graph from a snapshot that is only known from torch's log.

Inside ``_freeze_module`` torch shows its graphs as text only. torch's own parser (``parse_ir``, in
``torch/csrc/jit/ir/irparser.cpp``) reads that text except for three things, which are restored by hand: the classes
of modules, the contents of constants, and the names of values. It does not read forks. Checked on torch 2.13.0.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from operator import is_
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import class_type, private
from freeze_engine.backends.torchscript.graph.attribute_reads import slot_accesses
from freeze_engine.trace import GraphSnapshot, Node, Value

_MODULE_TYPE = re.compile(r"__torch__\.(?!torch\.classes\.)[\w.]+")
_IDENTIFIER = re.compile(r"[\w.]+", re.ASCII)
#: Types whose constants the parser reads from torch's text.
_PLAIN_TYPES = ("int", "float", "bool", "str", "NoneType", "Device", "complex")
_MISSING = object()


class Rebuilder:
    """Makes live graphs of the snapshots of one module.

    Args:
        submodule: returns the C++ module at a path, ``None`` if there is none; the one at the path of a method's module
            is what its graph takes as its first input.
    """

    def __init__(self, submodule: Callable[[str], Any]) -> None:
        self._submodule = submodule
        # Each node is kept beside its line, so that its identity stays its own.
        self._lines: dict[int, tuple[Node, str]] = {}

    def rebuild(self, snapshot: GraphSnapshot, self_path: str, constant: Callable[[str], Any]) -> Any:
        """Makes a live graph of a snapshot.

        Args:
            snapshot: a graph of one of the module's methods.
            self_path: dotted path of the submodule whose method it is, empty for the top module.
            constant: returns the value of the constant of a name, or raises `KeyError`.

        Returns:
            The graph, which runs and can be analysed; ``None`` if part of it cannot be restored.
        """
        snapshot = without_leftovers(snapshot)
        if any(block.scope for node in snapshot.walk() for block in node.blocks):
            return None
        try:
            graph = private("parse_ir")("\n".join(self._text(snapshot)), True)
        except RuntimeError:
            return None
        modules = _module_types(snapshot, self_path, self._submodule)
        return graph if _put_back(snapshot, graph, modules, constant) else None

    def _text(self, snapshot: GraphSnapshot) -> list[str]:
        lines = [f"graph({_values(snapshot.inputs)}):"]
        self._add_lines(snapshot.nodes, "  ", lines)
        lines.append(f"  return ({_names(snapshot.outputs)})")
        return lines

    def _add_lines(self, nodes: tuple[Node, ...], indent: str, lines: list[str]) -> None:
        for node in nodes:
            known = self._lines.get(id(node))
            if known is None:
                known = self._lines[id(node)] = (node, _line(node))
            lines.append(indent + known[1])
            for number, block in enumerate(node.blocks):
                lines.append(f"{indent}  block{number}({_values(block.inputs)}):")
                self._add_lines(block.nodes, f"{indent}    ", lines)
                lines.append(f"{indent}    -> ({_names(block.outputs)})")


def without_leftovers(snapshot: GraphSnapshot) -> GraphSnapshot:
    """Drops unused nodes that torch's parser cannot read.

    These are the reads that attribute propagation has cut off, which have no input any more, and the constant that
    stands for a function, once its call has been inlined.
    """
    if not any(map(_may_be_leftover, snapshot.walk())):
        return snapshot
    used = {name for node in snapshot.walk() for name in node.inputs}
    return replace(snapshot, nodes=_alive(snapshot.nodes, used))


def _alive(nodes: tuple[Node, ...], used: Collection[str]) -> tuple[Node, ...]:
    kept = tuple(_with_alive(node, used) if node.blocks else node for node in nodes if not _is_leftover(node, used))
    # An unchanged node stays the same object, which identifies its line.
    return nodes if len(kept) == len(nodes) and all(map(is_, kept, nodes)) else kept


def _with_alive(node: Node, used: Collection[str]) -> Node:
    alive = [_alive(block.nodes, used) for block in node.blocks]
    if all(nodes is block.nodes for nodes, block in zip(alive, node.blocks, strict=True)):
        return node
    blocks = (replace(block, nodes=nodes) for nodes, block in zip(alive, node.blocks, strict=True))
    return replace(node, blocks=tuple(blocks))


def _may_be_leftover(node: Node) -> bool:
    if node.op == "prim::GetAttr":
        return not node.inputs
    return node.op == "prim::Constant" and node.outputs[0].type == "Function"


def _is_leftover(node: Node, used: Collection[str]) -> bool:
    return _may_be_leftover(node) and (node.op == "prim::GetAttr" or node.outputs[0].name not in used)


def _line(node: Node) -> str:
    outputs = f"{_values(node.outputs)} = " if node.outputs else ""
    attributes = node.attributes if node.op != "prim::Constant" or _is_plain(node) else ()
    texts = ", ".join(f"{name}={text}" for name, text in attributes)
    return f"{outputs}{node.op}{f'[{texts}]' if texts else ''}({_names(node.inputs)})"


def _is_plain(node: Node) -> bool:
    return node.outputs[0].type in _PLAIN_TYPES


def _values(values: tuple[Value, ...]) -> str:
    return ", ".join([f"%{_readable(value.name)} : {_readable_type(value.type)}" for value in values])


def _names(names: tuple[str, ...]) -> str:
    return ", ".join([f"%{_readable(name)}" for name in names])


@functools.lru_cache(maxsize=1024)
def _readable_type(type_text: str) -> str:
    return _MODULE_TYPE.sub("Tensor", type_text)


@functools.lru_cache(maxsize=4096)
def _readable(name: str) -> str:
    """torch's parser reads only identifiers with dots, but an attribute's name may contain any character."""
    return name if _IDENTIFIER.fullmatch(name) else f"_{name.encode().hex()}"


def _module_types(snapshot: GraphSnapshot, self_path: str, submodule: Callable[[str], Any]) -> dict[str, Any]:
    """Returns the class of every value that is a module, found by the path it was read from."""
    found = {}
    if snapshot.inputs:
        found[snapshot.inputs[0].name] = class_type(submodule(self_path))
    for access in slot_accesses(snapshot, self_path):
        if access.node.op == "prim::GetAttr" and access.path is not None:
            child = submodule(access.path)
            if child is not None:
                found[access.node.outputs[0].name] = class_type(child)
    return found


def _put_back(snapshot: GraphSnapshot, graph: Any, modules: dict[str, Any], constant: Callable[[str], Any]) -> bool:
    values = [*zip(snapshot.inputs, graph.inputs(), strict=True)]
    constants: list[tuple[Node, Any]] = []
    _side_by_side(snapshot.nodes, graph, constants, values)
    for node, live in constants:
        if not _put_constant(node, live, constant):
            return False
    # A name that is taken goes to the value that asks for it last, so the order matters.
    for value, live in values:
        if _is_module(value.type):
            if value.name not in modules:
                return False
            live.setType(modules[value.name])
        if not value.name.isdigit():
            live.setDebugName(value.name)
    return True


def _side_by_side(
    nodes: tuple[Node, ...], live_block: Any, constants: list[tuple[Node, Any]], values: list[tuple[Value, Any]]
) -> None:
    """Adds each constant, and each value, that lacks something, with its live one; there are no forks among the nodes.

    The live ones were parsed from the others, so none is left over, and no iterator of torch is read to its end, which
    takes long (see `freeze_engine.backends.torchscript.graph.live_walk`).
    """
    for node, live in zip(nodes, live_block.nodes(), strict=False):
        if node.op == "prim::Constant" and not _is_plain(node):
            constants.append((node, live))
        for number, value in enumerate(node.outputs):
            if not value.name.isdigit() or _is_module(value.type):
                values.append((value, live.outputsAt(number)))
        if node.blocks:
            inner = list(zip(node.blocks, live.blocks(), strict=False))
            for block, body in inner:
                values += zip(block.inputs, body.inputs(), strict=False)
            for block, body in inner:
                _side_by_side(block.nodes, body, constants, values)


@functools.lru_cache(maxsize=1024)
def _is_module(type_text: str) -> bool:
    return _MODULE_TYPE.search(type_text) is not None


def _put_constant(node: Node, live: Any, constant: Callable[[str], Any]) -> bool:
    value = _constant(node, constant)
    if value is _MISSING:
        return False
    if isinstance(value, torch.Tensor):
        live.t_("value", value.detach())
    elif value is not None:
        return _put_value(live, value)
    return True


def _put_value(live: Any, value: Any) -> bool:
    try:
        live.ival_("value", value)
    except TypeError:
        # pybind cannot infer the element type of some containers (an empty list, nested ones with None).
        return False
    return True


def _constant(node: Node, constant: Callable[[str], Any]) -> Any:
    with contextlib.suppress(KeyError):
        return constant(node.outputs[0].name)
    text = node.attribute("value")
    if text is None:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return _MISSING
