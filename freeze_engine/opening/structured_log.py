r"""Reads the structured log that torch writes with ``TORCH_TRACE``, as tlparse does.

Each record is a line, a glog header and JSON, and a payload of lines that begin with a tab
(``torch/_logging/_internal.py``, torch 2.13). A log may end anywhere, for its process may have been killed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, cast

from freeze_engine.opening.bounds import MAX_KEPT_BYTES, MAX_NAME, MAX_TEXT_BYTES
from freeze_engine.opening.inside import Inside

_HEADER: Final = re.compile(rb"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ (\[[^\]]*\] ?)?\S+:\d+\] (?P<json>\{.*)")
_FILES: Final = ("dedicated_log_torch_trace_*.log", "dedicated_log_torch_trace_*.log.gz")
_GZIP: Final = b"\x1f\x8b"
#: Of what gzip packed: a log has up to some hundred megabytes, and a file that was made to be huge has no end.
_MAX_UNPACKED_BYTES: Final = 2 << 30
_HEAD_BYTES: Final = 4096
_MAX_LINE_BYTES: Final = 8 << 20
_MAX_RECORDS: Final = 100_000
_RECORD_BYTES: Final = 500
_MAX_FIELD: Final = 20_000
_MAX_NUMBER: Final = 2**31
_ABOUT: Final = frozenset(
    ("frame_id", "frame_compile_id", "attempt", "has_payload", "rank", "compiled_autograd_id", "stack")
)
#: Records without use here; the first are most of a log.
_SKIPPED: Final = frozenset(
    (
        *("chromium_event", "describe_storage", "describe_tensor", "describe_source", "dynamo_cpp_guards_str"),
        *("str", "dynamo_guards"),
    )
)
#: Says that a compile began, and nothing else that is read here.
_BEGINNING: Final = ("dynamo_start",)
#: What is read of a record besides its payload.
_FIELDS: Final = ("name", "start_time", "entire_frame_compile_time_s", "fail_type", "fail_reason")


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log.

    Attributes:
        name: of the record, of an artifact its own name.
        frame: number of the code that is compiled, ``None`` outside a compile.
        compile: number of the compile of that code.
        attempt: number of Dynamo's attempt.
        fields: what the record says besides its payload, as far as it is read here: texts and numbers.
        payload: its text.
    """

    name: str
    frame: int | None
    compile: int
    attempt: int
    fields: Mapping[str, Any]
    payload: str


@dataclass(slots=True)
class LogReading:
    """What a log holds.

    Attributes:
        records: in order.
        damaged: records that are no records of torch's, or whose payload is not what it was.
        left_out: records beyond the bounds of what is read.
    """

    records: list[Record] = field(default_factory=list)
    damaged: int = 0
    left_out: int = 0


@dataclass(slots=True)
class LogBounds:
    """Counts what is kept of the logs that make one trace.

    Attributes:
        records: that may still be kept.
        text_bytes: of payloads that may still be kept.
    """

    records: int = field(default_factory=lambda: _MAX_RECORDS)
    text_bytes: int = field(default_factory=lambda: MAX_KEPT_BYTES)

    def has_room(self, record: Record) -> bool:
        """Counts a record if there is room for it."""
        size = _RECORD_BYTES + len(record.payload) + sum(len(str(each)) for each in record.fields.values())
        if self.records < 1 or size > self.text_bytes:
            return False
        self.records -= 1
        self.text_bytes -= size
        return True


def is_structured_log(path: Path) -> bool:
    """Returns whether a file begins as torch's structured log does.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with _opened(path) as stream:
            first = stream.read(_HEAD_BYTES).partition(b"\n")[0]
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    return _HEADER.match(first) is not None


def log_files(folder: Path) -> tuple[Path, ...]:
    """Returns the logs in a folder that ``TORCH_TRACE`` named, one for each process.

    Links that lead out of the folder are not followed.
    """
    inside = Inside(folder)
    named = (path for pattern in _FILES for path in folder.glob(pattern))
    return tuple(sorted(path for path in named if path.is_file() and inside.has(path)))


def read_log(path: Path, bounds: LogBounds | None = None) -> LogReading:
    """Reads a log; what is no record of torch's is counted and left out.

    Args:
        path: of the file, which may be packed by gzip.
        bounds: counts what is kept of this log and others.

    Raises:
        OSError: it cannot be read.
    """
    found = LogReading()
    bounds = LogBounds() if bounds is None else bounds
    with _opened(path) as stream:
        for header, payload in _raw(stream, found):
            record = _record(header, payload)
            if record is None:
                found.damaged += 1
            elif record.name in _SKIPPED or not (record.payload or record.fields or record.name in _BEGINNING):
                continue
            elif bounds.has_room(record):
                found.records.append(record)
            else:
                found.left_out += 1
    return found


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as stream:
        is_packed = stream.read(len(_GZIP)) == _GZIP
    return cast("IO[bytes]", gzip.open(path)) if is_packed else path.open("rb")


def _lines(stream: IO[bytes], found: LogReading) -> Iterator[bytes]:
    """Yields the lines of a log; of a line that is too long, its begin only."""
    whole, left = True, _MAX_UNPACKED_BYTES if isinstance(stream, gzip.GzipFile) else None
    while left is None or left > 0:
        try:
            line = stream.readline(_MAX_LINE_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):  # the packed file is cut off
            found.damaged += 1
            return
        if not line:
            return
        left = None if left is None else left - len(line)
        if whole:
            yield line
        whole = line.endswith(b"\n")
    found.left_out += 1


def _raw(stream: IO[bytes], found: LogReading) -> Iterator[tuple[bytes, bytes]]:
    """Yields the JSON of each record, and its payload; both may be cut, and are no longer what torch wrote then."""
    header: bytes | None = None
    payload = bytearray()
    for line in _lines(stream, found):
        if line.startswith(b"\t"):
            if len(payload) <= MAX_TEXT_BYTES:
                payload += line[1:]
            continue
        if header is not None:
            yield header, bytes(payload)
        match = _HEADER.match(line)
        header = None if match is None else match["json"]
        found.damaged += match is None and bool(line.strip())
        payload.clear()
    if header is not None:
        yield header, bytes(payload)


def _record(header: bytes, payload: bytes) -> Record | None:
    try:
        found = json.loads(header)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    names = [name for name in found if name not in _ABOUT]
    text = payload.removesuffix(b"\n")
    expected = found.get("has_payload")
    if len(names) != 1 or (expected is not None and hashlib.md5(text, usedforsecurity=False).hexdigest() != expected):
        return None
    about = found[names[0]]
    fields = dict(_fields(about)) if isinstance(about, dict) else {}
    own = fields.get("name") if names[0] == "artifact" else names[0]
    numbers = [found.get(name) for name in ("frame_id", "frame_compile_id", "attempt")]
    if type(own) is not str or len(own) > MAX_NAME:
        return None
    if any(each is not None and (type(each) is not int or not 0 <= each < _MAX_NUMBER) for each in numbers):
        return None
    frame, compile_number, attempt = numbers
    return Record(own, frame, compile_number or 0, attempt or 0, fields, text.decode(errors="replace"))


def _fields(about: Mapping[str, Any]) -> Iterator[tuple[str, str | int | float]]:
    for name in _FIELDS:
        value = about.get(name)
        if isinstance(value, str):
            yield name, value[:_MAX_FIELD]
        elif isinstance(value, (int, float)):
            yield name, value
