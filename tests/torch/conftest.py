"""What the tests of the recorder share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import freeze_engine as fe
from tests.torch.against_torch import frozen_modules, problems

#: Every operator that torch.jit has been told of, those included that others replaced since. Its table has their
#: addresses and no references (torch/jit/_builtins.py, 2.13); the address of a dead one is taken by whatever comes
#: next, such as a list on a module, which is then scripted as that operator. Importing Inductor replaces two.
OPERATORS: list[Any] = []

_register = torch.jit._builtins._register_builtin


def _keep(operator: Any, name: str) -> None:
    OPERATORS.append(operator)
    _register(operator, name)


torch.jit._builtins._register_builtin = _keep


@pytest.fixture
def recorded() -> Iterator[fe.Captured]:
    """A capture around the test, whose every trace is held against torch once the test is over."""
    with fe.capture() as captured:
        yield captured
    assert [problem for frozen in frozen_modules(captured) for problem in problems(frozen)] == []
