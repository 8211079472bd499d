from __future__ import annotations

import pytest

from tests.fuzzing.trying import KEPT, input_name, originals, outcome_of

_COUNT = 2000
_AT_ONCE = 100


def _kept() -> list[str]:
    lines = KEPT.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("first", range(0, _COUNT, _AT_ONCE))
def test_altered_file_that_loads_can_be_shown(first: int) -> None:
    outcomes = [outcome_of(input_name(0, number)) for number in range(first, first + _AT_ONCE)]
    assert [outcome.failure for outcome in outcomes if outcome.failure] == []
    # Both ends are tried: not all is refused, and not all goes through.
    assert 0 < sum(outcome.loaded for outcome in outcomes) < _AT_ONCE


@pytest.mark.parametrize("name", _kept())
def test_former_failures_stay_fixed(name: str) -> None:
    assert outcome_of(name, thorough=True).failure is None


@pytest.mark.parametrize("original", sorted(originals()))
def test_an_input_has_a_name_that_makes_it_again(original: str) -> None:
    assert outcome_of(f"{original}:3:1") == outcome_of(f"{original}:3:1")
