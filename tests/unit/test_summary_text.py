"""The summary as text and as Markdown, and the commands that print it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import empty_trace, failed_trace, small_trace
from viewer.cli import main
from viewer.text.markdown import comparison_markdown, markdown_text, summary_markdown
from viewer.text.stats import stats_text
from viewer.text.summary import comparison_text, next_command, summary_lines, summary_text
from viewer.views.summary import summary_view


@pytest.fixture
def traces(tmp_path: Path) -> tuple[str, str]:
    """Two saved traces: before and after a weight was frozen."""
    fates = small_trace().attributes
    kept = tuple(replace(each, fate="inlined", reason=None) if each.path == "count" else each for each in fates)
    places = tmp_path / "a.fztrace", tmp_path / "b.fztrace"
    for place, trace in zip(places, (small_trace(), replace(small_trace(), attributes=kept)), strict=True):
        fe.save(trace, place)
    return str(places[0]), str(places[1])


@pytest.mark.parametrize("trace", [small_trace(), empty_trace(), failed_trace()], ids=["small", "empty", "failed"])
def test_every_surface_has_the_same_sentence(trace):
    sentence = fe.summarize(trace).sentence
    assert " ".join(summary_text(trace).split()).find(" ".join(sentence.split())) >= 0
    assert markdown_text(sentence) in summary_markdown(trace)
    assert summary_view(fe.summarize(trace), trace)["sentence"] == sentence
    assert " ".join(sentence.split()[:6]) in " ".join(stats_text(trace).split())


def test_stats_begin_with_the_summary():
    title, first, *_ = stats_text(small_trace()).splitlines()
    assert title.endswith(": torchscript, 12 steps")
    assert first.strip() == next(iter(summary_lines(fe.summarize(small_trace()))))


def test_an_action_has_its_evidence_its_fix_and_its_gain():
    text = summary_text(small_trace())
    assert "\n2. Make the traced code independent of the values\n" in text
    for label in ("Why: ", "Fix: ", "Gain: "):
        assert text.count(f"   {label}") == 3


def test_changes_between_two_traces_come_first(traces, capsys):
    assert main(["summary", *traces]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "What changed from A to B:"
    assert rest[:2] == [
        "  frozen weights and buffers: 2 of 4 → 3 of 4",
        "  preserved (written in place) → inlined: count",
    ]
    assert main(["summary", *traces, "--markdown"]) == 0
    heading, _, change, *_ = capsys.readouterr().out.splitlines()
    assert (heading.endswith(": what changed"), change) == (True, "- frozen weights and buffers: 2 of 4 → 3 of 4")


def test_equal_traces_changed_nothing():
    assert comparison_text(small_trace(), small_trace()).startswith("What changed from A to B:\n  Nothing changed.\n")
    assert "\n- Nothing changed.\n" in comparison_markdown(small_trace(), small_trace())


def test_traces_of_a_failed_freeze_and_of_none_can_be_compared():
    for first, second in ((small_trace(), failed_trace()), (failed_trace(), small_trace())):
        assert "the recording: " in comparison_text(first, second)
    assert comparison_markdown(empty_trace(), empty_trace()).startswith("### Freezing an unnamed model: what changed")


def test_file_that_is_not_a_trace_exits_with_2(tmp_path, capsys):
    (tmp_path / "no.fztrace").write_bytes(b"no")
    assert main(["summary", str(tmp_path / "no.fztrace")]) == 2
    assert "no.fztrace" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b*c", "a\\_b\\*c"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("a | b", "a \\| b"),
        ("two\nlines", "two lines"),
        ("@team fix #1", "@&#8203;team fix \\#1"),
    ],
)
def test_texts_of_models_are_no_markdown(text, shown):
    assert markdown_text(text) == shown


def test_a_hostile_name_stays_in_its_line_of_markdown():
    hostile = replace(small_trace(), name="# x\n\n<script>|`\x1b[2J")
    first, second, *_ = summary_markdown(hostile).splitlines()
    assert first == "### Freezing \\# x &lt;script&gt;\\|\\`\\\\x1b\\[2J"
    assert second == ""


def test_the_next_command_quotes_the_path():
    assert next_command(Path("my traces/a.fztrace")) == "Look at it: freezer-ui 'my traces/a.fztrace'"
