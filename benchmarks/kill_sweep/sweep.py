"""Makes the cases of a sweep, runs them, and prints what was found."""

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

#: Of all strikes at random moments, how many hit what.
_SHARES = {"record": 5, "record-inductor": 3, "run": 3, "record-api": 2, "process-api": 2, "dashboard": 5}
#: A moment may be just after the end, too.
_LATEST = 1.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one case.

    Attributes:
        group: the line of the table that it counts in.
        name: by which it can be repeated.
        how: how it ended, such as ``exit code 3``.
        faults: what does not hold.
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
        """Returns the undisturbed run of a subject; with Inductor the second one, as the first has to compile.

        Raises:
            RuntimeError: it does not work by itself.
        """
        with self._lock:
            for _ in range(0 if subject in self._references else 1 + ("inductor" in subject)):
                with self._place() as place:
                    self._references[subject], ended = undisturbed(SUBJECTS[subject], place)
                if ended.code != 0:
                    raise RuntimeError(f"{subject} ends with {ended.code} even undisturbed: {ended.err}")
            return self._references[subject]

    def strike(self, strike: Strike) -> Outcome:
        """Makes a strike, and has the rest checked."""
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
        """Runs a recording under a circumstance, and has the rest checked."""
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
    """Yields strikes at every point of a subject, with who is struck and how in turns.

    Args:
        subject: a key of `SUBJECTS`.
        points: how many it has.
        each: how many strikes at each.
    """
    turns = ways(subject)
    for number in range(each * points):
        victim, kind = turns[(number + number // points) % len(turns)]
        yield Strike(subject, victim, kind, number % points + 1, with_older=bool(number % 2))


def ways(subject: str) -> list[tuple[Victim, signal.Signals]]:
    """Returns who can be struck, and how."""
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
    """Returns the outcomes, counted by what was done."""
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
