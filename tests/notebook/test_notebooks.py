"""Every notebook runs, in a folder of its own, in a real kernel."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import freeze_engine as fe

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
ROOT = NOTEBOOKS.parent


def run(path: Path, folder: Path) -> Any:
    """Returns the notebook as it is after all of its cells have run in ``folder``."""
    notebook = nbformat.read(shutil.copy(path, folder), as_version=4)
    environment = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTHONPATH": str(ROOT)}
    client = NotebookClient(notebook, timeout=280, resources={"metadata": {"path": str(folder)}})
    return client.execute(env=environment)


def html_of(cell: Any) -> str:
    """The HTML that a cell shows."""
    return "".join(output["data"]["text/html"] for output in cell.outputs if "text/html" in output.get("data", {}))


def text_of(cell: Any) -> str:
    """What a cell prints, and the text of its value."""
    return "".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)


def _cell(notebook: Any, text: str) -> Any:
    return next(cell for cell in notebook.cells if cell.cell_type == "code" and text in cell.source)


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("quickstart")
    return run(NOTEBOOKS / "quickstart.ipynb", folder), folder


def test_every_notebook_is_tested() -> None:
    assert [path.name for path in sorted(NOTEBOOKS.glob("*.ipynb"))] == ["quickstart.ipynb"]


def test_committed_notebooks_hold_no_outputs() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path


def test_a_recording_shows_itself(quickstart: tuple[Any, Path]) -> None:
    notebook, _ = quickstart
    recorded, captured = (html_of(_cell(notebook, text)) for text in ('fe.record("example:resnet18', "fe.capture()"))
    assert "FoldFrozenConvBatchnorm" in recorded
    assert "resnet18" in recorded
    assert "Sequential" in captured


def test_the_attributes_that_stay_are_explained(quickstart: tuple[Any, Path]) -> None:
    notebook, _ = quickstart
    told = text_of(_cell(notebook, "example:counter"))
    counter = fe.load_model("example:counter")
    kept = [fate for fate in fe.record(counter.module, measure=None).trace.attributes if fate.fate == "preserved"]
    assert kept
    for fate in kept:
        assert f"{fate.path}: {fate.reason}" in told


def test_what_the_notebook_saves_opens(quickstart: tuple[Any, Path]) -> None:
    notebook, folder = quickstart
    assert text_of(_cell(notebook, "fe.load(")) == "True"
    assert fe.load(folder / "resnet18.fztrace").name == "resnet18"
    assert (folder / "resnet18.html").read_text(encoding="utf-8").startswith("<!doctype html>")
