"""Recent traces, and the names of recordings."""

from __future__ import annotations

import errno
import json
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from viewer.dashboard.library import (
    MAX_RECENT,
    Library,
    RecentTrace,
    drop_if_empty,
    new_recording,
    recent_trace,
    recordings_folder,
)

NOW = datetime(2026, 7, 5, 4, 3, 2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "recent.json"


def _entry(path: Path | str) -> RecentTrace:
    return recent_trace(small_trace(), Path(path))


def _paths(library: Library) -> list[str]:
    return [entry["path"] for entry in library.view()["recent"]]


def test_entry_describes_its_trace() -> None:
    trace = small_trace()
    assert recent_trace(trace, Path("/x.fztrace")) == RecentTrace(
        path="/x.fztrace",
        name=trace.name,
        backend="torchscript",
        torch=trace.environment.torch,
        created=trace.created,
        steps=12,
        failed=None,
        nodes=fe.step_metrics(trace)[-1].nodes,
        verdict=fe.summarize(trace).sentence,
    )
    failed = failed_trace()
    assert failed.failure is not None
    assert recent_trace(failed, Path("/x.fztrace")).failed == failed.failure.type
    assert recent_trace(failed, Path("/x.fztrace")).ending == "freeze failed"
    assert recent_trace(replace(trace, steps=()), Path("/x.fztrace")).nodes is None


@pytest.mark.parametrize(
    ("kind", "stage", "ending"),
    [
        ("cancelled", "measure", "cancelled"),
        ("KeyboardInterrupt", "freeze_module", "cancelled"),
        ("time limit", "freeze_module", "out of time"),
        ("memory limit", "measure", "over its limit"),
        ("SIGSEGV", "freeze_module", "crashed"),
        ("RuntimeError", "measure", "recording failed"),
        ("RuntimeError", "freeze_module", "freeze failed"),
    ],
)
def test_a_recording_that_was_ended_is_no_failed_freeze(kind: str, stage: str, ending: str) -> None:
    trace = failed_trace()
    assert trace.failure is not None
    ended = replace(trace, failure=replace(trace.failure, type=kind, stage=stage))
    assert recent_trace(ended, Path("/x.fztrace")).ending == ending


def test_the_latest_comes_first_once(file: Path) -> None:
    library = Library(file)
    assert library.remember(_entry("/a"))
    assert library.remember(_entry("/b"), _entry("/c"))
    assert not library.remember(_entry("/b"), _entry("/c"))
    assert library.remember(_entry("/a"))
    assert _paths(library) == ["/a", "/b", "/c"]
    assert _paths(Library(file)) == ["/a", "/b", "/c"]
    library.forget("/b")
    library.forget("/never there")
    assert _paths(library) == ["/a", "/c"]


def test_the_list_is_bounded(file: Path) -> None:
    library = Library(file)
    for number in range(MAX_RECENT + 5):
        library.remember(_entry(f"/{number}"))
    assert _paths(library) == [f"/{number}" for number in reversed(range(5, MAX_RECENT + 5))]


def test_missing_file_is_reported(file: Path, tmp_path: Path) -> None:
    library = Library(file)
    there = tmp_path / "there.fztrace"
    there.touch()
    library.remember(_entry(there), _entry("/gone"))
    assert [entry["missing"] for entry in library.view()["recent"]] == [False, True]


def test_examples_are_listed(file: Path) -> None:
    examples = Library(file).view()["examples"]
    assert [example["name"] for example in examples] == list(fe.EXAMPLES)
    assert examples[0] == {
        "name": "resnet18",
        "summary": "ResNet-18 on one 224 × 224 image",
        "shows": "every batch norm folds into its convolution",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"path": "/a"}',
        "[1, null, {}]",
        '[{"path": 3}]',
        "\x00",
        json.dumps([asdict(_entry("/a")) | {"steps": "many"}]),
        json.dumps([asdict(_entry("/a")) | {"unknown": 1}]),
    ],
)
def test_a_damaged_list_is_forgotten_and_written_anew(text: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_text(text)
    library = Library(file)
    assert _paths(library) == []
    library.remember(_entry("/a"))
    assert _paths(library) == ["/a"]


def test_undamaged_entries_are_kept(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(json.dumps([{"path": "/half"}, asdict(_entry("/a"))]))
    assert _paths(Library(file)) == ["/a"]


def test_unwritable_list_raises_no_error(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    library = Library(tmp_path / "a file" / "recent.json")
    library.remember(_entry("/a"))
    assert _paths(library) == []


def test_no_scratch_file_is_left(file: Path) -> None:
    Library(file).remember(_entry("/a"))
    assert list(file.parent.iterdir()) == [file]


def test_recordings_never_share_a_file(tmp_path: Path) -> None:
    names = [new_recording(tmp_path, "net", NOW).name for _ in range(3)]
    stem = "net-20260705-040302"
    assert names == [f"{stem}.fztrace", f"{stem}-2.fztrace", f"{stem}-3.fztrace"]


@pytest.mark.parametrize(
    ("name", "stem"), [("../../etc/passwd", "etc-passwd"), ("a b\n", "a-b"), ("..", "model"), ("é" * 99, "é" * 80)]
)
def test_names_of_models_are_no_paths(name: str, stem: str, tmp_path: Path) -> None:
    path = new_recording(tmp_path, name, NOW)
    assert (path.parent, path.name) == (tmp_path, f"{stem}-20260705-040302.fztrace")


def test_only_an_empty_recording_is_dropped(tmp_path: Path) -> None:
    path = new_recording(tmp_path, "net", NOW)
    drop_if_empty(path)
    drop_if_empty(path)
    assert not path.exists()
    path.write_text("trace")
    drop_if_empty(path)
    assert path.exists()


def test_recordings_go_to_the_user_s_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert recordings_folder() == tmp_path / "freezer-ui" / "recordings"
    assert new_recording(recordings_folder(), "net", NOW).parent == recordings_folder()


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "recordings"):
        with pytest.raises(fe.FreezerError, match=r"a recording cannot be written to .*; make room there, or name"):
            new_recording(folder, "net", NOW)


def test_unwritable_list_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    Library(tmp_path / "recent.json").forget("x")
    assert not list(tmp_path.iterdir())
