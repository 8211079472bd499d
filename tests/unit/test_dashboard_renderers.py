"""What is not the user's own is read in processes with limits: real ones, and the server goes on."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine import sweep
from tests.builders import small_trace
from tests.loops import run
from tests.sweeps import make_sweep, sweep_row
from viewer.dashboard.library import Library
from viewer.dashboard.payloads import MAKERS, Payload
from viewer.dashboard.preload import EarlyPayload
from viewer.dashboard.render_process import Limits, RenderProcess
from viewer.dashboard.renderers import Renderers
from viewer.dashboard.server_info import Site
from viewer.dashboard.server_state import State
from viewer.report import render_report
from viewer.sweep_page import sweep_data

MAIN = Path(__file__).parents[2]
#: Of address space: what the process itself needs, and hardly more.
TIGHT = 400 << 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fe.save(small_trace(), tmp_path / "a.fztrace")
    return tmp_path / "a.fztrace"


def _with(renderers: Callable[[], Renderers], use: Callable[[Renderers], Coroutine[Any, Any, Any]]) -> Any:
    """Runs something with renderers, and ends them; whatever they started is gone then."""

    async def scenario() -> Any:
        made = renderers()
        try:
            return await use(made)
        finally:
            processes = [*made._idle, *made._busy]
            await made.close()
            while made._busy:
                await asyncio.sleep(0.01)
            assert [process._process.returncode for process in processes if process._process.returncode is None] == []

    return run(scenario())


def test_a_renderer_makes_what_this_process_would(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.fztrace"
    fe.save(replace(small_trace(), name="Other"), other)
    folder = make_sweep(tmp_path / "small.sweep", sweep_row(), with_traces=False)

    async def use(renderers: Renderers) -> list[Payload]:
        jobs = [("payload", (path,)), ("payload", (path, other)), ("report", (path,)), ("entry", (other,))]
        jobs += [("sweep", (folder,)), ("sweep", (folder, folder))]
        return [await renderers.render(kind, paths) for kind, paths in jobs]  # type: ignore[arg-type]

    single, pair, report, entry, table, change = _with(Renderers, use)
    assert single == MAKERS["payload"]([path])
    assert pair == MAKERS["payload"]([path, other])
    assert report.data.decode() == render_report(small_trace())
    assert (entry.data, entry.shown[0].name) == (b"", "Other")
    found = sweep.read_sweep(folder)
    assert json.loads(gzip.decompress(table.data)) == json.loads(json.dumps(sweep_data(found)))
    assert json.loads(gzip.decompress(change.data)) == json.loads(json.dumps(sweep_data(found, found)))


@pytest.mark.parametrize("content", [None, b"no trace"])
def test_unreadable_trace_is_reported_and_the_renderer_continues(path: Path, content: bytes | None) -> None:
    bad = path.with_name("bad.fztrace")
    if content is not None:
        bad.write_bytes(content)

    async def use(renderers: Renderers) -> list[int]:
        pids = []
        for _ in range(2):
            with pytest.raises(fe.FreezerError, match=r"bad\.fztrace"):
                await renderers.render("payload", (bad,))
            await renderers.render("entry", (path,))
            pids.append(renderers._idle[0].pid)
        return pids

    first, second = _with(Renderers, use)
    assert first == second


def _unpacking_to_much() -> bytes:
    """Returns a whole trace file of 10 million lists, which take 600 MB once they are objects."""
    payload = b'{"columns":{},"tables":{"str":[' + b"[]," * 10_000_000 + b'[]]},"trace":[]}'
    packed = zlib.compress(payload, 9)
    head = fe.dumps(small_trace())[:12] + struct.pack(">QQ", len(packed), len(payload))
    return head + hashlib.sha256(head + packed).digest() + packed


def test_a_file_that_takes_too_much_memory_ends_its_process_only(path: Path, tmp_path: Path) -> None:
    huge = tmp_path / "huge.fztrace"
    huge.write_bytes(_unpacking_to_much())
    assert huge.stat().st_size < 1 << 20

    async def use(renderers: Renderers) -> Payload:
        for kind in ("entry", "payload", "report"):
            with pytest.raises(fe.FreezerError, match=r"huge\.fztrace"):
                await renderers.render(kind, (huge,))
        return await renderers.render("payload", (path,))

    assert _with(lambda: Renderers(Limits(memory_bytes=TIGHT)), use) == MAKERS["payload"]([path])


# Processes that do what the test says in place of reading a trace; the rest is the renderer as it is.
CHILD = """
import os, signal, sys, time
import viewer.dashboard.render_child as child
def act(paths):
    what = paths[0].name
    if what == "memory":
        kept = bytearray(8 << 30)
    if what == "time":
        while True:
            pass
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "exit":
        os._exit(3)
    if what == "fault":
        raise KeyError("a fault")
    if what == "held":
        time.sleep(600)
    print("this is not an answer", flush=True)
    return made(paths)
made = child.MAKERS["entry"]
child.MAKERS = {"entry": act}
child._WARM = ()
"""


@pytest.fixture
def acting(monkeypatch: pytest.MonkeyPatch) -> None:
    import viewer.dashboard.render_process as module

    boot = module._BOOT.replace("from viewer.dashboard.render_child import main", f"exec({CHILD!r}); main = child.main")
    monkeypatch.setattr(module, "_BOOT", boot)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("memory", r"/memory: unpacks to more than 2 GiB, the limit for the dashboard; freezer-ui stats and"),
        ("time", r"/time: takes more than 1 s, the limit for the dashboard; freezer-ui stats"),
        ("killed", r"/killed: the process that read it ended \(signal 9\)\. Try again; if it ends again, freezer-ui"),
        ("exit", r"/exit: the process that read it ended \(exit code 3\)"),
    ],
)
@pytest.mark.usefixtures("acting")
def test_whatever_a_file_does_the_next_one_opens(path: Path, what: str, words: str) -> None:
    async def use(renderers: Renderers) -> Payload:
        bad = asyncio.create_task(renderers.render("entry", (Path("/", what),)))
        assert (await renderers.render("entry", (path,))).shown[0].name == small_trace().name  # meanwhile
        with pytest.raises(fe.FreezerError, match=words):
            await bad
        return await renderers.render("entry", (path,))

    assert _with(lambda: Renderers(Limits(cpu_s=1)), use) == MAKERS["entry"]([path])


@pytest.mark.usefixtures("acting")
def test_internal_error_is_not_blamed_on_the_file(path: Path) -> None:
    async def use(renderers: Renderers) -> None:
        with pytest.raises(RuntimeError, match="KeyError: 'a fault'"):
            await renderers.render("entry", (Path("/fault"),))
        await renderers.render("entry", (path,))

    _with(Renderers, use)


@pytest.mark.usefixtures("acting")
def test_one_that_takes_too_long_by_the_clock_is_ended(path: Path) -> None:
    async def use(renderers: Renderers) -> None:
        with pytest.raises(fe.FreezerError, match=r"/held: takes more than 0\.5 s"):
            await renderers.render("entry", (Path("/held"),))

    _with(lambda: Renderers(Limits(wait_s=0.5)), use)


@pytest.mark.usefixtures("acting")
def test_closing_ends_what_is_under_way() -> None:
    async def use(renderers: Renderers) -> None:
        held = await _hold_entry(renderers)
        await renderers.close()
        with pytest.raises(fe.FreezerError, match=r"/held: the process that read it ended"):
            await held
        with pytest.raises(fe.FreezerError, match="The server is ending"):
            await renderers.render("entry", (Path("/held"),))

    _with(Renderers, use)


async def _hold_entry(renderers: Renderers) -> asyncio.Task[Payload]:
    task = asyncio.create_task(renderers.render("entry", (Path("/held"),)))
    while not renderers._busy:
        await asyncio.sleep(0.01)
    return task


@pytest.mark.usefixtures("acting")
def test_more_jobs_than_processes_take_turns(path: Path) -> None:
    async def use(renderers: Renderers) -> int:
        await asyncio.gather(*(renderers.render("entry", (path,)) for _ in range(8)))
        return len(renderers._idle)

    assert _with(lambda: Renderers(most=2), use) <= 2


def test_a_report_is_made_once_for_all_that_ask(path: Path, tmp_path: Path) -> None:
    made: list[str] = []

    class Counting(Renderers):
        async def render(self, kind: Any, paths: Any) -> Payload:
            made.append(kind)
            return await super().render(kind, paths)

    async def use(renderers: Renderers) -> None:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), renderers=renderers)
        reports = await asyncio.gather(*(state.rendered("report", (path,)) for _ in range(3)))
        assert len({id(report) for report in reports}) == 1
        assert await state.rendered("report", (path,)) is reports[0]
        fe.save(replace(small_trace(), name="Later"), path)
        assert b"Later" in (await state.rendered("report", (path,))).data

    _with(Counting, use)
    assert made == ["report", "report"]


# --- what is made early


def test_prepared_payload_is_reused(path: Path) -> None:
    async def use(renderers: Renderers) -> Payload:
        with EarlyPayload((path,)) as early:
            process = early.take()
            assert process is not None
            renderers.adopt("payload", (path,), process)
            renderers.warm()  # there is one already
            made = await renderers.render("payload", (path,))
        assert [each.pid for each in renderers._idle] == [process.pid]
        return made

    assert _with(Renderers, use) == MAKERS["payload"]([path])


def test_a_file_that_changes_meanwhile_is_read_again(path: Path) -> None:
    with EarlyPayload((path,)) as early:
        fe.save(replace(small_trace(), name="Later"), path)
        assert early.take() is None


def test_nothing_is_made_early_of_nothing(tmp_path: Path) -> None:
    for paths in ((), (tmp_path / "gone",)):
        with EarlyPayload(paths) as early:
            assert early.take() is None


def test_leaving_early_ends_what_is_being_made(path: Path) -> None:
    with EarlyPayload((path,)) as early:
        process = early._process
        assert process is not None
    assert process._process.returncode is not None


# --- no process stays

_SERVER = """
import time
from pathlib import Path

import viewer.dashboard.render_process as module

acting = "import viewer.dashboard.render_child as child, time; child.MAKERS = {'entry': lambda paths: time.sleep(600)}"
module._BOOT = module._BOOT.replace("import main", f"import main; {acting}")
idle, busy = module.RenderProcess(module.Limits()), module.RenderProcess(module.Limits())
busy.send("entry", [Path("x")])
print(idle.pid, busy.pid, flush=True)
time.sleep(600)
"""


def test_no_process_outlives_a_server_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, cwd=MAIN) as server:
        assert server.stdout is not None
        pids = [int(word) for word in server.stdout.readline().split()]
        assert len(pids) == 2
        server.kill()
    deadline_s = time.monotonic() + 300
    while any(_lives(pid) for pid in pids):
        assert time.monotonic() < deadline_s, pids
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_that_does_nothing_gives_way_and_heeds_no_interrupt(path: Path) -> None:
    async def use(renderers: Renderers) -> None:
        renderers.warm()
        [process] = renderers._idle
        assert os.getpriority(os.PRIO_PROCESS, process.pid) > os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getsid(process.pid) == process.pid
        os.kill(process.pid, signal.SIGKILL)
        process._process.wait()
        await renderers.render("entry", (path,))  # another one is started
        assert process not in renderers._idle

    _with(Renderers, use)


def test_a_job_can_be_sent_to_a_process_that_has_ended() -> None:
    process = RenderProcess(Limits())
    process.kill()
    process._process.wait()
    process.send("entry", (Path("/x"),))
    with pytest.raises(fe.FreezerError, match=r"/x: the process that read it ended \(signal 9\)"):
        process.receive((Path("/x"),))
    process.close()
