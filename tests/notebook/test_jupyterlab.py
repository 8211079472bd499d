"""JupyterLab itself: run, click, see the Python side change, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Frame, Page, expect

import freeze_engine as fe
from tests.builders import small_trace
from tests.notebook.kernels import Kernel, notebook_of, until, write_notebook
from tests.notebook.lab import Lab, views

SHOWS = (
    "import freeze_engine as fe\nimport viewer\n\ntrace = fe.load('small.fztrace')",
    "view = viewer.show(trace, step=4)",
    "seen = []\nview.observe(lambda change: seen.append(change['new']), names='step')",
    "view",
)
OPENED = "globalThis.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
Opener = Callable[..., Page]


KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def served(lab: Lab, name: str, *sources: str) -> None:
    fe.save(small_trace(), lab.folder / "small.fztrace")
    write_notebook(notebook_of(*sources, kernelspec=KERNEL), lab.folder / name)


def command(page: Page, name: str, **arguments: str) -> None:
    """Runs one of JupyterLab's own commands to its end."""
    page.evaluate("([name, given]) => jupyterapp.commands.execute(name, given).then(() => null)", [name, arguments])


@pytest.fixture
def open_notebook(lab: Lab, page: Page) -> Opener:
    def opened(name: str) -> Page:
        page.goto(f"{lab.url}lab/tree/{name}?token={lab.token}&reset")
        until(lambda: page.evaluate(OPENED), "the notebook's kernel")
        return page

    return opened


@pytest.fixture
def kernel_of(lab: Lab) -> Iterator[Callable[[set[Any]], Kernel]]:
    clients: list[Kernel] = []

    def started_since(earlier: set[Any]) -> Kernel:
        (connection,) = lab.kernels() - earlier
        clients.append(Kernel(connection))
        return clients[-1]

    yield started_since
    for client in clients:
        client.close()


def step_of(frame: Frame) -> Any:
    return frame.evaluate("viewer.state().step")


def test_the_page_and_python_move_each_other(lab: Lab, open_notebook: Opener, kernel_of: Any) -> None:
    served(lab, "linked.ipynb", *SHOWS)
    earlier = lab.kernels()
    page = open_notebook("linked.ipynb")
    kernel = kernel_of(earlier)
    command(page, "notebook:run-all-cells")
    until(lambda: page.locator("iframe.freeze-frame").count() == 2, "both outputs")
    first, second = views(page)
    assert [step_of(first), step_of(second), kernel.value("view.step")] == [4, 4, 4]

    # A click moves Python, and the other place that shows the same view.
    first.get_by_role("option").filter(has_text="ConstantPropagation").click()
    until(lambda: kernel.value("view.step") == 6, "Python follows a click")
    until(lambda: step_of(second) == 6, "the other output follows a click")
    assert kernel.value("seen") == [6]
    first.evaluate("viewer.select('yes')")
    until(lambda: kernel.value("view.selected") == "yes", "Python sees what is selected")
    until(lambda: kernel.value("view.state['tab']") == "graph", "Python sees the whole state")

    # Python moves the page.
    kernel.run("view.step = 8")
    for frame in (first, second):
        until(lambda frame=frame: step_of(frame) == 8, "the page follows Python")  # type: ignore[misc]
        expect(frame.locator("[role=option][aria-selected=true]")).to_contain_text("FoldFrozenConvBatchnorm")
    kernel.run("view.selected = None")
    until(lambda: first.evaluate("viewer.state().node") is None, "nothing is selected any more")
    kernel.run("view.state = {'tab': 'attributes', 'step': 8}")
    expect(first.get_by_role("tab", name="Attributes")).to_have_attribute("aria-selected", "true")

    # What the trace does not have is refused, and nothing moves.
    reply = kernel.run("view.step = 99")
    assert (reply["ename"], reply["evalue"]) == ("FreezerError", "there is no step 99: the trace has steps 0 to 11")
    reply = kernel.run("view.selected = 'nowhere'")
    assert reply["evalue"] == "no step has a node 'nowhere': select one by its id (node.id), or a module by its path"
    assert kernel.value("view.step") == step_of(first) == 8

    # The link outlives the page, and the view outlives the kernel.
    command(page, "docmanager:save")
    page.reload()
    until(lambda: page.evaluate(OPENED), "the notebook's kernel")
    until(lambda: page.locator("iframe.freeze-frame").count() == 2, "both outputs")
    first, second = views(page)
    until(lambda: step_of(first) == step_of(second) == 8, "the reloaded page is where Python is")
    second.evaluate("viewer.setStep(2)")
    until(lambda: kernel.value("view.step") == 2, "Python follows the reloaded page")

    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    until(lambda: page.evaluate("!jupyterapp.shell.currentWidget.sessionContext.session"), "the kernel's end")
    first.get_by_role("option").filter(has_text="AttributePropagation").first.click()
    assert step_of(first) == 4


def test_two_traces_move_with_python(lab: Lab, open_notebook: Opener, kernel_of: Any) -> None:
    other = "from dataclasses import replace\nother = replace(trace, name='other', steps=trace.steps[:-1])"
    served(lab, "compared.ipynb", SHOWS[0], other, "view = viewer.compare(trace, other)")
    earlier = lab.kernels()
    page = open_notebook("compared.ipynb")
    kernel = kernel_of(earlier)
    command(page, "notebook:run-all-cells")
    until(lambda: page.locator("iframe.freeze-frame").count() == 1, "the output")
    (frame,) = views(page)
    state = "({step, against}) => [against, step]"
    shown = lambda: frame.evaluate(f"({state})(viewer.state())")  # noqa: E731
    until(lambda: shown() == [11, 17], "the page opens at the first difference")
    until(lambda: kernel.value("view.state.get('against')") == 11, "Python learns what it is compared with")
    kernel.run("view.step = 8")
    until(lambda: shown() == [8, 20], "the page follows Python")
    frame.get_by_role("option").filter(has_text="ConstantPropagation").first.click()
    until(lambda: kernel.value("view.step") == 6, "Python follows a click")
    assert shown() == [6, 18]
    kernel.run("view.step = 2")
    until(lambda: shown() == [2, 14], "the page follows Python again")


def test_the_view_follows_the_theme(lab: Lab, open_notebook: Opener) -> None:
    served(lab, "themed.ipynb", *SHOWS[:2])
    page = open_notebook("themed.ipynb")
    command(page, "notebook:run-all-cells")
    (frame,) = views(page)
    assert frame.evaluate("viewer.theme()") == "light"
    command(page, "apputils:change-theme", theme="JupyterLab Dark")
    until(lambda: frame.evaluate("viewer.theme()") == "dark", "the view turns dark")
    command(page, "apputils:change-theme", theme="JupyterLab Light")
    until(lambda: frame.evaluate("viewer.theme()") == "light", "the view turns light again")


def test_a_notebook_that_is_not_trusted_shows_the_summary(lab: Lab, open_notebook: Opener) -> None:
    from nbformat.v4 import new_output

    from viewer.notebook import trace_html

    notebook = notebook_of("trace", kernelspec=KERNEL)
    notebook.cells[0].outputs = [new_output("display_data", {"text/html": trace_html(small_trace())})]
    write_notebook(notebook, lab.folder / "foreign.ipynb")
    page = open_notebook("foreign.ipynb")
    expect(page.locator(".jp-OutputArea-output")).to_contain_text("FoldFrozenConvBatchnorm")
    expect(page.locator(".jp-OutputArea-output table").first).to_be_visible()
    assert page.locator("iframe.freeze-frame").count() == 0
