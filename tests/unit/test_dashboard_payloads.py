"""What the page loads of a trace: made once, off the loop, and not kept for ever."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from tests.loops import run
from viewer.charts import chart_items
from viewer.dashboard.early import EarlyPayload
from viewer.dashboard.library import Library, recent_trace
from viewer.dashboard.payloads import Payload, Payloads, file_key, make_payload, packed, trace_payload
from viewer.dashboard.site import Site
from viewer.dashboard.state import State
from viewer.graph_data import graph_data
from viewer.view_models import view_data


def _payload(size: int = 1) -> Payload:
    return Payload(b"x" * size, ())


def _saved(path: Path) -> Path:
    fe.save(small_trace(), path)
    return path


def test_a_payload_is_the_viewer_s_data(tmp_path: Path) -> None:
    trace = small_trace()
    fe.save(trace, tmp_path / "a.fztrace")
    payload = trace_payload(tmp_path / "a.fztrace")
    found = json.loads(gzip.decompress(payload.data))
    shown = json.loads(json.dumps({"view": view_data(trace), "graph": graph_data(trace), "charts": chart_items(trace)}))
    assert found == shown
    assert payload.shown == (recent_trace(trace, tmp_path / "a.fztrace"),)


def test_packing_is_deterministic() -> None:
    assert packed({"a": "é"}) == packed({"a": "é"})


def test_a_payload_is_made_once_and_off_the_loop() -> None:
    threads: list[int] = []

    def make() -> Payload:
        threads.append(threading.get_ident())
        return _payload()

    async def scenario() -> list[Payload]:
        payloads = Payloads()
        both = await asyncio.gather(payloads.get(("a",), make), payloads.get(("a",), make))
        return [*both, await payloads.get(("a",), make)]

    assert run(scenario()) == [_payload()] * 3
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


def test_what_failed_is_tried_again() -> None:
    async def scenario() -> Payload:
        payloads = Payloads()
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await payloads.get(("a",), lambda: 1 / 0)  # type: ignore[arg-type,return-value]
        return await payloads.get(("a",), _payload)

    assert run(scenario()) == _payload()


def test_who_goes_away_takes_nothing_from_the_others() -> None:
    go_on = threading.Event()

    def make() -> Payload:
        go_on.wait(10)
        return _payload()

    async def scenario() -> Payload:
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

    async def scenario() -> None:
        payloads = Payloads(**bounds)
        for name in ("a", "b", "a", "c", "a", "b"):
            await payloads.get((name,), lambda name=name: made.append(name) or _payload(size))  # type: ignore[misc,func-returns-value]

    run(scenario())
    assert made == ["a", "b", "c", "b"]


def test_one_that_is_larger_than_all_is_kept_while_it_is_the_latest() -> None:
    made: list[int] = []

    async def scenario() -> None:
        payloads = Payloads(max_bytes=1)
        for _ in range(2):
            await payloads.get(("a",), lambda: made.append(1) or _payload(9))  # type: ignore[func-returns-value]

    run(scenario())
    assert made == [1]


def test_a_file_that_changed_is_another(tmp_path: Path) -> None:
    path = tmp_path / "a.fztrace"

    async def scenario() -> list[str]:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), lambda *given: None)  # type: ignore[arg-type]
        names = []
        for trace in (small_trace(), failed_trace()):
            fe.save(trace, path)
            names.append(json.loads(gzip.decompress((await state.payload((path,))).data))["view"]["name"])
        return names

    assert run(scenario()) == [small_trace().name, failed_trace().name]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(fe.FreezerError, match=r"There is no trace .*gone \(No such file or directory\)"):
        file_key(tmp_path / "gone")


def test_preparing_tells_nobody_what_is_wrong(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        state = State(Site(1), Library(tmp_path / "recent.json"), lambda call: call(), lambda *given: None)  # type: ignore[arg-type]
        state.prepare((tmp_path / "gone",))
        await state.close()

    run(scenario())
    assert caplog.text == ""


def test_what_is_made_early_is_what_the_server_would_make(tmp_path: Path) -> None:
    first, second = _saved(tmp_path / "a.fztrace"), _saved(tmp_path / "b.fztrace")
    for paths in ((first,), (first, second)):
        with EarlyPayload(paths) as early:
            assert early.payload() == make_payload(paths)


def test_a_file_that_changes_meanwhile_is_read_again(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a.fztrace")
    with EarlyPayload((path,)) as early:
        fe.save(replace(small_trace(), name="Later"), path)
        assert early.payload().shown[0].name == "Later"


@pytest.mark.parametrize("content", [None, b"no trace"])
def test_what_cannot_be_made_early_says_why_when_it_is_asked_for(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a.fztrace"
    if content is not None:
        path.write_bytes(content)
    with EarlyPayload((path,)) as early, pytest.raises(fe.FreezerError, match=r"a\.fztrace"):
        early.payload()


def test_leaving_early_ends_what_is_being_made(tmp_path: Path) -> None:
    with EarlyPayload((_saved(tmp_path / "a.fztrace"),)) as early:
        process = early._process
    assert process is not None
    assert process.returncode is not None
