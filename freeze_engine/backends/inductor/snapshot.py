"""Turns the rows of an fx graph into a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from freeze_engine.backends.inductor import private
from freeze_engine.backends.inductor.inventory import source_path
from freeze_engine.backends.inductor.rows import RawGraph, Row
from freeze_engine.backends.inductor.target_names import operator_name
from freeze_engine.backends.inductor.types import type_text
from freeze_engine.measure.memory import StorageNames, constant_of
from freeze_engine.trace import Block, GraphSnapshot, Node, SourceRef, Value

_FRAME = re.compile(r'File "(.+)", line (\d+), in ')
_TORCH = str(Path(torch.__file__).parent)


class SnapshotReader:
    """Reads the graphs of one compile; a node that did not change is read once.

    Args:
        storages: names the storages of constants within the trace.
    """

    def __init__(self, storages: StorageNames) -> None:
        self._storages = storages
        self._nodes: dict[tuple[int, str], tuple[Row, Node]] = {}

    def read(self, graph: RawGraph) -> GraphSnapshot:
        """Returns a snapshot whose node ids are fx's names.

        Placeholders are its inputs, what the ``output`` node returns its outputs (``None`` and numbers left out), and
        the graphs that a higher-order operator is given are its blocks.
        """
        inputs, nodes, outputs = self._body(graph, "")
        return GraphSnapshot(inputs, nodes, outputs)

    def _body(self, graph: RawGraph, scope: str) -> tuple[tuple[Value, ...], tuple[Node, ...], tuple[str, ...]]:
        names = {id(row.node): scope + row.name for row in graph.rows}
        subgraphs = {id(row.node): row for row in graph.rows if isinstance(row.value, RawGraph)}
        inputs, nodes = [], []
        outputs: tuple[str, ...] = ()
        for row in graph.rows:
            if row.op == "placeholder":
                inputs.append(Value(scope + row.name, type_text(row.val)))
            elif row.op == "output":
                outputs = tuple(names[id(node)] for node in _used(row))
            else:
                nodes.append(self._node(row, scope, names, subgraphs))
        return tuple(inputs), tuple(nodes), outputs

    def _node(self, row: Row, scope: str, names: Mapping[int, str], subgraphs: Mapping[int, Row]) -> Node:
        key = (id(row), scope)
        used = tuple(_used(row))
        inputs = tuple(names[id(node)] for node in used)
        found = self._nodes.get(key)
        # A node's arguments may have been renamed although it is as it was.
        if found is not None and found[1].inputs == inputs and not any(id(node) in subgraphs for node in used):
            return found[1]
        name = scope + row.name
        blocks = []
        for node in used:
            if id(node) in subgraphs:
                inner = f"{name}/{subgraphs[id(node)].name}/"
                blocks.append(Block(*self._body(subgraphs[id(node)].value, inner), inner))
        read = Node(
            id=name,
            op=row.op if row.op == "get_attr" else operator_name(row.target),
            inputs=inputs,
            outputs=(Value(name, _type(row)),),
            attributes=tuple(_attributes(row, names)),
            blocks=tuple(blocks),
            module=_module_path(row.module_stack),
            source=source_ref(row.stack_trace),
            constant=constant_of(row.value, self._storages) if is_constant(row.value) else None,
        )
        self._nodes[key] = (row, read)
        return read


def is_constant(value: Any) -> bool:
    """Whether what a ``get_attr`` reads is a tensor whose elements can be described."""
    return isinstance(value, torch.Tensor) and type(value) in (torch.Tensor, torch.nn.Parameter)


def source_ref(stack_trace: str | None) -> SourceRef | None:
    """Returns the innermost place of a stack trace that is not torch's own code, else the innermost.

    Args:
        stack_trace: text of Python's ``traceback``, outermost call first.
    """
    frames = _FRAME.findall(stack_trace or "")
    if not frames:
        return None
    own = [frame for frame in frames if not frame[0].startswith(_TORCH)]
    file, line = (own or frames)[-1]
    return SourceRef(file, int(line))


def _module_path(stack: Any) -> str:
    """Returns the path of the innermost module of Dynamo's ``nn_module_stack``."""
    if not stack:
        return ""
    source = list(stack.values())[-1][0]
    return source_path(source)[1] if isinstance(source, str) else ""


def _type(row: Row) -> str:
    if isinstance(row.value, RawGraph):
        return "GraphModule"
    return type_text(row.val if row.val is not None else row.value)


def _used(row: Row) -> Iterator[Any]:
    """Yields the nodes that a node reads, in order, each as often as it is read."""
    yield from _nodes_in((row.args, row.kwargs))


def _nodes_in(argument: Any) -> Iterator[Any]:
    if isinstance(argument, torch.fx.Node):
        yield argument
    elif isinstance(argument, slice):
        yield from _nodes_in((argument.start, argument.stop, argument.step))
    elif isinstance(argument, (list, tuple)):
        for each in argument:
            yield from _nodes_in(each)
    elif isinstance(argument, dict):
        yield from _nodes_in(tuple(argument.values()))


def _attributes(row: Row, names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Yields every argument that is not simply a value, under the name that the operator gives it."""
    if row.op == "get_attr":
        yield "target", str(row.target)
        return
    known = private.argument_names(row.target)
    for index, argument in enumerate(row.args):
        if not isinstance(argument, torch.fx.Node):
            yield known[index] if index < len(known) else str(index), _text(argument, names)
    for key, argument in row.kwargs.items():
        if not isinstance(argument, torch.fx.Node):
            yield key, _text(argument, names)


def _text(argument: Any, names: Mapping[int, str]) -> str:
    if isinstance(argument, torch.fx.Node):
        return f"%{names.get(id(argument), argument.name)}"
    if isinstance(argument, (list, tuple)):
        return f"[{_joined(argument, names)}]"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{key}: {_text(value, names)}" for key, value in argument.items()) + "}"
    if callable(argument):
        return operator_name(argument)
    return str(argument)


def _joined(arguments: Iterable[Any], names: Mapping[int, str]) -> str:
    return ", ".join(_text(each, names) for each in arguments)
