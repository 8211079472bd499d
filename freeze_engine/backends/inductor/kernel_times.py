"""How long each call of a kernel takes, in generated programs that run apart from the user's module.

The functions that a program consists of are made a second time, with a clock around each call of a kernel; the kernels
themselves and the constants are the program's own. What the clock sees holds the call from Python.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from freeze_engine.backends._patching import Patch, patched
from freeze_engine.backends.inductor import private
from freeze_engine.backends.inductor.generated import calls, dotted
from freeze_engine.backends.inductor.raw import RawCompile
from freeze_engine.measure.candidate import inference, map_tensors
from freeze_engine.measure.statistics import MIN_ROUNDS, median_interval
from freeze_engine.trace import Interval, Program

_TIMED = "__timed__"
_WARMUP_ROUNDS = 3
_MAX_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Runnable:
    """A program that can be run on its own.

    Attributes:
        program: as the trace has it.
        call: runs it; takes a list of its inputs, which it empties.
        spent_ns: by position of a kernel, what its calls took since this was last set to 0.
        inputs: what it was called with.
        written: positions of the inputs that it writes.
    """

    program: Program
    call: Callable[[list[Any]], object]
    spent_ns: list[float]
    inputs: tuple[Any, ...]
    written: frozenset[int]

    def run(self) -> tuple[float, ...]:
        """Runs the program once, and returns what each kernel took, in ns."""
        self.spent_ns[:] = [0.0] * len(self.spent_ns)
        given = [map_tensors(each, torch.clone) if at in self.written else each for at, each in enumerate(self.inputs)]
        self.call(given)
        return tuple(self.spent_ns)


def runnable_programs(
    programs: Sequence[tuple[Program, RawCompile]], run: Callable[[], object]
) -> tuple[Runnable, ...]:
    """Returns the programs that can be run on their own.

    Args:
        programs: each with what was kept of its compile; one whose generated module was not seen is left out, as is
            one that is not written in Python, or runs on another device than the CPU.
        run: runs the compiled module that they belong to, once, to see what they are called with.
    """
    outputs = {
        id(output): index for index, (_, raw) in enumerate(programs) if (output := _held(raw.output)) is not None
    }
    given: dict[int, tuple[Any, ...]] = {}

    def note(output: Any, inputs: Sequence[Any]) -> None:
        if id(output) in outputs:
            given.setdefault(outputs[id(output)], tuple(inputs))

    with patched(tuple(_seeing_inputs(note))):
        run()
    found = (_runnable(*programs[index], inputs) for index, inputs in given.items())
    return tuple(each for each in found if each is not None)


def timed(programs: Sequence[Runnable], seconds: float) -> tuple[Program, ...]:
    """Returns programs whose kernels know their times.

    Args:
        programs: they take turns, in rounds.
        seconds: to spend about; the least number of rounds that gives an interval may take longer.
    """
    samples: list[list[tuple[float, ...]]] = [[] for _ in programs]
    begun = time.perf_counter()
    with inference():
        for number in range(_WARMUP_ROUNDS + _MAX_ROUNDS):
            if number >= _WARMUP_ROUNDS + MIN_ROUNDS and time.perf_counter() - begun > seconds:
                break
            for runnable, taken in zip(programs, samples, strict=True):
                taken.append(runnable.run())
    return tuple(
        _with_times(runnable.program, np.array(taken[_WARMUP_ROUNDS:]))
        for runnable, taken in zip(programs, samples, strict=True)
    )


def _with_times(program: Program, samples: Any) -> Program:
    """Returns a program with the times of its kernels; one that did not run, in a branch not taken, has none."""
    kernels = []
    for index, kernel in enumerate(program.kernels):
        taken = samples[:, index]
        time_ns: Interval | None = median_interval(taken) if taken.all() else None
        kernels.append(replace(kernel, time_ns=time_ns))
    return replace(program, kernels=tuple(kernels))


def _seeing_inputs(note: Callable[[Any, Sequence[Any]], None]) -> Iterator[Patch]:
    known = private.COMPILED_CALL
    original = known.found

    def call(output: Any, inputs: Sequence[Any]) -> Any:
        note(output, inputs)
        return original(output, inputs)

    if original is not None:
        yield Patch(known.owner, known.attribute, call)


def _held(reference: Callable[[], Any] | None) -> Any:
    return reference() if reference is not None else None


def _runnable(program: Program, raw: RawCompile, inputs: tuple[Any, ...]) -> Runnable | None:
    module = _held(raw.program)
    tensors = [each for each in inputs if isinstance(each, torch.Tensor)]
    on_cpu = all(each.device.type == "cpu" for each in tensors)
    if module is None or program.code is None or not on_cpu or len(calls(program.code)) != len(program.kernels):
        return None
    spent_ns = [0.0] * len(program.kernels)
    call = _with_clock(program.code, dict(vars(module)), spent_ns)
    written = frozenset(getattr(_held(raw.output), "mutated_input_idxs", ()))
    return Runnable(program, call, spent_ns, inputs, written)


def _with_clock(code: str, names: dict[str, Any], spent_ns: list[float]) -> Callable[[list[Any]], object]:
    """Makes the functions of a program again, with a clock around the calls of kernels.

    Args:
        code: the program's.
        names: of the program's module; the new functions are put there.
        spent_ns: gets what the calls took.

    Returns:
        The function that runs the program.
    """

    def clocked(index: int, kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        begun_ns = time.perf_counter_ns()
        result = kernel(*args, **kwargs)
        spent_ns[index] += time.perf_counter_ns() - begun_ns
        return result

    module = _Clocking(code).visit(ast.parse(code))
    module.body = list(_running(module.body))
    names[_TIMED] = clocked
    exec(compile(ast.fix_missing_locations(module), "<generated by Inductor>", "exec"), names)
    call: Callable[[list[Any]], object] = names["call"]
    return call


def _running(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields what runs a program, without what compiles its kernels; what calls them may stand before or after that."""
    made = False
    for each in statements:
        if isinstance(each, (ast.ClassDef, ast.FunctionDef)) or (made and isinstance(each, ast.Assign)):
            yield each
        made |= isinstance(each, ast.ClassDef)


class _Clocking(ast.NodeTransformer):
    """Puts a clock around the calls of kernels.

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
