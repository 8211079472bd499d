"""Does the latency measurement claim only what is there?

Runs the whole procedure many times, on identical copies of one frozen graph (A against A), where every claim is
false, and with a copy among them that does 5% more work, which ought to be found. Run it from the project's root:

    python -m benchmarks.honesty --repetitions 40

Exit code 1 if more than 5% of the A/A comparisons claim a difference, or less than 90% of the slowdowns are found.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import torch

from freeze_engine.backends._torch_private import private
from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.latency import LatencyReport, measure_latency
from freeze_engine.measure.rounds import LatencyOptions

LAYERS = 20
PLANTED = "slower"


class Layers(torch.nn.Module):
    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.count = count
        self.layer = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.count):
            x = torch.relu(self.layer(x))
        return x


@dataclass
class Tally:
    """Counts over repetitions; comparisons are with the first copy."""

    comparisons: int = 0
    false_claims: int = 0
    excluding_one: int = 0
    planted: list[float] = field(default_factory=list)
    found: int = 0
    seconds: list[float] = field(default_factory=list)

    def add_identical(self, report: LatencyReport) -> None:
        for latency in list(report.latencies.values())[1:]:
            self.comparisons += 1
            self.false_claims += latency.verdict != "no measurable difference"
            self.excluding_one += latency.ratio is not None and not latency.ratio.low <= 1 <= latency.ratio.high

    def add_planted(self, report: LatencyReport) -> None:
        latency = report.latencies[PLANTED]
        self.planted.append(latency.ratio.value if latency.ratio else math.nan)
        self.found += latency.verdict == "slower"

    @property
    def honest(self) -> bool:
        return self.false_claims <= 0.05 * self.comparisons and self.found >= 0.9 * len(self.planted)

    def __str__(self) -> str:
        return "\n".join(
            (
                f"  false claims, A against A: {self.false_claims} of {self.comparisons} comparisons "
                f"({self.false_claims / self.comparisons:.1%}; goal: at most 5%)",
                f"  intervals excluding 1, no margin, no correction: {self.excluding_one} "
                f"({self.excluding_one / self.comparisons:.1%})",
                f"  planted slowdown found: {self.found} of {len(self.planted)} "
                f"({self.found / len(self.planted):.0%}; goal: at least 90%), "
                f"median ratio {sorted(self.planted)[len(self.planted) // 2]:.3f}",
                f"  one measurement took {sum(self.seconds) / len(self.seconds):.1f} s",
            )
        )


def frozen_graph(count: int, width: int) -> Any:
    torch.manual_seed(0)
    return torch.jit.freeze(torch.jit.script(Layers(count, width).eval())).graph


def candidate(key: int | str, graph: Any) -> Candidate:
    run = private("_create_function_from_graph")("forward", graph.copy())
    return Candidate(key, lambda x: run(None, x))


def tally(width: int, arguments: argparse.Namespace) -> Tally:
    base, more = frozen_graph(LAYERS, width), frozen_graph(LAYERS * 105 // 100, width)
    inputs = (torch.randn(32, width),)
    total = Tally()
    for seed in range(arguments.repetitions):
        options = LatencyOptions(seconds=arguments.seconds, seed=seed)
        copies = [candidate(index, base) for index in range(arguments.copies)]
        start = time.perf_counter()
        total.add_identical(measure_latency(copies, inputs, {}, options=options))
        total.seconds.append(time.perf_counter() - start)
        mixed = [*(candidate(index, base) for index in range(arguments.copies - 1)), candidate(PLANTED, more)]
        total.add_planted(measure_latency(mixed, inputs, {}, options=options))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=20, help="measurements of each kind (default: 20)")
    parser.add_argument("--copies", type=int, default=6, help="candidates in one measurement (default: 6)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of rounds in one measurement (default: 4)")
    parser.add_argument("--threads", type=int, default=1, help="intra-op threads (default: 1)")
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 256], help="of the layers (default: 64 256)")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, {arguments.threads} threads, {LAYERS} linear layers, batch 32")
    honest = True
    for width in arguments.widths:
        found = tally(width, arguments)
        honest &= found.honest
        print(f"width {width}:\n{found}")
    return 0 if honest else 1


if __name__ == "__main__":
    sys.exit(main())
