"""Latency and numeric errors of the recorded steps; no absolute time is looked at."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.trace import Trace
from freeze_engine.trace.validation import check_trace
from tests.torch import graph_models, kept_models, models

INPUTS, REFERENCES = ("given", "similar", "wide"), ("eager", "float64")
QUICK = fe.Measure(seconds=0.05)
NUMBERS = fe.Measure(latency=False)


def record(model: torch.nn.Module, *args: object, measure: fe.Measure | None = NUMBERS, **fields: Any) -> Trace:
    trace = fe.record(model, fe.Inputs(args), measure=measure, **fields).trace
    check_trace(trace)
    return trace


def same(state: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return state.keys() == other.keys() and all(torch.equal(value, other[name]) for name, value in state.items())


@pytest.mark.parametrize("model", [kept_models.Direct, kept_models.ThroughViews, kept_models.InLoop])
def test_a_stateful_module_is_left_as_it_was(model):
    module = models.filled(model())
    before = copy.deepcopy(module.state_dict())
    recording = fe.record(module, (torch.ones(2),), measure=QUICK)
    assert same(module.state_dict(), before)
    plain = torch.jit.freeze(torch.jit.script(models.filled(model())))
    for _ in range(2):
        assert torch.equal(recording.module(torch.ones(2)), plain(torch.ones(2)))


def test_a_counter_is_left_as_it_was():
    module = models.filled(kept_models.Counter())
    recording = fe.record(module, (torch.ones(2),), measure=QUICK)
    assert module.count == 0
    assert recording.module.count == 0
    assert all(numerics.close for step in recording.trace.steps for numerics in step.numerics)


def test_a_batch_norm_in_training_is_left_as_it_was():
    """Freezing refuses the top module in training mode only; a part's own flag is a constant to it."""
    module = models.filled(models.ConvBn())
    module.bn.train()
    before = copy.deepcopy(module.state_dict())
    record(module, torch.ones(1, 3, 8, 8), measure=QUICK)
    assert same(module.state_dict(), before)


def test_inputs_are_left_as_they_were_when_the_model_writes_them():
    x = torch.zeros(2)
    trace = record(models.filled(kept_models.WritesInput()), x, measure=QUICK)
    assert torch.equal(x, torch.zeros(2))
    assert all(numerics.close for step in trace.steps for numerics in step.numerics)


def test_every_step_that_can_be_run_has_both_references_and_the_input_step_is_exact():
    trace = record(models.filled(models.ConvBn()), torch.linspace(-1, 1, 3 * 64).reshape(1, 3, 8, 8))
    for step in trace.steps:
        compared = [(numerics.inputs, numerics.reference) for numerics in step.numerics]
        assert compared == (list(product(INPUTS, REFERENCES)) if step.executable else [])
    exact = trace.steps[0].numerics[0]
    assert (exact.max_abs, exact.close, exact.outputs[0].sqnr_db) == (0.0, True, float("inf"))
    assert trace.steps[-1].numerics[0].close
    assert trace.steps[-1].numerics[1].max_abs > 0


def test_the_fold_that_moves_bfloat16_is_named():
    trace = fe.record("example:bf16_misfold", measure=NUMBERS).trace
    judged = [step for step in trace.steps if step.numerics]
    first = next(step for step in judged if not step.numerics[0].close)
    assert (first.name, first.round) == ("FoldFrozenConvBatchnorm", 1)
    assert all(step.numerics[0].close for step in judged if step.index < first.index)


def test_a_dictionary_of_outputs():
    trace = record(models.filled(graph_models.Named()), torch.ones(2))
    assert [output.output for output in trace.steps[-1].numerics[0].outputs] == ["doubled", "plain"]


def test_keywords_and_defaults():
    model, x = models.filled(graph_models.Named()), torch.ones(2)
    for kwargs in ({}, {"factor": 3.0}, {"bias": x}, {"bias": x, "factor": 0.5}):
        trace = fe.record(model, fe.Inputs((x,), kwargs), measure=NUMBERS).trace
        assert trace.steps[-1].numerics[0].error is None
        assert trace.steps[-1].numerics[0].close
    trace = fe.record(model, fe.Inputs((), {"x": x, "factor": 3.0}), measure=NUMBERS).trace
    assert trace.steps[-1].numerics[0].close


@pytest.mark.parametrize("measure", [None, NUMBERS, QUICK])
def test_without_inputs_nothing_is_run(measure):
    trace = fe.record(models.filled(models.Equal()), measure=measure).trace
    assert not any(step.latency or step.numerics for step in trace.steps)
    assert trace.baselines == ()


def test_latency_of_each_distinct_graph():
    trace = record(models.filled(models.ConvBn()), torch.ones(1, 3, 8, 8), measure=QUICK)
    timed = [step for step in trace.steps if step.executable]
    assert timed
    for step in timed:
        (latency,) = step.latency
        assert latency.device == "cpu"
        assert 0 < latency.median_ns.low <= latency.median_ns.value <= latency.median_ns.high
        before = trace.before(step)
        if before is not None and before.executable and not step.changed:
            assert latency == replace(before.latency[0], previous=None, change=None)
    assert timed[0].latency[0].verdict == "baseline"
    held = [step.index for step in timed if step.latency[0].previous is not None]
    first = {id(step.graph): step.index for step in reversed(timed)}
    assert held == sorted(first.values())[1:]
    assert timed[1].latency[0].previous == timed[1].latency[0].ratio
    assert {latency.verdict for step in timed for latency in step.latency} <= {
        *("baseline", "faster", "slower", "no measurable difference")
    }
    assert [baseline.name for baseline in trace.baselines] == ["eager", "scripted"]
    assert all(baseline.latency for baseline in trace.baselines)


def test_each_measurement_can_be_left_out():
    args = (torch.ones(1, 3, 8, 8),)
    everything = fe.Measure(latency=False, numerics=False, memory=True)
    nothing = fe.Measure(latency=False, numerics=False, memory=False)
    weighed, bare = (record(models.filled(models.ConvBn()), *args, measure=each) for each in (everything, nothing))
    assert weighed.steps[-1].constant_bytes >= (3 * 4 * 9 + 4) * 4
    assert not any(step.constant_bytes for step in bare.steps)
    assert not any(step.latency or step.numerics for step in (*weighed.steps, *bare.steps))


def test_a_device_that_is_not_there_is_a_notice():
    measure = fe.Measure(numerics=False, seconds=0.05, devices=("cuda",))
    trace = record(models.filled(models.Equal()), torch.ones(3), measure=measure)
    (notice,) = [notice for notice in trace.notices if notice.code == "device_not_measured"]
    assert "cuda:0" in notice.message
    assert not any(step.latency for step in trace.steps)


def test_a_model_that_cannot_run_on_the_inputs_says_so():
    trace = record(models.filled(models.ConvBn()), torch.ones(1, 5, 8, 8), measure=QUICK)
    assert trace.attributes
    assert not any(step.latency for step in trace.steps)
    assert all("channels" in numerics.error for step in trace.steps for numerics in step.numerics)
    assert any("channels" in notice.message for notice in trace.notices)


def test_a_script_module_is_its_own_reference():
    trace = record(torch.jit.script(models.filled(models.Equal())), torch.ones(3))
    assert "reference_is_scripted" in [notice.code for notice in trace.notices]
    assert [baseline.name for baseline in trace.baselines] == ["scripted"]


def test_measuring_leaves_the_threads_and_the_grad_mode_alone():
    model = models.filled(models.ConvBn())
    before = (torch.get_num_threads(), torch.is_grad_enabled(), torch.random.get_rng_state())
    record(model, torch.ones(1, 3, 8, 8), measure=QUICK)
    after = (torch.get_num_threads(), torch.is_grad_enabled(), torch.random.get_rng_state())
    assert after[:2] == before[:2]
    assert torch.equal(after[2], before[2])


def test_random_models_are_compared_on_the_same_draws():
    class Noisy(torch.nn.Module):
        def forward(self, x):
            return x + torch.rand(2)

    trace = record(Noisy().eval(), torch.ones(2), via="trace")
    assert trace.steps[-1].numerics[0].close
