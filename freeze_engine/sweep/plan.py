"""The recordings of a sweep, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from freeze_engine.errors import FreezerError
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

    def rows_like(self, patterns: Sequence[str]) -> tuple[PlannedRow, ...]:
        """Returns the recordings whose label matches a pattern, all of them where there is no pattern.

        Args:
            patterns: shell patterns, such as ``"*inductor*"``; letters count as they are.

        Raises:
            FreezerError: a pattern matches no label.
        """
        for pattern in patterns:
            if not any(fnmatchcase(row.label, pattern) for row in self.rows):
                example = f"{self.rows[0].label!r}" if self.rows else "none, since the sweep is empty"
                raise FreezerError(
                    f"no recording of the sweep has a name like {pattern!r}; names are such as {example}, "
                    "and --dry-run lists them all"
                )
        return tuple(
            row for row in self.rows if not patterns or any(fnmatchcase(row.label, pattern) for pattern in patterns)
        )
