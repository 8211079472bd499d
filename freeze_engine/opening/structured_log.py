r"""Reads the structured log that torch writes with ``TORCH_TRACE``, as tlparse does.

Each record is a line, a glog header and JSON, and a payload of lines that begin with a tab
(``torch/_logging/_internal.py``, torch 2.13). A log may end anywhere, for its process may have been killed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

_HEADER: Final = re.compile(rb"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ (\[[^\]]*\] ?)?\S+:\d+\] (?P<json>\{.*)")
_FILES: Final = "dedicated_log_torch_trace_*.log"
_HEAD_BYTES: Final = 4096
_MAX_LINE_BYTES: Final = 8 << 20
_MAX_PAYLOAD_BYTES: Final = 16 << 20
_MAX_KEPT_BYTES: Final = 256 << 20
_MAX_RECORDS: Final = 1_000_000
_ABOUT: Final = frozenset(("frame_id", "frame_compile_id", "attempt", "has_payload", "rank", "compiled_autograd_id"))
#: Records without use here; the first are most of a log.
_SKIPPED: Final = frozenset(
    (
        *("chromium_event", "describe_storage", "describe_tensor", "describe_source", "dynamo_cpp_guards_str"),
        *("str", "dynamo_guards"),
    )
)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log.

    Attributes:
        name: of the record, of an artifact its own name.
        frame: number of the code that is compiled, ``None`` outside a compile.
        compile: number of the compile of that code.
        attempt: number of Dynamo's attempt.
        fields: what the record says, besides its payload.
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


def is_structured_log(path: Path) -> bool:
    """Returns whether a file begins as torch's structured log does.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        first = stream.read(_HEAD_BYTES).partition(b"\n")[0]
    return _HEADER.match(first) is not None


def log_files(folder: Path) -> tuple[Path, ...]:
    """Returns the logs in a folder that ``TORCH_TRACE`` named, one for each process."""
    return tuple(sorted(path for path in folder.glob(_FILES) if path.is_file()))


def read_log(path: Path) -> LogReading:
    """Reads a log; what is no record of torch's is counted and left out.

    Args:
        path: of the file.

    Raises:
        OSError: it cannot be read.
    """
    found, kept = LogReading(), 0
    with path.open("rb") as stream:
        for header, payload in _raw(stream, found):
            record = _record(header, payload)
            if record is None:
                found.damaged += 1
            elif record.name not in _SKIPPED:
                kept += len(header) + len(payload)
                if kept > _MAX_KEPT_BYTES or len(found.records) >= _MAX_RECORDS:
                    found.left_out += 1
                else:
                    found.records.append(record)
    return found


def _raw(stream: IO[bytes], found: LogReading) -> Iterator[tuple[bytes, bytes]]:
    """Yields the JSON of each record, and its payload."""
    header: bytes | None = None
    payload: list[bytes] = []
    size = 0
    while line := stream.readline(_MAX_LINE_BYTES):
        if line.startswith(b"\t"):
            size += len(line)
            if size <= _MAX_PAYLOAD_BYTES:
                payload.append(line[1:])
            continue
        if header is not None:
            yield header, b"".join(payload)
        match = _HEADER.match(line)
        header = None if match is None else match["json"]
        found.damaged += match is None and bool(line.strip())
        payload, size = [], 0
    if header is not None:
        yield header, b"".join(payload)


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
    fields = about if isinstance(about, dict) else {}
    own = fields.get("name") if names[0] == "artifact" else names[0]
    numbers = [found.get(name) for name in ("frame_id", "frame_compile_id", "attempt")]
    if type(own) is not str or any(each is not None and (type(each) is not int or each < 0) for each in numbers):
        return None
    frame, compile_number, attempt = numbers
    return Record(own, frame, compile_number or 0, attempt or 0, fields, text.decode(errors="replace"))
