"""Compiles a model ahead of time with freezing, and records it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from freeze_engine.backends.common.exported_programs import program_of
from freeze_engine.backends.common.observer import PHASES, RecordingObserver
from freeze_engine.backends.common.partial_trace import attach_trace, leaving_trace
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.capture.disabled_passes import check_disabled_passes, disabling
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.live_trace import LiveTraceObserver
from freeze_engine.backends.inductor.record import Compiled, check_compilable
from freeze_engine.backends.inductor.replay.measure_package import RunnablePackage, measured_package
from freeze_engine.backends.inductor.trace_builder import RecordingInfo
from freeze_engine.errors import FreezerError
from freeze_engine.measure.peak_memory import peak_memory
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.process.whole_file import write_files
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import AOTInductorOptions, Measure, ModuleOptions
from freeze_engine.trace import MemoryLedger, Trace

_UNSAVED = "What AOTInductor makes is a package of compiled code; its size is that of the package."
_FOLDER = "freezer-package-"


def record_package(
    model: torch.nn.Module,
    inputs: Inputs,
    options: AOTInductorOptions,
    module_options: ModuleOptions,
    measure: Measure | None,
    observer: RecordingObserver,
) -> Compiled:
    """Exports a module if it is no exported program's, compiles it into a package, and records that.

    Args:
        model: in eval mode.
        inputs: what to export it with, and to measure on.
        options: how to compile, and where to keep the package.
        module_options: its name and call in the trace.
        measure: what to measure, ``None`` to record only.
        observer: receives the events of the recording.

    Returns:
        The loaded package and its trace; no step of the compile can be run on its own.

    Raises:
        FreezerError: torch froze nothing, or the package cannot be kept where asked.
        BaseException: whatever exporting, compiling or measuring raises, unchanged; once a compile has begun,
            `freeze_engine.partial_trace` has what was recorded by then.
    """
    check_compilable(model)
    check_disabled_passes(options.disabled_passes)
    kept = _target(options)
    info = RecordingInfo(module_options.name or type(model).__name__, module_options.call or "", options, inputs)
    observer.progress("compiling", 0, PHASES)
    live_trace = LiveTraceObserver(observer, info)
    live_trace.begins()
    with temporary_folder(_FOLDER) as folder, capturing(observer=live_trace) as seen:
        with _leaving_compiles(seen.compiles, live_trace), disabling(options.disabled_passes) as disabled:
            path = folder / "model.pt2"
            with peak_memory(measure is not None and measure.memory) as peak:
                program = program_of(model) or _exported(model, inputs)
                _compile(program, path)
        if not seen.compiles:
            reason = seen.unread[0] if seen.unread else "TORCH_LOGS=inductor shows more"
            raise FreezerError(f"AOTInductor froze no graph of {type(model).__name__}: {reason}")
        disabled.check_met()
        loaded = torch_private.load_package(path)
        _keep(path, kept)
        observer.progress("reading what was recorded", 2, PHASES)
        trace, _ = live_trace.finished(seen.compiles)
    trace = _with_place(trace, kept)
    if measure is None:
        return Compiled(loaded, trace, {})
    if measure.memory:
        trace = replace(trace, memory=MemoryLedger(peak.nbytes, message=_UNSAVED))
    observer.trace_built(trace)
    subject = RunnablePackage(model, loaded, program, inputs, options.disabled_passes)
    with leaving_trace(lambda: trace):
        trace = measured_package(trace, subject, measure, observer.progress)
    return Compiled(loaded, trace, {})


@contextmanager
def _leaving_compiles(compiles: list[RawCompile], live_trace: LiveTraceObserver) -> Iterator[None]:
    """Attaches the trace so far to an exception of the compile."""
    try:
        yield
    except BaseException as error:
        if compiles:
            attach_trace(error, live_trace.broken_off(compiles, error))
        raise


def _exported(model: torch.nn.Module, inputs: Inputs) -> Any:
    with torch.no_grad():
        return torch.export.export(model, inputs.args, dict(inputs.kwargs), strict=False)


def _compile(program: Any, path: Path) -> None:
    with torch.no_grad():
        torch_private.compile_package(program, path, {"freezing": True})


def _target(options: AOTInductorOptions) -> Path | None:
    """Returns the absolute path to keep the package at, ``None`` for none, before anything takes long."""
    if not options.package:
        return None
    target = Path(options.package).absolute()
    if not target.parent.is_dir():
        raise FreezerError(f"package={options.package!r}: there is no folder {target.parent}; make it first")
    if target.exists() and not _is_package(target):
        raise FreezerError(
            f"package={options.package!r}: the file holds something else than compiled code, such as an exported "
            "program; remove it, or choose another file"
        )
    return target


def _is_package(path: Path) -> bool:
    """Returns whether a file is a package of AOTInductor's, which a new one may replace."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any("aotinductor" in name for name in archive.namelist())
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return False


def _keep(path: Path, target: Path | None) -> None:
    """Copies the package to its place, whole or not at all."""
    if target is None:
        return
    try:
        write_files({target: path.read_bytes()})
    except OSError as error:
        text = f"{target}: the package cannot be written: {error.strerror}; choose another place"
        raise FreezerError(text) from error


def _with_place(trace: Trace, target: Path | None) -> Trace:
    """Returns the trace with the place where the package is kept, instead of the one where it was made."""
    if trace.package is None:
        return trace
    return replace(trace, package=replace(trace.package, path=str(target) if target is not None else ""))
