"""The pages of `docs/roads` are true: their Python runs with the real torch and torchao, and their commands parse."""

from __future__ import annotations

import gzip
import shlex
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from tests.road_pages import ROADS, ROOT, blocks, run_page
from viewer.cli.command_line import COMMANDS, parse_command_line

EXISTING = ROOT / "tests" / "existing"
#: Their fixtures run the Python of a page, since a compile takes long; the others are run here.
COMPILED = {"aotinductor": "test_aotinductor.py", "quantised": "test_quantised.py"}
WITHOUT_PYTHON = ("other-systems",)


def commands(page: Path) -> list[str]:
    lines = [line.partition("#")[0].strip() for block in blocks(page, "") for line in block.splitlines()]
    return [line for line in lines if line.startswith("freezer-ui")]


def test_the_python_of_every_page_is_run_and_has_a_row_in_the_readme() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in ROADS:
        assert f"](docs/roads/{page.name})" in readme
        text = Path(__file__).with_name(COMPILED[page.stem]).read_text() if page.stem in COMPILED else here
        assert bool(blocks(page, "python")) == (page.stem not in WITHOUT_PYTHON)
        assert f'run_page("{page.stem}"' in text or page.stem in WITHOUT_PYTHON


def test_frozen_files_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "frozen.pt").write_bytes((EXISTING / "frozen.pt").read_bytes())
    assert run_page("frozen-files")["trace"].origin == "frozen_file"


def test_logs_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    log = gzip.decompress((EXISTING / "frozen.log.gz").read_bytes())
    Path("logs/dedicated_log_torch_trace_1.log").write_bytes(log)
    trace = run_page("logs")["trace"]
    assert trace.origin == "torch_trace"
    assert trace.steps


def test_threads_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def serve() -> None:
        torch.jit.freeze(torch.jit.trace(torch.nn.ReLU().eval(), torch.ones(1)))

    monkeypatch.chdir(tmp_path)
    captured = run_page("processes", serve=serve)["captured"]
    assert [trace.name for trace in captured.traces] == ["ReLU"]
    assert fe.load("1.fztrace").name == "ReLU"


def test_runtime_of_the_page() -> None:
    assert run_page("runtime")["runtime"].graph.nodes


@pytest.mark.parametrize("command", [command for page in ROADS for command in commands(page)])
def test_the_commands_of_a_road_are_understood(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)[1:]
    named = words[0] if words[0] in {each.name for each in COMMANDS} else None
    assert parse_command_line(words).command == named
