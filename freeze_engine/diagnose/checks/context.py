"""The arguments of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import ModuleOptions, ProcessOptions
from freeze_engine.trace import Check, Trace


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A finished freeze, with all that it was made from.

    A check leaves every module and input in here bit for bit as it found it.

    Attributes:
        model: the module as it was given to `record`.
        source: the module that was handed to torch: the ScriptModule that was frozen, or, for Inductor, ``model``.
        result: what torch returned: the frozen ScriptModule, or the compiled module, called once.
        inputs: what it was recorded with, ``None`` where there were none.
        options: how it was frozen; their class determines the backend.
        module_options: how the module got to the freeze.
        trace: the recording, complete but for the checks.
    """

    model: torch.nn.Module
    source: torch.nn.Module
    result: Any
    inputs: Inputs | None
    options: ProcessOptions
    module_options: ModuleOptions
    trace: Trace


@dataclass(frozen=True, slots=True)
class Compared:
    """The answer of a check that froze the module another time, and found another result.

    Attributes:
        check: the answer.
        other: the recording of that freeze, for comparison with the first one.
    """

    check: Check
    other: Trace | None
