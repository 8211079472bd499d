"""Numeric error of each candidate against the eager module, in its own dtype and in double precision."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from freeze_engine.analysis.missing_measurements import nothing_ran
from freeze_engine.measure.candidate import (
    Candidate,
    CandidateError,
    Key,
    Progress,
    check_keys,
    cloned,
    inference,
    reported,
    silent,
)
from freeze_engine.measure.input_sets import GIVEN, InputSet, input_sets
from freeze_engine.measure.outputs import Reference, compare_outputs
from freeze_engine.measure.overwritten_inputs import Overwriting, overwriting_notice, overwritten
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.module_copy import replica
from freeze_engine.tensors.tree_map import map_inputs, map_tensors
from freeze_engine.trace import Notice, Numerics

_DID_NOT_RUN = "the eager module did not run: "


@dataclass(frozen=True, slots=True)
class NumericsOptions:
    """Options of a comparison with the references.

    Attributes:
        method: of the eager module, the one that the candidates were made from.
        reference64: whether to compare with double precision too.
        input_sets: how many inputs to compare on: the given ones, and generated ones beyond the first, see
            `freeze_engine.measure.input_sets`.
        warmup_calls: calls of a candidate before the one that is compared, so that it runs the code that the
            profiling executor optimised, as all later calls do.
        seed: of torch's random numbers, before each run.
    """

    method: str = "forward"
    reference64: bool = True
    input_sets: int = 1
    warmup_calls: int = 2
    seed: int = 0


@dataclass(frozen=True, slots=True)
class NumericsReport:
    """The results of all candidates, and of the inputs.

    Attributes:
        numerics: by key, the errors on the given inputs first, on each against ``eager`` and then ``float64``.
        refused: type and text of what the eager module raised on inputs, by their names; where it refuses the given
            ones, no others are tried.
        overwriting: the candidates that overwrite one of the given inputs, which the eager module leaves alone.
    """

    numerics: Mapping[Key, tuple[Numerics, ...]]
    refused: Mapping[str, str]
    overwriting: tuple[Overwriting, ...] = ()


@dataclass(frozen=True, slots=True)
class _Expected:
    """The outputs of a reference, or its error, and the inputs that it overwrites."""

    reference: Reference
    output: object = None
    error: str | None = None
    overwritten: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Question:
    """Inputs, with the results of the references on them."""

    on: InputSet
    expected: tuple[_Expected, ...]


def measure_numerics(
    candidates: Sequence[Candidate],
    eager: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    options: NumericsOptions | None = None,
    progress: Progress | None = None,
) -> NumericsReport:
    """Compares every candidate's outputs with those of the eager module.

    Each run has its own copy of the inputs, the same random seed, and state that was reset before. The eager module
    itself is not touched: copies of it run, one as it is, one in float64 with float64 inputs, integers and booleans
    as they are. Nothing is moved between devices. Generated inputs that the eager module refuses are left out; a
    candidate that refuses what the eager module accepts is in error.

    Args:
        candidates: what to compare.
        eager: the module as it was before freezing, in the mode it was frozen in.
        args: positional inputs.
        kwargs: keyword inputs.
        options: what to compare with.
        progress: called with the progress.

    Returns:
        The errors. What could not be run or compared says why in `Numerics.error`.

    Raises:
        MeasureError: two candidates share a key.
    """
    check_keys(candidates)
    options = options or NumericsOptions()
    progress = progress or silent
    found = {}
    overwriting: list[Overwriting] = []
    with inference():
        progress(0.0, "running the eager module")
        questions, refused = _questions(eager, Inputs(args, kwargs), options)
        for index, candidate in enumerate(candidates):
            progress((index + 1) / (len(candidates) + 1), f"comparing {candidate}")
            found[candidate.key] = tuple(_compared(candidate, questions, options, overwriting))
    return NumericsReport(found, refused, tuple(overwriting))


def refusals(report: NumericsReport) -> tuple[Notice, ...]:
    """Reports the inputs that the model refused, and one that it overwrites."""
    if GIVEN in report.refused:
        return (nothing_ran("compared", report.refused[GIVEN].removeprefix(_DID_NOT_RUN)),)
    return overwriting_notice(report.overwriting) + tuple(
        Notice(
            "inputs_refused",
            f"The model refuses the generated inputs {name!r}, so nothing was compared on them ({error}). Its inputs "
            "follow a rule that shapes, dtypes and ranges do not show.",
        )
        for name, error in report.refused.items()
    )


def _questions(
    eager: torch.nn.Module, given: Inputs, options: NumericsOptions
) -> tuple[list[_Question], dict[str, str]]:
    """Runs the references on the given inputs and, if the eager module runs on these, on generated ones."""
    sets = input_sets(given, options.input_sets)
    questions = [_Question(sets[0], tuple(_references(eager, given, options)))]
    refused = {}
    if questions[0].expected[0].error is not None:
        return questions, {GIVEN: questions[0].expected[0].error}
    for each in sets[1:]:
        expected = tuple(_references(eager, each.inputs, options))
        if expected[0].error is None:
            questions.append(_Question(each, expected))
        else:
            refused[each.name] = expected[0].error
    return questions, refused


def _compared(
    candidate: Candidate, questions: Sequence[_Question], options: NumericsOptions, overwriting: list[Overwriting]
) -> Iterator[Numerics]:
    calls = options.warmup_calls + 1
    for question in questions:
        written: dict[str, float] = {}
        for numerics in _answered(candidate, question, calls, options.seed, written):
            yield replace(numerics, inputs=question.on.name)
        if question is questions[0]:
            own = question.expected[0].overwritten
            new = [(place, change) for place, change in written.items() if place not in own]
            overwriting += [Overwriting(candidate, place, change) for place, change in new[:1]]
        calls = 1  # The inputs are all of one shape and dtype: what is warm stays so.


def _answered(
    candidate: Candidate, question: _Question, calls: int, seed: int, written: dict[str, float]
) -> tuple[Numerics, ...]:
    output: object = None
    try:
        with reported():
            for _ in range(calls):
                output = _run(candidate.call, question.on.inputs, seed, candidate.reset, written)
    except CandidateError as error:
        return tuple(Numerics(one.reference, (), str(error)) for one in question.expected)
    return tuple(_against(output, one) for one in question.expected)


def _against(output: object, expected: _Expected) -> Numerics:
    if expected.error is not None:
        return Numerics(expected.reference, (), expected.error)
    try:
        with reported():  # torch lacks arithmetic for some dtypes.
            return compare_outputs(output, expected.output, expected.reference)
    except CandidateError as error:
        return Numerics(expected.reference, (), f"the outputs cannot be compared: {error}")


def _run(
    call: Callable[..., object],
    inputs: Inputs,
    seed: int,
    reset: Callable[[], None] | None = None,
    written: dict[str, float] | None = None,
) -> object:
    """Runs a call on copies of the inputs.

    Args:
        call, inputs: what to run.
        seed: of torch's random numbers.
        reset: restores state before.
        written: receives the inputs that the call overwrites.
    """
    if reset is not None:
        reset()
    own = cloned(inputs)
    torch.manual_seed(seed)
    output = call(*own.args, **own.kwargs)
    if written is not None:
        written.update(overwritten(inputs, own))
    return output


def _references(eager: torch.nn.Module, inputs: Inputs, options: NumericsOptions) -> Iterator[_Expected]:
    drew = False
    try:
        with reported():
            torch.manual_seed(options.seed)
            before = _random_state()
            written: dict[str, float] = {}
            output = _run(_method(replica(eager), options.method), inputs, options.seed, written=written)
            drew = _random_state() != before
        yield _Expected("eager", output, overwritten=written)
    except CandidateError as error:
        yield _Expected("eager", error=f"{_DID_NOT_RUN}{error}")
    if not options.reference64:
        return
    if drew:
        yield _Expected("float64", error="the model draws random numbers, and draws others in double precision")
        return
    try:
        with reported(), _default_float64():
            module = in_float64(eager)
            output = _run(_method(module, options.method), map_inputs(inputs, _widened), options.seed)
        yield _Expected("float64", output)
    except CandidateError as error:
        yield _Expected("float64", error=f"the eager module does not run in float64: {error}")


def in_float64(module: torch.nn.Module) -> torch.nn.Module:
    """Copies a module in double precision.

    Beyond ``Module.double`` this widens complex parameters and buffers, and tensors that are plain attributes. What
    the code itself casts, and quantised weights, stay as they are: running may raise.

    Args:
        module: stays as it is.

    Returns:
        The copy.
    """
    wide = replica(module)
    for tensor in (*wide.parameters(), *wide.buffers()):
        tensor.data = _widened(tensor.data)
    for part in wide.modules():
        if not isinstance(part, torch.jit.ScriptModule):
            own = {name: value for name, value in vars(part).items() if name not in _MODULE_STATE}
            vars(part).update(map_tensors(own, _widened))
    return wide


_MODULE_STATE = frozenset(vars(torch.nn.Module()))


def _method(module: torch.nn.Module, name: str) -> Callable[..., object]:
    method: Callable[..., object] = module if name == "forward" else getattr(module, name)
    return method


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64) if tensor.is_floating_point() else tensor


def _random_state() -> list[bytes]:
    states = [torch.get_rng_state()]
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states += torch.cuda.get_rng_state_all()
    return [state.numpy().tobytes() for state in states]


@contextlib.contextmanager
def _default_float64() -> Iterator[None]:
    """Makes tensors that the model creates without a dtype double as well."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
