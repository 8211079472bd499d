"""``freezer-ui stats``."""

from __future__ import annotations

import argparse
from typing import ClassVar

from viewer.cli.terminal import say
from viewer.cli.trace_file import load_trace


class StatsCommand:
    """Print a trace as text: passes, attributes, findings.

    Prints the summary (see freezer-ui summary), then a table of all passes (nodes added +, removed −, changed ~, time,
    constants, latency, numeric error), the passes that made the model faster, the passes that changed its results,
    checks of the frozen module, memory, the contribution of each pass, the kernels that Inductor generated and where
    freezing lost time, the fates of the attributes and their reasons, near misses, and notices. Does not import torch.
    """

    name: ClassVar[str] = "stats"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        parser.add_argument("trace", metavar="TRACE", help="the trace file")

    def run(self, arguments: argparse.Namespace) -> int:
        """Prints the statistics."""
        from viewer.text.stats import stats_text

        say(stats_text(load_trace(arguments.trace)))
        return 0
