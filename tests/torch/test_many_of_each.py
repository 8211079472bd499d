"""Sentences about a model that has hundreds of what they name: readers, writes, names of one tensor, views, lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
import torch
from torch import nn

import freeze_engine as fe
from viewer.text.stats import stats_text

MANY = 150
MOST_CHARACTERS = 700
NOT_SENTENCES = {"graph", "code", "sources", "aliases"}


class OneLinear(nn.Module):
    """Calls one linear again and again, each time with an addition that could be merged."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("shift", torch.rand(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(MANY):
            x = torch.relu(self.layer(x) + self.shift)
        return x


class ReadConv(nn.Module):
    """A convolution whose output the batch norm is only one of many to read."""

    def __init__(self, many: int = MANY) -> None:
        super().__init__()
        self.many = many
        self.conv = nn.Conv2d(3, 3, 1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        z = self.norm(y)
        for number in range(self.many):
            z = z + torch.relu(y * float(number + 2))
        return z


class FarNorm(nn.Module):
    """Many operators stand between convolution and batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        for _ in range(MANY):
            x = x.contiguous()
        return self.norm(x)


class Written(nn.Module):
    """A buffer that many lines write, in a submodule."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number in range(MANY):
            self.count.add_(float(number))
            x = x + self.count
        return x


class Views(nn.Module):
    """Many buffers are views of one tensor, which is written."""

    def __init__(self) -> None:
        super().__init__()
        whole = torch.zeros(MANY, 4)
        for number in range(MANY):
            self.register_buffer(f"view{number}", whole[number])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.view0.add_(1.0)
        for number in range(MANY):
            x = x + getattr(self, f"view{number}")
        return x


class OneTensor(nn.Module):
    """Many layers share one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(MANY))
        for layer in self.layers:
            layer.weight = self.layers[0].weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


class KeptInside(nn.Module):
    """A submodule holds many buffers that stay."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.ModuleList(Written() for _ in range(3))
        for each in self.inner:
            for number in range(MANY):
                each.register_buffer(f"kept{number}", torch.rand(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for each in self.inner:
            for number in range(MANY):
                x = x + getattr(each, f"kept{number}").mul_(2.0)
        return x


VECTOR, IMAGE = torch.rand(2, 4), torch.rand(1, 3, 4, 4)
MODULES = {
    "one linear called many times": (OneLinear, VECTOR),
    "many readers of a convolution": (ReadConv, IMAGE),
    "many operators in between": (FarNorm, IMAGE),
    "many writes of one buffer": (Written, VECTOR[:1, :1]),
    "many views of one tensor": (Views, VECTOR),
    "many layers with one weight": (OneTensor, VECTOR),
    "many kept buffers in a submodule": (KeptInside, VECTOR),
}


def sentences(found: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Yields the texts of a trace, each with its place; graphs and code are no sentences."""
    if isinstance(found, str):
        yield where, found
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            if field.name not in NOT_SENTENCES:
                yield from sentences(getattr(found, field.name), f"{where}.{field.name}")
    elif isinstance(found, tuple):
        for each in found:
            yield from sentences(each, where)


def check_lengths(trace: fe.Trace) -> None:
    told = [*sentences(trace), *sentences(fe.summarize(trace))]
    told += [("stats", line) for line in stats_text(trace).splitlines()]
    for where, text in told:
        assert len(text) <= MOST_CHARACTERS, f"{where} has {len(text):,} characters: {text:.200}"


@pytest.mark.parametrize("name", MODULES)
def test_many_of_one_kind_a_sentence_names_the_first_few(name: str) -> None:
    module, given = MODULES[name]
    traced = torch.jit.trace(module().eval(), given, check_trace=False)
    with torch.no_grad(), fe.capture() as captured:
        torch.jit.freeze(traced)
    (trace,) = captured.traces
    assert fe.problems(trace) == ()
    check_lengths(trace)


def test_many_readers_in_inductor_a_sentence_names_the_first_few() -> None:
    trace = fe.record(ReadConv(40).eval(), (IMAGE,), backend="inductor", measure=None).trace
    assert fe.problems(trace) == ()
    check_lengths(trace)
