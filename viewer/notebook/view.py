"""The handle that `viewer.show` and `viewer.compare` return."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import traitlets
from IPython.core.display_functions import publish_display_data
from IPython.core.getipython import get_ipython

import freeze_engine as fe
from viewer.notebook.content import ViewContent
from viewer.notebook.link import Link
from viewer.notebook.view_state import check_values
from viewer.report import Embedding


class View(traitlets.HasTraits):
    """One view of a trace, or of two, in a notebook; its state can be read, set, and observed.

    ``view.observe(callback, names="step")`` calls back with traitlets' change record, for changes in the page and in
    Python alike. Setting a value that the trace does not have raises `FreezerError`.

    Attributes:
        step: index of the chosen step; ``None`` for a trace without steps. Of two traces it is the second one's, and
            ``None`` while the view shows a pass that only the first one has.
        selected: id of the chosen node, or of the box of a chosen module; ``None`` without one.
        state: the whole state of the view, as in ``docs/viewer-protocol.md``; keys missing when it is set get their
            defaults.
    """

    step = traitlets.Int(None, allow_none=True)
    selected = traitlets.Unicode(None, allow_none=True)
    state = traitlets.Dict(key_trait=traitlets.Unicode())

    def __init__(self, subject: ViewContent, start: Mapping[str, Any], height: int) -> None:
        super().__init__()
        self._subject = subject
        self._height = height
        self._told: set[str | None] = {None}
        self._id = uuid.uuid4().hex
        self._shown_in: int | None = None
        self.state = dict(start)
        self._link = Link(view_id=self._id, state=self.state)
        self._link.observe(self._learn, "state")  # before the link below, which validates the state
        traitlets.link((self._link, "state"), (self, "state"))

    def __repr__(self) -> str:
        return f"<View of {self._subject.name}, step {self.step}>"

    def show(self) -> None:
        """Shows the view below the running cell; all its outputs stay in sync."""
        page = self._subject.html(Embedding(self._id, self.state), self._height)
        publish_display_data({"text/html": page, "text/plain": repr(self)})
        self._shown_in = _execution()

    def _ipython_display_(self) -> None:
        if self._shown_in != _execution():  # as a cell's last line, `show(trace)` would appear twice
            self.show()

    def _learn(self, change: dict[str, Any]) -> None:
        """Accepts any selection from the page: only the page knows the names of its module boxes."""
        self._told.add(change["new"].get("node"))

    @traitlets.validate("step")
    def _check_step(self, proposal: dict[str, Any]) -> int | None:
        step: int | None = proposal["value"]
        if step is not None:
            self._subject.check(step)
        return step

    @traitlets.validate("selected")
    def _check_selected(self, proposal: dict[str, Any]) -> str | None:
        node: str | None = proposal["value"]
        if node not in self._told and not self._subject.has(str(node)):
            raise fe.FreezerError(
                f"no step has a node {node!r}: select one by its id (node.id), or a module by its path"
            )
        return node

    @traitlets.validate("state")
    def _check_state(self, proposal: dict[str, Any]) -> dict[str, Any]:
        check_values(proposal["value"], self._subject.choices)
        start = {} if "step" in proposal["value"] else self._subject.first
        state = {"node": None, **start, **proposal["value"]}
        self._subject.check_common(state["step"])
        if state.get("against") is not None:
            self._subject.check_common(state["against"])
        self._check_selected({"value": state["node"]})
        return state

    @traitlets.observe("step")
    def _step_set(self, change: dict[str, Any]) -> None:
        shown = self._subject.from_state(self.state["step"])
        if change["new"] == shown:
            return
        if change["new"] is None and self._subject.always:  # traitlets lets None through
            self.step = shown
            raise fe.FreezerError(f"a view always shows one step: choose one of 0 to {len(self._subject.steps) - 1}")
        # In a comparison, the page finds the matching step of the first trace.
        against = {"against": None} if self._subject.others else {}
        step = None if change["new"] is None else self._subject.check(change["new"])
        self.state = {**self.state, "step": step, **against, **self._off_summary()}

    @traitlets.observe("selected")
    def _selected_set(self, change: dict[str, Any]) -> None:
        if change["new"] != self.state["node"]:
            self.state = {**self.state, "node": change["new"], "attribute": None, **self._off_summary()}

    def _off_summary(self) -> dict[str, str]:
        """Returns the change of the state that shows a step or a node, which the summary does not."""
        return {"tab": "graph"} if self.state.get("tab") == "summary" else {}

    @traitlets.observe("state")
    def _restored(self, change: dict[str, Any]) -> None:
        self.step, self.selected = self._subject.from_state(change["new"]["step"]), change["new"]["node"]


def _execution() -> int:
    shell: Any = get_ipython()
    count: int = shell.execution_count
    return count
