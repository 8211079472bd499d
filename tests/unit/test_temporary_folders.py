"""Temporary folders, and what is left of owners that were killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from freeze_engine.process import temporary_folder
from freeze_engine.process.temporary_folders import NoTemporaryFolderError

ROOT = Path(__file__).parents[2]
_OWNER = """\
import time
from freeze_engine.process import temporary_folder
with temporary_folder("mine-") as own:
    print(own, flush=True)
    time.sleep(99)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def _aged(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_a_folder_lasts_as_long_as_its_block(place: Path) -> None:
    with temporary_folder("mine-") as folder:
        (folder / "file").touch()
        assert folder.parent == place
    assert list(place.iterdir()) == []


def test_missing_temporary_space_is_reported_with_the_remedy(place: Path) -> None:
    place.rmdir()
    with pytest.raises(NoTemporaryFolderError, match=r"No such file or directory.*another place in TMPDIR"):
        temporary_folder("mine-").__enter__()


def test_errors_of_the_block_stay_what_they_are() -> None:
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] No such file"), temporary_folder("mine-") as folder:
        (folder / "missing").read_text()


def test_folder_of_a_killed_owner_is_removed_and_owned_ones_stay(place: Path) -> None:
    command = [sys.executable, "-c", _OWNER]
    owners = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        dead, living = (Path(owner.stdout.readline().strip()) for owner in owners if owner.stdout)
        (dead / "part").mkdir()
        owners[0].kill()
        assert owners[0].wait() == -signal.SIGKILL
        with temporary_folder("mine-"):
            assert dead.exists(), "one so young may not have been locked yet"
        for folder in (dead, living):
            _aged(folder)
        with temporary_folder("mine-") as own:
            assert set(place.iterdir()) == {living, own}
    finally:
        for owner in owners:
            owner.kill()
            owner.communicate()


def test_foreign_folder_stays(place: Path) -> None:
    (place / "other-1").mkdir()
    (place / "mine-file").touch()
    (place / "mine-link").symlink_to(place / "other-1")
    for path in place.iterdir():
        _aged(path)
    with temporary_folder("mine-"):
        pass
    assert sorted(path.name for path in place.iterdir()) == ["mine-file", "mine-link", "other-1"]


def test_folders_of_the_user_stay_whatever_they_begin_with(place: Path) -> None:
    for name in ("freezer-ui-main", "freezer-ui-12345678.old", "freezer-recording-abcdefgh"):
        (place / name).mkdir(mode=0o755)
    for path in place.iterdir():
        _aged(path)
    with temporary_folder("freezer-ui-"):
        pass
    assert sorted(path.name for path in place.iterdir()) == [
        "freezer-recording-abcdefgh",
        "freezer-ui-12345678.old",
        "freezer-ui-main",
    ]


def test_each_part_removes_what_the_others_left(place: Path) -> None:
    for name in ("freezer-ui-abcd_123", "freezer-recording-abcdefgh", "freezer-saving-00000000"):
        (place / name).mkdir(mode=0o700)
        _aged(place / name)
    with temporary_folder("freezer-inspection-"):
        pass
    assert list(place.iterdir()) == []


def test_every_prefix_in_use_is_known() -> None:
    from freeze_engine.process import temporary_folders

    sources = [path for folder in ("freeze_engine", "viewer") for path in (ROOT / folder).rglob("*.py")]
    used = {prefix for path in sources for prefix in re.findall(r'"(freezer-[a-z]+-)"', path.read_text())}
    assert used == set(temporary_folders._KINDS)
