"""The README and the guide are true: their examples, their Python, their commands, their figures."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import freeze_engine as fe
from viewer.cli.command_line import COMMANDS, parse_command_line

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
PAGES = ("README.md", "docs/guide.md")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def commands(page: str) -> list[str]:
    lines = [line.partition("#")[0].strip() for block in blocks(page, "") for line in block.splitlines()]
    return [line for line in lines if line.startswith("freezer-ui")]


def test_every_example_is_listed_with_what_it_shows() -> None:
    assert re.findall(r"^\| `(\w+)` \| (.+) \|$", text_of("docs/guide.md"), re.MULTILINE) == [
        (example.name, example.shows) for example in fe.EXAMPLES.values()
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_python_runs_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Nothing here depends on how long it measures.
    monkeypatch.setitem(fe.record.__kwdefaults__ or {}, "measure", fe.Measure(seconds=0.5))
    names: dict[str, object] = {}
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), names)
    assert fe.load("model.fztrace").attributes
    assert isinstance(names["trace"], fe.Trace)


@pytest.mark.parametrize("page", PAGES)
def test_there_are_commands_to_check(page: str) -> None:
    assert len(commands(page)) >= 5


@pytest.mark.parametrize("command", [command for page in PAGES for command in commands(page)])
def test_the_commands_are_understood(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)[1:]
    named = words[0] if words and words[0] in {command.name for command in COMMANDS} else None
    assert parse_command_line(words).command == named


def test_make_targets_of_the_readme_exist() -> None:
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("README.md", "")), re.MULTILINE)
    assert targets
    assert set(targets) <= set(re.findall(r"^(\w+):", text_of("Makefile"), re.MULTILINE))


def test_every_figure_of_the_costs_is_one_of_a_benchmark() -> None:
    costs = text_of("README.md").partition("\n## What it costs\n")[2].partition("\n## ")[0]
    figures = _NUMBER.findall(costs)
    assert len(figures) >= 4
    assert set(figures) <= set(_NUMBER.findall(text_of("docs/benchmarks.md")))


@pytest.mark.parametrize("page", sorted(path.relative_to(ROOT).as_posix() for path in DOCUMENTS))
def test_links_of_documents_resolve(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]*)(#[^)]*)?\)", text_of(page))
    folder = (ROOT / page).parent
    assert [link for link, _ in links if link and not (folder / link).exists()] == []
    targets = [(folder / link if link else ROOT / page, anchor[1:]) for link, anchor in links if anchor]
    assert [(file.name, anchor) for file, anchor in targets if anchor not in anchors(file)] == []


def anchors(document: Path) -> set[str]:
    """The names by which a link reaches the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
