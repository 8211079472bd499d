"""What cells show and raise, in a real kernel: the display bundles, the handle, the magic."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
import viewer
from tests.builders import empty_trace, small_trace
from tests.notebook.kernels import execute, notebook_of
from viewer.notebook import trace_html

START = """\
import freeze_engine as fe
import torch
import viewer

trace = fe.load("small.fztrace")
"""
FREEZES = """\
def double(x):
    return x * two


two = 2


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1


frozen = torch.jit.freeze(torch.jit.script(Net().eval()))
"""


@pytest.fixture
def cells(tmp_path: Path) -> Any:
    """Runs cells after those of `START`, and returns the outputs of each."""
    fe.save(small_trace(), tmp_path / "small.fztrace")
    fe.save(empty_trace(), tmp_path / "empty.fztrace")

    def outputs(*sources: str) -> list[list[Any]]:
        notebook = execute(notebook_of(START, *sources), tmp_path, allow_errors=True)
        assert notebook.cells[0].outputs == []
        return [cell.outputs for cell in notebook.cells[1:]]

    return outputs


def told(outputs: list[Any]) -> list[Any]:
    """What a cell's outputs say: printed text, the text of a value, an error's type and message."""
    return [
        (output.ename, output.evalue)
        if output.output_type == "error"
        else output.get("text") or output.data["text/plain"]
        for output in outputs
    ]


def frames(outputs: list[Any]) -> list[str]:
    return [output.data["text/html"] for output in outputs if "<iframe" in output.get("data", {}).get("text/html", "")]


def test_a_trace_and_a_view_show_themselves_once(cells: Any) -> None:
    value, shown, last, again, kept = cells(
        "trace",
        "view = viewer.show(trace, step=4, selected='yes', height=300)",
        "viewer.show(trace)",
        "view",
        "kept = (view, trace)",
    )
    assert told(value) == [f"<Trace of {small_trace().name} (torchscript): 12 steps, 5 changed something>"]
    assert [len(frames(outputs)) for outputs in (value, shown, last, again, kept)] == [1, 1, 1, 1, 0]
    assert told(shown) == told(again) == ["<View of Net « naïve » <b>, step 4>"]
    assert 'style="height: 300px"' in frames(shown)[0]
    assert set(value[0].data) == set(shown[0].data) == {"text/plain", "text/html"}
    named = [html.partition('data-freezer-view="')[2][:32] for html in (*frames(shown), *frames(last), *frames(again))]
    assert named[0] == named[2] != named[1]


def test_the_handle_can_be_read_set_and_observed_without_a_browser(cells: Any) -> None:
    *_, read, moved, state, seen = cells(
        "seen = []\nview = viewer.show(trace)\nview.observe(lambda change: seen.append(change['name']))",
        "view.step, view.selected, view.state",
        "view.step = 6\nview.selected = 'yes'\nview.state",
        "view.state = {'tab': 'ir'}\nview.step, view.selected, view.state",
        "seen",
    )
    assert told(read) == ["(8, None, {'node': None, 'step': 8, 'tab': 'summary'})"]
    assert told(moved) == ["{'node': 'yes', 'step': 6, 'tab': 'graph', 'attribute': None}"]
    assert told(state) == ["(8, None, {'node': None, 'step': 8, 'tab': 'ir'})"]
    names = ["step", "state", "selected", "state", "step", "selected", "state"]
    assert sorted(ast.literal_eval(told(seen)[0])) == sorted(names)


def test_two_traces_are_one_handle_without_a_browser(cells: Any) -> None:
    shown, read, moved, only_first, seen = cells(
        "from dataclasses import replace\nseen = []\nother = replace(trace, name='other', steps=trace.steps[:-1])\n"
        "view = viewer.compare(trace, other, height=300)\n"
        "view.observe(lambda change: seen.append(change['new']), names='step')",
        "view.step, view.state",
        "view.step = 8\nview.state",
        "view.state = {'step': 11}\nview.step, view.state",
        "seen",
    )
    assert len(frames(shown)) == 1
    assert told(shown) == ["<View of Net « naïve » <b> ↔ other, step 5>"]
    assert told(read) == ["(5, {'node': None, 'step': 17, 'against': 11})"]
    assert told(moved) == ["{'node': None, 'step': 20, 'against': None}"]
    assert told(only_first) == ["(None, {'node': None, 'step': 11})"]
    assert told(seen) == ["[8, None]"]


REFUSED = (
    ("view.step = 12", "FreezerError", "there is no step 12: the trace has steps 0 to 11"),
    ("view.step = -1", "FreezerError", "there is no step -1: the trace has steps 0 to 11"),
    ("view.step = None", "FreezerError", "a view always shows one step: choose one of 0 to 11"),
    ("view.step = 'two'", "TraitError", "expected an int"),
    ("view.selected = 'nowhere'", "FreezerError", "no step has a node 'nowhere'"),
    ("view.state = {'step': 'two'}", "FreezerError", "there is no step 'two'"),
    (
        "view.state = {'tabs': 'ir'}",
        "FreezerError",
        "a view's state has no 'tabs': its keys are step, against, tab, node",
    ),
    ("viewer.show(trace, state={'stepp': 1})", "FreezerError", "a view's state has no 'stepp'"),
    (
        "view.state = {'tab': 'grpah'}",
        "FreezerError",
        "a view's tab cannot be 'grpah': it is one of summary, graph",
    ),
    (
        "view.state = {'tab': 'pairs'}",
        "FreezerError",
        "a view's tab cannot be 'pairs': it is one of summary, graph",
    ),
    ("view.state = {'panes': 'both'}", "FreezerError", "a view's panes cannot be 'both': it is one of split, before"),
    ("view.state = {'quiet': 'yes'}", "FreezerError", "a view's quiet cannot be 'yes': it is True or False"),
    ("view.state = {'fate': 'inlined'}", "FreezerError", "a view's fate cannot be 'inlined': it is a list of texts"),
    ("view.state = {'fate': ['kept']}", "FreezerError", "a view's fate cannot be 'kept': it is one of inlined, folded"),
    ("view.state = {'sort': 'size'}", "FreezerError", "a view's sort cannot be 'size': it is one of path, -path"),
    ("view.state = {'attribute': ['w']}", "FreezerError", "a view's attribute cannot be ['w']: the trace has no"),
    ("view.state = {'against': 12}", "FreezerError", "there is no step 12"),
    ("view.state = {'program': 7}", "FreezerError", "a view's program cannot be 7: the trace has"),
    ("view.state = {'kernel': True}", "FreezerError", "a view's kernel cannot be True: the program has"),
    ("view.state = {'node': 5}", "FreezerError", "no step has a node 5"),
    ("viewer.show(trace, step=99)", "FreezerError", "there is no step 99"),
    ("viewer.show(fe.load('empty.fztrace'), step=0)", "FreezerError", "there is no step 0: the trace has no steps"),
    ("viewer.show('small.fztrace')", "FreezerError", "show() takes a trace or a recording, not a str"),
    ("viewer.show(trace, height='tall')", "FreezerError", "height='tall' is not a height: give CSS pixels"),
    ("viewer.compare(trace, 'small.fztrace')", "FreezerError", "compare() takes a trace or a recording, not a str"),
    ("viewer.compare(trace, trace, step=12)", "FreezerError", "there is no step 12: the trace has steps 0 to 11"),
    ("viewer.compare(trace, trace).step = None", "FreezerError", "a view always shows one step: choose one of 0 to 11"),
    ("viewer.compare(trace, trace, state={'step': 24})", "FreezerError", "there is no step 24"),
    ("viewer.show(trace, height=0)", "FreezerError", "height=0 is not a height"),
    ("%%freeze_trace 1x\n1", "UsageError", "'1x' cannot be the name of a variable"),
    ("%%freeze_trace --shine\n1", "UsageError", "unrecognized arguments: --shine"),
)
WITHOUT_EXTRA = "sys.modules['anywidget'] = None\nviewer.show(trace)"


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What each cell of `REFUSED` raises, one after the other in one kernel, before anywidget is taken from it."""
    folder = tmp_path_factory.mktemp("refusals")
    fe.save(small_trace(), folder / "small.fztrace")
    fe.save(empty_trace(), folder / "empty.fztrace")
    forget = "import sys\nfor name in ('view', 'link'):\n    del sys.modules[f'viewer.notebook.{name}']"
    sources = [START, "view = viewer.show(trace)", *(code for code, *_ in REFUSED), forget, WITHOUT_EXTRA]
    ran = execute(notebook_of(*sources), folder, allow_errors=True)
    return {cell.source: _raised(cell.outputs) for cell in ran.cells}


@pytest.mark.parametrize(("code", "error", "message"), REFUSED)
def test_object_that_cannot_be_shown_is_refused(refusals: Any, code: str, error: str, message: str) -> None:
    raised, text = refusals[code]
    assert raised == error
    assert message in text


def test_the_missing_extra_is_named(refusals: Any) -> None:
    text = "viewer.show needs anywidget, which is not installed: pip install 'freezer-ui[notebook]'"
    assert refusals[WITHOUT_EXTRA] == ("FreezerError", text)


def test_outside_of_a_notebook_the_report_is_named() -> None:
    with pytest.raises(
        fe.FreezerError, match=r"no notebook's kernel runs this: .*write_report\(trace, 'report.html'\)"
    ):
        viewer.show(small_trace())
    with pytest.raises(fe.FreezerError, match=r"viewer.compare works in a notebook.*write_comparison\(first, second"):
        viewer.compare(small_trace(), small_trace())


def _raised(outputs: list[Any]) -> tuple[str, str]:
    for output in outputs:
        if output.output_type == "error":
            return output.ename, output.evalue
    # IPython prints a UsageError instead of raising it to the front end.
    text = "".join(output.get("text", "") for output in outputs)
    return text.partition(":")[0], text


def test_the_magic_records_and_changes_nothing_else(cells: Any) -> None:
    loaded, shown, kept, quiet, value, failed, partial, empty, silent = cells(
        "%load_ext freeze_engine\n%reload_ext freeze_engine",
        f"%%freeze_trace\n{FREEZES}",
        "_freezes, double(4), Net.__name__, type(frozen).__name__",
        f"%%freeze_trace mine --no-show\n{FREEZES}1 + 1",
        "mine",
        f"%%freeze_trace mine\n{FREEZES}torch.jit.freeze(frozen.train())",
        "mine",
        "%%freeze_trace mine\n3;",
        "mine",
    )
    trace = "<Trace of Net (torchscript)"
    assert loaded == []
    assert len(frames(shown)) == 1
    assert told(kept)[0].startswith(f"(({trace}")
    assert told(kept)[0].endswith("8,\n 'Net',\n 'RecursiveScriptModule')")
    assert told(quiet) == ["2"]
    assert told(value)[0].startswith(f"({trace}")
    assert told(failed)[0].startswith(trace)
    assert told(failed)[-1][0] == "RuntimeError"
    assert "eval" in told(failed)[-1][1]
    assert [frames([output]) != [] for output in failed] == [True] * (len(failed) - 1) + [False]
    assert told(partial)[0].startswith(f"({trace}")
    assert told(empty) == ["%%freeze_trace: nothing was frozen in this cell\n"]
    assert told(silent) == ["()"]


def test_only_measured_traces_bring_bokeh() -> None:
    steps = tuple(replace(step, latency=(), numerics=()) for step in small_trace().steps)
    heavy, light = (len(trace_html(trace)) for trace in (small_trace(), replace(small_trace(), steps=steps)))
    assert light < 250_000
    assert heavy - light > 400_000
