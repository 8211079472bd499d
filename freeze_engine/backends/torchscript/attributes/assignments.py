"""Finds the line that assigns an attribute: torch (2.13) keeps lines for computations, not for ``prim::SetAttr``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from freeze_engine.backends.torchscript.graph.attribute_reads import attribute_name
from freeze_engine.trace import Evidence, GraphSnapshot, Node, SourceLines, SourceRef, Step

_MAX_LINES: Final = 8
"""Maximum number of lines of an assignment."""
_DEFINITION: Final = re.compile(r"\s*(async\s+)?(def|class)\b")


@dataclass(frozen=True, slots=True)
class _Statement:
    """An assignment in the source: its place and its last line."""

    place: SourceRef
    last_line: int


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
        self._steps = steps

    def with_line(self, evidence: Evidence) -> Evidence:
        """Returns an assignment with its line, if the source shows which one that is."""
        if evidence.op != "prim::SetAttr" or evidence.step is None:
            return evidence
        graph = self._steps[evidence.step].graph
        node = next((node for node in graph.walk() if node.id == evidence.node), None)
        return evidence if node is None else replace(evidence, source=self._line(graph, node))

    def _line(self, graph: GraphSnapshot, node: Node) -> SourceRef | None:
        found = list(self._assignments(attribute_name(node)))
        value = _defined_at(graph, node.inputs[1])
        exact = [each for each in found if value is not None and _covers(each, value)]
        if exact:
            return exact[0].place
        near = _line_before(graph, node)
        below = [each for each in found if near is not None and self._is_below(each, near)]
        if below:
            return min(below, key=lambda each: each.place.line).place
        return found[0].place if len(found) == 1 else None

    def _assignments(self, name: str) -> Iterator[_Statement]:
        """Yields the statements that assign to an attribute of this name, of whichever object."""
        for (file, line), text in self._lines.items():
            if not text.strip() or text.lstrip().startswith("#") or "=" not in text:
                continue
            statement, last = self._statement(file, line)
            if statement is not None and any(_sets(target, name) for target in _targets(statement)):
                yield _Statement(SourceRef(file, line, len(text) - len(text.lstrip())), last)

    def _statement(self, file: str, first: int) -> tuple[ast.stmt | None, int]:
        """Parses the statement that begins in a line; gives its last line, too."""
        text = ""
        for line in range(first, first + _MAX_LINES):
            if (file, line) not in self._lines:
                break
            text += self._lines[file, line] + "\n"
            try:
                (statement,) = ast.parse(text.strip()).body
            except (SyntaxError, ValueError):
                continue
            return statement, line
        return None, first

    def _is_below(self, statement: _Statement, near: SourceRef) -> bool:
        """Returns whether a statement follows a line within one function, if all lines between them are known."""
        place = statement.place
        if place.file != near.file or place.line < near.line:
            return False
        between = [self._lines.get((place.file, line)) for line in range(near.line, place.line + 1)]
        return all(text is not None and not _DEFINITION.match(text) for text in between)


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields the targets that a statement's first line assigns; a branch may have its body after the colon."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Assign) and each.lineno == 1:
            yield from each.targets
        elif isinstance(each, (ast.AugAssign, ast.AnnAssign)) and each.lineno == 1:
            yield each.target


def _sets(target: ast.expr, name: str) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_sets(each, name) for each in target.elts)
    return isinstance(target, ast.Attribute) and target.attr == name


def _covers(statement: _Statement, place: SourceRef) -> bool:
    return statement.place.file == place.file and statement.place.line <= place.line <= statement.last_line


def _defined_at(graph: GraphSnapshot, value: str) -> SourceRef | None:
    return next((node.source for node in graph.walk() for each in node.outputs if each.name == value), None)


def _line_before(graph: GraphSnapshot, node: Node) -> SourceRef | None:
    """Returns the line of the closest node before ``node`` that has one."""
    nearest = None
    for each in graph.walk():
        if each.id == node.id:
            return nearest
        nearest = each.source or nearest
    return None
