"""The terms of the viewer, each in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GLOSSARY: Final[Mapping[str, str]] = {
    "ablation": "The model is frozen again without one pass, to measure what that pass contributes.",
    "alias set": "Values that may share memory. A write to one of them may change all.",
    "baseline": "What a frozen model is compared with: eager, scripted, or compiled without freezing.",
    "constant": "A value that is stored in the graph itself and cannot change between calls.",
    "dropped": "The fate of an attribute that no kept code reads.",
    "eager": "The model as it runs in Python, without compiling or freezing.",
    "fate": "What became of a parameter, buffer or other attribute: inlined, folded, preserved or dropped.",
    "folded": "The fate of an attribute that became a constant, which a later pass merged into another or computed "
    "away.",
    "freezing": "Turning a model's weights into constants of its graph, which lets torch compute parts of it ahead of "
    "time. A frozen model is for inference only.",
    "graph": "The operations of a method, and the values that flow between them.",
    "graph break": "A place where torch.compile cannot continue a graph: Python runs, and a new graph begins.",
    "inlined": "The fate of an attribute that is a constant of the final graph.",
    "interval": "The range that contains the true value with 95% confidence.",
    "kernel": "One function that runs on the device. It may compute several operations at once.",
    "lineage": "The history of a node or value through the passes: where it was made, changed and consumed.",
    "measurable difference": "A difference that is larger than the noise of the measurements. Where there is none, the "
    "text says how large one would have shown.",
    "near miss": "A fold that did not happen, although a change of the model would make it happen. It names the "
    "condition of torch that failed.",
    "node": "One operation or constant of a graph.",
    "pass": "One function of torch that changes or inspects the graph.",
    "preserved": "The fate of an attribute that stays in the frozen module, or an input of the compiled graph.",
    "rewrite": "Nodes that one pass replaced together, such as a batch norm that it folded into a convolution.",
    "round": "One turn of a loop of passes, which torch repeats until nothing changes.",
    "snapshot": "The graph of a method at one moment: after a pass.",
    "stage": "A group of passes that torch runs together, such as freeze_module.",
    "step": "One entry of the pass list: a pass over one method, or several between which torch shows no graph.",
    "tolerance": "The difference that torch.testing.assert_close allows for a data type, because of rounding.",
    "wildcard": "A value whose memory torch's alias analysis does not know: it may be any value of that type.",
}
"""Sorted by the term."""


def glossary_page() -> str:
    """Returns ``docs/glossary.md``."""
    rows = "\n".join(f"| {term} | {text} |" for term, text in GLOSSARY.items())
    return f"# Glossary\n\n<!-- made from viewer/views/glossary.py -->\n\n| term | meaning |\n|---|---|\n{rows}\n"
