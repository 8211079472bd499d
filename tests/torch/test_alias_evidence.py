"""Evidence for a write: the operator, the user's line, and the chain of aliases back to the attribute."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from freeze_engine.trace import AliasEntry, AttributeFate, Evidence, Trace
from freeze_engine.trace.validation import check_trace
from tests.torch import kept_models, models

FILE = inspect.getsourcefile(kept_models)


def line_of(mark: str) -> int:
    """Number of the line that ends with ``# line: mark``."""
    lines = Path(FILE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# line: {mark}"))


def traced(model: type, preserved: tuple[str, ...] = ()) -> Trace:
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(models.filled(model())), list(preserved))
    (trace,) = captured.traces
    check_trace(trace)
    return trace


def first_evidence(trace: Trace, path: str) -> tuple[AttributeFate, Evidence]:
    fate = trace.attribute(path)
    return fate, fate.evidence[0]


# model, preserved, attribute, operator, mark, operators from the attribute's read to the written value
WRITES = [
    (kept_models.Direct, (), "total", "aten::add_", "direct", ["prim::GetAttr"]),
    (kept_models.ThroughViews, (), "table", "aten::mul_", "views", ["prim::GetAttr", "aten::view", "aten::select"]),
    (kept_models.ThroughSlice, (), "table", "aten::copy_", "slice", ["prim::GetAttr", "aten::slice"]),
    (kept_models.InBranch, (), "total", "aten::add_", "branch", ["prim::GetAttr"]),
    (kept_models.InLoop, (), "total", "aten::add_", "loop", ["prim::GetAttr"]),
    (kept_models.ThroughBranch, (), "left", "aten::add_", "chosen", ["prim::GetAttr", "prim::If"]),
    (kept_models.ThroughBranch, (), "right", "aten::add_", "chosen", ["prim::GetAttr", "prim::If"]),
    (
        *(kept_models.ThroughUnbind, (), "table", "aten::add_", "unbind"),
        ["prim::GetAttr", "aten::unbind", "aten::__getitem__"],
    ),
    (kept_models.OutArgument, (), "result", "aten::add", "out", ["prim::GetAttr"]),
    (kept_models.InOtherMethod, ("update",), "total", "aten::add_", "other", ["prim::GetAttr"]),
    (kept_models.InSubmodule, (), "sub.total", "aten::add_", "direct", ["prim::GetAttr"]),
    (kept_models.ListWritten, (), "seen", "aten::append", "list", ["prim::GetAttr"]),
]


@pytest.mark.parametrize(
    ("model", "preserved", "path", "op", "mark", "chain"),
    WRITES,
    ids=[f"{case[0].__name__}-{case[2]}" for case in WRITES],
)
def test_the_write_and_its_way_back_to_the_attribute(model, preserved, path, op, mark, chain):
    trace = traced(model, preserved)
    fate, evidence = first_evidence(trace, path)
    assert (fate.fate, fate.reason) == ("preserved", "mutated_in_place")
    assert "has inplace writer" in evidence.fact
    assert (evidence.op, evidence.source.file, evidence.source.line) == (op, FILE, line_of(mark))
    assert [link.op for link in evidence.chain] == chain[::-1]
    assert fate.step == next(step.index for step in trace.method_steps(evidence.method) if step.log)

    nodes = {node.id: node for node in trace.steps[evidence.step].graph.walk()}
    written, read = nodes[evidence.chain[0].node], nodes[evidence.chain[-1].node]
    assert evidence.chain[0].value in nodes[evidence.node].inputs
    assert nodes[evidence.node].op == op
    assert [value.name for value in written.outputs] == [evidence.chain[0].value]
    assert read.attribute("name") == f'"{path.rpartition(".")[2]}"'


def test_a_write_in_a_fork_is_found_in_the_forked_body():
    fate, evidence = first_evidence(traced(kept_models.InFork), "total")
    assert (fate.fate, fate.reason) == ("preserved", "mutated_in_place")
    assert (evidence.op, evidence.source.line) == ("aten::add_", line_of("fork"))
    assert evidence.chain[-1].op == "prim::GetAttr"


def test_the_method_of_the_write_is_named_and_advised():
    fate, evidence = first_evidence(traced(kept_models.InOtherMethod, ("update",)), "total")
    assert evidence.method == "update"
    assert "update" in fate.advice
    assert "clone" in fate.advice


def test_a_set_attribute_has_the_line_of_what_is_assigned():
    trace = traced(kept_models.Counter)
    fate, evidence = first_evidence(trace, "count")
    assert (fate.fate, fate.reason) == ("preserved", "set_in_method")
    assert evidence.fact.startswith("torch's log: attribute: count is set")
    assert (evidence.op, evidence.source.line) == ("prim::SetAttr", line_of("count"))
    assert (evidence.method, fate.step) == ("forward", trace.steps[evidence.step].index + 1)
    assert "do not assign 'count'" in fate.advice


def test_attributes_set_one_after_the_other_have_lines_of_their_own():
    trace = traced(kept_models.AssignsInTurn)
    for name in ("grid", "size"):
        _, evidence = first_evidence(trace, name)
        assert (evidence.op, evidence.source.line) == ("prim::SetAttr", line_of(name))


def test_shared_memory_names_the_attribute_it_is_shared_with_and_the_write():
    fate, evidence = first_evidence(traced(kept_models.SharedMemory), "table")
    assert (fate.fate, fate.reason) == ("preserved", "aliases_preserved")
    assert "'head'" in evidence.fact
    assert fate.evidence[1].op == "aten::add_"
    assert "memory of its own" in fate.advice


def test_alias_sets_before_propagation_and_at_the_end_of_each_stage():
    trace = traced(kept_models.ThroughViews)
    with_aliases = [step for step in trace.steps if step.aliases is not None]
    ends = [
        max(step.index for step in trace.steps if step.stage == stage)
        for stage in ("freeze_module", "optimize_frozen_graph")
    ]
    assert [step.index for step in with_aliases[1:]] == ends
    assert with_aliases[0].name == "RecordMutableAttrs"
    aliases = next(step.aliases for step in trace.steps if step.aliases is not None)
    assert AliasEntry("row.1", "points to", ("square.1",)) in aliases.entries
    assert [(write.op, write.source.line) for write in aliases.writes] == [("aten::mul_", line_of("views"))]


def test_targets_of_an_alias_entry_are_apart():
    """torch prints several wildcards without anything between them (alias_analysis.cpp, torch 2.13)."""
    trace = traced(models.ConvBn)
    aliases = next(step.aliases for step in trace.steps if step.aliases is not None)
    (contained,) = [entry for entry in aliases.entries if entry.value == "self" and entry.relation == "contains"]
    kind = "WILDCARD for type __torch__.torch.nn.modules."
    assert {target[: len(kind)] for target in contained.targets} == {kind}
    assert len(contained.targets) == 2
    assert not any(target.count("WILDCARD") > 1 for entry in aliases.entries for target in entry.targets)


def test_values_that_a_list_contains_are_apart():
    """torch puts nothing between the first two, and a comma after each of the others."""
    trace = traced(kept_models.ListOfThree)
    *_, last = (step.aliases for step in trace.steps if step.aliases is not None)
    assert AliasEntry("several.1", "contains", ("first.1", "second.1", "third.1")) in last.entries


def test_entries_stand_in_the_order_of_the_graph():
    """torch walks its sets by address, so the order of its text says nothing and is another one each time."""
    trace = traced(models.ConvBn)
    step = next(step for step in trace.steps if step.aliases is not None)
    order = [value.name for value in step.graph.inputs]
    order += [value.name for node in step.graph.walk() for value in node.outputs]
    places = [order.index(entry.value) for entry in step.aliases.entries]
    assert places == sorted(places)


def test_alias_sets_of_any_step():
    recording = fe.record(models.filled(kept_models.ThroughViews()), measure=None)
    for step in recording.trace.steps:
        found = recording.aliases(step.index)
        if step.index in recording.live:
            assert [write.op for write in found.writes] == ["aten::mul_"]
            assert found.writes[0].node in {node.id for node in step.graph.walk()}


@pytest.mark.parametrize("step", [-1, 10_000])
def test_alias_sets_of_a_step_that_is_not_there(step):
    recording = fe.record(models.filled(models.Equal()), measure=None)
    with pytest.raises(fe.FreezerError, match=f"no step {step}: the trace has steps 0 to 1"):
        recording.aliases(step)
