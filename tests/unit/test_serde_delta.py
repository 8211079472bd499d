from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from freeze_engine.serde.delta import spliced, splices


@given(st.lists(st.integers(0, 12)), st.lists(st.integers(0, 12)))
def test_splices_turn_any_list_into_any_other(base: list[int], new: list[int]) -> None:
    found = splices(base, new)
    assert spliced(base, found) == new
    assert sum(len(inserted) for _, _, inserted in found) <= len(new)


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        ([], [], []),
        ([], [1, 2], [(0, 0, [1, 2])]),
        ([1, 2, 3], [1, 2, 3], []),
        ([1, 2, 3, 4], [1, 9, 4], [(1, 2, [9])]),
        ([1, 2, 3, 4], [4, 1, 2, 3], [(0, 0, [4]), (3, 1, [])]),
        ([1, 2, 3], [], [(0, 3, [])]),
    ],
)
def test_splices_insert_no_more_than_is_new(base: list[int], new: list[int], expected: list[Any]) -> None:
    assert splices(base, new) == expected


@pytest.mark.parametrize("wrong", [[(0, 4, [])], [(-1, 0, [])], [(1, -1, [])], [(2, 1, []), (1, 1, [])], [(4, 0, [])]])
def test_splices_outside_their_base_are_refused(wrong: list[Any]) -> None:
    with pytest.raises(ValueError, match="does not fit a base of 3"):
        spliced([1, 2, 3], wrong)
