"""What the tests of the recorder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import freeze_engine as fe
from tests.torch.against_torch import frozen_modules, problems


@pytest.fixture
def recorded() -> Iterator[fe.Captured]:
    """A capture around the test, whose every trace is held against torch once the test is over."""
    with fe.capture() as captured:
        yield captured
    assert [problem for frozen in frozen_modules(captured) for problem in problems(frozen)] == []
