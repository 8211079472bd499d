"""The three viewers: how each is started, and how its page says what it shows."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from playwright.sync_api import Page

import freeze_engine as fe
from tests.dashboard import running_server
from viewer.report import write_report

_STARTS_S = 120.0


@dataclass(frozen=True, slots=True)
class Viewer:
    """One viewer.

    Attributes:
        name: as the table has it.
        serve: opens the server of a model in a folder and yields the page's address; the other argument is the folder
            with the programs of the environment.
        shows: JavaScript condition: the first picture is made.
        opens: JavaScript that starts to open everything; empty where everything is open from the start.
        opened: JavaScript condition: everything is open.
        boxes: JavaScript number of the boxes in the picture; empty where the page does not say it.
        prepare: changes the page before it is loaded.
    """

    name: str
    serve: Callable[[str, Path, Path], object]
    shows: str
    opens: str = ""
    opened: str = ""
    boxes: str = ""
    prepare: Callable[[Page, str], None] = lambda page, address: None


@contextmanager
def _freezer(name: str, folder: Path, programs: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as home:
        trace = Path(home) / f"{name}.fztrace"
        shutil.copy(folder / trace.name, trace)
        with running_server(Path(home)) as server:
            server.page_id()  # Panel is loaded, as after the first page of a working day
            yield f"{server.link}&{urlencode({'trace': str(trace)})}"


@contextmanager
def _report(name: str, folder: Path, programs: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as home:
        report = Path(home) / f"{name}.html"
        write_report(fe.load(folder / f"{name}.fztrace"), report)
        yield report.as_uri()


@contextmanager
def _netron(name: str, folder: Path, programs: Path) -> Iterator[str]:
    port = _free_port()
    code = "import netron, sys, threading; netron.start(sys.argv[1], ('127.0.0.1', int(sys.argv[2])), browse=False); "
    words = [str(programs / "python"), "-c", code + "threading.Event().wait()", str(folder / f"{name}.pt"), str(port)]
    with _running(words, port):
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def _model_explorer(name: str, folder: Path, programs: Path) -> Iterator[str]:
    port = _free_port()
    words = [str(programs / "model-explorer"), "--no_open_in_browser", "--skip_health_check", "--host", "127.0.0.1"]
    data = {"models": [{"url": str(folder / f"{name}.json")}], "nodeData": [], "nodeDataTargets": []}
    with _running([*words, "--port", str(port)], port):
        yield f"http://127.0.0.1:{port}/?data={quote(json.dumps(data))}&renderer=webgl&show_open_in_new_tab=0"


@contextmanager
def _running(words: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        ends_s = time.monotonic() + _STARTS_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > ends_s:
                    raise
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _without_questions(page: Page, address: str) -> None:
    """Answers Netron's question for consent, and says that it is new: it shows nothing once it is half a year old."""

    def renewed(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        text = re.sub(r'(<meta name="date" content=")[^"]*', lambda found: found[1] + now, answer.text())
        route.fulfill(response=answer, body=text)  # type: ignore[attr-defined]

    page.route(address, renewed)
    page.context.add_cookies([{"name": "consent", "value": str(int(time.time() * 1000)), "url": address}])


_VIEW = "bench.dashboard?.page?.viewer?.panels.get('graph')?.view"
_REPORT_VIEW = "viewer.panels.get('graph').view"
_CANVAS = "document.querySelector('webgl-renderer canvas, model-graph-visualizer canvas')"
_OPENS = "{view}.groups.expandAll().then(() => {{ globalThis.isOpen = true }})"
_BOXES = "{view}.picture.scene.items.length - 1"
VIEWERS = {
    "freezer-ui": Viewer(
        "freezer-ui",
        _freezer,
        shows="bench.marks.painted",
        opens=_OPENS.format(view=_VIEW.replace("?.", ".")),
        opened="globalThis.isOpen",
        boxes=_BOXES.format(view=_VIEW),
    ),
    "its report": Viewer(
        "its report",
        _report,
        shows="globalThis.viewer?.panels && (viewer.state.tab === 'graph' || viewer.navigate({ tab: 'graph' }), "
        "viewer.panels.get('graph')?.view?.picture)",
        opens=_OPENS.format(view=_REPORT_VIEW),
        opened="globalThis.isOpen",
        boxes=_BOXES.format(view=_REPORT_VIEW),
    ),
    "Netron": Viewer(
        "Netron",
        _netron,
        shows="document.body?.classList.contains('default') && document.querySelector('.node-item')",
        boxes="document.querySelectorAll('.node-item').length",
        prepare=_without_questions,
    ),
    "Model Explorer": Viewer(
        "Model Explorer",
        _model_explorer,
        shows=f"{_CANVAS} && !document.querySelector('mat-spinner')",
        opens="[...document.querySelectorAll('mat-icon')].find((one) => one.innerText === 'unfold_more_double')"
        ".parentElement.click()",
        opened="!document.querySelector('mat-spinner')",
    ),
}
