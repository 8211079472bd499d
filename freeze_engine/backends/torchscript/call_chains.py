"""Finds the calls that lead to each node of an inlined graph.

torch names the innermost place of a node only: that of a convolution is in ``torch/nn/modules/conv.py``. Its inliner
puts the nodes of a callee in place of the call, so a graph whose calls are fenced by marks shows, inlined, which nodes
each call brought (``torch/csrc/jit/passes/inliner.cpp``, torch 2.13). A traced node carries the whole Python stack
instead (``torch/csrc/jit/python/python_tracer.cpp``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import Any, Final

from freeze_engine.backends.common.torch_private import class_name, scripted_function
from freeze_engine.backends.torchscript.call_places import Chain, first_place, saved_place, stack_places
from freeze_engine.backends.torchscript.capture.raw import callee, inline_calls, method_graph
from freeze_engine.backends.torchscript.graph.live_walk import inputs_of, live_kinds

_Path = tuple[str, ...]
_Key = tuple[str, str]

_CALLS: Final = ("prim::CallMethod", "prim::CallFunction")
_BEGIN: Final = "freezer_mark::begin"
_END: Final = "freezer_mark::end"


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


@dataclass(slots=True)
class _Inlined:
    """The nodes of an inlined graph, in order.

    Attributes:
        keys: what tells each node from others.
        calls: the calls within the graph that lead to it.
    """

    keys: list[_Key] = field(default_factory=list)
    calls: list[_Calls] = field(default_factory=list)
    _alike: dict[_Key, list[_Calls]] | None = None

    def alike(self) -> Mapping[_Key, list[_Calls]]:
        """Returns the calls of the nodes that read the same."""
        if self._alike is None:
            self._alike = {}
            for key, calls in zip(self.keys, self.calls, strict=True):
                self._alike.setdefault(key, []).append(calls)
        return self._alike


def called_nodes(module: Any, method: str) -> CalledNodes:
    """Finds the calls that lead to each node of a method's graph once it is inlined.

    Args:
        module: C++ script module, as it was before the freeze.
        method: name, or dotted path to a submodule's method.

    Returns:
        The chains; none if there is no such method.
    """
    finder = _Finder()
    found = finder.of(module, method).calls
    # Most nodes share the calls that lead to them. A lambda or fork and what it calls may stand on one line.
    chains = {id(calls): tuple(place for place, _ in groupby(calls.chain)) for calls in found}
    return CalledNodes(tuple(chains[id(calls)] for calls in found), tuple(finder.texts))


class _Finder:
    """Finds chains method by method; modules of one class share their code, which is looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Inlined] = {}
        self._own: dict[str, _Calls] = {}
        self.texts: dict[str, None] = {}

    def of(self, module: Any, method: str) -> _Inlined:
        """Returns the nodes of a method's inlined graph."""
        owner, name = callee(module, method)
        graph = method_graph(module, method)
        if graph is None:
            return _Inlined()
        return self._once((class_name(owner), name), graph, owner)

    def of_function(self, name: str) -> _Inlined:
        """Returns the nodes of a scripted function's inlined graph; none for one of a loaded file."""
        function = scripted_function(name)
        return _Inlined() if function is None else self._once((name, ""), function.graph, None)

    def _once(self, key: tuple[str, str], graph: Any, owner: Any) -> _Inlined:
        if key not in self._known:
            self._known[key] = _Inlined()  # a method cannot call itself: torch refuses recursion
            self._known[key] = self._inlined(graph, owner)
        return self._known[key]

    def _inlined(self, graph: Any, owner: Any) -> _Inlined:
        fenced = graph.copy()
        calls = list(_fence(fenced, _parameters(fenced, owner)))
        self.texts |= dict.fromkeys(call.text for call in calls)
        inline_calls(fenced, owner)
        found = _Inlined()
        brought: list[list[int]] = [[] for _ in calls]
        inside: list[int] = []
        begun = 0
        for node, kind in live_kinds(fenced):
            if kind == _BEGIN:
                inside.append(begun)
                begun += 1
            elif kind == _END:
                inside.pop()
            else:
                text = node.sourceRange()
                for each in inside:
                    brought[each].append(len(found.keys))
                found.keys.append((kind, text))
                found.calls.append(self._calls_in(text))
        for call, places in reversed(list(zip(calls, brought, strict=True))):  # a call in a fork before the fork
            keys, inner = [found.keys[place] for place in places], [found.calls[place] for place in places]
            for place, calls_to in zip(places, call.around(keys, inner, self._called(call)), strict=True):
                found.calls[place] = calls_to
        return found

    def _calls_in(self, text: str) -> _Calls:
        """Returns the calls that a node's own text shows; many nodes have the same."""
        known = self._own.get(text)
        if known is None:
            known = self._own[text] = _own_calls(text)
        return known

    def _called(self, call: _Call) -> _Inlined:
        """Returns the nodes of what is called."""
        if call.function:
            return self.of_function(call.function)
        return self.of(*call.method) if call.method is not None else _Inlined()


class _Call:
    """A call in a method's graph, or a fork.

    Attributes:
        text: of its source range.
        method: the module that it calls a method on, with the method's dotted path; ``None`` where not known.
        function: qualified name of the function that it calls; empty for a method.
    """

    def __init__(self, node: Any, parameters: _Parameters) -> None:
        self.text: str = node.sourceRange()
        self._stack = stack_places(self.text)
        self._saved = saved_place(self.text)
        self._places = (*(self._stack or first_place(self.text)), *self._saved)
        self.method: tuple[Any, str] | None = None
        self.function = ""
        if node.kind() == "prim::CallMethod":
            path = _read_path(node.inputsAt(0), parameters.paths)
            self.method = None if path is None else (parameters.owner, ".".join((*path, node.s("name"))))
        elif node.kind() == "prim::CallFunction":
            self.function = str(node.inputsAt(0).type().annotation_str)

    def around(self, keys: Sequence[_Key], calls: Sequence[_Calls], callee: _Inlined) -> Iterator[_Calls]:
        """Yields the calls of the nodes that this call brought, itself included.

        torch optimises a callee before it inlines it: constants are pooled, and what is known is gone. Nodes that read
        the same are distinguished by their order, if there are as many as in the callee; else only what is common to
        their calls is known.

        Args:
            keys: of the nodes.
            calls: that their own texts show.
            callee: its nodes.
        """
        alike = callee.alike()
        counts = Counter(keys)
        unclear = {key: _common(known) for key, known in alike.items() if len(known) != counts[key]}
        left = {key: iter(known) for key, known in alike.items()}
        # Each of these is in a list or in `unclear` meanwhile, so its identity stays its own.
        known_to: dict[int, _Calls] = {}
        for key, own in zip(keys, calls, strict=True):
            inner = unclear.get(key) or (next(left[key]) if key in left else own)
            to = known_to.get(id(inner))
            if to is None:
                to = known_to[id(inner)] = self._to(inner)
            yield to

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


@dataclass(frozen=True, slots=True)
class _Parameters:
    """The submodules that the inputs of a graph are.

    Attributes:
        owner: the module that has the method; ``None`` for a function.
        paths: by name of an input, the path from ``owner`` to the submodule that it is.
    """

    owner: Any
    paths: Mapping[str, _Path]


def _parameters(graph: Any, owner: Any) -> _Parameters:
    first = next(iter(graph.inputs()), None) if owner is not None else None
    return _Parameters(owner, {} if first is None else {first.debugName(): ()})


def _fence(graph: Any, parameters: _Parameters) -> Iterator[_Call]:
    """Puts marks around every call of a graph and inside the bodies of forks, and yields them in order."""
    # The bodies of forks are graphs of their own.
    for node, kind in live_kinds(graph, subgraphs=False):
        if kind in _CALLS:
            yield _Call(node, parameters)
            graph.create(_BEGIN, [], 0).insertBefore(node)
            graph.create(_END, [], 0).insertAfter(node)
        elif kind == "prim::fork":
            body = node.g("Subgraph")
            first = next(iter(body.nodes()), None)
            if first is None:
                continue
            yield _Call(node, parameters)
            read = (
                (given, _read_path(value, parameters.paths))
                for given, value in zip(body.inputs(), inputs_of(node), strict=True)
            )
            paths = {given.debugName(): path for given, path in read if path is not None}
            yield from _fence(body, _Parameters(parameters.owner, paths))
            body.create(_BEGIN, [], 0).insertBefore(next(iter(body.nodes())))
            body.appendNode(body.create(_END, [], 0))


def _read_path(value: Any, parameters: Mapping[str, _Path]) -> _Path | None:
    """Returns the path from a method's own module to the submodule that a value is, ``None`` if it is none."""
    node = value.node()
    if node.kind() == "prim::Param":
        return parameters.get(value.debugName())
    if node.kind() != "prim::GetAttr":
        return None
    owner = _read_path(node.inputsAt(0), parameters)
    return None if owner is None else (*owner, node.s("name"))


def _own_calls(text: str) -> _Calls:
    stack = stack_places(text)
    return _Calls((*stack[:-1], *saved_place(text)), bool(stack))
