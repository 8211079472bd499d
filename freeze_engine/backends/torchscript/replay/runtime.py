"""Looks at what TorchScript's executor makes of a frozen method: its optimised graph, and the time of its kernels."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from freeze_engine.backends.common.torch_private import optional, profiled
from freeze_engine.backends.torchscript.replay.node_times import FUSED, Ran, is_kernel, node_times, operators
from freeze_engine.backends.torchscript.replay.run import METHOD
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import GraphSnapshot, RuntimeGraph, RuntimeKernel, RuntimeTime

#: Calls besides those in which the executor profiles: one that optimises the graph, and one that runs the result.
_MORE_CALLS: Final = 2
#: Calls that are profiled: as many as fit into the time, and at least so many that one disturbed call does not count.
_PROFILED_CALLS: Final = range(3, 16)
_PROFILED_S: Final = 1.0
_MOST_KERNELS: Final = 40
_NO_FUSION: Final = (
    "Nothing is fused: this build of torch fuses no operators on the CPU, which takes LLVM "
    "(torch._C._jit_can_fuse_on_cpu)."
)
_NO_PROFILE: Final = "The kernels are not timed: they run on {}, and only the CPU is profiled."


#: How often one call runs each operator, and the time in it without what it calls, in microseconds.
_Profile = Mapping[str, tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Calls:
    """How to call a function on the recorded inputs.

    Attributes:
        inputs: returns copies of them, which a call may write.
        run: calls the function.
        restore: puts back whatever calls wrote.
    """

    inputs: Callable[[], Inputs]
    run: Callable[..., object]
    restore: Callable[[], None]


def runtime_graph(
    function: Any,
    calls: Calls,
    read: Callable[[Any], GraphSnapshot],
    devices: frozenset[str],
    *,
    timed: bool,
) -> RuntimeGraph:
    """Runs a copy of a frozen graph until the executor has optimised it, and reads the result.

    Args:
        function: made of the graph (``torch._C._create_function_from_graph``); it has an executor of its own, so that
            neither the frozen module nor anything that was measured is disturbed.
        calls: of ``function``.
        read: reads a live graph.
        devices: types of the devices that it runs on.
        timed: whether to profile its kernels.

    Returns:
        The graph; none, with the reason, where torch does not show one or the call fails.
    """
    runs = _MORE_CALLS + int((optional("_jit_get_num_profiled_runs") or (lambda: 1))())
    try:
        with torch.no_grad():
            for _ in range(runs):
                _call(calls)
            graph = _optimised(function)
            if graph is None:
                return RuntimeGraph(METHOD, None, runs, reason="torch shows no graph of its executor.")
            found = read(graph)
            if not timed:
                return RuntimeGraph(METHOD, found, runs, reason=_why_not_fused(found, devices))
            if devices != {"cpu"}:
                where = ", ".join(sorted(devices)) or "an unknown device"
                return RuntimeGraph(METHOD, found, runs, reason=_NO_PROFILE.format(where))
            kernels, times = _timed(calls, found)
            return RuntimeGraph(METHOD, found, runs, kernels, _why_not_fused(found, devices), times)
    except Exception as error:  # noqa: BLE001 (what the executor makes is no part of the freeze, and must not end it)
        return RuntimeGraph(METHOD, None, runs, reason=f"The frozen graph did not run: {type(error).__name__}: {error}")


def _call(calls: Calls) -> None:
    given = calls.inputs()
    try:
        calls.run(*given.args, **given.kwargs)
    finally:
        calls.restore()


def _optimised(function: Any) -> Any:
    """Returns the graph of the executor's plan, ``None`` if there is none yet."""
    plans = function.get_debug_state().execution_plans
    graphs = [plan.graph for plan in plans.values()]
    if graphs:
        return graphs[-1]
    last = optional("_last_executed_optimized_graph")
    return None if last is None else last()


def _why_not_fused(graph: GraphSnapshot, devices: frozenset[str]) -> str:
    fuses = optional("_jit_can_fuse_on_cpu")
    has_groups = any("FusionGroup" in node.op or "TensorExprGroup" in node.op for node in graph.walk())
    return _NO_FUSION if devices == {"cpu"} and not has_groups and fuses is not None and not fuses() else ""


def _timed(calls: Calls, graph: GraphSnapshot) -> tuple[tuple[RuntimeKernel, ...], tuple[RuntimeTime, ...]]:
    """Profiles calls, and returns their kernels, and the times of the graph's nodes."""
    profiles: list[_Profile] = []
    ran: list[Sequence[Ran]] = []
    began_s = time.perf_counter()
    for made in range(1, _PROFILED_CALLS.stop):
        profile, of_call = _profile(calls)
        profiles.append(profile)
        ran.append(of_call)
        if made >= _PROFILED_CALLS.start and (time.perf_counter() - began_s) * (made + 1) > _PROFILED_S * made:
            break
    return typical_kernels(profiles), node_times(graph, ran)


def _profile(calls: Calls) -> tuple[_Profile, Sequence[Ran]]:
    given = calls.inputs()  # copying them is no part of a call
    try:
        profiler = profiled(lambda: calls.run(*given.args, **given.kwargs))
    finally:
        calls.restore()
    kernels = {
        event.key: (event.count, event.self_cpu_time_total)
        for event in profiler.key_averages()
        if is_kernel(event.key) and event.self_cpu_time_total > 0
    }
    return kernels, operators(profiler.function_events)


def typical_kernels(profiles: Sequence[_Profile]) -> tuple[RuntimeKernel, ...]:
    """Returns the kernels of a call in which each takes its median time: other programs disturb single calls.

    Args:
        profiles: of several calls.

    Returns:
        The longest ones; those that run in fewer than half of the calls are not among them.
    """
    names = {name for profile in profiles for name in profile}
    seen = {name: [profile.get(name, (0, 0.0)) for profile in profiles] for name in names}
    times_us = {name: statistics.median_low(took_us for _, took_us in each) for name, each in seen.items()}
    whole_us = sum(times_us.values())
    longest = sorted((name for name in names if times_us[name] > 0), key=lambda name: (-times_us[name], name))
    return tuple(
        RuntimeKernel(
            name,
            name.startswith(FUSED),
            statistics.median_low(count for count, _ in seen[name]),
            round(times_us[name] * 1000),
            times_us[name] / whole_us,
        )
        for name in longest[:_MOST_KERNELS]
    )
