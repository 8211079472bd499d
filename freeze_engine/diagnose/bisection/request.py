"""Arguments of `bisect()`, as plain data."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from freeze_engine.errors import FreezerError
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import (
    AccuracyCheck,
    CommandCheck,
    InductorOptions,
    LatencyCheck,
    TorchScriptOptions,
)

if TYPE_CHECKING:
    import torch

CheckOptions = AccuracyCheck | LatencyCheck | CommandCheck


@dataclass(frozen=True, slots=True)
class BisectRequest:
    """Arguments of `bisect`."""

    model: torch.nn.Module | str | Path
    inputs: Inputs | None
    check: CheckOptions
    options: TorchScriptOptions | InductorOptions
    via: Literal["script", "trace"] | None
    map_location: str | None
    method: str | None
    every_step: bool | None
    script: Path | None


def check_options(check: CheckOptions | str) -> CheckOptions:
    """Returns a check with its options.

    Args:
        check: one, or ``accuracy``, ``latency`` or a command, with the options they have by default.

    Raises:
        FreezerError: it is no command either, or one that cannot be run.
    """
    if isinstance(check, str):
        check = _by_name(check)
    if isinstance(check, CommandCheck) and shutil.which(check.words[0]) is None:
        why = "it is no file that may be executed" if Path(check.words[0]).exists() else "there is no such program"
        raise FreezerError(
            f"check {check.words[0]}: {why}; a check is accuracy, latency, or a command, which is run without a shell"
        )
    return check


def _by_name(check: str) -> CheckOptions:
    if check == "accuracy":
        return AccuracyCheck()
    if check == "latency":
        return LatencyCheck()
    try:
        words = shlex.split(check)
    except ValueError as error:
        raise FreezerError(f"check {check!r}: the command cannot be read: {error}") from error
    if not words:
        raise FreezerError("check is empty: give accuracy, latency, or a command")
    return CommandCheck(tuple(words))


def check_text(check: CheckOptions, device: str) -> str:
    """Returns what is checked, in words.

    Args:
        check: the check.
        device: where latencies are taken.
    """
    if isinstance(check, AccuracyCheck):
        most = check.max_error
        wanted = "torch.testing.assert_close" if most is None else f"within {most:g}"
        return f"accuracy: outputs against eager, {wanted}"
    if isinstance(check, CommandCheck):
        return f"command: {shlex.join(check.words)}"
    return f"latency on {device}: no more than {check.margin:.0%} slower"
