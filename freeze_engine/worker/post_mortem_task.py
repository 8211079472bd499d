"""Builds a trace from the remains of a recording that died, in a child process, since there may be much to read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from freeze_engine.analysis.missing_measurements import STILL_MEASURED
from freeze_engine.backends.torchscript.post_mortem import Place, recovered
from freeze_engine.serde import load
from freeze_engine.trace import Failure, Notice, Step, Trace
from freeze_engine.worker.child_main import Send
from freeze_engine.worker.events import JobEnded, event_line
from freeze_engine.worker.exit_status import BUILD, CANCELLED, MEASURE, Death, cancelled_text, doing_text, read_death
from freeze_engine.worker.journal import read_now, read_remains
from freeze_engine.worker.output_file import write_output
from freeze_engine.worker.record_task import NO_JOURNAL, job_step

_TORCH_LINES = 20
_PRINTED_LINES = 60
_STACK = "(most recent call first)"


def run(folder: Path, send: Send) -> None:
    """Writes the trace and sends its events.

    Args:
        folder: of the recording; holds its journal, torch's log, and how it died.
        send: takes the events: steps that the caller does not know yet, and the end.
    """
    death = read_death(folder)

    def tell(step: Step) -> None:
        if step.index >= death.told:
            send(event_line(job_step(step)))

    now = read_now(folder)
    remains = None if death.has_preview else read_remains(folder)
    if death.has_preview:
        ended = _written(_no_longer_measured(load(death.output)), (MEASURE, now.doing, None), (), death, folder)
    elif remains is None:
        text = _text(death, (BUILD, now.doing, None), f"while {now.doing}")
        ended = JobEnded(death.outcome, None, text, now.doing, _last(death.printed))
    else:
        found = recovered(remains, tell)
        place = found.died_in or (BUILD, now.doing, None)
        ended = _written(_cut(found.trace, now.lost), place, found.messages[-_TORCH_LINES:], death, folder)
    send(event_line(ended))


def _no_longer_measured(trace: Trace) -> Trace:
    return replace(trace, notices=tuple(notice for notice in trace.notices if notice.code != STILL_MEASURED))


def _last(printed: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the last lines; of a stack that Python printed, which begins with the innermost call, the first ones."""
    stacks = [index for index, line in enumerate(printed) if _STACK in line]
    if not stacks:
        return printed[-_PRINTED_LINES:]
    start = max(0, stacks[-1] - _PRINTED_LINES // 3)
    left = len(printed) - start - _PRINTED_LINES
    more = (f"  … and {left} more lines",) if left > 0 else ()
    return (*printed[start : start + _PRINTED_LINES], *more)


def _cut(trace: Trace, lost: str | None) -> Trace:
    """Returns the trace of a journal, with a notice where that ends before the recording did."""
    if lost is None:
        return trace
    last = trace.steps[-1].index if trace.steps else None
    text = f"From here on no journal could be kept ({lost}): later steps were lost with the process."
    return replace(trace, notices=(*trace.notices, Notice(NO_JOURNAL, text, last)))


def _written(trace: Trace, place: Place, messages: tuple[str, ...], death: Death, folder: Path) -> JobEnded:
    stage, name, method = place
    last = trace.steps[-1].index if trace.steps else None
    failure = Failure(death.type, death.message, stage, name, method, last)
    printed = _last(death.printed)
    said = "\n".join((*messages, *printed))
    notices = (*trace.notices, *((Notice("last_words", f"The last that was logged:\n{said}", last),) if said else ()))
    write_output(replace(trace, failure=failure, notices=notices), death.output, folder)
    where = f"in {name} of {method}" if method else f"in {name}"
    if stage in (BUILD, MEASURE):
        where = f"while {doing_text(stage, name)}"
    return JobEnded(death.outcome, death.output, _text(death, place, where), name, (*messages, *printed))


def _text(death: Death, place: Place, where: str) -> str:
    return cancelled_text(place) if death.outcome == CANCELLED else f"{death.message}, {where}"
