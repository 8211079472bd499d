"""The remaining time of a whole recording, on simulated clocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

import freeze_engine as fe
from freeze_engine.worker import JobProgress
from freeze_engine.worker.eta import Outlook, Pace, left_text
from freeze_engine.worker.phases import Course
from viewer.cli.terminal import recording_text

PHASES = ("Preparing to measure", "Measuring latency", "Comparing numbers", "Looking at the executor's graph", "Saving")
MEASURE = fe.Measure()


@dataclass(frozen=True)
class Machine:
    """A simulated recording.

    Attributes:
        call_s: time of a call of a candidate.
        candidates: how many there are.
        rounds: planned.
        slows_at: the number of the round from which calls take three times as long.
    """

    call_s: float
    candidates: int = 12
    rounds: int = 60
    slows_at: int = 10**9
    measure: fe.Measure = MEASURE

    def reports(self) -> Iterator[tuple[float, str, int]]:
        """Yields when what is reported, with the thousandths of its phase, and at last the end."""
        now_s = 100.0
        yield now_s, "preparing to run the steps", 0
        for index in range(self.candidates):
            yield now_s, f"latency: warming up step {index}", round(200 * index / self.candidates)
            now_s += min(1.0, 10 * self.call_s)
        began_s = now_s
        for number in range(1, self.rounds + 1):
            if number > 10 and now_s - began_s > self.measure.seconds:
                break
            yield now_s, f"latency: round {number} of {self.rounds}", 200 + round(800 * (number - 1) / self.rounds)
            now_s += self.candidates * self.call_s * (3 if number >= self.slows_at else 1)
        sets = self.measure.input_sets
        yield now_s, "numerics: running the eager module", 0
        now_s += 2 * sets * self.call_s
        for index in range(self.candidates):
            yield now_s, f"numerics: comparing step {index}", round(1000 * (index + 1) / (self.candidates + 1))
            now_s += (sets + 2) * self.call_s
        yield now_s, "looking at the executor's graph", 0
        now_s += max(7 * self.call_s, min(1.0, 20 * self.call_s))
        yield now_s, "writing the trace", 0
        yield now_s, "", 0

    def told(self, phases: tuple[str, ...] = PHASES) -> list[tuple[str, float, float]]:
        """Returns each report with the estimate and the true remaining time, where there is an estimate."""
        course, outlook = Course(phases), Outlook(self.measure, Pace(0, 0, 100.0))
        reports = list(self.reports())
        found = []
        for now_s, message, done in reports[:-1]:
            course, outlook = course.advanced(message, done, 1000), outlook.advanced(message, done, 1000, now_s)
            left_s = outlook.left_s(course.later, now_s)
            if left_s is not None:
                found.append((message, left_s, reports[-1][0] - now_s))
        return found


MACHINES = {
    "fast": Machine(0.0002, rounds=600),
    "usual": Machine(0.02, rounds=50),
    "slow": Machine(0.5, rounds=10),
    "very slow": Machine(4.0, rounds=10),
    "many candidates": Machine(0.05, candidates=90, rounds=10),
    "one set": Machine(0.02, rounds=50, measure=fe.Measure(input_sets=1)),
    "long": Machine(0.02, rounds=600, measure=fe.Measure(seconds=200.0)),
}


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_the_estimate_is_near_the_truth(machine: Machine) -> None:
    for message, told_s, true_s in machine.told():
        assert abs(told_s - true_s) <= 1.5 + 0.25 * true_s, (message, told_s, true_s)


@pytest.mark.parametrize("name", ["usual", "slow", "many candidates", "long"])
def test_there_is_an_estimate_in_the_rounds_and_while_numbers_are_compared(name: str) -> None:
    told = [message.split()[0] for message, _, _ in MACHINES[name].told()]
    assert {"latency:", "numerics:"} <= {*told}


def test_a_machine_that_slows_down_is_followed_and_the_limit_of_time_holds() -> None:
    machine = Machine(0.02, rounds=50, slows_at=20)
    for message, told_s, true_s in machine.told():
        assert told_s <= 12 + 1.5 + 10 * 3 * 12 * 0.02, message  # no estimate beyond what is planned
        if message.startswith("numerics:"):
            assert abs(told_s - true_s) <= 1.5 + 0.25 * true_s, message


def test_a_phase_of_unknown_time_leaves_no_estimate() -> None:
    machine = MACHINES["usual"]
    assert not machine.told((*PHASES[:-1], "Checking the frozen module", "Saving"))
    told = machine.told((*PHASES[:2], "Freezing without each pass", "Comparing numbers", "Saving"))
    assert {message.split()[0] for message, _, _ in told} == {"numerics:"}  # what is unknown is behind it then
    assert not any(message.startswith("latency: warming") for message, _, _ in machine.told())


def test_rounds_beyond_those_planned_tell_nothing() -> None:
    outlook = Outlook(fe.Measure(), Pace(0, 0, 0.0))
    for number in range(1, 4):
        outlook = outlook.advanced(f"latency: round {number} of 3", 200 + 200 * number, 1000, float(number))
    late = outlook.advanced("latency: round 4, since those so far differ too much", 1000, 1000, 9.0)
    assert late.left_s(("Saving",), 9.0) is None


def test_the_words_are_of_the_whole_only_where_it_is_known() -> None:
    event = JobProgress("latency: round 3 of 60", 500, 1000, 8.0, "Measuring latency", ("Saving",), 40.0)
    assert recording_text(event, 65.0) == " 50% Measuring latency: round 3 of 60 (1:05, about 0:40 left)"
    assert "left of this" in recording_text(replace(event, whole_s=None), 65.0)
    assert (left_text(39.6), left_text(150.0)) == ("about 40 s left", "about 2 min left")
