"""Measures the time of ``freezer-ui --help`` against an empty Python process.

Run from the project's root: ``python -m benchmarks.command_line``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15
GOAL_S = 0.3


def _timed_s(*words: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    """Prints one line."""
    helped_s, empty_s = [], []
    for _ in range(ROUNDS):
        helped_s.append(_timed_s("-m", "viewer.cli", "--help"))
        empty_s.append(_timed_s("-c", ""))
    ratio = statistics.median(one / other for one, other in zip(helped_s, empty_s, strict=True))
    print(f"first answer of freezer-ui --help (goal: {GOAL_S} s)")
    print(f"  {statistics.median(helped_s):.2f} s, {ratio:.1f} × an empty Python")


if __name__ == "__main__":
    main()
