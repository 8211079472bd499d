"""Reads from a live graph what its text lacks: modules, source lines, constants' contents.

A live graph and the snapshot read from its text have the same nodes in the same order, so the two are walked
side by side; torch renumbers the values of a copied graph, so names always come from the text.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import has_all, private
from freeze_engine.backends.torchscript.graph.live_walk import live_kinds
from freeze_engine.backends.torchscript.graph.module_slots import tensors_in, unpacked
from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS
from freeze_engine.tensors.constants import StorageNames, constant_bytes, constant_of
from freeze_engine.trace import Constant, GraphSnapshot, Node, SourceLines

#: A name, which may hold brackets and no dot, and its class, which may hold dots.
_SEGMENT = re.compile(r"([^.]+)\(([^()]*)\)(?:\.|$)")
#: torch's placeholders for calls that are not on a submodule (``torch/csrc/jit/ir/scope.h``).
_PLACEHOLDERS = ("SELF", "UNKNOWN_INSTANCE", "top")
#: The lines of an excerpt are indented by four, so that none of them reads as a header.
_RANGE_HEADER = re.compile(r'^(?:Serialized)? {0,3}File "(?P<file>.*)", line (?P<line>\d+)(?:, in .*)?$')
_MARKER = re.compile(r"^\s*~+(?: <--- HERE)?\s*$")
_SPELT_OUT = 10

Walk = Callable[[Any], list[tuple[Any, str]]]


def paired(snapshot: GraphSnapshot, graph: Any, walk: Walk = live_kinds) -> list[tuple[Node, Any]]:
    """Pairs each node of a snapshot with the live node it was printed from.

    Args:
        snapshot: read from a text of ``graph``, or of a graph that should be the same.
        graph: the live graph.
        walk: returns what `live_kinds` does.

    Returns:
        The pairs; empty if the two are not the same graph.
    """
    ours, theirs = list(snapshot.walk()), walk(graph)
    if [node.op for node in ours] != [_printed(*each) for each in theirs]:
        return []
    return [(mine, node) for mine, (node, _) in zip(ours, theirs, strict=True)]


def _printed(node: Any, kind: str) -> str:
    return kind if kind != "prim::PythonOp" else f"^{node.pyname()}"


def module_path(node: Any) -> str:
    """Returns the dotted path of the submodule a live node comes from; empty for the top module."""
    return _path_in(node.getModuleHierarchy())


@functools.lru_cache(maxsize=4096)
def _path_in(hierarchy: str) -> str:
    names = [name for name, _ in _SEGMENT.findall(hierarchy)]
    return intern(".".join(name for name in names if name not in _PLACEHOLDERS))


def constants(pairs: Sequence[tuple[Node, Any]], storages: StorageNames) -> dict[str, Constant]:
    """Describes the tensor constants of a graph.

    Args:
        pairs: nodes with their live nodes.
        storages: names storages across the whole trace.

    Returns:
        By value name; a container of tensors is described as a whole.
    """
    types = {value.name: value.type for node, _ in pairs for value in node.outputs}
    described = ((name, describe(value, types[name], storages)) for name, value in constant_values(pairs))
    return {name: each for name, each in described if each is not None}


def constant_values(pairs: Sequence[tuple[Node, Any]]) -> Iterator[tuple[str, Any]]:
    """Yields name and value of every constant of a graph.

    Args:
        pairs: nodes with their live nodes.
    """
    found = [(node.outputs[0].name, live) for node, live in pairs if node.op in CONSTANT_OPS and node.outputs]
    aliases = iter(_aliases([live for _, live in found if _is_strided(live)]))
    for name, live in found:
        yield name, next(aliases) if _is_strided(live) else _constant_value(live)


def _is_strided(live: Any) -> bool:
    """Returns whether a constant is a tensor whose strides torch shows; quantised ones are known by their objects."""
    if not _is_tensor(live) or not isinstance(kind := live.output().type(), torch.TensorType):
        return False
    return kind.strides() is not None and not str(kind.scalarType()).startswith("Q")


def _is_tensor(live: Any) -> bool:
    return bool(live.hasAttribute("value") and live.kindOf("value") == "t")


def _constant_value(live: Any) -> Any:
    if not live.hasAttribute("value"):
        return None
    return live.t("value") if _is_tensor(live) else live.output().toIValue()


def _aliases(lives: Sequence[Any]) -> Sequence[torch.Tensor]:
    """Returns new tensors that share the memory of constants.

    torch never frees the code of a frozen module, nor the constants in it; and a tensor of C++ that was once seen from
    Python keeps its Python object for as long as it lives itself (torch 2.13). So each recording would leave some.
    """
    if not lives or not has_all(("_jit_interpret_graph", "Graph")):
        return [live.t("value") for live in lives]
    graph = private("Graph")()
    for live in lives:
        constant = graph.appendNode(graph.createClone(live, lambda value: value))
        graph.registerOutput(graph.appendNode(graph.create("aten::detach", [constant.output()], 1)).output())
    found = private("_jit_interpret_graph")(graph, ())
    values = found if len(lives) > 1 else (found,)
    # A number that tracing made a tensor of comes back as a number.
    pairs = zip(values, lives, strict=True)
    return [value if isinstance(value, torch.Tensor) else live.t("value") for value, live in pairs]


def describe(value: Any, type_text: str, storages: StorageNames) -> Constant | None:
    """Describes a tensor, or an object that holds tensors: its bytes are those of all of them.

    Args:
        value: a tensor, lists, tuples and dictionaries of such, or an object of a class in C++ that can be pickled,
            as the packed weights of a quantised layer are.
        type_text: torch's type of the value, which names a container's kind.
        storages: names storages across the whole trace.

    Returns:
        The description, ``None`` if ``value`` holds no tensor.
    """
    if isinstance(value, torch.Tensor):
        return constant_of(value, storages)
    content = unpacked(value)
    parts = [constant_of(tensor, storages) for tensor in tensors_in(content)]
    if not parts:
        return None
    return Constant((), type_text, parts[0].device, constant_bytes(parts), digest=_digest(content, parts))


def _digest(content: Any, parts: Sequence[Constant]) -> str | None:
    """Returns a digest of the tensors' digests and of what else is held, ``None`` where a tensor's is not known."""
    if any(part.digest is None for part in parts):
        return None
    tensors = [(part.shape, part.dtype, part.digest) for part in parts]
    spelt = repr((tensors, list(_others_in(content))))
    return hashlib.sha256(spelt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _others_in(value: Any) -> Iterator[object]:
    """Yields everything but the tensors in a TorchScript value, and how long each list is."""
    if isinstance(value, (list, tuple, dict)):
        yield len(value)
        for each in value.items() if isinstance(value, dict) else value:
            yield from _others_in(each)
    else:
        yield "tensor" if isinstance(value, torch.Tensor) else value


def source_ranges(graphs: Iterable[tuple[Any, Sequence[Hashable]]], walk: Walk = live_kinds) -> Iterable[str]:
    """Returns what torch says about the places of nodes, each text once, in the order of the nodes.

    Args:
        graphs: live graphs, each with keys of its nodes. Of nodes with equal keys only the first is looked at; without
            keys each is.
        walk: returns what `live_kinds` does.
    """
    found: dict[str, None] = {}
    seen: set[Hashable] = set()
    for graph, keys in graphs:
        lives = walk(graph)
        if len(keys) != len(lives):
            found |= dict.fromkeys(live.sourceRange() for live, _ in lives)
            continue
        for key, (live, _) in zip(keys, lives, strict=True):
            if key not in seen:
                seen.add(key)
                found[live.sourceRange()] = None
    return found


def source_lines(ranges: Iterable[str]) -> tuple[SourceLines, ...]:
    """Collects the source lines that torch kept with the nodes, so that a trace shows them anywhere.

    Args:
        ranges: source ranges as torch prints them, each once.

    Returns:
        Runs of consecutive lines, by file and line.
    """
    known: dict[str, dict[int, str]] = {}
    for text in ranges:
        _note_lines(text, known)
    return tuple(run for file in sorted(known) for run in _runs(file, known[file]))


def _note_lines(text: str, known: dict[str, dict[int, str]]) -> None:
    """Reads torch's excerpts: each a header with the node's first line, then lines, the node's own underlined.

    A node of a loaded file has two: one of the user's source, and one headed ``Serialized`` of the TorchScript that was
    saved, which counts lines of its own (torch 2.13, ``torch/csrc/jit/frontend/source_range.cpp``).
    """
    excerpt: list[str] = []
    header: re.Match[str] | None = None
    for line in text.rstrip("\n").split("\n"):
        if match := _RANGE_HEADER.match(line):
            _note_excerpt(header, excerpt, known)
            header, excerpt = match, []
        else:
            excerpt.append(line)
    _note_excerpt(header, excerpt, known)


def _note_excerpt(header: re.Match[str] | None, lines: list[str], known: dict[str, dict[int, str]]) -> None:
    code: list[str] = []
    marked: int | None = None
    for line in lines:
        if _MARKER.match(line):
            marked = len(code) - 1 if marked is None else marked
        else:
            code.append(line.removeprefix("    ").rstrip())
    if header is None or marked is None:
        return
    first = int(header["line"]) - marked
    numbers = known.setdefault(header["file"], {})
    for number, line in enumerate(code, first):
        if number > 0:
            numbers.setdefault(number, line)


def _runs(file: str, lines: dict[int, str]) -> Iterator[SourceLines]:
    numbers = sorted(lines)
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            run = numbers[start:index]
            yield SourceLines(file, run[0], tuple(lines[number] for number in run))
            start = index


@contextlib.contextmanager
def printable(graph: Any) -> Iterator[None]:
    """Replaces the small constants that torch cannot print by larger tensors while it prints a graph.

    torch spells out tensors of up to ten elements (``torch/csrc/jit/ir/ir.cpp``, torch 2.13.0), and raises where such a
    one has the MKLDNN layout, as ``optimize_for_inference`` makes of a 1x1 convolution, or no data.
    """
    nodes = [*graph.findAllNodes("prim::ConstantMKLDNNTensor"), *graph.findAllNodes("prim::Constant")]
    held = [node for node in nodes if node.hasAttribute("value") and node.kindOf("value") == "t"]
    # torch keeps no Python object of a tensor that Python never saw, see `_aliases`.
    tensors = [(node, node.t("value")) for node in held if not _is_plain(node.output().type())]
    unprintable = [(node, tensor) for node, tensor in tensors if is_unprintable(tensor)]
    try:
        for node, _ in unprintable:
            node.t_("value", torch.empty(_SPELT_OUT + 1))
        yield
    finally:
        for node, tensor in unprintable:
            node.t_("value", tensor)


def is_unprintable(tensor: torch.Tensor) -> bool:
    """Returns whether torch raises when it prints a graph that has this tensor as a constant."""
    return (tensor.is_mkldnn or tensor.is_meta) and tensor.numel() <= _SPELT_OUT


def _is_plain(kind: Any) -> bool:
    """Returns whether the type of a constant says that it is a tensor with strides and data, which torch can print."""
    if not isinstance(kind, torch.TensorType) or kind.strides() is None:
        return False
    device = kind.device()
    return device is not None and device.type != "meta"
