"""``freezer-ui check``."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final, get_args

import freeze_engine as fe
from freeze_engine import analysis, requests, sweep
from viewer.cli.command import CommandError, output_file
from viewer.cli.terminal import say, say_json
from viewer.cli.trace_file import load_trace
from viewer.text.printable import printable

_BYTES: Final = re.compile(r"(\d{1,15})([KMGT]?)(iB)?")
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class CheckCommand:
    """Compare a trace, or each recording of a sweep, with expectations, for CI.

    The answer to each expectation is ok, failed, or cannot tell, with its evidence and the remedy. An expectation about
    something that was not measured or recorded fails. The command exits with 0 if all answers are ok, and with 1
    otherwise. It always expects that the freeze completed. Does not import torch.

    KIND is a kind of fold as freezer-ui shows it: conv_bn for at least one, conv_bn=20 for exactly 20, conv_bn:all for
    at least one and no near miss. In a GLOB, * stands for anything, dots included.

    Of the folder of a sweep, each recording is checked: it must have come to its end, meet all expectations, and with
    --baseline be no worse than in that earlier sweep. What failed there, too, does not count as a failure.
    """

    name: ClassVar[str] = "check"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        # Not required by argparse, whose error would not explain the cause: --no-preserved takes all that follows.
        add("trace", nargs="?", metavar="TRACE | SWEEP", help="the trace file, or the folder of a sweep")
        add("--max-error", type=float, metavar="X", help="largest absolute error of an output")
        add("--within-tolerance", action="store_true", help="outputs within torch.testing.assert_close's defaults")
        add("--reference", choices=("eager", "float64"), default="eager", help="reference of the errors (%(default)s)")
        add("--expect-folded", action="append", default=[], metavar="KIND", help="a fold that must have happened")
        add(
            "--no-preserved",
            action="append",
            nargs="*",
            metavar="GLOB",
            help="attributes that must not be preserved (default: all except the requested ones)",
        )
        add("--expect-preserved", action="append", default=[], metavar="GLOB", help="attributes that must be preserved")
        add("--max-latency-ratio", type=float, metavar="X", help="largest time relative to the first step's")
        add("--no-slower", action="store_true", help="not measurably slower than the first step")
        add("--max-constant-bytes", type=_byte_count, metavar="N", help="bytes of constants at the end (98M, 1G)")
        add("--saves", action="store_true", help="the frozen module saves and reloads, with the same outputs")
        add("--no-failed-checks", action="store_true", help="the checks of record --check have passed")
        add("--stays-quantised", action="store_true", help="freezing converts no quantised weight to floating point")
        add("--no-notices", action="append", default=[], metavar="CODE", help="notices that must not be there")
        sweeps = parser.add_argument_group("of a SWEEP").add_argument
        sweeps("--baseline", metavar="SWEEP", help="an earlier sweep, which this one must not be worse than")
        sweeps(
            "--expect",
            type=_changes,
            metavar="WHAT,…",
            help=f"what must not be worse than in the baseline: {', '.join(get_args(sweep.ChangeKind))} (default: all)",
        )
        outputs = parser.add_argument_group("output").add_argument
        outputs("--json", action="store_true", help="print the findings as JSON")
        outputs("--junit", type=output_file, metavar="FILE", help="write the findings as JUnit XML, too")
        outputs("--markdown", type=output_file, metavar="FILE", help="write a summary as Markdown, too")
        outputs(
            "--github",
            action="store_true",
            help="print annotations for GitHub Actions, and add the summary to that of the job",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Prints one finding per expectation."""
        if arguments.trace is None:
            raise CommandError("TRACE is missing: name it first, for --no-preserved takes what follows it as patterns")
        expected = _expectations(arguments)
        from viewer.cli.check_sweep import check_folder, finish
        from viewer.text.check_outputs import CheckedSubject

        if Path(arguments.trace).is_dir():
            return check_folder(arguments, expected)
        if arguments.baseline is not None or arguments.expect is not None:
            raise CommandError(f"--baseline and --expect are for a sweep, and {arguments.trace} is not a folder of one")
        if expected.empty:
            raise CommandError("nothing is expected: say what, such as --no-preserved (freezer-ui check --help)")
        trace = load_trace(arguments.trace)
        findings = expected.evaluate(trace)
        if arguments.json:
            say_json(json.dumps(_document(trace, findings), ensure_ascii=False, indent=2))
        else:
            say("".join(f"{printable(line)}\n" for line in analysis.findings_text(findings)))
        name = trace.name or "the model"
        return finish(arguments, (CheckedSubject(name, trace.backend, findings),), name)


def _expectations(arguments: argparse.Namespace) -> fe.Expectations:
    globs = arguments.no_preserved
    return fe.Expectations(
        max_error=arguments.max_error,
        within_tolerance=arguments.within_tolerance,
        reference=arguments.reference,
        expect_folded=tuple(arguments.expect_folded),
        no_preserved=None if globs is None else tuple(glob for given in globs for glob in given),
        expect_preserved=tuple(arguments.expect_preserved),
        max_latency_ratio=arguments.max_latency_ratio,
        no_slower=arguments.no_slower,
        max_constant_bytes=arguments.max_constant_bytes,
        saves=arguments.saves,
        no_failed_checks=arguments.no_failed_checks,
        stays_quantised=arguments.stays_quantised,
        no_notices=tuple(arguments.no_notices),
    )


def _changes(text: str) -> tuple[sweep.ChangeKind, ...]:
    known = {str(kind): kind for kind in get_args(sweep.ChangeKind)}
    names = text.split(",")
    for name in names:
        if name not in known:
            meant = requests.did_you_mean(name, known)
            raise argparse.ArgumentTypeError(f"{name!r} is nothing to compare.{meant} There are {', '.join(known)}")
    return tuple(known[name] for name in names)


def _document(trace: fe.Trace, findings: tuple[fe.Finding, ...]) -> dict[str, Any]:
    return {
        "trace": trace.name,
        "backend": trace.backend,
        "ok": all(finding.outcome == "ok" for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }


def _byte_count(text: str) -> int:
    match = _BYTES.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text} is not a number of bytes; give one such as 500000, 98M or 1G")
    return int(match[1]) * _UNITS[match[2]]
