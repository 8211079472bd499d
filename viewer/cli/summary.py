"""``freezer-ui summary``."""

from __future__ import annotations

import argparse
from typing import ClassVar

import freeze_engine as fe
from viewer.cli.terminal import say
from viewer.cli.trace_file import load_trace


class SummaryCommand:
    """Print the verdict of a trace, or what changed between two.

    Prints one sentence of proven facts (weights and buffers frozen, time per call, error against eager, what stays and
    why, and what is not known), at most three actions that would help, each with its evidence, fix and gain, and the
    passes that mattered. With TRACE2 it prints first what changed from TRACE to TRACE2. Does not import torch.

    Exits with 0, whatever the verdict is: use freezer-ui check or diff to fail a build.
    """

    name: ClassVar[str] = "summary"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("trace", metavar="TRACE", help="the trace file")
        add("other", metavar="TRACE2", nargs="?", help="a later trace, to see what changed")
        add("--markdown", action="store_true", help="print Markdown, for the comment of a pull request")

    def run(self, arguments: argparse.Namespace) -> int:
        """Prints the summary."""
        first = load_trace(arguments.trace)
        second = load_trace(arguments.other) if arguments.other is not None else None
        say(_text(first, second, arguments.markdown))
        return 0


def _text(first: fe.Trace, second: fe.Trace | None, is_markdown: bool) -> str:
    if is_markdown:
        from viewer.text.markdown import comparison_markdown, summary_markdown

        return summary_markdown(first) if second is None else comparison_markdown(first, second)
    from viewer.text.summary import comparison_text, summary_text

    return summary_text(first) if second is None else comparison_text(first, second)
