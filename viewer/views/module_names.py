"""Completes the module paths of TorchScript nodes, in which torch leaves lists of modules out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import freeze_engine as fe


class ModuleNames:
    """The full paths of a trace's modules.

    A ``ModuleList`` or ``ModuleDict`` is never called, so torch's module hierarchy (torch 2.13,
    torch/csrc/jit/ir/scope.cpp) has its children without it: ``0.self_attn`` for ``layers.0.self_attn``. The paths of
    the attributes have it. The path of a list that a node's hierarchy names, such as a ``Sequential``, is complete.

    Args:
        trace: the recording.
    """

    def __init__(self, trace: fe.Trace) -> None:
        self._known = frozenset() if trace.uses_inductor else frozenset(_modules(trace))
        named = _named(trace) if self._known else set()
        shortened: defaultdict[str, set[str]] = defaultdict(set)
        for path in self._known - named:
            for short in _shortened(path.split(".")):
                shortened[short].add(path)
        self._unique = {short: paths.pop() for short, paths in shortened.items() if len(paths) == 1}
        self._found: dict[str, str] = {}

    def full(self, path: str) -> str:
        """Returns the full path of a module; the path itself where no other is known, or several are."""
        if path not in self._found:
            self._found[path] = self._full(path)
        return self._found[path]

    def _full(self, path: str) -> str:
        parts = path.split(".")
        for length in range(len(parts), 0, -1):
            start = ".".join(parts[:length])
            if start in self._known:
                return path
            if start in self._unique:
                return ".".join((self._unique[start], *parts[length:]))
        return path


def _starts(path: str) -> Iterator[str]:
    """Yields a path and the paths of the modules around it."""
    parts = path.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _modules(trace: fe.Trace) -> Iterator[str]:
    """Yields the paths of all modules that hold an attribute, or are one."""
    for fate in trace.attributes:
        is_module = fate.kind == "submodule"
        yield from (start for start in _starts(fate.path) if is_module or start != fate.path)


def _named(trace: fe.Trace) -> set[str]:
    """Returns the modules of the nodes of each method's last graph, and the modules around them."""
    last = {step.method: step.graph for step in trace.steps}
    modules = {node.module for graph in last.values() for node in graph.walk()}
    return {start for path in modules for start in _starts(path)}


def _shortened(parts: Sequence[str]) -> Iterator[str]:
    """Yields a path without each choice of the lists in it: segments before a number."""
    ends = [""]
    for place in reversed(range(len(parts))):
        is_list = place + 1 < len(parts) and parts[place + 1].isdecimal()
        longer = [f"{parts[place]}.{end}" if end else parts[place] for end in ends]
        ends = [*longer, *ends] if is_list else longer
    yield from ends
