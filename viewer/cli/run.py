"""``freezer-ui run``."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import freeze_engine as fe
from viewer.cli.command import FINE, CommandError, output_folder
from viewer.cli.signals import SIGNALS, EndingScript
from viewer.cli.terminal import remark

_USAGE = "freezer-ui run [-h] [-o DIR] [-v] -- script.py [args ...]"


class RunCommand:
    """Run a script unchanged, and record every freeze that it does.

    Writes one trace for each freeze, SCRIPT-1.fztrace and so on, also for a freeze that failed. The script runs as
    python would run it, with its own output, errors and exit code. SIGTERM and SIGHUP end it and keep the traces until
    then, unless the script handles these signals.
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
            "script", nargs=argparse.REMAINDER, metavar="-- script.py [args ...]", help="the script and its arguments"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Runs the script and writes the traces."""
        words = arguments.script[1:] if arguments.script[:1] == ["--"] else arguments.script
        if not words:
            raise CommandError(f"there is no script to run; the usage is {_USAGE}")
        script = Path(words[0])
        if not script.is_file():
            raise CommandError(f"{script} is no file; give the script after --, as in {_USAGE}")
        _make_folder(arguments.output)
        with SIGNALS.of_script(), fe.capture() as captured:
            try:
                return _run_script(words)
            except EndingScript:
                remark(SIGNALS.ends())
                raise
            finally:
                _write_traces(captured.traces, arguments.output, script.stem)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: the folder cannot be made: {error.strerror}; choose another") from error


def _run_script(words: Sequence[str]) -> int:
    """Runs a script as python would; `SystemExit` and `KeyboardInterrupt` propagate.

    Returns:
        0, or 1 if an exception ended it; its traceback is then shown without the frames outside the script.
    """
    with _main_script(words):
        try:
            runpy.run_path(words[0], run_name="__main__")
        except Exception as error:  # noqa: BLE001 (shown by sys.excepthook, as the interpreter does)
            frames = error.__traceback__
            while frames is not None and frames.tb_frame.f_code.co_filename != words[0]:
                frames = frames.tb_next
            sys.excepthook(type(error), error.with_traceback(frames), frames)
            return 1
    return FINE


@contextmanager
def _main_script(words: Sequence[str]) -> Iterator[None]:
    """Sets `sys.argv` and `sys.path` as for ``python script.py args``, which runpy leaves to the caller."""
    argv, path = sys.argv, sys.path.copy()
    sys.argv = list(words)
    sys.path.insert(0, str(Path(words[0]).resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path


def _write_traces(traces: Sequence[fe.Trace], folder: Path, stem: str) -> None:
    """Writes the traces and lists them on standard error: standard output belongs to the script."""
    from viewer.text.summary import next_command, summary_lines

    if not traces:
        remark("the script froze nothing, so there is no trace")
        return
    for number, trace in enumerate(traces, 1):
        path = folder / f"{stem}-{number}.fztrace"
        fe.save(trace, path)
        ending = ", which failed" if trace.failure else ""
        lines = (f"  {line}" for line in summary_lines(fe.summarize(trace)))
        remark("\n".join([f"{path}: {trace.name}, {len(trace.steps)} steps{ending}", *lines]))
    remark(next_command(folder / f"{stem}-1.fztrace"))
