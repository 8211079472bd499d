"""Finds the line that assigns an attribute: torch (2.13) keeps lines for computations, not for ``prim::SetAttr``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from freeze_engine.backends.torchscript.attributes.assigning_code import (
    ANY,
    Holders,
    assigned,
    holders,
    inside_strings,
    literal,
    local_names,
    mentions,
)
from freeze_engine.backends.torchscript.graph.attribute_reads import attribute_name
from freeze_engine.trace import CallPath, Evidence, GraphSnapshot, Node, SourceLines, SourceRef, Step

_MAX_LINES: Final = 8
"""Maximum number of lines of an assignment."""
_NUMBER: Final = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?")
_FROM_END: Final = re.compile(r"-\d+")
_DEFINITION: Final = re.compile(r"\s*(async\s+)?(def|class)\b")


@dataclass(frozen=True, slots=True)
class _Assignment:
    """An assignment to an attribute in the source.

    Attributes:
        place: the line of the target.
        first_line, last_line: of the statement.
        holders: the objects whose attribute it may assign.
        literal: the number that it assigns, ``None`` if that is no plain number.
    """

    place: SourceRef
    first_line: int
    last_line: int
    holders: Holders
    literal: float | None

    def covers(self, place: SourceRef) -> bool:
        """Returns whether a place is in the statement."""
        return self.place.file == place.file and self.first_line <= place.line <= self.last_line


class _Searched:
    """What the search needs of one graph."""

    def __init__(
        self,
        graph: GraphSnapshot,
        functions: Mapping[tuple[str, int], int],
        calls: Mapping[str, tuple[SourceRef, ...]],
    ) -> None:
        self.nodes = tuple(graph.walk())
        self._functions = functions
        self._calls = calls

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each node, by its id."""
        return {node.id: place for place, node in enumerate(self.nodes)}

    @cached_property
    def values(self) -> Mapping[str, SourceRef]:
        """The lines that make the values, by name."""
        made = ((value.name, node.source) for node in self.nodes for value in node.outputs)
        return {name: source for name, source in made if source is not None}

    @cached_property
    def numbers(self) -> Mapping[str, float]:
        """The constant numbers, by the names of their values."""
        texts = {
            node.outputs[0].name: node.attribute("value") or ""
            for node in self.nodes
            if node.op == "prim::Constant" and node.outputs[0].type in ("int", "float", "bool")
        }
        return {name: float(text) for name, text in texts.items() if _NUMBER.fullmatch(text)}

    @cached_property
    def modules(self) -> Mapping[int, set[str]]:
        """The modules that each function runs in, as the nodes of its lines show."""
        found: dict[int, set[str]] = {}
        for node in self.nodes:
            if node.source is not None:
                found.setdefault(self._function(node.source), set()).add(node.module)
        return found

    def functions_of(self, node: Node) -> frozenset[int]:
        """Returns the functions that a node may be of: those that the same calls lead to."""
        return frozenset(self._called.get(self._calls.get(node.id, ()), ()))

    @cached_property
    def _called(self) -> Mapping[tuple[SourceRef, ...], set[int]]:
        """The functions that calls lead to: of lines with nodes, and of lines with calls."""
        found: dict[tuple[SourceRef, ...], set[int]] = {}
        for node in self.nodes:
            calls = self._calls.get(node.id, ())
            way = calls if node.source is None else (*calls, node.source)
            for count, place in enumerate(way):
                found.setdefault(calls[:count], set()).add(self._function(place))
        return found

    def _function(self, place: SourceRef) -> int:
        return self._functions.get((place.file, place.line), -1)


class AssignmentFinder:
    """Finds the lines that assign attributes, in the source that torch kept.

    Args:
        sources: the lines.
        steps: of the trace.
        modules: paths of the submodules.
        call_paths: the calls that lead to the nodes.
    """

    def __init__(
        self,
        sources: Sequence[SourceLines],
        steps: Sequence[Step],
        modules: Collection[str],
        call_paths: Iterable[CallPath],
    ) -> None:
        self._lines = {
            (run.file, run.first_line + offset): text for run in sources for offset, text in enumerate(run.lines)
        }
        self._functions = _functions(self._lines)
        self._steps = steps
        self._submodules = modules
        self._calls: dict[str, dict[str, tuple[SourceRef, ...]]] = {}
        for path in call_paths:
            self._calls.setdefault(path.method, {}).update(dict.fromkeys(path.nodes, path.calls))
        self._found: dict[str, tuple[_Assignment, ...]] = {}
        self._searched: dict[int, _Searched] = {}
        self._names: dict[int, Mapping[str, Holders]] = {}

    def with_line(self, path: str, evidence: Evidence) -> Evidence:
        """Returns the evidence of an assignment with its line, if the source shows which one that is.

        Args:
            path: of the assigned attribute.
            evidence: of the assignment.
        """
        if evidence.op != "prim::SetAttr" or evidence.step is None:
            return evidence
        if evidence.step not in self._searched:
            step = self._steps[evidence.step]
            self._searched[evidence.step] = _Searched(step.graph, self._functions, self._calls.get(step.method, {}))
        graph = self._searched[evidence.step]
        place = graph.places.get(evidence.node or "")
        return evidence if place is None else replace(evidence, source=self._line(path, graph, graph.nodes[place]))

    def _line(self, path: str, graph: _Searched, node: Node) -> SourceRef | None:
        value = graph.values.get(node.inputs[1])
        found = self._assigning(path, node, graph)
        number = graph.numbers.get(node.inputs[1])
        if number is not None:
            found = [each for each in found if each.literal in (None, number)]
        exact = [each for each in found if value is not None and each.covers(value)]
        if exact:
            return exact[0].place
        near = self._line_before(graph, node, {self._function(each.place) for each in found})
        below = [each for each in found if near is not None and self._is_below(each, near)]
        if below:
            return min(below, key=lambda each: each.place.line).place
        return found[0].place if len(found) == 1 else None

    def _assigning(self, path: str, node: Node, graph: _Searched) -> list[_Assignment]:
        """Returns the assignments of the functions that a node may be of, if their code reaches the attribute.

        torch does not name all modules by their whole paths, and a function that only calls others has no node that
        names its module: where no function surely reaches the attribute, these may be the ones.
        """
        owner, functions = path.rpartition(".")[0], graph.functions_of(node)
        sure, possible = [], []
        for each in self._assignments(attribute_name(node)):
            function = self._function(each.place)
            if function not in functions:
                continue
            modules = graph.modules.get(function, set())
            if any(self._means(module, each.holders, owner) for module in modules):
                sure.append(each)
            elif self._may_mean(modules, each.holders, owner):
                possible.append(each)
        return sure or possible

    def _may_mean(self, modules: Collection[str], holders: Holders, owner: str) -> bool:
        if modules:
            return any(self._may_end(module, holders, owner) for module in modules)
        return any(self._means(module, holders, owner) for module in _around(owner))

    def _may_end(self, module: str, holders: Holders, owner: str) -> bool:
        """Returns whether a module that no path names may be one around the attribute's owner.

        torch leaves out what is around an interface, and the lists and dictionaries that a loop goes through.
        """
        if not module or module in self._submodules:
            return False
        return any(_leaves_out(module, path) and self._means(path, holders, owner) for path in _around(owner))

    def _means(self, module: str, holders: Holders, owner: str) -> bool:
        """Returns whether code of a module may mean the attribute's owner."""
        parts = owner.split(".") if owner else []
        for holder in holders:
            meant = module.split(".") if module else []
            for part in holder:
                is_from_end = _FROM_END.fullmatch(part)
                meant.append(str(self._children[".".join(meant)] + int(part)) if is_from_end else part)
            if len(meant) == len(parts) and all(one in (ANY, other) for one, other in zip(meant, parts, strict=True)):
                return True
        return False

    @cached_property
    def _children(self) -> Mapping[str, int]:
        return Counter(path.rpartition(".")[0] for path in self._submodules)

    def _function(self, place: SourceRef) -> int:
        """Returns the number of the function that a line is in, -1 if the line is not known."""
        return self._functions.get((place.file, place.line), -1)

    def _assignments(self, name: str) -> tuple[_Assignment, ...]:
        """Returns the assignments to an attribute of this name, of whichever object."""
        if name not in self._found:
            self._found[name] = tuple(dict.fromkeys(self._search(name)))
        return self._found[name]

    def _search(self, name: str) -> Iterator[_Assignment]:
        for (file, line), text in self._lines.items():
            if not mentions(text, name):
                continue
            for first in range(line, line - _MAX_LINES, -1):
                found = list(self._beginning(file, first, line, name))
                if found or self._functions.get((file, first - 1)) != self._functions[file, line]:
                    yield from found
                    break

    def _beginning(self, file: str, first: int, line: int, name: str) -> Iterator[_Assignment]:
        """Yields the assignments in a line to an attribute of this name, of statements that begin in another."""
        text = self._lines[file, first]
        if not text.strip() or text.lstrip().startswith("#") or (file, first) in self._strings:
            return
        statements, last = self._statements(file, first)
        for statement in statements:
            for target in assigned(statement):
                if target.attr == name and first + (target.end_lineno or 1) - 1 == line:
                    shown = self._lines[file, line]
                    place = SourceRef(file, line, len(shown) - len(shown.lstrip()))
                    meant = holders(target, self._local_names(self._function(place)))
                    yield _Assignment(place, first, last, meant, literal(statement))

    @cached_property
    def _by_function(self) -> Mapping[int, list[tuple[str, int]]]:
        found: dict[int, list[tuple[str, int]]] = {}
        for place, function in self._functions.items():
            found.setdefault(function, []).append(place)
        return found

    @cached_property
    def _strings(self) -> frozenset[tuple[str, int]]:
        """The lines that begin inside a string."""
        return frozenset(
            places[number]
            for places in self._by_function.values()
            for number in inside_strings([self._lines[place] for place in places])
        )

    def _local_names(self, function: int) -> Mapping[str, Holders]:
        if function not in self._names:
            self._names[function] = local_names([self._lines[place] for place in self._by_function[function]])
        return self._names[function]

    def _statements(self, file: str, first: int) -> tuple[list[ast.stmt], int]:
        """Parses the statements that begin in a line; gives their last line, too."""
        text = ""
        for line in range(first, first + _MAX_LINES):
            if (file, line) not in self._lines:
                break
            text += self._lines[file, line] + "\n"
            try:
                return ast.parse(text.strip()).body, line
            except (SyntaxError, ValueError):
                continue
        return [], first

    def _line_before(self, graph: _Searched, node: Node, functions: Collection[int]) -> SourceRef | None:
        """Returns the line of the closest node before ``node`` that has one in these functions."""
        for place in range(graph.places[node.id] - 1, -1, -1):
            source = graph.nodes[place].source
            if source is not None and self._function(source) in functions:
                return source
        return None

    def _is_below(self, statement: _Assignment, near: SourceRef) -> bool:
        """Returns whether a statement follows a line within one function."""
        place = statement.place
        return place.line >= near.line and self._function(place) == self._function(near) >= 0


def _functions(lines: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], int]:
    """Numbers the functions that lines belong to; where lines between two are not known, these count as two."""
    found: dict[tuple[str, int], int] = {}
    number, before = 0, ("", 0)
    for file, line in sorted(lines):
        if (file, line - 1) != before or _DEFINITION.match(lines[file, line]):
            number += 1
        found[file, line] = number
        before = (file, line)
    return found


def _leaves_out(module: str, path: str) -> bool:
    """Returns whether a text names a module by some parts of its path, the last one among them."""
    left = iter(path.split("."))
    named = module.split(".")
    return named[-1] == path.rpartition(".")[2] and all(part in left for part in named)


def _around(path: str) -> Iterator[str]:
    """Yields the path of a module, and those of the modules around it."""
    yield path
    while path:
        path = path.rpartition(".")[0]
        yield path
