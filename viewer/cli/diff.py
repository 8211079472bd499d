"""``freezer-ui diff``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import ClassVar, get_args

import freeze_engine as fe
from freeze_engine import requests, sweep
from viewer.cli.command import CHECK_FAILED, FINE, output_file
from viewer.cli.terminal import remark, say, say_json
from viewer.cli.trace_file import load_trace
from viewer.views.comparison.aspects import ASPECTS, Aspect, differing

_COUNTED: tuple[Aspect, ...] = tuple(aspect for aspect in ASPECTS if aspect not in ("environment", "kernels"))


class DiffCommand:
    """Compare two traces or two sweeps: two versions of torch, two commits, two devices.

    Aligns the passes by name, and prints differences only: options, environment, passes, last graphs, fates of the
    attributes and their reasons, folds, latency, generated kernels, error, checks, failures. Does not import torch.

    Exits with 0 if nothing differs and with 1 if something does, for CI. A latency differs only if the intervals are
    apart, and also the ratios to the first step of the own run: the traces are of two runs, and the machine may have
    been slower in one. The error differs if one freeze is within torch's tolerances and the other is not. The
    environment and generated kernels count only with --only.

    Of two folders of sweeps, it lists what became worse, what hurts most first: a freeze that fails now, an error past
    tolerance, an attribute that is not frozen any more, new graph breaks, slower by more than noise, a check that
    fails, more bytes, near misses and notices; then what became better. It exits with 1 if something became worse.
    """

    name: ClassVar[str] = "diff"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("a", metavar="A", help="a trace file, or the folder of a sweep")
        add("b", metavar="B", help="another one")
        add("--all", action="store_true", help="list all passes and attributes")
        add(
            "--only",
            type=_aspects,
            default=_COUNTED,
            metavar="WHAT,…",
            help=f"what counts for the exit code: {', '.join(get_args(Aspect))} (default: not environment, kernels)",
        )
        add("--json", action="store_true", help="print the difference as JSON")
        add("--html", type=output_file, metavar="FILE", help="write a page with both, too")

    def run(self, arguments: argparse.Namespace) -> int:
        """Prints the differences."""
        if Path(arguments.a).is_dir() or Path(arguments.b).is_dir():
            return _diff_sweeps(arguments)
        first, second = load_trace(arguments.a), load_trace(arguments.b)
        diff = fe.diff_traces(first, second)
        if arguments.json:
            from viewer.text.diff.json_document import diff_document

            document = diff_document(diff, arguments.only)
            say_json(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))
        else:
            from viewer.text.diff.text import diff_text

            say(diff_text(diff, arguments.only, arguments.all))
        if arguments.html is not None:
            from viewer.report import write_comparison

            write_comparison(first, second, arguments.html)
            remark(f"{arguments.html} has both side by side")
        return CHECK_FAILED if set(differing(diff)) & set(arguments.only) else FINE


def _diff_sweeps(arguments: argparse.Namespace) -> int:
    from viewer.text.sweep_diff import sweep_diff_document, sweep_diff_text

    before, after = (sweep.read_sweep(Path(folder)) for folder in (arguments.a, arguments.b))
    diff = sweep.diff_sweeps(before.rows, after.rows)
    if arguments.json:
        say_json(json.dumps(sweep_diff_document(diff), ensure_ascii=False, indent=2))
    else:
        say(sweep_diff_text(diff, is_whole=arguments.all))
    if arguments.html is not None:
        from viewer.sweep_page import write_sweep

        write_sweep(after, arguments.html, before)
        remark(f"{arguments.html} has the table and what changed")
    return CHECK_FAILED if diff.worse else FINE


def _aspects(text: str) -> tuple[Aspect, ...]:
    known: dict[str, Aspect] = {aspect: aspect for aspect in ASPECTS}
    names = text.split(",")
    for name in names:
        if name not in known:
            meant = requests.did_you_mean(name, known)
            raise argparse.ArgumentTypeError(f"{name!r} is nothing to compare.{meant} There are {', '.join(ASPECTS)}")
    return tuple(known[name] for name in names)
