"""Creates the cases of a sweep, runs them, and tabulates the outcomes."""

from __future__ import annotations

import random
import re
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import freeze_engine as fe
from benchmarks.kill_sweep.checks import faults_around, faults_of
from benchmarks.kill_sweep.circumstances import Circumstance
from benchmarks.kill_sweep.place import Place
from benchmarks.kill_sweep.running import Reference, Run, Strike, Victim, struck, undisturbed
from benchmarks.kill_sweep.subjects import CHILD_SIGNALS, OWNER_SIGNALS, SUBJECTS
from tests.builders import small_trace

#: Weights of the subjects among the strikes at random moments.
_SHARES = {"record": 5, "record-inductor": 3, "run": 3, "record-api": 2, "process-api": 2, "dashboard": 5}
#: A moment may also be just after the end.
_LATEST = 1.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one case.

    Attributes:
        group: its line of the table.
        name: argument of ``--only`` to repeat it.
        how: its end, such as ``exit code 3``.
        faults: failed checks, in words.
    """

    group: str
    name: str
    how: str
    faults: tuple[str, ...]


class Sweep:
    """Runs cases, each in folders of its own.

    Args:
        scratch: an empty folder for all of them.
        tell: takes each outcome.
    """

    def __init__(self, scratch: Path, tell: Callable[[Outcome], object] = lambda outcome: None) -> None:
        self._scratch = scratch
        self._tell = tell
        self._lock = threading.Lock()
        self._references: dict[str, Reference] = {}
        file = scratch / "precious"
        fe.save(small_trace(), file)
        self._precious = file.read_bytes()

    def reference(self, subject: str) -> Reference:
        """Returns the undisturbed run of a subject; with Inductor the second run, as the first has to compile.

        Raises:
            RuntimeError: the subject fails even without a strike.
        """
        with self._lock:
            for _ in range(0 if subject in self._references else 1 + ("inductor" in subject)):
                with self._place() as place:
                    self._references[subject], ended = undisturbed(SUBJECTS[subject], place)
                if ended.code is None:
                    raise RuntimeError(f"{subject} does not end in time even undisturbed; run fewer --jobs")
                if ended.code != 0:
                    raise RuntimeError(f"{subject} ends with {ended.code} even undisturbed: {ended.err}")
            return self._references[subject]

    def strike(self, strike: Strike) -> Outcome:
        """Runs a strike and checks its results."""
        reference = self.reference(strike.subject)
        with self._place(SUBJECTS[strike.subject].output if strike.with_older else None) as place:
            ended = struck(strike, place, reference)
            faults = faults_of(strike, place, ended, reference, self._precious)
        how = f"exit code {ended.code}" if ended.struck else "ended before"
        when = "at points" if isinstance(strike.when, int) else "at moments"
        group = f"{strike.subject}: {strike.victim} {strike.number.name} {when}"
        where = f" ({ended.reached['what']})" if ended.reached else ""
        return self._told(Outcome(group, strike.name + where, how, tuple(faults)))

    def endure(self, circumstance: Circumstance) -> Outcome:
        """Runs a recording under a circumstance and checks its results."""
        reference = self.reference("record")
        with self._place() as place:
            run = Run(place, circumstance.subject, 0, circumstance.words, circumstance.limits)
            try:
                ended = run.finish()
            finally:
                run.close()
            faults = faults_around(circumstance, place, ended, reference, self._precious)
        group = f"around: {re.sub(r'[ ,]*[0-9]+( pages)?$', '', circumstance.name)}"
        return self._told(Outcome(group, f"around/{circumstance.name}", f"exit code {ended.code}", tuple(faults)))

    def _told(self, outcome: Outcome) -> Outcome:
        self._tell(outcome)
        return outcome

    @contextmanager
    def _place(self, older: str | None = None) -> Iterator[Place]:
        place = Place(Path(tempfile.mkdtemp(prefix="case-", dir=self._scratch)), self._scratch)
        place.make(self._precious, older)
        try:
            yield place
        finally:
            place.remove()


def at_points(subject: str, points: int, each: int = 1) -> Iterator[Strike]:
    """Yields strikes at every point of a subject, with victims and signals in turns.

    Args:
        subject: a key of `SUBJECTS`.
        points: number of its points.
        each: number of strikes at each point.
    """
    turns = ways(subject)
    for number in range(each * points):
        victim, kind = turns[(number + number // points) % len(turns)]
        yield Strike(subject, victim, kind, number % points + 1, with_older=bool(number % 2))


def ways(subject: str) -> list[tuple[Victim, signal.Signals]]:
    """Returns the pairs of victim and signal of a subject."""
    child: list[tuple[Victim, signal.Signals]] = [("child", number) for number in CHILD_SIGNALS]
    return [*(child if SUBJECTS[subject].has_child else []), *(("owner", number) for number in OWNER_SIGNALS)]


def at_moments(count: int, seed: int) -> Iterator[Strike]:
    """Yields strikes at random moments."""
    chance = random.Random(seed)
    for _ in range(count):
        subject = chance.choices(list(_SHARES), list(_SHARES.values()))[0]
        victim, kind = chance.choice(ways(subject))
        when = round(chance.uniform(0, _LATEST), 4)
        yield Strike(subject, victim, kind, when, with_older=chance.random() < 0.5)


def table(outcomes: Iterable[Outcome]) -> str:
    """Returns a table of the outcomes, counted by group."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.group, []).append(outcome)
    lines = [f"{'case':<60}{'run':>5}{'sound':>7}  how they ended"]
    for group, found in sorted(groups.items()):
        sound = sum(not outcome.faults for outcome in found)
        ends = Counter(outcome.how for outcome in found)
        told = ", ".join(f"{count} × {how}" for how, count in ends.most_common())
        lines.append(f"{group:<60}{len(found):>5}{sound:>7}  {told}")
    return "\n".join(lines)
