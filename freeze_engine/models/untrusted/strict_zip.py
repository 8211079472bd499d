"""Reads zip files that have one meaning only.

Readers of zip files disagree: `zipfile` and the reader of torch (miniz) find the directory in other ways, compare names
in other ways, and take a size from the local or from the central header. A file that is checked with one reader and
opened with another can show each of them something else. This reader accepts the plain form that torch and `zipfile`
write, in which no two readers can disagree, and refuses all else:

* the directory ends with the file, without a comment; nothing comes before, between or after the members;
* each local header says what the central one says, and nobody else uses its bytes;
* names are relative, and no two are equal when case, Unicode forms and slashes are ignored.
"""

from __future__ import annotations

import struct
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from freeze_engine.models.untrusted.refusals import UntrustedFileError

_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_END64_LOCATOR: Final = struct.Struct("<4sLQL")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_DESCRIPTOR: Final = struct.Struct("<4s3L")
_DESCRIPTOR64: Final = struct.Struct("<4sL2Q")

_FULL16: Final = 0xFFFF
_FULL32: Final = 0xFFFFFFFF
_HAS_DESCRIPTOR: Final = 0x8
_UTF8: Final = 0x800
_STORED: Final = 0
_DEFLATED: Final = 8
_ZIP64_EXTRA: Final = 0x0001
#: What torch pads with, so that the data are aligned (caffe2/serialize/inline_container.cc, torch 2.13.0).
_PADDING_EXTRA: Final = 0x4246
_MOST_MEMBERS: Final = 0xFFFF
"""As many as a directory without Zip64 has; each takes some 10 µs, whenever the file is looked at."""
_LONGEST_DIRECTORY_BYTES: Final = 16 << 20
_CHUNK_BYTES: Final = 1 << 20


class ZipRefusedError(UntrustedFileError):
    """The file is no zip file, or one that readers may understand in two ways; the text says why."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """A file in a zip file.

    Attributes:
        name: as it is in both headers.
        is_stored: its bytes stand in the file as they are; otherwise they are deflated.
        crc: CRC-32 of the bytes before they were packed.
        packed_bytes: how many bytes the file has of it.
        size_bytes: how many bytes it is; not checked here where it is deflated.
        start: where its bytes begin in the file, in bytes.
    """

    name: str
    is_stored: bool
    crc: int
    packed_bytes: int
    size_bytes: int
    start: int


@dataclass(frozen=True, slots=True)
class _Entry:
    raw_name: bytes
    name: str
    flags: int
    method: int
    crc: int
    packed_bytes: int
    size_bytes: int
    header: int


def zip_members(stream: IO[bytes]) -> tuple[ZipMember, ...]:
    """Reads the directory of a zip file, and the headers of all members.

    Args:
        stream: the file, open for reading in any place.

    Returns:
        The members, in the order of their bytes.

    Raises:
        ZipRefusedError: it is no zip file, or one that may be understood in two ways.
        OSError: it cannot be read.
    """
    start, end, count = _directory(stream)
    entries = sorted(_entries(_read(stream, start, end - start), count), key=lambda entry: entry.header)
    _check_names(entry.name for entry in entries)
    ends = [entry.header for entry in entries[1:]] + [start][: len(entries)]
    if (entries[0].header if entries else start) != 0:
        raise ZipRefusedError("something precedes its first member")
    return tuple(_member(stream, entry, end) for entry, end in zip(entries, ends, strict=True))


def member_chunks(stream: IO[bytes], member: ZipMember) -> Iterator[bytes]:
    """Yields the bytes of a member that is stored as it is, and checks them in the end.

    Args:
        stream: the file that `zip_members` has read.
        member: one of its members.

    Raises:
        ZipRefusedError: it is packed, or its bytes are not those that the header promises.
    """
    if not member.is_stored:
        raise ZipRefusedError(f"{member.name!r} is compressed")
    crc, position, left = 0, member.start, member.size_bytes
    while left:
        chunk = _read(stream, position, min(left, _CHUNK_BYTES))
        crc = zlib.crc32(chunk, crc)
        position += len(chunk)
        left -= len(chunk)
        yield chunk
    if crc != member.crc:
        raise ZipRefusedError(f"{member.name!r} is damaged: its bytes do not have the checksum that it promises")


def member_bytes(stream: IO[bytes], member: ZipMember, limit_bytes: int) -> bytes:
    """Returns the bytes of a member.

    Args:
        stream: the file that `zip_members` has read.
        member: one of its members, not compressed.
        limit_bytes: how long it may be.

    Raises:
        ZipRefusedError: it is longer, compressed or damaged.
    """
    _check_length(member, limit_bytes)
    return b"".join(member_chunks(stream, member))


def unpacked_bytes(stream: IO[bytes], member: ZipMember, limit_bytes: int) -> bytes:
    """Returns the bytes of a member that may be compressed; never unpacks more than the limit.

    Args:
        stream: the file that `zip_members` has read.
        member: one of its members.
        limit_bytes: how long it may be, unpacked.

    Raises:
        ZipRefusedError: it is longer, or damaged.
    """
    _check_length(member, limit_bytes)
    if member.is_stored:
        return b"".join(member_chunks(stream, member))
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        found = unpacker.decompress(_read(stream, member.start, member.packed_bytes), limit_bytes + 1)
    except zlib.error as error:
        raise ZipRefusedError(f"{member.name!r} is damaged: {error}") from error
    if unpacker.unused_data:
        raise ZipRefusedError(f"{member.name!r} has something behind its end")
    if len(found) != member.size_bytes or zlib.crc32(found) != member.crc:
        raise ZipRefusedError(f"{member.name!r} is damaged: its bytes do not have the checksum that it promises")
    return found


def _check_length(member: ZipMember, limit_bytes: int) -> None:
    if max(member.size_bytes, 0 if member.is_stored else member.packed_bytes) > limit_bytes:
        raise ZipRefusedError(f"{member.name!r} has {member.size_bytes} bytes; up to {limit_bytes} are read")


def _read(stream: IO[bytes], start: int, size: int) -> bytes:
    stream.seek(start)
    data = stream.read(size)
    if len(data) != size:
        raise ZipRefusedError("it is truncated")
    return data


def _directory(stream: IO[bytes]) -> tuple[int, int, int]:
    """Returns where the directory begins and ends, and how many members it has."""
    length = stream.seek(0, 2)
    if length < _END.size:
        raise ZipRefusedError("it is too short for a zip file")
    at = length - _END.size
    magic, disk, directory_disk, here, count, size, start, comment = _END.unpack(_read(stream, at, _END.size))
    if magic != b"PK\x05\x06" or comment:
        raise ZipRefusedError("it does not end with the directory of a zip file (a comment, or something after it)")
    end = at
    locator = _read(stream, at - _END64_LOCATOR.size, _END64_LOCATOR.size) if at >= _END64_LOCATOR.size else b""
    if locator[:4] == b"PK\x06\x07":
        end, fields = _directory64(stream, locator, at - _END64_LOCATOR.size)
        for short, long, full in zip((here, count, size, start), fields, (_FULL16,) * 2 + (_FULL32,) * 2, strict=True):
            if short not in (long, full):
                raise ZipRefusedError("its two directory records differ")
        here, count, size, start = fields
    if disk or directory_disk or here != count or start + size != end:
        raise ZipRefusedError("its directory is not where it should be")
    if count > _MOST_MEMBERS or size > _LONGEST_DIRECTORY_BYTES:
        raise ZipRefusedError(f"it has {count} members in a directory of {size} bytes; up to {_MOST_MEMBERS} are read")
    return start, end, count


def _directory64(stream: IO[bytes], locator: bytes, locator_at: int) -> tuple[int, tuple[int, int, int, int]]:
    """Returns where the Zip64 record begins, and its four numbers: members here, members, bytes, start."""
    _, disk, at, disks = _END64_LOCATOR.unpack(locator)
    if disk or disks > 1 or at + _END64.size != locator_at:
        raise ZipRefusedError("its Zip64 directory is not where it should be")
    magic, size, _, _, disk, directory_disk, *fields = _END64.unpack(_read(stream, at, _END64.size))
    if magic != b"PK\x06\x06" or size != _END64.size - 12 or disk or directory_disk:
        raise ZipRefusedError("its Zip64 directory is not understood")
    here, count, length, start = fields
    return at, (here, count, length, start)


def _entries(directory: bytes, count: int) -> Iterator[_Entry]:
    at = 0
    for _ in range(count):
        if at + _CENTRAL.size > len(directory):
            raise ZipRefusedError("its directory has fewer members than it says")
        magic, _, _, flags, method, _, _, crc, packed, size, name_size, extra_size, comment, disk, _, _, header = (
            _CENTRAL.unpack_from(directory, at)
        )
        at += _CENTRAL.size
        raw_name, extra = directory[at : at + name_size], directory[at + name_size : at + name_size + extra_size]
        at += name_size + extra_size
        if magic != b"PK\x01\x02" or comment or disk or at > len(directory):
            raise ZipRefusedError("its directory is not understood (or a member has a comment)")
        name = _name(raw_name, flags)
        if flags & ~(_HAS_DESCRIPTOR | _UTF8) or method not in (_STORED, _DEFLATED):
            raise ZipRefusedError(f"{name!r} is encrypted, or packed in a way that is not read")
        size, packed, header = _widened(name, extra, size, packed, header)
        if method == _STORED and size != packed:
            raise ZipRefusedError(f"{name!r} has two sizes")
        yield _Entry(raw_name, name, flags, method, crc, packed, size, header)
    if at != len(directory):
        raise ZipRefusedError("its directory has more members than it says")


def _widened(name: str, extra: bytes, *numbers: int) -> tuple[int, ...]:
    """Returns the numbers of a central header, those that do not fit into 32 bits from its Zip64 field."""
    full = [index for index, number in enumerate(numbers) if number == _FULL32]
    fields = list(_extra_fields(name, extra))
    if not full and not fields:
        return numbers
    if len(fields) != 1 or fields[0][0] != _ZIP64_EXTRA or len(fields[0][1]) != 8 * len(full):
        raise ZipRefusedError(f"{name!r} has extra fields in the directory that are not read")
    found = dict(zip(full, struct.unpack(f"<{len(full)}Q", fields[0][1]), strict=True))
    return tuple(found.get(index, number) for index, number in enumerate(numbers))


def _extra_fields(name: str, extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(extra):
        if at + 4 > len(extra):
            raise ZipRefusedError(f"{name!r} has extra fields that are not understood")
        field, size = struct.unpack_from("<2H", extra, at)
        at += 4 + size
        if at > len(extra):
            raise ZipRefusedError(f"{name!r} has extra fields that are not understood")
        yield field, extra[at - size : at]


def _name(raw: bytes, flags: int) -> str:
    """Returns a name that stands for one place below the top of an archive."""
    try:
        name = raw.decode("utf-8" if flags & _UTF8 else "ascii")
    except UnicodeDecodeError as error:
        raise ZipRefusedError(f"the name {raw!r} is not in the encoding that its header says") from error
    if "\\" in name or not name.isprintable() or any(part in ("", ".", "..") for part in name.split("/")):
        raise ZipRefusedError(f"the name {name!r} is not a plain relative path of a file")
    return name


def _check_names(names: Iterator[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
        if folded in seen:
            raise ZipRefusedError(f"it holds {seen[folded]!r} and {name!r}, which a reader may take for the same")
        seen[folded] = name


def _member(stream: IO[bytes], entry: _Entry, end: int) -> ZipMember:
    """Returns a member whose local header says what the central one says, and whose bytes are its own.

    Args:
        stream: the file.
        entry: from the directory.
        end: where the next member, or the directory, begins.
    """
    name = entry.name
    if entry.header + _LOCAL.size > end:
        raise ZipRefusedError(f"{name!r} overlaps with what comes after it")
    magic, _, flags, method, _, _, crc, packed, size, name_size, extra_size = _LOCAL.unpack(
        _read(stream, entry.header, _LOCAL.size)
    )
    rest = _read(stream, entry.header + _LOCAL.size, name_size + extra_size)
    if magic != b"PK\x03\x04" or (flags, method, rest[:name_size]) != (entry.flags, entry.method, entry.raw_name):
        raise ZipRefusedError(f"{name!r} has two headers that differ")
    _check_local_numbers(entry, (crc, packed, size), rest[name_size:])
    start = entry.header + _LOCAL.size + len(rest)
    gap = end - start - entry.packed_bytes
    if flags & _HAS_DESCRIPTOR and gap in (_DESCRIPTOR.size, _DESCRIPTOR64.size):
        form = _DESCRIPTOR if gap == _DESCRIPTOR.size else _DESCRIPTOR64
        found = form.unpack(_read(stream, end - gap, gap))
        if found != (b"PK\x07\x08", entry.crc, entry.packed_bytes, entry.size_bytes):
            raise ZipRefusedError(f"{name!r} is followed by numbers that differ from those in the directory")
    elif flags & _HAS_DESCRIPTOR or gap:
        raise ZipRefusedError(f"{name!r} overlaps with what comes after it, or something is between them")
    return ZipMember(name, method == _STORED, entry.crc, entry.packed_bytes, entry.size_bytes, start)


def _check_local_numbers(entry: _Entry, found: tuple[int, int, int], extra: bytes) -> None:
    """Checks checksum and sizes in a local header, which may come after the data or in a Zip64 field instead."""
    allowed = {0} if entry.flags & _HAS_DESCRIPTOR else set()
    wide: list[int] = []
    for field, content in _extra_fields(entry.name, extra):
        if field == _ZIP64_EXTRA and not wide and len(content) in (8, 16, 24):
            wide = list(struct.unpack(f"<{len(content) // 8}Q", content))
        elif field != _PADDING_EXTRA:
            raise ZipRefusedError(f"{entry.name!r} has extra fields that are not read")
    expected = (entry.crc, entry.packed_bytes, entry.size_bytes)
    fits = (
        number == value or number in allowed or (number == _FULL32 and value in wide and index > 0)
        for index, (number, value) in enumerate(zip(found, expected, strict=True))
    )
    if not all(fits) or not {0, entry.size_bytes, entry.packed_bytes, entry.header}.issuperset(wide):
        raise ZipRefusedError(f"{entry.name!r} has two headers that differ")
