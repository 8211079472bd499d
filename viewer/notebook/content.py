"""The subject of a view: one trace, or two side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.notebook.html_output import comparison_html, trace_html
from viewer.notebook.view_state import Choices
from viewer.page import diff_data
from viewer.report import Embedding
from viewer.views.comparison.sources import with_own_files
from viewer.views.overview import first_step
from viewer.views.runtime import with_runtime

_TABS: Final = (
    "summary",
    "graph",
    "source",
    "attributes",
    "rewrites",
    "aliases",
    "ir",
    "code",
    "kernels",
    "quantisation",
    "charts",
    "findings",
    "environment",
)


@dataclass(frozen=True, slots=True)
class ViewContent:
    """The subject of a view, and the values that its state can have.

    Attributes:
        name: its name in a cell.
        steps: the steps that ``View.step`` counts.
        others: further steps whose nodes can be selected. In a comparison these are trace A's, and a state counts them
            before ``steps``.
        first: the part of a state with the default step, and the tab that it opens.
        choices: the other values to choose from.
        html: renders a cell's output, given the embedding and the height in CSS pixels.
    """

    name: str
    steps: tuple[fe.Step, ...]
    others: tuple[fe.Step, ...]
    first: Mapping[str, int | str | None]
    choices: Choices
    html: Callable[[Embedding, int], str]

    @property
    def always(self) -> bool:
        """Whether the view always shows a step: false for a trace without steps, and for two of different backends."""
        return self.first["step"] is not None

    def has(self, place: str) -> bool:
        """Returns whether any step has a node with that id, or one from the module with that path."""
        nodes = (node for step in (*self.others, *self.steps) for node in step.graph.walk())
        return any(node.id == place or f"{node.module}.".startswith(f"{place}.") for node in nodes)

    def check(self, step: object) -> int:
        """Converts a ``View.step`` to a state's step.

        Raises:
            FreezerError: there is no such step.
        """
        if not isinstance(step, int) or not 0 <= step < len(self.steps):
            raise _no_step(step, len(self.steps))
        return step + len(self.others)

    def check_common(self, step: object) -> None:
        """Validates a state's step.

        Raises:
            FreezerError: there is no such step, or it is ``None`` although the view always shows one.
        """
        count = len(self.others) + len(self.steps)
        is_one = isinstance(step, int) and 0 <= step < count
        if not is_one and (step is not None or self.always):
            raise _no_step(step, count)

    def from_state(self, step: int | None) -> int | None:
        """Converts a state's step to ``View.step``, ``None`` if it belongs to trace A."""
        return None if step is None or step < len(self.others) else step - len(self.others)


def one_trace(trace: fe.Trace) -> ViewContent:
    """Returns the subject of a view of one trace."""

    def html(embedding: Embedding, height: int) -> str:
        return trace_html(trace, embedding=embedding, height=height)

    first = {"step": first_step(trace, fe.summarize(trace).main_step), "tab": "summary"}
    choices = Choices(_tabs(trace), _paths(trace), tuple(len(program.kernels) for program in trace.programs))
    return ViewContent(trace.name or "unnamed model", with_runtime(trace).steps, (), first, choices, html)


def two_traces(first: fe.Trace, second: fe.Trace) -> ViewContent:
    """Returns the subject of a view of two traces; it opens at the first pass whose graphs differ, as the page does.

    For traces of different backends it opens at no pass, for they have none in common.
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
    choices = Choices(
        _tabs_of_two(diff, bool(data["comparison"]["source"]["files"])), _paths(first) | _paths(second), kernels
    )
    return ViewContent(data["view"]["name"], diff.after.steps, diff.before.steps, first_shown, choices, html)


def _tabs(trace: fe.Trace) -> tuple[str, ...]:
    """Returns the tabs that ``frontend/viewer/app.js`` shows for a trace."""
    has_aliases = not trace.uses_inductor or any(step.aliases is not None for step in trace.steps)
    is_quantised = analysis.quantisation_outcome(trace) is not None
    absent = {"aliases": not has_aliases, "kernels": not trace.programs, "quantisation": not is_quantised}
    return tuple(tab for tab in _TABS if not absent.get(tab))


def _tabs_of_two(diff: fe.TraceDiff, has_source: bool) -> tuple[str, ...]:
    """Returns the tabs that ``frontend/viewer/comparison.js`` and ``cross_backend.js`` show."""
    has_kernels = bool(diff.before.programs or diff.after.programs)
    absent = {
        "source": not has_source,
        "quantisation": True,
        "kernels": not has_kernels,
        "charts": diff.across_backends,
    }
    tabs = tuple(tab for tab in _TABS if not absent.get(tab))
    return (*tabs, "pairs") if diff.across_backends else tabs


def _paths(trace: fe.Trace) -> frozenset[str]:
    return frozenset(fate.path for fate in trace.attributes)


def _no_step(step: object, count: int) -> fe.FreezerError:
    """Returns the error for a step outside of ``count`` steps."""
    has = f"has steps 0 to {count - 1}" if count else "has no steps"
    return fe.FreezerError(f"there is no step {step!r}: the trace {has}")
