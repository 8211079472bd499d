"""Turns the rows of an fx graph into a snapshot."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.graph_inputs import source_path
from freeze_engine.backends.inductor.graph.rows import RawGraph, Row, TensorRef
from freeze_engine.backends.inductor.graph.target_names import operator_name
from freeze_engine.backends.inductor.graph.type_text import UNKNOWN, type_text
from freeze_engine.tensors.constants import StorageNames, constant_of
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, SourceRef, Value

_FRAME = re.compile(r'File "(.+)", line (\d+), in ')
_TORCH = str(Path(torch.__file__).parent)


class _Place(NamedTuple):
    """The origin of a node, in Dynamo's words."""

    stack_trace: str | None
    module_stack: Any


_NOWHERE = _Place(None, None)


class SnapshotReader:
    """Reads the graphs of one compile; a node that did not change is read once.

    Args:
        constants: of the compile.
        storages: names the constants' storages.

    Attributes:
        calls: the calls that lead to nodes, by the names of their values, as of the last snapshot that has them.
    """

    def __init__(self, constants: Constants, storages: StorageNames) -> None:
        self._constants = constants
        self._storages = storages
        self._described: dict[TensorRef, Constant | None] = {}
        self._packed: set[TensorRef] = set()
        self._nodes: dict[tuple[int, str, str | None], tuple[Row, Node]] = {}
        self.calls: dict[str, tuple[SourceRef, ...]] = {}

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
        places = _places(graph)
        self._packed.update(_packed_for_mkl(graph))
        inputs, nodes = [], []
        outputs: tuple[str, ...] = ()
        for row in graph.rows:
            if row.op == "placeholder":
                inputs.append(Value(scope + row.name, type_text(row.val)))
            elif row.op == "output":
                outputs = tuple(names[id(node)] for node in _used(row))
            else:
                nodes.append(self._node(row, places.get(id(row.node), _NOWHERE), names, subgraphs, scope))
        return tuple(inputs), tuple(nodes), outputs

    def _node(
        self, row: Row, place: _Place, names: Mapping[int, str], subgraphs: Mapping[int, Row], scope: str
    ) -> Node:
        key = (id(row), scope, place.stack_trace)
        self.calls[scope + row.name] = _calls(place.stack_trace)
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
            module=_module_path(place.module_stack),
            source=source_ref(place.stack_trace),
            constant=self._constant(row.value, row.val) if isinstance(row.value, TensorRef) else None,
        )
        self._nodes[key] = (row, read)
        return read

    def _constant(self, ref: TensorRef, known: Any) -> Constant | None:
        """Describes a constant; if it is gone, from torch's metadata."""
        if ref not in self._described:
            tensor = self._constants.tensor(ref)
            is_opaque = ref in self._packed
            self._described[ref] = self._describe(tensor if tensor is not None else known, is_opaque=is_opaque)
        return self._described[ref]

    def _describe(self, tensor: Any, *, is_opaque: bool) -> Constant | None:
        if type(tensor) in (torch.Tensor, torch.nn.Parameter) and not is_opaque:
            return constant_of(tensor, self._storages)
        if not isinstance(tensor, torch.Tensor):
            return None
        nbytes = tensor.numel() * tensor.element_size()
        shape, dtype = tuple(map(int, tensor.shape)), str(tensor.dtype).removeprefix("torch.")
        return Constant(shape, dtype, str(tensor.device), nbytes)


def _packed_for_mkl(graph: RawGraph) -> Iterator[TensorRef]:
    """Yields the weights that MKL packed, which ``_mkl_linear`` reads as its second argument.

    Such a tensor is a buffer in a form of MKL's own (aten/src/ATen/native/mkldnn/MKLDNNConversions.cpp, torch 2.13).
    MKL leaves parts of it unwritten, so its numbers mean nothing and differ from run to run.
    """
    packed = {
        id(row.args[1])
        for row in graph.rows
        if row.op == "call_function" and operator_name(row.target).startswith("mkl._mkl_linear")
    }
    yield from (row.value for row in graph.rows if id(row.node) in packed and isinstance(row.value, TensorRef))


def _places(graph: RawGraph) -> Mapping[int, _Place]:
    """Returns the places in the source of a graph's nodes, by identity.

    Inductor's passes give the nodes that they make for another (a packed weight, a clone) no place: such a node
    gets that of the node it is made for, which reads it, or else that of the node it reads.
    """
    places = {id(row.node): _Place(row.stack_trace, row.module_stack) for row in graph.rows if row.stack_trace}
    for row in reversed(graph.rows):
        if row.op == "call_function" and id(row.node) in places:
            for node in _used(row):
                places.setdefault(id(node), places[id(row.node)])
    for row in graph.rows:
        if id(row.node) not in places:
            found = (places[id(node)] for node in _used(row) if id(node) in places)
            places[id(row.node)] = next(found, _NOWHERE)
    own = {id(row.node) for row in graph.rows if row.op == "call_function" or row.stack_trace}
    return {node: place for node, place in places.items() if node in own}


def scoped_names(graph: RawGraph, scope: str = "") -> Mapping[int, tuple[str, ...]]:
    """Returns the names that values have in a snapshot, by identity of the fx node.

    A node of a subgraph that is called several times has a name for each call.

    Args:
        graph: as it was kept.
        scope: what the names of the graph begin with.
    """
    found: dict[int, tuple[str, ...]] = {id(row.node): (scope + row.name,) for row in graph.rows}
    subgraphs = {id(row.node): row for row in graph.rows if isinstance(row.value, RawGraph)}
    for row in graph.rows:
        inner = [subgraphs[id(node)] for node in _used(row) if id(node) in subgraphs]
        for each in inner:
            for node, names in scoped_names(each.value, f"{scope}{row.name}/{each.name}/").items():
                found[node] = (*found.get(node, ()), *names)
    return found


@functools.lru_cache(maxsize=256)
def source_ref(stack_trace: str | None) -> SourceRef | None:
    """Returns the innermost place of a stack trace that is not torch's own code, else the innermost.

    Args:
        stack_trace: text of Python's ``traceback``, outermost call first.
    """
    frames = _FRAME.findall(stack_trace or "")
    if not frames:
        return None
    own = [frame for frame in frames if not is_torch(frame[0])]
    file, line = (own or frames)[-1]
    return SourceRef(file, int(line))


def is_torch(file: str) -> bool:
    """Returns whether a file is torch's own code."""
    return file.startswith(_TORCH)


@functools.lru_cache(maxsize=256)
def _calls(stack_trace: str | None) -> tuple[SourceRef, ...]:
    """Returns the places of a stack trace, outermost call first, without the one that `source_ref` returns."""
    places = [SourceRef(file, int(line)) for file, line in _FRAME.findall(stack_trace or "")]
    own = source_ref(stack_trace)
    if own is not None:
        del places[len(places) - 1 - places[::-1].index(own)]
    return tuple(places)


def _module_path(stack: Any) -> str:
    """Returns the path of the innermost module of Dynamo's ``nn_module_stack``."""
    if not stack:
        return ""
    source = list(stack.values())[-1][0]
    return source_path(source)[1] if isinstance(source, str) else ""


def _type(row: Row) -> str:
    if isinstance(row.value, RawGraph):
        return "GraphModule"
    if row.val is None and isinstance(row.value, TensorRef):
        return type_text(row.value.get())
    if row.val is None and row.value is None:
        return UNKNOWN  # a pass made it, and no fake tensor has gone through it yet
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
    """Yields every argument that is not simply a value, under the operator's name for it."""
    if row.op == "get_attr":
        yield "target", str(row.target)
        return
    known = torch_private.argument_names(row.target)
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
