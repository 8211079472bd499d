"""Gives altered trace files to everything that reads a trace: each is refused as documented, or shown without an error.

Run from the project's root: ``python -m benchmarks.fuzz [N] [--seed S] [--first F] [--again NAME]``. A failure is
printed with the name of its input; ``--again NAME`` repeats that one. What is found and mended is kept in
``tests/corpus/kept.txt``, which the tests try again.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter

from tests.fuzzing.trying import input_name, outcome_of

INPUTS = 100_000
_SHOWN = 25
_SLOW_S = 10.0


def main(words: list[str] | None = None) -> int:
    """Tries the inputs, prints what was found, and returns 1 where anything was."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("count", nargs="?", type=int, default=INPUTS, metavar="N", help="how many inputs")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="what chooses the inputs (default: 0)")
    parser.add_argument("--first", type=int, default=0, metavar="F", help="number of the first one, to go on from")
    parser.add_argument("--again", metavar="NAME", help="repeat one input, with every reader")
    arguments = parser.parse_args(words)
    if arguments.again:
        outcome = outcome_of(arguments.again, thorough=True)
        print(outcome.failure or f"nothing found; it {'loads' if outcome.loaded else 'is refused'}")
        return int(outcome.failure is not None)
    return _run(range(arguments.first, arguments.first + arguments.count), arguments.seed)


def _run(numbers: range, seed: int) -> int:
    found: Counter[str] = Counter()
    loaded = 0
    slowest_s, slowest = 0.0, ""
    for number in numbers:
        name = input_name(seed, number)
        begun_s = time.process_time()
        outcome = outcome_of(name)
        taken_s = time.process_time() - begun_s
        if taken_s > slowest_s:
            slowest_s, slowest = taken_s, name
        loaded += outcome.loaded
        failure = outcome.failure or (f"more than {_SLOW_S:g} s of CPU\n{name}" if taken_s > _SLOW_S else None)
        if failure is None:
            continue
        where = "\n".join(failure.strip().splitlines()[-3:])
        if not found[where] and len(found) < _SHOWN:
            print(f"{failure}\nrepeat it: python -m benchmarks.fuzz --again {name}\n", flush=True)
        found[where] += 1
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(
        f"{len(numbers):,} inputs from seed {seed} (first {numbers.start:,}): {loaded:,} load, the rest is refused; "
        f"{sum(found.values()):,} failures at {len(found)} places; slowest {slowest_s:.1f} s ({slowest}); "
        f"peak {peak_bytes / 1e6:,.0f} MB"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
