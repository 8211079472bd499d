"""Temporary folders, and what is left of owners that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import freeze_engine as fe

_OWNER = """\
import time, freeze_engine as fe
with fe.temporary_folder("mine-") as own:
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
    with fe.temporary_folder("mine-") as folder:
        (folder / "file").touch()
        assert folder.parent == place
    assert list(place.iterdir()) == []


def test_what_a_killed_owner_left_is_removed_and_what_is_owned_is_not(place: Path) -> None:
    command = [sys.executable, "-c", _OWNER]
    owners = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        dead, living = (Path(owner.stdout.readline().strip()) for owner in owners if owner.stdout)
        (dead / "part").mkdir()
        owners[0].kill()
        assert owners[0].wait() == -signal.SIGKILL
        with fe.temporary_folder("mine-"):
            assert dead.exists(), "one so young may not have been locked yet"
        for folder in (dead, living):
            _aged(folder)
        with fe.temporary_folder("mine-") as own:
            assert set(place.iterdir()) == {living, own}
    finally:
        for owner in owners:
            owner.kill()
            owner.communicate()


def test_what_is_of_another_kind_stays(place: Path) -> None:
    (place / "other-1").mkdir()
    (place / "mine-file").touch()
    (place / "mine-link").symlink_to(place / "other-1")
    for path in place.iterdir():
        _aged(path)
    with fe.temporary_folder("mine-"):
        pass
    assert sorted(path.name for path in place.iterdir()) == ["mine-file", "mine-link", "other-1"]
