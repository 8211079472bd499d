"""Files are written whole or not at all, and several all or none: on a full disk, in a read-only folder, at a limit."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import small_trace

ROOT = Path(__file__).parents[2]
BEFORE = "what was there before"


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_files_are_replaced_and_nothing_else_is_left(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(BEFORE)
    fe.write_files({first: b"one", second: b"two"})
    assert (first.read_bytes(), second.read_bytes(), names(tmp_path)) == (b"one", b"two", ["a.csv", "b.csv"])
    assert first.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_link_keeps_leading_to_its_file(tmp_path):
    (tmp_path / "real").write_text(BEFORE)
    (tmp_path / "link").symlink_to("real")
    fe.write_files({tmp_path / "link": b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_where_one_cannot_be_written_none_is_replaced(tmp_path):
    first = tmp_path / "a.csv"
    first.write_text(BEFORE)
    with pytest.raises(OSError, match="No such file") as raised:
        fe.write_files({first: b"new", tmp_path / "missing" / "b.csv": b"new"})
    assert raised.value.filename == str(tmp_path / "missing" / "b.csv")
    assert (first.read_text(), names(tmp_path)) == (BEFORE, ["a.csv"])


def test_a_device_is_no_file_to_replace(tmp_path):
    with pytest.raises(OSError, match="no ordinary file"):
        fe.write_files({tmp_path / "a.csv": b"new", Path("/dev/null"): b"new"})
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        ["export", "small.fztrace", "--format", "csv"],
        ["export", "small.fztrace", "--format", "model-explorer"],
        ["export", "small.fztrace", "--format", "perfetto"],
        ["report", "small.fztrace"],
    ],
    ids=" ".join,
)
def test_at_a_limit_of_file_sizes_what_was_there_stays(words, tmp_path):
    fe.save(small_trace(), tmp_path / "small.fztrace")
    command = [sys.executable, "-m", "viewer.cli", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    written = [each for each in tmp_path.iterdir() if each.suffix != ".fztrace"]
    largest = max(each.stat().st_size for each in written)
    for each in written:
        each.write_text(BEFORE)
    before = names(tmp_path)
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, largest - 1)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "File too large; " in done.stderr
    assert "Traceback" not in done.stderr
    assert (names(tmp_path), {each.read_text() for each in written}) == (before, {BEFORE})


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_full_disk_takes_nothing_that_was_there(tmp_path):
    source, disk = tmp_path / "source", tmp_path / "disk"
    source.mkdir()
    disk.mkdir()
    fe.save(small_trace(), source / "small.fztrace")
    export = [sys.executable, "-m", "viewer.cli", "export", "small.fztrace", "--format", "csv"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(export, cwd=source, env=environment, check=True, capture_output=True)
    for each in source.glob("*.csv"):
        each.write_text(BEFORE)
    pages = sum(-(-each.stat().st_size // 4096) for each in source.iterdir())
    script = (
        f'mount -t tmpfs -o size={(pages + 1) * 4096} none "$1" && cp "$2"/* "$1" && cd "$1" || exit 77; shift 2; '
        '"$@"; echo "exit $?"; ls -A; cat *.csv'
    )
    isolated = ["unshare", "-rm", "sh", "-c", script, "sh", str(disk), str(source)]
    done = subprocess.run([*isolated, *export], env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("file systems cannot be mounted here")
    listed = "".join(f"{name}\n" for name in names(source))
    assert done.stdout == f"exit 2\n{listed}{BEFORE * len(list(source.glob('*.csv')))}"
    assert "No space left on device; nothing was replaced" in done.stderr


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
