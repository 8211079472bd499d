"""The browser that the command starts: what others can read of it opens nothing, and the printed link stays good."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.dashboard import ROOT, RunningServer

TOKEN = "the-token-that-the-user-has-set"
# Stands for a browser: writes down what it was started with, and goes on running, as a browser does.
_BROWSER = """#!{python}
import json, os, pathlib, sys, time
told = {{"pid": os.getpid(), "words": sys.argv, "environment": dict(os.environ)}}
scratch = pathlib.Path({told!r} + ".part")
scratch.write_text(json.dumps(told))
scratch.rename({told!r})
while pathlib.Path({told!r}).exists():
    time.sleep(0.05)
"""

# The command, with a launch link that is good for as long as a busy machine may take to use it.
_COMMAND = (
    "import viewer.dashboard.entrances as e; e.LAUNCH_S = 3600; from viewer.cli import main; raise SystemExit(main())"
)


@dataclass
class Launched:
    """A server that started a browser."""

    server: RunningServer
    told: dict[str, object]
    note: Path

    @property
    def link(self) -> str:
        words = self.told["words"]
        assert isinstance(words, list)
        return str(words[1])

    def close_browser(self) -> None:
        self.note.unlink(missing_ok=True)

    @property
    def target(self) -> str:
        parts = urlsplit(self.link)
        return f"{parts.path}?{parts.query}"


def _until(holds: Callable[[], bool], limit_s: float = 600) -> None:
    deadline_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline_s, "it takes too long"
        time.sleep(0.05)


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    browser, told = tmp_path / "browser", tmp_path / "told.json"
    browser.write_text(_BROWSER.format(python=sys.executable, told=str(told)))
    browser.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-W", "error::ResourceWarning", "-c", _COMMAND],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "BROWSER": f"{browser} %s", "FREEZER_UI_TOKEN": TOKEN}
        | {"XDG_DATA_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        _until(told.exists)
        yield Launched(RunningServer(process, link, tmp_path), json.loads(told.read_text()), told)
    finally:
        told.unlink(missing_ok=True)
        process.terminate()
        process.communicate(timeout=300)


def test_secrets_readable_in_the_browser_process_open_nothing(launched: Launched) -> None:
    server = launched.server
    assert "FREEZER_UI_TOKEN" not in launched.told["environment"]
    entered = server.ask(launched.target)
    cookie = {"Cookie": entered.headers["Set-Cookie"].partition(";")[0]}
    assert (entered.status, entered.headers["Location"]) == (303, "/")
    assert server.ask("/", cookie).status == 200
    readable = b"".join(
        path.read_bytes()
        for process in (launched.told["pid"], server.process.pid)
        for path in (Path(f"/proc/{process}/cmdline"),)
    )
    readable += Path(f"/proc/{launched.told['pid']}/environ").read_bytes()
    assert TOKEN.encode() not in readable
    [launch] = parse_qs(urlsplit(launched.link).query)["launch"]
    assert launch.encode() in readable
    assert server.ask(f"/?token={launch}").status == 403
    assert cookie["Cookie"].partition("=")[2].encode() not in readable

    repeated = server.ask(launched.target, cookie)  # such as by the browser's history
    assert (repeated.status, server.ask("/", cookie).status) == (303, 200)

    stolen = server.ask(launched.target, {"Accept": "text/html"})
    assert (stolen.status, stolen.headers["Set-Cookie"]) == (403, None)
    assert "has been used already" in stolen.body.decode()
    shut_out = server.ask("/", {**cookie, "Accept": "text/html"})
    assert shut_out.status == 403
    assert "used a second time" in shut_out.body.decode()
    assert server.ask("/", server.cookie).status == 200  # the printed link

    server.ask(f"/?token={TOKEN}%ff")
    server.ask(f"/assets/x?token={TOKEN}")
    launched.close_browser()  # it holds the server's standard error, too
    code, told = server.ended()
    assert (code, told.count("was used a second time")) == (0, 1)
    assert not any(secret in told for secret in (TOKEN, launch, cookie["Cookie"].partition("=")[2]))
