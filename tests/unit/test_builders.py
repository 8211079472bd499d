from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, get_args

import pytest

import freeze_engine as fe
from freeze_engine import trace as model
from freeze_engine.trace import Fate, Trace
from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace, synthetic_trace, tied_trace


def parts(value: Any) -> list[Any]:
    """Returns every dataclass instance in ``value``, itself included."""
    if isinstance(value, tuple):
        return [part for item in value for part in parts(item)]
    if not is_dataclass(value):
        return []
    return [value, *(part for field in fields(value) for part in parts(getattr(value, field.name)))]


def test_the_hand_built_traces_show_every_type_and_every_field() -> None:
    everything = [part for trace in (small_trace(), failed_trace(), tied_trace()) for part in parts(trace)]
    types = [kind for kind in vars(model).values() if isinstance(kind, type) and is_dataclass(kind)]
    never = {
        f"{kind.__name__}.{field.name}"
        for kind in types
        for field in fields(kind)
        if not any(getattr(part, field.name) not in (None, (), "") for part in everything if type(part) is kind)
    }
    assert never == {"Environment.gpus"}


def test_the_tied_trace_is_sound_and_survives_a_file() -> None:
    assert fe.problems(tied_trace()) == ()
    assert fe.loads(fe.dumps(tied_trace())) == tied_trace()


def test_the_small_trace_shows_every_fate_and_kind() -> None:
    attributes = small_trace().attributes
    assert {fate.fate for fate in attributes} == set(get_args(Fate))
    assert {fate.kind for fate in attributes} == set(get_args(model.AttributeKind))


def test_the_small_trace_is_hostile() -> None:
    assert any(HOSTILE in (node.attribute("value") or "") for step in small_trace().steps for node in step.graph.walk())


def test_the_failed_trace_ends_where_torch_raised() -> None:
    trace = failed_trace()
    assert trace.failure
    assert trace.failure.step == trace.steps[-1].index


def test_the_empty_trace_has_no_steps() -> None:
    assert empty_trace().steps == ()


@pytest.mark.parametrize("shape", ["resnet", "transformer"])
def test_synthetic_trace_has_the_requested_size(shape: Any) -> None:
    trace = synthetic_trace(1000, 7, shape, changed=0.02)
    assert len(trace.steps) == 7
    assert len(trace.steps[0].graph.nodes) == 1000
    assert trace == synthetic_trace(1000, 7, shape, changed=0.02)
    assert changed_per_step(trace) == pytest.approx([20] * 6, abs=12)


def changed_per_step(trace: Trace) -> list[int]:
    """Returns how many node objects each step replaced, told by identity: the others are shared."""
    ids = [{id(node) for node in step.graph.nodes} for step in trace.steps]
    return [len(before - after) for before, after in pairwise(ids)]


def test_a_synthetic_trace_can_stand_still() -> None:
    trace = synthetic_trace(100, 4, changed=0.0)
    assert all(step.graph is trace.steps[0].graph and not step.changed for step in trace.steps)


def test_a_synthetic_trace_stops_changing_once_all_is_folded() -> None:
    trace = synthetic_trace(100, 40, changed=0.1)
    assert trace.steps[-1].graph is trace.steps[-2].graph
    assert not trace.steps[-1].changed
