"""The table of a sweep as one Parquet file, for pandas, polars and others; needs the package ``pyarrow``."""

from __future__ import annotations

import importlib.util
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from freeze_engine.errors import FreezerError
from freeze_engine.sweep.row import SweepRow, row_columns

TABLE: Final = "index.parquet"
_VERSION: Final = "1"


def can_write_table() -> bool:
    """Returns whether the table can be written here."""
    return importlib.util.find_spec("pyarrow") is not None


def write_table(folder: Path, rows: Sequence[SweepRow]) -> None:
    """Writes the table of a sweep, whole or not at all.

    Args:
        folder: of the sweep.
        rows: all of them, in their order.

    Raises:
        FreezerError: it cannot be written, as on a full disk.
    """
    import pyarrow
    import pyarrow.parquet

    types = {
        "str": pyarrow.string(),
        "Status": pyarrow.string(),
        "float": pyarrow.float64(),
        "float | None": pyarrow.float64(),
        "int | None": pyarrow.int64(),
        "bool | None": pyarrow.bool_(),
        "tuple[str, ...]": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema(
        [pyarrow.field(name, types[kind], metadata={"description": meaning}) for name, kind, meaning in row_columns()],
        metadata={"format": "freezer-ui sweep", "version": _VERSION},
    )
    listed: list[dict[str, Any]] = [asdict(row) for row in rows]
    table = pyarrow.Table.from_pylist(listed, schema=schema)
    unfinished = folder / f".{secrets.token_hex(8)}.unfinished"
    try:
        pyarrow.parquet.write_table(table, unfinished)
        unfinished.replace(folder / TABLE)
    except OSError as error:
        why = error.strerror or error
        raise FreezerError(
            f"{folder / TABLE}: the table cannot be written: {why}; make room, and run the sweep again"
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)
