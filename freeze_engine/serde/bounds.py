"""Estimates the memory that a payload takes from its text, before parsing.

A byte of JSON can become dozens: ``[],`` is a list of 56 bytes and a place in the list around it. So brackets, commas
and quotes are counted while the payload is unpacked, piece by piece, and a payload is refused as soon as what parsing
it would make passes the limit. The figures are what CPython 3.10 to 3.13 take at most on a 64-bit machine; a test holds
them against what parsing really takes.
"""

from __future__ import annotations

from freeze_engine.serde.schema import MalformedError

SNAPSHOT_NODE_BYTES = 72
"""Size of a node in a snapshot besides the node itself: three references, and its names in sets during the check."""

TEXT_LINE_BYTES = 16
"""Size of a line of a text that is stored by its difference, besides the line and the text."""

_LIST_BYTES = 192
"""A parsed list and its room to grow, and the tuple or instance that it becomes, without what they hold."""

_ITEM_BYTES = 32
"""A place in a list that grows, in the list or tuple made of it, and in the one between."""

_NUMBER_BYTES = 32
_TEXT_BYTES = 96
"""A string without its characters."""

_OBJECT_BYTES = 512
_PAIR_BYTES = 256
_CHARACTER_BYTES = 4
_MAX_DEPTH = 64
"""How deep lists and objects nest in a payload at most; a trace needs a dozen."""

_MAX_DIGITS = 400
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_BASE_BYTES = 1 << 20
"""Memory that reading takes for any file."""


class TooLargeError(Exception):
    """A trace exceeds its memory limit."""


class Allowance:
    """The memory that a trace may still take.

    Args:
        max_bytes: how much in all.
    """

    def __init__(self, max_bytes: int) -> None:
        self._left_bytes = max_bytes

    def take(self, taken_bytes: int) -> None:
        """Takes some of the remaining memory.

        Raises:
            TooLargeError: less is left.
        """
        self._left_bytes -= taken_bytes
        if self._left_bytes < 0:
            raise TooLargeError


class PayloadBound:
    """Estimates the memory for parsing a payload, piece by piece.

    Args:
        allowance: what it is taken from.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._take = allowance.take
        self._take(_BASE_BYTES)
        self._within_text = False
        self._escape = b""
        self._open = b""
        self._end = b""

    def add(self, piece: bytes) -> None:
        """Counts the next piece, of some 64 KiB.

        Raises:
            MalformedError: lists nest too deep, or a number is too long.
            TooLargeError: parsing would take more than is left.
        """
        # The payload itself, what it was unpacked to, and its text, which is as wide as its widest character.
        plain = piece.isascii() and b"\\u" not in piece
        self._take((2 + _CHARACTER_BYTES + (1 if plain else _CHARACTER_BYTES)) * len(piece))
        parts = self._without_escapes(piece).split(b'"')
        first = 1 if self._within_text else 0
        bare = b"".join(parts[first::2])
        texts = (len(parts) + 1) // 2
        self._within_text ^= len(parts) % 2 == 0
        lists, objects, colons = bare.count(b"["), bare.count(b"{"), bare.count(b":")
        items = bare.count(b",") + lists + objects + 1
        self._take(lists * _LIST_BYTES + items * (_ITEM_BYTES + _NUMBER_BYTES))
        self._take(texts * _TEXT_BYTES + objects * _OBJECT_BYTES + colons * _PAIR_BYTES)
        self._check(bare)

    def _without_escapes(self, piece: bytes) -> bytes:
        piece = self._escape + piece
        ending = len(piece) - len(piece.rstrip(b"\\"))
        self._escape = b"\\" * (ending % 2)
        piece = piece[: len(piece) - ending % 2]
        return piece.replace(b"\\\\", b"").replace(b'\\"', b"")

    def _check(self, bare: bytes) -> None:
        digits = self._end + bare.translate(_ZEROS)
        if b"0" * _MAX_DIGITS in digits:
            raise MalformedError(f"a number has {_MAX_DIGITS} digits or more", "payload")
        self._end = digits[-_MAX_DIGITS:]
        brackets = self._open + bare.translate(None, _OTHERS)
        for _ in range(_MAX_DEPTH + 1):
            brackets, before = brackets.replace(b"[]", b"").replace(b"{}", b""), len(brackets)
            if len(brackets) == before:
                break
        if len(brackets) > _MAX_DEPTH:
            raise MalformedError(f"lists nest more than {_MAX_DEPTH} deep", "payload")
        self._open = brackets
