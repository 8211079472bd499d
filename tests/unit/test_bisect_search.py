"""The searches of a bisection, on sequences and sets whose answer is known."""

from __future__ import annotations

import pytest

from freeze_engine.diagnose.bisection.algorithms import Turn, smallest_bad, turning_point


def _sequence(text: str):
    """Reads ``..?xx``: good, good, untestable, bad, bad; and notes what is asked."""
    asked: list[int] = []
    meaning = {".": "good", "x": "bad", "?": "untestable"}

    def test(position: int) -> str:
        asked.append(position)
        return meaning[text[position]]

    return test, asked


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        (".x", Turn(0, 1)),
        ("...x", Turn(2, 3)),
        (".xxxxxxx", Turn(0, 1)),
        ("....xxxx", Turn(3, 4)),
        (".?x", Turn(0, 2)),
        ("..??xx", Turn(1, 4)),
        (".???x", Turn(0, 4)),
        ("..x?.x", Turn(1, 2)),
    ],
)
def test_the_turning_point_lies_between_a_good_and_a_bad_one_with_nothing_testable_between(text, turn):
    test, _ = _sequence(text)
    assert turning_point(test, 0, len(text) - 1) == turn


def test_a_binary_search_asks_about_few_and_about_each_once():
    test, asked = _sequence("." * 600 + "x" * 424)
    assert turning_point(test, 0, 1023) == Turn(599, 600)
    assert len(asked) == len(set(asked)) == 10


@pytest.mark.parametrize("guilty", [{0}, {3}, {7}, {1, 5}, {0, 7}, {2, 3, 4}, set(range(8))])
def test_the_smallest_bad_set_is_found(guilty):
    assert smallest_bad(lambda done: guilty <= done, 8) == guilty


def test_of_several_that_are_bad_alone_one_is_found():
    assert smallest_bad(lambda done: bool(done & {2, 6}), 8) == {2}


def test_one_of_many_takes_few_tests():
    asked = []

    def is_bad(done):
        asked.append(done)
        return 700 in done

    assert smallest_bad(is_bad, 1000) == {700}
    assert len(asked) <= 12


def test_returned_candidate_was_observed_to_fail():
    seen = {}

    def is_bad(done):
        seen[done] = (len(done) % 2 == 1 and 4 in done) or len(done) == 8
        return seen[done]

    found = smallest_bad(is_bad, 8)
    assert len(found) == 8 or seen[found]
