"""Measures saved files: their sizes before and after freezing, and whether the frozen module loads and runs again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from freeze_engine.backends.common.deprecation import undeprecated
from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.torchscript.trace_builder import LiveStep
from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.measure.outputs import compare_outputs
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.constants import tensor_bytes
from freeze_engine.trace import MemoryLedger, Notice

METHOD = "forward"
_SHOWN = 300
_ROOM = 3
_SPARE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Saved:
    """The modules to save and load.

    Attributes:
        scripted: the module before the freeze.
        frozen: the module after it.
        reference: runs what ``frozen`` does, without running that: the user's module is not to be profiled here.
        inputs: what to run on.
        restore: undoes the changes of ``reference``; ``None`` if there are none.
        live: the steps of ``forward`` that can be run, by index, in order.
    """

    scripted: torch.jit.ScriptModule
    frozen: torch.jit.ScriptModule
    reference: Callable[..., object]
    inputs: Inputs
    restore: Callable[[], None] | None
    live: Sequence[tuple[int, LiveStep]]


def memory_ledger(saved: Saved, peak_bytes: int | None) -> MemoryLedger:
    """Saves both modules, loads the frozen one and runs it, and finds the step after which that goes wrong.

    Args:
        saved: the modules.
        peak_bytes: of the freeze.

    Returns:
        The results; the files are removed.
    """
    with temporary_folder("freezer-saving-") as folder, inference():
        if shutil.disk_usage(folder).free < _room_bytes(saved.scripted):
            return MemoryLedger(peak_bytes, message="Saving was not tried: the disk of temporary files has no room.")
        file = folder / "module.pt"
        before, _ = _file_bytes(saved.scripted, file)
        after, problem = _file_bytes(saved.frozen, file)
        survives: bool | None = False
        if after is not None:
            survives, problem = _survives(saved, file)
        step = _first_broken(saved.live, file) if survives is False else None
    return MemoryLedger(peak_bytes, before, after, survives, problem, step)


def serialization_notice(ledger: MemoryLedger, name: str) -> Notice | None:
    """Yields a notice if saving was tried and the frozen module does not survive it.

    Args:
        ledger: the results of the attempt.
        name: of the pass that is to blame, empty where none is known.
    """
    if ledger.saves is not False:
        return None
    culprit = f" {name} made it so: save the module before that pass, and run that after loading." if name else ""
    return Notice(
        "not_serializable", f"The frozen module cannot be saved and reloaded: {ledger.message}.{culprit}", ledger.step
    )


def _room_bytes(module: torch.jit.ScriptModule) -> int:
    """Returns the upper limit of the files' size: freezing may write shared weights separately."""
    held = sum(tensor_bytes(tensor) for tensor in module.state_dict().values())
    return _ROOM * held + _SPARE_BYTES


def _file_bytes(module: Any, file: Path) -> tuple[int | None, str]:
    """Saves a module, and returns the file's size, or torch's error."""
    try:
        with reported(), undeprecated():
            module.save(str(file))
    except CandidateError as error:
        return None, f"torch.jit.save says {_shortened(error)}"
    return file.stat().st_size, ""


def _survives(saved: Saved, file: Path) -> tuple[bool | None, str]:
    try:
        with reported(), undeprecated():
            loaded = torch.jit.load(str(file))  # type: ignore[no-untyped-call]
    except CandidateError as error:
        return False, f"torch.jit.load says {_shortened(error)}"
    try:
        with reported():
            expected = _run(saved.reference, saved.inputs, saved.restore)
    except CandidateError as error:
        return None, f"The frozen module does not run on the inputs: {_shortened(error)}"
    try:
        with reported():
            numerics = compare_outputs(_run(loaded, saved.inputs), expected, "eager")
    except CandidateError as error:
        return False, f"the loaded module says {_shortened(error)}"
    if numerics.error is not None:
        return False, f"the loaded module returns something else ({numerics.error})"
    if not numerics.close:
        return False, f"the loaded module gives other numbers, {numerics.max_abs:.2g} off"
    return True, ""


def _run(call: Callable[..., object], inputs: Inputs, restore: Callable[[], None] | None = None) -> object:
    given = cloned(inputs)
    torch.manual_seed(0)
    try:
        return call(*given.args, **given.kwargs)
    finally:
        if restore is not None:
            restore()


def _first_broken(live: Sequence[tuple[int, LiveStep]], file: Path) -> int | None:
    """Returns the first of the last steps whose graphs cannot be saved and loaded, ``None`` if the last one can."""
    found = None
    checked: dict[int, bool] = {}
    for index, step in reversed(live):
        if id(step.graph) not in checked:
            checked[id(step.graph)] = _graph_survives(step, file)
        if checked[id(step.graph)]:
            break
        found = index
    return found


def _graph_survives(step: LiveStep, file: Path) -> bool:
    graph = step.graph.copy()
    if not next(graph.inputs()).uses():
        graph.eraseInput(0)  # the module, with which all that it holds would be saved
    function = private("_create_function_from_graph")(METHOD, graph)
    try:
        with reported(), undeprecated():
            function.save(str(file))
            torch.jit.load(str(file))  # type: ignore[no-untyped-call]
    except CandidateError:
        return False
    return True


def _shortened(error: CandidateError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines[1:] and lines[1].startswith("Traceback of TorchScript"):
        return error.last_line[:_SHOWN]
    return " ".join(lines[:2])[:_SHOWN]
