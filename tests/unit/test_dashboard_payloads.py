"""What the page loads of a trace: made once, and not kept for ever."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from tests.in_process import InProcess
from tests.loops import run
from viewer.charts.figures import chart_items
from viewer.dashboard.library import Library, recent_trace
from viewer.dashboard.payloads import Payload, Payloads, charts_payload, file_key, packed, trace_payload
from viewer.dashboard.server_info import Site
from viewer.dashboard.server_state import State
from viewer.page import comparison_data
from viewer.views import view_data
from viewer.views.graph_data import graph_data


def _payload(size: int = 1) -> Payload:
    return Payload(b"x" * size, ())


async def _made() -> Payload:
    return _payload()


def _saved(path: Path) -> Path:
    fe.save(small_trace(), path)
    return path


def test_a_payload_is_the_viewer_s_data(tmp_path: Path) -> None:
    trace = small_trace()
    fe.save(trace, tmp_path / "a.fztrace")
    payload = trace_payload(tmp_path / "a.fztrace")
    found = json.loads(gzip.decompress(payload.data))
    shown = json.loads(json.dumps({"view": view_data(trace), "graph": graph_data(trace), "charts": None}))
    assert found == shown
    assert payload.shown == (recent_trace(trace, tmp_path / "a.fztrace"),)


def test_the_charts_come_apart(tmp_path: Path) -> None:
    trace, path = small_trace(), tmp_path / "a.fztrace"
    fe.save(trace, path)
    one, two = (json.loads(gzip.decompress(charts_payload(paths).data)) for paths in ([path], [path, path]))
    assert one == json.loads(json.dumps({"charts": chart_items(trace)}))
    assert two == json.loads(json.dumps({"charts": comparison_data(trace, trace)["charts"]}))


def test_the_data_of_a_page_need_no_bokeh(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a.fztrace")
    code = """
import sys
from pathlib import Path
from viewer.dashboard.payloads import make_payload
for paths in ([Path(sys.argv[1])], [Path(sys.argv[1])] * 2):
    make_payload(paths)
print(sorted({"bokeh", "numpy", "panel"} & sys.modules.keys()))
"""
    found = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_packing_is_deterministic() -> None:
    assert packed({"a": "é"}) == packed({"a": "é"})


def test_a_payload_is_made_once() -> None:
    made: list[int] = []

    async def make() -> Payload:
        made.append(1)
        await asyncio.sleep(0)
        return _payload()

    async def scenario() -> list[Payload]:
        payloads = Payloads()
        both = await asyncio.gather(payloads.get(("a",), make), payloads.get(("a",), make))
        return [*both, await payloads.get(("a",), make)]

    assert run(scenario()) == [_payload()] * 3
    assert made == [1]


def test_failed_payload_is_tried_again() -> None:
    async def fail() -> Payload:
        raise ZeroDivisionError

    async def scenario() -> Payload:
        payloads = Payloads()
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await payloads.get(("a",), fail)
        return await payloads.get(("a",), _made)

    assert run(scenario()) == _payload()


def test_leaving_session_keeps_payloads_of_the_others() -> None:
    async def scenario() -> Payload:
        go_on = asyncio.Event()

        async def make() -> Payload:
            await go_on.wait()
            return _payload()

        payloads = Payloads()
        first = asyncio.create_task(payloads.get(("a",), make))
        await asyncio.sleep(0)
        second = asyncio.create_task(payloads.get(("a",), lambda: pytest.fail("made twice")))
        await asyncio.sleep(0)
        first.cancel()
        go_on.set()
        return await second

    assert run(scenario()) == _payload()


@pytest.mark.parametrize(("bounds", "size"), [({"max_entries": 2}, 1), ({"max_bytes": 20}, 10)])
def test_only_the_latest_are_kept(bounds: dict[str, Any], size: int) -> None:
    made: list[str] = []

    async def make(name: str) -> Payload:
        made.append(name)
        return _payload(size)

    async def scenario() -> None:
        payloads = Payloads(**bounds)
        for name in ("a", "b", "a", "c", "a", "b"):
            await payloads.get((name,), lambda name=name: make(name))  # type: ignore[misc]

    run(scenario())
    assert made == ["a", "b", "c", "b"]


def test_one_that_is_larger_than_all_is_kept_while_it_is_the_latest() -> None:
    made: list[int] = []

    async def make() -> Payload:
        made.append(1)
        return _payload(9)

    async def scenario() -> None:
        payloads = Payloads(max_bytes=1)
        for _ in range(2):
            await payloads.get(("a",), make)

    run(scenario())
    assert made == [1]


def test_a_file_that_changed_is_another(tmp_path: Path) -> None:
    path = tmp_path / "a.fztrace"

    async def scenario() -> list[str]:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), renderers=InProcess())
        names = []
        for trace in (small_trace(), failed_trace()):
            fe.save(trace, path)
            names.append(json.loads(gzip.decompress((await state.payload((path,))).data))["view"]["name"])
        return names

    assert run(scenario()) == [small_trace().name, failed_trace().name]


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(fe.FreezerError, match=r"There is no trace .*gone \(No such file or directory\)"):
        file_key(tmp_path / "gone")


def test_preparing_reports_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), renderers=InProcess())
        state.prepare((tmp_path / "gone",))
        await state.close()

    run(scenario())
    assert caplog.text == ""
