"""The file around a payload: header, integrity, compression, versions.

A file is a header of fixed size and one compressed payload:

====================  =======  ==============================================================================
magic                 8 bytes  no text, and changed by any conversion of line ends or of 8-bit characters
version               4 bytes  `SCHEMA_VERSION` of the writer
packed                8 bytes  length of the compressed payload
unpacked              8 bytes  length of the payload
digest                32 bytes SHA-256 of everything else in the file
payload                        JSON (`freeze_engine.serde.encode`) in UTF-8, deflated (zlib)
====================  =======  ==============================================================================

Numbers are unsigned, high byte first. Magic and version stay where they are in every version to come.

History of `SCHEMA_VERSION`:
    1: the first.
    2: latency and error against the step before, ULP distances, several sets of inputs; checks, the memory ledger,
        generated programs with their kernels, and what leaving out a pass changes.
    3: which attributes are the same tensor, and what a fold that did not happen would save; the passes of a step and
        what its graph's inputs are, which stood in its name and its log before (`freeze_engine.serde.upgrade`);
        the reasons ``read_live`` and ``outside_graphs``.
    4: the calls that lead to nodes.
    5: numbers of constants (their distribution, zeros, the first of them), and of attributes before freezing.
    6: the backend ``aotinductor``: the package it makes, and which attributes that takes new values for.
    7: traces that are no recordings, but were read from a frozen file or from torch's logs; what TorchScript's executor
        makes of the frozen module.
    8: errors of a quantised model's layers against the float model.
    9: the time of the nodes that TorchScript's executor runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from freeze_engine.errors import TraceFileError
from freeze_engine.process.garbage import collection_paused
from freeze_engine.process.whole_file import write_whole
from freeze_engine.serde.bounds import Allowance, PayloadBound, TooLargeError
from freeze_engine.serde.decode import decode
from freeze_engine.serde.encode import encode
from freeze_engine.serde.schema import Json, MalformedError
from freeze_engine.serde.upgrade import upgraded
from freeze_engine.trace import Trace
from freeze_engine.trace.validation import check_trace, problems

SCHEMA_VERSION = 9
"""Version of the files written; a change of any type of `freeze_engine.trace` makes a new one."""

MAX_BYTES = 2 << 30
"""Default memory limit for reading a trace; `freeze_engine.serde.bounds` counts it.

A trace of 10,000 nodes and 30 steps is counted as 0.1 GB, one of 50,000 and 30 as 0.5 GB.
"""

MIGRATIONS: dict[int, Callable[[dict[str, Json]], dict[str, Json]]] = {}
"""For each older version, the function that turns its payload into that of the version after it.

A version that only adds fields with defaults needs none: `freeze_engine.serde.schema.SINCE` lists them.
"""

_MAGIC = b"\x89FZT\r\n\x1a\n"
_START = struct.Struct(">8sI")
_LENGTHS = struct.Struct(">QQ")
_DIGEST_BYTES = hashlib.sha256().digest_size
_HEADER_BYTES = _START.size + _LENGTHS.size + _DIGEST_BYTES
_PIECE_BYTES = 1 << 16
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (a TorchScript file or an exported program?): record it with `freezer-ui record`",
    b"\x89PNG": "a PNG image",
    b"\x80": "a pickle or an old PyTorch file",
    b"{": "JSON text",
    b"<": "HTML or XML text",
}


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Writes a trace file atomically: an existing file is replaced only by a complete one.

    Args:
        trace: what to write.
        path: the file, customarily ``*.fztrace``, in a folder that exists.

    Raises:
        TraceFileError: the file cannot be written there.
        InvalidTraceError: the trace breaks a rule of the data model (`freeze_engine.problems` lists all).
    """
    data = dumps(trace)
    target = Path(path)
    if not os.path.isdir(target.parent):  # noqa: PTH112 - Path.is_dir raises for names that are too long
        raise TraceFileError(f"{target}: there is no folder {target.parent}; make it first")
    if os.path.exists(target) and not os.path.isfile(target):  # noqa: PTH110, PTH113 - as above
        raise TraceFileError(f"{target}: cannot be written: it is not an ordinary file (a folder, device or pipe)")
    unfinished = target.parent / f".{secrets.token_hex(8)}.unfinished"
    try:
        write_whole(target, data, unfinished)
    except (OSError, ValueError) as error:
        raise TraceFileError(f"{target}: cannot be written: {_cause(error)}") from error
    finally:
        # After success it is gone; after a failure the user needs to see the error above.
        with suppress(OSError):
            unfinished.unlink()


def load(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES, *, check: bool = True) -> Trace:
    """Reads a trace file.

    Args:
        path: the file.
        max_bytes: how much memory that may take, see `MAX_BYTES`.
        check: whether to refuse a trace that breaks a rule of the data model. Without, `freeze_engine.problems` lists
            what is wrong with it; nothing else here takes a trace that is not sound.

    Returns:
        The trace, with equal snapshots and nodes as shared objects.

    Raises:
        TraceFileError: there is no such file, or it is not a whole, sound trace file of a known version.
    """
    origin = os.fspath(path)
    try:
        with Path(path).open("rb") as stream:
            start = stream.read(_HEADER_BYTES)
            _version(start, origin)  # so that a large file of another kind is not read
            packed_bytes, _ = _LENGTHS.unpack_from(start, _START.size)
            data = start + stream.read(min(packed_bytes, max_bytes) + 1)
    except (OSError, ValueError) as error:
        raise TraceFileError(f"{origin}: cannot be read: {_cause(error)}") from error
    return loads(data, origin, max_bytes, check=check)


def is_trace_file(path: str | os.PathLike[str]) -> bool:
    """Returns whether a file begins as trace files do; only `load` validates it.

    Args:
        path: the file.

    Raises:
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def dumps(trace: Trace) -> bytes:
    """Returns the bytes of a trace's file; the same trace gives the same bytes (with the same zlib).

    Args:
        trace: what to write.

    Raises:
        InvalidTraceError: the trace breaks a rule of the data model (`freeze_engine.problems` lists all).
    """
    encoded = encode(trace, SCHEMA_VERSION)
    check_trace(trace)
    payload = json.dumps(encoded, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    packed = zlib.compress(payload, 9)
    start = _START.pack(_MAGIC, SCHEMA_VERSION)
    lengths = _LENGTHS.pack(len(packed), len(payload))
    return start + lengths + _digest(start, lengths, packed) + packed


def loads(data: bytes, origin: str = "trace", max_bytes: int = MAX_BYTES, *, check: bool = True) -> Trace:
    """Returns the trace in the bytes of a file.

    Args:
        data: the whole file.
        origin: what the errors call it, its path for instance.
        max_bytes: how much memory that may take, see `MAX_BYTES`.
        check: whether to refuse a trace that breaks a rule of the data model, as for `load`.

    Raises:
        TraceFileError: the bytes are not a whole, sound trace file of a known version.
    """
    with collection_paused():
        return _loaded(data, origin, max_bytes, check)


def _loaded(data: bytes, origin: str, max_bytes: int, check: bool) -> Trace:
    version = _version(data, origin)
    try:
        trace = _decoded(data, origin, version, Allowance(max_bytes))
    except TooLargeError as error:
        raise TraceFileError(
            f"{origin}: takes more than {max_bytes} bytes of memory; if you trust it, load it with a larger max_bytes"
        ) from error
    except (MalformedError, RecursionError) as error:
        raise TraceFileError(f"{origin}: does not fit schema {version}: {error}; record the trace again") from error
    if check and (found := problems(trace)):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise TraceFileError(f"{origin}: is not a sound trace: {found[0]}{more}; record the trace again")
    return trace


def _decoded(data: bytes, origin: str, version: int, allowance: Allowance) -> Trace:
    return upgraded(decode(migrate(_payload(data, origin, allowance), version), version, allowance), version)


def migrate(payload: dict[str, Json], version: int) -> dict[str, Json]:
    """Returns the payload of an older version as one of this version.

    Args:
        payload: as read from the file.
        version: the file's.

    Raises:
        MalformedError: the payload does not fit its version.
    """
    try:
        for older in range(version, SCHEMA_VERSION):
            payload = MIGRATIONS[older](payload) if older in MIGRATIONS else payload
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise MalformedError(f"cannot be brought up from schema {version} ({error!r})") from error
    return payload


def _cause(error: OSError | ValueError) -> str:
    """Returns the system's message without the path (a ValueError is about characters no path may hold)."""
    return str(getattr(error, "strerror", None) or error)


def _version(data: bytes, origin: str) -> int:
    if not data:
        raise TraceFileError(f"{origin}: is empty; record the trace again")
    if not data.startswith(_MAGIC[: len(data)]):
        kinds = (kind for start, kind in _FOREIGN.items() if data.startswith(start))
        raise TraceFileError(f"{origin}: is not a trace file but {next(kinds, 'something else')}")
    if len(data) < _HEADER_BYTES:
        raise TraceFileError(f"{origin}: ends within its header; copy it again from where it came from")
    version: int = _START.unpack_from(data)[1]
    if version > SCHEMA_VERSION:
        raise TraceFileError(
            f"{origin}: written by a newer version (schema {version}, this is {SCHEMA_VERSION}); upgrade freezer-ui"
        )
    if version < 1:
        raise TraceFileError(f"{origin}: has the unknown schema {version}; copy it again from where it came from")
    return version


def _payload(data: bytes, origin: str, allowance: Allowance) -> Any:
    packed_bytes, unpacked_bytes = _LENGTHS.unpack_from(data, _START.size)
    packed = memoryview(data)[_HEADER_BYTES:]
    allowance.take(packed_bytes)
    if len(packed) != packed_bytes:
        found = "more bytes" if len(packed) > packed_bytes else f"{len(packed)} bytes"
        wrong = f"has {found} after its header instead of {packed_bytes}"
        raise TraceFileError(f"{origin}: {wrong}; copy it again from where it came from")
    before = _START.size + _LENGTHS.size
    if _digest(data[:before], packed) != data[before:_HEADER_BYTES]:
        raise TraceFileError(f"{origin}: is damaged (its SHA-256 differs); copy it again from where it came from")
    try:
        return json.loads(_unpacked(packed, unpacked_bytes, allowance).decode(), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise MalformedError(f"it is not UTF-8 at byte {error.start}", "payload") from error
    except (zlib.error, json.JSONDecodeError) as error:
        raise MalformedError(str(error), "payload") from error


def _unpacked(packed: memoryview, unpacked_bytes: int, allowance: Allowance) -> bytes:
    """Returns the payload; unpacking stops as soon as parsing the part so far would take too much memory."""
    stream, bound, pieces, size = zlib.decompressobj(), PayloadBound(allowance), [], 0
    rest: bytes | memoryview = packed
    while not stream.eof and size <= unpacked_bytes:
        piece = stream.decompress(rest, _PIECE_BYTES)
        rest = stream.unconsumed_tail
        if not piece:
            break
        bound.add(piece)
        pieces.append(piece)
        size += len(piece)
    if size != unpacked_bytes or not stream.eof or stream.unused_data:
        raise MalformedError("it unpacks to another length than the header states", "payload")
    return b"".join(pieces)


def _refuse(constant: str) -> float:
    raise MalformedError(f"{constant} is not JSON", "payload")


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()
