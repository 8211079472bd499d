"""`capture()` around the user's own code: whose freeze is recorded where, and torch left as it was found."""

from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import dataclasses
import gc
import os
import threading
import weakref
from collections.abc import Iterator

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.common.active_captures import ActiveCaptures
from freeze_engine.backends.common.patching import Patch
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.trace import Trace, graph_lines
from freeze_engine.trace.validation import check_trace
from tests.torch import kept_models, models

SAVED_FREEZE = torch.jit.freeze
SAVED_INFERENCE = torch.jit.optimize_for_inference
PATCHED = [
    (torch.jit, "freeze"),
    (torch.jit, "run_frozen_optimizations"),
    (torch.jit, "optimize_for_inference"),
    (torch.jit._freeze, "freeze"),
    (torch.jit._freeze, "run_frozen_optimizations"),
    (torch.jit._freeze, "optimize_for_inference"),
    (torch._C, "_freeze_module"),
    (torch._C, "_jit_pass_optimize_frozen_graph"),
    (torch._C, "_jit_pass_optimize_for_inference"),
]


def state() -> list[object]:
    names = [getattr(owner, name) for owner, name in PATCHED]
    return [*names, torch._C._jit_get_logging_option(), os.fstat(2).st_ino]


@contextlib.contextmanager
def unchanged() -> Iterator[None]:
    before = state()
    yield
    assert all(now is was or now == was for now, was in zip(state(), before, strict=True))


@pytest.fixture(autouse=True)
def torch_as_found() -> Iterator[None]:
    with unchanged():
        yield


def scripted(model=models.ConvBn) -> torch.jit.ScriptModule:
    return torch.jit.script(models.filled(model()))


def is_of(trace: Trace, frozen: torch.jit.ScriptModule) -> bool:
    """Whether the trace's last snapshot is this very module's graph, weights' class names included."""
    return list(graph_lines(trace.final("forward").graph)) == list(graph_lines(parse_graph(str(frozen.graph))))


def test_traces_are_in_the_order_of_the_freezes():
    with fe.capture() as captured:
        frozen = [torch.jit.freeze(scripted(model)) for model in (models.ConvBn, models.Linears, models.Equal)]
    assert [trace.name for trace in captured.traces] == ["ConvBn", "Linears", "Equal"]
    assert [trace.call for trace in captured.traces] == ["torch.jit.freeze(mod)"] * 3
    for trace, module in zip(captured.traces, frozen, strict=True):
        check_trace(trace)
        assert is_of(trace, module)
        assert trace.duration_ns > 0


def test_capture_without_a_freeze_has_no_trace():
    with fe.capture() as captured:
        pass
    assert captured.traces == ()


def test_modules_are_let_go_of_once_the_traces_are_read_after_the_block():
    module = torch.jit.script(models.ConvBn().eval())
    with fe.capture() as captured:
        torch.jit.freeze(module)
        assert len(captured.traces) == 1
    weight = weakref.ref(module.conv.weight)
    del module
    gc.collect()
    assert weight() is not None
    (trace,) = captured.traces
    gc.collect()
    assert weight() is None
    assert captured.traces == (trace,)


def test_traces_can_be_read_inside_the_block_and_are_the_same_objects_later():
    with fe.capture() as captured:
        torch.jit.freeze(scripted())
        first = captured.traces
        torch.jit.freeze(scripted())
        assert captured.traces[0] is first[0]
    assert len(captured.traces) == 2
    assert captured.traces[0] is first[0]


def test_the_options_are_those_of_the_call():
    with fe.capture() as captured:
        torch.jit.freeze(scripted(kept_models.Counter), ["count"], optimize_numerics=False)
    assert captured.traces[0].options == (("optimize_numerics", "False"), ("preserved_attrs", "['count']"))


def test_the_frozen_module_computes_what_plain_torch_computes():
    x = torch.linspace(-1, 1, 3 * 8 * 8).reshape(1, 3, 8, 8)
    module = scripted()
    with fe.capture():
        frozen = torch.jit.freeze(module)
    assert isinstance(frozen, type(module))
    assert torch.equal(frozen(x), torch.jit.freeze(module)(x))


def test_later_optimisation_continues_the_trace():
    with fe.capture() as captured:
        frozen = torch.jit.freeze(scripted())
        (before,) = captured.traces
        optimised = torch.jit.optimize_for_inference(frozen)
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.steps[: len(before.steps)] == before.steps
    assert [step.stage for step in trace.steps[len(before.steps) :]] == ["optimize_for_inference"] * 3
    assert is_of(trace, optimised)
    assert dict(trace.options)["optimize_for_inference"] == "True"


def test_optimisation_in_a_later_capture_is_a_trace_of_its_own():
    with fe.capture():
        frozen = torch.jit.freeze(scripted())
    with fe.capture() as captured:
        torch.jit.optimize_for_inference(frozen)
    (trace,) = captured.traces
    check_trace(trace)
    assert [step.stage for step in trace.steps] == ["input", *["optimize_for_inference"] * 3]
    assert is_of(trace, frozen)


def test_saved_references_are_recorded():
    with fe.capture() as captured:
        frozen = SAVED_INFERENCE(SAVED_FREEZE(scripted()))
    (trace,) = captured.traces
    check_trace(trace)
    assert is_of(trace, frozen)
    assert trace.duration_ns > 0


def test_nested_captures_see_what_happens_inside_them():
    with fe.capture() as outer:
        torch.jit.freeze(scripted(models.Linears))
        with fe.capture() as inner:
            torch.jit.freeze(scripted(models.ConvBn))
        torch.jit.freeze(scripted(models.Equal))
    assert [trace.name for trace in inner.traces] == ["ConvBn"]
    assert [trace.name for trace in outer.traces] == ["Linears", "ConvBn", "Equal"]
    assert outer.traces[1].steps == inner.traces[0].steps


def test_an_inner_capture_sees_the_optimisation_of_what_the_outer_one_froze():
    with fe.capture() as outer:
        frozen = torch.jit.freeze(scripted())
        with fe.capture() as inner:
            torch.jit.optimize_for_inference(frozen)
    (whole,) = outer.traces
    assert whole.steps[-1].stage == "optimize_for_inference"
    assert [trace.steps[-1].stage for trace in inner.traces] == ["optimize_for_inference"]


def test_interleaved_captures():
    first, second = fe.capture(), fe.capture()
    one = first.__enter__()
    two = second.__enter__()
    torch.jit.freeze(scripted(models.Linears))
    first.__exit__(None, None, None)
    torch.jit.freeze(scripted(models.Equal))
    second.__exit__(None, None, None)
    assert [trace.name for trace in one.traces] == ["Linears"]
    assert [trace.name for trace in two.traces] == ["Linears", "Equal"]
    torch.jit.freeze(scripted())
    with fe.capture() as third:
        torch.jit.freeze(scripted())
    assert (len(one.traces), len(two.traces), len(third.traces)) == (1, 2, 1)


def freeze_then_raise(captured: list[fe.Captured]) -> None:
    with fe.capture() as one:
        captured.append(one)
        torch.jit.freeze(scripted())
        raise KeyError("the user's own")


def test_a_capture_that_raises_keeps_its_traces():
    captured: list[fe.Captured] = []
    with unchanged(), pytest.raises(KeyError, match="the user's own"):
        freeze_then_raise(captured)
    assert [trace.failure for trace in captured[0].traces] == [None]


def test_a_freeze_after_the_block_is_not_recorded():
    with fe.capture() as captured:
        freeze = torch.jit.freeze
    freeze(scripted())
    torch.jit.freeze(scripted())
    assert captured.traces == ()


def test_an_optimisation_after_the_block_leaves_the_trace_alone():
    with fe.capture() as captured:
        frozen = torch.jit.freeze(scripted(models.TwoRounds), optimize_numerics=False)
    plain = list(graph_lines(parse_graph(str(frozen.graph))))
    torch.jit.run_frozen_optimizations(frozen)
    (trace,) = captured.traces
    check_trace(trace)
    assert list(graph_lines(trace.final("forward").graph)) == plain


def frozen_in_a_capture(module: torch.jit.ScriptModule) -> tuple[torch.jit.ScriptModule, tuple[Trace, ...]]:
    with fe.capture() as captured:
        frozen = torch.jit.freeze(module)
    return frozen, captured.traces


def test_concurrent_captures_keep_apart():
    wanted = [models.ConvBn, models.Linears, models.Equal, models.TwoRounds] * 4
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        # Scripting stays outside: Python 3.11's own parser is not safe in several threads.
        found = list(pool.map(frozen_in_a_capture, [scripted(model) for model in wanted]))
    for model, (frozen, traces) in zip(wanted, found, strict=True):
        (trace,) = traces
        check_trace(trace)
        assert trace.name == model.__name__
        assert is_of(trace, frozen)


def test_another_threads_freeze_is_not_ours():
    with fe.capture() as captured:
        thread = threading.Thread(target=lambda: torch.jit.freeze(scripted(models.Equal)))
        thread.start()
        thread.join()
        torch.jit.freeze(scripted(models.ConvBn))
    assert [trace.name for trace in captured.traces] == ["ConvBn"]


def test_another_threads_freeze_does_not_get_into_our_log():
    """torch's log is one per process: threads outside of any capture must not write into a captured one."""
    done = threading.Event()
    other = scripted(models.Linears)

    def freeze_all_the_time() -> None:
        while not done.is_set():
            torch._C._freeze_module(copy.copy(other)._c)

    threads = [threading.Thread(target=freeze_all_the_time) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        with fe.capture() as captured:
            frozen = [torch.jit.freeze(scripted(models.Equal)) for _ in range(25)]
    finally:
        done.set()
        for thread in threads:
            thread.join()
    lengths = {tuple(step.name for step in trace.steps) for trace in captured.traces}
    assert len(lengths) == 1
    assert all(is_of(trace, module) for trace, module in zip(captured.traces, frozen, strict=True))


def test_log_stream_of_the_user_is_noticed(capfd):
    """``_jit_set_logging_stream("stdout")`` sends torch's log elsewhere; there is no way to ask where."""
    torch._C._jit_set_logging_stream("stdout")
    try:
        with fe.capture() as captured:
            frozen = torch.jit.freeze(scripted(models.Equal))
    finally:
        torch._C._jit_set_logging_stream("stderr")
        capfd.readouterr()
    (trace,) = captured.traces
    check_trace(trace)
    assert is_of(trace, frozen)
    assert any("log" in notice.message for notice in trace.notices)


def test_the_same_capture_gives_the_same_traces():
    with fe.capture() as outer, fe.capture() as inner:
        torch.jit.freeze(scripted())
    (one,), (other,) = outer.traces, inner.traces
    assert one == dataclasses.replace(other, created=one.created)


def test_a_replacement_of_the_users_own_made_inside_survives(monkeypatch):
    """Whoever replaces torch.jit.freeze inside the block and puts it back finds torch as it was."""
    with fe.capture() as captured, monkeypatch.context() as patch:
        wrapped = torch.jit.freeze
        patch.setattr(torch.jit, "freeze", lambda module: wrapped(module))
        torch.jit.freeze(scripted())
    assert len(captured.traces) == 1


def test_nested_patches_are_made_once() -> None:
    """Importing Inductor does: the import asks for the patches whose making imported it."""
    active = ActiveCaptures[object]("patches that ask for themselves")
    made: list[int] = []

    def make() -> tuple[Patch, ...]:
        made.append(1)
        active.patch(make)
        return ()

    def enter() -> None:
        with active.entered(object(), make):
            made.append(2)

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    thread.join(120)
    assert made == [1, 2]
