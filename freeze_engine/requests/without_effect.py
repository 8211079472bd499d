"""Finds arguments of a recording that have no effect together with its others; each is refused, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from freeze_engine.errors import FreezerError
from freeze_engine.requests.option_metadata import option_fields
from freeze_engine.requests.options import AOTInductorOptions, InductorOptions, Measure, Options


def check_loading(
    specs: Sequence[object], is_spec: Callable[[object], bool], map_location: str | None, imports: Sequence[str]
) -> None:
    """Checks that there is something to load, where it is said how.

    Args:
        specs: the models of the call.
        is_spec: returns whether a model is a MODEL spec, which is loaded.
        map_location, imports: arguments of `freeze_engine.record`.

    Raises:
        FreezerError: every model is a module in memory.
    """
    if any(map(is_spec, specs)):
        return
    if map_location is not None:
        raise FreezerError(
            f"map_location={map_location!r}: for a MODEL that is loaded, and this is a module in memory: move it with "
            f".to({map_location!r})"
        )
    if imports:
        raise FreezerError(f"imports={tuple(imports)!r}: for a MODEL that is loaded, and this is a module in memory")


def check_via(via: str | None, options: Options, measure: Measure | None) -> None:
    """Checks that a module gets into TorchScript at all, where it is said how.

    Args:
        via: as the caller gave it.
        options: how to freeze.
        measure: what to measure.

    Raises:
        FreezerError: it does not.
    """
    if via is None:
        return
    if isinstance(options, AOTInductorOptions):
        raise FreezerError(f"via={via!r}: AOTInductor exports the module, TorchScript has no part in it; leave via out")
    if isinstance(options, InductorOptions) and (measure is None or not measure.latency):
        raise FreezerError(
            f"via={via!r}: with Inductor only the latency is compared with TorchScript's, and none is measured; "
            "leave via out"
        )


def idle_of_measure(measure: Measure) -> Iterator[tuple[str, str]]:
    """Yields the measurements' options that have no effect, each with the switch that is off.

    Args:
        measure: what to measure.
    """
    needed = {option.name: option.needs for option in option_fields(Measure) if option.needs} | {"devices": "latency"}
    plain = Measure()
    for name, switch in needed.items():
        if getattr(measure, name) != getattr(plain, name) and not getattr(measure, switch):
            yield name, switch


def idle_flags(given: Mapping[str, Any], *, measures: bool) -> Iterator[tuple[str, str]]:
    """Yields the same for a command line, each with the flag that takes its effect away.

    Args:
        given: value of each option of `Measure` that is given, by name.
        measures: whether anything is measured; ``values`` holds for every recording.
    """
    for option in option_fields(Measure):
        value = given.get(option.name)
        if value is None or value is False:
            continue
        if not measures and option.name != "values":
            yield option.flag, "--no-measure"
        elif option.needs and given.get(option.needs) is False:
            yield option.flag, f"--no-{option.needs}"
