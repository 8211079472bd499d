"""Checks whether the frozen module follows a weight that changes after the freeze.

By design it need not: freezing replaces attributes by constants. So not following is a fact, and no failure; to
ignore a preserved attribute is one. Which weights are still followed depends on more
than their fate, so the check tries it. A constant that TorchScript took over unfolded shares its memory with the source
module, and Dynamo compiles again for another parameter object, but not for other values in the same one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from freeze_engine.analysis.check_facts import MADE_CONSTANTS
from freeze_engine.analysis.name_texts import listed
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.diagnose.checks.weight_probe import Change, Outcome, Probe
from freeze_engine.diagnose.checks.weights import Weight, assigned, loaded, retrained, weights, written
from freeze_engine.measure.candidate import CandidateError
from freeze_engine.requests.options import InductorOptions
from freeze_engine.trace import Check

NAME: Final = "stale_weights"
_PROBING_S = 10.0
_STALE: Final = ("ignored", "in part")
_IN_PLACE: Final = "changed in place"
_WAYS: Final = {_IN_PLACE: written, "assigned anew": assigned}
_AGAIN: Final = {
    "inductor": "call torch.compiler.reset() and compile again",
    "aotinductor": "compile the package again",
    "torchscript": "freeze the module again",
}
_WORDS: Final[Mapping[Outcome, str]] = {
    "noticed": "noticed",
    "compiled again": "noticed, since torch compiles again for it",
    "in part": "noticed in part, some of its uses being constant",
    "ignored": "ignored",
    "no effect": "without effect in the source module, too",
}


def stale_weights(context: CheckContext) -> Check:
    """Changes weights of the source module and compares the frozen module's outputs.

    Each weight is changed alone, in place and by assigning another tensor, then all by `load_state_dict` and between
    ``train()`` and ``eval()``. Where that would take long, those of one fate are changed together.

    Args:
        context: the freeze.
    """
    if context.inputs is None:
        return _unknown("There are no inputs to run the module on: record it with some.")
    if isinstance(context.options, InductorOptions) and context.options.discard_parameters:
        return _unknown("The module gave up its parameters (discard_parameters): there are none left to change.")
    is_script = not isinstance(context.options, InductorOptions)
    every = weights(context.source, context.result if is_script else None)
    able = [weight for weight in every if not weight.obstacle]
    if not able:
        return _unknown("The module holds no weights that could be changed.")
    probe = Probe(context, context.inputs)
    if not probe.is_repeatable():
        return _unknown("It gives other outputs for the same inputs, so a change in them would tell nothing.")
    probing = _Probing(context, probe, able)
    probing.run()
    aside: dict[str, list[Weight]] = {}
    for weight in every:
        if weight.obstacle:
            aside.setdefault(weight.obstacle, []).append(weight)
    return probing.check([f"not probed ({obstacle}): {_names(members)}" for obstacle, members in aside.items()])


def _unknown(message: str) -> Check:
    return Check(NAME, "unknown", message)


class _Probing:
    def __init__(self, context: CheckContext, probe: Probe, able: Sequence[Weight]) -> None:
        self._context = context
        self._probe = probe
        self._able = able
        self._found: dict[str, dict[Outcome, list[str]]] = {way: {} for way in _WAYS}
        self._wholes: list[str] = []
        self._aside: list[str] = []
        self._lost: list[str] = []
        self._kept = {fate.path for fate in context.trace.attributes if fate.fate == "preserved"}

    def run(self) -> None:
        """Makes the changes."""
        runs = int(_PROBING_S / max(self._probe.run_s, 1e-9))
        for way in _WAYS:
            if len(self._able) * len(_WAYS) <= runs:
                self._each(way, self._able)
            else:
                self._groups(way, runs // len(_WAYS))
        source = self._context.source
        self._whole("all by load_state_dict", functools.partial(loaded, source, self._able))
        self._whole("all between train() and eval()", functools.partial(retrained, source, self._able))

    def _groups(self, way: str, runs: int) -> None:
        """Changes all weights of one fate together; if the outputs follow, also as many alone as there is time for."""
        for fate, members in _by_fate(self._context, self._able).items():
            if self._is_ignored(way, members):
                self._note(way, "ignored", members)
                self._aside.append(f"{way} together, each alone would take long: all {len(members)} that are {fate}")
                continue
            self._each(way, members[:runs])
            left = members[runs:]
            runs -= len(members[:runs])
            if left:
                self._aside.append(f"not {way}, each alone would take long: {_names(left)}")

    def _is_ignored(self, way: str, members: Sequence[Weight]) -> bool:
        try:
            return self._outcome(way, members) == "ignored"
        except CandidateError:
            return False

    def _each(self, way: str, members: Sequence[Weight]) -> None:
        for weight in members:
            try:
                self._note(way, self._outcome(way, [weight]), [weight])
            except CandidateError as error:
                self._aside.append(f"not {way} ({error}): {weight}")

    def _outcome(self, way: str, members: Sequence[Weight]) -> Outcome:
        return self._probe.outcome(functools.partial(_WAYS[way], members))

    def _note(self, way: str, outcome: Outcome, members: Sequence[Weight]) -> None:
        self._found[way].setdefault(outcome, []).extend(map(str, members))
        if way == _IN_PLACE and outcome == "ignored":
            self._lost += [str(member) for member in members if self._kept.issuperset(member.paths)]

    def _whole(self, what: str, change: Change) -> None:
        try:
            told = {"in part": "noticed in part"}
            outcome = self._probe.outcome(change)
            self._wholes.append(f"{what}: {told.get(outcome, _WORDS[outcome])}")
        except CandidateError as error:
            self._wholes.append(f"{what}: not probed ({error})")

    def check(self, aside: Sequence[str]) -> Check:
        """Returns the result of the check.

        Args:
            aside: further lines for the details.
        """
        details = (*self._lines(), *self._wholes, *self._aside, *aside)
        told = {way: self._count(way) for way in _WAYS}
        stale = [f"{found} of {probed} {way}" for way, (found, probed) in told.items() if found]
        if self._lost:
            found = f"It ignores changes in place of what it has preserved: {listed(sorted(self._lost))}."
            return Check(NAME, "failed", found, details)
        if stale:
            again = _AGAIN[self._context.trace.backend]
            found = f"{MADE_CONSTANTS}: it ignores {' and '.join(stale)}."
            remedy = f"After loading or changing weights, {again}; do not train a frozen module."
            return Check(NAME, "passed", f"{found} {remedy}", details)
        if not any(probed for _, probed in told.values()):
            return Check(NAME, "unknown", "No weight changes the module's outputs.", details)
        return Check(NAME, "passed", "Its outputs follow every weight that was changed.", details)

    def _count(self, way: str) -> tuple[int, int]:
        """Returns how many weights are stale, and how many were probed with an effect."""
        found = self._found[way]
        stale = sum(len(found.get(outcome, ())) for outcome in _STALE)
        return stale, sum(len(names) for outcome, names in found.items() if outcome != "no effect")

    def _lines(self) -> Iterator[str]:
        for way, found in self._found.items():
            for outcome, said in _WORDS.items():
                if outcome in found:
                    yield f"{way}, {said}: {listed(sorted(found[outcome]), 12)}"


def _by_fate(context: CheckContext, able: Sequence[Weight]) -> dict[str, list[Weight]]:
    fates = {fate.path: fate.fate for fate in context.trace.attributes}
    groups: dict[str, list[Weight]] = {}
    for weight in able:
        found = {fates.get(path, "of unknown fate") for path in weight.paths}
        groups.setdefault(" and ".join(sorted(found)), []).append(weight)
    return groups


def _names(members: Sequence[Weight]) -> str:
    return listed(map(str, members))
