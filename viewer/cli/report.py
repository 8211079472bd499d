"""``freezer-ui report``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from freeze_engine import sweep
from viewer.cli.card import card_file, write_card
from viewer.cli.command import CommandError, output_file
from viewer.cli.terminal import say
from viewer.cli.trace_file import load_trace


class ReportCommand:
    """Write a trace or a sweep as one HTML file, or a trace as one picture.

    The file opens from disk, without a network. It has the pass list, the graphs before and after each pass, the fates
    of the attributes and their reasons, alias sets, text differences, and charts of latency, error and memory. Does not
    import torch.

    Of the folder of a sweep, the file has the table and the charts; its links to the traces are relative to it.

    --card writes one picture of 1200 x 630 px with the verdict, to share, instead of the report; with -o it writes
    both. Chromium or Chrome has to be installed for a .png, but not for an .svg.
    """

    name: ClassVar[str] = "report"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        parser.add_argument("trace", metavar="TRACE | SWEEP", help="the trace file, or the folder of a sweep")
        parser.add_argument(
            "--card", type=card_file, metavar="FILE", help="write the verdict as a picture, .svg or .png"
        )
        parser.add_argument(
            "-o", "--output", type=output_file, metavar="FILE", help="where to write it (default: TRACE, with .html)"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Writes the report."""
        if Path(arguments.trace).is_dir():
            return _write_sweep(arguments)
        trace = load_trace(arguments.trace)
        if arguments.card is not None:
            write_card(trace, arguments.card)
            say(f"{arguments.card}\n")
        if arguments.card is None or arguments.output is not None:
            from viewer.report import write_report

            path = arguments.output or Path(arguments.trace).with_suffix(".html")
            write_report(trace, path)
            say(f"{path}\n")
        return 0


def _write_sweep(arguments: argparse.Namespace) -> int:
    from viewer.sweep_page import write_sweep

    if arguments.card is not None:
        raise CommandError("--card is for a trace, and this is the folder of a sweep")
    folder = Path(arguments.trace)
    path = arguments.output or folder.resolve().with_suffix(".html")
    write_sweep(sweep.read_sweep(folder), path)
    say(f"{path}\n")
    return 0
