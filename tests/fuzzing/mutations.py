"""Alters the payload of a trace file with the aim to break its readers, given a seed."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import zlib
from typing import Any

HEADER_BYTES = 60
_START = struct.Struct(">8sI")
_LENGTHS = struct.Struct(">QQ")
_INTS = (-1, 0, 1, 2, 3, 7, 255, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 10**30, -(2**63))
_FLOATS: tuple[Any, ...] = (0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e300, 1.7976931348623157e308, "nan", "inf", "-inf")
_TEXTS = (
    "",
    "\x00",
    "\ud800",
    "\udcff",
    "\u202e\u2066",
    "\x1b]0;x\x07",
    "\u2028",
    "</script><script>alert(1)</script>",
    "%",
    "{}",
    "forward",
    "self",
    "nan",
    "0",
    "x" * 5000,
    "a\n" * 40,
    "😀" * 9,
    "../../etc/passwd",
    "WILDCARD for type Tensor",
    "conv_bn",
    "preserved",
    "eager",
)


def mutated(data: bytes, seed: str) -> bytes:
    """Returns a trace file with one to four changes; equal arguments give equal bytes.

    Args:
        data: a valid file.
        seed: of the random choices.
    """
    chance = random.Random(seed)
    if chance.random() < 0.08:
        return _of_other_bytes(data, chance)
    version: int = _START.unpack_from(data)[1]
    payload = json.loads(zlib.decompress(data[HEADER_BYTES:]))
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3, 4))):
        chance.choice(_CHANGES)(payload, chance)
    return sealed(json.dumps(payload).encode(), version)


def sealed(payload: bytes, version: int) -> bytes:
    """Returns a file with a valid header for the payload."""
    packed = zlib.compress(payload, 1)
    start = _START.pack(b"\x89FZT\r\n\x1a\n", version)
    lengths = _LENGTHS.pack(len(packed), len(payload))
    return start + lengths + hashlib.sha256(start + lengths + packed).digest() + packed


def _of_other_bytes(data: bytes, chance: random.Random) -> bytes:
    """Returns the file with changed bytes: in its payload, with a valid header, or anywhere."""
    version: int = _START.unpack_from(data)[1]
    inside = chance.random() < 0.7
    changed = bytearray(zlib.decompress(data[HEADER_BYTES:]) if inside else data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        start = chance.randrange(len(changed))
        end = min(len(changed), start + chance.choice((0, 1, 1, 2, 30)))
        changed[start:end] = chance.choice((b"", b"0", b"9", b'"', b"[", b"]", b"1e999", b"\xff", b"\\u0000", b"null"))
    return sealed(bytes(changed), chance.choice((version, version, 1, 2))) if inside else bytes(changed)


def _lists(payload: Any, chance: random.Random) -> list[Any]:
    """Returns the path to a random list: the lists from the outermost inwards."""
    tables = payload["tables"]
    start: Any = chance.choice((payload["trace"], payload["trace"], *tables.values()))
    way = [start]
    while chance.random() < 0.8:
        inner = [item for item in way[-1] if type(item) is list and item]
        if not inner:
            break
        way.append(chance.choice(inner))
    return way


def _replace_leaf(payload: Any, chance: random.Random) -> None:
    row = _lists(payload, chance)[-1]
    places = [place for place, item in enumerate(row) if type(item) is not list]
    if places:
        place = chance.choice(places)
        row[place] = _other(row[place], payload, chance)


def _other(value: Any, payload: Any, chance: random.Random) -> Any:
    """Returns a value of the same type if the type is known, so that mutations go beyond wrong types."""
    if type(value) is bool:
        return not value
    if type(value) is float:
        return chance.choice((*_FLOATS, value * 1e6, -value))
    if type(value) is int:
        near = (value + 1, value - 1, chance.randrange(40), chance.randrange(len(payload["tables"]["str"])))
        return chance.choice((*near, *near, *_INTS))
    if type(value) is str:
        return chance.choice((*_TEXTS, value + chance.choice(_TEXTS), value[:1]))
    return chance.choice((0, 1, 5, None, True, 1.5, []))


def _replace_text(payload: Any, chance: random.Random) -> None:
    texts = payload["tables"]["str"]
    place = chance.randrange(len(texts))
    texts[place] = _other(texts[place], payload, chance) if type(texts[place]) is str else chance.choice(_TEXTS)


def _drop(payload: Any, chance: random.Random) -> None:
    row = _lists(payload, chance)[-1]
    if row:
        del row[chance.randrange(len(row))]


def _repeat(payload: Any, chance: random.Random) -> None:
    row = _lists(payload, chance)[-1]
    if row:
        place = chance.randrange(len(row))
        row[place:place] = [json.loads(json.dumps(row[place]))] * chance.choice((1, 1, 2, 20))


def _swap(payload: Any, chance: random.Random) -> None:
    row = _lists(payload, chance)[-1]
    if len(row) > 1:
        one, two = chance.sample(range(len(row)), 2)
        row[one], row[two] = row[two], row[one]


def _empty(payload: Any, chance: random.Random) -> None:
    chance.choice(_lists(payload, chance)[1:] or [[]]).clear()


def _none(payload: Any, chance: random.Random) -> None:
    row = _lists(payload, chance)[-1]
    if row:
        row[chance.randrange(len(row))] = None


def _move(payload: Any, chance: random.Random) -> None:
    """Copies a cell of one row into another row of the same length."""
    way = _lists(payload, chance)
    if len(way) > 1 and way[-1]:
        row, place = way[-1], chance.randrange(len(way[-1]))
        others = [other for other in way[-2] if type(other) is list and len(other) == len(row)]
        chance.choice(others)[place] = json.loads(json.dumps(row[place]))


_CHANGES = (
    _replace_leaf,
    _replace_leaf,
    _replace_leaf,
    _replace_leaf,
    _replace_text,
    _drop,
    _repeat,
    _swap,
    _empty,
    _none,
    _move,
    _move,
)
