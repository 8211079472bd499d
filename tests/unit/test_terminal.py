from __future__ import annotations

import os
import sys

import pytest

from viewer.cli.terminal import progress_line, progress_text


def test_progress_tells_how_far_and_how_long() -> None:
    assert progress_text("scripting", 0.0, 0.4, 0.4) == "  0% scripting (0:00)"
    assert progress_text("latency, step 7", 0.25, 65.0, 61.0) == " 25% latency, step 7 (1:05, about 3:03 left)"
    assert progress_text("latency, step 7", 0.0, 65.0, 61.0) == "  0% latency, step 7 (1:05)"


def test_there_is_no_progress_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line() as progress:
        assert progress is None
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_progress_is_one_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("COLUMNS", "30")
        with progress_line() as progress:
            assert progress is not None
            progress("inline", 0, 2)
            progress("x" * 100, 1, 2)
        written = b""
        while written.count(b"\r\x1b[K") < 3:
            written += os.read(leader, 1000)
    os.close(leader)
    first, second, last = written.decode().split("\r\x1b[K")[1:]
    assert (first, second, last) == ("  0% inline (0:00)", " 50% " + "x" * 24, "")
