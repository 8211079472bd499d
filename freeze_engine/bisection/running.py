"""Finds the first step that breaks a check, and what in it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from freeze_engine.bisection.checks import Answer, Check
from freeze_engine.bisection.outcome import Culprit, Ending, Probe, Verdict
from freeze_engine.bisection.prefix import Prefix, Prefixes, step_name
from freeze_engine.bisection.rewrites import RewriteSearch, described
from freeze_engine.bisection.search import Turn, turning_point
from freeze_engine.trace import Step, Trace

OnProbe = Callable[[Probe], None]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ends with.

    Attributes:
        ending, message, culprit: as in `Bisection`.
        guilty: positions of the guilty rewrites in the step.
    """

    ending: Ending
    message: str
    culprit: Culprit | None = None
    guilty: tuple[int, ...] = ()


@dataclass(slots=True)
class Search:
    """One search.

    Attributes:
        trace: of the freeze.
        prefixes: what is put to the check.
        check: the check.
        every_step: whether to ask about every step, and not only those that a binary search needs.
        on_probe: told of every answer.
        probes: all answers, in order.
        notes: what else there is to know.
    """

    trace: Trace
    prefixes: Prefixes
    check: Check
    every_step: bool
    on_probe: OnProbe
    probes: list[Probe] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    whole: Sequence[Prefix] = ()
    verdicts: dict[int, Verdict] = field(default_factory=dict)

    def run(self) -> Found:
        """Searches."""
        self.whole = self.prefixes.whole()
        positions = range(len(self.whole))
        first = next((position for position in positions if self._test(position) != "untestable"), None)
        if first is None:
            return Found("inconclusive", "No step of this freeze can be put to the check.")
        if self.verdicts[first] == "bad":
            start = "before anything was frozen" if first == 0 else f"already in the first that can be tested"
            return Found("broken_before", f"The check fails {start}: {self.whole[first].name}.")
        last = next(position for position in reversed(positions) if self._test(position) != "untestable")
        if self.every_step:
            for position in positions:
                self._test(position)
        self._note_untested(last)
        bad = self._first_bad(first, last)
        if bad is None:
            return Found("nothing_found", "The check never fails: no step of the freeze breaks it.")
        return self._verified(self._turn(first, bad))

    # -- steps

    def _test(self, position: int) -> Verdict:
        if position not in self.verdicts:
            self.verdicts[position] = self._ask(self.whole[position], self.whole[0]).verdict
        return self.verdicts[position]

    def _ask(self, prefix: Prefix, before: Prefix) -> Answer:
        answer = self.check.ask(prefix, before)
        probe = Probe(prefix.name, prefix.step, answer.verdict, answer.detail)
        self.probes.append(probe)
        self.on_probe(probe)
        return answer

    def _note_untested(self, last: int) -> None:
        untested = [self.whole[position].name for position in range(last + 1, len(self.whole))]
        if untested:
            self.notes.append(f"Not tested, for the check cannot be put to it: {', '.join(untested)}.")

    def _first_bad(self, first: int, last: int) -> int | None:
        """Returns a position from which to look back for the culprit, ``None`` where the freeze as a whole is good."""
        bad = [position for position, verdict in sorted(self.verdicts.items()) if verdict == "bad"]
        again = [position for position, verdict in self.verdicts.items() if bad and verdict == "good" and position > bad[0]]
        if again:
            self.notes.append(
                f"Not all after the first failure fail: {self.whole[min(again)].name} passes again after "
                f"{self.whole[bad[0]].name} has failed."
            )
        if self.verdicts[last] == "bad":
            return bad[0]
        return None

    def _turn(self, first: int, bad: int) -> Turn:
        good = max(position for position, verdict in self.verdicts.items() if verdict == "good" and position < bad)
        return turning_point(self._test, good, bad)

    # -- the culprit

    def _verified(self, turn: Turn) -> Found:
        """Asks about the culprit and its predecessor once more, each held against the step before the culprit."""
        good, bad = self.whole[turn.good], self.whole[turn.bad]
        answers = self._ask(good, good if turn.good else self.whole[0]), self._ask(bad, good)
        if answers[0].verdict != "good" or answers[1].verdict != "bad":
            return Found("inconclusive", self._contradiction(good, bad, answers))
        culprit, guilty = self._culprit(turn)
        return Found("found", f"{culprit_name(culprit)} breaks the check.", culprit, guilty)

    def _contradiction(self, good: Prefix, bad: Prefix, answers: tuple[Answer, Answer]) -> str:
        if answers[0].verdict != "good":
            return f"The check contradicts itself: {good.name} passed it, and failed it when asked again."
        return (
            f"{bad.name} failed the check, but held against {good.name}, right before it, it does not: "
            "what is seen comes from several steps together, or is noise."
        )

    def _culprit(self, turn: Turn) -> tuple[Culprit, tuple[int, ...]]:
        good, bad = self.whole[turn.good], self.whole[turn.bad]
        assert good.step is not None
        between = self._changing(good.step, bad.step)
        step = None if bad.step is None else self.trace.steps[bad.step]
        names = (*(step_name(each) for each in between), *(() if step is not None else (bad.name,)))
        if step is None:
            culprit = Culprit(None, "compile", bad.name, "forward", None, good.step, names)
            return culprit, ()
        if len(between) > 1:
            note = "What lies between the last good step and it could not be tested apart."
            culprit = Culprit(step.index, step.stage, step.name, step.method, step.round, good.step, names, note=note)
            return culprit, ()
        search = RewriteSearch(
            step, self.prefixes, lambda prefix: self._ask(prefix, good).verdict == "bad", self.check.is_cheap
        )
        blame = search.run()
        before = self.trace.before(step)
        assert before is not None
        rewrites = tuple(described(step.rewrites[number], before.graph) for number in blame.guilty)
        culprit = Culprit(
            step.index,
            step.stage,
            step.name,
            step.method,
            step.round,
            good.step,
            names,
            rewrites,
            len(step.rewrites),
            blame.note,
        )
        return culprit, blame.guilty

    def _changing(self, good: int, bad: int | None) -> list[Step]:
        """Returns the steps after the good one, up to the bad one, that changed the graph."""
        last = len(self.trace.steps) - 1 if bad is None else bad
        method = self.trace.steps[good].method
        return [
            step
            for step in self.trace.steps[good + 1 : last + 1]
            if step.method == method and (before := self.trace.before(step)) and before.graph is not step.graph
        ]


def culprit_name(culprit: Culprit) -> str:
    """Returns what a culprit is called in a sentence."""
    if culprit.step is None:
        return f"What follows step {culprit.last_good}, up to the generated code,"
    turn = f", round {culprit.round}" if culprit.round else ""
    return f"Step {culprit.step} ({culprit.stage} / {culprit.name}{turn})"
