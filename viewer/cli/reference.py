"""The reference of the command line, made from the parsers' own help.

``python -m viewer.cli.reference > docs/cli.md`` brings ``docs/cli.md`` up to date.
"""

from __future__ import annotations

import argparse
import functools
import io
from contextlib import redirect_stdout, suppress

from viewer.cli.main import COMMANDS, build_parser
from viewer.cli.terminal import say

_INTRODUCTION = """\
# The command line

This page is generated from the program's own help by `python -m viewer.cli.reference > docs/cli.md`.
"""


def reference() -> str:
    """Returns the page as Markdown, the same whatever the terminal."""
    sections = [_section("freezer-ui", _help("--help"))]
    sections += [_section(f"freezer-ui {command.name}", _help(command.name, "--help")) for command in COMMANDS]
    return "\n".join([_INTRODUCTION, *sections])


def _help(*words: str) -> str:
    parser = build_parser(formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=100))
    with redirect_stdout(io.StringIO()) as output, suppress(SystemExit):
        parser.parse_args(words)
    return output.getvalue()


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    say(reference())
