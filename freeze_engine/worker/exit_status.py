"""The death of a process and the state of its recording, as passed to the task that assembles the remains."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from freeze_engine.backends.torchscript.post_mortem import Place
from freeze_engine.worker.left_files import write_for
from freeze_engine.worker.request import REQUEST

DEATH = "death.json"
CRASHED: Literal["crashed"] = "crashed"
TIMED_OUT: Literal["timed_out"] = "timed_out"
OVER_LIMIT: Literal["over_limit"] = "over_limit"
CANCELLED: Literal["cancelled"] = "cancelled"
DeathOutcome = Literal["crashed", "timed_out", "over_limit", "cancelled"]
#: Stages of a place that is no pass: before and during the building of the trace, and after it.
BUILD, MEASURE = "build", "measure"


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a process that did not report its end itself.

    Attributes:
        outcome: as in `freeze_engine.worker.events.JobEnded`.
        type: short: ``SIGSEGV``, ``exit code 1``, ``time limit``, ``memory limit``, ``cancelled``.
        message: what happened, as part of a sentence.
        output: the trace file.
        has_preview: whether it was written, before anything was measured.
        told: number of steps that the caller knows.
        printed: the last lines that the process wrote to standard output and error.
    """

    outcome: DeathOutcome
    type: str
    message: str
    output: Path
    has_preview: bool
    told: int
    printed: tuple[str, ...]


def cancelled_text(place: Place) -> str:
    """Returns one line that says in which activity a recording was cancelled.

    Args:
        place: the activity; its name is empty if there was none.
    """
    stage, name, method = place
    if not name:
        return "cancelled"
    if stage in (BUILD, MEASURE):
        return f"cancelled while {doing_text(stage, name)}"
    return f"cancelled in {name} of {method}" if method else f"cancelled in {name}"


def doing_text(stage: str, name: str) -> str:
    """Describes the activity at a place that is no pass, such as ``measuring latency: round 3 of 80``."""
    return f"measuring {name}" if stage == MEASURE and ": " in name else name


def write_death(death: Death, folder: Path) -> None:
    """Writes it for `read_death`, on a full disk without the process's output.

    Raises:
        OSError: it cannot be written at all.
    """
    fields = asdict(death) | {"output": str(death.output)}
    try:
        write_for(folder / DEATH, json.dumps(fields))
    except OSError:
        (folder / REQUEST).unlink(missing_ok=True)  # makes room, and has been read
        write_for(folder / DEATH, json.dumps(fields | {"printed": ()}))


def read_death(folder: Path) -> Death:
    """Returns what `write_death` wrote."""
    given = json.loads((folder / DEATH).read_text())
    return Death(**(given | {"output": Path(given["output"]), "printed": tuple(given["printed"])}))
