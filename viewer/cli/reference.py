"""Generates the reference of the command line from the parsers' help.

``python -m viewer.cli.reference > docs/cli.md`` updates ``docs/cli.md``.
"""

from __future__ import annotations

import argparse
import functools

from viewer.cli.command_line import COMMANDS, build_parser
from viewer.cli.terminal import say

_INTRODUCTION = """\
# The command line

This page is generated from the program's own help by `python -m viewer.cli.reference > docs/cli.md`.
"""


def reference() -> str:
    """Returns the page as Markdown, independent of the terminal."""
    formatter = functools.partial(argparse.RawDescriptionHelpFormatter, width=100)
    parsers = [build_parser(formatter_class=formatter)]
    parsers += [build_parser(command, formatter_class=formatter) for command in COMMANDS]
    return "\n".join([_INTRODUCTION, *(_section(parser) for parser in parsers)])


def _section(parser: argparse.ArgumentParser) -> str:
    return f"## {parser.prog}\n\n```text\n{parser.format_help().rstrip()}\n```\n"


if __name__ == "__main__":
    say(reference())
