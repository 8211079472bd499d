"""Sentences on freezes that did not happen, or left no trace."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freeze_engine.backends.inductor.capture.compile_capture import CompileCapture
    from freeze_engine.backends.torchscript.capture.freeze_capture import FreezeCapture


def unrecorded_lines(freezes: FreezeCapture, compiles: CompileCapture) -> Iterator[str]:
    """Yields what a capture knows of freezes that are not in it, each sentence with the remedy.

    Args:
        freezes: of TorchScript.
        compiles: of Inductor.
    """
    for reason in dict.fromkeys((*freezes.unread, *compiles.unread)):
        yield f"A module was frozen whose tensors could not be read, so there is no trace of it: {reason}."
    seen = compiles.unrecorded
    if count := seen["gradients"]:
        yield (
            f"Inductor compiled {_counted(count, 'graph')} with gradients on: freezing is configured, but torch "
            "freezes nothing then. Call the compiled function under torch.no_grad() or torch.inference_mode()."
        )
    if count := seen["not_configured"]:
        yield (
            f"Inductor compiled {_counted(count, 'graph')} without freezing: torch._inductor.config.freezing was off. "
            "Turn it on (TORCHINDUCTOR_FREEZING=1) before the first call."
        )
    if compiles.compiled_before and not compiles.compiles and not seen:
        yield (
            f"torch had compiled {_counted(compiles.compiled_before, 'function')} before, and compiled none here: "
            "what is in its cache is not frozen again. Call torch.compiler.reset() first, or record the first call."
        )
    elif compiles.functions_made and not (compiles.graphs_seen or compiles.compiles or seen):
        yield (
            f"torch.compile made {_counted(compiles.functions_made, 'function')}, and no graph got to Inductor: none "
            "was called, or Dynamo skips the code, as it skips torch's own (nn.Sequential(...).compile() compiles "
            "nothing, torch.compile(model) does)."
        )
    for name, count in Counter(freezes.inside_passes).items():
        yield (
            f"{name} froze {_counted(count, 'module')} inside a single pass of torch, which shows no graph of it, so "
            "there is no trace. What came out can be looked at: save it (torch.jit.save), and record the file."
        )
    for path in dict.fromkeys(freezes.loaded_frozen):
        yield f"{path} was frozen already when it was saved, so no pass ran here. Record where it is frozen."


def unmade_text(error: Exception) -> str:
    """Returns a sentence on a freeze whose trace could not be put together."""
    return (
        f"A freeze happened whose trace could not be put together, a fault of freezer-ui: {_raised(error)}. Please "
        "report it."
    )


def unreceived_text(number: int, error: Exception) -> str:
    """Returns a sentence on a trace that ``on_trace`` did not take."""
    return f"on_trace raised for the trace of freeze {number}, which Captured.traces has: {_raised(error)}."


def _raised(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in last)
    return f"{type(error).__name__}: {error}{where}"


def _counted(count: int, thing: str) -> str:
    return f"1 {thing}" if count == 1 else f"{count} {thing}s"
