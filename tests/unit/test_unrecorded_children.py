"""Python processes that cannot be recorded are named with the reason."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from freeze_engine.backends.torchscript.log.growth_clock import _WATCHER
from freeze_engine.captures.child import STARTUP, VARIABLE
from freeze_engine.captures.unrecorded_children import watching_children, why_unrecorded

RECORDED = {VARIABLE: "{}", "PYTHONPATH": os.pathsep.join(("/mine", str(STARTUP)))}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("-c", "pass"), ""),
        (("-u", "-W", "ignore", "train.py", "-S"), ""),
        (("-c", "-S"), ""),
        (("-I", "-S", "-c", _WATCHER, "12"), ""),
        (("-m", "pack", "-I"), ""),
        (("-I", "-c", "pass"), "python -I ignores"),
        (("-uE", "train.py"), "python -E ignores"),
        (("-X", "dev", "-Sc", "pass"), "python -S does not run sitecustomize"),
    ],
)
def test_flags_of_python_that_ignore_its_environment_are_reasons(words: tuple[str, ...], reason: str) -> None:
    found = why_unrecorded(sys.executable, (sys.executable, *words), RECORDED)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_an_environment_of_its_own_is_a_reason_unless_it_starts_the_recording() -> None:
    words = (sys.executable, "train.py")
    assert why_unrecorded(sys.executable, words, None) == ""
    assert why_unrecorded(sys.executable, words, RECORDED) == ""
    for given in ({}, {VARIABLE: "{}"}, {"PYTHONPATH": str(STARTUP)}):
        assert why_unrecorded(sys.executable, words, given).startswith("its environment was given, without")


def test_another_python_is_a_reason_and_another_program_is_not(tmp_path) -> None:
    other = tmp_path / "python3.13"
    other.write_bytes(b"\x7fELF")
    other.chmod(0o755)
    assert (
        why_unrecorded(str(other), ("python3.13", "a.py"), None) == f"{other} is another Python than {sys.executable}"
    )
    other.write_text("#!/bin/sh\n")
    assert why_unrecorded(str(other), ("python3.13", "a.py"), None) == ""
    assert why_unrecorded("/bin/echo", ("echo", "-S"), {}) == ""


def test_started_processes_are_counted_by_reason_and_popen_is_restored() -> None:
    before = subprocess.Popen.__init__
    with watching_children() as watch:
        for _ in range(2):
            subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
        with pytest.raises(TypeError):
            subprocess.Popen(3)  # type: ignore[call-overload]
        subprocess.run("exit 0", shell=True, check=True)
    assert subprocess.Popen.__init__ is before
    (line,) = watch.lines()
    assert line.startswith("2 Python processes were started and not recorded: python -S does not run sitecustomize")
