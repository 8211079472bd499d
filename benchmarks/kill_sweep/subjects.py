"""The commands to strike: the tool's own, a user's programs, and the dashboard."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from benchmarks.kill_sweep.place import Place

Kind = Literal["record", "run", "program", "dashboard"]
OUTPUT: Final = "net.fztrace"
MODELS: Final = "benchmarks.kill_sweep.models"
_FOLDER: Final = Path(__file__).parent
_PROGRAM: Final = (sys.executable, str(_FOLDER / "program.py"))
_SCRIPT: Final = _FOLDER / "script.py"
_FREEZER: Final = (sys.executable, "-m", "viewer.cli")
_RUN: Final = (*_FREEZER, "run")


@dataclass(frozen=True, slots=True)
class StruckCommand:
    """One command to strike.

    Attributes:
        kind: selects the rules for its end.
        words: its command line; ``{out}`` is the folder for traces.
        has_child: whether it records in a child process.
        output: the file name of its trace, or of the first one.
        steps: whether a journal lists its steps, so that the number of ended steps is known.
    """

    kind: Kind
    words: tuple[str, ...]
    has_child: bool
    output: str = OUTPUT
    steps: bool = True

    def command(self, place: Place) -> list[str]:
        """Returns the command line."""
        return [word.replace("{out}", str(place.out)) for word in self.words]

    def traces(self, place: Place) -> Path:
        """Returns the folder of its traces."""
        return place.recordings if self.kind == "dashboard" else place.out


def recording(model: str, *options: str) -> StruckCommand:
    """Returns ``freezer-ui record`` of one of the models."""
    words = ("record", f"{MODELS}:{model}", "-o", f"{{out}}/{OUTPUT}", "--no-measure", *options)
    return StruckCommand("record", (*_FREEZER, *words), has_child=True)


SUBJECTS: Final = {
    "record": recording("stopping"),
    "record-inductor": recording("stopping", "--backend", "inductor"),
    "run": StruckCommand(
        "run", (*_FREEZER, "run", "-o", "{out}", "--", str(_SCRIPT)), False, "script-1.fztrace", steps=False
    ),
    "record-api": StruckCommand(
        "program", (sys.executable, str(_FOLDER / "program.py"), "here", f"{{out}}/{OUTPUT}"), False, steps=False
    ),
    "process-api": StruckCommand(
        "program", (sys.executable, str(_FOLDER / "program.py"), "apart", f"{{out}}/{OUTPUT}"), True
    ),
    "dashboard": StruckCommand(
        "dashboard",
        (sys.executable, str(_FOLDER / "serving.py"), f"{MODELS}:stopping", "--no-measure", "--no-browser"),
        has_child=True,
    ),
}
OWNER_SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CHILD_SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV)
