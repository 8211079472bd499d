"""Checks whether the frozen module has just the attributes that the recording calls preserved."""

from __future__ import annotations

from typing import Any, Final

from freeze_engine.backends.common.torch_private import cpp_module
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.requests.options import InductorOptions
from freeze_engine.trace import AttributeFate, Check

NAME: Final = "attributes"
_MOST: Final = 20


def attributes(context: CheckContext) -> Check:
    """Looks each parameter, buffer and value up in the frozen module, by ``hasattr``.

    Args:
        context: the freeze.
    """
    if isinstance(context.options, InductorOptions):
        text = "What torch.compile makes has no attributes of its own: the graph's inputs show what was not frozen."
        return Check(NAME, "unknown", text)
    asked = [fate for fate in context.trace.attributes if fate.kind != "submodule"]
    # The Python object around it has attributes of its own.
    module = cpp_module(context.result)
    wrong = [fate for fate in asked if _has(module, fate.path) != (fate.fate == "preserved")]
    if not wrong:
        return Check(NAME, "passed", f"The frozen module has just what the recording says: {len(asked)} looked up.")
    details = tuple(f"{fate.path}: {fate.fate}, but {_found(fate)}" for fate in wrong[:_MOST])
    return Check(NAME, "failed", f"The recording is wrong about {len(wrong)} of {len(asked)} attributes.", details)


def _found(fate: AttributeFate) -> str:
    return "the frozen module does not have it" if fate.fate == "preserved" else "the frozen module has it"


def _has(module: Any, path: str) -> bool:
    for name in path.split("."):
        if not module.hasattr(name):
            return False
        module = module.getattr(name)
    return True
