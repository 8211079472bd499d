"""Trace ⇄ file, without torch: one compressed file a trace, described in ``docs/trace-format.md``.

Reading runs no code of the file's choosing: it is `zlib`, `json` and a check of every field against the schema.
Every defect of a file raises a `freeze_engine.errors.TraceFileError`.
"""

from __future__ import annotations

from freeze_engine.serde.decode import joined
from freeze_engine.serde.encode import Instalments
from freeze_engine.serde.file import MAX_BYTES, SCHEMA_VERSION, dumps, is_trace_file, load, loads, migrate, save

__all__ = [
    "MAX_BYTES",
    "SCHEMA_VERSION",
    "Instalments",
    "dumps",
    "is_trace_file",
    "joined",
    "load",
    "loads",
    "migrate",
    "save",
]
