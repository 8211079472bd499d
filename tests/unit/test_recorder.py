"""The recorder alone: how steps become a trace."""

from __future__ import annotations

import dataclasses

import pytest

from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import AttributeFate, Environment, Failure, InputSpec, Notice, Step, Trace
from freeze_engine.trace.validation import check_trace

ENVIRONMENT = Environment("2.13.0", "3.11", "Linux", "cpu", (), 2)
ONE = "graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n   = prim::Print(%y)\n  return (%y)\n"
TWO = ONE.replace("  return", "   = prim::Print(%y)\n  return")
THREE = "graph(%x : Tensor):\n  %y : Tensor = aten::abs(%x)\n  return (%y)\n"


def recorder() -> Recorder:
    return Recorder(Trace("net", "torchscript", "call()", (("a", "1"),), (InputSpec("0", "Tensor"),), ENVIRONMENT, ()))


def test_steps_are_numbered_and_chained_by_method():
    made = recorder()
    first = made.add_step("input", "input", "forward", parse_graph(ONE))
    other = made.add_step("input", "input", "other", parse_graph(THREE))
    same = made.add_step("inline", "Inline", "forward", parse_graph(ONE), duration_ns=3, log=("said",))
    silent = made.add_step("stage", "Untouched", "forward", None, round=2)
    grown = made.add_step("stage", "Grows", "forward", parse_graph(TWO))

    graph = first.graph
    assert same == Step(2, "inline", "Inline", "forward", graph, False, duration_ns=3, log=("said",))
    assert silent == Step(3, "stage", "Untouched", "forward", graph, False, round=2)
    assert same.graph is graph
    assert silent.graph is graph
    assert (first.changed, other.changed, grown.changed) == (False, False, True)
    assert [node.id for node in grown.graph.walk()] == ["y", "prim::Print#0", "prim::Print#1"]
    assert made.steps == (first, other, same, silent, grown)
    check_trace(made.finish())


def test_an_id_never_means_two_nodes():
    made = recorder()
    made.add_step("s", "one", "forward", parse_graph(ONE))
    made.add_step("s", "two", "forward", parse_graph(THREE))
    back = made.add_step("s", "three", "forward", parse_graph(ONE))
    assert [node.id for node in back.graph.walk()] == ["y'3", "prim::Print#1"]


def test_changed_flag_can_be_given():
    made = recorder()
    made.add_step("s", "one", "forward", parse_graph(ONE))
    assert made.add_step("s", "cleans the module", "forward", None, changed=True).changed


def test_the_first_step_needs_a_graph():
    with pytest.raises(ValueError, match=r"'Nothing' of 'forward' comes without a graph"):
        recorder().add_step("s", "Nothing", "forward", None)


def test_update_replaces_fields_of_a_step():
    made = recorder()
    step = made.add_step("s", "one", "forward", parse_graph(ONE))
    updated = made.update(0, executable=True, constant_bytes=7)
    assert updated == dataclasses.replace(step, executable=True, constant_bytes=7)
    assert made.steps == (updated,)


def test_finish_gathers_everything_sorted():
    made = recorder()
    made.attributes = tuple(AttributeFate(path, "buffer", "Tensor", (), None, 0, "dropped") for path in ("b", "a"))
    made.notices.append(Notice("unread", "text"))
    made.failure = Failure("RuntimeError", "no", "s", "one", None, None)
    trace = made.finish(duration_ns=5, created="2026-01-01T00:00:00+00:00")
    assert trace == Trace(
        "net",
        "torchscript",
        "call()",
        (("a", "1"),),
        (InputSpec("0", "Tensor"),),
        ENVIRONMENT,
        (),
        attributes=made.attributes[::-1],
        notices=(Notice("unread", "text"),),
        failure=made.failure,
        duration_ns=5,
        created="2026-01-01T00:00:00+00:00",
    )


def test_a_finished_trace_does_not_grow():
    made = recorder()
    before = made.finish()
    made.add_step("s", "one", "forward", parse_graph(ONE))
    made.notices.append(Notice("unread", "text"))
    assert (before.steps, before.notices) == ((), ())
