"""`bisect()`: finds the step that breaks a criterion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from freeze_engine.diagnose.bisection.request import BisectRequest, CriterionOptions, criterion_options
from freeze_engine.diagnose.bisection.result import Bisection, Probe
from freeze_engine.errors import CrashError, FreezerError
from freeze_engine.process.fork import Lost, Tell, forked, has_task_threads, why_not_forked
from freeze_engine.process.temporary_folders import keep_within, temporary_folder
from freeze_engine.requests.arguments import as_inputs, options_for
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import AOTInductorOptions, Options, Progress
from freeze_engine.requests.without_effect import check_loading, check_via
from freeze_engine.trace import Backend

if TYPE_CHECKING:
    import torch


def bisect(
    model: torch.nn.Module | str | Path,
    inputs: Inputs | Sequence[Any] | torch.Tensor | None = None,
    *,
    criterion: CriterionOptions | str = "accuracy",
    backend: Backend = "torchscript",
    options: Options | None = None,
    via: Literal["script", "trace"] | None = None,
    map_location: str | None = None,
    imports: Sequence[str] = (),
    method: str | None = None,
    every_step: bool | None = None,
    script: str | Path | None = None,
    apart: bool = False,
    progress: Progress | None = None,
    on_probe: Callable[[Probe], None] | None = None,
) -> Bisection:
    """Freezes a model and finds the first step that breaks a criterion, and in it the fewest rewrites that do.

    Each candidate runs in a fork of this process, so a crash becomes an answer and ends nothing. On CUDA, on other
    systems than Linux, and for a model that has run ``torch.jit.fork`` here before, no fork is possible: the candidates
    run in this process, and the notes say so.

    Args:
        model: as for `record`.
        inputs: as for `record`; some are needed.
        criterion: ``accuracy``, ``latency``, a command, or one of these with its options.
        backend: which freezing.
        options: how to freeze; of the backend's own class.
        via: how an `nn.Module` gets into TorchScript.
        map_location: as for `record`.
        imports: as for `record`.
        method: the frozen method to search, which then gets the inputs; by default each that runs on them, ``forward``
            first, until there is a culprit. Inductor's graphs are all searched.
        every_step: whether to check every step, which finds steps that are good again after a bad one, and not
            only those that a binary search needs; by default for ``accuracy`` only.
        script: where to write a script that shows the fault with torch alone, ``None`` for none; what it reads is
            written beside it.
        apart: whether to freeze in a fork as well, so that a crash of the freeze is raised, where a fork can
            be used.
        progress: called with what the search is doing.
        on_probe: called with each answer of the criterion.

    Returns:
        The result of the search.

    Raises:
        FreezerError: the model, the inputs or the criterion cannot be used, or a command ended the search.
        CrashError: the process that froze the model died.
        Exception: whatever torch raises while it freezes, unchanged; `partial_trace` has the trace up to there.
    """
    chosen = options_for(backend, options)
    if isinstance(chosen, AOTInductorOptions):
        raise FreezerError(
            "bisect runs the graphs between the passes, and those of AOTInductor are compiled for inputs that were "
            "never there: search with backend='inductor', whose passes are the same"
        )
    check_loading((model,), lambda each: isinstance(each, (str, Path)), map_location, imports)
    check_via(via, chosen, None)
    request = BisectRequest(
        model,
        as_inputs(inputs),
        criterion_options(criterion),
        chosen,
        via,
        map_location,
        tuple(imports),
        method,
        every_step,
        None if script is None else Path(script),
    )
    search = _searched_apart if apart and not why_not_forked() else _searched
    return search(request, progress or _untold, on_probe or _ignored)


def _searched(
    request: BisectRequest, progress: Progress, on_probe: Callable[[Probe], None], *, can_start_tasks: bool = True
) -> Bisection:
    from freeze_engine.diagnose.bisection.run import run_bisection

    return run_bisection(request, progress, on_probe, can_start_tasks=can_start_tasks)


def _searched_apart(request: BisectRequest, progress: Progress, on_probe: Callable[[Probe], None]) -> Bisection:
    doing = "importing torch"
    can_start_tasks = not has_task_threads()

    def search(tell: Tell) -> Bisection:
        keep_within(folder)
        return _searched(request, lambda *now: tell(now), tell, can_start_tasks=can_start_tasks)

    def hear(told: Any) -> None:
        nonlocal doing
        if isinstance(told, Probe):
            on_probe(told)
            return
        doing = told[0]
        progress(*told)

    with temporary_folder("freezer-search-") as folder:
        found = forked(search, on_told=hear, leads=True)
    if isinstance(found, Lost):
        raise CrashError(f"{found.message}, while {doing}")
    return found


def _untold(message: str, done: int, total: int) -> None:
    """Discards progress; the default of ``progress``."""


def _ignored(probe: Probe) -> None:
    """Discards probes; the default of ``on_probe``."""
