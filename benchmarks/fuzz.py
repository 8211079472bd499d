"""Feeds altered trace files to all readers of traces: each must be refused as documented, or shown without an error.

Run from the project's root: ``python -m benchmarks.fuzz [N] [--seed S] [--first F] [--everything] [--again NAME]``. It
prints each failure with the name of its input; ``--again NAME`` repeats that one. ``tests/corpus/kept.txt`` keeps the
inputs of fixed failures, which the tests try again. The program prints intermediate figures every 1,000 inputs and
after Ctrl-C.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.fuzzing.trying import input_name, outcome_of

INPUTS = 100_000
_SHOWN = 25
_TOLD_EVERY = 1000
_SLOW_S = 10.0


def main(words: list[str] | None = None) -> int:
    """Tries the inputs, prints the failures, and returns 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("count", nargs="?", type=int, default=INPUTS, metavar="N", help="how many inputs")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="what chooses the inputs (default: 0)")
    parser.add_argument("--first", type=int, default=0, metavar="F", help="number of the first one, to go on from")
    parser.add_argument("--everything", action="store_true", help="give each input to the costly readers, too")
    parser.add_argument("--again", metavar="NAME", help="repeat one input, with every reader")
    arguments = parser.parse_args(words)
    if arguments.again:
        outcome = outcome_of(arguments.again, thorough=True)
        print(outcome.failure or f"nothing found; it {'loads' if outcome.loaded else 'is refused'}")
        return int(outcome.failure is not None)
    numbers = range(arguments.first, arguments.first + arguments.count)
    tally = _Tally(f"seed {arguments.seed}, from {arguments.first:,}")
    try:
        for number in numbers:
            tally.try_one(input_name(arguments.seed, number), arguments.everything)
            if tally.tried % _TOLD_EVERY == 0:
                print(tally.text(), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(tally.text())
    return int(bool(tally.found))


@dataclass(slots=True)
class _Tally:
    """Counts of inputs and failures.

    Attributes:
        inputs: the range of inputs in words.
        found: number of failures by the last lines of the traceback.
    """

    inputs: str
    tried: int = 0
    loaded: int = 0
    found: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")

    def try_one(self, name: str, thorough: bool) -> None:
        """Tries an input, and prints its failure, once for each place."""
        begun_s = time.process_time()
        outcome = outcome_of(name, thorough=thorough)
        taken_s = time.process_time() - begun_s
        self.tried += 1
        self.loaded += outcome.loaded
        self.slowest = max(self.slowest, (taken_s, name))
        failure = outcome.failure or (f"more than {_SLOW_S:g} s of CPU\n{name}" if taken_s > _SLOW_S else None)
        if failure is None:
            return
        where = "\n".join(failure.strip().splitlines()[-3:])
        if not self.found[where] and len(self.found) <= _SHOWN:
            print(f"{failure}\nrepeat it: python -m benchmarks.fuzz --again {name}\n", flush=True)
        self.found[where] += 1

    def text(self) -> str:
        """Returns the figures."""
        peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        slowest_s, slowest = self.slowest
        return (
            f"{self.tried:,} inputs ({self.inputs}): {self.loaded:,} load, the rest is refused; "
            f"{self.found.total():,} failures at {len(self.found)} places; slowest {slowest_s:.1f} s ({slowest}); "
            f"peak {peak_bytes / 1e6:,.0f} MB"
        )


if __name__ == "__main__":
    sys.exit(main())
