"""Outcomes of the lines of source in two traces, line beside line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison.sources import EDITED, edited_files
from viewer.views.source_lines import source_view

Row: TypeAlias = dict[str, Any]
Pair: TypeAlias = tuple[int | None, int | None]

_LEFT: Final = "what is left of it"
_PASSES: Final = "the passes that touched it"
_KERNELS: Final = "the number of its kernels"
_ERROR: Final = "the error that it brought"
_ONLY: Final = "only {} has nodes of it"


@dataclass(frozen=True, slots=True)
class _File:
    """A file in one trace.

    Attributes:
        texts: the kept text of each line.
        rows: outcome of each line that nodes come from.
    """

    texts: dict[int, str]
    rows: dict[int, Row]

    def numbers(self) -> list[int]:
        return sorted({*self.texts, *self.rows})

    def text(self, line: int | None) -> str | None:
        return None if line is None else self.texts.get(line)

    def row(self, line: int | None) -> Row | None:
        return None if line is None else self.rows.get(line)


def source_pair(diff: fe.TraceDiff, second: fe.Trace) -> dict[str, Any]:
    """Returns what became of each line in both traces, and where that differs.

    Args:
        diff: of both traces.
        second: trace B with its own names: in ``diff`` a node that both have is in A's line.

    Returns:
        ``a`` and ``b``: `viewer.views.source_lines.source_view` of each, with steps, programs and nodes as in the
        common lists; ``files``: one for each file of either trace, with both names, and
        ``lines``: ``[line of A, line of B, text, differences]``. Lines of an edited file are aligned by their text.
    """
    edited = edited_files(diff.before, second)
    ours, theirs = source_view(diff.before), source_view(second)
    names = dict.fromkeys(row["file"] for view in (ours, theirs) for row in view["files"])
    files = [_file_pair(diff, second, name, (ours, theirs), name in edited) for name in names]
    return {"a": ours, "b": _Joining(diff, second, edited).joined(theirs), "files": files}


def _file_pair(diff: fe.TraceDiff, other: fe.Trace, name: str, views: tuple[Row, Row], is_edited: bool) -> Row:
    found = [next((row for row in view["files"] if row["file"] == name), None) for view in views]
    first, second = _file(diff.before, name, found[0]), _file(other, name, found[1])
    shown = found[0] or found[1] or {}
    return {
        "names": [name, f"{name}{EDITED}" if is_edited else name],
        "kind": shown["kind"],
        "missing": "" if first.texts or second.texts else shown["missing"],
        "edited": is_edited,
        "lines": [
            [a, b, _fuller(first.text(a), second.text(b)), _differences(diff, first.row(a), second.row(b))]
            for a, b in (_aligned(first, second) if is_edited else _together(first, second))
        ],
    }


def _file(trace: fe.Trace, name: str, view: Row | None) -> _File:
    """Returns a file as a trace has it; where kept runs of lines overlap, the first has the text."""
    runs = [source for source in trace.sources if source.file == name]
    texts = {source.first_line + at: text for source in reversed(runs) for at, text in enumerate(source.lines)}
    return _File(texts, {row["line"]: row for row in view["lines"]} if view else {})


def _fuller(*texts: str | None) -> str | None:
    """Returns the text with its indent, which torch takes from functions that it scripts."""
    return max((text for text in texts if text is not None), key=len, default=None)


def _together(first: _File, second: _File) -> Iterator[Pair]:
    yield from ((line, line) for line in sorted({*first.numbers(), *second.numbers()}))


def _aligned(first: _File, second: _File) -> Iterator[Pair]:
    """Yields the lines of an edited file: equal ones together, the others one by one, those of A first."""
    ours, theirs = first.numbers(), second.numbers()
    keys = [[file.texts.get(line, f"{line}").strip() for line in file.numbers()] for file in (first, second)]
    at, other = 0, 0
    for one, two in (*analysis.align(*keys), (len(ours), len(theirs))):
        yield from ((line, None) for line in ours[at:one])
        yield from ((None, line) for line in theirs[other:two])
        if one < len(ours):
            yield ours[one], theirs[two]
        at, other = one + 1, two + 1


def _differences(diff: fe.TraceDiff, ours: Row | None, theirs: Row | None) -> list[str]:
    """Returns what differs between the outcomes of a line, in words.

    Backends have passes and operators of their own: of those only whether anything is left is compared. Times are not
    compared: they are of two runs.
    """
    if ours is None or theirs is None:
        return [] if ours is theirs else [_ONLY.format("B" if ours is None else "A")]
    if diff.across_backends:
        return [_LEFT] if bool(ours["left"]) is not bool(theirs["left"]) else []
    has_kernels = bool(diff.before.programs and diff.after.programs)
    told = (
        (_LEFT, any(len(ours[part]) != len(theirs[part]) for part in ("left", "constants"))),
        (_PASSES, _effects(diff.before, ours) != _effects(diff.after, theirs)),
        (_KERNELS, has_kernels and len(ours["kernels"]) != len(theirs["kernels"])),
        (_ERROR, _error_passes(diff.before, ours) != _error_passes(diff.after, theirs)),
    )
    return [words for words, differs in told if differs]


def _effects(trace: fe.Trace, row: Row) -> list[tuple[str, str]]:
    return [(trace.steps[effect["step"]].name, effect["text"]) for effect in row["effects"]]


def _error_passes(trace: fe.Trace, row: Row) -> list[str]:
    return [trace.steps[error["step"]].name for error in row["errors"]]


class _Joining:
    """Writes the outcomes of B with steps, programs and nodes as in the common lists."""

    def __init__(self, diff: fe.TraceDiff, second: fe.Trace, edited: set[str]) -> None:
        self._steps, self._programs = len(diff.before.steps), len(diff.before.programs)
        self._edited = edited
        self._methods = [step.method for step in second.steps]
        self._names = _node_names(second, diff.after)

    def joined(self, view: Row) -> Row:
        nodes = {
            method: [[self._node(method, node), since + self._steps, lines] for node, since, lines in claims]
            for method, claims in view["nodes"].items()
        }
        return {**view, "files": [self._file(file) for file in view["files"]], "nodes": nodes}

    def _file(self, file: Row) -> Row:
        name = file["file"] + (EDITED if file["file"] in self._edited else "")
        return {**file, "file": name, "lines": [self._line(row) for row in file["lines"]]}

    def _line(self, row: Row) -> Row:
        return {
            **row,
            "effects": [self._effect(effect) for effect in row["effects"]],
            "left": [[method, self._node(method, node)] for method, node in row["left"]],
            "constants": [[method, self._node(method, node)] for method, node in row["constants"]],
            "errors": [{**error, "step": error["step"] + self._steps} for error in row["errors"]],
            "kernels": [[program + self._programs, kernel] for program, kernel in row["kernels"]],
        }

    def _effect(self, effect: Row) -> Row:
        step = effect["step"]
        nodes = [self._node(self._methods[step], node) for node in effect["nodes"]]
        return {**effect, "step": step + self._steps, "nodes": nodes}

    def _node(self, method: str, node: str) -> str:
        return self._names.get((method, node), node)


def _node_names(trace: fe.Trace, renamed: fe.Trace) -> Mapping[tuple[str, str], str]:
    """Returns the new id of each node whose id changed, by method and own id."""
    graphs = {
        (id(own.graph), id(new.graph)): (own.method, own.graph, new.graph)
        for own, new in zip(trace.steps, renamed.steps, strict=True)
    }
    return {
        (method, own.id): new.id
        for method, graph, other in graphs.values()
        for own, new in zip(graph.walk(), other.walk(), strict=True)
        if own.id != new.id
    }
