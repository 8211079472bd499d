"""Checks the progress reports of real recordings."""

from __future__ import annotations

from collections.abc import Sequence

from freeze_engine.worker import RecordRequest
from freeze_engine.worker.phases import Course, phase_of, planned


def check_phases(reports: Sequence[tuple[str, int, int]], request: RecordRequest) -> None:
    """Asserts that the reports go through the planned phases in order, each message in one of them.

    Args:
        reports: of `freeze_engine.record`: message, units done, units in all; without loading and saving.
        request: of the same recording.
    """
    course, shares, phases = Course(planned(request)), [], []
    for message, done, total in reports:
        assert phase_of(message)[0] is not None, message
        course = course.advanced(message, done, total)
        shares.append(course.done)
        phases.append(course.phase)
    assert shares == sorted(shares)
    assert tuple(dict.fromkeys(phases)) == planned(request)[1:-1]
