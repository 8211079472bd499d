"""The passes of TorchScript's freezing.

Read from ``freeze_module.cpp``, ``graph_executor.cpp`` (``runOptimization``), ``frozen_graph_optimizations.cpp`` and
``module.cpp`` (``optimize_for_inference``) of torch 2.13, and from the files of the passes that these run.
"""

from __future__ import annotations

from collections.abc import Mapping

from freeze_engine.analysis.pass_explanations import torchscript_reasons as why
from freeze_engine.analysis.pass_explanations.entry import PassEntry, always
from freeze_engine.analysis.pass_explanations.reasons import (
    ONLY_READS,
    first_of,
    has_none_of,
    lacks,
    near_misses,
    no_repeats,
    nothing_from_constants,
)

_PROPAGATE = PassEntry(
    "Replaces each read of an attribute by a constant with the attribute's value, unless something writes the "
    "attribute, preserved_attrs names it, or torch has no constant for its type.",
    why.no_attribute_read,
)
_BEFORE_FREEZING = {
    "input": PassEntry("The graph as it came, before any pass."),
    "Inline": PassEntry(
        "Replaces each call of a method or function by the body of what it calls, so that later passes see one graph.",
        why.no_call,
    ),
    "CheckPreservedNames": PassEntry(
        "Looks up each name in preserved_attrs; an unknown name is an error.", always(ONLY_READS)
    ),
    "RecordMutableAttrs": PassEntry(
        "Runs the alias analysis and notes which attributes something assigns or writes in place: these stay.",
        always(ONLY_READS),
    ),
    "PropagateAttributes": _PROPAGATE,
    "AttributePropagation": _PROPAGATE,
}
_CLEAN_UP = {
    "EliminateDeadCode": PassEntry(
        "Removes nodes that have no side effect and whose results nothing reads.", why.nothing_unread
    ),
    "EliminateCommonSubexpression": PassEntry(
        "Keeps one of several nodes that apply the same operator to the same inputs; random operators, side effects "
        "and values that something writes are left alone.",
        no_repeats,
    ),
    "PeepholeOptimize": PassEntry(
        "Replaces small patterns by simpler ones, such as an expand to the size that a tensor has already, a type "
        "conversion to the same type, or a check of an optional value that is known.",
        why.nothing_to_simplify,
    ),
    "ConstantPropagation": PassEntry(
        "Runs the nodes whose inputs are all constants and keeps the results as constants; takes the branch of an if "
        "whose condition is a constant, and drops a loop that never runs.",
        nothing_from_constants,
    ),
    "ConstantPooling": PassEntry(
        "Moves all constants to the top of the graph and keeps one of each that are equal.", why.no_equal_constants
    ),
    "UnrollConstantLoops": PassEntry(
        "Replaces a small for loop with a constant number of turns by its repeated body.",
        first_of(has_none_of("loop", "prim::Loop"), why.endless_or_unknown_loops),
    ),
    "UnrollLoops": PassEntry("Repeats the body of small loops.", has_none_of("loop", "prim::Loop")),
    "RemoveListMutation": PassEntry(
        "Turns an append to a list that was just constructed into an element of its construction.",
        why.no_append_to_new_list,
    ),
    "CheckInplace": PassEntry(
        "Checks that no Python function in the graph works in place; one would be an error.", always(ONLY_READS)
    ),
    "EliminateNoOps": PassEntry(
        "Removes detach, which does nothing where no gradients are recorded.",
        has_none_of("detach", "aten::detach"),
    ),
    "LowerSimpleTuples": PassEntry(
        "Connects the elements of a tuple directly, where the graph constructs it and takes it apart again.",
        why.no_tuple_taken_apart,
    ),
    "CleanupFrozenModule": PassEntry(
        "Removes from the module the attributes, submodules and methods that no kept code uses. It leaves the graph as "
        "it is."
    ),
}
_OPTIMIZE = {
    "OptimizeFrozenGraph": PassEntry(
        "Removes dropouts, concatenates parallel linears, and folds batch norms and constant additions and "
        "multiplications into the weights before them."
    ),
    "RemoveDropout": PassEntry(
        "Removes each dropout whose training flag is a constant and false: it then returns its input.",
        first_of(lacks(dropout=why.DROPOUTS), why.drops_at_run_time, near_misses),
    ),
    "FrozenConcatLinear": PassEntry(
        "Joins linears of the same input, with constant weights and biases on CUDA, into one larger linear, whose "
        "output is then sliced.",
        first_of(
            lacks(linear=why.LINEAR),
            why.no_shared_input,
            why.not_on("cuda", "CUDA", "weights", *why.LINEAR),
            near_misses,
        ),
    ),
    "FoldFrozenConvBatchnorm": PassEntry(
        "Multiplies a batch norm that follows a convolution into the convolution's weight and bias, if all of these "
        "are constants and nothing else reads the convolution's output.",
        first_of(
            lacks(convolution=why.CONV_LIKE, batch_norm=why.BATCH_NORM),
            why.not_beside("batch norm", why.BATCH_NORM, "convolution", why.CONV_LIKE),
            near_misses,
        ),
    ),
    "FoldFrozenConvAddOrSub": PassEntry(
        "Adds a constant that follows a convolution, one number or one per channel, to the convolution's bias.",
        first_of(
            lacks(convolution=why.CONV_LIKE, addition_or_subtraction=why.ADDS),
            why.not_beside("addition or subtraction", why.ADDS, "convolution", why.CONV_LIKE),
            near_misses,
            why.only_run_time_values("additions and subtractions", why.ADDS),
        ),
    ),
    "FoldFrozenConvMulOrDiv": PassEntry(
        "Multiplies a constant factor that follows a convolution, one number or one per channel, into the "
        "convolution's weight and bias.",
        first_of(
            lacks(convolution=why.CONV_LIKE, multiplication_or_division=why.MULS),
            why.not_beside("multiplication or division", why.MULS, "convolution", why.CONV_LIKE),
            near_misses,
            why.only_run_time_values("multiplications and divisions", why.MULS),
        ),
    ),
    "FoldFrozenLinearBatchnorm": PassEntry(
        "Multiplies a batch norm that follows a linear into the linear's weight and bias, if all are constants.",
        first_of(
            lacks(linear=why.LINEAR, batch_norm=why.BATCH_NORM),
            why.not_beside("batch norm", why.BATCH_NORM, "linear", why.LINEAR),
            near_misses,
        ),
    ),
}
_WITH_RELU = ("aten::conv2d", "aten::conv3d", "aten::_convolution")
_INFERENCE = {
    "FuseFrozenConvAddRelu": PassEntry(
        "Makes one cuDNN operator of a convolution on CUDA, an addition if there is one, and the relu after them.",
        first_of(
            lacks(**{"2D_or_3D_convolution": _WITH_RELU, "relu": ("aten::relu", "aten::relu_")}),
            why.not_on("cuda", "CUDA", "convolutions' weights", *_WITH_RELU),
        ),
    ),
    "ConvertFrozenOpsToMKLDNN": PassEntry(
        "Stores float32 weights of 2D and 3D convolutions on the CPU in the layout of MKLDNN (oneDNN), and runs these "
        "and what reads their outputs, linears included, in it. A linear alone begins no such part.",
        first_of(
            lacks(**{"2D_or_3D_convolution": _WITH_RELU}),
            why.not_on("cpu", "the CPU", "weights", *_WITH_RELU),
            why.not_single_precision,
        ),
    ),
    "FrozenLinearTranspose": PassEntry(
        "Stores the weight of each linear with constant weight and bias transposed, and replaces the linear by a "
        "matmul and an addition.",
        lacks(linear=why.LINEAR),
    ),
}
#: By torch's name.
TORCHSCRIPT: Mapping[str, PassEntry] = {**_BEFORE_FREEZING, **_CLEAN_UP, **_OPTIMIZE, **_INFERENCE}
