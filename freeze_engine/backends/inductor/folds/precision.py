"""Finds constants that folding has left in another precision than the values used with them.

Folding in reduced precision computes in float32; only ``recover_original_precision_folded_computation_ops`` casts the
result back (``torch/_inductor/fx_passes/binary_folding.py``, torch 2.13). No operator takes such operands meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import torch

from freeze_engine.backends.inductor.attributes.origins import nodes_read
from freeze_engine.backends.inductor.graph.rows import RawGraph, Row, TensorRef
from freeze_engine.backends.inductor.graph.target_names import operator_name, without_overload

_COMPUTATIONS = {"aten.convolution", "aten.addmm", "aten.mm"}


def mixed_precisions(graph: RawGraph) -> Iterator[str]:
    """Yields a line for each conv or linear that cannot be run, since its operands differ in their precision."""
    dtypes: dict[int, torch.dtype | None] = {}
    for row in graph.rows:
        operands = {dtypes.get(id(node)) for node in nodes_read(row)} - {None}
        dtypes[id(row.node)] = _dtype(row, operands)
        is_computation = row.op == "call_function" and without_overload(operator_name(row.target)) in _COMPUTATIONS
        if is_computation and len(operands) > 1:
            names = " and ".join(sorted(str(dtype).removeprefix("torch.") for dtype in operands))
            yield f"cannot be run: %{row.name} has operands of {names} until the original precision is recovered"


def _dtype(row: Row, operands: Iterable[torch.dtype | None]) -> torch.dtype | None:
    """Returns the dtype of a result; for a node that a pass has just made, that of its operands."""
    held = row.value.get() if isinstance(row.value, TensorRef) else None
    known: torch.dtype | None = getattr(row.val if held is None else held, "dtype", None)
    if known is not None or row.op != "call_function":
        return known
    given = (argument for argument in row.args if isinstance(argument, torch.dtype))  # of a cast
    promoted = reduce(torch.promote_types, filter(None, operands), torch.bool)
    return next(given, None if promoted is torch.bool else promoted)
