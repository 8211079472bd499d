"""The page of a sweep: its data, and one HTML file with all of it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from freeze_engine import sweep
from viewer.assets import read_asset
from viewer.report import packed_page, write_page
from viewer.text.sweep_diff import BETTER_TITLES, TITLES
from viewer.text.sweep_summary import sweep_sentences

_NOT_FINITE: Final = 1.7e308
"""Stands for NaN and infinity, which JSON lacks: the largest number when sorted. `frontend/sweep/model.js` knows it."""

_STYLES: Final = ("viewer/viewer.css", "sweep/sweep.css")


def sweep_data(found: sweep.Sweep, before: sweep.Sweep | None = None, folder: Path | None = None) -> dict[str, Any]:
    """Returns the data of a sweep's page.

    Args:
        found: the sweep.
        before: an earlier one to compare it with.
        folder: the paths of the traces begin with it; by default the sweep's own.
    """
    start = found.folder if folder is None else folder
    diff = None if before is None else _diff(before, found, start)
    return {
        "name": found.name if before is None else f"{before.name} → {found.name}",
        "rows": [_row(row, start) for row in found.rows],
        "sentences": list(sweep_sentences(found.rows)),
        "waiting": len(found.waiting),
        "running": found.is_running,
        "diff": diff,
    }


def render_sweep(found: sweep.Sweep, before: sweep.Sweep | None = None, folder: Path | None = None) -> str:
    """Renders the page of a sweep as one HTML file, which needs no network.

    Args:
        found: the sweep.
        before: an earlier one to compare it with.
        folder: as of `sweep_data`.
    """
    data = sweep_data(found, before, folder)
    style = "\n".join(map(read_asset, _STYLES))
    program, start = read_asset("bundles/sweep.js"), read_asset("bundles/sweep_start.js")
    return packed_page(f"{data['name']} – freezing of many models", data, program, style, start)


def write_sweep(found: sweep.Sweep, path: str | os.PathLike[str], before: sweep.Sweep | None = None) -> None:
    """Writes the page of a sweep, whole or not at all. Its links to the traces are relative to the page.

    Args:
        found: the sweep.
        path: the file.
        before: an earlier sweep to compare it with.

    Raises:
        FreezerError: the folder is missing or cannot be written.
    """
    target = Path(path)
    folder = Path(os.path.relpath(found.folder.absolute(), target.absolute().parent))
    write_page(lambda: render_sweep(found, before, folder), target)


def _row(row: sweep.SweepRow, folder: Path) -> dict[str, Any]:
    values = asdict(row) | {"trace": str(folder / row.trace) if row.trace else ""}
    return {name: _json(value) for name, value in values.items()}


def _json(value: Any) -> Any:
    return _NOT_FINITE if isinstance(value, float) and not math.isfinite(value) else value


def _diff(before: sweep.Sweep, found: sweep.Sweep, folder: Path) -> dict[str, Any]:
    diff = sweep.diff_sweeps(before.rows, found.rows)
    return {
        "before": before.name,
        "after": found.name,
        "worse": _changes(diff.worse, TITLES, folder),
        "better": _changes(diff.better, BETTER_TITLES, folder),
        "gone": [row.label for row in diff.gone],
        "new": [row.label for row in diff.new],
    }


def _changes(changes: Sequence[sweep.SweepChange], titles: dict[str, str], folder: Path) -> list[dict[str, Any]]:
    return [
        {
            "title": titles[change.kind],
            "label": change.after.label,
            "message": change.message,
            "row": _row(change.after, folder),
        }
        for change in changes
    ]
