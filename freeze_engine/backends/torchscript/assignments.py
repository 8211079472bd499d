"""The line that assigns an attribute: torch (2.13) keeps none for ``prim::SetAttr``, only for what is computed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from freeze_engine.trace import AttributeFate, Evidence, SourceLines, SourceRef

_NEAR: Final = 4
"""How many lines below the node before it an assignment is looked for."""


def with_assigned_lines(fate: AttributeFate, sources: Sequence[SourceLines]) -> AttributeFate:
    """Returns a fate whose assignments have lines of their own, as far as the source tells.

    Args:
        fate: its evidence has the line of the node before the assignment, which may be another attribute's.
        sources: the lines that torch kept.
    """
    name = fate.path.rpartition(".")[2]
    return replace(fate, evidence=tuple(_with_line(evidence, name, sources) for evidence in fate.evidence))


def _with_line(evidence: Evidence, name: str, sources: Sequence[SourceLines]) -> Evidence:
    near = evidence.source
    if evidence.op != "prim::SetAttr" or near is None:
        return evidence
    assigns = re.compile(rf"(?P<indent>\s*)[^(=#]*\.{re.escape(name)}\b[^(=]*=(?!=)")
    for line in range(near.line, near.line + _NEAR + 1):
        match = assigns.match(_text(near.file, line, sources))
        if match is not None:
            column = len(match["indent"])
            return evidence if line == near.line else replace(evidence, source=SourceRef(near.file, line, column))
    return evidence


def _text(file: str, line: int, sources: Sequence[SourceLines]) -> str:
    for run in sources:
        if run.file == file and run.first_line <= line < run.first_line + len(run.lines):
            return run.lines[line - run.first_line]
    return ""
