"""Finds the line that assigns an attribute: torch (2.13) keeps lines for computations, not for ``prim::SetAttr``."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from freeze_engine.backends.torchscript.graph.attribute_reads import attribute_name
from freeze_engine.trace import Evidence, GraphSnapshot, Node, SourceLines, SourceRef, Step

_MAX_LINES: Final = 8
"""Maximum number of lines of an assignment."""
_DEFINITION: Final = re.compile(r"\s*(async\s+)?(def|class)\b")


@dataclass(frozen=True, slots=True)
class _Statement:
    """An assignment in the source.

    Attributes:
        place: its first line.
        last_line: its last line.
        holders: the objects whose attribute it assigns, as code: ``self``, ``self.part``, ``other``.
    """

    place: SourceRef
    last_line: int
    holders: tuple[str, ...]


class AssignmentFinder:
    """Finds the lines that assign attributes, in the source that torch kept.

    Args:
        sources: the lines.
        steps: of the trace.
    """

    def __init__(self, sources: Sequence[SourceLines], steps: Sequence[Step]) -> None:
        self._lines = {
            (run.file, run.first_line + offset): text for run in sources for offset, text in enumerate(run.lines)
        }
        self._functions = _functions(self._lines)
        self._steps = steps
        self._found: dict[str, tuple[_Statement, ...]] = {}
        self._modules: dict[int, Mapping[int, set[str]]] = {}

    def with_line(self, path: str, evidence: Evidence) -> Evidence:
        """Returns the evidence of an assignment with its line, if the source shows which one that is.

        Args:
            path: of the assigned attribute.
            evidence: of the assignment.
        """
        if evidence.op != "prim::SetAttr" or evidence.step is None:
            return evidence
        graph = self._steps[evidence.step].graph
        node = next((node for node in graph.walk() if node.id == evidence.node), None)
        return evidence if node is None else replace(evidence, source=self._line(path, evidence.step, node))

    def _line(self, path: str, step: int, node: Node) -> SourceRef | None:
        graph = self._steps[step].graph
        found = self._assigning(path, attribute_name(node), step)
        value = _defined_at(graph, node.inputs[1])
        exact = [each for each in found if value is not None and _covers(each, value)]
        if exact:
            return exact[0].place
        near = self._line_before(graph, node, {self._function(each.place) for each in found})
        below = [each for each in found if near is not None and self._is_below(each, near)]
        if below:
            return min(below, key=lambda each: each.place.line).place
        return found[0].place if len(found) == 1 else None

    def _assigning(self, path: str, name: str, step: int) -> list[_Statement]:
        """Returns the statements whose functions run in a module from which their code reaches the attribute.

        Behind an interface torch names only the last part of a module's path, and a function that only calls others
        has no node of its own: where no function surely reaches the attribute, these may be the ones.
        """
        if step not in self._modules:
            self._modules[step] = self._modules_of(self._steps[step].graph)
        owner, sure, possible = path.rpartition(".")[0], [], []
        for each in self._assignments(name):
            modules = self._modules[step].get(self._function(each.place), set())
            if any(_reaches(module, holder, owner) for module in modules for holder in each.holders):
                sure.append(each)
            elif not modules or any(_is_around(module, owner) or owner.endswith(f".{module}") for module in modules):
                possible.append(each)
        return sure or possible

    def _modules_of(self, graph: GraphSnapshot) -> Mapping[int, set[str]]:
        """Returns the modules that each function runs in, as the nodes of its lines show."""
        found: dict[int, set[str]] = {}
        for node in graph.walk():
            if node.source is not None:
                found.setdefault(self._function(node.source), set()).add(node.module)
        return found

    def _function(self, place: SourceRef) -> int:
        """Returns the number of the function that a line is in, -1 if the line is not known."""
        return self._functions.get((place.file, place.line), -1)

    def _assignments(self, name: str) -> tuple[_Statement, ...]:
        """Returns the statements that assign to an attribute of this name, of whichever object."""
        if name not in self._found:
            self._found[name] = tuple(self._search(name))
        return self._found[name]

    def _search(self, name: str) -> Iterator[_Statement]:
        for (file, line), text in self._lines.items():
            if not text.strip() or text.lstrip().startswith("#") or "=" not in text:
                continue
            statements, last = self._statements(file, line)
            targets = [target for statement in statements for target in _targets(statement)]
            holders = tuple(holder for target in targets for holder in _holders(target, name))
            if holders:
                yield _Statement(SourceRef(file, line, len(text) - len(text.lstrip())), last, holders)

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

    def _line_before(self, graph: GraphSnapshot, node: Node, functions: Container[int]) -> SourceRef | None:
        """Returns the line of the closest node before ``node`` that has one in these functions."""
        nearest = None
        for each in graph.walk():
            if each.id == node.id:
                return nearest
            if each.source is not None and self._function(each.source) in functions:
                nearest = each.source
        return None

    def _is_below(self, statement: _Statement, near: SourceRef) -> bool:
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


def _reaches(module: str, holder: str, owner: str) -> bool:
    """Returns whether code of a module may mean the attribute's owner by ``holder``."""
    own, *inner = holder.split(".")
    if own == "self" and all(each.isidentifier() for each in inner):
        return ".".join(filter(None, (module, *inner))) == owner
    return _is_around(module, owner)


def _is_around(module: str, owner: str) -> bool:
    return not module or f"{owner}.".startswith(f"{module}.")


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields the targets that a statement's first line assigns; a branch may have its body after the colon."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Assign) and each.lineno == 1:
            yield from each.targets
        elif isinstance(each, (ast.AugAssign, ast.AnnAssign)) and each.lineno == 1:
            yield each.target


def _holders(target: ast.expr, name: str) -> Iterator[str]:
    """Yields the objects whose attribute of this name a target assigns, as code."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _holders(each, name)
    elif isinstance(target, ast.Attribute) and target.attr == name:
        yield ast.unparse(target.value)


def _covers(statement: _Statement, place: SourceRef) -> bool:
    return statement.place.file == place.file and statement.place.line <= place.line <= statement.last_line


def _defined_at(graph: GraphSnapshot, value: str) -> SourceRef | None:
    return next((node.source for node in graph.walk() for each in node.outputs if each.name == value), None)
