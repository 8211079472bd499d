"""Numbers, verdicts and reasons in words, for all views."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis

if TYPE_CHECKING:
    from freeze_engine.trace import Interval

FATES: Final[Mapping[str, str]] = {
    "inlined": "It is a constant in the final graph.",
    "folded": "It was inlined, and a later pass consumed the constant.",
    "preserved": "It is still an attribute of the frozen module, or an input of the compiled graph.",
    "dropped": "No kept code reads it.",
}

MODULE_FATES: Final[Mapping[str, str]] = {
    "inlined": "Its methods and what it held are in the graph now; the module itself is gone.",
    "folded": "It was inlined, and later passes consumed what it held; the module itself is gone.",
    "dropped": "No kept code uses it.",
}

REASONS: Final[Mapping[str, tuple[str, str]]] = {
    "requested": ("requested", "It was named in preserved_attrs."),
    "ancestor_of_requested": ("holds a requested one", "A name in preserved_attrs lies inside it."),
    "set_in_method": ("assigned in a method", "A preserved method assigns it, so it cannot be a constant."),
    "mutated_in_place": ("written in place", "A preserved method writes its memory in place."),
    "aliases_preserved": ("aliases a preserved one", "It shares memory with an attribute that is preserved."),
    "module_preserved": ("its module is preserved", "The submodule that holds it is preserved or escapes."),
    "not_constant": ("cannot be a constant", "torch has no constant for a value of this type."),
    "shared_class": ("shared class", "Another instance of the same class keeps this slot."),
    "unresolved_path": ("path not resolved", "The attribute read could not be followed back to the module."),
    "interface": ("interface type", "It is reached through a module interface."),
    "mutated_input": ("mutated input", "The graph writes it, so it stays an input."),
    "aliases_output": ("aliases an output", "An output shares its memory, so it stays an input."),
    "not_a_parameter": ("not a parameter", "torch got it as an input and not as a parameter, so it stays one."),
    "read_live": ("read by the code around", "The code that Dynamo writes around the graph reads it at every call."),
    "outside_graphs": ("outside the graphs", "No graph has it; Python code outside of the graphs may read it."),
    "unknown": ("unknown", "It was preserved; nothing recorded proves why."),
}

STAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "torchscript": {
        "input": "the graph as it came",
        "inline": "every call is replaced by what it calls",
        "freeze_module": "attributes become constants, and clean-up passes run on what that leaves",
        "optimize_frozen_graph": "folds what frozen weights allow, such as a batch norm into its convolution",
        "optimize_for_inference": "the layouts and operators that run fastest on the device",
        "runtime": "what TorchScript's executor makes of the frozen module when it runs; no part of the freeze",
    },
    "inductor": {
        "input": "the graph as Dynamo and AOTAutograd made it",
        "joint_graph": "simplifications that forward and backward graphs have in common",
        "layout": "whether convolutions become channels-last, and the conversion",
        "fake_tensor": "shapes, dtypes and strides worked out anew",
        "inline_parameters": "parameters and buffers that nothing writes become constants",
        "freezing_passes": "folds constants and the operators next to them, in rounds, and packs weights",
        "post_grad": "Inductor's passes on any inference graph",
        "compile": "lowers the graph, generates the code and compiles it",
    },
    "aotinductor": {
        "input": "the graph as torch.export and AOTAutograd made it; parameters and buffers are constants already",
        "joint_graph": "simplifications that forward and backward graphs have in common",
        "layout": "whether convolutions become channels-last, and the conversion",
        "fake_tensor": "shapes, dtypes and strides worked out anew",
        "inline_parameters": "common subexpressions, and views that become reshapes",
        "freezing_passes": "folds constants and the operators next to them, in rounds, and packs weights",
        "post_grad": "Inductor's passes on any inference graph",
        "compile": "lowers the graph, generates C++ code and compiles it into a package",
    },
}
"""The stages of each backend in order, with a description."""

READ_STAGES: Final[Mapping[str, str]] = {
    "dynamo": "the graph that Dynamo traced, as the log has it",
    "pre_grad": "before AOTAutograd; passes that ran between two graphs of a log are unknown",
    "aot": "the graph as AOTAutograd made it",
    "other": "another graph of the log",
}
"""Stages of traces that were read from torch's logs, besides those of the backend."""

NOTHING: Final = "no measurable difference"
"""Verdict of a time ratio that claims no difference."""


def told_ratio(ratio: Interval | None, claim: str | None, smallest: float) -> str | None:
    """Returns a time ratio in words; ``None`` if there is none, or if the measurement was too noisy to tell anything.

    Args:
        ratio: the ratio.
        claim: its verdict.
        smallest: the smallest detectable difference (`freeze_engine.analysis.Detection`).
    """
    return None if ratio is None or analysis.tells_nothing(claim, smallest) else analysis.ratio_text(ratio)


def unseen(claim: str | None, smallest: float) -> str | None:
    """Returns the smallest detectable difference in words if a ratio claims nothing, else ``None``.

    Args:
        claim: the ratio's verdict.
        smallest: the smallest detectable difference (`freeze_engine.analysis.Detection`).
    """
    return analysis.unseen_text(smallest) if claim == NOTHING else None


def latency_change_text(ratio: Interval, since: int, device: str) -> str:
    """Describes a change of latency beyond noise (``12% less time than step 0 (8 to 16%) on cpu``)."""
    return f"{analysis.ratio_text(ratio, f'step {since}')} on {device}"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """Returns a tensor's sizes (``64×3×7×7``), ``scalar`` for no dimensions, and an empty text for ``None``."""
    if shape is None:
        return ""
    return "×".join(map(str, shape)) if shape else "scalar"


def finite(number: float) -> float | None:
    """Returns ``number`` if JSON can hold it, else ``None``."""
    return number if math.isfinite(number) else None


def counts_text(graph: analysis.GraphDiff) -> str:
    """Returns the numbers of differing nodes (``+2 −1 ~3, 1 moved``), an empty text for no difference."""
    signed = (("+", graph.added), ("−", graph.removed), ("~", graph.changed))
    counts = " ".join(f"{sign}{len(nodes)}" for sign, nodes in signed if nodes)
    ends = [f"its {name} differ" for name, differ in _ends(graph) if differ]
    return ", ".join(filter(None, (counts, f"{len(graph.moved)} moved" if graph.moved else "", *ends)))


def pass_text(step: fe.Step) -> str:
    """Returns a step's name for a sentence (``step 14, FoldConvBn (forward, round 1)``)."""
    where = step.method if step.round is None else f"{step.method}, round {step.round}"
    return f"step {step.index}, {step.name} ({where})"


def why_text(fate: fe.AttributeFate, steps: tuple[fe.Step, ...]) -> str:
    """Returns one sentence with the reason for an attribute's fate.

    Args:
        fate: the attribute.
        steps: the trace's steps, to name the one that decided.
    """
    if fate.fate == "preserved":
        return REASONS[fate.reason or "unknown"][1]
    if fate.kind == "submodule":
        return MODULE_FATES[fate.fate]
    if _is_told_by_evidence(fate, steps):
        return f"{fate.evidence[0].fact[:1].upper()}{fate.evidence[0].fact[1:]}."
    if fate.fate != "folded" or fate.step is None:
        return FATES[fate.fate]
    ending = "merged into another constant" if fate.locations else "computed away"
    return f"It was inlined, then {ending} by {pass_text(steps[fate.step])}."


def _is_told_by_evidence(fate: fe.AttributeFate, steps: Sequence[fe.Step]) -> bool:
    """Whether the first evidence says more than the fate: it entered no graph, or code generation took its constant."""
    if not fate.evidence:
        return False
    step = fate.evidence[0].step
    is_packed = fate.fate == "inlined" and step is not None and steps[step].stage == "compile"
    return is_packed or (fate.fate == "dropped" and fate.step is None)


def _ends(graph: analysis.GraphDiff) -> tuple[tuple[str, bool], ...]:
    return ("inputs", graph.inputs_changed), ("outputs", graph.outputs_changed)
