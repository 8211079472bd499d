"""The parts of a recording in a process of its own that need neither torch nor a process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.backends.common.observer import FreezeNotes, MethodNotes, NotedStep
from freeze_engine.backends.torchscript.post_mortem import Recovered, recovered
from freeze_engine.models.untrusted.exported_program import is_arithmetic
from freeze_engine.process.exit_cause import cause_of
from freeze_engine.serde.schema import TABLES
from freeze_engine.trace import Failure
from freeze_engine.worker import JobEnded, JobPreview, JobProgress, JobStep, RecordRequest, post_mortem_task
from freeze_engine.worker.eta import Pace, kind_of
from freeze_engine.worker.events import event_line, read_event
from freeze_engine.worker.exit_status import CANCELLED, CRASHED, Death, cancelled_text, read_death, write_death
from freeze_engine.worker.freeze_progress import FreezeProgress, pass_under_way
from freeze_engine.worker.journal import TORCH_LOG, Journal, Now, holds_steps, read_now, read_remains
from freeze_engine.worker.output_file import remove_unfinished, write_output
from freeze_engine.worker.request import read_request, request_text
from freeze_engine.worker.user_code import code_of
from tests.builders import empty_trace, small_trace

REQUESTS = (
    RecordRequest("example:resnet18", Path("a.fztrace")),
    RecordRequest(
        "m:f",
        Path("/b/ü.fztrace"),
        ("1x3", "mask=2:bool"),
        options=fe.TorchScriptOptions(("a.b",), False, True, ("go",)),
        measure=fe.Measure(False, devices=("cpu",), seconds=3.5),
        via="trace",
        device="cuda:0",
        call="mine()",
        name="net",
        trusted=False,
        limit_s=2.5,
        memory_bytes=1 << 32,
        checks=("stale_weights",),
    ),
    RecordRequest("m:f", Path("c"), measure=None),
)
EVENTS = (
    JobProgress("latency: round 3 of 80", 120, 1000, 3.25),
    JobProgress("freezing", 1, 3, None),
    JobStep(3, "inline", "Inline", "forward", None, True, 12),
    JobPreview(Path("/a/ü.fztrace")),
    JobEnded("crashed", Path("a"), "died\nthere", "Inline", ("one", "two")),
    JobEnded("cancelled", None, "cancelled"),
)


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_a_request_arrives_as_it_was(request_):
    assert read_request(request_text(request_)) == request_


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_an_event_arrives_as_it_was(event):
    line = event_line(event)
    assert "\n" not in line
    assert read_event(line.encode()) == event


@pytest.mark.parametrize("line", [b"", b"hello", b"[]", b"3", b"{}", b'{"event": "nope"}', b'{"event": "step"}'])
def test_malformed_event_is_refused(line):
    with pytest.raises(ValueError):  # noqa: PT011
        read_event(line)


def test_remaining_time_is_estimated_per_phase():
    pace = Pace(0, 0, 100.0)
    reports = [
        # message, units done, of how many, when, and what is left
        ("freezing", 1, 3, 110.0, None),  # three units of different kinds tell nothing
        ("latency: warming up eager", 0, 1000, 120.0, None),
        ("latency: warming up step 3", 100, 1000, 126.0, None),  # the rounds may be faster or slower
        ("latency: round 1 of 60", 200, 1000, 130.0, None),
        ("latency: round 2 of 60", 300, 1000, 130.5, None),  # too early
        ("latency: round 3 of 60", 400, 1000, 132.0, 6.0),  # of the rounds alone: 2 s for a quarter of them
        ("latency: round 61, since those so far differ too much", 1000, 1000, 140.0, None),  # how many more, depends
        ("numerics: running the eager module", 0, 1000, 141.0, None),
        ("numerics: comparing step 3", 200, 1000, 150.0, None),  # the eager module took longer than a step does
        ("numerics: comparing step 4", 600, 1000, 152.0, 2.0),
        ("numerics: comparing step 3", 250, 1000, 153.0, None),  # counted anew
    ]
    for message, done, total, now_s, left_s in reports:
        pace = pace.advanced(kind_of(message), done, total, now_s)
        assert pace.left_s(now_s) == left_s, (message, done, total)


@pytest.mark.parametrize(("done", "total"), [(0, 0), (5, 0), (2000, 1000)])
def test_units_that_make_no_sense_tell_no_time(done, total):
    assert Pace(done, total, 0.0).left_s(50.0) is None


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        (0, "exit code 0", "the process ended by itself, with exit code 0"),
        (-11, "SIGSEGV", "the process was ended by SIGSEGV (segmentation fault)"),
        (
            -9,
            "SIGKILL",
            "the process was ended by SIGKILL (killed; the system does that where memory runs out)",
        ),
    ],
)
def test_causes_of_death(code, kind, message):
    assert cause_of(code) == (kind, message)


def test_a_signal_without_a_name():
    assert cause_of(-99)[0] == "signal 99"


def test_a_death_arrives_as_it_was(tmp_path):
    death = Death(CRASHED, "SIGSEGV", "died", Path("/a/b"), True, 3, ("one", "two"))
    write_death(death, tmp_path)
    assert read_death(tmp_path) == death


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (("build", "", None), "cancelled"),
        (("build", "loading the model", None), "cancelled while loading the model"),
        (("build", "compiling: layout", None), "cancelled while compiling: layout"),
        (("measure", "latency: round 3 of 80", None), "cancelled while measuring latency: round 3 of 80"),
        (("measure", "writing the trace", None), "cancelled while writing the trace"),
        (("freeze_module", "Inline", "forward"), "cancelled in Inline of forward"),
        (("compile", "the first call", None), "cancelled in the first call"),
    ],
)
def test_cancelled_recording_names_its_pass(place, text):
    assert cancelled_text(place) == text


@pytest.mark.parametrize("lines", [[], ['["trace", {"steps": []}]'], ['["notes", {'], ['["trace", {"steps": [[0, 1']])
def test_a_journal_without_steps_holds_none(lines, tmp_path):
    (tmp_path / "journal.jsonl").write_text("\n".join(lines))
    assert not holds_steps(tmp_path)


def test_a_journal_holds_steps_once_they_are_noted(tmp_path, written):
    empty = tmp_path / "empty"
    empty.mkdir()
    with closing(Journal(empty)) as journal:
        journal.trace(empty_trace())
        assert not holds_steps(empty)
        journal.trace(small_trace())
        assert holds_steps(empty)
    assert holds_steps(tmp_path)


LOG = (
    b"[DEBUG freeze_module.cpp:132] Analyzing function: forward\n",
    b"[DEBUG freeze_module.cpp:143] Recording mutable attrs for function: forward\n",
    b"[DEBUG freeze_module.cpp:148] Propagating function: forward\n",
    b"[DEBUG graph_executor.cpp:999] Before EliminateDeadCode (beginning of runOptimization)\n",
    b"[DEBUG graph_executor.cpp:1001] After EliminateCommonSubexpression , before PeepholeOptimize\n"
    b"[DEBUG graph_executor.cpp:1001]   return (%x)\n",
    b"[DEBUG graph_executor.cpp:1002] After ConstantPooling\n",
    b"[DEBUG freeze_module.cpp:190] Cleaning up module\n",
)


@pytest.mark.parametrize(
    ("count", "name"),
    [
        (0, None),
        (1, "Inline of forward"),
        (2, "RecordMutableAttrs of forward"),
        (3, "PropagateAttributes of forward"),
        (4, "EliminateDeadCode"),
        (5, "PeepholeOptimize"),
        (7, "CleanupFrozenModule"),
    ],
)
def test_running_pass_is_read_from_the_log(count, name):
    assert pass_under_way(b"".join(LOG[:count])) == name


def test_passes_inside_the_freeze_are_reported_once(tmp_path):
    progress = FreezeProgress(tmp_path / "log")
    assert progress.event() is None
    progress.note(JobProgress("freezing", 1, 3, None))
    assert progress.event() is None
    (tmp_path / "log").write_bytes(b"".join(LOG[:4]))
    found = progress.event()
    assert found == JobProgress("freezing: EliminateDeadCode", 1, 3, None)
    progress.note(found)
    assert progress.event() is None
    (tmp_path / "log").write_bytes(b"".join(LOG[:5]))
    assert progress.event() == JobProgress("freezing: PeepholeOptimize", 1, 3, None)
    (tmp_path / "log").write_bytes(b"".join(LOG))
    progress.note(JobProgress("freezing: RemoveDropout of forward", 1, 3, None))
    assert progress.event() is None


GRAPH = """graph(%self : __torch__.Net,
      %x : Tensor):
  %w : Tensor = prim::GetAttr[name="w"](%self)
  %y : Tensor = aten::mul(%x, %w) # net.py:3:4
  return (%y)
"""
NOTES = FreezeNotes((MethodNotes("forward", GRAPH, GRAPH, ("", "inner")),), ("w",))
HEAD = empty_trace()
STEP = NotedStep("optimize_frozen_graph", ("RemoveDropout",), "forward", None, 5, GRAPH)


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Journal]:
    """A journal in the test's folder, of a freeze that has just begun."""
    with closing(Journal(tmp_path)) as journal:
        journal.doing("freezing")
        journal.trace(HEAD)
        journal.notes(NOTES)
        yield journal


def test_journal_without_entries_leaves_no_trace(tmp_path):
    assert read_remains(tmp_path) is None
    assert read_now(tmp_path) == Now()


def test_a_journal_is_read_up_to_where_it_was_cut(written, tmp_path):
    assert read_now(tmp_path) == Now("freezing")
    remains = read_remains(tmp_path)
    assert (remains.trace, remains.notes, remains.frozen, remains.steps, remains.log) == (HEAD, NOTES, None, (), None)
    written.frozen({"forward": GRAPH})
    written.under_way(("optimize_frozen_graph", "RemoveDropout", "forward"))
    assert read_remains(tmp_path).under_way == ("optimize_frozen_graph", "RemoveDropout", "forward")
    written.ended(STEP)
    remains = read_remains(tmp_path)
    assert (remains.under_way, [each.text for each in remains.steps]) == (None, [None])
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert read_remains(tmp_path).steps == ()


def test_a_long_text_of_what_is_done_is_cut_and_a_shorter_one_leaves_nothing_of_it(written, tmp_path):
    for text in ("ü" * 1000, "\0" * 1000, "\udc80" * 1000):
        written.doing(text)
        written.under_way((text, text, text))
        told = text[:200].replace("\udc80", "?")  # no page can be sent a lone surrogate
        assert read_now(tmp_path) == Now(told, (told,) * 3)
    written.doing("measuring")
    written.under_way(None)
    assert read_now(tmp_path) == Now("measuring")


def test_a_log_that_ends_in_the_middle_of_a_graph(written, tmp_path):
    shown = "".join(f"[DEBUG graph_executor.cpp:999] {line}\n" for line in GRAPH.splitlines()).encode()
    beginning = LOG[4].splitlines(keepends=True)[0]
    log = b"".join(LOG[:4]) + shown + beginning + shown.replace(b":999", b":1001")[:-40]
    (tmp_path / TORCH_LOG).write_bytes(log)
    found = recovered(read_remains(tmp_path))
    fe.check_trace(found.trace)
    assert [(step.name, step.method) for step in found.trace.steps] == [
        ("input", "forward"),
        ("Inline", "forward"),
        ("RecordMutableAttrs", "forward"),
        ("PropagateAttributes", "forward"),
    ]
    assert [node.module for node in found.trace.steps[-1].graph.walk()] == ["", "inner"]
    assert found.died_in == ("freeze_module", "EliminateDeadCode", "forward")
    assert found.messages[-1] == "graph_executor: Before EliminateDeadCode (beginning of runOptimization)"


def test_a_freeze_whose_log_was_not_taken(written, tmp_path):
    found = recovered(read_remains(tmp_path))
    assert found.died_in == ("freeze_module", "freeze_module", None)
    assert [step.name for step in found.trace.steps] == ["input"]


def test_without_a_log_the_graphs_that_were_in_hand_are_the_steps(written, tmp_path):
    written.frozen({"forward": GRAPH})
    written.ended(STEP)
    found = recovered(read_remains(tmp_path))
    assert [step.name for step in found.trace.steps] == [
        "input",
        "EliminateNoOps, LowerSimpleTuples, CleanupFrozenModule",
        "RemoveDropout",
    ]
    assert found.died_in is None


def test_the_output_is_whole_or_as_it_was(tmp_path):
    output, folder = tmp_path / "a.fztrace", tmp_path / "job-1"
    write_output(HEAD, output, folder)
    assert fe.load(output) == HEAD
    (tmp_path / ".job-1.unfinished").write_bytes(b"half")
    remove_unfinished(output, folder)
    remove_unfinished(output, folder)
    assert list(tmp_path.iterdir()) == [output]
    with pytest.raises(fe.TraceFileError, match="cannot be written"):
        write_output(HEAD, tmp_path / "nowhere" / "a", folder)


@pytest.mark.parametrize(
    "text",
    [
        "Symbol('s77', positive=True, integer=True)",
        "Mul(Integer(3), Symbol('s77', positive=True, integer=True))",
        "2*s0 + Max(1, u3)//4",
        "L['x'].size()[0] >= 2 and L['args'][0].stride()[1] == 1",
        "Float('0.5', precision=53)",
    ],
)
def test_arithmetic(text):
    assert is_arithmetic(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('x')",
        "S('__import__(\"os\")')",
        "exec('x')",
        "eval(chr(95))",
        'Symbol(\'__import__("os").system("x")\')',
        "Symbol.__class__",
        "().__class__.__bases__[0]",
        "L['x'].numpy().tofile('a')",
        "(lambda: 1)()",
        "[open for x in 'a']",
        "f'{open}'",
        "Max(open)",
        "s0)",
        "x := 3",
        "",
        "Mul(" * 2000,
    ],
)
def test_more_than_arithmetic(text):
    assert not is_arithmetic(text)


def test_a_trace_is_noted_as_it_grows(tmp_path):
    trace = small_trace()
    with closing(Journal(tmp_path)) as journal:
        for count in (*range(len(trace.steps) + 1), len(trace.steps)):
            journal.trace(replace(trace, steps=trace.steps[:count]))
            assert read_remains(tmp_path).trace.steps == trace.steps[:count]
        last = (tmp_path / "journal.jsonl").read_text().splitlines()[-1]
        journal.under_way(("freeze_module", "Inline", "forward"))
    empty: dict[str, list] = {kind.__name__: [] for kind in TABLES}
    assert json.loads(last) == ["trace", {"tables": empty, "steps": [], "trace": None}]
    steps: list[fe.Step] = []
    assert recovered(read_remains(tmp_path), steps.append) == Recovered(trace, ("freeze_module", "Inline", "forward"))
    assert tuple(steps) == trace.steps


@pytest.fixture
def full_disk(tmp_path: Path) -> Path:
    """A folder in whose journal there is no space left."""
    (tmp_path / "journal.jsonl").symlink_to("/dev/full")
    return tmp_path


NO_SPACE = "No space left on device"


def test_recording_continues_without_a_journal(full_disk):
    with closing(Journal(full_disk)) as journal:
        journal.doing("compiling")
        assert journal.lost is None
        journal.trace(small_trace())
        assert journal.lost == NO_SPACE
        journal.trace(small_trace())
        journal.notes(NOTES)
        journal.under_way(("post_grad", "pass", "forward"))
    assert read_now(full_disk) == Now("compiling", ("post_grad", "pass", "forward"), NO_SPACE)


def test_unwritable_folder_gets_no_file(tmp_path):
    with closing(Journal(tmp_path / "nowhere")) as journal:
        journal.doing("compiling")
        journal.trace(small_trace())
        assert journal.lost == "No such file or directory"
    assert read_now(tmp_path / "nowhere") == Now()
    assert read_remains(tmp_path / "nowhere") is None


def test_incomplete_journal_states_where_it_ends(tmp_path):
    trace = small_trace()
    told: list[Any] = []
    with closing(Journal(tmp_path)) as journal:
        journal.trace(trace)
        journal.under_way(("compile", "GraphLowering.run", "forward"))
    now = json.loads((tmp_path / "now").read_text()) | {"lost": NO_SPACE}
    (tmp_path / "now").write_text(json.dumps(now))
    output = tmp_path / "a.fztrace"
    printed = (
        *(f"line {number}" for number in range(100)),
        "Current thread 0x1 (most recent call first):",
        *(f'  File "{number}.py"' for number in range(90)),
    )
    write_death(Death(CRASHED, "SIGKILL", "killed", output, False, 2, printed), tmp_path)
    post_mortem_task.run(tmp_path, told.append)
    left = fe.load(output)
    assert [notice.code for notice in left.notices[len(trace.notices) :]] == ["no_journal", "last_words"]
    assert NO_SPACE in left.notices[-2].message
    said = left.notices[-1].message.splitlines()
    assert (said[1], said[21], said[-2:]) == ("line 80", printed[100], ['  File "38.py"', "  … and 51 more lines"])
    assert left.failure == Failure("SIGKILL", "killed", "compile", "GraphLowering.run", "forward", len(trace.steps) - 1)
    events = [read_event(line) for line in told]
    assert [event.index for event in events[:-1]] == list(range(2, len(trace.steps)))
    assert events[-1].message == "killed, in GraphLowering.run of forward"


def test_cancelled_recording_keeps_its_steps(tmp_path):
    trace, output = small_trace(), tmp_path / "a.fztrace"
    told: list[Any] = []
    with closing(Journal(tmp_path)) as journal:
        journal.trace(trace)
        journal.under_way(("compile", "GraphLowering.run", "forward"))
    write_death(Death(CANCELLED, "cancelled", "it was cancelled", output, False, len(trace.steps), ()), tmp_path)
    post_mortem_task.run(tmp_path, told.append)
    failure = Failure("cancelled", "it was cancelled", "compile", "GraphLowering.run", "forward", len(trace.steps) - 1)
    assert fe.load(output) == replace(trace, failure=failure)
    text = "cancelled in GraphLowering.run of forward"
    assert [read_event(line) for line in told] == [JobEnded("cancelled", output, text, "GraphLowering.run")]


def test_everything_is_written_as_json(written, tmp_path):
    written.frozen({"forward": GRAPH})
    for line in (tmp_path / "journal.jsonl").read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize("left", [ValueError("3"), SystemExit(3)])
def test_exit_in_user_code_is_distinguished_from_ours(left: BaseException) -> None:
    with (
        pytest.raises(fe.ModelSpecError, match=f"MODEL 'a:b': its own code raised {type(left).__name__}: 3"),
        code_of("a:b"),
    ):
        raise left
