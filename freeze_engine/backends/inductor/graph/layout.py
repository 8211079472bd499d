"""Explains torch's choice of the layout of convolutions."""

from __future__ import annotations

from collections.abc import Iterator

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.graph.rows import RawGraph, Row
from freeze_engine.backends.inductor.graph.target_names import operator_name


def layout_reasons(graph: RawGraph, decision: bool) -> Iterator[str]:
    """Yields the reasons for torch's layout, as far as its conditions are visible from outside.

    After ``GraphLowering.decide_layout_opt`` (``torch/_inductor/graph.py``, torch 2.13).

    Args:
        graph: the graph it decided on.
        decision: torch's choice.
    """
    yield f"channels last: {'yes' if decision else 'no'}"
    config = torch_private.inductor_config()
    convolutions = [row for row in graph.rows if operator_name(row.target) == "aten.convolution.default"]
    if not config.layout_optimization:
        yield "torch._inductor.config.layout_optimization is off"
    elif config.force_layout_optimization:
        yield "torch._inductor.config.force_layout_optimization is on"
    elif not convolutions:
        yield "the graph has no convolution"
    elif len(graph.rows) >= 300 * len(convolutions) and not decision:
        yield f"only {len(convolutions)} convolutions in {len(graph.rows)} nodes"
    elif not decision and any(map(_is_dynamic, convolutions)):
        yield "a convolution has sizes that are symbols, which was slower (pytorch#102670)"
    elif decision and all(str(getattr(row.val, "device", "")) == "cpu" for row in convolutions):
        yield f"{len(convolutions)} convolutions on the CPU, where oneDNN prefers it"
    else:
        yield "by torch's estimate of the convolutions' operations and benchmarked speed-ups"


def _is_dynamic(convolution: Row) -> bool:
    operands = [node.meta.get("val") for node in convolution.args[:2]]
    return any(not isinstance(size, int) for operand in operands for size in getattr(operand, "shape", ()))
