"""Reads torch's log: its messages, and the graphs in them.

The format of a message is that of ``torch/csrc/jit/jit_log.h``; checked on torch 2.13.0.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

FILES = ("freeze_module", "graph_executor")
_FILES = tuple(file.encode() for file in FILES)
PREFIX = re.compile(rb"\[(DEBUG|UPDATE|DUMP) (\w+)\.cpp:(\d+)\] ?")
_GRAPH_LINE = (b"graph(", b" ", b"with ")
#: The fastest level of zlib; it reduces torch's log, one graph after another, to a twelfth.
_QUICKEST = 1


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One message of torch's log.

    Attributes:
        file: the C++ file without its ending.
        message: the first line, or all of it if it holds no graph.
        graph: the graph's text, ``None`` if the message holds none.
        end: offset in the log just behind the record, in bytes.
    """

    file: str
    message: str
    graph: str | None
    end: int


class CapturedLog:
    """The log of one freeze; complete once the capturing block has ended.

    Args:
        data: the bytes that reached file descriptor 2.
        written: see below.
        records: the part of the log to read, if that is not all of it.

    Attributes:
        written: ``(offset, clock)`` pairs: when the log had grown to an offset, in ns of ``time.monotonic_ns``.
    """

    __slots__ = ("_packed", "_records", "written")

    def __init__(
        self,
        data: bytes = b"",
        written: tuple[tuple[int, int], ...] = (),
        records: tuple[LogRecord, ...] | None = None,
    ) -> None:
        self.written = written
        self._records = records
        self.keep(data)

    def keep(self, data: bytes) -> None:
        """Stores the bytes that reached file descriptor 2, compressed, since they may wait long for a reader."""
        self._packed = zlib.compress(data, _QUICKEST)

    def without_last(self) -> CapturedLog:
        """Returns the log without its last message, of which only a part may be there."""
        return CapturedLog(zlib.decompress(self._packed), self.written, self.records[:-1])

    @property
    def records(self) -> tuple[LogRecord, ...]:
        """torch's messages in order, read on first use."""
        if self._records is None:
            self._records = tuple(_records(zlib.decompress(self._packed)))
        return self._records


def _records(data: bytes) -> Iterator[LogRecord]:
    tag: tuple[bytes, bytes] | None = None
    prefix = b""
    graph: list[bytes] = []
    message, end, offset = "", 0, 0
    for line in data.splitlines(keepends=True):
        offset += len(line)
        # Thousands of lines in a row have one prefix.
        if prefix and line.startswith(prefix):
            text = line[len(prefix) :].rstrip(b"\n")
            if text.startswith(_GRAPH_LINE):
                graph.append(text)
                end = offset
                continue
        match = PREFIX.search(line)
        if match is None or match[2] not in _FILES:
            continue
        text = line[match.end() :].rstrip(b"\n")
        if tag == (match[2], match[3]) and text.startswith(_GRAPH_LINE):
            graph.append(text)
            end = offset
            continue
        if tag:
            yield LogRecord(tag[0].decode(), message, _joined(graph), end)
        tag, message, graph, end = (match[2], match[3]), text.decode(errors="replace").strip(), [], offset
        prefix = b"" if match.start() else b"[%s %s.cpp:%s] " % (match[1], match[2], match[3])
    if tag:
        yield LogRecord(tag[0].decode(), message, _joined(graph), end)


def _joined(lines: list[bytes]) -> str | None:
    return b"\n".join(lines).decode(errors="replace") or None
