"""Candidates of a measurement, run on copies of the inputs, without gradients, with their errors kept separate."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from freeze_engine.analysis.name_texts import listed
from freeze_engine.errors import FreezerError, MeasureError
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.tree_map import map_inputs

Key = int | str
Progress = Callable[[float, str], None]
"""Called with the fraction done, 0 to 1, and what is being measured."""

_MESSAGE_LIMIT = 2000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")
"""Part of Python's ``repr`` of functions and objects that carries no information and differs from run to run."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can be run on the recorded inputs: a step's snapshot, or a baseline.

    Attributes:
        key: the step's index, or the baseline's name; unique within a measurement.
        call: called as ``call(*args, **kwargs)``.
        reset: restores mutable module state before a run; ``None`` if there is none.
        made_by: name of the step's pass; empty for a baseline.
        follows: key of the step that it is compared with besides the first; ``None`` for none.
    """

    key: Key
    call: Callable[..., object]
    reset: Callable[[], None] | None = None
    made_by: str = ""
    follows: Key | None = None

    def __str__(self) -> str:
        """Returns its name in a sentence: ``step 3 (FoldFrozenConvBatchnorm)``, ``eager``."""
        name = f"step {self.key}" if isinstance(self.key, int) else self.key
        return f"{name} ({self.made_by})" if self.made_by else name


class CandidateError(FreezerError):
    """A candidate raised while it ran; the message holds the type and text of what it raised."""

    @property
    def last_line(self) -> str:
        """The message's last line: with what went wrong torch's interpreter ends its messages."""
        return next((line for line in reversed(str(self).splitlines()) if line.strip()), "")


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Turns whatever the model raises inside into `CandidateError`, so that one candidate cannot end all.

    Raises:
        CandidateError: the model raised, or left by ``sys.exit``; ``KeyboardInterrupt`` passes through. Its message
            has no addresses.
    """
    try:
        yield
    except (Exception, SystemExit) as error:  # the model's code, an operator's or a backend's: it may raise anything
        message = _ADDRESS.sub("", f"{type(error).__name__}: {error}")
        raise CandidateError(message[:_MESSAGE_LIMIT]) from error


@contextlib.contextmanager
def inference() -> Iterator[None]:
    """Runs the body as a frozen model is run, and leaves the user's random state as it was.

    This is ``no_grad`` and not ``inference_mode``: inference tensors have no version counter, by which writes to
    the inputs are noticed, and they stay behind in the state of stateful models.
    """
    gpus = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    with torch.inference_mode(False), torch.no_grad(), torch.random.fork_rng(devices=gpus):
        yield


def put_back(candidates: Sequence[Candidate]) -> None:
    """Restores the state that running candidates has changed."""
    for candidate in candidates:
        if candidate.reset is not None:
            candidate.reset()


def silent(fraction: float, what: str) -> None:
    """Discards progress."""


def check_keys(candidates: Sequence[Candidate]) -> None:
    """Checks that the keys of results are distinct.

    Raises:
        MeasureError: two candidates have the same key.
    """
    keys = [candidate.key for candidate in candidates]
    repeated = sorted({str(key) for key in keys if keys.count(key) > 1})
    if repeated:
        raise MeasureError(f"several candidates are called {listed(repeated)}: give each a key of its own")


def cloned(inputs: Inputs, device: torch.device | None = None) -> Inputs:
    """Copies inputs, so that a run may write them.

    Args:
        inputs: tensors may stand in nested tuples, lists, dicts, dataclasses and other objects.
        device: where the copies go; each stays on its device without one.

    Returns:
        Inputs with tensors, containers and objects of their own. What stands in several places stays one tensor or
        object; memory that different tensors share is not shared afterwards.
    """
    return map_inputs(inputs, lambda tensor: tensor.detach().clone().to(device or tensor.device))


def versions(inputs: Inputs) -> tuple[int, ...]:
    """Returns the version of every tensor of cloned inputs, which torch raises with each write in place."""
    found: list[int] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor._version)
        return tensor

    map_inputs(inputs, note)
    return tuple(found)
