"""Places in the user's source."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freeze_engine.trace import SourceRef


def source_row(source: SourceRef | None) -> dict[str, str | int] | None:
    """Returns a place in the user's source as the views read it."""
    if source is None:
        return None
    return {"file": source.file, "line": source.line, "column": source.column}
