"""Checks whether freezing the same module again gives the same result."""

from __future__ import annotations

from typing import Final

from freeze_engine.diagnose.checks.context import CheckContext, Compared
from freeze_engine.diagnose.checks.differences import freeze_differences, result_differences
from freeze_engine.diagnose.checks.refreeze import frozen_anew
from freeze_engine.requests.options import InductorOptions
from freeze_engine.trace import Check, Trace

NAME: Final = "determinism"
_TIMES: Final = {"torchscript": 2, "inductor": 1}  # a compile takes long


def determinism(context: CheckContext) -> Check | Compared:
    """Freezes copies of the source module, and compares passes, graphs and fates with those of the first freeze.

    For Inductor the generated code is compared as well.

    Args:
        context: the freeze.
    """
    options = context.options
    if isinstance(options, InductorOptions) and (context.inputs is None or options.discard_parameters):
        return Check(NAME, "unknown", "The module gave up its parameters (discard_parameters): no copy has them.")
    others = [frozen_anew(context) for _ in range(_TIMES[context.trace.backend])]
    found = [(*freeze_differences(context.trace, other), *_code_differences(context.trace, other)) for other in others]
    details = tuple(
        f"freeze {number} against the first: {line}" for number, lines in enumerate(found, start=2) for line in lines
    )
    times = f"{len(others) + 1} freezes of the same module"
    if not details:
        return Check(NAME, "passed", f"{times} did the same.")
    unlike = [other for other in others if result_differences(context.trace, other)]
    if unlike:
        check = Check(NAME, "failed", f"{times} gave other graphs: a recording is of one run.", details)
        return Compared(check, unlike[0])
    other = next(other for other, lines in zip(others, found, strict=True) if lines)
    return Compared(Check(NAME, "passed", f"{times} differ on the way, and compute the same.", details), other)


def _code_differences(before: Trace, after: Trace) -> list[str]:
    ours, theirs = (
        {(program.name, program.method): [kernel.name for kernel in program.kernels] for program in trace.programs}
        for trace in (before, after)
    )
    return [
        f"the kernels of {method} ({name}) differ: {len(ours[name, method])} and {len(theirs[name, method])}"
        for name, method in ours
        if (name, method) in theirs and ours[name, method] != theirs[name, method]
    ]
