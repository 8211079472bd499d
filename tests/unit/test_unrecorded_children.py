"""Python processes that cannot be recorded are named with the reason."""

from __future__ import annotations

import multiprocessing
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from freeze_engine.backends.torchscript.log.growth_clock import _WATCHER
from freeze_engine.captures.child import STARTUP, VARIABLE
from freeze_engine.captures.process_starts import observing_starts
from freeze_engine.captures.shell_commands import shell_commands
from freeze_engine.captures.unrecorded_children import ChildWatch, why_unrecorded

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
    told = f"{other} is another Python than {sys.executable}. Install freezer-ui for that Python, and record with it: "
    assert why_unrecorded(str(other), ("python3.13", "a.py"), None).startswith(told)
    scripts = (f"#!{other}\n", f"#!/usr/bin/env -S {other} -u\n", f'#!/bin/sh\n\'\'\'exec\' "{other}" "$0" "$@"\n')
    for first in scripts:
        (tmp_path / "pytest").write_text(first)
        (tmp_path / "pytest").chmod(0o755)
        assert why_unrecorded("pytest", ("pytest", "-q"), RECORDED | {"PATH": str(tmp_path)}).startswith(told)
    (tmp_path / "pytest").write_text(f"#!{sys.executable} -I\n")
    assert why_unrecorded(str(tmp_path / "pytest"), ("pytest",), None).startswith("python -I ignores")
    (tmp_path / "pytest").write_text(f"#!{sys.executable}\n")
    assert why_unrecorded(str(tmp_path / "pytest"), ("pytest",), None) == ""
    other.write_text("#!/bin/sh\n")
    assert why_unrecorded(str(other), ("python3.13", "a.py"), None) == ""
    assert why_unrecorded("/bin/echo", ("echo", "-S"), {}) == ""


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("python a.py -x 'b c'", [(("python", "a.py", "-x", "b c"), None)]),
        ("cd x && exec python a.py; true", [(("cd", "x"), None), (("python", "a.py"), None), (("true",), None)]),
        ("A=1 PATH=/b python a.py | tee log", [(("python", "a.py"), {"PATH": "/b", "A": "1"}), (("tee", "log"), None)]),
        ("env A=1 python -S a.py &", [(("python", "-S", "a.py"), {"PATH": "/a", "A": "1"})]),
        ("nice -n 5 time -p python -S a.py", [(("python", "-S", "a.py"), None)]),
        ("env -i A=1 python a.py", [(("python", "a.py"), {"A": "1"})]),
        ("env -i /bin/python a.py", [(("/bin/python", "a.py"), {})]),
        ("echo 'a", []),
        ("", []),
    ],
)
def test_a_shell_s_command_line_is_split_into_its_programs(command: str, programs: list[object]) -> None:
    found = [(tuple(words), environment) for words, environment in shell_commands(command, {"PATH": "/a"})]
    assert found == programs


def starts(way: str) -> None:
    """Starts a Python process that cannot be recorded, in one of the ways that Python has."""
    words = [sys.executable, "-S", "-c", "pass"]
    if way == "subprocess":
        subprocess.run(words, check=True)
    elif way == "shell":
        subprocess.run(shlex.join(words), shell=True, check=True)
    elif way == "system":
        assert os.system(shlex.join(words)) == 0
    elif way == "popen":
        assert os.popen(shlex.join(words)).close() is None
    elif way == "posix_spawn":
        os.waitpid(os.posix_spawn(words[0], words, os.environ), 0)
    else:
        assert getattr(os, way)(os.P_WAIT, words[0], *(words if "l" in way[5:] else [words])) == 0


WAYS = ("subprocess", "shell", "system", "popen", "posix_spawn", "spawnv", "spawnl", "spawnvp", "spawnlp")


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_all_ways_to_start_a_process_are_seen_and_restored() -> None:
    kept = {name: getattr(os, name) for name in ("system", "_exit", "execv", "spawnv", "posix_spawn")}
    before = subprocess.Popen.__init__
    watch = ChildWatch()
    with observing_starts(watch):
        for way in WAYS:
            starts(way)
        with pytest.raises(TypeError):
            subprocess.Popen(3)  # type: ignore[call-overload]
        with pytest.raises(TypeError):
            os.system(3)  # type: ignore[arg-type]
        subprocess.run("exit 0", shell=True, check=True)
    assert subprocess.Popen.__init__ is before
    assert {name: getattr(os, name) for name in kept} == kept
    (line,) = watch.lines()
    assert line.startswith(f"{len(WAYS)} Python processes were started and not recorded: python -S does not run")


def test_the_end_of_this_process_is_seen_and_not_that_of_its_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[str] = []
    monkeypatch.setattr(os, "execve", lambda *words: None)
    with observing_starts(ChildWatch(ends.append)):
        os.execle(sys.executable, "tool", {})
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(os, "getpid", lambda: -1)
            os.execle(sys.executable, "tool", {})
    assert ends == ["os.execve"]


def test_an_end_that_fails_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ends: list[str] = []
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / name) for name in "abc"))
    with observing_starts(ChildWatch(ends.append)):
        for become in (os.execv, os.execvp):
            with pytest.raises(OSError, match="No such file"):
                become("tool", ["tool"])
        with pytest.raises(PermissionError):
            os.execv(tmp_path, ["tool"])
    assert ends == []


def test_an_environment_of_its_own_gets_what_recording_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "{}")
    words = [sys.executable, "-S", "-c", f"import os; print(os.environ.get({VARIABLE!r}), os.environ['PYTHONPATH'])"]
    mine = str(tmp_path)
    said = f"{{}} {STARTUP}{os.pathsep}{mine}\n"
    with observing_starts(ChildWatch(place="{}")):
        for given in ({"PYTHONPATH": mine}, {**os.environ, "PYTHONPATH": mine}):
            assert subprocess.check_output(words, env=given, text=True) == said
            assert subprocess.check_output(shlex.join(words), env=given, text=True, shell=True) == said
        monkeypatch.setenv("PYTHONPATH", mine)
        assert subprocess.check_output(words, text=True) == said
        monkeypatch.setenv("PYTHONPATH", mine)
        with os.popen(shlex.join(words)) as opened:
            assert opened.read() == said
        monkeypatch.setenv("PYTHONPATH", mine)
        child = multiprocessing.get_context("spawn").Process(target=len, args=("",))
        child.start()
        child.join()
        assert os.environ["PYTHONPATH"] == said[3:-1]
