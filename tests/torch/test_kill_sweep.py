"""A few cases of each kind of `benchmarks.kill_sweep`, with real processes; the benchmark runs all of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.kill_sweep.circumstances import can_mount, circumstances
from benchmarks.kill_sweep.place import Place
from benchmarks.kill_sweep.running import Run, Strike
from benchmarks.kill_sweep.subjects import recording
from benchmarks.kill_sweep.sweep import Sweep, at_moments, at_points

AROUND = {each.name: each for each in circumstances()}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sweep]:
    folder = tmp_path_factory.mktemp("sweep")
    yield Sweep(folder)
    assert [path.name for path in folder.iterdir() if path.name.startswith("case-")] == []


@pytest.mark.parametrize(
    "strike",
    [
        Strike("record", "child", signal.SIGSEGV, 16),
        Strike("record", "child", signal.SIGKILL, 4, with_older=True),
        Strike("dashboard", "child", signal.SIGTERM, 0.9),
        Strike("record", "owner", signal.SIGTERM, 18),
        Strike("record", "owner", signal.SIGKILL, 30, with_older=True),
        Strike("run", "owner", signal.SIGTERM, 15),
        Strike("dashboard", "owner", signal.SIGKILL, 12),
        Strike("dashboard", "owner", signal.SIGTERM, 20),
    ],
    ids=lambda strike: strike.name,
)
def test_a_strike_loses_nothing_and_leaves_nothing(strike: Strike, sweep: Sweep) -> None:
    outcome = sweep.strike(strike)
    assert outcome.faults == ()


@pytest.mark.parametrize(
    "name",
    [
        "full output folder, 2 pages",
        "full temporary folder, 3 pages",
        "descriptors 8",
        "closing_descriptors",
        "unlinking_and_dying",
        "removing_the_temporary_folder",
    ],
)
def test_a_recording_ends_well_whatever_is_around_it(name: str, sweep: Sweep) -> None:
    around = AROUND[name]
    if around.mount and not can_mount():
        pytest.skip("a process cannot have folders of its own here (unshare -rm)")
    assert sweep.endure(around).faults == ()


@pytest.mark.parametrize("model", ["forking", "leaving_a_daemon"])
def test_process_of_a_model_ends_with_the_killed_command(model: str, tmp_path: Path) -> None:
    place = Place(tmp_path / "case", tmp_path)
    place.make(b"")
    run = Run(place, recording(model), 0)
    try:
        # The command, the process that records, its guard, and what the model started.
        assert run.until(lambda: len(place.processes()) >= 4)
    finally:
        run.close()
    assert place.left_processes() == {}
    assert [path for path in place.temporary.iterdir() if not path.is_symlink()] == []


def test_a_case_is_repeated_by_its_seed_and_its_name() -> None:
    moments = [strike.name for strike in at_moments(200, 20)]
    assert moments == [strike.name for strike in at_moments(200, 20)]
    assert len(set(moments)) == 200
    assert moments[:50] == [strike.name for strike in at_moments(50, 20)]


def test_each_point_is_struck_in_every_way() -> None:
    strikes = list(at_points("record", 14, each=7))
    assert {(strike.when, strike.victim, strike.number) for strike in strikes} == {
        (when, victim, number)
        for when in range(1, 15)
        for victim, numbers in {
            "child": (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV),
            "owner": (signal.SIGKILL, signal.SIGTERM, signal.SIGINT),
        }.items()
        for number in numbers
    }
