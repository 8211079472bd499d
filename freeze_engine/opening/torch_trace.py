"""Makes a trace of the structured log of ``TORCH_TRACE``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from freeze_engine.opening.bounds import few_notices
from freeze_engine.opening.code_graph import shortened
from freeze_engine.opening.compile_trace import Compile, GraphText, compile_trace
from freeze_engine.opening.environment import UNKNOWN, UNKNOWN_ENVIRONMENT
from freeze_engine.opening.fx_code import is_fx_code
from freeze_engine.opening.provenance import ARTIFACT, provenance_of
from freeze_engine.opening.structured_log import LogBounds, LogReading, Record, log_files, read_log
from freeze_engine.trace import Failure, Notice, Trace

_STAGES: Final[Mapping[str, str]] = {
    "dynamo_output_graph": "dynamo",
    "before_pre_grad_graph": "pre_grad",
    "after_pre_grad_graph": "pre_grad",
    "before_joint_graph": "joint_graph",
    "after_joint_graph": "joint_graph",
    "before_post_grad_graph": "post_grad",
    "inductor_post_grad_graph": "post_grad",
    "after_post_grad_graph": "post_grad",
}
_AOT: Final = re.compile(r"aot_(?P<kind>\w+)_graph")
_BRANCHES: Final = {"joint": ", joint", "backward": ", backward"}
_RAISED: Final = re.compile(
    r"^(?P<type>[\w.]+(Error|Exception|Failed|Interrupt|Unsupported))(: (?P<text>.*))?$", re.MULTILINE
)
_RANK: Final = re.compile(r"torch_trace_rank_(\d{1,9})_")
_CACHE: Final = re.compile(r"(?P<cache>fx_graph|aotautograd)_cache_(?P<outcome>hit|miss|bypass)")
_CACHES: Final = {"fx_graph": "Inductor's cache", "aotautograd": "AOTAutograd's cache"}


#: The first record of a graph that Inductor gets without Dynamo, as for a package of AOTInductor (torch 2.13).
_FIRST_OUTSIDE: Final = "before_pre_grad_graph"


@dataclass(frozen=True, slots=True)
class _Part:
    """The records of one compile: of one frame, the last attempt."""

    name: str
    records: tuple[Record, ...]

    def first(self, name: str) -> Record | None:
        return next((record for record in self.records if record.name == name), None)


def open_torch_trace(path: Path, name: str | None = None, call: str = "") -> Trace:
    """Returns the trace of a log, or of the logs in a folder.

    Args:
        path: of the file or the folder.
        name: in the trace, by default the file's stem.
        call: the call or command to show in the trace.

    Raises:
        OSError: a file cannot be read.
    """
    files = log_files(path) if path.is_dir() else (path,)
    left = LogBounds()
    readings = [read_log(file, left) for file in files]
    parts = [part for number, reading in enumerate(readings) for part in _parts(reading, _prefix(number, files))]
    records = [record for reading in readings for record in reading.records]
    environment = replace(UNKNOWN_ENVIRONMENT, torch=_torch_version(records))
    head = Trace(name or path.stem, "inductor", call, (), (), environment, (), origin="torch_trace")
    head = replace(head, created=_created(records))
    told = (notice for part in parts for notice in _notices(part))
    notices = (*_log_notices(readings, files), *few_notices(told, "log"))
    trace = compile_trace(head, [_compile(part) for part in parts], notices)
    return replace(trace, failure=_failure(trace, parts), duration_ns=_duration_ns(parts))


def _prefix(number: int, files: Sequence[Path]) -> str:
    if len(files) < 2:
        return ""
    ranks = [_RANK.search(file.name) for file in files]
    known = [rank[1] for rank in ranks if rank is not None]
    return f"rank {known[number]}, " if len({*known}) == len(files) else f"log {number + 1}, "


def _parts(reading: LogReading, prefix: str) -> Iterator[_Part]:
    found: dict[tuple[int, int], list[Record]] = {}
    outside: list[list[Record]] = []
    for record in reading.records:
        if record.frame is not None:
            found.setdefault((record.frame, record.compile), []).append(record)
            continue
        if record.name == _FIRST_OUTSIDE:
            outside.append([])
        if outside:
            outside[-1].append(record)
    for (frame, number), records in found.items():
        last = max((record.attempt for record in records if is_fx_code(record.payload)), default=0)
        kept = tuple(record for record in records if record.attempt == last or not is_fx_code(record.payload))
        yield _Part(f"{prefix}graph {frame}/{number}", kept)
    for count, records in enumerate(outside, start=1):
        yield _Part(f"{prefix}graph {count} without Dynamo", tuple(records))


def _compile(part: _Part) -> Compile:
    compiled = Compile(part.name)
    for record in part.records:
        if record.name == "inductor_output_code":
            compiled.code = compiled.code or record.payload
        elif record.name == ARTIFACT:
            compiled.provenance = compiled.provenance or provenance_of(_loaded(record.payload))
        elif record.name == "fx_graph_runnable":
            compiled.runnable = compiled.runnable or record.payload
        elif is_fx_code(record.payload):
            aot = _AOT.fullmatch(record.name)
            stage = "aot" if aot else _STAGES.get(record.name, "other")
            branch = _BRANCHES.get(aot["kind"], "") if aot else ""
            compiled.graphs.append(GraphText(stage, record.name, record.payload, branch))
    return compiled


def _log_notices(readings: Sequence[LogReading], files: Sequence[Path]) -> Iterator[Notice]:
    for reading, file in zip(readings, files, strict=True):
        if reading.damaged:
            one = "1 record of {} is damaged or cut short; what it said is unknown."
            many = f"{reading.damaged} records of {{}} are damaged or cut short; what they said is unknown."
            yield Notice("log_cut", (one if reading.damaged == 1 else many).format(file.name))
        if reading.left_out:
            count = "record is" if reading.left_out == 1 else f"{reading.left_out} records are"
            yield Notice("unread", f"{file.name} is too long: its last {count} left out.")


def _notices(part: _Part) -> Iterator[Notice]:
    for record in part.records:
        if cache := _CACHE.fullmatch(record.name):
            yield from _cache_notices(part.name, cache["cache"], cache["outcome"], record)
        elif record.name == "dynamo_graph_break_reason":
            reason = record.payload.partition("Developer debug context")[0]
            yield Notice("graph_break", f"{part.name} ends early. {shortened(reason, 600)}")
        elif record.name == "recompile_reasons":
            yield Notice("recompilation", f"{part.name} was compiled anew: {shortened(record.payload, 600)}")


def _cache_notices(method: str, cache: str, outcome: str, record: Record) -> Iterator[Notice]:
    if outcome == "hit":
        text = f"{method}: the code came from {_CACHES[cache]}, so the passes behind it did not run in this compile."
        yield Notice("cache_hit", text)
    elif outcome == "bypass":
        reason = _loaded(record.payload).get("cache_bypass_reason")
        why = shortened(reason) if isinstance(reason, str) else "the log does not say why"
        yield Notice("cache_bypassed", f"{method}: {_CACHES[cache]} was not used: {why}.")


def _loaded(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _torch_version(records: Sequence[Record]) -> str:
    found = next((record for record in records if record.name == "torch_version"), None)
    version = None if found is None else _loaded(found.payload).get("pytorch_version")
    return version if isinstance(version, str) else UNKNOWN


def _created(records: Sequence[Record]) -> str:
    times = [record.fields.get("start_time") for record in records if record.name == "compilation_metrics"]
    known = [time for time in times if isinstance(time, int | float) and 0 < time < 2**33]
    return datetime.fromtimestamp(min(known), timezone.utc).isoformat(timespec="seconds") if known else ""


def _duration_ns(parts: Sequence[_Part]) -> int | None:
    metrics = [part.first("compilation_metrics") for part in parts]
    taken = [None if each is None else each.fields.get("entire_frame_compile_time_s") for each in metrics]
    known = [each for each in taken if isinstance(each, int | float) and 0 <= each < 2**30]
    return round(sum(known) * 1e9) if known and len(known) == len(taken) else None


def _failure(trace: Trace, parts: Sequence[_Part]) -> Failure | None:
    """Returns the first exception that ended a compile."""
    for part in parts:
        metrics, error = part.first("compilation_metrics"), part.first("dynamo_error")
        kind = None if metrics is None else metrics.fields.get("fail_type")
        if not isinstance(kind, str) and error is None:
            continue
        raised = None if error is None else next(_RAISED.finditer(error.payload[-20_000:]), None)
        text = None if metrics is None else metrics.fields.get("fail_reason")
        if not isinstance(text, str):
            text = shortened(raised["text"] or "", 1000) if raised is not None else ""
        if not isinstance(kind, str):
            kind = raised["type"].rpartition(".")[2] if raised is not None else UNKNOWN
        steps = trace.method_steps(part.name)
        last = steps[-1] if steps else None
        return Failure(
            kind, text, last.stage if last else "compile", part.name, part.name, last.index if last else None
        )
    return None
