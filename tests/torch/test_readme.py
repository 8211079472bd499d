"""The README tells the truth: its examples, its Python, its commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import freeze_engine as fe
from viewer.cli.command_line import COMMANDS, parse_command_line

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def test_every_example_is_listed_with_what_it_shows() -> None:
    assert re.findall(r"^\| `(\w+)` \| (.+) \|$", README, re.MULTILINE) == [
        (example.name, example.shows) for example in fe.EXAMPLES.values()
    ]


def test_the_python_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), names)
    assert fe.load("model.fztrace").attributes
    assert isinstance(names["trace"], fe.Trace)


def commands() -> list[str]:
    lines = [line.partition("#")[0].strip() for block in blocks("") for line in block.splitlines()]
    return [line for line in lines if line.startswith("freezer-ui ")]


def test_there_are_commands_to_check() -> None:
    assert len(commands()) >= 5


@pytest.mark.parametrize("command", commands())
def test_the_commands_are_understood(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)[1:]
    named = words[0] if words[0] in {command.name for command in COMMANDS} else None
    assert parse_command_line(words).command == named


def test_what_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
