"""Freezes in unusual company: other passes, files, processes, tasks and threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import io
import os

import pytest
import torch
from torch import nn

import freeze_engine as fe
from tests.loops import run
from tests.torch import models
from tests.torch.against_torch import frozen_modules, problems


def scripted(module: nn.Module) -> torch.jit.ScriptModule:
    return torch.jit.script(models.filled(module))


def reloaded(module: torch.jit.ScriptModule) -> torch.jit.ScriptModule:
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)


def rewrites(trace: fe.Trace) -> list[tuple[str, str]]:
    return [(step.method, rewrite.kind) for step in trace.steps for rewrite in step.rewrites]


def ops(step: fe.Step) -> list[str]:
    return [node.op for node in step.graph.walk()]


def test_a_module_is_frozen_twice(recorded):
    module = scripted(models.ConvBn())
    for _ in range(2):
        torch.jit.freeze(module)
    one, other = recorded.traces
    assert [(step.name, ops(step)) for step in one.steps] == [(step.name, ops(step)) for step in other.steps]
    assert one.attributes == other.attributes


def test_a_frozen_module_is_frozen_again(recorded):
    frozen = torch.jit.freeze(scripted(models.ConvBn()))
    with pytest.raises(AttributeError, match="training"):
        torch.jit.freeze(frozen)
    torch._C._freeze_module(frozen._c)
    assert [trace.failure is None for trace in recorded.traces] == [True, False, True]
    assert recorded.traces[2].attributes == ()


def test_a_frozen_module_from_a_file_is_optimised(recorded):
    plain = torch.jit.freeze(scripted(models.TwoMethods()), ["features"], optimize_numerics=False)
    torch.jit.run_frozen_optimizations(reloaded(plain), True, ["features"])
    first, second = recorded.traces
    assert {kind for _, kind in rewrites(first)} == {"dropout"}
    assert set(second.methods) == {"forward", "features"}
    assert set(rewrites(second)) == {("forward", "conv_bn"), ("features", "conv_bn")}


def test_later_passes_over_all_methods_continue_the_trace(recorded):
    frozen = torch.jit.freeze(scripted(models.TwoMethods()), ["features"], optimize_numerics=False)
    torch.jit.run_frozen_optimizations(frozen, True, ["features"])
    (trace,) = recorded.traces
    assert set(rewrites(trace)) == {
        *(("forward", kind) for kind in ("dropout", "conv_bn")),
        *(("features", kind) for kind in ("dropout", "conv_bn")),
    }


def test_optimize_for_inference_with_another_method(recorded):
    torch.jit.optimize_for_inference(scripted(models.TwoMethods()), ["features"])
    (trace,) = recorded.traces
    assert {step.method for step in trace.steps if step.stage == "optimize_for_inference"} == {"forward", "features"}
    assert "not_serializable" in {notice.code for notice in trace.notices}


def test_a_pass_of_the_users_own_is_a_step_of_its_own(recorded):
    frozen = torch.jit.freeze(scripted(nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU())))
    torch._C._jit_pass_convert_frozen_ops_to_mkldnn(frozen.graph)
    torch._C._jit_pass_dce(frozen.graph)
    torch.jit.optimize_for_inference(frozen)
    (trace,) = recorded.traces
    (outside,) = [step for step in trace.steps if step.stage == "outside"]
    weight = trace.attribute("0.weight")
    # The new constant is bit by bit the weight in another layout, and so it is known to be it.
    assert (outside.changed, weight.fate) == (True, "inlined")
    assert [place.value for place in weight.locations] == ["self.0.weight_mkldnn"]


def test_result_of_a_user_pass_has_unknown_origin(recorded):
    frozen = torch.jit.freeze(scripted(models.ConvBn()), optimize_numerics=False)
    torch._C._jit_pass_fold_frozen_conv_bn(frozen.graph)
    torch.jit.run_frozen_optimizations(frozen)
    (trace,) = recorded.traces
    (outside,) = [step for step in trace.steps if step.stage == "outside"]
    weight, mean = (trace.attribute(path) for path in ("conv.weight", "bn.running_mean"))
    told = [(fate.fate, fate.step, [place.value for place in fate.locations]) for fate in (weight, mean)]
    assert told == [("folded", outside.index, ["self.conv.weight_fused_bn"]), ("folded", outside.index, [])]
    assert all("is not known" in fate.evidence[0].fact for fate in (weight, mean))


def steps_of_a_child() -> int:
    """Freezes in a forked child, inside the parent's capture, and returns the number of steps it saw."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        count = 0
        with contextlib.suppress(Exception), fe.capture() as captured:
            torch.jit.freeze(scripted(models.Equal()))
            count = len(captured.traces[0].steps)
        os.write(write, bytes([count]))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        (count,) = pipe.read()
    os.waitpid(child, 0)
    return count


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_records_for_itself(recorded):
    torch.jit.freeze(scripted(models.Equal()))
    assert steps_of_a_child() == len(recorded.traces[0].steps)
    assert len(recorded.traces) == 1


async def frozen_in_a_task(width: int) -> fe.Captured:
    with fe.capture() as captured:
        await asyncio.sleep(0.01)
        torch.jit.freeze(scripted(nn.Linear(width, width)))
        await asyncio.sleep(0.01)
    return captured


async def frozen_in_tasks() -> list[fe.Captured]:
    return await asyncio.gather(*(frozen_in_a_task(width) for width in (1, 2, 3)))


def test_tasks_that_interleave_keep_apart():
    found = [frozen_modules(each) for each in run(frozen_in_tasks())]
    assert [[frozen.trace.attribute("weight").shape for frozen in each] for each in found] == [
        [(1, 1)],
        [(2, 2)],
        [(3, 3)],
    ]
    assert [problem for each in found for frozen in each for problem in problems(frozen)] == []


async def frozen_by_a_task_that_outlives_the_block() -> tuple[fe.Captured, fe.Trace]:
    async def freeze(width: int, turn: asyncio.Event) -> None:
        await turn.wait()
        torch.jit.freeze(scripted(nn.Linear(width, width)))

    turns = [asyncio.Event(), asyncio.Event()]
    with fe.capture():  # keeps torch recorded
        with fe.capture() as captured:
            tasks = [asyncio.create_task(freeze(width, turn)) for width, turn in enumerate(turns, 1)]
            turns[0].set()
            await tasks[0]
        (first,) = captured.traces
        turns[1].set()
        await tasks[1]
    return captured, first


def test_a_task_that_outlives_the_block_still_adds_to_it():
    captured, first = run(frozen_by_a_task_that_outlives_the_block())
    assert [trace.attribute("weight").shape for trace in captured.traces] == [(1, 1), (2, 2)]
    assert captured.traces[0] is first


def test_a_pool_that_the_block_starts_is_outside_of_it(recorded):
    module = scripted(models.Equal())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(torch.jit.freeze, module).result()
    assert recorded.traces == ()


def test_a_capture_within_torchs_own_call(recorded):
    """optimize_for_inference freezes what is not frozen yet: one trace, not two."""
    torch.jit.optimize_for_inference(scripted(models.ConvBn()))
    (trace,) = recorded.traces
    assert (trace.call, trace.steps[-1].stage) == ("torch.jit.optimize_for_inference(mod)", "optimize_for_inference")


def frozen_without_log(model: nn.Module) -> fe.Trace:
    torch._C._jit_set_logging_stream("stdout")
    try:
        with fe.capture() as captured:
            torch.jit.freeze(scripted(model))
    finally:
        torch._C._jit_set_logging_stream("stderr")
    return captured.traces[0]


class HoldsMeta(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shapes", torch.ones(3, device="meta"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def test_a_freeze_that_torch_cannot_log_says_what_is_missing():
    """torch raises where it prints a small constant without data, so its log stays off."""
    with fe.capture() as captured:
        torch.jit.freeze(scripted(HoldsMeta()))
    (trace,) = captured.traces
    assert {step.stage for step in trace.steps} == {"input", "optimize_frozen_graph"}
    assert [notice.message.split(".")[0] for notice in trace.notices if notice.code == "not_logged"] == [
        "The module has a small constant without data or in MKLDNN's layout"
    ]


def test_without_torchs_log_fates_say_that_it_is_missing(capfd):
    trace = frozen_without_log(models.ConvBn())
    capfd.readouterr()
    fates = {path: trace.attribute(path) for path in ("conv", "conv.weight", "bn.weight")}
    assert {path: (fate.fate, fate.step and trace.steps[fate.step].name) for path, fate in fates.items()} == {
        "conv": ("inlined", None),
        "conv.weight": ("folded", "FoldFrozenConvBatchnorm"),
        "bn.weight": ("folded", "FoldFrozenConvBatchnorm"),
    }
    assert all("log was not there to be read" in fate.evidence[-1].fact for fate in fates.values())
