"""``freezer-ui report``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import freeze_engine as fe
from viewer.cli.command import output_file
from viewer.cli.terminal import say


class ReportCommand:
    """Write a trace as one HTML file.

    The file opens from disk, without a network. It has the pass list, the graphs before and after each pass, the fates
    of the attributes and their reasons, alias sets, text differences, and charts of latency, error and memory. Does not
    import torch.
    """

    name: ClassVar[str] = "report"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        parser.add_argument("trace", metavar="TRACE", help="the trace file")
        parser.add_argument(
            "-o", "--output", type=output_file, metavar="FILE", help="where to write it (default: TRACE, with .html)"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Writes the report."""
        from viewer.report import write_report

        path = arguments.output or Path(arguments.trace).with_suffix(".html")
        write_report(fe.load(arguments.trace), path)
        say(f"{path}\n")
        return 0
