"""Inputs, environment, failure and notices of a freeze."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freeze_engine.trace.notice_codes import NoticeCode


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One input the model was recorded with.

    Attributes:
        name: position (``0``) or keyword.
        type: ``Tensor``, or the Python type's name.
        shape, dtype, device: of a tensor, else ``None``.
    """

    name: str
    type: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions, machine and settings that can change a freeze or a measurement.

    Attributes:
        torch: version.
        python: version.
        platform: operating system and architecture.
        cpu: model name.
        gpus: names of the CUDA devices.
        threads: intra-op threads torch used.
        settings: ``(name, value)`` of hidden influences: fusion strategy, oneDNN fusion, profiling mode,
            MKLDNN, cuDNN, relevant environment variables.
    """

    torch: str
    python: str
    platform: str
    cpu: str
    gpus: tuple[str, ...]
    threads: int
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """A fact that the user should know, added only where it matters.

    Attributes:
        code: one of `freeze_engine.NOTICE_CODES`; a trace of another version may have further ones.
        message: one or two sentences.
        step: index of the step it belongs to, if any.
    """

    if TYPE_CHECKING:
        code: NoticeCode
    else:
        code: str  # for files of other versions
    message: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended the freeze.

    Attributes:
        type: the exception's class name.
        message: its text.
        stage, name, method: the pass that raised.
        step: index of the last step that was recorded before it.
    """

    type: str
    message: str
    stage: str
    name: str
    method: str | None
    step: int | None
