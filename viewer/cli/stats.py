"""``freezer-ui stats``."""

from __future__ import annotations

import argparse
from typing import ClassVar

import freeze_engine as fe
from viewer.cli.terminal import say


class StatsCommand:
    """Print a trace as text: passes, attributes, findings.

    One table of all passes (nodes added +, removed −, changed ~, time, constants, latency, numeric error), then
    which passes paid off, which moved the numbers, checks of the frozen module, memory, what each pass does on its
    own, the kernels that Inductor generated and where freezing lost time, what became of the attributes and why, folds
    that did not happen, and what else there is to know. Does not import torch.
    """

    name: ClassVar[str] = "stats"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        parser.add_argument("trace", metavar="TRACE", help="the trace file")

    def run(self, arguments: argparse.Namespace) -> int:
        """Prints the statistics."""
        from viewer.text.stats import stats_text

        say(stats_text(fe.load(arguments.trace)))
        return 0
