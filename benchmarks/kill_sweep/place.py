"""The folders of one case, and the processes started in it."""

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
_GONE_S = 120.0


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one case.

    Attributes:
        base: working directory of the struck command; contains all other folders.
        cache: torch's compile cache, shared by all cases.
        mark: identifies each process of the case by its environment.
    """

    base: Path
    cache: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def out(self) -> Path:
        """Folder of the traces."""
        return self.base / "out"

    @property
    def temporary(self) -> Path:
        """Folder of the temporary folders."""
        return self.base / "tmp"

    @property
    def home(self) -> Path:
        """Folder of the dashboard's recordings and of its list of recent traces."""
        return self.base / "home"

    @property
    def recordings(self) -> Path:
        """Folder of the dashboard's traces."""
        return self.home / "freezer-ui" / "recordings"

    def make(self, precious: bytes, older: str | None = None) -> None:
        """Creates the folders, with traces that must survive.

        Args:
            precious: a trace file's bytes.
            older: file name of the new recording, if an older recording has that name already.
        """
        for folder in (self.out, self.temporary, self.recordings):
            folder.mkdir(parents=True)
        for folder in (self.out, self.recordings):
            (folder / PRECIOUS).write_bytes(precious)
        if older is not None:
            (self.out / older).write_bytes(precious)
        # Inductor writes its precompiled headers there and keeps them by design.
        kept = self.cache / f"torchinductor_{getpass.getuser()}"
        kept.mkdir(exist_ok=True)
        (self.temporary / kept.name).symlink_to(kept)

    def remove(self) -> None:
        """Removes the folders."""
        shutil.rmtree(self.base, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """Returns the environment of the struck command."""
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
            with contextlib.suppress(OSError):  # processes start and end meanwhile
                if entry in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
        return found

    def workers(self) -> list[int]:
        """Returns the recording processes, without their forks."""
        found = {pid for pid, command in self.processes().items() if "worker.child_main import main" in command}
        return sorted(pid for pid in found if _parent(pid) not in found)

    def left_processes(self) -> dict[int, str]:
        """Returns the processes that still run after 120 s, and kills them."""
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
    """Returns the processor time of processes, in s; ended ones count 0."""
    taken = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            taken += int(fields[11]) + int(fields[12])
    return taken / os.sysconf("SC_CLK_TCK")
