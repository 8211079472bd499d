"""Sweeps: the file, the keys, the folder and the table; recordings are replaced by rows."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from benchmarks.zoo import zoo_page
from freeze_engine import sweep, worker
from freeze_engine.process.exit_cause import cause_of
from freeze_engine.sweep import SweepOptions, SweepRow, row_columns, run_sweep
from freeze_engine.sweep.environment_facts import EnvironmentFacts, environment_facts
from freeze_engine.sweep.folder import at_work
from freeze_engine.sweep.machine_lock import machine_share
from freeze_engine.sweep.plan_file import plan_of
from freeze_engine.sweep.recording import RowTask, command_of, record_row, status_of
from freeze_engine.sweep.row import read_row, row_text
from freeze_engine.sweep.row_key import row_key
from freeze_engine.sweep.table import write_table
from freeze_engine.sweep.trace_row import trace_columns
from freeze_engine.worker import JobEnded
from tests.builders import small_trace
from tests.sweeps import MODELS, failed_row, make_sweep, sweep_row
from viewer.cli import main
from viewer.cli.sweep_progress import LineProgress
from viewer.text.sweep_summary import sweep_sentences
from viewer.text.sweep_table import row_line, sweep_text

ROOT = Path(__file__).parents[2]
FACTS = EnvironmentFacts("3.11.7", "Linux x86_64", "a processor", (("torch", "2.13.0"),))


def plan(**document: Any) -> sweep.SweepPlan:
    return plan_of({"models": [{"model": "example:resnet18"}], **document}, Path("models.toml"))


def test_models_options_backends_and_environments_multiply(tmp_path: Path) -> None:
    python = tmp_path / "old" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    (tmp_path / "models.toml").write_text(
        """
        [defaults]
        backends = ["torchscript", "inductor"]
        limit = 60
        memory = "4G"
        [environments]
        old = "old"
        new = "old/bin/python"
        [options.plain]
        [options.inference]
        optimize-for-inference = true
        [[models]]
        models = ["example:resnet18", "example:counter"]
        input = "1x3x64x64"
        [[models]]
        model = "nets:net"
        name = "mine"
        options = "plain"
        backends = ["torchscript"]
        environments = ["new"]
        latency = false
        """
    )
    found = sweep.read_plan(tmp_path / "models.toml")
    # optimize_for_inference is TorchScript's, so Inductor has one set of options only.
    assert [row.label for row in found.rows if row.model != "counter"] == [
        "resnet18 · plain · torchscript · old",
        "resnet18 · plain · inductor · old",
        "resnet18 · inference · torchscript · old",
        "resnet18 · plain · torchscript · new",
        "resnet18 · plain · inductor · new",
        "resnet18 · inference · torchscript · new",
        "mine · plain · torchscript · new",
    ]
    first, last = found.rows[0], found.rows[-1]
    assert (first.request.inputs, first.request.limit_s, first.request.memory_bytes) == (("1x3x64x64",), 60.0, 4 << 30)
    assert (first.environment.python, first.measures_latency, last.measures_latency) == (str(python), True, False)
    assert last.paths == (str(tmp_path / "."),)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"modells": []}, "'modells' is not known here. Did you mean models?"),
        ({"models": []}, "there are no models"),
        ({"models": {"model": "a:b"}}, "write [[models]], with two brackets"),
        ({"models": [{"name": "a"}]}, "name one MODEL by model"),
        ({"models": [{"models": ["a:b", "a:c"], "name": "a"}]}, "a name is for one model"),
        ({"models": [{"model": "a:b", "backends": ["induktor"]}]}, "Did you mean inductor"),
        ({"models": [{"model": "a:b", "optimise-for-inference": True}]}, "Did you mean optimize-for-inference or"),
        ({"models": [{"model": "a:b", "latency": "no"}]}, "latency = 'no' cannot be read as true or false"),
        ({"models": [{"model": "a:b", "memory": "much"}]}, "memory: much is not a size"),
        ({"models": [{"model": "a:b", "limit": -1}]}, "limit = -1 cannot be read as a number of seconds"),
        ({"models": [{"model": "a:b", "measure": "off"}]}, "measure = 'off' is neither true nor false"),
        ({"models": [{"model": "a:b", "input": "1x3;"}]}, "'1x3;' is not a shape"),
        ({"models": [{"model": "a:b", "check": ["attribute"]}]}, "there are stale_weights"),
        ({"options": {"x": {"preserv": ["a"]}}}, "options.x: 'preserv' is not known here"),
        ({"environments": {"old": "nowhere"}}, "environments.old: there is no Python"),
        ({"models": [{"model": "a:b"}, {"model": "c:b"}]}, "two recordings are called 'b · default · torchscript'"),
        (
            {"options": {"i": {"mode": "default"}}, "models": [{"model": "a:b"}]},
            "nothing is left to record",
        ),
    ],
)
def test_an_unreadable_file_names_the_place_and_the_remedy(document: dict[str, Any], message: str) -> None:
    with pytest.raises(fe.FreezerError) as raised:
        plan(**document)
    assert str(raised.value).startswith("models.toml: ")
    assert message in str(raised.value)


def test_a_missing_or_broken_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(fe.FreezerError, match="cannot be read: No such file"):
        sweep.read_plan(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[[models")
    with pytest.raises(fe.FreezerError, match="it is no TOML"):
        sweep.read_plan(tmp_path / "bad.toml")


def test_the_key_changes_with_what_a_recording_depends_on(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text("A = 1")
    models: list[dict[str, Any]] = [{"model": "nets:net", "input": ["1x3"]}]

    def key(facts: EnvironmentFacts = FACTS, **changes: Any) -> str:
        found = plan_of({"models": [models[0] | changes]}, tmp_path / "models.toml")
        return row_key(found.rows[0], facts)

    first = key()
    assert key() == first
    assert key(limit=5, memory="1G") == first
    others = [
        key(input=["1x4"]),
        key(name="other"),
        key(measure=False),
        key(preserve=["a"]),
        key(replace(FACTS, packages=(("torch", "2.14.0"),))),
        key(replace(FACTS, processor="another")),
    ]
    (tmp_path / "nets.py").write_text("A = 2")
    assert len({first, *others, key()}) == len(others) + 2
    quantised_from = tmp_path / "float.pt"
    quantised_from.write_text("1")
    models[0]["float-model"] = str(quantised_from)
    compared = key()
    quantised_from.write_text("2")
    assert len({first, compared, key()}) == 3


def test_the_command_of_a_row_records_it_alone() -> None:
    document = {"models": [{"model": "nets:net", "preserve": ["a"], "memory": "2G", "latency": False, "limit": 5}]}
    command = command_of(plan(**document).rows[0])
    assert command == "freezer-ui record nets:net --limit 5 --memory 2048M --preserve a --no-latency"
    request = worker.parse_recording_command(command)
    assert request is not None
    assert (request.memory_bytes, request.limit_s, request.measure) == (2 << 30, 5, fe.Measure(latency=False))


@pytest.mark.parametrize("row", [sweep_row(), failed_row("net"), sweep_row(max_abs_error=float("inf"))])
def test_a_row_comes_back_as_it_was_written(row: SweepRow) -> None:
    assert read_row(row_text(row)) == row


def test_a_row_of_another_version_is_read_as_far_as_it_is_known() -> None:
    text = json.dumps({"key": "k", "model": "m", "new_column": 1})
    assert read_row(text) == SweepRow(key="k", model="m")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"key": 1, "model": "m"}'])
def test_malformed_row_is_refused(text: str) -> None:
    with pytest.raises(fe.FreezerError):
        read_row(text)


class Watcher:
    def __init__(self) -> None:
        self.ends: list[str] = []
        self.counts = (0, 0)

    def planned(self, total: int, done: int) -> None:
        self.counts = (total, done)

    def started(self, key: str, label: str) -> None: ...

    def progress(self, key: str, message: str) -> None: ...

    def ended(self, key: str, row: SweepRow) -> None:
        self.ends.append(row.model)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    """Replaces the recordings, and runs a sweep of two models; returns what was recorded."""
    made: list[str] = []
    outcomes: dict[str, SweepRow] = {}

    def record_row(task: RowTask, output: Path, **_: Any) -> SweepRow:
        made.append(task.planned.model)
        fe.save(small_trace(), output)
        row = outcomes.get(task.planned.model, sweep_row(task.planned.model))
        return replace(row, key=task.key, model=task.planned.model, limit_s=task.planned.request.limit_s)

    monkeypatch.setattr("freeze_engine.sweep.local_pool.record_row", record_row)
    monkeypatch.setattr("freeze_engine.sweep.run.environment_facts", lambda *_: FACTS)

    def run(options: SweepOptions | None = None, models: str = MODELS, **found: SweepRow) -> list[str]:
        made.clear()
        outcomes.update(found)
        (tmp_path / "models.toml").write_text(models)
        run_sweep(sweep.read_plan(tmp_path / "models.toml"), tmp_path / "out", options or SweepOptions(), Watcher())
        return list(made)

    return run


def test_a_sweep_does_nothing_twice(recorded: Callable[..., list[str]], tmp_path: Path) -> None:
    assert recorded() == ["a", "b"]
    found = sweep.read_sweep(tmp_path / "out")
    assert [row.model for row in found.rows] == ["a", "b"]
    assert [path is not None and fe.load(path) == small_trace() for path in map(found.trace_path, found.rows)] == [
        True,
        True,
    ]
    assert recorded() == []
    (tmp_path / "out" / found.rows[0].trace).unlink()
    assert recorded() == ["a"]


def test_failures_stay_until_retried_and_kills_do_not(recorded: Callable[..., list[str]]) -> None:
    recorded(a=failed_row("a"), b=replace(failed_row("b"), status="killed"))
    assert recorded(b=sweep_row("b")) == ["b"]
    assert recorded(SweepOptions(retry=True), a=sweep_row("a")) == ["a"]
    assert recorded(SweepOptions(retry=True)) == []


def test_a_recording_that_ran_into_a_limit_is_made_again_with_a_wider_one(recorded: Callable[..., list[str]]) -> None:
    limited = MODELS.replace("measure = false", "measure = false\nlimit = 10")
    recorded(models=limited, a=replace(failed_row("a"), status="timed_out"))
    assert recorded(models=limited.replace("10", "5")) == []
    assert recorded(models=limited.replace("10", "20"), a=sweep_row("a")) == ["a"]


def test_only_some_recordings_are_made_now(recorded: Callable[..., list[str]], tmp_path: Path) -> None:
    assert recorded(SweepOptions(only=("b *",))) == ["b"]
    assert sweep.read_sweep(tmp_path / "out").waiting == ("a · default · torchscript",)


def test_a_pattern_that_no_recording_matches_is_refused_with_a_name(recorded: Callable[..., list[str]]) -> None:
    with pytest.raises(fe.FreezerError, match=r"like 'example:b\*'; names are such as 'a · default · torchscript'"):
        recorded(SweepOptions(only=("a *", "example:b*")))


def test_a_sweep_without_measurements_keeps_no_values_either() -> None:
    (row,) = plan(defaults={"measure": False, "values": False}).rows
    assert row.request.measure is not None
    assert not row.request.measure.values
    assert not row.measures_latency
    assert plan(defaults={"measure": False}).rows[0].request.measure is None


def test_two_recordings_do_not_share_the_file_of_a_package() -> None:
    kept = {"model": "example:resnet18", "backends": ["aotinductor"], "package": "a.pt2"}
    other = {**kept, "name": "other"}
    assert [row.request.model for row in plan(models=[kept, {**other, "package": "b.pt2"}]).rows] == [kept["model"]] * 2
    with pytest.raises(fe.FreezerError, match=r"would keep their packages in one file, a\.pt2"):
        plan(models=[kept, other])


def test_a_sweep_touches_no_folder_with_something_else(tmp_path: Path) -> None:
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "novel.txt").write_text("Chapter 1")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(fe.FreezerError, match="holds something else"), at_work(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"unfinished", "notes.txt"}
    assert (tmp_path / "unfinished" / "novel.txt").is_file()


def test_looking_at_a_sweep_does_not_keep_it_from_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_sweep(tmp_path / "out", sweep_row())
    with (folder / ".lock").open() as reader:
        real, left = fcntl.flock, [2]
        real(reader, fcntl.LOCK_SH)

        def flock(descriptor: int, kind: int) -> None:
            if kind & fcntl.LOCK_EX:
                left[0] -= 1
                if not left[0]:
                    real(reader, fcntl.LOCK_UN)
            real(descriptor, kind)

        monkeypatch.setattr(fcntl, "flock", flock)
        with at_work(folder):
            assert left[0] <= 0


def test_the_file_of_a_trace_has_a_name_that_file_systems_take(tmp_path: Path) -> None:
    folder = make_sweep(tmp_path / "out", sweep_row("模" * 200, key="long"))
    path = sweep.read_sweep(folder).trace_path(sweep.read_sweep(folder).rows[0])
    assert path is not None
    assert path.is_file()


@pytest.mark.parametrize(
    ("name", "value"), [("trace", 3), ("latency_ns", "8"), ("frozen", True), ("notice_codes", [1]), ("status", None)]
)
def test_a_row_with_a_value_of_another_type_is_damaged(name: str, value: object) -> None:
    given = json.loads(row_text(sweep_row()))
    assert read_row(json.dumps({**given, "time_s": 3, "later_column": value})).time_s == 3
    with pytest.raises(fe.FreezerError, match=f"{name} is"):
        read_row(json.dumps({**given, name: value}))


def test_all_users_of_a_machine_can_lock_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREEZER_UI_MEASURING_LOCK", str(tmp_path / "lock"))
    before = os.umask(0o077)
    try:
        with machine_share(alone=True, is_cancelled=lambda: False) as is_held:
            assert is_held
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o644


def test_a_folder_has_one_sweep_at_a_time(tmp_path: Path) -> None:
    folder = make_sweep(tmp_path / "out", sweep_row())
    with at_work(folder):
        assert sweep.read_sweep(folder).is_running
        with pytest.raises(fe.FreezerError, match="another sweep is at work"), at_work(folder):
            pass
    assert not sweep.read_sweep(folder).is_running


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "damaged"), ('{"version": 9, "name": "", "rows": []}', "newer freezer-ui"), ("[]", "damaged")],
)
def test_a_damaged_folder_says_so(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(fe.FreezerError, match="is not the folder of a sweep"):
        sweep.read_sweep(tmp_path)
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(fe.FreezerError, match=message):
        sweep.read_sweep(tmp_path)


def test_a_row_leads_to_no_file_outside_of_its_folder(tmp_path: Path) -> None:
    folder = make_sweep(tmp_path, sweep_row(trace="../../etc/passwd"), with_traces=False)
    assert sweep.read_sweep(folder).rows[0].trace == ""
    document = {"version": 1, "name": "", "rows": [{"key": "../sweep", "label": "x"}]}
    (tmp_path / "sweep.json").write_text(json.dumps(document))
    with pytest.raises(fe.FreezerError, match="is no key"):
        sweep.read_sweep(folder)


def test_one_that_measures_has_the_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREEZER_UI_MEASURING_LOCK", str(tmp_path / "lock"))

    def held(*, alone: bool) -> bool:
        with machine_share(alone=alone, is_cancelled=iter([False, True]).__next__) as is_held:
            return is_held

    with machine_share(alone=False, is_cancelled=lambda: False):
        assert held(alone=False)
        assert not held(alone=True)
    with machine_share(alone=True, is_cancelled=lambda: False):
        assert not held(alone=False)
    assert held(alone=True)


def test_sweep_that_waits_for_the_machine_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FREEZER_UI_MEASURING_LOCK", str(tmp_path / "lock"))
    task = RowTask("k", plan().rows[0], FACTS)
    progress = LineProgress()
    with machine_share(alone=False, is_cancelled=lambda: False):
        for _ in range(2):
            given_up = record_row(
                task,
                tmp_path / "a.fztrace",
                on_progress=lambda message: progress.progress("k", message),
                is_cancelled=iter([False, False, True]).__next__,
            )
            assert given_up is None
    said = "waiting: it measures, and something else is being recorded on this machine"
    assert capsys.readouterr().err.count(said) == 1


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (JobEnded("finished", None, "recorded 3 steps"), "recorded"),
        (JobEnded("failed", None, "ValueError"), "failed"),
        (JobEnded("timed_out", None, "not done"), "timed_out"),
        (JobEnded("over_limit", None, "it took more"), "over_limit"),
        (JobEnded("crashed", None, f"{cause_of(-signal.SIGKILL)[1]}, while importing torch"), "killed"),
        (JobEnded("crashed", None, f"{cause_of(-signal.SIGSEGV)[1]}, while importing torch"), "crashed"),
    ],
)
def test_the_end_of_a_recording_is_a_status(ended: JobEnded, status: str) -> None:
    assert status_of(ended) == status


def test_the_table_is_read_by_pandas_with_its_descriptions(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow.parquet")
    import pandas

    from freeze_engine.sweep.table import write_table

    rows = (sweep_row("a", notice_codes=("misfold",)), failed_row("b"))
    write_table(tmp_path, rows)
    frame = pandas.read_parquet(tmp_path / "index.parquet")
    assert list(frame.columns) == [name for name, _, _ in row_columns()]
    assert frame["latency_ratio"][0] == 0.8
    assert list(frame["notice_codes"][0]) == ["misfold"]
    assert frame["reason"][1] == rows[1].reason
    schema = pyarrow.read_schema(tmp_path / "index.parquet")
    assert schema.field("frozen").metadata[b"description"].decode() == dict(_meanings())["frozen"]


def _meanings() -> list[tuple[str, str]]:
    return [(name, meaning) for name, _, meaning in row_columns()]


def test_each_column_is_described_in_the_documents() -> None:
    page = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
    lines = [f"| `{name}` | {meaning} |" for name, meaning in _meanings()]
    assert [line for line in lines if line not in page] == []


def test_the_facts_of_an_environment_name_its_packages() -> None:
    facts = environment_facts(None, ("pytest", "no-such-package"))
    assert [name for name, version in facts.packages if version] == ["torch", "pytest"]
    with pytest.raises(fe.FreezerError, match="cannot be used to record"):
        environment_facts("/no/such/python")


def test_the_text_of_a_sweep_has_a_line_for_each_recording() -> None:
    rows = (sweep_row("a", bytes_after=4096), failed_row("b"))
    text = sweep_text(rows)
    assert "a · default · torchscript  recorded  0.80× (0.75–0.85)  1.0e-06  4.00 KiB  10 of 10" in text
    assert (
        "\n1 of 2 recordings are complete; 1 failed (b).\nThe outputs are within torch's tolerances.\n"
        "All weights and buffers in use are frozen.\n"
        "Time per call after freezing: 1 faster.\n"
    ) in text
    assert row_line(rows[1]) == "b · default · torchscript: failed: RuntimeError: it cannot be frozen"


def test_the_outcome_of_a_sweep_names_what_stands_out() -> None:
    rows = (
        sweep_row("a", preserved_names=("w", "b"), latency_claim="slower"),
        sweep_row("a", backend="inductor", is_close=False, latency_claim="no measurable difference"),
        *(sweep_row(name, is_close=None, checks_failed=("round_trip",)) for name in "bcde"),
        replace(failed_row("f"), status="timed_out"),
    )
    assert sweep_sentences(rows) == (
        "6 of 7 recordings are complete; 1 timed out (f).",
        "The outputs of 1 are past torch's tolerances (a · inductor); 4 were not compared.",
        "1 keeps weights or buffers as attributes (2 in a · torchscript).",
        "Time per call after freezing: 4 faster, 1 slower (a · torchscript), 1 without a measurable difference.",
        "Checks failed in 4 (b, c, d, 1 more).",
    )
    failures = [failed_row(name, backend=backend) for name in "abcd" for backend in ("torchscript", "inductor")]
    assert sweep_sentences((*failures, sweep_row("e")))[0] == (
        "1 of 9 recordings are complete; 8 failed (a, b, c, 2 more)."
    )
    assert sweep_sentences((*failures[:3], sweep_row("b", backend="inductor")))[0] == (
        "1 of 4 recordings are complete; 3 failed (a, b · torchscript)."
    )
    unknown = (sweep_row("a"), sweep_row("b", frozen=None))
    assert "All weights and buffers in use are frozen in 1; of 1 their fates are unknown." in sweep_sentences(unknown)
    assert sweep_sentences(()) == ("Nothing is recorded yet.",)


def test_a_dry_run_lists_the_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "models.toml").write_text(MODELS)
    assert main(["sweep", str(tmp_path / "models.toml"), "--dry-run"]) == 0
    assert capsys.readouterr().out == "a · default · torchscript\nb · default · torchscript\n"
    assert main(["sweep", str(tmp_path / "models.toml"), "--dry-run", "--only", "b*"]) == 0
    assert capsys.readouterr().out == "b · default · torchscript\n"


def test_the_command_exits_with_three_if_a_freeze_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models.toml").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    rows = [failed_row("a")]
    monkeypatch.setattr("viewer.cli.sweep.sweep.run_sweep", lambda *_: tuple(rows))
    assert main(["sweep", "models.toml"]) == 3
    assert "a · default · torchscript: failed: RuntimeError" in capsys.readouterr().out
    rows[:] = [sweep_row("a")]
    assert main(["sweep", "models.toml", "-o", str(tmp_path / "out")]) == 0
    assert f"freezer-ui {tmp_path / 'out'}" in capsys.readouterr().err


def test_a_terminal_shows_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    from rich.console import Console

    from viewer.cli.sweep_progress import LiveProgress

    leader, follower = os.openpty()
    with os.fdopen(follower, "w") as stream, LiveProgress(stream) as live:
        live.planned(3, 1)
        live.started("k", "net [b]\x1b[31m")
        live.progress("k", "freezing")
        console = Console(width=100, force_terminal=False)
        with console.capture() as shown:
            console.print(live._picture())
        live.ended("k", sweep_row())
        assert (live.done, live.total) == (2, 3)
    written = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while data := os.read(leader, 1 << 16):
            written += data
    os.close(leader)
    assert "net [b]" in shown.get()
    assert "\x1b[31m" not in shown.get()
    assert "freezing" in shown.get()
    assert "[2/3] net · default · torchscript: recorded in 3.0 s" in written.decode()


def test_a_cluster_of_dask_records_and_returns_the_traces(
    recorded: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")

    def record_row(task: RowTask, output: Path) -> SweepRow:
        fe.save(small_trace(), output)
        return replace(sweep_row(task.planned.model), key=task.key)

    monkeypatch.setattr("freeze_engine.sweep.dask_pool.record_row", record_row)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, host="127.0.0.1", protocol="tcp"
    )
    with cluster:
        assert recorded(SweepOptions(scheduler=cluster.scheduler_address)) == []
        assert recorded(SweepOptions(scheduler=cluster.scheduler_address)) == []
    found = sweep.read_sweep(tmp_path / "out")
    assert [(row.model, row.is_recorded) for row in found.rows] == [("a", True), ("b", True)]
    assert all(fe.load(found.folder / row.trace) == small_trace() for row in found.rows)


def test_the_zoo_lists_a_hundred_architectures_of_four_packages() -> None:
    found = sweep.read_plan(ROOT / "examples" / "zoo.toml")
    models = {row.model for row in found.rows}
    assert len(models) >= 100
    assert {model.partition("_")[0] for model in models} == {"torch", "torchvision", "timm", "transformers"}
    assert {row.request.backend for row in found.rows} == {"torchscript", "inductor"}
    assert not any(row.measures_latency for row in found.rows)


def test_the_table_of_the_zoo_has_what_was_run(tmp_path: Path) -> None:
    rows = (
        sweep_row("torch_lstm", max_abs_error=0.0, checks_passed=("attributes",), steps=12),
        sweep_row("timm_vit", checks_failed=("attributes",), is_close=False, max_abs_error=0.5),
        failed_row("timm_swin", "RuntimeError: a|b"),
    )
    page = zoo_page(sweep.read_sweep(make_sweep(tmp_path / "zoo", *rows, with_traces=False)))
    assert "| torch | torchscript | 1 of 1 | 1 of 1 | 1 of 1 |" in page
    assert "| timm | torchscript | 1 of 2 | 0 of 1 | 0 of 1 |" in page
    assert "| torch lstm | torchscript | yes | equal | true | 12 |  | 3 s |" in page
    assert "| timm vit | torchscript | yes | **past tolerance**, 5.0e-01 | **wrong** |" in page
    assert "| timm swin | torchscript | failed: RuntimeError: a\\|b |" in page


def test_a_row_has_the_figures_of_its_trace() -> None:
    trace = small_trace()
    columns = trace_columns(trace)
    assert columns["steps"] == len(trace.steps)
    assert columns["folds"] == sum(len(step.rewrites) for step in trace.steps)
    assert columns["near_misses"] == len(trace.near_misses)
    fates = [fate.fate for fate in trace.attributes if fate.kind in ("parameter", "buffer")]
    assert columns["frozen"] + columns["preserved"] + columns["dropped"] == len(fates)
    assert columns["preserved"] == fates.count("preserved")
    assert (columns["latency_ratio"], columns["latency_claim"]) == (
        fe.summarize(trace).times[0].ratio.value,
        fe.summarize(trace).times[0].claim,
    )
    uncompared = replace(trace, steps=tuple(_uncompared(step) for step in trace.steps))
    assert trace_columns(uncompared)["unmeasured"] == "the outputs were not compared: other structure"


def _uncompared(step: fe.Step) -> fe.Step:
    return replace(step, numerics=tuple(replace(each, outputs=(), error="other structure") for each in step.numerics))


def test_a_table_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(fe.FreezerError, match=r"missing/index.parquet: the table cannot be written: "):
        write_table(tmp_path / "missing", [sweep_row()])
