"""The handle that `viewer.show` returns."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from functools import cache
from typing import Any

import traitlets
from IPython.core.display_functions import publish_display_data
from IPython.core.getipython import get_ipython

import freeze_engine as fe
from viewer.assets import read_asset
from viewer.notebook.link import Link
from viewer.notebook.output import trace_html
from viewer.report import Embedding
from viewer.view_models.overview import first_step


class View(traitlets.HasTraits):
    """One view of a trace in a notebook: what it shows can be read, set, and observed.

    ``view.observe(callback, names="step")`` calls back with traitlets' change record, for changes made in the page
    and in Python alike. Setting something that the trace does not have raises `FreezerError`.

    Attributes:
        step: index of the chosen step; ``None`` for a trace without steps.
        selected: id of the chosen node, or of the box of a chosen module; ``None`` without one.
        state: everything that says what is shown, as in ``docs/viewer-protocol.md``; what is left out when it is set
            goes to its default.
    """

    step = traitlets.Int(None, allow_none=True)
    selected = traitlets.Unicode(None, allow_none=True)
    state = traitlets.Dict(key_trait=traitlets.Unicode())

    def __init__(self, trace: fe.Trace, start: Mapping[str, Any], height: int) -> None:
        super().__init__()
        self._trace = trace
        self._height = height
        self._told: set[str | None] = {None}
        self._default = {"step": first_step(trace), "node": None}
        self._id = uuid.uuid4().hex
        self._shown_in: int | None = None
        self.state = dict(start)
        self._link = Link(view_id=self._id, state=self.state)
        self._link.observe(self._learn, "state")  # before the link below, which has the state checked
        traitlets.link((self._link, "state"), (self, "state"))

    def __repr__(self) -> str:
        return f"<View of {self._trace.name or 'unnamed model'}, step {self.step}>"

    def show(self) -> None:
        """Shows the view below the running cell; all places that show it move together."""
        page = trace_html(self._trace, embedding=Embedding(self._id, self.state), height=self._height)
        publish_display_data({"text/html": page, "text/plain": repr(self)})
        self._shown_in = _execution()

    def _ipython_display_(self) -> None:
        if self._shown_in != _execution():  # as a cell's last line, `show(trace)` would appear twice
            self.show()

    def _learn(self, change: dict[str, Any]) -> None:
        """Takes what the page has selected as it is: only the page knows what its boxes of modules are called."""
        self._told.add(change["new"].get("node"))

    @traitlets.validate("step")
    def _check_step(self, proposal: dict[str, Any]) -> int | None:
        step: int | None = proposal["value"]
        count = len(self._trace.steps)
        if step is None and count:
            raise fe.FreezerError(f"a view always shows one step: choose one of 0 to {count - 1}")
        if step is not None and not (isinstance(step, int) and 0 <= step < count):
            has = f"has steps 0 to {count - 1}" if count else "has no steps"
            raise fe.FreezerError(f"there is no step {step!r}: the trace {has}")
        return step

    @traitlets.validate("selected")
    def _check_selected(self, proposal: dict[str, Any]) -> str | None:
        node: str | None = proposal["value"]
        if node not in self._told and not _exists(self._trace, str(node)):
            raise fe.FreezerError(
                f"no step has a node {node!r}: select one by its id (node.id), or a module by its path"
            )
        return node

    @traitlets.validate("state")
    def _check_state(self, proposal: dict[str, Any]) -> dict[str, Any]:
        unknown = [key for key in proposal["value"] if key not in state_keys()]
        if unknown:
            raise fe.FreezerError(f"a view's state has no {unknown[0]!r}: its keys are {', '.join(state_keys())}")
        state = {**self._default, **proposal["value"]}
        self._check_step({"value": state["step"]})
        self._check_selected({"value": state["node"]})
        return state

    @traitlets.observe("step")
    def _step_set(self, change: dict[str, Any]) -> None:
        if change["new"] != self.state["step"]:
            self.state = {**self.state, "step": change["new"]}

    @traitlets.observe("selected")
    def _selected_set(self, change: dict[str, Any]) -> None:
        if change["new"] != self.state["node"]:
            self.state = {**self.state, "node": change["new"], "attribute": None}

    @traitlets.observe("state")
    def _restored(self, change: dict[str, Any]) -> None:
        self.step, self.selected = change["new"]["step"], change["new"]["node"]


@cache
def state_keys() -> tuple[str, ...]:
    """Returns the keys of a state, as ``static/viewer/state.js`` lists them with their defaults."""
    defaults = read_asset("viewer/state.js").partition("DEFAULTS = Object.freeze({")[2].partition("});")[0]
    return tuple(re.findall(r"^ *(\w+):", defaults, re.MULTILINE))


def _exists(trace: fe.Trace, place: str) -> bool:
    """Tells whether any step has a node with that id, or one that comes from the module with that path."""
    nodes = (node for step in trace.steps for node in step.graph.walk())
    return any(node.id == place or f"{node.module}.".startswith(f"{place}.") for node in nodes)


def _execution() -> int:
    shell: Any = get_ipython()
    count: int = shell.execution_count
    return count
