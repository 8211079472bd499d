"""torch's log of one freeze, taken apart into passes."""

from __future__ import annotations

import pytest

from freeze_engine.backends.torchscript.graph.forks import with_subgraph
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.backends.torchscript.log.method_names import MethodGraphs
from freeze_engine.backends.torchscript.log.records import CapturedLog
from freeze_engine.backends.torchscript.log.steps import LoggedStep, read_log

CALL = 'graph(%self : Net, %x : Tensor):\n  %w : Tensor = prim::CallMethod[name="weight"](%self)\n  return (%w)'
INLINED = 'graph(%self : Net, %x : Tensor):\n  %w : Tensor = prim::GetAttr[name="w"](%self)\n  return (%w)'
FOLDED = (
    "graph(%self : Net, %x : Tensor):\n"
    "  %self.w : Tensor = prim::Constant[value=<Tensor>]()\n"
    '  %w : Tensor = prim::GetAttr[name="w"]()\n'
    "  return (%self.w)"
)
GRAPHS = MethodGraphs(parse_graph(CALL), parse_graph(INLINED))
FORWARD = {"forward": GRAPHS}


def said(file: str, line: int, message: str, graph: str = "") -> bytes:
    lines = [message, *graph.splitlines()]
    return b"".join(f"[DEBUG {file}.cpp:{line:03}] {each}\n".encode() for each in lines)


def begins(what: str, method: str) -> bytes:
    lines = {"Analyzing function": 132, "Recording mutable attrs for function": 143, "Propagating function": 151}
    return said("freeze_module", lines[what], f"{what}: {method}")


def optimised(line: int, message: str, graph: str = FOLDED) -> bytes:
    return said("graph_executor", line, message, graph)


ANALYSED = begins("Analyzing function", "forward")
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
    return [(step.stage, ", ".join(step.passes), step.method) for step in steps]


def test_a_whole_freeze():
    reading = read_log(CapturedLog(ANALYSED + RECORDED + PROPAGATED + CLEANED + END), FORWARD, 0)
    before, inlined, after = parse_graph(CALL), parse_graph(INLINED), parse_graph(FOLDED)
    assert reading.steps == tuple(
        LoggedStep(stage, tuple(name.split(", ")), "forward", graph, None, log)
        for stage, name, graph, log in [
            ("input", "input", before, ()),
            ("inline", "Inline", inlined, ()),
            ("freeze_module", "RecordMutableAttrs", inlined, ("attribute: n is set",)),
            ("freeze_module", "PropagateAttributes", after, ("Folding GetAttr %w with self.w",)),
            ("freeze_module", "EliminateDeadCode", after, ()),
            ("freeze_module", "UnrollConstantLoops", after, ()),
            ("freeze_module", "RemoveListMutation, EliminateCommonSubexpression", after, ()),
            ("freeze_module", "CheckInplace", after, ()),
        ]
    )
    assert reading.where == ("freeze_module", "CleanupFrozenModule", None)


def test_the_inlined_graph_takes_the_names_that_the_log_shows():
    renumbered = FOLDED.replace("%w :", "%w.7 :").replace("(%self.w)", "(%self.w, %w.7)")
    log = ANALYSED + RECORDED + PROPAGATED + optimised(1017, "Before EliminateDeadCode", renumbered)
    steps = {step.passes[0]: step.graph for step in read_log(CapturedLog(log + END), FORWARD, 0).steps}
    assert steps["Inline"] == parse_graph(INLINED.replace("%w :", "%w.7 :").replace("(%w)", "(%w.7)"))
    assert steps["input"] == parse_graph(CALL)


def test_a_graph_that_does_not_fit_leaves_the_names_as_they_are():
    log = ANALYSED + RECORDED + PROPAGATED + optimised(1017, "Before EliminateDeadCode", CALL)
    steps = {", ".join(step.passes): step.graph for step in read_log(CapturedLog(log + END), FORWARD, 0).steps}
    assert steps["Inline"] == parse_graph(INLINED)


def test_methods_of_the_same_name_are_distinguished_by_their_graphs():
    def returning(op: str) -> str:
        return f"graph(%self : Net, %x : Tensor):\n  %y : Tensor = aten::{op}(%x)\n  return (%y)"

    ops = {"forward": "abs", "left.forward": "neg", "right.forward": "sin"}
    graphs = {path: MethodGraphs(parse_graph(returning(op)), parse_graph(returning(op))) for path, op in ops.items()}
    shown = ["right.forward", "forward", "left.forward"]
    log = b"".join(begins("Analyzing function", "forward") for _ in shown)
    log += b"".join(begins("Recording mutable attrs for function", "forward") for _ in shown)
    for path in shown:
        log += begins("Propagating function", "forward")
        log += optimised(1017, "Before EliminateDeadCode", returning(ops[path]))
        log += optimised(1065, "After CheckInplace (end of runOptimization)", returning(ops[path]))
    reading = read_log(CapturedLog(log + END), graphs, 0)
    for stage in ("input", "Inline", "RecordMutableAttrs", "PropagateAttributes", "CheckInplace"):
        assert [step.method for step in reading.steps if step.passes == (stage,)] == shown
    assert all(step.graph == graphs[step.method].before for step in reading.steps)


@pytest.mark.parametrize(
    ("log", "where"),
    [
        (b"", ("freeze_module", "CheckPreservedNames", None)),
        (begins("Analyzing function", "forward"), ("inline", "Inline", "forward")),
        (ANALYSED, ("inline", "Inline", "forward")),
        (
            ANALYSED + RECORDED,
            ("freeze_module", "RecordMutableAttrs", "forward"),
        ),
        (
            ANALYSED + RECORDED + PROPAGATED,
            ("freeze_module", "PropagateAttributes", "forward"),
        ),
        (
            ANALYSED + RECORDED + PROPAGATED + CLEANED[: CLEANED.index(b"[DEBUG graph_executor.cpp:1047]")],
            ("freeze_module", "UnrollConstantLoops", "forward"),
        ),
    ],
)
def test_end_of_the_log_gives_the_place(log, where):
    assert read_log(CapturedLog(log), FORWARD, 0).where == where


def test_passes_that_came_in_one_growth_of_the_log_have_no_duration():
    parts = [ANALYSED, RECORDED, PROPAGATED, CLEANED, END]
    offsets = [len(b"".join(parts[: count + 1])) for count in range(len(parts))]
    log = CapturedLog(b"".join(parts), tuple(zip(offsets, (100, 300, 350, 900, 1000), strict=True)))
    found = {", ".join(step.passes): step.duration_ns for step in read_log(log, FORWARD, 40).steps}
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
    steps = read_log(log, FORWARD, 0).steps
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
