"""Prints the first figures of docs/benchmarks.md, in one run: ``python -m benchmarks``."""

from __future__ import annotations

import platform

import torch

from benchmarks import capture, command_line, dashboard, memory, report, trace_file
from freeze_engine.backends.common.environment import environment


def main() -> None:
    """Runs the benchmarks one after another."""
    here = environment()
    print(f"torch {torch.__version__}, Python {platform.python_version()}, {here.cpu}, {here.threads} threads")
    for benchmark in (capture.main, memory.main, trace_file.main, report.main, command_line.main, dashboard.main):
        print()
        benchmark()


if __name__ == "__main__":
    main()
