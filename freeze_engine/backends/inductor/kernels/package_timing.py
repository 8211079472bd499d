"""Times the kernels of an AOTInductor package.

A package calls its kernels in C++, out of reach of a clock in Python. So the same program is compiled a second time
with ``cpp.enable_kernel_profile``, and without the passes that the recorded compile left out: each kernel then is an
event of torch's profiler. The user's package has none of that. The times include the profiler's own work, about a
microsecond for each kernel.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from freeze_engine.backends.common.active_captures import apart
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.capture.disabled_passes import disabling
from freeze_engine.backends.inductor.kernels.timing import MAX_ROUNDS, WARMUP_ROUNDS, with_times
from freeze_engine.measure.statistics import MIN_ROUNDS
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.trace import Program

#: torch 2.13 puts the number of the graph before the names of generated kernels (torch/_inductor/codegen/cpp.py).
_GRAPH: Final = re.compile(r"graph_\d+_(?=cpp_)")
_FOLDER: Final = "freezer-package-"


class NotTimedError(Exception):
    """The kernels cannot be timed; the message is the reason."""


def timed_package(
    program: Program, exported: Any, disabled_passes: tuple[str, ...], run: Callable[[Any], object], seconds: float
) -> Program:
    """Returns the program of a package with times of its kernels.

    Args:
        program: as the trace has it.
        exported: the exported program that the package was compiled from.
        disabled_passes: names of the passes that its compile left out.
        run: calls a loaded package once.
        seconds: to spend on runs, about.

    Raises:
        NotTimedError: the second compile generated other kernels, or did not report all of them.
    """
    names = tuple(kernel.name for kernel in program.kernels)
    if not names:
        raise NotTimedError("Inductor did not report which kernels the package calls")
    with temporary_folder(_FOLDER) as folder:
        package, compiled = apart(_compiled, exported, folder / "model.pt2", disabled_passes)
        if compiled != names:
            raise NotTimedError("a second compile, with torch's profiling, generated other kernels")
        samples: list[tuple[float, ...]] = []
        begun = time.perf_counter()
        for number in range(WARMUP_ROUNDS + MAX_ROUNDS):
            if number >= WARMUP_ROUNDS + MIN_ROUNDS and time.perf_counter() - begun > seconds:
                break
            events = torch_private.profiled_events(lambda: run(package))
            samples.append(_times_ns(names, [(_GRAPH.sub("", name), nanoseconds) for name, nanoseconds in events]))
    return with_times(program, np.array(samples[WARMUP_ROUNDS:]))


def _compiled(exported: Any, path: Any, disabled_passes: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Returns a package that reports its kernels to torch's profiler, loaded, and the kernels' names."""
    with capturing() as seen, disabling(disabled_passes):
        torch_private.compile_package(exported, path, {"freezing": True, "cpp.enable_kernel_profile": True})
    names = tuple(kernel.name for each in seen.compiles for kernel in each.kernels)
    return torch_private.load_package(path), names


def _times_ns(names: Sequence[str], events: Sequence[tuple[str, float]]) -> tuple[float, ...]:
    """Returns the time of each kernel in one run.

    Args:
        names: of the kernels, in the order of their calls.
        events: name and duration in ns of all events of the run, in the order of their beginnings.
    """
    known = set(names)
    own = [(name, duration) for name, duration in events if name in known]
    if tuple(name for name, _ in own) != tuple(names):
        raise NotTimedError("torch's profiler reported other kernels than the package calls")
    return tuple(duration for _, duration in own)
