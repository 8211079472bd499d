"""The folders of one case, and the processes that were started in it."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRECIOUS = "precious.fztrace"
MARK = "FREEZER_KILL_SWEEP"
_GONE_S = 20.0


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one case.

    Attributes:
        base: working directory of what is struck; holds all others.
        cache: what torch compiles, the same for all cases.
        mark: found in the environment of each process of the case.
    """

    base: Path
    cache: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def out(self) -> Path:
        """Where traces are written."""
        return self.base / "out"

    @property
    def temporary(self) -> Path:
        """Where temporary folders are made."""
        return self.base / "tmp"

    @property
    def home(self) -> Path:
        """Where the dashboard keeps recordings and its list of recent ones."""
        return self.base / "home"

    @property
    def recordings(self) -> Path:
        """Where the dashboard writes traces."""
        return self.home / "freezer-ui" / "recordings"

    def make(self, precious: bytes, older: str | None = None) -> None:
        """Makes the folders, with traces that must survive.

        Args:
            precious: a trace file's bytes.
            older: the name of a new recording that an older one has already.
        """
        for folder in (self.out, self.temporary, self.recordings):
            folder.mkdir(parents=True)
        for folder in (self.out, self.recordings):
            (folder / PRECIOUS).write_bytes(precious)
        if older is not None:
            (self.out / older).write_bytes(precious)
        # Inductor puts its precompiled headers there, and they stay by design.
        kept = self.cache / f"torchinductor_{getpass.getuser()}"
        kept.mkdir(exist_ok=True)
        (self.temporary / kept.name).symlink_to(kept)

    def remove(self) -> None:
        """Removes the folders."""
        shutil.rmtree(self.base, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """Returns the environment of what is struck."""
        return os.environ | {
            MARK: self.mark,
            "TMPDIR": str(self.temporary),
            "XDG_DATA_HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home),
            "TORCHINDUCTOR_CACHE_DIR": str(self.cache / "inductor"),
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
        }

    def processes(self) -> dict[int, str]:
        """Returns the processes of this case that have not ended, with their commands."""
        entry = f"{MARK}={self.mark}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # processes come and go while one looks
                if entry in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
        return found

    def workers(self) -> list[int]:
        """Returns the processes that record, without what they forked."""
        found = {pid for pid, command in self.processes().items() if "worker.child_main import main" in command}
        return sorted(pid for pid in found if _parent(pid) not in found)

    def left_processes(self) -> dict[int, str]:
        """Returns the processes that are still there after a while, and ends them."""
        until_s = time.monotonic() + _GONE_S
        while (left := self.processes()) and time.monotonic() < until_s:
            time.sleep(0.05)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def cpu_s(pids: list[int]) -> float:
    """Returns the processor time that processes have taken, in s; those that are gone count nothing."""
    taken = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            taken += int(fields[11]) + int(fields[12])
    return taken / os.sysconf("SC_CLK_TCK")
