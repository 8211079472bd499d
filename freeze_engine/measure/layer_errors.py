"""The errors of the layers of a quantised model against those of the float model that it was made from.

Each model runs once on the recorded inputs. A layer is known by the path of its module, which a module has by itself
and the nodes of an exported graph have in ``nn_module_stack``. The weight is compared as the layer reads it, that is
dequantised; the output includes the errors of the layers before it. Where one model only has a batch norm behind a
layer, that is folded into its weight and output first: ``prepare_pt2e`` does so with the quantised model's.
"""

from __future__ import annotations

import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Final

import torch

from freeze_engine.measure.candidate import CandidateError, inference, reported
from freeze_engine.measure.layer_runs import LayerRun, layer_paths, run_layers
from freeze_engine.measure.outputs import output_error
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import LayerError, Notice, Trace

WEIGHT: Final = "weight"
OUTPUT: Final = "output"


def layer_errors(model: torch.nn.Module, float_model: torch.nn.Module, inputs: Inputs) -> tuple[LayerError, ...]:
    """Compares the layers that both models have, in the order of the quantised model's calls.

    Args:
        model: the quantised one; a copy of it runs.
        float_model: the one that it was made from; a copy of it runs.
        inputs: of both.

    Raises:
        CandidateError: a model cannot be copied or run.
    """
    for which, each in (("the recorded model", model), ("it", float_model)):
        if isinstance(each, torch.jit.ScriptModule):
            raise CandidateError(
                f"{which} is a TorchScript module, whose layers do not show what they compute; give an exported "
                "program, or the nn.Module"
            )
    with inference(), reported():
        ours, theirs = replica(model), replica(float_model)
        shared = layer_paths(ours) & layer_paths(theirs)
        found: list[LayerError] = []
        with closing(_Beside(theirs, inputs, shared)) as beside:

            def take(path: str, run: LayerRun) -> None:
                other = beside.layer(path)
                if other is not None:
                    found.append(_compared(path, run, other))

            run_layers(ours, inputs, shared, take)
            beside.finish()
        return tuple(found)


class _Stopped(BaseException):
    """Ends a model's run from inside."""


class _Beside:
    """Runs a model in a thread, each time as far as the layer that the other model has reached.

    The two take turns, so that of both models only one layer is held, apart from layers that they call in another
    order. Both begin with the same random numbers.

    Args:
        model: the model.
        inputs: of its call.
        wanted: paths of its layers.
    """

    def __init__(self, model: torch.nn.Module, inputs: Inputs, wanted: frozenset[str]) -> None:
        self._model, self._inputs, self._wanted = model, inputs, wanted
        self._reached: queue.SimpleQueue[tuple[str, LayerRun] | None] = queue.SimpleQueue()
        self._turn = threading.Semaphore(0)
        self._held: dict[str, LayerRun] = {}
        self._random = torch.get_rng_state()
        self._has_ended = self._stops = False
        self._error: BaseException | None = None
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._run, _autocasts()), name="float model", daemon=True)
        self._thread.start()

    def layer(self, path: str) -> LayerRun | None:
        """Returns the call of a layer, ``None`` if the model ends without it.

        Raises:
            BaseException: whatever the model raised.
        """
        while path not in self._held and not self._has_ended:
            self._go_on()
        return self._held.pop(path, None)

    def finish(self) -> None:
        """Runs the rest of the model.

        Raises:
            BaseException: whatever the model raised.
        """
        while not self._has_ended:
            self._go_on()
            self._held.clear()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Ends the run at its next layer."""
        self._stops = True
        self._turn.release()
        self._thread.join()

    def _go_on(self) -> None:
        own = torch.get_rng_state()
        torch.set_rng_state(self._random)
        self._turn.release()
        reached = self._reached.get()
        self._random = torch.get_rng_state()
        torch.set_rng_state(own)
        if reached is not None:
            self._held[reached[0]] = reached[1]
            return
        self._has_ended = True
        if self._error is not None:
            raise self._error

    def _run(self, autocasts: list[torch.autocast]) -> None:
        try:
            self._wait()
            with torch.inference_mode(False), torch.no_grad(), contextlib.ExitStack() as modes:
                for autocast in autocasts:
                    modes.enter_context(autocast)
                run_layers(self._model, self._inputs, self._wanted, self._reach)
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the other model runs
            self._error = error
        finally:
            self._reached.put(None)

    def _reach(self, path: str, run: LayerRun) -> None:
        self._reached.put((path, run))
        self._wait()

    def _wait(self) -> None:
        self._turn.acquire()
        if self._stops:
            raise _Stopped


def _autocasts() -> list[torch.autocast]:
    """Returns the autocasts of this thread, to be entered in another one: torch keeps them for each thread."""
    on = [device for device in ("cpu", "cuda") if torch.is_autocast_enabled(device)]
    return [torch.autocast(device, torch.get_autocast_dtype(device)) for device in on]


def layers_compared(model: torch.nn.Module, float_model: torch.nn.Module, inputs: Inputs) -> Callable[[Trace], Trace]:
    """Compares the layers of two models.

    Args:
        model, float_model, inputs: as of `layer_errors`.

    Returns:
        A function that puts the errors into a trace, or a notice why there are none.
    """
    try:
        errors = layer_errors(model, float_model, inputs)
    except CandidateError as error:
        why = " ".join(str(error).split())
        return lambda trace: _unmeasured(trace, why)
    if not errors:
        return lambda trace: _unmeasured(trace, "none of its layers has the path of a layer of the recorded model")
    return lambda trace: replace(trace, layer_errors=errors)


def _compared(path: str, ours: LayerRun, theirs: LayerRun) -> LayerError:
    if (ours.folded is None) != (theirs.folded is None):
        ours, theirs = ours.folded or ours, theirs.folded or theirs
    pairs = ((WEIGHT, ours.weight, theirs.weight), (OUTPUT, ours.output, theirs.output))
    found = [
        output_error(name, mine, other, True)
        for name, mine, other in pairs
        if mine is not None and other is not None and mine.shape == other.shape
    ]
    return LayerError(path, tuple(found), tuple(sorted(ours.weights)))


def _unmeasured(trace: Trace, why: str) -> Trace:
    text = f"The error of each layer against the float model was not measured: {why}."
    return replace(trace, notices=(*trace.notices, Notice("not_measured", text)))
