"""Measures the size of a report: its fixed part, and the part of a 10,000-node trace of 30 passes.

Run from the project's root: ``python -m benchmarks.report``.
"""

from __future__ import annotations

from tests.builders import empty_trace, synthetic_trace
from viewer.report import render_report

GOAL_MB = 3


def main() -> None:
    """Prints one line."""
    fixed = len(render_report(empty_trace()).encode())
    large = len(render_report(synthetic_trace(10_000, 30)).encode())
    print(f"report (goal: fixed part at most {GOAL_MB} MB)")
    print(f"  fixed part {fixed / 1e6:.2f} MB   10,000 nodes × 30 passes add {(large - fixed) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
