"""The options of a recording on the command line: adds them to a parser, and turns what was parsed into a request."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

from freeze_engine.errors import FreezerError
from freeze_engine.requests.inputs import parse_input
from freeze_engine.requests.option_arguments import add_option, given_options
from freeze_engine.requests.option_metadata import OptionField, option_fields
from freeze_engine.requests.options import BACKEND_OPTIONS, Measure, Options, TorchScriptOptions, unmeasured
from freeze_engine.requests.without_effect import idle_flags
from freeze_engine.worker.request import RecordRequest

_FREEZE: Final = ("inputs", "imports", "backend", "via")
"""The options of `RecordRequest` that come before those of the backends; all but ``device`` of the others follow."""

_OF_RUNNING: Final = ("checks", "ablation", "float_model")
"""The options whose result needs a model that runs."""

_VALUED: Final = ("-o", "--output", "--report", "--host", "--port", "--upload-limit", "--upload-total", "--jobs")
"""Arguments with a value that say nothing about the recording itself."""

_SWITCHES: Final = ("--no-browser", "-v", "--traceback")
"""Arguments without one."""


def add_freeze_arguments(parser: argparse._ActionsContainer) -> list[argparse.Action]:
    """Adds the options of the freeze and its inputs.

    Args:
        parser: a parser or an argument group.

    Returns:
        The added actions.
    """
    own = {option.name: option for option in option_fields(RecordRequest)}
    added = [add_option(parser, own[name]) for name in _FREEZE]
    names = [option.name for kind in BACKEND_OPTIONS.values() for option in option_fields(kind)]
    for backend, kind in BACKEND_OPTIONS.items():
        prefix = "" if backend == "torchscript" else f"{backend}: "
        added += [add_option(parser, option, prefix) for option in option_fields(kind) if names.count(option.name) == 1]
    shared = [option for option in option_fields(TorchScriptOptions) if names.count(option.name) > 1]
    return added + [add_option(parser, option) for option in (*shared, own["device"])]


def add_recording_arguments(parser: argparse._ActionsContainer) -> list[argparse.Action]:
    """Adds the options of a recording.

    Args:
        parser: a parser or an argument group.

    Returns:
        The added actions.
    """
    added = add_freeze_arguments(parser)
    added.append(parser.add_argument("--no-measure", action="store_true", help="record only"))
    added += [add_option(parser, option) for option in option_fields(Measure)]
    others = [option for option in option_fields(RecordRequest) if option.name not in (*_FREEZE, "device")]
    return added + [add_option(parser, option) for option in others]


def check_recording(arguments: argparse.Namespace) -> None:
    """Validates the options of a recording before it starts.

    Args:
        arguments: the parsed arguments.

    Raises:
        FreezerError: torch is not installed, an option belongs to another backend or has no effect with the others,
            or an input cannot be read.
    """
    for backend in BACKEND_OPTIONS:
        values = ((option, getattr(arguments, option.name, None)) for option in _only(backend))
        given = ", ".join(_flag(option, value) for option, value in values if value is not None)
        if given and backend != arguments.backend:
            raise FreezerError(f"{given}: for --backend {backend} only, and this is --backend {arguments.backend}")
    if hasattr(arguments, "no_measure"):
        asked = {option.name: getattr(arguments, option.name, None) for option in option_fields(Measure)}
        for flag, switch in idle_flags(asked, measures=not arguments.no_measure):
            raise FreezerError(f"--{flag}: without effect, because of {switch}; leave out one of the two")
    for text in arguments.inputs or ():
        parse_input(text)
    if importlib.util.find_spec("torch") is None:
        raise FreezerError("torch is not installed here: recording needs it, looking at a trace does not")


def check_reading(arguments: argparse.Namespace, what: str) -> str | None:
    """Validates the options of a recording for something that exists already, and is only read.

    Args:
        arguments: the parsed arguments.
        what: the thing, in words.

    Returns:
        A sentence on the given options that have no effect; ``None`` if there are none.

    Raises:
        FreezerError: an option asks for what only a model that runs has.
    """
    kinds = (RecordRequest, *BACKEND_OPTIONS.values(), Measure)
    values = {
        option.name: (option, getattr(arguments, option.name, None)) for kind in kinds for option in option_fields(kind)
    }
    given = {
        name: _flag(option, value)
        for name, (option, value) in values.items()
        if value not in (None, option.default) and not (option.kind == "switch" and value is False)
    }
    if refused := [flag for name, flag in given.items() if name in _OF_RUNNING]:
        raise FreezerError(
            f"{', '.join(refused)}: {arguments.model} is {what}, which is only read and not run, so there is nothing "
            "to compare or check; record the model that it was made from"
        )
    if not given:
        return None
    return f"{', '.join(given.values())}: without effect, because {what} is only read"


def freeze_options(arguments: argparse.Namespace) -> Options:
    """Returns the options of the chosen backend; without ``--preserve`` the MODEL's own preserved attributes apply.

    Args:
        arguments: the parsed arguments.
    """
    kind = BACKEND_OPTIONS[arguments.backend]
    return kind(**given_options(arguments, kind))


def recording_request(arguments: argparse.Namespace, model: str, output: Path, call: str | None) -> RecordRequest:
    """Returns the recording request of a command line.

    Args:
        arguments: the parsed arguments.
        model: the MODEL.
        output: the trace file.
        call: the command to show in the trace.
    """
    asked = Measure(**given_options(arguments, Measure))
    measure = unmeasured(asked) if arguments.no_measure else asked
    return RecordRequest(
        model=model,
        output=output,
        options=freeze_options(arguments),
        measure=measure,
        call=call,
        name=model_name(model),
        **given_options(arguments, RecordRequest),
    )


def parse_recording_command(text: str) -> RecordRequest | None:
    """Parses a command that recorded something, such as ``freezer-ui record MODEL`` or ``freezer-ui MODEL``.

    Args:
        text: as a trace has it.

    Returns:
        The request, with the output ``MODEL.fztrace``; ``None`` if the text is no such command.
    """
    try:
        words = shlex.split(text)
    except ValueError:  # an open quote
        return None
    if words[:1] != ["freezer-ui"] or len(words) < 2:
        return None
    parser = _QuietParser(add_help=False, allow_abbrev=False)
    parser.add_argument("model")
    add_recording_arguments(parser)
    for flag in _VALUED:
        parser.add_argument(flag, dest="_ignored")
    for flag in _SWITCHES:
        parser.add_argument(flag, dest="_ignored", action="store_true")
    try:
        arguments = parser.parse_intermixed_args(words[2:] if words[1] == "record" else words[1:])
        check_recording(arguments)
        return recording_request(arguments, arguments.model, Path(f"{model_name(arguments.model)}.fztrace"), text)
    except FreezerError:
        return None


def model_name(model: str) -> str:
    """Returns the name of a MODEL: the file's stem, the example's name, or the factory's."""
    path = Path(model)
    return path.stem if path.is_file() else re.split("[:./]", model)[-1]


class _QuietParser(argparse.ArgumentParser):
    """Raises what other parsers print before they exit."""

    def error(self, message: str) -> NoReturn:
        raise FreezerError(message)


def _only(backend: str) -> Iterable[OptionField]:
    """Yields the options that only one backend has."""
    other = {option.name for name, kind in BACKEND_OPTIONS.items() if name != backend for option in option_fields(kind)}
    yield from (option for option in option_fields(RecordRequest) if option.backend == backend)
    yield from (option for option in option_fields(BACKEND_OPTIONS[backend]) if option.name not in other)


def _flag(option: OptionField, value: Any) -> str:
    return f"--{'no-' if value is False else ''}{option.flag}"
