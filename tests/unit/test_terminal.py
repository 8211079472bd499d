from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.worker import JobProgress
from tests.builders import small_trace
from viewer.cli import main
from viewer.cli.terminal import progress_line, progress_text, recording_text
from viewer.text.table import table_lines


def test_progress_shows_share_and_remaining_time() -> None:
    assert progress_text("scripting", 0.0, 0.4, 0.4) == "  0% scripting (0:00)"
    assert progress_text("latency, step 7", 0.25, 65.0, 61.0) == " 25% latency, step 7 (1:05, about 3:03 left)"
    assert progress_text("latency, step 7", 0.0, 65.0, 61.0) == "  0% latency, step 7 (1:05)"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (JobProgress("scripting", 60, 1000, None, "Scripting", ("Freezing", "Saving")), "  6% Scripting (1:05)"),
        (
            JobProgress("latency: round 3 of 60", 500, 1000, 8.2, "Measuring latency", ("Comparing numbers", "Saving")),
            " 50% Measuring latency: round 3 of 60 (1:05, about 0:08 left of this, then comparing numbers, saving)",
        ),
        (
            JobProgress("importing torch", 0, 1000, None, "Starting", ("Saving",)),
            "  0% Starting: importing torch (1:05)",
        ),
    ],
)
def test_the_progress_of_a_recording_names_its_phase(event: JobProgress, text: str) -> None:
    assert recording_text(event, 65.0) == text


def test_pipe_gets_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line() as line:
        line.show("inline", 0, 2)
        line.pass_on("stdout", b"printed")
    assert capsys.readouterr() == ("printed", "")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_printed_text_arrives_whole(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding=encoding, errors="strict"))
    with progress_line() as line:
        for byte in "10 µs".encode():
            line.pass_on("stdout", bytes([byte]))
        line.pass_on("stdout", b"\xff!")
    micro = "µ" if encoding == "utf-8" else r"\xc2\xb5"
    assert buffer.getvalue().decode(encoding) == f"10 {micro}s" + r"\xff!"


def test_work_continues_when_its_output_is_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    passed = []
    # Closing it flushes what could not be written, and raises.
    with contextlib.suppress(BrokenPipeError), os.fdopen(write, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with progress_line() as line:
            for text in (b"one", b"two"):
                line.pass_on("stdout", text)
                passed.append(text)
    assert passed == [b"one", b"two"]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_progress_is_one_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("COLUMNS", "30")
        with progress_line() as line:
            line.show("inline", 0, 2)
            line.pass_on("stderr", b"careful\n")
            line.show("x" * 100, 1, 2)
        written = b""
        while written.count(b"\r\x1b[K") < 4:
            written += os.read(leader, 1000)
    os.close(leader)
    lines = written.decode().split("\r\x1b[K")[1:]
    assert lines == ["  0% inline (0:00)", "careful\r\n", " 50% " + "x" * 24, ""]


LONG = "z" * 100_000


@pytest.mark.parametrize(
    "words",
    [
        ["record", LONG],
        ["record", f"models:{LONG}"],
        ["record", "example:mlp", "--input", LONG],
        ["record", "example:mlp", "--memory", LONG],
        ["record", "example:mlp", "--backend", LONG],
        ["record", "example:mlp", "-o", f"{LONG}.fztrace"],
        ["record", "example:mlp", f"--{LONG}"],
        ["run", LONG],
        ["run", "--", f"/{LONG}"],
        ["sweep", "a/" * 50_000],
        ["bisect", f"{LONG}.pt"],
        ["check", f"{LONG}.fztrace"],
        ["check", "TRACE", "--expect-folded", LONG],
        ["check", "TRACE", "--expect-preserved", LONG],
        ["stats", "TRACE", LONG],
        ["stats", "z " * 50_000],
        ["diff", "TRACE", LONG],
        ["diff", "TRACE", "TRACE", "--only", LONG],
        ["report", "TRACE", "-o", f"{LONG}.html"],
        ["export", "TRACE", "--format", "csv", "-o", f"{LONG}/a.csv"],
        ["export", "TRACE", "--format", LONG],
        ["summary", LONG],
        ["doctor", LONG],
        ["--port", LONG],
        [f"{LONG}.fztrace"],
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_no_command_repeats_all_of_what_nobody_can_read(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "a.fztrace"
    fe.save(small_trace(), trace)
    with contextlib.suppress(SystemExit):
        assert main([str(trace) if word == "TRACE" else word for word in words]) in (1, 2)
    said = capsys.readouterr()
    lines = (said.out + said.err).splitlines()
    assert lines
    assert max(map(len, lines)) < 25_000
    assert max(len(word) for line in lines for word in line.split()) <= 1000


def test_errors_quote_what_can_be_read() -> None:
    path = "/".join(["folder"] * 30_000)
    error = fe.FreezerError(f"{path}: there is no such file\ngive another")
    assert str(error).startswith(f"{path[:400]}")
    assert str(error).endswith(f"{path[-200:]}: there is no such file\ngive another".split(": ", 1)[1])
    assert len(str(error)) < 1000
    assert str(fe.FreezerError("a b " * 40_000)).count("(160,000 characters)") == 1
    readable = f"{'folder/' * 140}model.pt: there is no such file"
    assert str(fe.FreezerError(readable)) == readable


def test_wide_cell_does_not_widen_its_table() -> None:
    rows = [{"pass": "z" * 100_000, ">nodes": "1"}, *({"pass": f"pass{n}", ">nodes": "1"} for n in range(50))]
    assert max(map(len, table_lines(rows))) < 250
