"""Which attributes a compiled package takes new values for."""

from __future__ import annotations

from dataclasses import replace

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.trace import AttributeFate, Evidence

_UPDATES = "load_constants of the loaded package"
_FOLDED = "FoldedConstant"
_ADVICE = (
    "Compile the package again for other weights, or without freezing: each weight then keeps its name, and "
    "load_constants takes a new value for it."
)


def with_update(compiled: RawCompile, fate: AttributeFate) -> AttributeFate:
    """Returns a fate with whether the package takes a new value for the attribute, and what shows that.

    Args:
        compiled: the compile; for one in the process, nothing is added.
        fate: the fate.
    """
    package = compiled.package
    if package is None or package.constants is None:
        return fate
    names = {fate.path, fate.same_as} - {""}
    held = next((each for each in package.constants if each[1] in names and each[2] != _FOLDED), None)
    if held is None:
        text = f"the package has no constant of that name, so {_UPDATES} takes no new value for it"
        evidence = (*fate.evidence, Evidence(text))
        advice = fate.advice or (_ADVICE if fate.fate in ("inlined", "folded") else "")
        return replace(fate, updatable=False, evidence=evidence, advice=advice)
    others = sorted({place.value for place in fate.locations} - {held[0]})
    text = f"the package holds it as {held[0]} under the name {held[1]}: {_UPDATES} takes a new value for it"
    if fate.fate == "folded" or (others and fate.fate == "inlined" and len(fate.locations) > 1):
        text += f"; what was computed from it ({listed(others)}) keeps the old one"
    return replace(fate, updatable=True, evidence=(*fate.evidence, Evidence(text)))
