"""The answers to expectations in the forms of CI: JUnit XML, annotations and a summary of GitHub's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text.markdown import markdown_text
from viewer.text.printable import printable

#: GitHub shows ten annotations of a kind for each step; the summary has all.
_MOST_ANNOTATIONS: Final = 10
_MOST_ROWS: Final = 200
#: GitHub's form of what would end a property or the message of an annotation.
_DATA: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY: Final = _DATA | {":": "%3A", ",": "%2C"}


@dataclass(frozen=True, slots=True)
class CheckedSubject:
    """One recording with the answers to its expectations.

    Attributes:
        model: its label.
        variant: what tells it from others of the same model: options, backend, environment.
        findings: one for each expectation.
        time_s: how long it took to record it.
        failed_before: whether the freeze failed, as it did in the baseline: a test that CI skips.
    """

    model: str
    variant: str
    findings: tuple[fe.Finding, ...]
    time_s: float = 0.0
    failed_before: bool = False

    @property
    def label(self) -> str:
        """Model and variant."""
        return " · ".join(filter(None, (self.model, self.variant)))

    @property
    def failures(self) -> tuple[fe.Finding, ...]:
        """Findings that are not ok."""
        return tuple(finding for finding in self.findings if finding.outcome != "ok")


def check_text(subjects: Sequence[CheckedSubject]) -> str:
    """Returns the findings that are not ok as lines, and how many recordings have some."""
    lines: list[str] = []
    for subject in subjects:
        if subject.failures:
            lines.append(subject.label)
            lines += [f"  {line}" for line in analysis.findings_text(subject.failures)]
    return "".join(f"{printable(line)}\n" for line in [*lines, _count(subjects)])


def junit_xml(subjects: Sequence[CheckedSubject], name: str) -> bytes:
    """Returns the findings as JUnit XML: a test case for each recording.

    Args:
        subjects: the recordings.
        name: of the suite.
    """
    suites = ElementTree.Element("testsuites")
    failed = sum(bool(subject.failures) for subject in subjects)
    skipped = sum(subject.failed_before for subject in subjects)
    counts = {"tests": str(len(subjects)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _xml_text(name), **counts})
    for subject in subjects:
        names = {"classname": _xml_text(subject.model), "name": _xml_text(subject.variant or subject.model)}
        case = ElementTree.SubElement(suite, "testcase", {**names, "time": f"{subject.time_s:.3f}"})
        if subject.failures:
            message = "; ".join(finding.expected for finding in subject.failures)
            failure = ElementTree.SubElement(case, "failure", {"message": _xml_text(message), "type": "expectation"})
            failure.text = _xml_text("\n".join(analysis.findings_text(subject.failures)))
        elif subject.failed_before:
            message = "; ".join(finding.message for finding in subject.findings)
            ElementTree.SubElement(case, "skipped", {"message": _xml_text(f"failed in the baseline, too: {message}")})
    ElementTree.indent(suites)
    data: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def github_annotations(subjects: Sequence[CheckedSubject]) -> list[str]:
    """Returns workflow commands of GitHub Actions, without the first ``::``: an error for each recording that fails."""
    lines = []
    for subject in [subject for subject in subjects if subject.failures][:_MOST_ANNOTATIONS]:
        title = _escaped(f"freeze of {subject.label}", _PROPERTY)
        lines.append(f"error title={title}::{_escaped(chr(10).join(_told(subject)), _DATA)}")
    return lines


def check_markdown(subjects: Sequence[CheckedSubject], name: str) -> str:
    """Returns the findings as Markdown: a table of the recordings that fail, and their number.

    Args:
        subjects: the recordings.
        name: the heading.
    """
    failing = [subject for subject in subjects if subject.failures]
    parts = [f"### {markdown_text(name)}", f"**{_count(subjects)}**"]
    if failing:
        rows = [
            f"| {markdown_text(subject.label)} | {'<br>'.join(map(markdown_text, _told(subject)))} |"
            for subject in failing[:_MOST_ROWS]
        ]
        parts.append("\n".join(["| recording | not met |", "|---|---|", *rows]))
    if len(failing) > _MOST_ROWS:
        parts.append(f"and {len(failing) - _MOST_ROWS} more")
    return "\n\n".join(parts) + "\n"


def _told(subject: CheckedSubject) -> Iterator[str]:
    return (f"{finding.outcome}: {finding.expected}. {finding.message}" for finding in subject.failures)


def _count(subjects: Sequence[CheckedSubject]) -> str:
    failing = sum(bool(subject.failures) for subject in subjects)
    known = sum(subject.failed_before for subject in subjects)
    good = len(subjects) - failing - known
    noun = "recording" if len(subjects) == 1 else "recordings"
    told = f"{good} of {len(subjects)} {noun} {'meets' if good == 1 else 'meet'} all expectations"
    return f"{told}; {known} failed to freeze, as in the baseline" if known else told


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in printable(text, "\n"))


def _xml_text(text: str) -> str:
    """Escapes control characters, which XML has no form for."""
    return printable(text, "\n\t")
