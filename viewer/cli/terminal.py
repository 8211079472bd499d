"""Writes to the terminal: results, remarks, and progress.

No other module writes to it. Control characters in texts of models, traces and file names are escaped, so that the
terminal does not interpret them; in a job of CI, so are commands to it.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, TextIO

from freeze_engine import analysis, worker
from viewer.cli.command import CommandError
from viewer.text.printable import PassedOn, json_without_commands, printable, printable_json, without_commands

_OWN = "\n\t"
#: Set in each job of GitHub Actions, Azure Pipelines and TeamCity, which take some lines of the output for commands.
_JOB_VARIABLES = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
_CLEAR_LINE = "\r\x1b[K"


def say(text: str) -> None:
    """Writes a result to standard output; escapes non-printable characters except line ends and tabs.

    Raises:
        CommandError: the write fails, for example on a full disk.
        BrokenPipeError: the reader has closed the pipe.
    """
    _say(_shown(text))


def say_json(text: str) -> None:
    """Writes a JSON result and a line end to standard output; raises as `say` does."""
    text = printable_json(text.rstrip("\n")) + "\n"
    _say(json_without_commands(text) if _is_job() else text)


def say_commands(lines: Iterable[str]) -> None:
    """Writes commands to the CI that runs this job, one line each, to standard output; raises as `say` does."""
    _say("".join(f"::{without_commands(printable(line))}\n" for line in lines))


def _say(text: str) -> None:
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        leave_output()
        raise CommandError(f"the result cannot be written to standard output: {error.strerror}") from error


def remark(text: str) -> None:
    """Writes a remark or an error to standard error; ignores a failed write."""
    _try_to_write(sys.stderr, _shown(f"freezer-ui: {text}\n"))


def show_traceback(text: str) -> None:
    """Writes a traceback to standard error; ignores a failed write."""
    _try_to_write(sys.stderr, _shown(text))


def show_help(text: str, stream: TextIO | None) -> None:
    """Writes argparse's text.

    Args:
        text: the help, or a message about wrong arguments.
        stream: standard output for help, written as by `say`; otherwise the text goes to standard error, and a failed
            write is ignored.
    """
    if stream is not None and stream is sys.stdout:
        say(text)
    else:
        _try_to_write(sys.stderr, _shown(text))


def leave_output() -> None:
    """Redirects standard output to the null device, so that Python's last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class ProgressLine:
    """A progress line, on a terminal only; also passes on the output of the work.

    Args:
        stream: the terminal, ``None`` if there is none.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._started = self._phase_started = time.monotonic()
        self._latest = (0, 0)
        self._passed_on = {"stdout": PassedOn(), "stderr": PassedOn()}
        self._decoders = {
            name: codecs.getincrementaldecoder(getattr(getattr(sys, name), "encoding", None) or "utf-8")(
                "backslashreplace"
            )
            for name in ("stdout", "stderr")
        }

    def show(self, message: str, done: int, total: int) -> None:
        """Replaces the line.

        Args:
            message: names the current work.
            done, total: units of the current phase.
        """
        now = time.monotonic()
        if total != self._latest[1] or done < self._latest[0]:
            self._phase_started = now
        self._latest = (done, total)
        text = progress_text(
            printable(message), done / total if total else 0.0, now - self._started, now - self._phase_started
        )
        self._draw(text[: shutil.get_terminal_size().columns - 1])

    def show_recording(self, event: worker.JobProgress) -> None:
        """Replaces the line by the progress of a whole recording."""
        text = printable(recording_text(event, time.monotonic() - self._started))
        self._draw(text[: shutil.get_terminal_size().columns - 1])

    def pass_on(self, name: Literal["stdout", "stderr"], data: bytes) -> None:
        """Writes output of the work to the stream of that name, outside the line.

        On a terminal, colours work and other control sequences are shown as text; a file or a pipe gets all unchanged.

        Args:
            name: of the stream.
            data: the printed bytes.
        """
        self.clear()
        stream = sys.stdout if name == "stdout" else sys.stderr
        text = self._decoders[name].decode(data)
        if stream is not None and stream.isatty():
            text = self._passed_on[name].shown(text)
        # The reader may have closed the pipe, as `head` does, or the disk may be full; the work goes on.
        with suppress(OSError):
            _write(stream, text)

    def clear(self) -> None:
        """Removes the line."""
        self._draw("")

    def _draw(self, text: str) -> None:
        if self._stream is not None:
            _try_to_write(self._stream, _CLEAR_LINE + text)  # a terminal may have been closed


def progress_terminal() -> TextIO | None:
    """Returns the terminal that shows progress: standard error, ``None`` if that is no terminal."""
    return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None


@contextmanager
def progress_line() -> Iterator[ProgressLine]:
    """Shows a progress line until the block ends, if standard error is a terminal."""
    line = ProgressLine(progress_terminal())
    try:
        yield line
    finally:
        line.clear()


def progress_text(message: str, share: float, elapsed_s: float, phase_s: float) -> str:
    """Returns the text of the progress line.

    Args:
        message: names the current work.
        share: completed share of this phase, from 0 to 1.
        elapsed_s: time since the start, in s.
        phase_s: time since the start of this phase, in s; from 1 s on the text contains the estimated time left.
    """
    left = f", about {clock_text(phase_s * (1 - share) / share)} left" if share > 0 and phase_s >= 1 else ""
    return f"{share:4.0%} {message} ({clock_text(elapsed_s)}{left})"


def recording_text(event: worker.JobProgress, elapsed_s: float) -> str:
    """Returns the progress line of a recording: its share, its phase, and how long that still takes, where known.

    Args:
        event: the progress.
        elapsed_s: time since the start, in s.
    """
    share = event.done / event.total if event.total else 0.0
    what = ": ".join(filter(None, (event.phase or "Starting", event.detail)))
    then = f", then {', '.join(phase[:1].lower() + phase[1:] for phase in event.later)}" if event.later else ""
    left = "" if event.left_s is None else f", about {clock_text(event.left_s)} left of this{then}"
    if event.whole_s is not None:
        left = f", about {clock_text(event.whole_s)} left"
    return f"{share:4.0%} {what} ({clock_text(elapsed_s)}{left})"


def clock_text(seconds: float) -> str:
    """Returns a time as minutes and seconds (``2:05``)."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def _shown(text: str) -> str:
    text = printable(analysis.shortened(text), _OWN)
    return without_commands(text) if _is_job() else text


def _is_job() -> bool:
    return any(os.environ.get(variable) for variable in _JOB_VARIABLES)


def _try_to_write(stream: TextIO | None, text: str) -> None:
    """Writes text; where a script put an object of its own in place of the stream, and that fails, to Python's."""
    try:
        _write(stream, text)
    except OSError:
        pass
    except Exception:  # noqa: BLE001 - the object is the script's, and may raise anything
        with suppress(OSError):
            _write(sys.__stderr__, text)


def _write(stream: TextIO | None, text: str) -> None:
    """Writes text, with escapes for what the stream's encoding lacks (a path may hold undecodable bytes).

    Args:
        stream: to write to, ``None`` if the parent process closed it, as Python sets it then; one that a script
            closed gets nothing.
        text: to write.
    """
    if stream is None or getattr(stream, "closed", False):
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
