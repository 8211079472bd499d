"""Measures the leftovers of a thousand recordings in one process against as many plain freezes and compiles.

torch frees neither the classes nor the code that scripting and freezing create (2.13), so a process that freezes grows,
recorded or not. Plain and recorded freezes of the same model have a process each, and alternate; the recorder's
leftovers after each turn, beyond those of plain torch, must not grow. Run from the project's root:

    python -m benchmarks.recordings                  # 1,000 with TorchScript, 30 compiles with Inductor
    python -m benchmarks.recordings --count 200 --compiles 0

Exit code 1 if Python objects, descriptors, threads, child processes or temporary files grow with the number of
recordings and not with that of plain freezes, or if memory grows by more than a hundredth beyond plain torch's, each
from the end of the first turn on.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

TURNS = 5
WARMED = 20
GROWTH = 0.01
"""Allowed growth of memory beyond plain torch's, as a share of that."""


@dataclass(frozen=True, slots=True)
class Left:
    """Resources of a process between two turns.

    Attributes:
        memory_bytes: resident memory after free pages are returned.
        objects: Python objects that the collector tracks, after a collection.
        descriptors: open file descriptors.
        threads: of the process.
        children: running child processes.
        files: in its folder for temporary files.
    """

    memory_bytes: int
    objects: int
    descriptors: int
    threads: int
    children: int
    files: int

    def since(self, start: Left) -> Left:
        """Returns the difference to an earlier time."""
        return Left(*(getattr(self, each.name) - getattr(start, each.name) for each in fields(self)))


def left() -> Left:
    """Counts the resources of this process."""
    gc.collect()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    own = Path("/proc/self")
    children = sum(len((task / "children").read_text().split()) for task in (own / "task").iterdir())
    return Left(
        memory_bytes=int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        objects=len(gc.get_objects()),
        descriptors=len(list((own / "fd").iterdir())),
        threads=len(list((own / "task").iterdir())),
        children=children,
        files=sum(1 for _ in Path(tempfile.gettempdir()).rglob("*")),
    )


def actions() -> dict[str, Callable[[], object]]:
    """Returns the actions that a process can repeat, by name; imports torch."""
    import torch

    import freeze_engine as fe
    from benchmarks.small_model import SmallModel

    model, inputs = SmallModel().eval(), (torch.randn(1, 3, 8, 8),)

    def freeze() -> object:
        return torch.jit.freeze(torch.jit.script(model))

    def capture() -> object:
        with fe.capture() as captured:
            torch.jit.freeze(torch.jit.script(model))
        return captured.traces

    def compile_() -> object:
        torch._dynamo.reset()
        with torch._inductor.config.patch(freezing=True), torch.no_grad():
            return torch.compile(model)(*inputs)

    def compile_recorded() -> object:
        torch._dynamo.reset()
        return fe.record(model, inputs, backend="inductor", measure=None)

    return {
        "plain freeze": freeze,
        "fe.record": lambda: fe.record(model, inputs, measure=None),
        "fe.capture": capture,
        "plain compile": compile_,
        "fe.record of Inductor": compile_recorded,
    }


def work(name: str) -> None:
    """Runs a worker process: reads a count per line, repeats the action, and prints the resources left as JSON."""
    warnings.simplefilter("ignore")
    act = actions()[name]
    for line in sys.stdin:
        for _ in range(int(line)):
            act()
        print(json.dumps(asdict(left())), flush=True)


class Worker:
    """A process that repeats one action, in turns with other processes.

    Args:
        name: a key of `actions`.
        folder: for its temporary files.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        folder.mkdir()
        places = {"TMPDIR": str(folder), "TORCHINDUCTOR_CACHE_DIR": str(folder.with_name(f"{folder.name}-cache"))}
        single = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.recordings", "--work", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | places | single,
        )

    def do(self, count: int) -> Left:
        """Repeats the action that many times, and returns the resources left."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.name} ended with {self._process.wait()}")
        return Left(**json.loads(line))

    def end(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(names: tuple[str, ...], count: int, warmed: int) -> bool:
    """Prints the resources left by plain torch and by the recorder; returns whether the recorder's stay within torch's.

    Args:
        names: keys of `actions`, plain torch's first.
        count: repetitions of each, without the warm-up.
        warmed: repetitions of the warm-up, so that one-time allocations do not count.
    """
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(name, Path(folder) / str(number)) for number, name in enumerate(names)]
        starts = [worker.do(warmed) for worker in workers]
        grown: list[list[Left]] = []
        for turn in range(1, TURNS + 1):
            grown.append([one.do(count // TURNS).since(start) for one, start in zip(workers, starts, strict=True)])
            _print_turn(turn * (count // TURNS), names, grown[-1])
        for worker in workers:
            worker.end()
    # Allocators settle in the first turn.
    plain, *ours = (late.since(early) for early, late in zip(grown[0], grown[-1], strict=True))
    return all(_within(one, plain) for one in ours)


def _within(ours: Left, plain: Left) -> bool:
    counted = [each.name for each in fields(Left) if each.name != "memory_bytes"]
    same = all(getattr(ours, name) <= max(0, getattr(plain, name)) for name in counted)
    return same and ours.memory_bytes <= (1 + GROWTH) * plain.memory_bytes


def _print_turn(done: int, names: tuple[str, ...], grown: list[Left]) -> None:
    for name, one in zip(names, grown, strict=True):
        ratio = "" if one is grown[0] else f" ({one.memory_bytes / grown[0].memory_bytes:.3f} ×)"
        counts: dict[str, Any] = {k: v for k, v in asdict(one).items() if k != "memory_bytes"}
        told = ", ".join(f"{value:+d} {key}" for key, value in counts.items())
        print(f"  {done:>5} × {name:<22} {one.memory_bytes / 1e6:+8.2f} MB{ratio:<12} {told}", flush=True)


def main() -> int:
    """Runs both comparisons; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="recordings with TorchScript (default: 1000)")
    parser.add_argument("--compiles", type=int, default=30, help="recordings with Inductor (default: 30)")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
        return 0
    fine = True
    if arguments.count:
        print(f"{arguments.count} recordings with TorchScript beside as many plain freezes, after {WARMED} of each")
        fine &= compare(("plain freeze", "fe.record", "fe.capture"), arguments.count, WARMED)
    if arguments.compiles:
        print(f"{arguments.compiles} recordings with Inductor beside as many plain compiles, after 2 of each")
        fine &= compare(("plain compile", "fe.record of Inductor"), arguments.compiles, 2)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
