"""Every notebook runs, in a folder of its own, in a real kernel, and tells what it promises."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from tests.notebook.kernels import ROOT, execute, notebook_of, read_notebook

NOTEBOOKS = ROOT / "notebooks"
TESTED = ("inductor", "quickstart", "which_pass_moved_the_numbers", "why_not_frozen")

#: Nothing in these pages depends on how long it measures.
BRIEF_S = 0.5
BRIEFLY = (
    f"import freeze_engine; freeze_engine.record.__kwdefaults__['measure'] = freeze_engine.Measure(seconds={BRIEF_S})"
)

Ran = Callable[[str], tuple[Any, Path]]


def run(path: Path, folder: Path) -> Any:
    """Returns one of the notebooks after all of its cells have run in ``folder``; they measure briefly."""
    notebook = read_notebook(shutil.copy(path, folder))
    for cell in notebook.cells:
        cell.source = re.sub(r"\bseconds=[\d.]+", f"seconds={BRIEF_S}", cell.source)
    return execute(notebook, folder)


def html_of(cell: Any) -> str:
    """The HTML that a cell shows."""
    return "".join(output["data"]["text/html"] for output in cell.outputs if "text/html" in output.get("data", {}))


def text_of(cell: Any) -> str:
    """What a cell prints, and the text of its value."""
    return "".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)


def _cell(notebook: Any, text: str) -> Any:
    return next(cell for cell in notebook.cells if cell.cell_type == "code" and text in cell.source)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Any, Path]]:
    """Runs each notebook once, and gives it with the folder it ran in."""

    @cache
    def notebook(name: str) -> tuple[Any, Path]:
        folder = tmp_path_factory.mktemp(name)
        return run(NOTEBOOKS / f"{name}.ipynb", folder), folder

    return notebook


def test_every_notebook_is_tested() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(TESTED)


def test_committed_notebooks_hold_no_outputs() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = read_notebook(path).cells
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path


@pytest.mark.parametrize("name", TESTED)
def test_a_notebook_runs_without_a_warning(ran: Ran, name: str) -> None:
    notebook, _ = ran(name)
    warned = [out.text for cell in notebook.cells for out in cell.get("outputs", ()) if out.get("name") == "stderr"]
    assert warned == []


def test_quickstart_shows_recordings(ran: Ran) -> None:
    notebook, _ = ran("quickstart")
    shown = {
        text: html_of(_cell(notebook, text)) for text in ('fe.record("example:resnet18', "show(", "%%freeze_trace")
    }
    assert all(html.count("<iframe") == 1 for html in shown.values())
    assert "Sequential" in shown["%%freeze_trace"]
    assert text_of(_cell(notebook, "view.selected =")) == "(15, '32')"
    assert text_of(_cell(notebook, "view.observe")).startswith("now at <Step 0: input")


def test_quickstart_explains_the_attributes_that_stay(ran: Ran) -> None:
    notebook, _ = ran("quickstart")
    told = text_of(_cell(notebook, "example:counter"))
    counter = fe.load_model("example:counter")
    kept = [fate for fate in fe.record(counter.module, measure=None).trace.attributes if fate.fate == "preserved"]
    assert kept
    for fate in kept:
        assert f"{fate.path}: {fate.reason}" in told


def test_trace_saved_by_quickstart_opens(ran: Ran) -> None:
    notebook, folder = ran("quickstart")
    assert text_of(_cell(notebook, "fe.load(")) == "True"
    assert fe.load(folder / "resnet18.fztrace").name == "resnet18"
    assert (folder / "resnet18.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_buffer_that_stays_is_followed_to_its_line_and_frozen(ran: Ran) -> None:
    notebook, _ = ran("why_not_frozen")
    assert text_of(_cell(notebook, "cache.reason")).startswith("preserved because mutated_in_place")
    assert "cache.1 = prim::GetAttr" in text_of(_cell(notebook, "write.chain"))
    assert text_of(_cell(notebook, "view.state =")) == "(1, '13')"
    marked = [line for line in text_of(_cell(notebook, "trace.sources")).splitlines() if line.startswith("→")]
    assert [line.split(maxsplit=2)[2] for line in marked] == ["last.copy_(y)"]
    assert text_of(_cell(notebook, "fe.diff_traces")) == "cache: preserved → folded\n"


def test_the_pass_that_moved_the_numbers_is_found_and_left_out(ran: Ran) -> None:
    notebook, _ = ran("which_pass_moved_the_numbers")
    assert "FoldFrozenConvBatchnorm of forward" in text_of(_cell(notebook, "moved = next"))
    assert text_of(_cell(notebook, "rewrite.modules")).startswith("conv_bn of conv and bn\n")
    assert text_of(_cell(notebook, "optimize_numerics=False")).startswith("tensor(0.")
    assert "conv.weight: folded → inlined" in text_of(_cell(notebook, "fe.diff_traces"))


def test_the_story_of_one_compile(ran: Ran) -> None:
    notebook, _ = ran("inductor")
    assert text_of(_cell(notebook, "fe.capture()")).startswith("(<Trace of Classifier (inductor)")
    passes = text_of(_cell(notebook, "if step.changed:"))
    stages = ("layout             convert_conv_weights", "inline_parameters  replace_params", "binary_folding, round 1")
    assert [stage for stage in stages if stage not in passes] == []
    assert text_of(_cell(notebook, "layout.log")).startswith("channels last: yes\n2 convolutions on the CPU")
    fates = [line.split() for line in text_of(_cell(notebook, "fate.path:24")).splitlines()]
    assert ["stem.weight", "folded"] in fates
    assert ["seen", "preserved", "mutated_input"] in fates
    assert "self.seen += x.shape[0]" in text_of(_cell(notebook, "seen.evidence"))
    told = text_of(_cell(notebook, "for baseline in")).splitlines()
    assert [line.partition("  ")[0] for line in told] == [
        "eager",
        "compiled",
        "compiled with freezing",
        "TorchScript frozen",
        "TorchScript optimized for inference",
    ]
    assert all("µs (" in line and "error " in line for line in told)


def test_one_compile_is_held_against_others(ran: Ran) -> None:
    notebook, _ = ran("inductor")
    kernels = text_of(_cell(notebook, "program.kernels")).splitlines()
    assert {"compiled", "compiled with freezing"} <= set(kernels)
    assert html_of(_cell(notebook, "viewer.compare")).count("<iframe") == 1
    fates = [line.split() for line in text_of(_cell(notebook, "script.attribute")).splitlines()]
    assert ["stem.weight", "folded", "folded"] in fates
    assert [row[0] for row in fates if "preserved" in row] == ["seen"]
    assert "make parameters constants\n    TorchScript: " in text_of(_cell(notebook, "fe.diff_traces"))
    assert text_of(_cell(notebook, "trace.checks")).startswith("passed\n")
    followed = text_of(_cell(notebook, "compiled follows"))
    assert followed == "eager follows:    True\ncompiled follows: False\n"


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_the_readme_and_the_guide_run_in_a_notebook(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```i?python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ran = execute(notebook_of(BRIEFLY, *blocks, "print(view)"), tmp_path)
    assert text_of(ran.cells[-1]) == "<View of Sequential, step 3>\n"
