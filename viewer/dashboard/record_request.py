"""Converts between the page's form and `RecordRequest`, and validates every field: the page is not trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import freeze_engine as fe
from viewer.dashboard.folder_listing import page_path
from viewer.dashboard.form_options import BACKENDS, Option, backend_offer
from viewer.dashboard.library import new_recording

_EXAMPLE: Final = "example:"
_VIA: Final = (None, "script", "trace")
_MAX_SECONDS: Final = 3_600.0
_MAX_COUNT: Final = 1_024
_MAX_BYTES: Final = 1 << 50
_MAX_CALL: Final = 1 << 16
_OPTIONS: Final[Mapping[str, type[fe.TorchScriptOptions] | type[fe.InductorOptions]]] = {
    "torchscript": fe.TorchScriptOptions,
    "inductor": fe.InductorOptions,
}


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
            f"{spec!r} would run code of this machine, which the page may not ask for. Give it on the command line: "
            f"freezer-ui {spec}"
        )
    if spec and path.is_dir():
        raise fe.FreezerError(f"{spec} is a folder; choose a model file in it.")
    raise fe.FreezerError(f"There is no file {spec!r}. Give a TorchScript file, an exported program, or an example.")


def model_kind(model: str) -> str | None:
    """Returns ``example``, or the kind of the file.

    Args:
        model: as `page_model` returned it.
    """
    return "example" if model.startswith(_EXAMPLE) else fe.file_kind(Path(model))


def record_request(message: Mapping[str, Any], folder: Path, now: datetime) -> fe.RecordRequest:
    """Converts a message of type ``record``, and creates an empty output file.

    Args:
        message: as the page sent it.
        folder: of the recordings.
        now: local time.

    Raises:
        FreezerError: a field is missing, of a wrong type or out of range, or the model or an input is refused.
    """
    model = page_model(_text(message, "model"))
    backend = _one_of(message.get("backend"), tuple(each["id"] for each in BACKENDS), "backend")
    offer = backend_offer(backend)
    if refusal := offer["refuses"].get(model_kind(model)):
        raise fe.FreezerError(refusal)
    inputs = _texts(message.get("inputs"), "inputs")
    for text in inputs:
        fe.parse_input(text)
    via = _one_of(message.get("via"), _VIA, "via")
    device = _optional_text(message.get("device"), "device")
    preserved = _texts(message.get("preserve"), "preserve")
    for name, value in (("via", via), ("preserve", preserved)):
        if value and name not in offer["takes"]:
            raise fe.FreezerError(f"{offer['name']} takes no {name}; leave it out, or choose another backend.")
    options = _options(message.get("options"), offer)
    measure = _measure(message.get("measure"))
    limit_s = _seconds(message.get("limit_s"), "limit_s")
    memory_bytes = _bytes(message.get("memory_bytes"), "memory_bytes")
    checks = tuple(_one_of(each, fe.CHECKS, "checks") for each in _texts(message.get("checks"), "checks"))
    ablation = _flag(message.get("ablation", False), "ablation")
    call = _call(message.get("call"))
    name = model.removeprefix(_EXAMPLE) if model.startswith(_EXAMPLE) else Path(model).stem
    return fe.RecordRequest(
        model=model,
        output=new_recording(folder, name, now),
        inputs=inputs,
        backend=backend,
        options=replace(options, preserved_attrs=preserved) if isinstance(options, fe.TorchScriptOptions) else options,
        measure=measure,
        via=via,
        device=device,
        call=call,
        name=name,
        trusted=False,
        limit_s=limit_s,
        memory_bytes=memory_bytes,
        checks=checks,
        ablation=ablation,
    )


def form_values(request: fe.RecordRequest) -> dict[str, Any]:
    """Returns the values of the page's form for a recording, in the format that `record_request` reads.

    Args:
        request: from the page or from elsewhere.
    """
    options = request.options or _OPTIONS[request.backend]()
    measure = request.measure
    wanted = ("latency", "numerics", "memory", "seconds", "threads", "input_sets")
    return {
        "model": request.model,
        "inputs": list(request.inputs),
        "backend": request.backend,
        "via": request.via,
        "options": {
            option["id"]: list(value) if isinstance(value := getattr(options, option["id"]), tuple) else value
            for option in backend_offer(request.backend)["options"]
        },
        "device": request.device,
        "measure": None if measure is None else {name: getattr(measure, name) for name in wanted},
        "checks": list(request.checks),
        "ablation": request.ablation,
        "limit_s": request.limit_s,
        "memory_bytes": request.memory_bytes,
        "preserve": list(getattr(options, "preserved_attrs", ())),
    }


def _options(given: object, offer: Mapping[str, Any]) -> fe.TorchScriptOptions | fe.InductorOptions:
    known: dict[str, Option] = {option["id"]: option for option in offer["options"]}
    values = _mapping(given, "options")
    for name in values:
        if name not in known:
            raise fe.FreezerError(f"{offer['name']} has no option {name!r}; it has {', '.join(known)}.")
    return _OPTIONS[offer["id"]](**{name: _option(known[name], value) for name, value in values.items()})


def _option(option: Option, value: object) -> Any:
    if option["kind"] == "names":
        return _texts(value, option["id"])
    if option["kind"] == "flag":
        return _flag(value, option["id"])
    return _one_of(value, tuple(choice["value"] for choice in option["choices"]), option["id"])


def _measure(given: object) -> fe.Measure | None:
    if given is None:
        return None
    values = _mapping(given, "measure")
    latency, numerics, memory = (_flag(values.get(name, True), name) for name in ("latency", "numerics", "memory"))
    seconds = _seconds(values.get("seconds"), "seconds")
    threads = _count(values.get("threads"), "threads")
    input_sets = _count(values.get("input_sets"), "input_sets")
    measure = fe.Measure(latency, numerics, memory, threads=threads)
    measure = measure if seconds is None else replace(measure, seconds=seconds)
    return measure if input_sets is None else replace(measure, input_sets=input_sets)


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
