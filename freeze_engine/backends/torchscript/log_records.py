"""Reads torch's log: its messages, and the graphs in them.

The form of a message is that of ``torch/csrc/jit/jit_log.h``; checked on torch 2.13.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FILES = ("freeze_module", "graph_executor")
PREFIX = re.compile(rb"\[(DEBUG|UPDATE|DUMP) (\w+)\.cpp:(\d+)\] ?")
_GRAPH_LINE = ("graph(", " ", "with ")


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


@dataclass(slots=True)
class CapturedLog:
    """The log of one freeze; complete once the capturing block has ended.

    Attributes:
        data: the bytes that reached file descriptor 2.
        written: ``(offset, clock)`` pairs: when the log had grown to an offset, in ns of ``time.monotonic_ns``.
    """

    data: bytes = b""
    written: tuple[tuple[int, int], ...] = ()
    _records: tuple[LogRecord, ...] | None = field(default=None, repr=False)

    @property
    def records(self) -> tuple[LogRecord, ...]:
        """torch's messages in order, read when first asked for."""
        if self._records is None:
            self._records = tuple(_records(self.data))
        return self._records


def _records(data: bytes) -> Iterator[LogRecord]:
    tag: tuple[bytes, bytes] | None = None
    graph: list[str] = []
    message, end, offset = "", 0, 0
    for line in data.splitlines(keepends=True):
        offset += len(line)
        match = PREFIX.search(line)
        if match is None or match[2].decode() not in FILES:
            continue
        text = line[match.end() :].decode(errors="replace").rstrip("\n")
        continues = tag == (match[2], match[3]) and text.startswith(_GRAPH_LINE)
        if continues:
            graph.append(text)
            end = offset
            continue
        if tag:
            yield LogRecord(tag[0].decode(), message, "\n".join(graph) or None, end)
        tag, message, graph, end = (match[2], match[3]), text.strip(), [], offset
    if tag:
        yield LogRecord(tag[0].decode(), message, "\n".join(graph) or None, end)
