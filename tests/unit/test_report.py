from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import zlib
from dataclasses import replace

import pytest

import freeze_engine as fe
from freeze_engine.trace import Notice
from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace, synthetic_trace
from viewer.assets import read_asset
from viewer.report import PROGRAM, Embedding, render_report, write_report
from viewer.views import view_data
from viewer.views.graph_data import graph_data

MIB = 1024 * 1024


def payload(page: str, name: str) -> str:
    (packed,) = re.findall(rf'<script type="application/octet-stream" id="{name}">([^<]*)</script>', page)
    return zlib.decompress(base64.b64decode(packed)).decode()


@pytest.fixture(scope="module")
def page() -> str:
    return render_report(small_trace())


def test_the_page_carries_the_whole_trace(page):
    data = json.loads(payload(page, "trace"))
    assert data["view"] == view_data(small_trace())
    assert data["graph"] == json.loads(json.dumps(graph_data(small_trace())))
    assert [chart["title"] for chart in data["charts"]["dark"]] == [
        "Latency", "Latency against other passes", "Numeric error", "Cold start", "Constants", "Nodes",
    ]  # fmt: skip


def test_the_same_trace_gives_the_same_bytes(page):
    assert render_report(small_trace()) == page


def test_the_page_asks_for_nothing(page):
    assert re.findall(r'\b(?:src|href)="([^"]*)"', page) == ["data:,"]
    assert "default-src 'none'" in html.unescape(page)
    assert "unsafe-eval" not in page


def test_only_scripts_named_by_their_hash_run(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    (start,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    scripts = (start, payload(page, "program"), payload(page, "bokeh"))
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    directives = html.unescape(policy[1]).split("; ")
    assert [one for one in directives if one.startswith("script-src")] == [
        "script-src " + " ".join(f"'sha256-{one}'" for one in hashes)
    ]


def test_the_program_is_the_viewers_bundle(page):
    assert payload(page, "program") == read_asset(PROGRAM)
    assert payload(page, "style") == read_asset("viewer/viewer.css")


def test_embedded_page_receives_its_state():
    page = render_report(small_trace(), Embedding("a-name", {"step": 4}))
    assert json.loads(payload(page, "trace"))["embedding"] == {"id": "a-name", "state": {"step": 4}}
    assert json.loads(payload(render_report(small_trace()), "trace"))["embedding"] is None


def test_a_page_inside_another_has_bokeh_only_for_what_was_measured():
    plain = replace(small_trace(), steps=tuple(replace(step, latency=(), numerics=()) for step in small_trace().steps))
    pages = {
        name: render_report(trace, embedding)
        for name, trace, embedding in (
            ("measured", small_trace(), Embedding()),
            ("plain", plain, Embedding()),
            ("report", plain, None),
        )
    }
    assert {name: 'id="bokeh"' in page for name, page in pages.items()} == {
        "measured": True,
        "plain": False,
        "report": True,
    }
    assert json.loads(payload(pages["plain"], "trace"))["charts"] is None
    assert html.unescape(pages["plain"]).count("sha256-") == 2


def test_markup_in_model_names_is_inert():
    trace = small_trace()
    hostile = replace(
        trace,
        name=f"{HOSTILE}<!--<script>",
        call=HOSTILE,
        notices=(Notice("unread", f"\u2028{HOSTILE}\u2029<!--"),),
        attributes=tuple(replace(fate, path=f"{HOSTILE}.{fate.path}") for fate in trace.attributes),
    )
    page = render_report(hostile)
    assert HOSTILE not in page
    assert "<title>&lt;/script&gt;&lt;script&gt;" in page
    assert json.loads(payload(page, "trace"))["view"]["name"] == hostile.name


@pytest.mark.parametrize("make", [empty_trace, failed_trace])
def test_every_kind_of_trace_has_a_page(make):
    assert json.loads(payload(render_report(make()), "trace"))["view"] == view_data(make())


def test_the_fixed_weight_is_small():
    assert len(render_report(empty_trace()).encode()) <= 3 * MIB


def test_a_large_trace_stays_light():
    fixed = len(render_report(empty_trace()).encode())
    large = len(render_report(synthetic_trace(10_000, 30)).encode())
    assert large - fixed <= 3 * MIB


def test_bokeh_is_packed_without_what_charts_do_not_need(page):
    bokeh = payload(page, "bokeh")
    assert "embed_item" in bokeh
    assert "MathJax" not in bokeh[:1000]


def test_writing_replaces_a_report_whole(tmp_path, page):
    path = tmp_path / "report.html"
    path.write_text("an older one")
    write_report(small_trace(), path)
    assert path.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [path]


def test_missing_folder_is_reported(tmp_path):
    path = tmp_path / "missing" / "report.html"
    with pytest.raises(fe.FreezerError, match=r"there is no folder .*missing; make it first"):
        write_report(small_trace(), path)


def test_a_device_or_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(
        fe.FreezerError, match=r"pipe: it is not an ordinary file \(a folder, device or pipe\); choose another place"
    ):
        write_report(small_trace(), pipe)
    assert pipe.is_fifo()


def test_unwritable_target_is_reported_and_leaves_nothing(tmp_path):
    target = tmp_path / "report.html"
    target.mkdir()
    with pytest.raises(fe.FreezerError, match="cannot write the report"):
        write_report(small_trace(), target)
    assert list(tmp_path.iterdir()) == [target]
