"""Runs one case: starts the subject, strikes it, and waits for its end."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import freeze_engine as fe
from benchmarks.kill_sweep.place import PRECIOUS, Place, cpu_s
from benchmarks.kill_sweep.stopping import POINTS, REACHED, STOP_AT
from benchmarks.kill_sweep.subjects import SUBJECTS, StruckCommand

Steps = tuple[tuple[str, str], ...]
Victim = Literal["child", "owner"]
_POLL_S: Final = 0.02
#: Between two searches for the processes of a case, which read the environment of every process on the machine.
_WATCH_S: Final = 0.1
#: A first compile with Inductor takes minutes on a busy machine.
_LONGEST_S: Final = 1800.0
_NO_POINT: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Strike:
    """A planned strike.

    Attributes:
        subject: a key of `SUBJECTS`.
        victim: the recording process, or the one that started it.
        number: the signal.
        when: the number of a point, from 1; or a share of the processor time of an undisturbed run.
        with_older: whether an older recording has the new one's file name.
    """

    subject: str
    victim: Victim
    number: signal.Signals
    when: int | float
    with_older: bool = False

    @property
    def name(self) -> str:
        """Argument of ``--only`` to repeat the strike."""
        when = f"point-{self.when}" if isinstance(self.when, int) else f"moment-{self.when:.4f}"
        return f"{self.subject}/{self.victim}/{self.number.name}/{when}" + ("/older" if self.with_older else "")


@dataclass(frozen=True, slots=True)
class Reference:
    """An undisturbed run.

    Attributes:
        points: the points that it passes, each with the state of the journal.
        steps: the names of the steps of each of its traces, in the order of their files.
        total_s, child_s: processor time of all its processes, and of the recording one.
    """

    points: tuple[tuple[str, dict[str, Any]], ...]
    steps: tuple[Steps, ...]
    total_s: float
    child_s: float


@dataclass(slots=True)
class Ended:
    """The end of a struck command.

    Attributes:
        code: its exit code, ``None`` if it did not end in time.
        out, err: its standard output and error.
        struck: whether the strike came before its end.
        reached: the point at which it was held, and the state of the journal.
        before: the bytes of each trace file at the strike.
        total_s, child_s: as in `Reference`.
    """

    code: int | None = None
    out: str = ""
    err: str = ""
    struck: bool = False
    reached: dict[str, Any] | None = None
    before: dict[str, bytes] = field(default_factory=dict)
    total_s: float = 0.0
    child_s: float = 0.0


class Run:
    """A running subject.

    Args:
        place: folders of the case.
        subject: the command to run.
        stop_at: the point to stop at, 0 to list the points.
        words: a command that takes the subject's command as its arguments.
        limits: of the system's resources.
    """

    def __init__(
        self,
        place: Place,
        subject: StruckCommand,
        stop_at: int,
        words: tuple[str, ...] = (),
        limits: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.place = place
        self.subject = subject
        self.ended = Ended()
        self._until_s = time.monotonic() + _LONGEST_S
        (place.base / STOP_AT).write_text(str(stop_at))
        self._files = {name: (place.base / name).open("w+b") for name in ("stdout", "stderr")}
        self.process = subprocess.Popen(
            [*words, *subject.command(place)],
            cwd=place.base,
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._files["stdout"],
            stderr=self._files["stderr"],
            start_new_session=True,
            preexec_fn=(lambda: _set_limits(limits)) if limits else None,
        )

    def until(self, holds: Callable[[], bool], watch_s: float = _WATCH_S) -> bool:
        """Waits for a condition, and returns whether it came true before the process ended."""
        watched_s = 0.0
        while not holds():
            if self.process.poll() is not None or time.monotonic() > self._until_s:
                return False
            if time.monotonic() >= watched_s + watch_s:
                self._watch()
                watched_s = time.monotonic()
            time.sleep(_POLL_S)
        return self.process.poll() is None

    def finish(self) -> Ended:
        """Waits for the end, and collects the output."""
        self.until(lambda: False)
        self.ended.code = self.process.poll()
        for stream in self._files.values():
            stream.close()
        self.ended.out, self.ended.err = (
            (self.place.base / name).read_text(errors="replace") for name in ("stdout", "stderr")
        )
        return self.ended

    def close(self) -> None:
        """Kills the process if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in self._files.values():
            stream.close()

    def _watch(self) -> None:
        workers = self.place.workers()
        self.ended.child_s = max(self.ended.child_s, cpu_s(workers))
        self.ended.total_s = max(self.ended.total_s, cpu_s([self.process.pid, *workers]))

    def reaches_point(self) -> bool:
        """Waits until the process is held at its point."""
        file = self.place.base / REACHED
        if not self.until(file.exists):
            return False
        self.ended.reached = json.loads(file.read_text())
        return True

    def reaches_moment(self, seconds: float, victim: Victim) -> bool:
        """Waits until the victim has used that much processor time."""
        ended = self.ended
        # A dashboard does not end by itself, and its recording can take less time than the undisturbed one took.
        if victim == "owner":
            return self.until(lambda: ended.total_s >= seconds or self._is_idle(), 0)
        return self.until(lambda: ended.child_s >= seconds or self._is_idle(), 0) and bool(self.place.workers())

    def _is_idle(self) -> bool:
        traces = list(self.place.recordings.glob("stopping*"))
        return self.subject.kind == "dashboard" and bool(traces) and all(map(_size, traces))

    def strike(self, victim: Victim, number: int) -> int | None:
        """Sends a signal, and returns the id of the process that received it; ``None`` if none was running."""
        folder = self.subject.traces(self.place)
        self.ended.before = {path.name: path.read_bytes() for path in folder.glob("*.fztrace")}
        pids = [self.process.pid] if victim == "owner" else self._recording()
        if not pids or self.process.poll() is not None:
            return None
        os.kill(pids[0], number)
        self.ended.struck = True
        return pids[0]

    def _recording(self) -> list[int]:
        if self.ended.reached is not None:
            return [self.ended.reached["pid"]]
        return self.place.workers()


def struck(strike: Strike, place: Place, reference: Reference) -> Ended:
    """Runs a subject, strikes it, and returns its end."""
    subject = SUBJECTS[strike.subject]
    is_point = isinstance(strike.when, int)
    whole_s = reference.child_s if strike.victim == "child" else reference.total_s
    if not whole_s:
        raise RuntimeError(f"{strike.subject}: no process of the {strike.victim} was seen in the undisturbed run")
    run = Run(place, subject, int(strike.when) if is_point else _NO_POINT)
    pid = None
    try:
        if run.reaches_point() if is_point else run.reaches_moment(strike.when * whole_s, strike.victim):
            pid = run.strike(strike.victim, strike.number)
        if subject.kind == "dashboard" and strike.victim == "child":
            _end_server(run, pid)
        return run.finish()
    finally:
        run.close()


def _end_server(run: Run, pid: int | None) -> None:
    """Ends the server: at once if the strike hit no process, else after the struck recording has ended."""
    if pid is not None:
        run.until(lambda: not Path(f"/proc/{pid}").exists() and all(map(_size, run.place.recordings.glob("stopping*"))))
    run.process.send_signal(signal.SIGTERM)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 1


def undisturbed(subject: StruckCommand, place: Place) -> tuple[Reference, Ended]:
    """Runs a subject to its end without a strike."""
    run = Run(place, subject, 0)
    try:
        if subject.kind == "dashboard":
            run.until(lambda: any(map(_size, place.recordings.glob("stopping*"))))
            run.process.send_signal(signal.SIGTERM)
        ended = run.finish()
    finally:
        run.close()
    lines = (place.base / POINTS).read_text().splitlines()
    points = tuple((what, noted) for what, noted in map(json.loads, lines))
    steps = step_names(subject.traces(place))
    return Reference(points, steps, ended.total_s, ended.child_s), ended


def step_names(folder: Path) -> tuple[Steps, ...]:
    """Returns the stage and the name of each step of the new traces in a folder."""
    traces = (fe.load(path) for path in sorted(folder.glob("*.fztrace")) if path.name != PRECIOUS)
    return tuple(tuple((step.stage, step.name) for step in trace.steps) for trace in traces)


def _set_limits(limits: tuple[tuple[int, int], ...]) -> None:
    for what, most in limits:
        resource.setrlimit(what, (most, most))
