"""Measures false and missed claims of the latency measurement.

First it simulates series of samples with a known true value, and prints how often the intervals contain it: those of an
absolute median, also for autocorrelated samples, and those of a ratio. It also prints how often the procedure finds a
slowdown of the size that is shown beside *no measurable difference*. Then it runs the whole procedure many times: on
identical copies of one frozen graph (A against A), where every claim is false; with a copy among them that does 5% more
work, which it should find; and with a copy whose extra work is the smallest difference that the A/A run says it would
find. It compares each copy with the first and with the one before it, like the steps of a recording. Run it from the
project's root:

    python -m benchmarks.honesty --repetitions 40
    python -m benchmarks.honesty --backend inductor --widths 256
    python -m benchmarks.honesty --repetitions 0        # the simulated series alone

Exit code 1 if more than 5% of the A/A comparisons claim a difference, less than 90% of the slowdowns are found, less
than 93% of the simulated intervals contain the true value, or less than 90% of the slowdowns of the smallest detectable
size are found.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

import freeze_engine as fe
from benchmarks.simulated import coverage_lines, found_lines
from freeze_engine.analysis.detectability import smallest_found
from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.inductor.replay.stand_in import StandIn
from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.latency import LatencyReport, measure_latency
from freeze_engine.measure.machine_load import machine_notes, reading
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.trace import Interval

LAYERS = 40
NOTHING = "no measurable difference"

Maker = Callable[[], Callable[..., object]]
"""Creates one more copy of a graph."""


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
class Kind:
    """Counts of one kind of comparison."""

    comparisons: int = 0
    false_claims: int = 0
    excluding_one: int = 0
    planted: list[float] = field(default_factory=list)
    found: int = 0

    def add_identical(self, ratio: Interval | None, claim: str | None) -> None:
        if ratio is not None:
            self.comparisons += 1
            self.false_claims += claim != NOTHING
            self.excluding_one += not ratio.low <= 1 <= ratio.high

    def add_planted(self, ratio: Interval | None, claim: str | None) -> None:
        self.planted.append(ratio.value if ratio else math.nan)
        self.found += claim == "slower"

    @property
    def honest(self) -> bool:
        return self.false_claims <= 0.05 * self.comparisons and self.found >= 0.9 * len(self.planted)

    def __str__(self) -> str:
        return "\n".join(
            (
                f"    false claims, A against A: {self.false_claims} of {self.comparisons} comparisons "
                f"({self.false_claims / self.comparisons:.1%}; goal: at most 5%)",
                f"    intervals excluding 1, no margin, no correction: {self.excluding_one} "
                f"({self.excluding_one / self.comparisons:.1%})",
                f"    planted slowdown found: {self.found} of {len(self.planted)} "
                f"({self.found / len(self.planted):.0%}; goal: at least 90%), "
                f"median ratio {sorted(self.planted)[len(self.planted) // 2]:.3f}",
            )
        )


@dataclass
class Tally:
    """Counts over repetitions."""

    to_first: Kind = field(default_factory=Kind)
    to_previous: Kind = field(default_factory=Kind)
    clean: int = 0
    measurements: int = 0
    seconds: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)
    told_found: int = 0

    def add_identical(self, report: LatencyReport) -> None:
        latencies = list(report.latencies.values())[1:]
        for latency in latencies:
            self.to_first.add_identical(latency.ratio, latency.verdict)
            self.to_previous.add_identical(latency.previous, latency.change)
        self.measurements += 1
        self.clean += all({latency.verdict, latency.change} == {NOTHING} for latency in latencies)

    def add_planted(self, report: LatencyReport, key: int) -> None:
        latency = report.latencies[key]
        self.to_first.add_planted(latency.ratio, latency.verdict)
        self.to_previous.add_planted(latency.previous, latency.change)

    def add_told(self, report: LatencyReport, key: int, slowdown: float) -> None:
        self.told.append(slowdown)
        self.told_found += report.latencies[key].verdict == "slower"

    @property
    def honest(self) -> bool:
        enough = self.told_found >= 0.9 * len(self.told)
        return self.to_first.honest and self.to_previous.honest and enough

    def __str__(self) -> str:
        return "\n".join(
            (
                f"  to the first copy:\n{self.to_first}",
                f"  to the copy before:\n{self.to_previous}",
                f"  A/A measurements without any claim: {self.clean} of {self.measurements}",
                f"  detectable slowdown found: {self.told_found} of {len(self.told)} (goal: at least 90%), "
                f"median size {sorted(self.told)[len(self.told) // 2]:.1%}",
                f"  one measurement took {sum(self.seconds) / len(self.seconds):.1f} s",
            )
        )


def frozen_graph(count: int, width: int, inputs: tuple[torch.Tensor, ...]) -> Maker:
    """Returns a maker of copies of a graph that TorchScript froze."""
    torch.manual_seed(0)
    graph: Any = torch.jit.freeze(torch.jit.script(Layers(count, width).eval())).graph

    def copy() -> Callable[..., object]:
        run = private("_create_function_from_graph")("forward", graph.copy())
        return lambda x: run(None, x)

    return copy


def compiled_graph(count: int, width: int, inputs: tuple[torch.Tensor, ...]) -> Maker:
    """Returns a maker of copies of a graph that Inductor froze; they run inside Dynamo's code, like recorded steps."""
    torch.manual_seed(0)
    model = Layers(count, width).eval()
    unmeasured = fe.Measure(latency=False, numerics=False, memory=False)
    recording = fe.record(model, inputs, backend="inductor", measure=unmeasured)
    graph: Any = recording.live[max(recording.live)]
    with torch.no_grad():
        return lambda: StandIn(model, fe.Inputs(inputs), fe.InductorOptions(), [graph]).running(graph)


MAKERS = {"torchscript": frozen_graph, "inductor": compiled_graph}


def tally(width: int, arguments: argparse.Namespace) -> Tally:
    """Repeats all measurements; the planted copy is in the middle of the others."""
    inputs = (torch.randn(32, width),)
    make = MAKERS[arguments.backend]
    base, more = make(LAYERS, width, inputs), make(LAYERS * 105 // 100, width, inputs)
    middle = arguments.copies // 2
    total = Tally()
    for seed in range(arguments.repetitions):
        options = LatencyOptions(seconds=arguments.seconds, seed=seed)
        start = time.perf_counter()
        same = measure_latency(_chain(arguments.copies, base), inputs, {}, options=options)
        total.add_identical(same)
        total.seconds.append(time.perf_counter() - start)
        mixed = _chain(arguments.copies, base, {middle: more})
        total.add_planted(measure_latency(mixed, inputs, {}, options=options), middle)
        layers = math.ceil(LAYERS * (1 + told_to_show(same, middle)))
        mixed = _chain(arguments.copies, base, {middle: make(layers, width, inputs)})
        total.add_told(measure_latency(mixed, inputs, {}, options=options), middle, layers / LAYERS - 1)
    return total


def told_to_show(report: LatencyReport, key: int) -> float:
    """Returns the smallest slowdown relative to the first copy that would be found, as a trace reports it."""
    latency = report.latencies[key]
    intervals = {each for one in report.latencies.values() for each in (one.ratio, one.previous) if each is not None}
    return 10.0 if latency.ratio is None else min(10.0, smallest_found(latency.ratio, latency.samples, len(intervals)))


def _chain(count: int, base: Maker, others: dict[int, Maker] | None = None) -> list[Candidate]:
    """Returns candidates, each of which follows the one before it."""
    made: dict[int, Maker] = others or {}
    with torch.no_grad():
        return [
            Candidate(index, made.get(index, base)(), follows=index - 1 if index else None) for index in range(count)
        ]


def main() -> int:
    """Runs the benchmark; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=tuple(MAKERS), default="torchscript", help="whose graph to copy")
    parser.add_argument("--repetitions", type=int, default=20, help="measurements of each kind (default: 20)")
    parser.add_argument("--series", type=int, default=1000, help="simulated, of each kind (default: 1000)")
    parser.add_argument("--copies", type=int, default=6, help="candidates in one measurement (default: 6)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of rounds in one measurement (default: 4)")
    parser.add_argument("--threads", type=int, default=1, help="intra-op threads (default: 1)")
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 256], help="of the layers (default: 64 256)")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    shape = f"{LAYERS} linear layers, batch 32, {arguments.threads} threads"
    print(f"torch {torch.__version__}, {arguments.backend}, {shape}")
    lines, honest = coverage_lines(arguments.series)
    print("\n".join(lines), flush=True)
    lines, found_enough = found_lines(max(arguments.series // 5, 1))
    print("\n".join(lines), flush=True)
    honest &= found_enough
    for width in arguments.widths if arguments.repetitions else ():
        before = reading()
        found = tally(width, arguments)
        honest &= found.honest
        busy = "; ".join(machine_notes(before, reading())) or "the machine was quiet"
        print(f"width {width} ({busy}; load average {os.getloadavg()[0]:.1f}):\n{found}", flush=True)
    return 0 if honest else 1


if __name__ == "__main__":
    sys.exit(main())
