"""What TorchScript's executor makes of a frozen module when it runs, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from freeze_engine.trace.graph import GraphSnapshot


@dataclass(frozen=True, slots=True)
class RuntimeKernel:
    """An operator or a fused kernel of one call, with its share of the time.

    Attributes:
        name: as torch's profiler calls it; of a fusion group the operators that it fuses.
        is_fusion: whether it is the kernel of a fusion group.
        calls: how often one call of the method runs it.
        time_ns: time in it during one call, without what it calls itself, in ns; the median of several calls.
        share: of the time of all of them, from 0 to 1.
    """

    name: str
    is_fusion: bool
    calls: int
    time_ns: int
    share: float


@dataclass(frozen=True, slots=True)
class RuntimeTime:
    """Time that one call of a method spends in a node of the executor's graph, or in several that are not told apart.

    Attributes:
        nodes: ids of nodes of `RuntimeGraph.graph`; empty if the time belongs to none that is known.
        time_ns: time in ns, with what the operators call; the median of several calls.
    """

    nodes: tuple[str, ...]
    time_ns: int


@dataclass(frozen=True, slots=True)
class RuntimeGraph:
    """The graph that the executor runs after warm-up, in place of a frozen method's graph.

    It is no step of the freeze: the executor makes it anew in each process, for the inputs that it sees.

    Attributes:
        method: the frozen method.
        graph: the optimised graph, a fusion group's operators in a block of its node; ``None`` where there is none.
        runs: calls of the method before it was read.
        kernels: the operators of one call by their time, the longest first; empty if it was not profiled.
        reason: why there is no graph, why it was not profiled, or why nothing is fused; else empty.
        times: all time of one call in operators and kernels, by nodes; empty if it was not profiled.
    """

    method: str
    graph: GraphSnapshot | None
    runs: int = 0
    kernels: tuple[RuntimeKernel, ...] = ()
    reason: str = ""
    times: tuple[RuntimeTime, ...] = ()
