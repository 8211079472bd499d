"""A command that reads a trace says what a file of another kind is, and which command takes it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from viewer.cli import main

EXISTING = Path(__file__).parents[1] / "existing"
COMMANDS = (
    ("stats", "{}"),
    ("summary", "{}"),
    ("diff", "{}", "{}"),
    ("check", "{}", "--no-preserved"),
    ("report", "{}"),
    ("export", "{}", "--format", "csv"),
)


def packaged(folder: Path) -> Path:
    path = folder / "compiled {0}.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("compiled/data/aotinductor/model/model.so", b"")
    return path


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_package_given_as_trace_is_named(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = packaged(tmp_path)
    assert main([word.replace("{}", str(path)) for word in words]) == 2
    told = capsys.readouterr().err
    assert f"{path} is no trace but a package of compiled code (AOTInductor), of which nothing is left" in told
    assert "--backend aotinductor" in told


def test_files_that_become_traces_come_with_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frozen = EXISTING / "frozen.pt"
    assert main(["stats", str(frozen)]) == 2
    told = capsys.readouterr().err
    assert "is no trace but a TorchScript file with a frozen module." in told
    assert f"freezer-ui record {frozen} -o TRACE" in told
    model = tmp_path / "model.pt"
    with zipfile.ZipFile(model, "w") as archive:
        for name in ("data.pkl", "constants.pkl", "version"):
            archive.writestr(f"model/{name}", b"")
    assert main(["summary", str(model)]) == 2
    assert f"{model} is no trace but a TorchScript file. Record it with freezer-ui record" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty", b"", "is empty; record the trace again"),
        ("cut.fztrace", b"\x89FZT\r\n", "ends within its header"),
        ("some.bin", bytes(range(256)), "is not a trace file but something else"),
    ],
)
def test_better_messages_of_the_trace_file_stay(
    name: str, content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["stats", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err


def test_missing_trace_is_refused_as_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(tmp_path / "none.fztrace")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
