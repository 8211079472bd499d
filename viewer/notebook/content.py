"""What a view shows: one trace, or two side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import freeze_engine as fe
from viewer.notebook.html_output import comparison_html, trace_html
from viewer.notebook.view_state import Choices
from viewer.page import diff_data
from viewer.report import Embedding
from viewer.views.comparison.sources import with_own_files
from viewer.views.overview import first_step

_TABS: Final = (
    "graph",
    "attributes",
    "rewrites",
    "aliases",
    "ir",
    "code",
    "kernels",
    "charts",
    "findings",
    "environment",
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a view shows, and what of it can be chosen.

    Attributes:
        name: what a cell calls it.
        steps: those that ``View.step`` counts.
        others: further steps whose nodes can be selected. In a comparison these are trace A's, and a state counts them
            before the others.
        first: the part of a state that says which step is shown where none was chosen.
        choices: what else can be chosen.
        html: makes a cell's output, given how it is embedded and its height in CSS pixels.
    """

    name: str
    steps: tuple[fe.Step, ...]
    others: tuple[fe.Step, ...]
    first: Mapping[str, int | None]
    choices: Choices
    html: Callable[[Embedding, int], str]

    @property
    def always(self) -> bool:
        """Whether some step is always shown: not for a trace without steps, nor for two of different backends."""
        return self.first["step"] is not None

    def has(self, place: str) -> bool:
        """Tells whether any step has a node with that id, or one that comes from the module with that path."""
        nodes = (node for step in (*self.others, *self.steps) for node in step.graph.walk())
        return any(node.id == place or f"{node.module}.".startswith(f"{place}.") for node in nodes)

    def check(self, step: object) -> int:
        """Returns a step that ``View.step`` may be, as a state counts it.

        Raises:
            FreezerError: there is no such step.
        """
        if not isinstance(step, int) or not 0 <= step < len(self.steps):
            raise _no_step(step, len(self.steps))
        return step + len(self.others)

    def check_common(self, step: object) -> None:
        """Refuses what a state's step cannot be.

        Raises:
            FreezerError: there is no such step, or it is ``None`` where one is always shown.
        """
        count = len(self.others) + len(self.steps)
        is_one = isinstance(step, int) and 0 <= step < count
        if not is_one and (step is not None or self.always):
            raise _no_step(step, count)

    def from_state(self, step: int | None) -> int | None:
        """Returns a state's step as ``View.step`` counts, ``None`` where it is of trace A."""
        return None if step is None or step < len(self.others) else step - len(self.others)


def one_trace(trace: fe.Trace) -> Subject:
    """Returns what a view of one trace shows."""

    def html(embedding: Embedding, height: int) -> str:
        return trace_html(trace, embedding=embedding, height=height)

    first = {"step": first_step(trace)}
    choices = Choices(_tabs(trace), _paths(trace), tuple(len(program.kernels) for program in trace.programs))
    return Subject(trace.name or "unnamed model", trace.steps, (), first, choices, html)


def two_traces(first: fe.Trace, second: fe.Trace) -> Subject:
    """Returns what a view of two traces shows; it opens at the first pass whose graphs differ, as the page does.

    Traces of different backends have no passes in common: it opens at none.
    """
    diff = fe.diff_traces(first, with_own_files(first, second))
    data = diff_data(diff, second)
    rows = data["comparison"]["rows"]
    different = next((row for row in rows if row["graph"] is None or not row["graph"]["empty"]), next(iter(rows), None))
    a, b = different["shown"] if different else (None, None)
    first_shown = {"step": a, "against": None} if b is None else {"step": b, "against": a}

    def html(embedding: Embedding, height: int) -> str:
        return comparison_html(data, embedding=embedding, height=height)

    kernels = tuple(len(program["kernels"]) for program in data["view"]["programs"])
    choices = Choices(_tabs_of_two(diff), _paths(first) | _paths(second), kernels)
    return Subject(data["view"]["name"], diff.after.steps, diff.before.steps, first_shown, choices, html)


def _tabs(trace: fe.Trace) -> tuple[str, ...]:
    """Returns the tabs that ``static/viewer/app.js`` shows for a trace."""
    has_aliases = trace.backend != "inductor" or any(step.aliases is not None for step in trace.steps)
    absent = {"aliases": not has_aliases, "kernels": not trace.programs}
    return tuple(tab for tab in _TABS if not absent.get(tab))


def _tabs_of_two(diff: fe.TraceDiff) -> tuple[str, ...]:
    """Returns the tabs that ``static/viewer/comparison.js`` and ``across.js`` show."""
    absent = {"kernels": not (diff.before.programs or diff.after.programs), "charts": diff.across_backends}
    tabs = tuple(tab for tab in _TABS if not absent.get(tab))
    return ("pairs", *tabs) if diff.across_backends else tabs


def _paths(trace: fe.Trace) -> frozenset[str]:
    return frozenset(fate.path for fate in trace.attributes)


def _no_step(step: object, count: int) -> fe.FreezerError:
    """Returns the error of a step that is none of ``count``."""
    has = f"has steps 0 to {count - 1}" if count else "has no steps"
    return fe.FreezerError(f"there is no step {step!r}: the trace {has}")
