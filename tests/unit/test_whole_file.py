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
from freeze_engine.process import write_files
from freeze_engine.process.whole_file import write_whole
from tests.builders import small_trace

ROOT = Path(__file__).parents[2]
LIMIT_S = 300
BEFORE = "what was there before"
_WRITER = """\
import os, sys
from pathlib import Path
from freeze_engine.process import whole_file

def die(*args, **named):
    os._exit(9)

os.link = die
whole_file.write_whole(Path("a"), b"new" * 100_000, Path("a.unfinished"))
"""


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (b"old", b"new"):
        write_whole(path, data, tmp_path / "a.unfinished")
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_file_is_replaced_also_without_unnamed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    assert (
        subprocess.run([sys.executable, "-c", _WRITER], cwd=tmp_path, env=environment, timeout=LIMIT_S).returncode == 9
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_unwritable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "a", b"new", tmp_path / "none" / "a.unfinished")
    with pytest.raises(ValueError, match="null"):
        write_whole(tmp_path / "a\0", b"new", tmp_path / "a\0.unfinished")


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_files_are_replaced_and_nothing_else_is_left(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(BEFORE)
    write_files({first: b"one", second: b"two"})
    assert (first.read_bytes(), second.read_bytes(), names(tmp_path)) == (b"one", b"two", ["a.csv", "b.csv"])
    assert first.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_link_keeps_leading_to_its_file(tmp_path):
    (tmp_path / "real").write_text(BEFORE)
    (tmp_path / "link").symlink_to("real")
    write_files({tmp_path / "link": b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_no_file_is_replaced_if_one_cannot_be_written(tmp_path):
    first = tmp_path / "a.csv"
    first.write_text(BEFORE)
    with pytest.raises(OSError, match="No such file") as raised:
        write_files({first: b"new", tmp_path / "missing" / "b.csv": b"new"})
    assert raised.value.filename == str(tmp_path / "missing" / "b.csv")
    assert (first.read_text(), names(tmp_path)) == (BEFORE, ["a.csv"])


def test_device_file_is_refused(tmp_path):
    with pytest.raises(OSError, match="not an ordinary file"):
        write_files({tmp_path / "a.csv": b"new", Path("/dev/null"): b"new"})
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
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=LIMIT_S)
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
        timeout=LIMIT_S,
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
    subprocess.run(export, cwd=source, env=environment, check=True, capture_output=True, timeout=LIMIT_S)
    for each in source.glob("*.csv"):
        each.write_text(BEFORE)
    pages = sum(-(-each.stat().st_size // 4096) for each in source.iterdir())
    script = (
        f'mount -t tmpfs -o size={(pages + 1) * 4096} none "$1" && cp "$2"/* "$1" && cd "$1" || exit 77; shift 2; '
        '"$@"; echo "exit $?"; ls -A; cat *.csv'
    )
    isolated = ["unshare", "-rm", "sh", "-c", script, "sh", str(disk), str(source)]
    done = subprocess.run(
        [*isolated, *export], env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("file systems cannot be mounted here")
    listed = "".join(f"{name}\n" for name in names(source))
    assert done.stdout == f"exit 2\n{listed}{BEFORE * len(list(source.glob('*.csv')))}"
    assert "No space left on device; nothing was replaced" in done.stderr


def _has_nameless_files(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except (OSError, AttributeError):
        return False
    return True


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
