"""Converts between the page's form and `RecordRequest`, and validates every field: the page is not trusted."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

import freeze_engine as fe
from freeze_engine import models, requests, worker
from viewer.dashboard.folder_listing import page_path
from viewer.dashboard.form_options import MEASURE, RECORDING, Option, backend_offer
from viewer.dashboard.library import new_recording

_EXAMPLE: Final = "example:"
_MAX_SECONDS: Final = 3_600.0
_MAX_COUNT: Final = 1_024
_MAX_BYTES: Final = 1 << 50
_MAX_CALL: Final = 1 << 16
_MAX_NAME: Final = 200
_VALUES: Final = ("imports", "via", "device", "checks", "ablation", "limit_s", "memory_bytes")
"""The fields of a message that go into the request as they are."""


def page_model(text: str) -> str:
    """Validates the model that the page names: an example or a file.

    Args:
        text: as typed into the page.

    Returns:
        The example's spec, or the file's absolute path.

    Raises:
        FreezerError: it is neither. ``package.module:factory`` is always refused, for it would run code of this
            machine.
    """
    spec = text.strip()
    if spec.startswith(_EXAMPLE):
        if spec.removeprefix(_EXAMPLE) not in fe.EXAMPLES:
            raise fe.FreezerError(f"There is no {spec}. The examples are {', '.join(fe.EXAMPLES)}.")
        return spec
    path = page_path(spec)
    if spec and path.is_file():
        return str(path.absolute())
    if ":" in spec and not path.exists():
        raise fe.FreezerError(
            f"{spec!r} is Python code of this machine, which this page may not run. Open it from the command line: "
            + _own_code(spec)
        )
    if spec and path.is_dir():
        raise fe.FreezerError(f"{spec} is a folder; choose a model file in it.")
    raise fe.FreezerError(f"There is no file {spec!r}. Give a TorchScript file, an exported program, or an example.")


def _own_code(spec: str) -> str:
    """Returns the command that records Python code: a file is named there as a module of its folder."""
    place, _, function = spec.rpartition(":")
    file = PurePath(place)
    if file.suffix != ".py":
        return f"freezer-ui {spec}"
    return f"freezer-ui {file.stem}:{function}, in the folder {file.parent}"


def page_imports(message: Mapping[str, Any], model: str) -> tuple[str, ...]:
    """Returns the modules that the user of the form wants to be imported before the model is opened.

    Args:
        message: as the page sent it.
        model: as `page_model` returned it.

    Raises:
        FreezerError: they are no names, or are for a built-in example, which needs none and runs in no sandbox.
    """
    names = _texts(message.get("imports"), "imports")
    _check_imports(model, names)
    return names


def _check_imports(model: str, names: tuple[str, ...]) -> None:
    if names and model.startswith(_EXAMPLE):
        raise fe.FreezerError("An example needs no imports; leave the field Import empty.")
    for name in names:
        if len(name) > _MAX_NAME or not all(part.isidentifier() for part in name.split(".")):
            raise fe.FreezerError(
                f"Import: {name!r:.80} is not the name of a module, such as torchao.quantization.pt2e."
            )


def page_float_model(message: Mapping[str, Any]) -> str | None:
    """Returns the model that the page names as the one that the recorded model was quantised from.

    Args:
        message: as the page sent it.

    Raises:
        FreezerError: it is neither an example nor a model file whose layers can be watched while they run.
    """
    text = _optional_text(message.get("float_model"), "float_model")
    if text is None or not text.strip():
        return None
    model = page_model(text)
    if model_kind(model) in ("torchscript", "frozen"):
        raise fe.FreezerError(
            f"Float model: {model} is a TorchScript file, whose layers do not show what they compute. Choose an "
            "exported program (torch.export.save)."
        )
    return model


def model_kind(model: str) -> str | None:
    """Returns ``example``, or the kind of the file.

    Args:
        model: as `page_model` returned it.
    """
    return "example" if model.startswith(_EXAMPLE) else models.file_kind(Path(model))


def record_request(message: Mapping[str, Any], folder: Path, now: datetime) -> worker.RecordRequest:
    """Converts a message of type ``record``, and creates an empty output file.

    Args:
        message: as the page sent it.
        folder: of the recordings.
        now: local time.

    Raises:
        FreezerError: a field is missing, of a wrong type or out of range, or the model or an input is refused.
    """
    model = page_model(_text(message, "model"))
    backend = _value(RECORDING["backend"], message.get("backend"))
    offer = backend_offer(backend)
    if refusal := offer["refuses"].get(model_kind(model)):
        raise fe.FreezerError(refusal)
    inputs = _texts(message.get("inputs"), "inputs")
    for text in inputs:
        requests.parse_input(text)
    values = {name: _value(RECORDING[name], message.get(name, RECORDING[name]["default"])) for name in _VALUES}
    _check_imports(model, values["imports"])
    preserved = _texts(message.get("preserve"), "preserve")
    for name, value in (("via", values["via"]), ("preserve", preserved)):
        if value and name not in offer["takes"]:
            raise fe.FreezerError(f"{offer['name']} takes no {name}; leave it out, or choose another backend.")
    float_model = page_float_model(message)
    options = _options(message.get("options"), offer)
    measure = _measure(message.get("measure"))
    call = _call(message.get("call"))
    name = model.removeprefix(_EXAMPLE) if model.startswith(_EXAMPLE) else Path(model).stem
    return worker.RecordRequest(
        model=model,
        output=new_recording(folder, name, now),
        inputs=inputs,
        backend=backend,
        options=replace(options, preserved_attrs=preserved) if isinstance(options, fe.TorchScriptOptions) else options,
        measure=measure,
        call=call,
        name=name,
        trusted=False,
        float_model=float_model,
        **values,
    )


def read_request(path: Path, folder: Path, now: datetime) -> worker.RecordRequest:
    """Returns the request to read what exists already, and creates an empty output file.

    Args:
        path: absolute, of what `freeze_engine.opening.open_existing` reads.
        folder: of the recordings.
        now: local time.
    """
    return worker.RecordRequest(
        model=str(path),
        output=new_recording(folder, path.stem, now),
        measure=None,
        call=f"freezer-ui {shlex.quote(str(path))}",
        name=path.stem,
        trusted=False,
        reads_only=True,
    )


@dataclass(frozen=True, slots=True)
class TriedCall:
    """One call of a model that the page wants to be tried.

    Attributes:
        model, inputs, imports, device, memory_bytes: as in `freeze_engine.worker.RecordRequest`.
    """

    model: str
    inputs: tuple[str, ...]
    imports: tuple[str, ...]
    device: str | None
    memory_bytes: int | None


def tried_call(message: Mapping[str, Any]) -> TriedCall:
    """Converts a message of type ``try``.

    Args:
        message: as the page sent it.

    Raises:
        FreezerError: a field is missing or of a wrong type, or the model or an input is refused.
    """
    inputs = _texts(message.get("inputs"), "inputs")
    for text in inputs:
        requests.parse_input(text)
    device, memory_bytes = (_value(RECORDING[name], message.get(name)) for name in ("device", "memory_bytes"))
    model = page_model(_text(message, "model"))
    return TriedCall(model, inputs, page_imports(message, model), device, memory_bytes)


def form_values(request: worker.RecordRequest) -> dict[str, Any]:
    """Returns the values of the page's form for a recording, in the format that `record_request` reads.

    Args:
        request: from the page or from elsewhere.
    """
    options = request.options or requests.BACKEND_OPTIONS[request.backend]()
    measure = request.measure
    return {
        "model": request.model,
        "inputs": list(request.inputs),
        "backend": request.backend,
        "options": {
            option["id"]: _listed(getattr(options, option["id"]))
            for option in backend_offer(request.backend)["options"]
        },
        "measure": None if measure is None else {name: getattr(measure, name) for name in MEASURE},
        "preserve": list(getattr(options, "preserved_attrs", ())),
        "float_model": request.float_model,
        **{name: _listed(getattr(request, name)) for name in _VALUES},
    }


def _options(given: object, offer: Mapping[str, Any]) -> requests.Options:
    known: dict[str, Option] = {option["id"]: option for option in offer["options"]}
    values = _mapping(given, "options")
    for name in values:
        if name not in known:
            raise fe.FreezerError(f"{offer['name']} has no option {name!r}; it has {', '.join(known)}.")
    return requests.BACKEND_OPTIONS[offer["id"]](**{name: _value(known[name], value) for name, value in values.items()})


def _value(option: Option, value: object) -> Any:
    """Validates the value of an option by the option's kind."""
    name, allowed = option["id"], tuple(choice["value"] for choice in option["choices"])
    match option["kind"]:
        case "switch":
            return _flag(value, name)
        case "names":
            return _texts(value, name)
        case "choices":
            return tuple(_one_of(each, allowed, name) for each in _texts(value, name))
        case "choice" | "yes_no":
            return _one_of(value, allowed, name)
        case "text":
            return _optional_text(value, name)
    return _NUMBERS[option["kind"]](value, name)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _measure(given: object) -> fe.Measure | None:
    if given is None:
        return None
    values = _mapping(given, "measure")
    checked = {name: _value(option, values.get(name, option["default"])) for name, option in MEASURE.items()}
    return fe.Measure(**{name: MEASURE[name]["default"] if each is None else each for name, each in checked.items()})


def _count(value: object, name: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= _MAX_COUNT:
        raise _wrong(name, f"a whole number from 1 to {_MAX_COUNT}", value)
    return value


def _call(given: object) -> str | None:
    """Returns the command to show in the trace; without one the trace generates it."""
    text = _optional_text(given, "call")
    return text if text is None or len(text) <= _MAX_CALL else None


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise _wrong(name, "a text", value)
    return value


def _optional_text(value: object, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _wrong(name, "a text", value)
    return value or None


def _texts(value: object, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(name, "a list of texts", value)
    return tuple(value)


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(name, "an object", value)
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, "true or false", value)
    return value


def _seconds(value: object, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(name, "a number of seconds", value)
    if not 0 < value <= _MAX_SECONDS:
        raise fe.FreezerError(f"{name} is {value} s; give more than 0 and at most {_MAX_SECONDS:.0f}.")
    return float(value)


def _bytes(value: object, name: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 < value <= _MAX_BYTES:
        raise _wrong(name, f"a whole number of bytes from 1 to {_MAX_BYTES}", value)
    return value


def _one_of(value: Any, allowed: tuple[Any, ...], name: str) -> Any:
    if not any(type(value) is type(each) and value == each for each in allowed):  # 1 == True
        raise _wrong(name, f"one of {', '.join(map(str, allowed))}", value)
    return value


def _wrong(name: str, expected: str, value: object) -> fe.FreezerError:
    return fe.FreezerError(f"{name} is {value!r:.80}; it has to be {expected}.")


_NUMBERS: Final[Mapping[str, Callable[[object, str], float | None]]] = {
    "count": _count,
    "seconds": _seconds,
    "size": _bytes,
}
