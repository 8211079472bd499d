"""``freezer-ui run``."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import freeze_engine as fe
from freeze_engine import process
from viewer.cli.command import CommandError, output_folder
from viewer.cli.program import Program, find_program
from viewer.cli.program_end import run_exit_handlers, wait_as_python_does
from viewer.cli.signals import SIGNALS, EndingScript
from viewer.cli.terminal import remark

if TYPE_CHECKING:
    from freeze_engine.captures import ProcessRecorder, SavedTrace

_BECOMING = ("os.execv", "os.execve")
"""The functions by which a process becomes another program; all others of `os` call these."""
_USAGE = "freezer-ui run [-h] [-o DIR] [--no-values] [-v] -- script.py [args ...]"


class RunCommand:
    """Run a script unchanged, and record every freeze that it does.

    Takes a script, `-m package`, `python script.py`, or a program such as `pytest`. Writes one trace for each freeze as
    soon as the freeze ends, also if it fails: SCRIPT-1.fztrace and so on. This includes all threads, and child
    processes of the same Python, whose traces are SCRIPT-p1234-1.fztrace with the number of the process. The script
    runs as python would run it, with its own output, errors and exit code. SIGTERM and SIGHUP end it and keep the
    traces until then, unless the script handles these signals.
    """

    name: ClassVar[str] = "run"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        parser.usage = _USAGE
        parser.add_argument(
            "-o",
            "--output",
            type=output_folder,
            default=Path(),
            metavar="DIR",
            help="the folder for the traces (default: here)",
        )
        parser.add_argument(
            "--no-values",
            dest="values",
            action="store_false",
            help="leave histograms, counts of zeros and first numbers of weights out of the traces",
        )
        parser.add_argument(
            "-m",
            dest="module",
            nargs=argparse.REMAINDER,
            metavar="MODULE",
            help="run a module or package as python -m does; its arguments follow",
        )
        parser.add_argument(
            "script",
            nargs=argparse.REMAINDER,
            metavar="-- script.py [args ...]",
            help="the script, or a program such as pytest, and its arguments",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Runs the script and writes the traces."""
        words = arguments.script[1:] if arguments.script[:1] == ["--"] else arguments.script
        if arguments.module is not None:
            words = ["-m", *arguments.module, *words]
        process.require_posix("Recording the freezes of a program")
        program = _found(words)
        from freeze_engine.captures import recorded_process

        _make_folder(arguments.output)
        own = os.getpid()
        recorder: ProcessRecorder | None = None
        try:
            recording = recorded_process(
                arguments.output, program.stem, values=arguments.values, on_leaving=_list_before_leaving
            )
            with SIGNALS.of_script(), recording as recorder:
                try:
                    return _run_to_end(program)
                except EndingScript:
                    remark(SIGNALS.ends())
                    raise
                finally:
                    _exit_handlers()
        finally:
            if recorder is not None and os.getpid() == own:  # a fork of the script may end here, too
                _list_traces(recorder)


def _run_to_end(program: Program) -> int:
    """Runs a program and, as Python does, waits for its threads and child processes: they may freeze, too."""
    try:
        code = program.run()
    except EndingScript:
        raise
    except SystemExit:
        _wait()
        raise
    _wait()
    return code


def _exit_handlers() -> None:
    """Calls the exit handlers of the program while it is recorded: they may freeze, too."""
    if not SIGNALS.ends_process:
        return
    before = SIGNALS.count
    run_exit_handlers()
    if SIGNALS.count > before and SIGNALS.first not in (None, signal.SIGINT):
        remark(SIGNALS.ends())
        raise EndingScript(SIGNALS.exit_code)


def _wait() -> None:
    if SIGNALS.ends_process:
        wait_as_python_does()


def _found(words: Sequence[str]) -> Program:
    if not words:
        raise CommandError(f"there is no script to run; the usage is {_USAGE}")
    return find_program(words, _USAGE)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: the folder cannot be made: {error.strerror}; choose another") from error


def _list_before_leaving(recorder: ProcessRecorder, by: str) -> None:
    """Lists the traces of a process that ends without its exit handlers, or becomes another program."""
    remark(f"the script called {by}, so the recording of this process ends here")
    if by not in _BECOMING:
        _list_traces(recorder)
        return
    if recorder.saved or recorder.unrecorded or recorder.children():
        _list_traces(recorder)
    files = recorder.shown / f"{recorder.stem}-p*.fztrace"
    remark(f"what the program that it becomes freezes, and what its children do, is saved as {files}, and not listed")


def _list_traces(recorder: ProcessRecorder) -> None:
    """Lists the traces on standard error: standard output belongs to the script."""
    from viewer.text.summary import next_command

    own = [recorder.saved[number] for number in sorted(recorder.saved)]
    traces = [*own, *recorder.children()]
    for saved in traces:
        remark(_described(saved))
    for line in recorder.unrecorded:
        remark(line)
    readable = [saved for saved in traces if not saved.error]
    if not traces:
        remark(_nothing(recorder))
    elif readable:
        remark(next_command(readable[0].path))


def _nothing(recorder: ProcessRecorder) -> str:
    if recorder.unsaved:
        return "no trace could be saved; the reasons are above"
    if recorder.unfollowed:
        return "this Python froze nothing, so there is no trace; what the processes named above froze is not known"
    if recorder.unrecorded:
        return "no freeze was recorded, so there is no trace; the reason is above"
    return "the script froze nothing, so there is no trace"


def _described(saved: SavedTrace) -> str:
    from viewer.text.summary import summary_lines

    if saved.error:
        return saved.error
    trace = saved.trace
    ending = ", which failed" if trace.failure else ""
    lines = [f"  {line}" for line in summary_lines(fe.summarize(trace))]
    lines += [f"  {notice.message}" for notice in trace.notices if notice.code == "unread"]
    lines += [f"  It is here because of {saved.moved}"] if saved.moved else []
    return "\n".join([f"{saved.path}: {trace.name}, {len(trace.steps)} steps{ending}", *lines])
