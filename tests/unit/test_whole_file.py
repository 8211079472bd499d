"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freeze_engine.whole_file import write_whole

_WRITER = """\
import os, sys
from pathlib import Path
from freeze_engine import whole_file

def die(*args, **named):
    os._exit(9)

os.link = die
whole_file.write_whole(Path("a"), b"new" * 100_000, Path("a.unfinished"))
"""


def _has_nameless_files(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except (OSError, AttributeError):
        return False
    return True


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (b"old", b"new"):
        write_whole(path, data, tmp_path / "a.unfinished")
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_where_files_need_a_name_it_is_replaced_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    write_whole(tmp_path / "a", b"new", tmp_path / "a.unfinished")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_is_as_readable_as_others(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"new", tmp_path / "a.unfinished")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_process_that_dies_in_the_midst_of_it_leaves_nothing(tmp_path: Path) -> None:
    if not _has_nameless_files(tmp_path):
        pytest.skip("this file system has no files without a name")
    (tmp_path / "a").write_bytes(b"old")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    assert subprocess.run([sys.executable, "-c", _WRITER], cwd=tmp_path, env=environment).returncode == 9
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "a", b"new", tmp_path / "none" / "a.unfinished")
    with pytest.raises(ValueError, match="null"):
        write_whole(tmp_path / "a\0", b"new", tmp_path / "a\0.unfinished")
