"""Entries that several stages of Inductor share."""

from __future__ import annotations

from freeze_engine.analysis.pass_explanations import inductor_reasons as why
from freeze_engine.analysis.pass_explanations.entry import PassEntry, always
from freeze_engine.analysis.pass_explanations.reasons import has_none_of

SHAPES = PassEntry(
    "Works out the shape, dtype and strides of each result without computing it; later passes read these.",
    always("All shapes, dtypes and strides are as they were."),
)
VIEWS = PassEntry(
    "Replaces each view by a reshape, which also works once a convolution's output has another memory layout.",
    has_none_of("view", "aten.view.default"),
)
NO_OPS = PassEntry(
    "Removes operators that return their input as it is, such as a clone, a slice of everything, or a conversion to "
    "the same dtype.",
    has_none_of("operator that may return its input as it is", *why.MAY_BE_NO_OP),
)
IN_ORDER = PassEntry("Puts each node after the nodes whose results it reads.", why.in_order)
CUSTOM = PassEntry("Runs a pass of the user's, from Inductor's configuration.")
BETWEEN = PassEntry("Changes between the named passes of this stage.")
