"""The backends and all options of a recording, as the page's form and its command line need them."""

from __future__ import annotations

from typing import Any, Final

import freeze_engine as fe
from freeze_engine import requests, worker
from viewer.views.wording import STAGES

Option = dict[str, Any]
"""An option as the page reads it: a `freeze_engine.requests.OptionField` with ``id`` for its name."""

APART: Final = ("preserved_attrs", "package")
"""Options of a backend that the form shows apart from the others, or not at all: files of the server."""


def option_view(option: requests.OptionField) -> Option:
    """Returns an option as the page reads it."""
    choices = [{"value": choice.value, "label": choice.label, "help": choice.help} for choice in option.choices]
    return {
        "id": option.name,
        "flag": option.flag,
        "kind": option.kind,
        "label": option.label,
        "help": option.help,
        "default": list(option.default) if isinstance(option.default, tuple) else option.default,
        "choices": choices,
        "takes_many": option.takes_many,
        "empty": option.empty,
        "needs": option.needs,
    }


def _views(kind: type) -> dict[str, Option]:
    return {option.name: option_view(option) for option in requests.option_fields(kind)}


OPTIONS: Final[dict[str, dict[str, Option]]] = {
    backend: _views(kind) for backend, kind in requests.BACKEND_OPTIONS.items()
}
"""The options of each backend, by their names."""

MEASURE: Final = _views(fe.Measure)
"""The options of the measurements, by their names."""

RECORDING: Final = _views(worker.RecordRequest)
"""All other options of a recording, by their names."""


def _backend(backend: str, name: str, **more: Any) -> dict[str, Any]:
    label = next(choice["label"] for choice in RECORDING["backend"]["choices"] if choice["value"] == backend)
    options = [option for option in OPTIONS[backend].values() if option["id"] not in APART]
    return {"id": backend, "name": name, "label": label, "options": options, **more}


BACKENDS: Final[list[dict[str, Any]]] = [
    _backend("torchscript", "TorchScript", takes=["via", "preserve"], needs_inputs=False, refuses={}, stages=[]),
    _backend(
        "inductor",
        "Inductor",
        takes=[],
        needs_inputs=True,
        refuses=dict.fromkeys(
            ("torchscript", "frozen"),
            "A TorchScript file cannot be compiled: TorchScript does not turn back into Python. Choose an exported "
            "program (torch.export.save), or record it with TorchScript.",
        ),
        stages=[{"id": stage, "help": text} for stage, text in STAGES["inductor"].items()],
    ),
    _backend(
        "aotinductor",
        "AOTInductor",
        takes=[],
        needs_inputs=True,
        refuses=dict.fromkeys(
            ("torchscript", "frozen"),
            "A TorchScript file cannot be compiled ahead of time: TorchScript does not turn back into Python. Choose "
            "an exported program (torch.export.save), or record it with TorchScript.",
        ),
        stages=[{"id": stage, "help": text} for stage, text in STAGES["aotinductor"].items()],
    ),
]
"""The backends.

``takes`` names the arguments of a recording besides the options, ``refuses`` maps each kind of file that cannot be
recorded to the reason, and ``stages`` are the stages shown while a recording has no steps yet.
"""


def options_view() -> dict[str, Any]:
    """Returns the options that do not depend on the backend, and the one that the form shows apart."""
    preserve = OPTIONS["torchscript"]["preserved_attrs"]
    return {"recording": RECORDING | {"preserve": preserve | {"id": "preserve"}}, "measure": MEASURE}


def backend_offer(backend: str) -> dict[str, Any]:
    """Returns the entry of `BACKENDS` with that id."""
    return next(each for each in BACKENDS if each["id"] == backend)
