"""Files to choose from, what they are, and how uploads are named."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.models import file_kind
from tests.builders import small_trace
from viewer.dashboard.folder_listing import folder_view
from viewer.dashboard.uploads import safe_name


def _archive(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return path


def test_file_kind_is_recognised_by_content(tmp_path: Path) -> None:
    fe.save(small_trace(), tmp_path / "a.bin")
    (tmp_path / "empty").touch()
    (tmp_path / "text.pt").write_text("PK\x03\x04 is how a zip file begins")
    (tmp_path / "old.pt").write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2))
    kinds = {
        tmp_path / "old.pt": "legacy",
        tmp_path / "a.bin": "trace",
        _archive(tmp_path / "b.bin", "net/constants.pkl", "net/data.pkl"): "torchscript",
        _archive(tmp_path / "c.bin", "net/archive_format"): "exported",
        _archive(tmp_path / "d.bin", "serialized_exported_program.json"): "exported",
        _archive(tmp_path / "e.bin", "x/data.pkl", "x/data/0"): "tensor",
        _archive(tmp_path / "f.bin", "readme.txt"): None,
        tmp_path / "empty": None,
        tmp_path / "text.pt": None,
    }
    assert {path: file_kind(path) for path in kinds} == kinds


def test_a_folder_lists_folders_first(tmp_path: Path) -> None:
    for name in ("b.fztrace", "a.PT", "z.txt"):
        (tmp_path / name).write_text("four")
    for name in ("y", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    view = folder_view(tmp_path)
    assert (view["path"], view["parent"]) == (str(tmp_path), str(tmp_path.parent))
    assert [(entry["name"], entry["kind"], entry["size_bytes"]) for entry in view["entries"]] == [
        ("y", "folder", None),
        ("a.PT", "model", 4),
        ("b.fztrace", "trace", 4),
        ("z.txt", "other", 4),
    ]
    assert view["entries"][1]["path"] == str(tmp_path / "a.PT")


def test_the_top_has_no_parent() -> None:
    assert folder_view(Path("/"))["parent"] is None


def test_the_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_view(Path("~"))["path"] == str(tmp_path)


@pytest.mark.parametrize("name", ["missing", "file"])
def test_path_that_is_not_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(fe.FreezerError, match=f"cannot list .*{name}: .*; choose another folder"):
        folder_view(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("net.pt", "net.pt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\models\\net.pt", "net.pt"),
        ("my model (1).pt", "my_model_1_.pt"),
        ("-rf", "rf"),
        (".bashrc", "bashrc"),
        ("\x00\n", "_"),
        ("", "upload"),
        ("..", "upload"),
        ("x" * 300 + ".pt", "x" * 117 + ".pt"),
    ],
)
def test_names_of_uploads_are_harmless(text: str, name: str) -> None:
    assert safe_name(text) == name
