"""Finds the first step that breaks a criterion, and the rewrites in it that do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freeze_engine.analysis.name_texts import listed
from freeze_engine.diagnose.bisection.algorithms import Turn, turning_point
from freeze_engine.diagnose.bisection.criteria import Answer
from freeze_engine.diagnose.bisection.evaluate import CandidateEvaluator
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix, Prefixes, method_text, step_name, turn_text
from freeze_engine.diagnose.bisection.result import FORWARD, Culprit, Ending, Probe, Verdict
from freeze_engine.diagnose.bisection.rewrite_search import Blame, RewriteSearch, described
from freeze_engine.trace import Step, Trace


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search.

    Attributes:
        ending, message, culprit: as in `Bisection`.
        guilty: positions of the guilty rewrites in the step.
    """

    ending: Ending
    message: str
    culprit: Culprit | None = None
    guilty: tuple[int, ...] = ()


class Search:
    """One search.

    Args:
        trace: of the freeze.
        prefixes: the candidates.
        asker: applies the criterion on them.
        every_step: whether to check every step, and not only those that a binary search needs.

    Attributes:
        probes: all answers, in order.
        notes: further facts.
        failing: the answer of the criterion about the culprit.
    """

    def __init__(self, trace: Trace, prefixes: Prefixes, evaluator: CandidateEvaluator, every_step: bool) -> None:
        self.probes: list[Probe] = []
        self.notes: list[str] = []
        self.failing = Answer("untestable", "")
        self._trace = trace
        self._prefixes = prefixes
        self._evaluator = evaluator
        self._every_step = every_step
        self._whole: Sequence[Prefix] = ()
        self._answers: dict[int, Answer] = {}
        # Until it is known whether the last candidate runs, one that does not is bad.
        self._last_raises = True

    def run(self) -> Found:
        """Runs the search."""
        self._whole = self._prefixes.whole()
        positions = range(len(self._whole))
        first = next((position for position in positions if self._test(position) != "untestable"), None)
        if first is None:
            return Found("inconclusive", "No step of this freeze can be put to the criterion.")
        if self._test(first) == "bad":
            return self._broken_before(first)
        last = next(position for position in reversed(positions) if self._test(position) != "untestable")
        self._last_raises = self._answers[last].ran == "raised"
        for position in positions if self._every_step else ():
            self._test(position)
        self._note_sequence(last)
        if self._test(last) == "good":
            return Found("nothing_found", "The criterion does not fail: what comes out of the freeze passes it.")
        bad = self._verdicts("bad")[0]
        good = max(position for position in self._verdicts("good") if position < bad)
        return self._verified(turning_point(self._test, good, bad))

    def _broken_before(self, first: int) -> Found:
        doubt = self._evaluator.doubt()
        if doubt is not None:
            return Found("inconclusive", f"{doubt}, so the criterion cannot tell what freezing does.")
        start = "before anything was frozen" if first == 0 else "already in the first step that can be tested"
        return Found("broken_before", f"The criterion fails {start}: {self._whole[first].name}.")

    # -- steps

    def _test(self, position: int) -> Verdict:
        if position not in self._answers:
            self._answers[position] = self._ask(self._whole[position], self._whole[0])
        return self._answers[position].verdict

    def _ask(self, prefix: Prefix, before: Prefix) -> Answer:
        answer = self._evaluator.ask(prefix, before)
        if answer.ran == "raised" and not self._last_raises:
            # Some passes leave a graph that only a later pass repairs: that is no fault of theirs.
            answer = Answer("untestable", f"does not run, though the whole freeze does: {answer.detail}")
        probe = Probe(prefix.name, prefix.step, answer.verdict, answer.detail)
        self.probes.append(probe)
        self._evaluator.on_probe(probe)
        return answer

    def _verdicts(self, verdict: Verdict) -> list[int]:
        return sorted(position for position, answer in self._answers.items() if answer.verdict == verdict)

    def _note_sequence(self, last: int) -> None:
        """Notes assumptions of the binary search that do not hold."""
        untested = [self._whole[position].name for position in range(last + 1, len(self._whole))]
        if untested:
            self.notes.append(f"Not tested, for the criterion cannot be put to it: {listed(untested)}.")
        bad = self._verdicts("bad")
        again = [position for position in self._verdicts("good") if bad and position > bad[0]]
        if again:
            names = self._whole[bad[0]].name, self._whole[again[0]].name
            self.notes.append(f"Not monotonic: {names[0]} fails, and {names[1]} passes again.")

    # -- the culprit

    def _verified(self, turn: Turn) -> Found:
        """Checks the culprit and its predecessor once more, each against the step before the culprit."""
        good, bad = self._whole[turn.good], self._whole[turn.bad]
        answers = self._ask(good, good if turn.good else self._whole[0]), self._ask(bad, good)
        self.failing = answers[1]
        if answers[0].verdict != "good" or answers[1].verdict != "bad":
            return Found("inconclusive", self._contradiction(good, bad, answers))
        culprit, guilty = self._culprit(turn)
        return Found("found", f"{culprit_name(culprit)} breaks the criterion.", culprit, guilty)

    def _contradiction(self, good: Prefix, bad: Prefix, answers: tuple[Answer, Answer]) -> str:
        if answers[0].verdict != "good":
            return f"The criterion contradicts itself: {good.name} passed it, and failed it when evaluated again."
        return (
            f"{bad.name} failed the criterion, but held against {good.name}, right before it, it does not: "
            "what is seen comes from several steps together, or is noise."
        )

    def _culprit(self, turn: Turn) -> tuple[Culprit, tuple[int, ...]]:
        good, bad = self._whole[turn.good], self._whole[turn.bad]
        assert good.step is not None
        between = self._changing(good.step, bad.step)
        names = (*(step_name(each) for each in between), *((bad.name,) if bad.step is None else ()))
        if bad.step is None:
            return Culprit(None, "compile", bad.name, FORWARD, None, good.step, names), ()
        end = self._trace.steps[bad.step]
        step, blame = self._blamed(between, end, good)
        before = self._trace.before(step)
        assert before is not None
        rewrites = tuple(described(step.rewrites[number], before.graph) for number in blame.guilty)
        culprit = Culprit(
            step.index,
            step.stage,
            step.name,
            step.method,
            step.round,
            good.step,
            (step_name(step),) if blame.guilty else names,
            rewrites,
            len(step.rewrites),
            blame.note,
        )
        return culprit, blame.guilty

    def _blamed(self, between: Sequence[Step], end: Step, good: Prefix) -> tuple[Step, Blame]:
        """Returns the culprit among the steps that the search could not separate, and the facts about its rewrites."""
        for step in between if self._prefixes.goes_on or len(between) == 1 else ():
            if len(between) > 1 and not (step.rewrites and self._prefixes.has_parts(step)):
                continue
            is_cheap = self._evaluator.criterion.is_cheap
            blame = RewriteSearch(step, end, self._prefixes, self._is_bad_after(good), is_cheap).run()
            if blame.guilty or len(between) == 1:
                return step, blame
        return end, Blame(note="What lies between the last good step and it could not be tested apart.")

    def _is_bad_after(self, good: Prefix) -> Callable[[Prefix], bool]:
        return lambda prefix: self._ask(prefix, good).verdict == "bad"

    def _changing(self, good: int, bad: int | None) -> list[Step]:
        """Returns the steps after the good one, up to the bad one, that changed a graph that is searched."""
        last = len(self._trace.steps) - 1 if bad is None else bad
        methods = {self._trace.steps[each.step].method for each in self._whole if each.step is not None}
        return [
            step
            for step in self._trace.steps[good + 1 : last + 1]
            if step.method in methods and (before := self._trace.before(step)) and before.graph is not step.graph
        ]


def culprit_name(culprit: Culprit) -> str:
    """Returns the name of a culprit in a sentence."""
    if culprit.step is None:
        return f"What follows step {culprit.last_good}, up to the generated code,"
    name = f"{culprit.stage} / {culprit.name}{turn_text(culprit.round)}"
    return f"Step {culprit.step} ({name}){method_text(culprit.method)}"
