"""Times each kernel call, in generated programs that run apart from the user's module.

The functions that a program consists of are made a second time, with a clock around each call of a kernel; the kernels
themselves and the constants are the program's own. The times include the call from Python.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from freeze_engine.backends.common.patching import Patch, patched
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.kernels.generated_code import calls, dotted
from freeze_engine.measure.candidate import inference
from freeze_engine.measure.statistics import MIN_ROUNDS, median_interval
from freeze_engine.tensors.tree_map import map_tensors
from freeze_engine.trace import Interval, Program

_TIMED = "__timed__"
WARMUP_ROUNDS = 3
"""Rounds that are not counted."""
MAX_ROUNDS = 200
"""Rounds that are counted at most."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """A program that can be run on its own.

    Attributes:
        program: as the trace has it.
        call: runs it; takes a list of its inputs, which it empties.
        clock: sees the calls of its kernels.
        inputs: of the call.
        written: positions of the inputs that it writes.
    """

    program: Program
    call: Callable[[list[Any]], object]
    clock: _Clock
    inputs: tuple[Any, ...]
    written: frozenset[int]

    def run(self) -> tuple[float, ...]:
        """Runs the program once, and returns what each kernel took, in ns."""
        self.clock.reset(len(self.program.kernels))
        given = [map_tensors(each, torch.clone) if at in self.written else each for at, each in enumerate(self.inputs)]
        self.call(given)
        return self.clock.read()


class _Clock:
    """Adds up the time of each kernel's calls, with a clock around them."""

    def reset(self, kernels: int) -> None:
        """Starts from 0.

        Args:
            kernels: how many there are.
        """
        self._spent_ns = [0.0] * kernels

    def around(self, index: int, kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a kernel."""
        begun_ns = time.perf_counter_ns()
        result = kernel(*args, **kwargs)
        self._spent_ns[index] += time.perf_counter_ns() - begun_ns
        return result

    def read(self) -> tuple[float, ...]:
        """Returns what each kernel took, in ns."""
        return tuple(self._spent_ns)


class _CudaClock(_Clock):
    """The same by the device's own clock, between two events on the current stream, which kernels are queued on."""

    def reset(self, kernels: int) -> None:
        """Starts from 0."""
        super().reset(kernels)
        self._events: list[tuple[int, torch.cuda.Event, torch.cuda.Event]] = []

    def around(self, index: int, kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Queues a kernel."""
        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begun.record()
        result = kernel(*args, **kwargs)
        ended.record()
        self._events.append((index, begun, ended))
        return result

    def read(self) -> tuple[float, ...]:
        """Waits for the device, and returns what each kernel took, in ns."""
        torch.cuda.synchronize()
        for index, begun, ended in self._events:
            self._spent_ns[index] += begun.elapsed_time(ended) * 1e6
        return super().read()


_CLOCKS: Mapping[str, type[_Clock]] = {"cpu": _Clock, "cuda": _CudaClock}


def runnable_programs(
    programs: Sequence[tuple[Program, RawCompile]], run: Callable[[], object]
) -> tuple[tuple[Runnable, ...], tuple[str, ...]]:
    """Prepares programs to run on their own.

    Args:
        programs: each with what was kept of its compile.
        run: runs their compiled module once, to collect their inputs.

    Returns:
        Those that can be run, and for each of the others a sentence that says why not.
    """
    held = (_held(raw.output) for _, raw in programs)
    outputs = {id(output): index for index, output in enumerate(held) if output is not None}
    given: dict[int, tuple[Any, ...]] = {}

    def note(output: Any, inputs: Sequence[Any]) -> None:
        if id(output) in outputs:
            given.setdefault(outputs[id(output)], tuple(inputs))

    with patched(tuple(_seeing_inputs(note))):
        run()
    found, reasons = [], []
    for index, (program, raw) in enumerate(programs):
        reason = _obstacle(program, raw, given.get(index))
        if reason:
            reasons.append(f"The kernels of {program.name}, {program.method}, were not timed: {reason}.")
        else:
            found.append(_runnable(program, raw, given[index]))
    return tuple(found), tuple(reasons)


def _obstacle(program: Program, raw: RawCompile, inputs: tuple[Any, ...] | None) -> str:
    """Returns why a program cannot be run on its own, empty if it can."""
    if _held(raw.program) is None:
        return "the module that Inductor generated was not seen"
    if inputs is None:
        return "Dynamo called another compile of the module"
    if program.code is None or len(calls(program.code)) != len(program.kernels):
        return "its code is not Python"
    other = _devices(inputs) - _CLOCKS.keys()
    return f"it runs on {', '.join(sorted(other))}" if other else ""


def _devices(inputs: Sequence[Any]) -> set[str]:
    return {each.device.type for each in inputs if isinstance(each, torch.Tensor)}


def timed(programs: Sequence[Runnable], seconds: float) -> tuple[Program, ...]:
    """Returns the programs with times of their kernels.

    Args:
        programs: they take turns, in rounds.
        seconds: to spend about; the least number of rounds that gives an interval may take longer.
    """
    samples: list[list[tuple[float, ...]]] = [[] for _ in programs]
    begun = time.perf_counter()
    with inference():
        for number in range(WARMUP_ROUNDS + MAX_ROUNDS):
            if number >= WARMUP_ROUNDS + MIN_ROUNDS and time.perf_counter() - begun > seconds:
                break
            for runnable, taken in zip(programs, samples, strict=True):
                taken.append(runnable.run())
    return tuple(
        with_times(runnable.program, np.array(taken[WARMUP_ROUNDS:]))
        for runnable, taken in zip(programs, samples, strict=True)
    )


def with_times(program: Program, samples: Any) -> Program:
    """Returns a program with the times of its kernels; one that did not run, in a branch not taken, has none.

    Args:
        program: the program.
        samples: a row for each round, a column for each kernel, in ns.
    """
    kernels = []
    for index, kernel in enumerate(program.kernels):
        taken = samples[:, index]
        time_ns: Interval | None = median_interval(taken) if taken.all() else None
        kernels.append(replace(kernel, time_ns=time_ns))
    return replace(program, kernels=tuple(kernels))


def _seeing_inputs(note: Callable[[Any, Sequence[Any]], None]) -> Iterator[Patch]:
    known = torch_private.COMPILED_CALL
    original = known.found

    def call(output: Any, inputs: Sequence[Any]) -> Any:
        note(output, inputs)
        return original(output, inputs)

    if original is not None:
        yield Patch(known.owner, known.attribute, call)


def _held(reference: Callable[[], Any] | None) -> Any:
    return reference() if reference is not None else None


def _runnable(program: Program, raw: RawCompile, inputs: tuple[Any, ...]) -> Runnable:
    clock = _CLOCKS["cuda" if "cuda" in _devices(inputs) else "cpu"]()
    call = _with_clock(program.code or "", dict(vars(_held(raw.program))), clock)
    written = frozenset(getattr(_held(raw.output), "mutated_input_idxs", ()))
    return Runnable(program, call, clock, inputs, written)


def _with_clock(code: str, names: dict[str, Any], clock: _Clock) -> Callable[[list[Any]], object]:
    """Makes the functions of a program again, with a clock around the calls of kernels.

    Args:
        code: the program's.
        names: of the program's module; the new functions are put there.
        clock: put around the calls of kernels.

    Returns:
        The function that runs the program.
    """
    module = _Clocking(code).visit(ast.parse(code))
    module.body = list(_running(module.body))
    names[_TIMED] = clock.around
    exec(compile(ast.fix_missing_locations(module), "<generated by Inductor>", "exec"), names)
    call: Callable[[list[Any]], object] = names["call"]
    return call


def _running(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields what runs a program, without what compiles its kernels; what calls them may come before or after that."""
    made = False
    for each in statements:
        if isinstance(each, (ast.ClassDef, ast.FunctionDef)) or (made and isinstance(each, ast.Assign)):
            yield each
        made |= isinstance(each, ast.ClassDef)


class _Clocking(ast.NodeTransformer):
    """Wraps the calls of kernels in a timer.

    Args:
        code: the program's.
    """

    def __init__(self, code: str) -> None:
        self._kernels = {(call.line, call.column): index for index, call in enumerate(calls(code))}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replaces a call of a kernel by a call of the clock, which calls the kernel."""
        self.generic_visit(node)
        index = self._kernels.get((node.lineno, node.col_offset))
        if index is None or dotted(node.func) is None:
            return node
        return ast.Call(ast.Name(_TIMED, ast.Load()), [ast.Constant(index), node.func, *node.args], node.keywords)
