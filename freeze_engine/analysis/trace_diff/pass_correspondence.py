"""Matches the passes of TorchScript's freezing with Inductor's, with what each did to one model.

The table follows torch 2.13's sources: ``torch/csrc/jit/passes/freeze_module.cpp`` and
``frozen_graph_optimizations.cpp`` on one side, ``torch/_inductor/freezing.py`` and ``fx_passes/`` on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.trace import Backend, Rewrite, Step, Trace


@dataclass(frozen=True, slots=True)
class Side:
    """The passes of one backend for a purpose.

    Attributes:
        passes: names of its passes; of a step that is called after several, one is enough.
        kinds: beginnings of the kinds of rewrites that serve the purpose; empty for whatever the passes do.
        instead: where the backend does it, if no pass of its own does.
    """

    passes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Correspondence:
    """Passes of both backends that serve one purpose.

    Attributes:
        purpose: what they do.
        torchscript: TorchScript's.
        inductor: Inductor's.
        why: what makes them stand for each other, from torch's source.
    """

    purpose: str
    torchscript: Side
    inductor: Side
    why: str


@dataclass(frozen=True, slots=True)
class PassEffect:
    """The effect of one trace's passes for a purpose.

    Attributes:
        steps: indices of their steps; empty where the trace has none.
        changed: how many of these changed something.
        removed: nodes that they took out.
        added: nodes that they put in.
        rewrites: ``(kind, how many)``, sorted by kind.
        modules: paths of the submodules whose nodes they rewrote, sorted.
        instead: as in `Side`.
    """

    steps: tuple[int, ...]
    changed: int = 0
    removed: int = 0
    added: int = 0
    rewrites: tuple[tuple[str, int], ...] = ()
    modules: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class PassPair:
    """The effects of two freezes by different backends for one purpose.

    Attributes:
        purpose, why: as in `Correspondence`.
        before, after: in the first and in the second trace.
    """

    purpose: str
    why: str
    before: PassEffect
    after: PassEffect


CORRESPONDENCES: Final = (
    Correspondence(
        "inline submodules",
        Side(("Inline",)),
        Side(instead="Dynamo follows the calls while it traces: the first graph has none"),
        "The inliner replaces prim::CallMethod by the method's graph; Dynamo inlines the Python calls.",
    ),
    Correspondence(
        "make parameters constants",
        Side(("RecordMutableAttrs", "PropagateAttributes")),
        Side(("replace_params_with_constants",)),
        "AttributePropagator replaces prim::GetAttr by prim::Constant unless something writes the attribute; "
        "replace_params_with_constants replaces placeholders by get_attr unless the graph mutates or returns them.",
    ),
    Correspondence(
        "compute what depends on constants only",
        Side(("ConstantPropagation",)),
        Side(("constant_fold", "constant_fold_uniform_value")),
        "Both run the operators whose inputs are all constant, once, and keep the result.",
    ),
    Correspondence(
        "merge equal nodes",
        Side(("EliminateCommonSubexpression", "ConstantPooling")),
        Side(("fx_graph_cse", "eliminate_duplicate_packed_nodes")),
        "fx_graph_cse merges equal operators and equal constants alike; TorchScript has a pass for each.",
    ),
    Correspondence(
        "drop what does nothing",
        Side(("PeepholeOptimize", "EliminateNoOps")),
        Side(("remove_noop_ops",)),
        "Both take out operators that return their input.",
    ),
    Correspondence(
        "drop dead code",
        Side(("EliminateDeadCode", "CleanupFrozenModule")),
        Side(instead="each pass erases the nodes that it leaves without readers"),
        "CleanupFrozenModule also drops attributes that nothing reads; in Inductor they are no inputs to begin with.",
    ),
    Correspondence(
        "unroll loops and make lists values",
        Side(("UnrollConstantLoops", "RemoveListMutation")),
        Side(instead="Dynamo runs Python's loops and lists while it traces"),
        "A traced graph has neither.",
    ),
    Correspondence(
        "remove dropout",
        Side(("RemoveDropout",)),
        Side(instead="with train=False dropout is the identity, and is gone once AOTAutograd has traced it"),
        "aten::dropout is composite: decomposing it in eval mode leaves its input.",
    ),
    Correspondence(
        "concatenate linears",
        Side(("FrozenConcatLinear",)),
        Side(("pass_patterns[0]",), ("matmul_fuse", "addmm_fuse", "int8_woq_fusion")),
        "Linears of one input become one with their weights side by side (frozen_concat_linear.cpp, on CUDA only; "
        "freezing_patterns.py, on the CPU only with cpp.enable_concat_linear).",
    ),
    Correspondence(
        "fold into convolutions",
        Side(("FoldFrozenConvBatchnorm", "FoldFrozenConvAddOrSub", "FoldFrozenConvMulOrDiv")),
        Side(("binary_folding",), ("conv_",)),
        "binary_folding.py takes its conditions from frozen_conv_folding.cpp. A batch norm is one node for "
        "TorchScript; AOTAutograd decomposes it, and Inductor folds its sub, mul, mul and add in four rounds, whose "
        "arithmetic the next constant folding does.",
    ),
    Correspondence(
        "fold into linears",
        Side(("FoldFrozenLinearBatchnorm",)),
        Side(("binary_folding",), ("linear_",)),
        "TorchScript folds batch norms only; Inductor any add, sub, mul or div by a constant, if "
        "enable_linear_binary_folding is on.",
    ),
    Correspondence(
        "fold in a wider type",
        Side(instead="folds in the weight's own type"),
        Side(("mark_mixed_dtype_allowed_computation_ops", "recover_original_precision_folded_computation_ops")),
        "Inductor folds float32 constants into a half-precision conv in float32 and rounds once, in the end.",
    ),
    Correspondence(
        "choose the convolutions' layout",
        Side(instead="oneDNN chooses, see the next"),
        Side(("decide_layout_opt", "convert_conv_weights_to_channels_last")),
        "Inductor lays images out channels last and turns the weights before freezing.",
    ),
    Correspondence(
        "prepare convolutions for oneDNN",
        Side(("ConvertFrozenOpsToMKLDNN",)),
        Side(("pass_patterns",), ("pack_convolution", "pack_qconv")),
        "Both store the weight in oneDNN's blocked layout: TorchScript as an MKLDNN tensor, Inductor by "
        "mkldnn._reorder_convolution_weight, which constant folding then computes.",
    ),
    Correspondence(
        "prepare the weights of linears",
        Side(("FrozenLinearTranspose",)),
        Side(("pass_patterns",), ("pack_linear", "pack_qlinear")),
        "TorchScript transposes the weight beforehand (on CUDA); Inductor packs it for oneDNN's or MKL's product.",
    ),
    Correspondence(
        "fuse with what follows",
        Side(("FuseFrozenConvAddRelu",)),
        Side(
            ("pass_pattern",),
            ("_register_unary_fusion", "_register_binary_", "_register_leaky_relu", "_register_hardtanh"),
        ),
        "An activation or a sum becomes part of the operator before it: cudnn_convolution_add_relu on CUDA; oneDNN's "
        "post-operations in mkldnn_fusion.py.",
    ),
    Correspondence(
        "generate code",
        Side(instead="TorchScript's interpreter runs the graph"),
        Side(("GraphLowering.run", "GraphLowering.codegen", "GraphLowering.compile_to_module", "CompiledFxGraph")),
        "Whatever is left is fused into kernels here.",
    ),
)
"""Every purpose, in the order TorchScript serves them."""


def pass_pairs(before: Trace, after: Trace) -> tuple[PassPair, ...]:
    """Compares two freezes of one model by different backends, purpose by purpose.

    Args:
        before: the first trace.
        after: the second.

    Returns:
        One pair for each purpose for which one of them has a pass.
    """
    found = []
    for each in CORRESPONDENCES:
        ours, theirs = (_effect(trace, _side(each, trace.backend)) for trace in (before, after))
        if ours.steps or theirs.steps:
            found.append(PassPair(each.purpose, each.why, ours, theirs))
    return tuple(found)


def _side(correspondence: Correspondence, backend: Backend) -> Side:
    return correspondence.inductor if backend != "torchscript" else correspondence.torchscript


def _effect(trace: Trace, side: Side) -> PassEffect:
    latest: dict[str, Step] = {}
    steps: list[int] = []
    effective: dict[int, _Change] = {}
    for step in trace.steps:
        if any(_is_called(step.passes, name) for name in side.passes):
            steps.append(step.index)
            change = _change(latest.get(step.method), step, side.kinds) if step.changed else None
            effective |= {} if change is None else {step.index: change}
        latest[step.method] = step
    changes = effective.values()
    rewrites = [rewrite for change in changes for rewrite in change.rewrites]
    return PassEffect(
        # A group of patterns serves many purposes: those in which it did something else do not count.
        tuple(effective if side.kinds and effective else steps),
        changed=len(changes),
        removed=sum(change.removed for change in changes),
        added=sum(change.added for change in changes),
        rewrites=tuple(sorted(Counter(rewrite.kind for rewrite in rewrites).items())),
        modules=tuple(sorted({module for rewrite in rewrites for module in rewrite.modules})),
        instead=side.instead,
    )


@dataclass(frozen=True, slots=True)
class _Change:
    removed: int
    added: int
    rewrites: tuple[Rewrite, ...]


def _change(before: Step | None, step: Step, kinds: Sequence[str]) -> _Change | None:
    """Returns what a step did for a purpose, ``None`` if that is nothing."""
    if not kinds:
        nodes = {node.id for node in step.graph.walk()}
        earlier = {node.id for node in before.graph.walk()} if before is not None else set()
        return _Change(len(earlier - nodes), len(nodes - earlier), step.rewrites)
    rewrites = tuple(rewrite for rewrite in step.rewrites if rewrite.kind.startswith(tuple(kinds)))
    consumed = {node for rewrite in rewrites for node in rewrite.consumed}
    produced = {node for rewrite in rewrites for node in rewrite.produced}
    return _Change(len(consumed - produced), len(produced - consumed), rewrites) if rewrites else None


def _is_called(passes: tuple[str, ...], name: str) -> bool:
    """Returns whether one of a step's passes has a name; groups of patterns are numbered."""
    return any(name in (each, _without_number(each)) for each in passes)


def _without_number(name: str) -> str:
    return name.partition("[")[0] if name.endswith("]") else name.rstrip("0123456789").removesuffix("_")
