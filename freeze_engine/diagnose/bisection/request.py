"""Arguments of `bisect()`, as plain data."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from freeze_engine.errors import FreezerError
from freeze_engine.requests.criteria import AccuracyCriterion, CommandCriterion, LatencyCriterion
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import ProcessOptions

if TYPE_CHECKING:
    import torch

CriterionOptions = AccuracyCriterion | LatencyCriterion | CommandCriterion


@dataclass(frozen=True, slots=True)
class BisectRequest:
    """Arguments of `bisect`."""

    model: torch.nn.Module | str | Path
    inputs: Inputs | None
    criterion: CriterionOptions
    options: ProcessOptions
    via: Literal["script", "trace"] | None
    map_location: str | None
    imports: tuple[str, ...]
    method: str | None
    every_step: bool | None
    script: Path | None


def criterion_options(criterion: CriterionOptions | str) -> CriterionOptions:
    """Returns a criterion with its options.

    Args:
        criterion: one, or ``accuracy``, ``latency`` or a command, with the options they have by default.

    Raises:
        FreezerError: it is no command either, or one that cannot be run.
    """
    if isinstance(criterion, str):
        criterion = _by_name(criterion)
    if isinstance(criterion, CommandCriterion) and shutil.which(criterion.words[0]) is None:
        why = (
            "it is not a file that may be executed" if Path(criterion.words[0]).exists() else "there is no such program"
        )
        raise FreezerError(
            f"criterion {criterion.words[0]}: {why}; a criterion is accuracy, latency, or a command that needs no shell"
        )
    return criterion


def _by_name(criterion: str) -> CriterionOptions:
    if criterion == "accuracy":
        return AccuracyCriterion()
    if criterion == "latency":
        return LatencyCriterion()
    try:
        words = shlex.split(criterion)
    except ValueError as error:
        raise FreezerError(f"criterion {criterion!r}: the command cannot be read: {error}") from error
    if not words:
        raise FreezerError("the criterion is empty: give accuracy, latency, or a command")
    return CommandCriterion(tuple(words))


def criterion_text(criterion: CriterionOptions, device: str) -> str:
    """Returns what is checked, in words.

    Args:
        criterion: the criterion.
        device: where latencies are taken.
    """
    if isinstance(criterion, AccuracyCriterion):
        most = criterion.max_error
        wanted = "torch.testing.assert_close" if most is None else f"within {most:g}"
        return f"accuracy: outputs against eager, {wanted}"
    if isinstance(criterion, CommandCriterion):
        return f"command: {shlex.join(criterion.words)}"
    return f"latency on {device}: no more than {criterion.margin:.0%} slower"
