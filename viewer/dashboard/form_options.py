"""The backends and their options, as the page's form offers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import freeze_engine as fe
from viewer.views.wording import STAGES

Option = dict[str, Any]
"""An option of a backend.

``id`` is its name in the backend's options class, ``flag`` that on the command line. Its ``kind`` is ``flag`` (true
or false), ``names`` (a list of texts), or ``choice`` (the ``value`` of one of its ``choices``).
"""

_WITHOUT: Final[Option] = {
    "id": "without",
    "flag": "without",
    "label": "Leave out passes",
    "kind": "names",
    "help": "by the names that a recording shows",
    "default": [],
}

_TORCHSCRIPT: Final[list[Option]] = [
    {
        "id": "optimize_numerics",
        "flag": "optimize-numerics",
        "label": "Folds that can change the numbers",
        "kind": "flag",
        "help": "such as a batch norm into its convolution; the last digits may differ",
        "default": True,
    },
    {
        "id": "optimize_for_inference",
        "flag": "optimize-for-inference",
        "label": "Optimize for inference",
        "kind": "flag",
        "help": "go on with torch.jit.optimize_for_inference",
        "default": False,
    },
    {
        "id": "other_methods",
        "flag": "other-method",
        "label": "Other methods",
        "kind": "names",
        "help": "methods besides forward to preserve and to optimize",
        "default": [],
    },
    _WITHOUT,
]

_INDUCTOR: Final[list[Option]] = [
    {
        "id": "mode",
        "flag": "mode",
        "label": "Mode of torch.compile",
        "kind": "choice",
        "help": "the two max-autotune modes choose kernels by running them, and take longer to compile",
        "default": None,
        "choices": [
            {"value": None, "label": "not given"},
            *({"value": mode, "label": mode} for mode in fe.COMPILE_MODES),
        ],
    },
    {
        "id": "dynamic",
        "flag": "dynamic",
        "label": "Sizes of the inputs",
        "kind": "choice",
        "help": "a graph with symbols for sizes serves every shape; one with numbers is compiled anew for each",
        "default": None,
        "choices": [
            {"value": None, "label": "numbers, until they change"},
            {"value": True, "label": "symbols from the start"},
            {"value": False, "label": "numbers always"},
        ],
    },
    {
        "id": "max_autotune",
        "flag": "max-autotune",
        "label": "Choose kernels by running them",
        "kind": "choice",
        "help": "max_autotune, also without a mode that has it",
        "default": None,
        "choices": [
            {"value": None, "label": "as the mode and torch's settings say"},
            {"value": True, "label": "yes"},
            {"value": False, "label": "no"},
        ],
    },
    {
        "id": "fullgraph",
        "flag": "fullgraph",
        "label": "One graph only",
        "kind": "flag",
        "help": "a graph break is an error",
        "default": False,
    },
    {
        "id": "force_disable_caches",
        "flag": "fresh-caches",
        "label": "Compile anew",
        "kind": "flag",
        "help": "a hit in Inductor's caches would skip the passes after freezing, and so hide them",
        "default": False,
    },
    {
        "id": "discard_parameters",
        "flag": "discard-parameters",
        "label": "Give up the module's parameters",
        "kind": "flag",
        "help": "saves memory; afterwards the module runs only compiled, and only with these shapes",
        "default": False,
    },
    _WITHOUT,
]

BACKENDS: Final[list[dict[str, Any]]] = [
    {
        "id": "torchscript",
        "name": "TorchScript",
        "label": "TorchScript: torch.jit.freeze",
        "options": _TORCHSCRIPT,
        "takes": ["via", "preserve"],
        "needs_inputs": False,
        "refuses": {},
        "stages": [],
    },
    {
        "id": "inductor",
        "name": "Inductor",
        "label": "Inductor: torch.compile with freezing",
        "options": _INDUCTOR,
        "takes": [],
        "needs_inputs": True,
        "refuses": {
            "torchscript": "A TorchScript file cannot be compiled: TorchScript does not turn back into Python. Choose "
            "an exported program (torch.export.save), or record it with TorchScript."
        },
        "stages": [{"id": stage, "help": text} for stage, text in STAGES["inductor"].items()],
    },
]
"""The backends.

``takes`` names the arguments of a recording besides the options, ``refuses`` maps each kind of file that cannot be
recorded to the reason, and ``stages`` are the stages shown while a recording has no steps yet.
"""

CHECKS: Final[Mapping[str, tuple[str, str]]] = {
    "stale_weights": ("Stale weights", "whether it notices that a parameter of the original changed"),
    "idempotence": ("Idempotence", "whether freezing it once more leaves it as it is"),
    "determinism": ("Determinism", "whether freezing anew gives the same"),
    "round_trip": ("Round trip", "whether it is the same after saving and loading"),
}
"""Checks of the frozen module after the freeze: a label and the question, for each of ``fe.CHECKS``."""


def check_offers() -> list[dict[str, str]]:
    """Returns the checks that the form offers."""
    return [{"id": name, "label": CHECKS[name][0], "help": CHECKS[name][1]} for name in fe.CHECKS]


def backend_offer(backend: str) -> dict[str, Any]:
    """Returns the entry of `BACKENDS` with that id."""
    return next(each for each in BACKENDS if each["id"] == backend)
