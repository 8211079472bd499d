"""torch's log of one freeze, taken apart into passes."""

from __future__ import annotations

import pytest

from freeze_engine.backends.torchscript.ir_text import parse_graph
from freeze_engine.backends.torchscript.log import CapturedLog
from freeze_engine.backends.torchscript.logged_steps import LoggedStep, read_log, with_subgraph

CALL = 'graph(%self : Net, %x : Tensor):\n  %w : Tensor = prim::GetAttr[name="w"](%self)\n  return (%w)'
FOLDED = "graph(%self : Net, %x : Tensor):\n  %self.w : Tensor = prim::Constant[value=<Tensor>]()\n  return (%self.w)"


def said(file: str, line: int, message: str, graph: str = "") -> bytes:
    lines = [message, *graph.splitlines()]
    return b"".join(f"[DEBUG {file}.cpp:{line:03}] {each}\n".encode() for each in lines)


def begins(what: str, method: str) -> bytes:
    lines = {"Analyzing function": 132, "Recording mutable attrs for function": 143, "Propagating function": 151}
    return said("freeze_module", lines[what], f"{what}: {method}")


def inlined(before: str, after: str, inner: bytes = b"") -> bytes:
    return said("inliner", 86, "Before Inlining: ", before) + inner + said("inliner", 88, "After Inlining: ", after)


def optimised(line: int, message: str, graph: str = FOLDED) -> bytes:
    return said("graph_executor", line, message, graph)


ANALYSED = begins("Analyzing function", "forward") + inlined(CALL, CALL)
RECORDED = begins("Recording mutable attrs for function", "forward") + said("freeze_module", 322, "attribute: n is set")
PROPAGATED = begins("Propagating function", "forward") + said("freeze_module", 716, "Folding GetAttr %w with self.w")
CLEANED = (
    optimised(1017, "Before EliminateDeadCode (beginning of runOptimization)")
    + optimised(1020, "After EliminateDeadCode, before UnrollConstantLoops")
    + optimised(1047, "After UnrollConstantLoops, before RemoveListMutation")
    + optimised(1062, "After EliminateCommonSubexpression, before CheckInplace")
    + optimised(1065, "After CheckInplace (end of runOptimization)")
)
END = said("freeze_module", 156, "Cleaning up module")


def brief(steps: tuple[LoggedStep, ...]) -> list[tuple[str, str, str]]:
    return [(step.stage, step.name, step.method) for step in steps]


def test_a_whole_freeze():
    reading = read_log(CapturedLog(ANALYSED + RECORDED + PROPAGATED + CLEANED + END), ["forward"], 0)
    before, after = parse_graph(CALL), parse_graph(FOLDED)
    assert reading.steps == tuple(
        LoggedStep(stage, name, "forward", graph, None, log)
        for stage, name, graph, log in [
            ("input", "input", before, ()),
            ("inline", "Inline", before, ()),
            ("freeze_module", "RecordMutableAttrs", before, ("attribute: n is set",)),
            ("freeze_module", "PropagateAttributes", after, ("Folding GetAttr %w with self.w",)),
            ("freeze_module", "EliminateDeadCode", after, ()),
            ("freeze_module", "UnrollConstantLoops", after, ()),
            ("freeze_module", "RemoveListMutation, EliminateCommonSubexpression", after, ()),
            ("freeze_module", "CheckInplace", after, ()),
        ]
    )
    assert (reading.where, reading.pending) == (("freeze_module", "CleanupFrozenModule", None), ())


def test_functions_that_get_inlined_are_no_steps():
    inner = inlined("graph():\n  return ()", "graph():\n  return ()")
    reading = read_log(
        CapturedLog(begins("Analyzing function", "forward") + inlined(CALL, FOLDED, inner)), ["forward"], 0
    )
    assert [(step.name, step.graph) for step in reading.steps] == [
        ("input", parse_graph(CALL)),
        ("Inline", parse_graph(FOLDED)),
    ]


def test_methods_of_the_same_name_are_told_apart_by_their_order():
    methods = ["forward", "left.forward", "right.forward"]
    log = b"".join(begins("Analyzing function", "forward") + inlined(CALL, CALL) for _ in methods)
    log += b"".join(begins("Recording mutable attrs for function", "forward") for _ in methods)
    log += b"".join(begins("Propagating function", "forward") + CLEANED for _ in methods)
    reading = read_log(CapturedLog(log + END), methods, 0)
    for stage in ("RecordMutableAttrs", "PropagateAttributes", "CheckInplace"):
        assert [step.method for step in reading.steps if step.name == stage] == methods


@pytest.mark.parametrize(
    ("log", "where", "pending"),
    [
        (b"", ("freeze_module", "CheckPreservedNames", None), ()),
        (begins("Analyzing function", "forward"), ("inline", "Inline", "forward"), ()),
        (ANALYSED, ("inline", "Inline", "forward"), ()),
        (
            ANALYSED + RECORDED,
            ("freeze_module", "RecordMutableAttrs", "forward"),
            ("attribute: n is set",),
        ),
        (
            ANALYSED + RECORDED + PROPAGATED,
            ("freeze_module", "PropagateAttributes", "forward"),
            ("Folding GetAttr %w with self.w",),
        ),
        (
            ANALYSED + RECORDED + PROPAGATED + CLEANED[: CLEANED.index(b"[DEBUG graph_executor.cpp:1047]")],
            ("freeze_module", "after EliminateDeadCode", "forward"),
            (),
        ),
    ],
)
def test_where_the_log_ends(log, where, pending):
    reading = read_log(CapturedLog(log), ["forward"], 0)
    assert (reading.where, reading.pending) == (where, pending)


def test_passes_that_came_in_one_growth_of_the_log_have_no_duration():
    parts = [ANALYSED, RECORDED, PROPAGATED, CLEANED, END]
    offsets = [len(b"".join(parts[: count + 1])) for count in range(len(parts))]
    log = CapturedLog(b"".join(parts), tuple(zip(offsets, (100, 300, 350, 900, 1000), strict=True)))
    found = {step.name: step.duration_ns for step in read_log(log, ["forward"], 40).steps}
    # Of several messages in one growth only the last one's time is known, so none of these can be told.
    assert found == {
        "input": None,
        "Inline": None,
        "RecordMutableAttrs": None,
        "PropagateAttributes": None,
        "EliminateDeadCode": None,
        "UnrollConstantLoops": None,
        "RemoveListMutation, EliminateCommonSubexpression": None,
        "CheckInplace": None,
    }


def test_each_message_with_a_time_of_its_own_gives_each_pass_its_duration():
    data = ANALYSED + RECORDED + PROPAGATED + CLEANED + END
    ends = [record.end for record in CapturedLog(data).records]
    log = CapturedLog(data, tuple((end, 100 * number) for number, end in enumerate(ends, 1)))
    steps = read_log(log, ["forward"], 0).steps
    assert [step.duration_ns for step in steps] == [None, 100, 200, 200, 100, 100, 100, 100]


FORK = """\
graph(%x : Tensor):
  %a : Future[Tensor] = prim::fork_0(%x)
  %b : Future[Tensor] = prim::fork_1(%x)
  return (%a, %b)
with prim::fork_0 = graph(%p : Tensor):
  %5 : Tensor = aten::neg(%p)
  return (%5)
with prim::fork_1 = graph(%q : Tensor):
  %6 : Tensor = aten::abs(%q)
  return (%6)
"""


def test_a_forks_new_body_replaces_the_one_it_came_from():
    body = "graph(%q : Tensor):\n  %7 : Tensor = aten::sin(%q)\n  return (%7)\n"
    changed = FORK.replace("%6 : Tensor = aten::abs(%q)\n  return (%6)", "%7 : Tensor = aten::sin(%q)\n  return (%7)")
    assert with_subgraph(parse_graph(FORK), parse_graph(body)) == parse_graph(changed)
    assert with_subgraph(parse_graph(FORK), parse_graph(body), "fork_1/") == parse_graph(changed)


def test_a_body_of_no_fork_changes_nothing():
    graph = parse_graph(FORK)
    assert with_subgraph(graph, parse_graph("graph(%z : Tensor):\n  return (%z)\n")) is graph
