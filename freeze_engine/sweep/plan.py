"""The recordings of a sweep, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from freeze_engine.worker.request import RecordRequest


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """A Python with a torch to record with.

    Attributes:
        name: as the sweep's file has it; empty for the Python that runs the sweep.
        python: path of its interpreter, ``None`` for the Python that runs the sweep.
    """

    name: str = ""
    python: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """One recording of a sweep.

    Attributes:
        model: label of the model.
        options: label of the options.
        environment: where to record it.
        request: of the recording; its output is chosen when it runs.
        packages: names of the distributions whose versions the result depends on, besides torch.
        paths: folders to import the MODEL from, before all others.
    """

    model: str
    options: str
    environment: PythonEnvironment
    request: RecordRequest
    packages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @property
    def measures_latency(self) -> bool:
        """Returns whether other work on the machine would disturb the figures."""
        return self.request.measure is not None and self.request.measure.latency

    @property
    def label(self) -> str:
        """Returns the words that name the recording among the others of its sweep."""
        parts = (self.model, self.options, self.request.backend, self.environment.name)
        return " · ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The recordings of a sweep, in their order.

    Attributes:
        name: of the sweep.
        rows: one for each recording.
    """

    name: str
    rows: tuple[PlannedRow, ...]
