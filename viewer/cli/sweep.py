"""``freezer-ui sweep``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from freeze_engine import process, sweep
from viewer.cli.command import FINE, FREEZE_FAILED, output_folder
from viewer.cli.signals import SIGNALS
from viewer.cli.terminal import remark, say

_MOST_JOBS = 256


class SweepCommand:
    """Record many models, with several options, backends and versions of torch.

    FILE is a TOML file that lists models, options, backends and Python environments; docs/sweeps.md describes it. Each
    combination is recorded in a child process. The results are a folder: the traces, and one table of all recordings,
    index.parquet (needs the extra "sweep").

    A recording that has ended is never made again: run the same command after Ctrl-C, a crash, or a change of the file,
    and it makes only what is missing. A recording depends on its request, the model's file, the machine and the
    versions of Python, torch and the packages that FILE names.

    A recording that measures has the machine alone, also among several sweeps; those that do not measure run side by
    side (--jobs). With --scheduler they run on a Dask cluster, where this package has to be installed, too (extra
    "dask").

    Exits with 0 if all recordings are made, and with 3 if some freezes failed.
    """

    name: ClassVar[str] = "sweep"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("file", type=Path, metavar="FILE", help="what to record")
        add(
            "-o",
            "--output",
            type=output_folder,
            metavar="DIR",
            help="the folder of the results (default: the name of FILE, with .sweep)",
        )
        add(
            "--jobs",
            type=_job_count,
            default=1,
            metavar="N",
            help="recordings that run at the same time (default: %(default)s); one that measures still runs alone",
        )
        add(
            "--measure-together",
            action="store_true",
            help="measure while other recordings run on the machine, although they disturb each other's figures",
        )
        add("--scheduler", metavar="ADDRESS", help="record on a Dask cluster: the address of its scheduler")
        add("--retry", action="store_true", help="record again what failed, crashed or exceeded a limit")
        add(
            "--only",
            action="append",
            default=[],
            metavar="GLOB",
            help="make only the recordings with a name like GLOB, such as '*inductor*'; --dry-run lists the names",
        )
        add("--dry-run", action="store_true", help="list the recordings, and make none")

    def run(self, arguments: argparse.Namespace) -> int:
        """Makes the recordings that are missing, and prints the table."""
        plan = sweep.read_plan(arguments.file)
        if arguments.dry_run:
            say("".join(f"{row.label}\n" for row in plan.rows_like(arguments.only)))
            return FINE
        process.require_posix("Making the recordings of a sweep")
        from viewer.cli.sweep_progress import sweep_progress
        from viewer.text.sweep_table import sweep_text

        folder = arguments.output or Path(f"{arguments.file.stem}.sweep")
        options = sweep.SweepOptions(
            arguments.jobs, arguments.measure_together, arguments.scheduler, arguments.retry, tuple(arguments.only)
        )
        with SIGNALS.counted(), sweep_progress() as progress:
            rows = sweep.run_sweep(plan, folder, options, progress, lambda: SIGNALS.count > 0)
        say(sweep_text(rows))
        if not sweep.can_write_table():
            remark(f"{folder} has no table index.parquet: it needs pyarrow (pip install 'freezer-ui[sweep]')")
        if SIGNALS.count:
            remark(f"{len(plan.rows) - len(rows)} of {len(plan.rows)} recordings are missing; the same command goes on")
            raise KeyboardInterrupt
        remark(f"open the table with: freezer-ui {folder}")
        return FINE if all(row.is_recorded for row in rows) else FREEZE_FAILED


def _job_count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) <= _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text} is not a number of recordings; give one from 1 to {_MOST_JOBS}")
    return int(text)
