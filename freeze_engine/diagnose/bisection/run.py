"""Runs a bisection: the freeze, a search in each method, and the script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from freeze_engine.diagnose.bisection.command_criterion import Command
from freeze_engine.diagnose.bisection.criteria import Accuracy, Answer, Criterion, Latency
from freeze_engine.diagnose.bisection.evaluate import CandidateEvaluator, OnProbe, in_fork, why_exposed
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefixes
from freeze_engine.diagnose.bisection.request import BisectRequest, criterion_text
from freeze_engine.diagnose.bisection.result import FORWARD, Bisection, Probe, Reproduction
from freeze_engine.diagnose.bisection.step_search import Found, Search
from freeze_engine.diagnose.bisection.target import Freeze, ModelToFreeze, freeze, loaded_subject
from freeze_engine.diagnose.bisection.write_repro import Fault, reproduction
from freeze_engine.measure.devices import chosen_devices
from freeze_engine.measure.input_sets import input_sets
from freeze_engine.process.fork import Lost
from freeze_engine.requests.criteria import AccuracyCriterion, CommandCriterion
from freeze_engine.requests.options import Progress
from freeze_engine.trace import Trace

#: More sets of inputs than any criterion takes.
_MANY = 100


@dataclass(slots=True)
class _Searches:
    """The searches of all methods.

    Attributes:
        request: its arguments.
        subject: what is frozen.
        freeze: the recording.
        probes: all answers, in order.
        notes: further facts.
    """

    request: BisectRequest
    subject: ModelToFreeze
    freeze: Freeze
    probes: list[Probe] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, progress: Progress, on_probe: OnProbe) -> Bisection:
        """Searches one method after the other, until there is a culprit."""
        found: dict[str, Found] = {}
        for prefixes in self.freeze.prefixes:
            criterion = self._criterion(prefixes)
            every = criterion.is_cheap if self.request.every_step is None else self.request.every_step
            search = Search(
                self.freeze.trace, prefixes, CandidateEvaluator(criterion, self.freeze.trace, progress, on_probe), every
            )
            ended = found[prefixes.method] = search.run()
            self.probes += search.probes
            self.notes += (_of(prefixes.method, note) for note in search.notes)
            if ended.ending == "found":
                shown = self._reproduction(prefixes, ended, search.failing, progress)
                return self._bisection(found, shown)
        return self._bisection(found, None)

    def _bisection(self, found: dict[str, Found], shown: Reproduction | None) -> Bisection:
        found = dict(sorted(found.items(), key=lambda item: _SEVERITY.index(item[1].ending)))
        method, worst = next(iter(found.items()))
        left = [each.method for each in self.freeze.prefixes if each.method not in found]
        if left:
            self.notes.append(f"Not searched, for there is a culprit already: {', '.join(left)}.")
        message = worst.message if worst.ending == "found" else _of(method, worst.message)
        if len(found) > 1 and worst.ending == "nothing_found":
            message = f"{worst.message} Searched: {', '.join(found)}."
        return Bisection(
            worst.ending,
            criterion_text(self.request.criterion, self._device()),
            message,
            tuple(self.probes),
            worst.culprit,
            (*self.notes, *self.freeze.notes, *_exposed(self.freeze.trace)),
            shown,
            self.freeze.trace,
        )

    def _criterion(self, prefixes: Prefixes) -> Criterion:
        subject, criterion = self.subject, self.request.criterion
        if isinstance(criterion, AccuracyCriterion):
            return Accuracy(criterion, subject.model, subject.inputs, prefixes.method)
        if isinstance(criterion, CommandCriterion):
            return Command(criterion, prefixes.suffix, prefixes.method)
        return Latency(criterion, subject.inputs, self._device())

    def _device(self) -> str:
        held = (*self.subject.model.state_dict().values(), *self.subject.inputs.args)
        devices, _ = chosen_devices((), held)
        return devices[0]

    def _reproduction(
        self, prefixes: Prefixes, found: Found, failing: Answer, progress: Progress
    ) -> Reproduction | None:
        """Writes the script in a separate process, since it runs parts of what crashes."""
        criterion, script, culprit = self.request.criterion, self.request.script, found.culprit
        if script is None or culprit is None:
            return None
        progress("writing a script that shows it", 0, 0)
        inputs = next(each.inputs for each in input_sets(self.subject.inputs, _MANY) if each.name == failing.inputs)
        fault = Fault(criterion, culprit, self.freeze.trace, failing)
        recipes = prefixes.recipes(culprit, found.guilty, inputs, isinstance(criterion, CommandCriterion))
        made = in_fork(lambda: reproduction(script, fault, recipes), self.freeze.trace)
        if isinstance(made, Lost):
            self.notes.append(f"No script could be written: while it was, {made.message}.")
            return None
        return made


#: Of several endings the first of these counts.
_SEVERITY = ("found", "broken_before", "inconclusive", "nothing_found")


def run_bisection(
    request: BisectRequest, progress: Progress, on_probe: OnProbe, *, can_start_tasks: bool = True
) -> Bisection:
    """Freezes a model, and searches for the step that breaks a criterion.

    Args:
        request: its arguments.
        progress: called with what the search is doing.
        on_probe: called with each answer of the criterion.
        can_start_tasks: whether ``torch.jit.fork`` can run here.

    Raises:
        FreezerError: as `bisect`.
        Exception: whatever torch raises while it freezes, unchanged.
    """
    subject = loaded_subject(request)
    frozen = freeze(subject, request.method, progress, can_start_tasks)
    return _Searches(request, subject, frozen).run(progress, on_probe)


def _of(method: str, text: str) -> str:
    return text if method == FORWARD else f"{method}: {text}"


def _exposed(trace: Trace) -> Sequence[str]:
    why = why_exposed(trace)
    return (f"The candidates ran in the process of the search, which a crash would have ended: {why}.",) if why else ()
