"""Runs torch's passes after freezing one by one, in torch's order.

``optimize_frozen_graph`` is ``OptimizeFrozenGraph`` in ``torch/csrc/jit/passes/frozen_graph_optimizations.cpp``;
``optimize_for_inference`` is the function of that name in ``torch/csrc/jit/api/module.cpp``. Each of their passes
has a Python binding, and running these gives the same graph as the whole (a test compares them).
Checked on torch 2.13.0. On a torch that lacks a binding the whole runs, and is recorded, as one step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.common.disabled_pass_errors import check_can_be_disabled
from freeze_engine.backends.common.observer import NotedStep
from freeze_engine.backends.common.torch_private import has_all, private
from freeze_engine.backends.torchscript.capture.raw import RawFailure, RawFreeze, RawStep, live_snapshot, method_graph
from freeze_engine.backends.torchscript.graph.stages import (
    CLEAN_UP,
    INLINE,
    OUTSIDE,
    PROPAGATE_ATTRIBUTES,
    RECORD_MUTABLE_ATTRIBUTES,
)
from freeze_engine.errors import FreezerError

OPTIMIZE_FROZEN_GRAPH = "optimize_frozen_graph"
OPTIMIZE_FOR_INFERENCE = "optimize_for_inference"


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass by torch's C++ name, and its binding in ``torch._C``."""

    name: str
    binding: str


REMOVE_DROPOUT = Pass("RemoveDropout", "_jit_pass_remove_dropout")
CONCAT_LINEAR = Pass("FrozenConcatLinear", "_jit_pass_concat_frozen_linear")
FOLDS = (
    Pass("FoldFrozenConvBatchnorm", "_jit_pass_fold_frozen_conv_bn"),
    Pass("FoldFrozenConvAddOrSub", "_jit_pass_fold_frozen_conv_add_or_sub"),
    Pass("FoldFrozenConvMulOrDiv", "_jit_pass_fold_frozen_conv_mul_or_div"),
    Pass("FoldFrozenLinearBatchnorm", "_jit_pass_fold_frozen_linear_bn"),
)
INFERENCE = (
    Pass("FuseFrozenConvAddRelu", "_jit_pass_fuse_frozen_conv_add_relu"),
    Pass("ConvertFrozenOpsToMKLDNN", "_jit_pass_convert_frozen_ops_to_mkldnn"),
    Pass("FrozenLinearTranspose", "_jit_pass_transpose_frozen_linear"),
)
#: One step for the graphs whose dropouts the binding cannot remove: it takes a module and only touches ``forward``.
WITHOUT_NUMERICS = (REMOVE_DROPOUT.name, CONCAT_LINEAR.name)
#: The passes that can be disabled, by name.
OPTIONAL = {each.name: each for each in (REMOVE_DROPOUT, CONCAT_LINEAR, *FOLDS, *INFERENCE)}
#: Passes inside ``_freeze_module``: freezing itself, and the clean-up of ``runOptimization``, as named in its log.
_INSIDE = (
    INLINE,
    RECORD_MUTABLE_ATTRIBUTES,
    PROPAGATE_ATTRIBUTES,
    *("EliminateDeadCode", "EliminateCommonSubexpression", "PeepholeOptimize", "ConstantPropagation"),
    *("ConstantPooling", "UnrollConstantLoops", "RemoveListMutation", "CheckInplace"),
    *CLEAN_UP,
)


def check_disabled_passes(names: tuple[str, ...]) -> None:
    """Checks that passes can be disabled in a freeze.

    Args:
        names: theirs.

    Raises:
        FreezerError: one cannot be disabled, or there is none of that name.
    """
    inside = "it runs inside torch._C._freeze_module, which torch offers no way to run in part"
    check_can_be_disabled(names, OPTIONAL, dict.fromkeys(_INSIDE, inside))


@dataclass(frozen=True, slots=True)
class PassDriver:
    """Runs passes on one method's live graph and keeps the effect of each.

    Attributes:
        freezes: where the steps go; the captures that see this graph may have begun at different times.
        graph: the live graph, changed in place by every pass.
        whole: torch's own function of the stage, unpatched.
    """

    freezes: tuple[RawFreeze, ...]
    graph: Any
    whole: Callable[..., Any]

    def optimize_frozen_graph(self, module: Any, optimize_numerics: bool) -> None:
        """Runs the passes of ``torch._C._jit_pass_optimize_frozen_graph`` one by one.

        Args:
            module: the C++ module whose ``forward`` has this graph, or ``None``.
            optimize_numerics: whether to run the folding loop.
        """
        self._note_outside_changes()
        if not has_all(tuple(each.binding for each in (REMOVE_DROPOUT, CONCAT_LINEAR, *FOLDS))):
            self._refuse_parts(f"this torch {torch.__version__} has no bindings of the single passes")
            whole = ("OptimizeFrozenGraph",)
            self._step(OPTIMIZE_FROZEN_GRAPH, whole, lambda: self.whole(self.graph, optimize_numerics))
            return
        if self._drops_by_module(module):
            if REMOVE_DROPOUT.name not in self.disabled_passes:
                removed = (REMOVE_DROPOUT.name,)
                self._step(OPTIMIZE_FROZEN_GRAPH, removed, lambda: private(REMOVE_DROPOUT.binding)(module))
            self._run(OPTIMIZE_FROZEN_GRAPH, CONCAT_LINEAR)
        elif REMOVE_DROPOUT.name in self.disabled_passes:
            self._run(OPTIMIZE_FROZEN_GRAPH, CONCAT_LINEAR)
        else:
            if CONCAT_LINEAR.name in self.disabled_passes:
                self._refuse_parts(f"torch removes the dropouts of this method only together with {CONCAT_LINEAR.name}")
            self._step(OPTIMIZE_FROZEN_GRAPH, WITHOUT_NUMERICS, lambda: self.whole(self.graph, False))
        changed, number = optimize_numerics, 0
        while changed:
            number += 1
            changed = False
            for fold in FOLDS:
                changed |= self._run(OPTIMIZE_FROZEN_GRAPH, fold, number)

    def optimize_for_inference(self) -> None:
        """Runs the passes of ``torch._C._jit_pass_optimize_for_inference`` on this graph one by one."""
        self._note_outside_changes()
        for each in INFERENCE:
            self._run(OPTIMIZE_FOR_INFERENCE, each)

    def _note_outside_changes(self) -> None:
        """Adds a step if code outside torch's freezing has changed the graph since the last pass."""
        for freeze in self.freezes:
            method = freeze.method_of(self.graph) or "forward"
            before = freeze.latest(method)
            now = live_snapshot(self.graph, before)
            if before is not None and now is not before:
                freeze.steps.append(RawStep(OUTSIDE, ("changed by other code",), method, None, None, now))
                freeze.observer.pass_ended(_noted(freeze.steps[-1]))

    def _drops_by_module(self, module: Any) -> bool:
        # The binding refuses a module in training mode (remove_dropout.cpp); the pass inside torch does not check.
        if module is None or method_graph(module, "forward") is not self.graph:
            return False
        return not (module.hasattr("training") and module.getattr("training"))

    @property
    def disabled_passes(self) -> frozenset[str]:
        """Names of the passes to disable."""
        return frozenset(name for freeze in self.freezes for name in freeze.disabled_passes)

    def _refuse_parts(self, why: str) -> None:
        if self.disabled_passes:
            raise FreezerError(f"without {', '.join(sorted(self.disabled_passes))}: {why}; freeze with all passes")

    def _run(self, stage: str, each: Pass, number: int | None = None) -> bool:
        if each.name in self.disabled_passes:
            return False
        return bool(self._step(stage, (each.name,), lambda: private(each.binding)(self.graph), number))

    def _step(self, stage: str, passes: tuple[str, ...], run: Callable[[], Any], number: int | None = None) -> Any:
        name = ", ".join(passes)
        for freeze in self.freezes:
            freeze.observer.pass_begins(stage, name, freeze.method_of(self.graph) or "forward", number)
        started = time.perf_counter_ns()
        try:
            result = run()
        except BaseException as error:
            for freeze in self.freezes:
                freeze.failure = RawFailure(error, stage, name, freeze.method_of(self.graph))
            raise
        duration = time.perf_counter_ns() - started
        for freeze in self.freezes:
            method = freeze.method_of(self.graph) or "forward"
            after = live_snapshot(self.graph, freeze.latest(method))
            freeze.steps.append(RawStep(stage, passes, method, number, duration, after))
            freeze.observer.pass_ended(_noted(freeze.steps[-1]))
        return result


def _noted(step: RawStep) -> NotedStep:
    """Returns a pass as observers receive it: without its live graph."""
    return NotedStep(step.stage, step.passes, step.method, step.round, step.duration_ns, step.after.text)
