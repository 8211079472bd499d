"""Nodes that a step folded or fused, and folds that did not happen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Nodes consumed and produced together in one step.

    Attributes:
        kind: ``conv_bn``, ``conv_add``, ``conv_mul``, ``linear_bn``, ``concat_linear``, ``dropout``, …
        consumed: ids, in the snapshot before the step.
        produced: ids, in the snapshot after it; a node changed in place is in both.
        attributes: paths of the attributes whose values went into the produced constants.
        modules: paths of the submodules the consumed nodes come from.
    """

    kind: str
    consumed: tuple[str, ...]
    produced: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A fold that was possible by its shape and did not happen.

    Attributes:
        step: index of the step that could have done it.
        kind: the fold, named as in `Rewrite.kind`.
        node: id of the remaining node (the batch norm, add or mul).
        neighbour: id of the conv or linear it is next to; empty where the pass took that away.
        reason: the first condition of torch's that fails: ``shared_weights``, ``several_uses``,
            ``operand_not_constant``, ``training_statistics``, ``no_running_stats``, ``dtype``, ``shape``, …; for what
            torch does not look for ``unsupported_op``, ``in_between``, ``activation_between``, ``before_conv``,
            ``before_padded_conv``, ``before_linear``, ``own_statistics``, ``no_such_fold``; ``unknown`` where none of
            these explains it.
        detail: one sentence with the values that decided it.
        advice: what the user could change; empty if nothing.
        saved_bytes: what one call with the recorded inputs would read and write less if it were folded: the operator's
            input and output, in B; ``None`` where the size of these is not known.
    """

    step: int
    kind: str
    node: str
    neighbour: str
    reason: str
    detail: str
    advice: str = ""
    saved_bytes: int | None = None
