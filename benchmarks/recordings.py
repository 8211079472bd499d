"""What a thousand recordings in one process leave behind, beside as many plain freezes and compiles.

torch frees neither the classes nor the code that scripting and freezing make (2.13), so a process that freezes grows,
recorded or not. Plain and recorded freezes of the same model have a process each, and take turns; what is left of ours
after each turn, beyond what plain torch leaves, must not grow. Run from the project's root:

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
"""How much more than plain torch's the growth of memory may be, as a share of it."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a process holds between two turns.

    Attributes:
        memory_bytes: resident, after free pages were given back.
        objects: of Python that the collector knows, after it ran.
        descriptors: open ones.
        threads: of the process.
        children: processes that it started and that still are.
        files: in its folder for temporary files.
    """

    memory_bytes: int
    objects: int
    descriptors: int
    threads: int
    children: int
    files: int

    def since(self, start: Left) -> Left:
        """What was added since an earlier time."""
        return Left(*(getattr(self, each.name) - getattr(start, each.name) for each in fields(self)))


def left() -> Left:
    """Counts what this process holds."""
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
    """Returns what a process may do over and over, by name; torch is imported here."""
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
    """Runs in a process of its own: a line with a number does so much, and is answered by a line with what is left."""
    warnings.simplefilter("ignore")
    act = actions()[name]
    for line in sys.stdin:
        for _ in range(int(line)):
            act()
        print(json.dumps(asdict(left())), flush=True)


class Worker:
    """A process that does one thing over and over, in turns with others.

    Args:
        name: of `actions`.
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
        """Does it so many times, and returns what is left."""
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
    """Prints what plain torch and ours leave after each turn; returns whether ours stays within plain torch's.

    Args:
        names: of `actions`, plain torch's first.
        count: of each, without those that come before.
        warmed: how many come before, so that what is made once is not counted.
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
    """Runs both comparisons; see the module's text."""
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
