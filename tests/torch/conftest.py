"""Shared by the tests of the recorder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.measure.torch_threads import intra_op_threads
from tests.clocks import OwnTime
from tests.torch.against_torch import frozen_modules, problems

#: Every operator registered with torch.jit, also replaced ones. Its table contains their addresses and no references
#: (torch/jit/_builtins.py, 2.13); a new object, such as a list on a module, may reuse the address of a collected
#: operator, and is then scripted as that operator. Importing Inductor replaces two.
OPERATORS: list[Any] = []

_register = torch.jit._builtins._register_builtin


def _keep(operator: Any, name: str) -> None:
    OPERATORS.append(operator)
    _register(operator, name)


torch.jit._builtins._register_builtin = _keep


@pytest.fixture
def recorded() -> Iterator[fe.Captured]:
    """A capture around the test; after the test each of its traces is compared with torch."""
    with fe.capture() as captured:
        yield captured
    assert [problem for frozen in frozen_modules(captured) for problem in problems(frozen)] == []


@pytest.fixture
def own_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets samples hold what the candidates compute, and not what else the machine does meanwhile.

    With more threads, this one's time would also be what it waits for the others, which share a busy machine.
    """
    monkeypatch.setattr("freeze_engine.measure.rounds.time", OwnTime)
    with intra_op_threads(1):
        yield
