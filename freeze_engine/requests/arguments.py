"""Checks and describes the arguments of `freeze_engine.record`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from freeze_engine.errors import FreezerError
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import (
    BACKEND_OPTIONS,
    CHECKS,
    CheckName,
    Measure,
    Options,
)
from freeze_engine.requests.suggestions import did_you_mean
from freeze_engine.requests.without_effect import idle_of_measure

if TYPE_CHECKING:
    import torch


def options_for(backend: str, options: Options | None) -> Options:
    """Returns the options to freeze with, by default those of the backend.

    Raises:
        FreezerError: there is no such backend, or the options belong to another.
    """
    if backend not in BACKEND_OPTIONS:
        meant = did_you_mean(str(backend), BACKEND_OPTIONS)
        *others, last = map(repr, BACKEND_OPTIONS)
        raise FreezerError(
            f"backend={backend!r} is not known; this version records {', '.join(others)} and {last}"
            f"{'.' if meant else ''}{meant}"
        )
    wanted = BACKEND_OPTIONS[backend]
    options = wanted() if options is None else options
    if not isinstance(options, wanted):
        raise FreezerError(
            f"backend={backend!r} does not go with options of {type(options).__name__}: pass fe.{wanted.__name__}"
        )
    return options


def refuse_of_existing(
    model: object, *, checks: Sequence[str] = (), ablation: bool = False, float_model: object = None
) -> None:
    """Refuses what needs a model that runs, for something that exists already and is only read.

    Args:
        model: the MODEL.
        checks, ablation, float_model: arguments of `record`.

    Raises:
        FreezerError: one of them is given.
    """
    given = {"checks": bool(checks), "ablation": ablation, "float_model": float_model is not None}
    if asked := [name for name, is_given in given.items() if is_given]:
        raise FreezerError(
            f"{', '.join(asked)}: {model} is only read and not run, so there is nothing to compare or check; "
            "record the model that it was made from"
        )


def warn_of_existing(model: object, **given: object) -> None:
    """Warns of arguments that have no effect for something that exists already and is only read.

    Args:
        model: the MODEL.
        **given: arguments of `record`, ``None`` for those that were not given.
    """
    if names := [name for name, value in given.items() if value is not None]:
        warnings.warn(f"{', '.join(names)}: without effect, because {model} is only read", stacklevel=3)


def check_measure(measure: object) -> None:
    """Checks that ``measure`` is an instance of its class, and that all of it has an effect.

    Raises:
        FreezerError: it is not.
    """
    if measure is not None and not isinstance(measure, Measure):
        raise FreezerError(f"measure={measure!r}: pass fe.Measure(...), or None to record only")
    for name, switch in idle_of_measure(measure) if measure is not None else ():
        raise FreezerError(f"measure: {name} has no effect with {switch}=False; leave out one of the two")


def known_checks(names: Sequence[str]) -> tuple[CheckName, ...]:
    """Returns the checks of these names.

    Raises:
        FreezerError: there is no such check.
    """
    if isinstance(names, str):
        raise FreezerError(f"checks={names!r} is a text: pass a tuple, checks=({names!r},)")
    known: dict[str, CheckName] = {name: name for name in CHECKS}
    for name in names:
        if name not in known:
            raise FreezerError(f"there is no check {name!r}; there are {', '.join(CHECKS)}.{did_you_mean(name, known)}")
    return tuple(known[name] for name in dict.fromkeys(names))


def as_inputs(inputs: Inputs | Sequence[Any] | torch.Tensor | None) -> Inputs | None:
    """Converts inputs of any accepted form to `Inputs`.

    Raises:
        FreezerError: they have no accepted form.
    """
    if inputs is None or isinstance(inputs, Inputs):
        return inputs
    if isinstance(inputs, (tuple, list)):
        return Inputs(tuple(inputs))
    if hasattr(inputs, "untyped_storage"):
        return Inputs((inputs,))
    raise FreezerError(f"inputs is a {type(inputs).__name__}: pass a tuple of arguments, fe.Inputs, or a tensor")


def call_text(
    model: str,
    options: Options,
    via: str | None,
    checks: Sequence[str] = (),
    ablation: bool = False,
    imports: Sequence[str] = (),
    float_model: str | None = None,
) -> str:
    """Writes the call of `record` as Python, without arguments that have their default.

    Args:
        model: its first argument, as Python.
        options, via, checks, ablation, imports: its arguments of these names.
        float_model: that argument as Python, ``None`` if there is none.
    """
    changed = [
        f"{each.name}={value!r}" for each in fields(options) if (value := getattr(options, each.name)) != each.default
    ]
    parts = [model, "inputs"]
    backend = next(name for name, kind in BACKEND_OPTIONS.items() if kind is type(options))
    parts += [f"backend={backend!r}"] if backend != "torchscript" else []
    parts += [f"options=fe.{type(options).__name__}({', '.join(changed)})"] if changed else []
    parts += [f"via={via!r}"] if via else []
    parts += [f"imports={tuple(imports)!r}"] if imports else []
    parts += [f"float_model={float_model}"] if float_model is not None else []
    parts += [f"checks={tuple(checks)!r}"] if checks else []
    parts += ["ablation=True"] if ablation else []
    return f"fe.record({', '.join(parts)})"
