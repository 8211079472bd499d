"""Checks after every strike: no trace lost, no partial file, no process or file left, and a clear message."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import freeze_engine as fe
from benchmarks.kill_sweep.circumstances import Circumstance
from benchmarks.kill_sweep.place import PRECIOUS, Place
from benchmarks.kill_sweep.running import Ended, Reference, Strike, step_names
from benchmarks.kill_sweep.subjects import SUBJECTS, Kind
from freeze_engine.process import temporary_folder
from viewer.dashboard.library import Library, drop_abandoned

_OLD_S = 3600.0
#: Codes of notices about missing steps.
_SAID = ("log_cut", "log_unseen", "not_logged")
#: The share of a run's processor time after which the command's own code runs.
_STARTED = 0.2
_TRACEBACK = "Traceback (most recent call last)"


def faults_of(strike: Strike, place: Place, ended: Ended, reference: Reference, precious: bytes) -> list[str]:
    """Returns the faults after a strike, in words."""
    subject = SUBJECTS[strike.subject]
    if ended.code is None:
        return [f"it did not end: {ended.err[-300:]!r}", *_left(place, ended)]
    found = [*_left(place, ended), *_files(place, precious), *_list_of_recent(place)]
    found += _traces(subject.traces(place), reference, precious, ended)
    if ended.struck:
        found += _promised(strike, place, ended, reference, precious)
        found += _told(strike, subject.kind, ended)
    elif ended.code != 0:
        found.append(f"undisturbed it ended with {ended.code}: {ended.err[-300:]!r}")
    return found


def is_abrupt(ended: Ended) -> bool:
    """Returns whether the victim had no time to clean up."""
    return ended.code in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGSEGV)


def _left(place: Place, ended: Ended) -> Iterator[str]:
    """Yields leftover processes and temporary files; after a kill, only files that the next start does not remove."""
    yield from (f"process left: {command:.150}" for command in place.left_processes().values())
    if is_abrupt(ended):
        start_again(place)
    yield from (f"temporary file left: {path.name}" for path in place.temporary.iterdir() if not path.is_symlink())


def start_again(place: Place) -> None:
    """Runs the cleanup of the next start, as if an hour had passed."""
    for path in (*place.temporary.iterdir(), *place.recordings.iterdir()):
        if not path.is_symlink():
            os.utime(path, (time.time() - _OLD_S,) * 2)
    drop_abandoned(place.recordings)
    before = tempfile.tempdir
    tempfile.tempdir = str(place.temporary)
    try:
        with temporary_folder("freezer-recording-"):
            pass
    finally:
        tempfile.tempdir = before


def _files(place: Place, precious: bytes) -> Iterator[str]:
    for folder in (place.out, place.recordings):
        if (folder / PRECIOUS).read_bytes() != precious:
            yield f"{folder.name}/{PRECIOUS} was changed"
        for path in folder.iterdir():
            if path.suffix != ".fztrace" or path.name.startswith("."):
                yield f"left in {folder.name}: {path.name}"


def _list_of_recent(place: Place) -> Iterator[str]:
    file = place.home / "freezer-ui" / "recent.json"
    if not file.exists():
        return
    listed = json.loads(file.read_text())
    if len(Library(file).view()["recent"]) != len(listed):
        yield "the list of recent traces is damaged"
    yield from (f"left beside the list: {path.name}" for path in file.parent.glob(".recent*"))


def _traces(folder: Path, reference: Reference, precious: bytes, ended: Ended) -> Iterator[str]:
    for path in sorted(folder.glob("*.fztrace")):
        data = path.read_bytes()
        if data == precious:
            continue
        if not data:
            yield f"{path.name} is empty"
            continue
        try:
            trace = fe.load(path)
            fe.check_trace(trace)
        except fe.FreezerError as error:
            yield f"{path.name} is no whole trace: {error}"
            continue
        if any(notice.code in _SAID for notice in trace.notices):
            continue
        steps = tuple((step.stage, step.name) for step in trace.steps)
        if all(steps != whole[: len(steps)] for whole in reference.steps):
            yield f"{path.name} has other steps than an undisturbed recording: {steps[-1]}, {len(steps)}"
        if trace.failure is None and steps not in reference.steps:
            yield f"{path.name} ends early and does not say so"


def promised_steps(noted: dict[str, Any], reference: Reference) -> int:
    """Returns the number of steps that had ended according to the journal."""
    if not reference.steps:
        return 0
    whole = len(reference.steps[0])
    driven = max(each["ended"] for _, each in reference.points)
    if noted["frozen"]:
        return whole - driven + int(noted["ended"])
    return max(1 if noted["begun"] else 0, int(noted["steps"]))


def _promised(strike: Strike, place: Place, ended: Ended, reference: Reference, precious: bytes) -> Iterator[str]:
    """Yields finished work that is missing: written traces, and steps that had ended."""
    subject = SUBJECTS[strike.subject]
    folder = subject.traces(place)
    for name, data in ended.before.items():
        if data and not (folder / name).exists():
            yield f"{name} was there before the strike, and is gone"
    if ended.reached is None or is_abrupt(ended):
        return
    if strike.subject == "run":
        yield from _freezes_of_script(int(strike.when), folder, reference)
    if not subject.steps:
        return
    promised = promised_steps(ended.reached, reference)
    found = [names for names in step_names(folder) if names]
    most = max(map(len, found), default=0)
    if (
        strike.with_older
        and subject.kind != "dashboard"
        and (folder / subject.output).read_bytes() == ended.before[subject.output]
    ):
        most = 0
    if most < promised:
        yield f"{promised} steps had ended, and the trace has {most}"


def _freezes_of_script(point: int, folder: Path, reference: Reference) -> Iterator[str]:
    begun = sum(what == "_freeze_module" for what, _ in reference.points[:point])
    found = step_names(folder)
    if found[: begun - 1] != reference.steps[: begun - 1] or len(found) < begun:
        yield f"{begun} freezes had begun, and there are traces of {[len(names) for names in found]} steps"


def _told(strike: Strike, kind: Kind, ended: Ended) -> Iterator[str]:
    """Yields faults of the exit code and of the message."""
    codes = _codes(strike, kind)
    if ended.code not in codes:
        yield f"exit code {ended.code}, not {' or '.join(map(str, codes))}: {ended.err[-300:]!r}"
    # The starter of the dashboard here is not the command itself; it imports before the command handles signals.
    is_own = kind == "record" or (kind == "dashboard" and not _is_early(strike))
    if is_own and _TRACEBACK in ended.err:
        yield f"a traceback is shown: {ended.err[-300:]!r}"
    if kind != "record" or ended.code in (0, -strike.number):
        return
    name = (ended.reached or {}).get("place")
    if name is not None and not re.search(re.escape(name[1]), ended.err):
        yield f"the message does not name {name[1]}: {ended.err[-300:]!r}"
    if strike.victim == "child" and strike.number != signal.SIGINT and strike.number.name not in ended.err:
        yield f"the message does not name {strike.number.name}: {ended.err[-300:]!r}"
    if "freezer-ui: " not in ended.err:
        yield f"there is no message: {ended.err[-300:]!r}"


def _codes(strike: Strike, kind: Kind) -> tuple[int, ...]:
    """Returns the documented exit codes; a random moment may come after the last point at which a strike has effect."""
    early = () if isinstance(strike.when, int) else (0,)
    if kind == "dashboard":
        # Before the dashboard's own code runs, Python's default action applies.
        started = -strike.number if strike.victim == "owner" and _is_early(strike) else 0
        return (-signal.SIGKILL,) if _kills_owner(strike) else (0, started)
    if strike.victim == "child":
        crashed = {"record": (130,) if strike.number == signal.SIGINT else (3,), "program": (0,)}[kind]
        return crashed + early
    if strike.number == signal.SIGKILL:
        return (-signal.SIGKILL, *early)
    if kind == "program":  # Python's default action in the user's own program
        return (-strike.number, *early)
    own = {signal.SIGINT: 130, signal.SIGTERM: 143}[strike.number]
    # Before the command's own code runs, Python's default action applies.
    return (own, *early, *((-strike.number,) if _is_early(strike) else ()))


def _is_early(strike: Strike) -> bool:
    return isinstance(strike.when, float) and strike.when < _STARTED


def _kills_owner(strike: Strike) -> bool:
    return strike.victim == "owner" and strike.number == signal.SIGKILL


def faults_around(
    circumstance: Circumstance, place: Place, ended: Ended, reference: Reference, precious: bytes
) -> list[str]:
    """Returns the faults after a recording under a circumstance, in words."""
    if ended.code is None:
        return [f"it did not end: {ended.err[-300:]!r}", *_left(place, ended)]
    found = list(_left(place, ended) if place.temporary.exists() else ())
    if (place.out / PRECIOUS).exists():
        found += [*_files(place, precious), *_traces(place.out, reference, precious, ended)]
    if ended.code not in circumstance.codes:
        found.append(f"exit code {ended.code}: {ended.err[-300:]!r}")
    if ended.code != 0 and not re.search(circumstance.says, ended.err):
        found.append(f"the message does not say {circumstance.says!r}: {ended.err[-300:]!r}")
    if ended.code != 0 and ("freezer-ui: " not in ended.err or _TRACEBACK in ended.err):
        found.append(f"no clear message: {ended.err[-300:]!r}")
    steps = max(map(len, step_names(place.out)), default=0) if place.out.exists() else 0
    if steps < circumstance.steps or (ended.code == 0 and not steps):
        found.append(f"the trace has {steps} steps: {ended.err[-300:]!r}")
    return found
