"""What TorchScript's executor makes of the frozen module: a further step after those of the freeze, and its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis

if TYPE_CHECKING:
    from freeze_engine.trace import RuntimeGraph

_NAME: Final = "ProfilingGraphExecutor"
_KERNELS: Final = 8
_SHOWN: Final = 12


def with_runtime(trace: fe.Trace) -> fe.Trace:
    """Returns a trace with the executor's graphs as steps behind all others; the same one where there is none.

    Only what shows steps one by one uses it: the executor's graph is no part of the freeze.

    Args:
        trace: the recording.
    """
    steps = list(trace.steps)
    for runtime in trace.runtime:
        final = trace.final(runtime.method)
        if runtime.graph is not None and final is not None:
            steps.append(
                fe.Step(
                    index=len(steps),
                    stage=analysis.RUNTIME,
                    name=_NAME,
                    method=runtime.method,
                    graph=final.graph if runtime.graph == final.graph else runtime.graph,
                    changed=runtime.graph != final.graph,
                    constant_bytes=final.constant_bytes,
                    log=tuple(runtime_lines(runtime)),
                )
            )
    return replace(trace, steps=tuple(steps)) if len(steps) > len(trace.steps) else trace


def runtime_lines(runtime: RuntimeGraph) -> Iterator[str]:
    """Yields lines on the executor's graph: fusion groups, the kernels by their share of the time.

    Args:
        runtime: of one method.
    """
    if runtime.graph is not None:
        groups = [node for node in runtime.graph.walk() if "Group" in node.op and node.blocks]
        for group in groups:
            ops = [inner.op.partition("::")[2] for inner in group.blocks[0].nodes if inner.op != "prim::Constant"]
            yield f"fuses {analysis.listed(ops, _SHOWN)} into one kernel"
        if not groups and not runtime.reason:
            yield "fuses nothing"
    if runtime.reason:
        yield runtime.reason
    for kernel in runtime.kernels[:_KERNELS]:
        calls = "1 call" if kernel.calls == 1 else f"{kernel.calls} calls"
        share, time = analysis.percent_text(kernel.share), analysis.duration_text(kernel.time_ns)
        yield f"{share}% of the time: {kernel.name}, {calls}, {time}"
    if len(runtime.kernels) > _KERNELS:
        rest = sum(kernel.share for kernel in runtime.kernels[_KERNELS:])
        yield f"{analysis.percent_text(rest)}% of the time: {len(runtime.kernels) - _KERNELS} more"
