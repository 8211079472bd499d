"""The verdict of a trace that is no recording: what was read, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from freeze_engine.analysis.number_texts import bytes_text
from freeze_engine.analysis.summary.packed import is_packed
from freeze_engine.trace import Constant, Origin, Trace

ORIGINS: Final[Mapping[Origin, str]] = {
    "recording": "a recording",
    "frozen_file": "a frozen TorchScript file",
    "torch_trace": "a log of TORCH_TRACE",
    "compile_debug": "a folder of TORCH_COMPILE_DEBUG",
}
"""What a trace was made of, in words that follow ``read from``."""

_HELD: Final = frozenset(("prim::Constant", "prim::GetAttr"))


def read_sentence(trace: Trace) -> str:
    """Returns the verdict of a trace that was read and not recorded.

    Args:
        trace: its `Trace.origin` is another than ``recording``.
    """
    facts = "; ".join(_of_file(trace) if trace.origin == "frozen_file" else _of_log(trace))
    return f"Read from {ORIGINS[trace.origin]}: {facts}."


def _of_file(trace: Trace) -> Iterator[str]:
    for method in trace.methods:
        graph = trace.method_steps(method)[0].graph
        nodes = list(graph.walk())
        count = sum(node.op not in _HELD for node in nodes)
        constants = [node.constant for node in nodes if node.constant is not None]
        nbytes = trace.method_steps(method)[0].constant_bytes
        *most, last = [_counted(count, "operation"), *_held(constants)]
        yield f"{method} has {', '.join(most)} and {last} ({bytes_text(nbytes)})"
    kept = [fate for fate in trace.attributes if fate.kind != "submodule"]
    if kept:
        why = next((fate for fate in kept if fate.reason != "unknown"), None)
        because = "" if why is None else f", {why.path} because a method writes it"
        yield f"{_counted(len(kept), 'attribute')} {'remains' if len(kept) == 1 else 'remain'}{because}"
    else:
        yield "no attribute remains"
    if trace.near_misses:
        yield f"{_counted(len(trace.near_misses), 'possible fold')} did not happen"
    yield "nothing of it was run, so its passes, times and outputs are not known"


def _held(constants: Sequence[Constant]) -> list[str]:
    """Counts constant tensors, and what holds tensors: packed weights, lists."""
    tensors = sum(each.is_tensor for each in constants)
    packed = sum(is_packed(each.dtype) for each in constants)
    kinds = (
        (tensors, "constant tensor"),
        (packed, "packed object"),
        (len(constants) - tensors - packed, "constant collection"),
    )
    return [_counted(number, noun) for number, noun in kinds if number] or ["0 constant tensors"]


def _of_log(trace: Trace) -> Iterator[str]:
    yield f"{_counted(len(trace.methods), 'compiled graph')}, {_counted(len(trace.steps), 'snapshot')}"
    kernels = sum(len(program.kernels) for program in trace.programs)
    if trace.programs:
        yield _counted(kernels, "kernel call")
    if trace.failure is not None:
        yield f"it failed in {trace.failure.name} with {trace.failure.type}"
    yield "what became of each weight, times and outputs are not in it"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
