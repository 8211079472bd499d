"""Compiles that fail in the middle: the user gets torch's own error, and the trace up to there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest
import torch
import torch._inductor.graph

import freeze_engine as fe
from freeze_engine.backends.inductor import torch_private
from freeze_engine.errors import FreezerError
from freeze_engine.trace.validation import check_trace
from tests.torch.inductor_models import Convolutional, filled
from tests.torch.inductor_recording import fresh, image, record, rows

Break = Callable[[Callable[..., Any]], contextlib.AbstractContextManager[Any]]


class OddError(Exception):
    """What no code of torch raises."""


def setting(name: str) -> Break:
    return lambda broken: torch._inductor.config.patch({name: broken})


def function(owner: Any, name: str) -> Break:
    return lambda broken: mock.patch.object(owner, name, broken)


FREEZING = torch._inductor.freezing
BROKEN = {
    ("joint_graph", "joint_custom_pre_pass"): setting("joint_custom_pre_pass"),
    ("layout", "convert_conv_weights_to_channels_last"): function(FREEZING, "convert_conv_weights_to_channels_last"),
    ("inline_parameters", "replace_params_with_constants"): function(FREEZING, "replace_params_with_constants"),
    ("inline_parameters", "fx_graph_cse"): function(FREEZING, "fx_graph_cse"),
    ("freezing_passes", "constant_fold"): function(FREEZING, "constant_fold"),
    ("post_grad", "post_grad_custom_pre_pass"): setting("post_grad_custom_pre_pass"),
    ("compile", "GraphLowering.codegen"): function(torch._inductor.graph.GraphLowering, "codegen"),
}


@pytest.fixture(autouse=True)
def torch_as_found() -> Iterator[None]:
    names = [*torch_private.REQUIRED.values(), *torch_private.OPTIONAL.values()]
    before = [name.found for name in names]
    yield
    assert [name.path for name, was in zip(names, before, strict=True) if name.found is not was] == []


def attempt(model: torch.nn.Module, x: torch.Tensor) -> BaseException:
    """Returns what compiling raises."""
    freezing = torch._inductor.config.patch(freezing=True)
    with fresh(), torch.no_grad(), freezing, pytest.raises(Exception) as caught:  # noqa: PT011 - any
        torch.compile(model)(x)
    return caught.value


def behind(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__


@pytest.fixture(params=BROKEN, ids=lambda place: "/".join(place))
def place(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    with BROKEN[request.param](_raising):
        yield request.param


def _raising(*args: Any, **kwargs: Any) -> None:
    raise OddError("none of that")


def test_an_error_is_the_one_without_a_capture_and_the_trace_ends_there(place: tuple[str, str]):
    model, x = filled(Convolutional()), image()
    plain = attempt(model, x)
    with fe.capture() as captured:
        seen = attempt(model, x)
    assert (type(seen), str(seen)) == (type(plain), str(plain))
    assert [type(each) for each in behind(seen)] == [type(each) for each in behind(plain)]
    assert OddError in {type(each) for each in behind(seen)}
    (trace,) = captured.traces
    check_trace(trace)
    assert fe.loads(fe.dumps(trace)) == trace
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.message) == ("OddError", "none of that")
    assert (trace.failure.stage, trace.failure.name) == place
    assert trace.failure.step == trace.steps[-1].index


def test_an_interrupt_in_the_middle_leaves_the_trace(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FREEZING, "constant_fold", interrupted)
    with fresh(), pytest.raises(KeyboardInterrupt) as caught:
        record(filled(Convolutional()), image())
    trace = fe.partial_trace(caught.value)
    assert trace is not None
    check_trace(trace)
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.name) == ("KeyboardInterrupt", "constant_fold")


def test_a_graph_break_where_none_is_allowed_is_torchs_own_error():
    class Breaking(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch._dynamo.graph_break()
            return x + 1

    with fresh(), pytest.raises(torch._dynamo.exc.Unsupported):
        record(Breaking().eval(), rows(2, 4), fullgraph=True)


def test_a_second_graph_that_fails_leaves_the_first_whole():
    """What the first compile of a module became stays known when a recompilation for a new shape fails."""
    calls = []

    def second_fails(graph: Any) -> None:
        calls.append(graph)
        if len(calls) == 2:
            raise OddError("none of that")

    model = torch.nn.Linear(4, 2).eval()
    with fresh(), torch.no_grad(), fe.capture() as captured:
        patched = torch._inductor.config.patch(freezing=True, post_grad_custom_pre_pass=second_fails)
        with patched, contextlib.suppress(Exception):
            compiled = torch.compile(model)
            compiled(rows(2, 4))
            compiled(rows(3, 4))
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.methods == ("forward", "forward, recompiled")
    assert trace.failure is not None
    assert (trace.failure.method, trace.failure.name) == ("forward, recompiled", "post_grad_custom_pre_pass")
    assert trace.method_steps("forward")[-1].name == "wrapper"
    assert trace.method_steps("forward, recompiled")[-1].stage == "post_grad"
    assert {(each.path, each.fate) for each in trace.attributes} == {("weight", "inlined"), ("bias", "inlined")}


def test_a_recurrent_layer_is_refused_with_the_setting_that_lets_it_in():
    with fresh(), pytest.raises(FreezerError, match=r"recurrent layer.*allow_rnn"):
        record(torch.nn.LSTM(2, 2).eval(), rows(3, 1, 2))
