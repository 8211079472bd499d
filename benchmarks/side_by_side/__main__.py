"""Runs the comparison and prints its tables: see the package."""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from benchmarks.side_by_side.viewers import VIEWERS

NAMES = ("resnet50", "encoder12", "encoder48", "encoder200", "recurrent")
PACKAGES = ("netron", "ai-edge-model-explorer")
LIMIT_S = 240.0
_STILL = 0.05
"""Goal: most of the view that a box moves by from pass to pass."""

Visit = dict[str, Any]


def main() -> None:
    """Visits each model with each viewer, round by round, and prints the medians."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.side_by_side", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", type=Path, help="folder with models of an earlier run")
    parser.add_argument("--environment", type=Path, help=f"virtual environment with {' and '.join(PACKAGES)}")
    parser.add_argument("--only", nargs="+", default=NAMES, metavar="MODEL", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="s for one visit (default: %(default).0f)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        programs = (options.environment or _environment(Path(scratch))) / "bin"
        folder = options.models or _models(Path(scratch), options.only)
        for model in options.only:
            if (folder / f"{model}.fztrace").is_file():
                compare(model, folder, programs, options.rounds, options.limit)


def compare(model: str, folder: Path, programs: Path, rounds: int, limit_s: float) -> None:
    """Prints the table of one model."""
    visits: dict[str, list[Visit]] = {name: [] for name in VIEWERS}
    for _ in range(rounds):
        for name in VIEWERS:
            visits[name].append(visit(name, model, folder, programs, limit_s))
    print(f"{model}\n  {'':<16}{'first picture':>15}{'everything open':>17}{'pan':>16}{'zoom':>16}{'memory':>9}  boxes")
    for name, all_ in visits.items():
        print(f"  {name:<16}{row(all_, limit_s)}")
    for name, all_ in visits.items():
        print_quality(name, all_[-1].get("quality"))
    sys.stdout.flush()


def visit(name: str, model: str, folder: Path, programs: Path, limit_s: float) -> Visit:
    """Makes one visit in a process of its own; returns what it had measured when it ended or was ended."""
    words = [sys.executable, "-m", "benchmarks.side_by_side.visit", name, model, str(folder), str(programs)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            told, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with its browser and its server
            told, _ = process.communicate()
    lines = [line for line in told.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {}


def row(visits: list[Visit], limit_s: float) -> str:
    """Formats the medians of one viewer; a figure that no visit reached is longer than the limit."""
    late = f"> {limit_s:.0f} s"
    first = _median(visits, "first_ms")
    opened = _median(visits, "open_ms")
    memory = _median(visits, "memory_mb")
    boxes = _median(visits, "boxes")
    return (
        f"{late if first is None else f'{first / 1e3:.2f} s':>15}"
        f"{late if opened is None or first is None else f'{(first + opened) / 1e3:.2f} s':>17}"
        f"{_frames(visits, 'pan'):>16}{_frames(visits, 'zoom'):>16}"
        f"{'' if memory is None else f'{memory:.0f} MB':>9}  {'' if boxes is None else f'{boxes:,.0f}'}"
    )


def print_quality(name: str, quality: dict[str, Any] | None) -> None:
    """Prints the quality of one layout, if the page tells it."""
    if quality is None:
        return
    crossings = "too many lines to count" if quality["crossings"] is None else f"{quality['crossings']:,} crossings"
    width, height = quality["size_px"]
    print(
        f"    {name}'s layout: {quality['edges']:,} lines, {crossings}, {quality['length_px']:.0f} px long on average, "
        f"{quality['overlaps']} labels over others, {width:,.0f} × {height:,.0f} px"
    )
    moves = [move for move in quality.get("moves", ()) if not move[2]]
    if moves:
        still = sum(move[1] <= _STILL for move in moves)
        print(
            f"      boxes in sight that a pass leaves stay within {100 * _STILL:.0f}% of the view in {still} of "
            f"{len(moves)} passes"
        )


def _median(visits: list[Visit], name: str) -> float | None:
    values = [one[name] for one in visits if name in one]
    return statistics.median(values) if values else None


def _frames(visits: list[Visit], kind: str) -> str:
    found = [one[kind] for one in visits if kind in one]
    if not found:
        return ""
    fps, p95 = (statistics.median(one[name] for one in found) for name in ("fps", "p95_ms"))
    return f"{fps:.0f}/s ({p95:.0f} ms)"


def _environment(folder: Path) -> Path:
    venv.create(folder / "environment", with_pip=True)
    subprocess.run([folder / "environment/bin/pip", "install", "--quiet", *PACKAGES], check=True)
    return folder / "environment"


def _models(folder: Path, names: list[str]) -> Path:
    subprocess.run([sys.executable, "-m", "benchmarks.side_by_side.models", str(folder), *names], check=True)
    return folder


if __name__ == "__main__":
    main()
