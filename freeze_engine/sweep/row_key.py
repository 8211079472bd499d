"""The key of a recording: a hash of its request, the model's file and the environment; the same is not made twice."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from freeze_engine.serde import SCHEMA_VERSION
from freeze_engine.sweep.environment_facts import EnvironmentFacts
from freeze_engine.sweep.plan import PlannedRow

#: Fields of a request that do not change what is recorded. Limits only decide whether it comes to its end.
_IRRELEVANT: Final = ("output", "call", "limit_s", "memory_bytes")
_DIGITS: Final = 32
_CHUNK_BYTES: Final = 1 << 20


def row_key(row: PlannedRow, facts: EnvironmentFacts) -> str:
    """Returns the key of a recording in an environment.

    Args:
        row: the recording.
        facts: of its environment.
    """
    request = {name: value for name, value in asdict(row.request).items() if name not in _IRRELEVANT}
    content = {
        "labels": (row.model, row.options, row.environment.name),
        "request": request,
        "models": [model_digest(spec, row.paths) for spec in (row.request.model, row.request.float_model) if spec],
        "inputs": [file_digest(Path(text.partition("@")[2])) for text in row.request.inputs if "@" in text],
        "environment": asdict(facts),
        "schema": SCHEMA_VERSION,
    }
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def model_digest(spec: str, paths: Sequence[str]) -> str:
    """Returns a hash of the file that a MODEL stands for: itself, or the module of a factory; empty if there is none.

    Args:
        spec: the MODEL.
        paths: folders to look for modules in, before the working directory and `sys.path`.
    """
    path = Path(spec)
    if path.is_file():
        return file_digest(path)
    module, colon, _ = spec.partition(":")
    if not colon or module == "example":
        return ""
    parts = module.split(".")
    for folder in (*paths, ".", *sys.path):
        base = Path(folder, *parts)
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return file_digest(file)
    return ""


def file_digest(path: Path) -> str:
    """Returns the SHA-256 of a file, empty if it cannot be read."""
    found = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                found.update(chunk)
    except OSError:
        return ""
    return found.hexdigest()
