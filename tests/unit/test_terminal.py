from __future__ import annotations

import contextlib
import io
import os
import sys

import pytest

from freeze_engine.worker import JobProgress
from viewer.cli.terminal import progress_line, progress_text, recording_text


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
