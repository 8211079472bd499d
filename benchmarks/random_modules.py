"""Records random modules and verifies each recording with torch: ``python -m benchmarks.random_modules [COUNT]``.

The oracle (`tests/random_modules/oracle.py`) changes a module's source and values, freezes it again with torch alone,
and checks the trace's claims. With ``--backend inductor`` the modules are compiled with freezing, and their values are
changed in place afterwards (`tests/random_modules/inductor_oracle.py`). Exits with 1 if any claim is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from freeze_engine.errors import InvalidTraceError
from tests.random_modules.inductor_source import program
from tests.random_modules.oracle import Examined, examine
from tests.random_modules.source import Program, Writer

_CHUNK = 25
_COUNTS = {"torchscript": 2_000, "inductor": 100}
_PROGRAMS: dict[str, Callable[[int], Program]] = {
    "torchscript": lambda seed: Writer(seed).program(),
    "inductor": program,
}


def main() -> int:
    """Prints counts of the recordings, and every problem with its seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "count", nargs="?", type=int, help="how many modules (default: 2000, and 100 with --backend inductor)"
    )
    parser.add_argument("--backend", choices=_PROGRAMS, default="torchscript", help="(default: torchscript)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first module (default: 0)")
    parser.add_argument("--show", action="store_true", help="print the source of the first module, and record nothing")
    arguments = parser.parse_args()
    if arguments.show:
        print(_PROGRAMS[arguments.backend](arguments.seed).source)
        return 0
    count = arguments.count or _COUNTS[arguments.backend]
    started_s = time.monotonic()
    totals, is_sound = Counter[str](), True
    seeds = range(arguments.seed, arguments.seed + count)
    for first in range(0, len(seeds), _CHUNK):
        chunk = seeds[first : first + _CHUNK]
        for seed, examined in zip(chunk, _examined(chunk, arguments.backend), strict=True):
            totals.update(_counted(examined))
            for problem in examined.problems:
                is_sound = False
                print(f"seed {seed}: {problem}")
    print(f"{len(seeds)} modules from seed {arguments.seed} on, {time.monotonic() - started_s:.0f} s")
    print("\n".join(f"  {count:7,} {what}" for what, count in sorted(totals.items())))
    if not is_sound:
        print(f"to see a module: python -m benchmarks.random_modules --backend {arguments.backend} --show --seed SEED")
    return 0 if is_sound else 1


def _examined(seeds: range, backend: str) -> list[Examined]:
    """Examines some modules in a child process; if it dies, each in one of its own."""
    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(_chunk, seeds, backend).result()
        except BrokenProcessPool:
            if len(seeds) == 1:
                return [Examined(("the process that recorded it died",))]
    return [examined for seed in seeds for examined in _examined(range(seed, seed + 1), backend)]


def _chunk(seeds: range, backend: str) -> list[Examined]:
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        if backend == "inductor":
            from tests.random_modules.inductor_oracle import examine_compile

            return [examine_compile(program(seed), Path(folder), again=True) for seed in seeds]
        return [_examined_here(seed, Path(folder)) for seed in seeds]


def _examined_here(seed: int, folder: Path) -> Examined:
    try:
        return examine(Writer(seed).program(), folder)
    except InvalidTraceError as error:
        return Examined((str(error),))


def _counted(examined: Examined) -> Counter[str]:
    if examined.refused:
        return Counter({"modules that torch does not freeze": 1})
    fates = examined.trace.attributes if examined.trace else ()
    return Counter({f"attributes {fate.fate}": 0 for fate in fates}) + Counter(
        f"attributes {fate.fate}" + (f": {fate.reason}" if fate.reason else "") for fate in fates
    )


if __name__ == "__main__":
    sys.exit(main())
