"""Sends signals to recordings, their callers and the dashboard, at each step and at random, and checks what they leave.

Run from the project's root: ``python -m benchmarks.kill_sweep``; it takes about an hour. It prints a table of the
results, and each fault with the name of its case: ``--only NAME`` repeats it. Exit code 1 if there is any fault.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.kill_sweep.circumstances import can_mount, circumstances
from benchmarks.kill_sweep.subjects import SUBJECTS
from benchmarks.kill_sweep.sweep import Outcome, Sweep, at_moments, at_points, table

DEFAULT_SEED = 20


def main() -> int:
    """Runs a sweep, and returns its exit code."""
    parser = argparse.ArgumentParser("python -m benchmarks.kill_sweep", description=__doc__)
    parser.add_argument("--moments", type=int, default=200, help="strikes at random moments (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the moments (default: %(default)s)")
    parser.add_argument("--each", type=int, default=1, help="strikes at each point (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="cases at the same time (default: %(default)s)")
    parser.add_argument("--only", default="", help="the cases whose name begins with this; or 'moments'")
    arguments = parser.parse_args()
    # A shell starts its background jobs with Ctrl-C ignored, and what they start ignores it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="freezer-kill-sweep-") as scratch:
        sweep = Sweep(Path(scratch), _tell)
        cases = _cases(sweep, arguments)
        print(f"{len(cases)} cases, seed {arguments.seed}", flush=True)
        began_s = time.monotonic()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            outcomes = list(pool.map(lambda case: case(), cases))
    faulty = sum(bool(outcome.faults) for outcome in outcomes)
    print(f"\n{table(outcomes)}\n\n{len(outcomes)} cases in {time.monotonic() - began_s:.0f} s, {faulty} with faults")
    return 1 if faulty else 0


def _cases(sweep: Sweep, arguments: argparse.Namespace) -> list[Callable[[], Outcome]]:
    only = arguments.only
    cases: list[Callable[[], Outcome]] = []
    for around in circumstances():
        if f"around/{around.name}".startswith(only) and (can_mount() or not around.mount):
            cases.append(partial(sweep.endure, around))
    strikes = list(at_moments(arguments.moments, arguments.seed))
    for subject in SUBJECTS:
        if only != "moments" and f"{subject}/".startswith(only[: len(subject) + 1]):
            strikes += at_points(subject, len(sweep.reference(subject).points), arguments.each)
    wanted = [strike for strike in strikes if only == "moments" or strike.name.startswith(only)]
    return [*cases, *(partial(sweep.strike, strike) for strike in wanted)]


def _tell(outcome: Outcome) -> None:
    print(f"{'FAULT' if outcome.faults else 'sound'} {outcome.how:<13} {outcome.name}", flush=True)
    for fault in outcome.faults:
        print(f"      {fault}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
