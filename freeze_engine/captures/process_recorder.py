"""Records every freeze of this process and of its child processes, each trace saved as soon as its freeze has ended.

A process that is killed thereby loses only the freeze under way. Forks go on recording under a name of their own; other
child processes of this Python begin to record when they import torch (`freeze_engine.captures.child`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from freeze_engine.captures.spare_folder import made_spare_folder, spare_folder
from freeze_engine.captures.trace_names import SUFFIX, TraceNames
from freeze_engine.captures.unrecorded import unmade_text
from freeze_engine.errors import FreezerError
from freeze_engine.serde import load, save
from freeze_engine.trace import Trace

if TYPE_CHECKING:
    from freeze_engine.captures.captured import Captured


@dataclass(frozen=True, slots=True)
class SavedTrace:
    """Result of one recorded freeze.

    Attributes:
        path: its file.
        trace: the recording.
        error: why it could not be written; empty if it was.
        moved: why it is in the spare folder of the run, and not where it belongs; empty if it is there.
    """

    path: Path
    trace: Trace
    error: str = ""
    moved: str = ""


@dataclass(slots=True)
class ProcessRecorder:
    """Saves the traces of one process.

    Attributes:
        folder: where the traces are saved; absolute, since the recorded code may change its working directory.
        shown: the folder as the user named it.
        stem: what the files' names begin with.
        process: number of the child process that it is, ``None`` for the first process.
        began_ns: clock (``time.time_ns``) when the run began, of which this process is a part.
        saved: the freezes of this process by number, in the order they began.
        unrecorded: sentences on freezes that left no trace, and on processes that could not be recorded, once the
            block is over.
        unfollowed: the sentences on processes among them.
        unsaved: whether a trace could not be saved where it belongs, also that of a child process.
    """

    folder: Path
    shown: Path
    stem: str
    process: int | None = None
    began_ns: int = field(default_factory=time.time_ns)
    saved: dict[int, SavedTrace] = field(default_factory=dict)
    unrecorded: tuple[str, ...] = ()
    unfollowed: tuple[str, ...] = ()
    unsaved: bool = False
    _captured: Captured | None = None
    _names: TraceNames | None = None
    _earlier: dict[Path, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._earlier = self._files_of_children()

    def save(self, number: int, trace: Trace) -> None:
        """Saves the trace of a freeze. It raises nothing: the freeze is the user's, and the user's code goes on."""
        known = self.saved.get(number)
        if known is not None and known.trace is trace and not known.error:
            return
        if self._names is None:
            self._names = TraceNames(self.folder, self.stem, self.process, self.began_ns)
        name = self._names.of(number)
        try:
            save(trace, self.folder / name)
        except FreezerError as failed:
            self.saved[number] = self._spared(number, name, trace, str(failed))
        else:
            self._names.take(number)
            self.saved[number] = SavedTrace(self.shown / name, trace)

    def _spared(self, number: int, name: str, trace: Trace, why: str) -> SavedTrace:
        """Saves a trace in the spare folder; a child process, whose result nobody lists, reports a failure itself."""
        try:
            path = made_spare_folder(self.began_ns) / name
            save(trace, path)
        except (FreezerError, OSError) as failed:
            if self.process is not None and number not in self.saved:
                with contextlib.suppress(AttributeError, OSError, ValueError):  # standard error may be closed
                    sys.stderr.write(f"freezer-ui: {why}; {failed}\n")
            return SavedTrace(self.shown / name, trace, why)
        return SavedTrace(path, trace, moved=why)

    def children(self) -> tuple[SavedTrace, ...]:
        """Returns the traces that child processes have saved since this recorder was made, by process and number."""
        now = self._files_of_children()
        new = sorted(path for path, changed_ns in now.items() if self._earlier.get(path) != changed_ns)
        found = []
        for path in new:
            # A child may be writing, or somebody removing, just now.
            with contextlib.suppress(FreezerError):
                found.append(self._of_child(path))
        return tuple(found)

    def _of_child(self, path: Path) -> SavedTrace:
        if path.parent == self.folder:
            return SavedTrace(self.shown / path.name, load(path))
        return SavedTrace(path, load(path), moved=f"{self.shown / path.name}: cannot be written")

    def end(self) -> None:
        """Saves the remaining traces, and keeps the sentences on freezes that left none."""
        if self._captured is None:
            return
        unmade: tuple[str, ...] = ()
        try:
            for number, trace in enumerate(self._captured.traces, 1):
                self.save(number, trace)
        except Exception as error:  # noqa: BLE001 - the exit code is the user's
            unmade = (unmade_text(error),)
        self.unrecorded = tuple(dict.fromkeys((*self._captured.unrecorded, *unmade)))

    def unfollow(self, lines: tuple[str, ...]) -> None:
        """Keeps the sentences on processes that could not be recorded."""
        self.unfollowed = lines
        self.unrecorded += lines
        spare = spare_folder(self.began_ns)
        self.unsaved = spare.is_dir()
        with contextlib.suppress(OSError):  # there is none, or it holds traces
            spare.rmdir()

    def begin(self, captured: Captured) -> None:
        """Takes the capture that this recorder saves the traces of."""
        self._captured = captured

    def renew_in_child(self) -> None:
        """Goes on in a fork of the process, under the fork's own name, without the freezes of the parent."""
        self.process, self._names = os.getpid(), None
        self.saved.clear()
        if self._captured is not None:
            self._captured.renew_in_child(self.save)

    def _files_of_children(self) -> dict[Path, int]:
        found = {}
        for folder in (self.folder, spare_folder(self.began_ns)):
            for path in folder.glob(f"{_glob_escaped(self.stem)}-p*-*{SUFFIX}"):
                with contextlib.suppress(OSError):
                    found[path] = path.stat().st_mtime_ns
        return found


@contextlib.contextmanager
def recorded_process(
    folder: Path,
    stem: str,
    *,
    values: bool = True,
    on_leaving: Callable[[ProcessRecorder, str], None] = lambda recorder, by: None,
) -> Iterator[ProcessRecorder]:
    """Records the freezes of all threads of this process, of its forks, and of its child processes of the same Python.

    Args:
        folder: for the traces, which are ``STEM-1.fztrace`` and so on; those of a child process with the number 1234
            are ``STEM-p1234-1.fztrace``.
        stem: what the files' names begin with.
        values: as of `freeze_engine.capture`.
        on_leaving: called with the recorder and the name of a function (``os._exit``, ``os.execv``) that now ends this
            process without its exit handlers; the recorder is complete then.

    Yields:
        The recorder; what it holds is complete after the block.

    Raises:
        UnsupportedTorchError: this torch lacks a private name that recording needs.
    """
    from freeze_engine.captures.child import ChildPlace, recording_children
    from freeze_engine.captures.process_starts import observing_starts
    from freeze_engine.captures.unrecorded_children import ChildWatch

    def leaving(by: str) -> None:
        recorder.end()
        recorder.unfollow(watch.lines())
        on_leaving(recorder, by)

    recorder = ProcessRecorder(folder.resolve(), folder, stem)
    place = ChildPlace(recorder.folder, stem, recorder.began_ns, values)
    watch = ChildWatch(leaving, place.text())
    with recording_children(place), observing_starts(watch):
        try:
            with recording(recorder, values=values):
                yield recorder
        finally:
            recorder.unfollow(watch.lines())


@contextlib.contextmanager
def recording(recorder: ProcessRecorder, *, values: bool = True) -> Iterator[None]:
    """Records the freezes of all threads of this process, and of its forks, until the block ends."""
    from freeze_engine.captures.block import capture

    with capture(threads=True, on_trace=recorder.save, values=values) as captured:
        recorder.begin(captured)
        _current.append(recorder)
        try:
            yield
        finally:
            _current.remove(recorder)
    recorder.end()


_current: list[ProcessRecorder] = []


def _renew_in_child() -> None:
    for recorder in _current:
        recorder.renew_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)


def _glob_escaped(text: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
