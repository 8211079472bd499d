from __future__ import annotations

from pathlib import Path

from freeze_engine.measure.machine_load import Reading, machine_notes, reading

QUIET = Reading(100.0, 20.0, 10.0, 3e9)


def test_a_quiet_machine_is_not_remarked_on() -> None:
    assert machine_notes(QUIET, Reading(120.0, 31.0, 20.0, 2.9e9)) == ()


def test_load_of_other_programs_excludes_this_process() -> None:
    assert machine_notes(QUIET, Reading(120.0, 36.0, 20.0, 3e9)) == (
        "busy: other programs took 30% of the processors meanwhile; stop them",
    )


def test_falling_clock_is_reported() -> None:
    assert machine_notes(QUIET, Reading(120.0, 30.0, 20.0, 2.4e9)) == (
        "throttling: the processors' clock fell from 3.00 to 2.40 GHz meanwhile; cool the machine, or fix its clock",
    )


def test_unknown_facts_get_no_remark() -> None:
    unknown = Reading(None, None, 0.0, None)
    assert machine_notes(unknown, unknown) == ()
    assert machine_notes(QUIET, QUIET) == ()


def test_the_kernels_files_are_read(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 200 600 50 0 0 50 10 0\ncpu0 1 1 1 1\n")
    for number, text in enumerate(("1200000\n", "3400000\n", "")):
        (tmp_path / f"cpu{number}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{number}" / "cpufreq" / "scaling_cur_freq").write_text(text)
    found = reading(stat, tmp_path)
    assert found.total_s is not None
    assert found.busy_s is not None
    assert (found.busy_s / found.total_s, found.clock_hz) == (0.35, 3.4e9)
    assert found.own_s > 0


def test_a_machine_without_these_files_is_unknown(tmp_path: Path) -> None:
    found = reading(tmp_path / "stat", tmp_path)
    assert (found.total_s, found.busy_s, found.clock_hz) == (None, None, None)
