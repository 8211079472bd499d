"""The parts of ``freezer-ui check`` for sweeps and for CI."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import freeze_engine as fe
from freeze_engine import process, sweep
from viewer.cli.command import CHECK_FAILED, FINE, CommandError
from viewer.cli.terminal import say, say_commands, say_json
from viewer.text.check_outputs import CheckedSubject, check_markdown, check_text, github_annotations, junit_xml

#: The file that GitHub Actions shows as the summary of a job.
_SUMMARY_VARIABLE: Final = "GITHUB_STEP_SUMMARY"


def check_folder(arguments: argparse.Namespace, expected: fe.Expectations) -> int:
    """Checks the sweep in a folder, and returns the exit code.

    Args:
        arguments: the parsed arguments.
        expected: of each recording.
    """
    found = sweep.read_sweep(Path(arguments.trace))
    baseline = None if arguments.baseline is None else sweep.read_sweep(Path(arguments.baseline))
    if baseline is None and arguments.expect is not None:
        raise CommandError("--expect says what must not be worse than in another sweep: name it with --baseline")
    checked = sweep.check_sweep(found, expected, baseline, arguments.expect or sweep.CHANGES)
    subjects = tuple(_subject(each) for each in checked)
    if arguments.json:
        say_json(json.dumps(_sweep_document(found, subjects), ensure_ascii=False, indent=2))
    else:
        say(check_text(subjects))
    return finish(arguments, subjects, found.name)


def _subject(checked: sweep.CheckedRow) -> CheckedSubject:
    row = checked.row
    variant = " · ".join(filter(None, (row.options, row.backend, row.environment)))
    return CheckedSubject(row.model, variant, checked.findings, row.time_s, checked.failed_before)


def finish(arguments: argparse.Namespace, subjects: Sequence[CheckedSubject], name: str) -> int:
    """Writes the outputs for CI, and returns the exit code.

    Args:
        arguments: the parsed arguments.
        subjects: the recordings with their findings.
        name: of the trace or the sweep.
    """
    title = f"Freezing {name}"
    files = {
        arguments.junit: junit_xml(subjects, title) if arguments.junit else b"",
        arguments.markdown: check_markdown(subjects, title).encode() if arguments.markdown else b"",
    }
    process.write_files({path: data for path, data in files.items() if path is not None})
    if arguments.github:
        say_commands(github_annotations(subjects))
        summary = os.environ.get(_SUMMARY_VARIABLE)
        if summary:
            with Path(summary).open("a", encoding="utf-8") as stream:
                stream.write(check_markdown(subjects, title))
    return CHECK_FAILED if any(subject.failures for subject in subjects) else FINE


def _sweep_document(found: sweep.Sweep, subjects: Sequence[CheckedSubject]) -> dict[str, Any]:
    recordings = [
        {
            "recording": subject.label,
            "ok": not subject.failures,
            "failed_before": subject.failed_before,
            "findings": [asdict(each) for each in subject.findings],
        }
        for subject in subjects
    ]
    return {"sweep": found.name, "ok": not any(subject.failures for subject in subjects), "recordings": recordings}
