"""Names of the stages, and of the passes that torch gives no name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

INPUT: Final = "input"
INLINE: Final = "inline"
FREEZE_MODULE: Final = "freeze_module"
RECORD_MUTABLE_ATTRIBUTES: Final = "RecordMutableAttrs"
PROPAGATE_ATTRIBUTES: Final = "PropagateAttributes"
#: Passes at the end of ``_freeze_module`` that torch does not log.
CLEAN_UP: Final = ("EliminateNoOps", "LowerSimpleTuples", "CleanupFrozenModule")
OUTSIDE = "outside"
CONSTANT_OPS = ("prim::Constant", "prim::ConstantMKLDNNTensor")


@dataclass(frozen=True, slots=True)
class PassRun:
    """One pass over one method, without its graphs.

    Attributes:
        stage, passes, method, round, duration_ns, log: as in `freeze_engine.trace.Step`.
    """

    stage: str
    passes: tuple[str, ...]
    method: str
    round: int | None = None
    duration_ns: int | None = None
    log: tuple[str, ...] = ()
