"""Finds the calls that lead to each node of an inlined graph.

torch names the innermost place of a node only: that of a convolution is in ``torch/nn/modules/conv.py``. Its inliner
puts the nodes of a callee in place of the call, so a graph whose calls are fenced by marks shows, inlined, which nodes
each call brought (``torch/csrc/jit/passes/inliner.cpp``, torch 2.13). A traced node carries the whole Python stack
instead (``torch/csrc/jit/python/python_tracer.cpp``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import torch

from freeze_engine.backends.common.source_text import lines_around
from freeze_engine.backends.torchscript.capture.raw import callee, inline_calls, method_graph
from freeze_engine.backends.torchscript.graph.live import live_nodes
from freeze_engine.trace import SourceLines, SourceRef

Chain = tuple[SourceRef, ...]

_CALLS: Final = ("prim::CallMethod", "prim::CallFunction")
_BEGIN: Final = "freezer_mark::begin"
_END: Final = "freezer_mark::end"
_PLACE: Final = re.compile(r'^(?:Serialized)? {0,3}File "(?P<file>.*)", line (?P<line>\d+)(?:, in .*)?$', re.MULTILINE)
_FRAME: Final = re.compile(r"^(?P<file>.+)\((?P<line>\d+)\): (?P<function>\S+)$", re.MULTILINE)
#: Begins what torch says about the saved code of a loaded file.
_SERIALIZED: Final = "Serialized   File "
_TORCH: Final = str(Path(torch.__file__).parent)
#: What runs between two calls of the model's code, and around all of them.
_PLUMBING: Final = re.compile(r"[\\/]torch[\\/]nn[\\/]modules[\\/]module\.py$")
_TRACER: Final = re.compile(r"[\\/]torch[\\/]jit[\\/]_trace\.py$")


@dataclass(frozen=True, slots=True)
class CalledNodes:
    """The calls that lead to the nodes of an inlined graph.

    Attributes:
        chains: one per node of `freeze_engine.backends.torchscript.capture.raw.inlined_graph`, in the order of
            `live_nodes`; a chain has the places of the calls, the outermost first, and for a loaded file the places of
            calls and node in the code that was saved with it.
        texts: what torch says about the places of the calls, with lines of the source.
    """

    chains: tuple[Chain, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls that lead to a node.

    Attributes:
        chain: their places, the outermost first.
        is_whole: whether the node's own stack begins at the method, so that calls around it are in it.
    """

    chain: Chain = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class _Inner:
    """A node of an inlined graph, with what tells it from others, and the calls within the graph that lead to it."""

    key: tuple[str, str]
    calls: _Calls


def called_nodes(module: Any, method: str) -> CalledNodes:
    """Finds the calls that lead to each node of a method's graph once it is inlined.

    Args:
        module: C++ script module, as it was before the freeze.
        method: name, or dotted path to a submodule's method.

    Returns:
        The chains; none if there is no such method.
    """
    finder = _Finder()
    chains = tuple(node.calls.chain for node in finder.of(module, method))
    return CalledNodes(chains, tuple(finder.texts))


def traced_lines(graphs: Iterable[Any]) -> tuple[SourceLines, ...]:
    """Reads the lines of the user's source that led to traced nodes: torch keeps the places without their text.

    No line is read for a loaded file, which may name any file of this machine as its source.

    Args:
        graphs: live graphs.
    """
    texts = {str(node.sourceRange()) for graph in graphs for node in live_nodes(graph)}
    places = {place for text in texts if _SERIALIZED not in text for place in _stack(text)}
    return lines_around(place for place in places if not place.file.startswith(_TORCH))


class _Finder:
    """Finds chains method by method; modules of one class share their code, which is looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Sequence[_Inner]] = {}
        self.texts: dict[str, None] = {}

    def of(self, module: Any, method: str) -> Sequence[_Inner]:
        owner, name = callee(module, method)
        graph = method_graph(module, method)
        if graph is None:
            return ()
        key = (str(owner._type().annotation_str), name)
        if key not in self._known:
            self._known[key] = ()  # a method cannot call itself: torch refuses recursion
            self._known[key] = self._inlined(graph, owner)
        return self._known[key]

    def _inlined(self, graph: Any, owner: Any) -> list[_Inner]:
        fenced = graph.copy()
        calls = [_Call(node, owner) for node in _fence(fenced)]
        self.texts |= dict.fromkeys(call.text for call in calls)
        inline_calls(fenced, owner)
        found: list[_Inner] = []
        brought: list[list[int]] = [[] for _ in calls]
        inside, begun = -1, 0
        for node in live_nodes(fenced):
            if node.kind() == _BEGIN:
                inside, begun = begun, begun + 1
            elif node.kind() == _END:
                inside = -1
            else:
                if inside >= 0:
                    brought[inside].append(len(found))
                text = str(node.sourceRange())
                found.append(_Inner((node.kind(), text), _own_calls(text)))
        for call, places in zip(calls, brought, strict=True):
            for place, calls_to in zip(places, call.around([found[at] for at in places], self.of), strict=True):
                found[place] = _Inner(found[place].key, calls_to)
        return found


class _Call:
    """A call in a method's graph."""

    def __init__(self, node: Any, owner: Any) -> None:
        self.text = str(node.sourceRange())
        self._stack = _stack(self.text)
        self._saved = _saved(self.text)
        self._places = (*(self._stack or _first(self.text)), *self._saved)
        self._target: tuple[Any, str] | None = None
        if node.kind() == "prim::CallMethod":
            path = _read_path(next(iter(node.inputs())))
            self._target = None if path is None else (owner, ".".join((*path, node.s("name"))))

    def around(self, nodes: Sequence[_Inner], find: Callable[[Any, str], Sequence[_Inner]]) -> Iterator[_Calls]:
        """Yields the calls of the nodes that this call brought, itself included.

        torch optimises a callee before it inlines it: constants are pooled, and what is known is gone. Nodes that read
        the same are told apart by their order, if there are as many as in the callee; else only what is common to
        their calls is known.
        """
        inner: dict[tuple[str, str], list[_Calls]] = {}
        for each in find(*self._target) if self._target is not None else ():
            inner.setdefault(each.key, []).append(each.calls)
        counts = Counter(node.key for node in nodes)
        unclear = {key: _common(known) for key, known in inner.items() if len(known) != counts[key]}
        seen = Counter[tuple[str, str]]()
        for node in nodes:
            known = inner.get(node.key)
            if known is None:
                yield self._to(node.calls)
            else:
                yield self._to(unclear.get(node.key) or known[seen[node.key]])
            seen[node.key] += 1

    def _to(self, calls: _Calls) -> _Calls:
        if calls.is_whole:
            return _Calls((*self._saved, *calls.chain), True)
        return _Calls((*self._places, *calls.chain), bool(self._stack))


def _common(known: Sequence[_Calls]) -> _Calls:
    """Returns the calls that all of several have in common, from the outermost on."""
    if known[0].is_whole:
        return known[0]
    shared = takewhile(lambda places: len(set(places)) == 1, zip(*(each.chain for each in known), strict=False))
    return _Calls(tuple(places[0] for places in shared))


def _fence(graph: Any) -> list[Any]:
    """Puts a mark before and after every call of a graph, and returns the calls in order."""
    calls = [node for node in _reachable(graph) if node.kind() in _CALLS]
    for node in calls:
        graph.create(_BEGIN, [], 0).insertBefore(node)
        graph.create(_END, [], 0).insertAfter(node)
    return calls


def _reachable(block: Any) -> Iterator[Any]:
    """Yields the nodes of a graph and its blocks, without the bodies of forks, which are graphs of their own."""
    for node in list(block.nodes()):
        yield node
        for inner in node.blocks():
            yield from _reachable(inner)


def _read_path(value: Any) -> tuple[str, ...] | None:
    """Returns the path from a method's own module to the submodule that a value is, ``None`` if it is none."""
    node = value.node()
    if node.kind() == "prim::Param":
        return ()
    if node.kind() != "prim::GetAttr":
        return None
    owner = _read_path(next(iter(node.inputs())))
    return None if owner is None else (*owner, node.s("name"))


def _own_calls(text: str) -> _Calls:
    stack = _stack(text)
    return _Calls((*stack[:-1], *_saved(text)), bool(stack))


def _first(text: str) -> Chain:
    """Returns the place that an excerpt is of: the user's, where a loaded file has both."""
    return _places(text.partition(_SERIALIZED)[0])[:1]


def _saved(text: str) -> Chain:
    """Returns the place in the saved code of a loaded file; none for what was not loaded."""
    _, mark, saved = text.partition(_SERIALIZED)
    return _places(mark + saved)[:1] if mark else ()


def _places(text: str) -> Chain:
    return tuple(SourceRef(match["file"], int(match["line"])) for match in _PLACE.finditer(text))


def _stack(text: str) -> Chain:
    """Returns the Python stack of a traced node from the method inwards, its own place last; empty for another."""
    frames = []
    for match in _FRAME.finditer(text.partition(_SERIALIZED)[0]):
        if _TRACER.search(match["file"]):
            break
        if not _PLUMBING.search(match["file"]):
            frames.append(SourceRef(match["file"], int(match["line"])))
    return tuple(reversed(frames))
