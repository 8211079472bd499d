"""Places in the user's source."""

from __future__ import annotations

import freeze_engine as fe


def source_row(source: fe.SourceRef | None) -> dict[str, str | int] | None:
    """Returns a place in the user's source as the views read it."""
    if source is None:
        return None
    return {"file": source.file, "line": source.line, "column": source.column}
