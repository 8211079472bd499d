"""The server's handle of one renderer process: starts it, sends it jobs, ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import freeze_engine as fe
from viewer.dashboard.library import RecentTrace
from viewer.dashboard.payloads import Kind, Payload

OUT_OF_MEMORY: Final = 77
"""Exit code of a process that reached its memory limit."""

#: Not ``-m``: that would search the working folder for modules first.
_BOOT: Final = (
    "import sys; memory, cpu, *sys.path[:] = sys.argv[1:]; sys.argv[1:] = []; "
    "from viewer.dashboard.render_child import main; main(int(memory), int(cpu))"
)
#: A user waits for it. Beside a recording on all processors it gets a tenth of the recording's share at 10, two fifths
#: at 4, four fifths at 1. The server sleeps most of the time, and so is woken first with any of them.
_NICE: Final = 1
_LARGE_BYTES: Final = 512 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one job.

    Attributes:
        memory_bytes: address space of the process. A comparison of two traces of 50,000 nodes and 30 steps takes
            0.7 GiB of it.
        cpu_s: processor time, in s.
        wait_s: wall-clock time, in s, in case a file system does not respond.
    """

    memory_bytes: int = 2 << 30
    cpu_s: int = 180
    wait_s: float = 900.0


class RenderProcess:
    """A process that runs one job at a time.

    Args:
        limits: of each job.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._late = False
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, str(limits.memory_bytes), str(limits.cpu_s), *_search_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt at the terminal is for the server
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # each thread would reserve address space
        )

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def is_worn(self) -> bool:
        """Whether it has ended, or holds more than 512 MiB of memory."""
        return self._process.poll() is not None or _resident_bytes(self.pid) > _LARGE_BYTES

    def send(self, kind: Kind, paths: Sequence[Path]) -> None:
        """Starts a job; `receive` waits for its end.

        Args:
            kind: what to render.
            paths: absolute, of the trace files.
        """
        assert self._process.stdin is not None
        line = json.dumps({"kind": kind, "paths": [str(path) for path in paths]}).encode() + b"\n"
        with suppress(BrokenPipeError):  # it has ended; `receive` reports how
            os.write(self._process.stdin.fileno(), line)

    def receive(self, paths: Sequence[Path]) -> Payload:
        """Waits for the end of the job, and returns its result.

        Args:
            paths: of the trace files, as in `send`.

        Raises:
            FreezerError: a file cannot be read, or the job reached a limit.
            RuntimeError: the renderer has a bug.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        head = json.loads(line) if line.endswith(b"\n") else None
        if head is None:
            raise self._death(paths)
        if "error" in head:
            raise fe.FreezerError(head["error"])
        if "fault" in head:
            raise RuntimeError(f"the renderer failed:\n{head['fault']}")
        data = self._process.stdout.read(head["size"])
        if len(data) < head["size"]:
            raise self._death(paths)
        return Payload(data, tuple(RecentTrace(**each) for each in head["shown"]))

    def yield_to_others(self) -> None:
        """Lowers its priority, so that the server answers first."""
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)

    def give_up(self) -> None:
        """Ends it because its job takes too long."""
        self._late = True
        self._process.kill()

    def kill(self) -> None:
        """Kills it, and returns at once."""
        self._process.kill()

    def close(self) -> None:
        """Kills it, waits for its end, and closes its pipes."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _death(self, paths: Sequence[Path]) -> fe.FreezerError:
        """Returns the error for a job during which the process ended."""
        code = self._process.wait()
        names = " and ".join(map(str, paths))
        remedy = "freezer-ui stats and freezer-ui report read it without this limit"
        if code == OUT_OF_MEMORY:
            gib = self._limits.memory_bytes / 2**30
            return fe.FreezerError(
                f"{names}: unpacks to more than {gib:.3g} GiB, the limit for the dashboard; {remedy}"
            )
        if self._late or code == -signal.SIGXCPU:
            taken_s = self._limits.wait_s if self._late else self._limits.cpu_s
            return fe.FreezerError(f"{names}: takes more than {taken_s:g} s, the limit for the dashboard; {remedy}")
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        return fe.FreezerError(
            f"{names}: the process that read it ended ({how}). Try again; if it ends again, {remedy}"
        )


def _search_path() -> list[str]:
    return [entry for entry in sys.path if isinstance(entry, str)]


def _resident_bytes(pid: int) -> int:
    """Returns the resident memory of a process; 0 if the system does not report it."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
