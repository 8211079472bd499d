"""One row of a sweep's table: a recording in figures, and the columns of the table with their meaning."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, get_args

from freeze_engine.errors import FreezerError
from freeze_engine.sweep.bounded_json import parsed

Status = Literal["recorded", "failed", "crashed", "timed_out", "over_limit", "killed"]
_KEY: Final = "column"
_TYPES: Final = {"str": (str,), "float": (float, int), "int": (int,), "bool": (bool,)}


def column(description: str, default: Any = None) -> Any:
    """Declares a field as a column.

    Args:
        description: of the column.
        default: of the field.
    """
    return field(default=default, metadata={_KEY: description})


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One recording of a sweep, also one that failed. `row_columns` describes the fields.

    Attributes:
        key: hash of the request and the environment.
        model, options, backend, environment, spec, option_text, inputs: what was recorded.
        torch, python, machine: where.
        status, reason, unmeasured: how it ended.
        latency_ratio, latency_ratio_low, latency_ratio_high, latency_claim, latency_against: time after the freeze.
        latency_ns, latency_ns_low, latency_ns_high, device: time of one call.
        max_abs_error, is_close: numeric error.
        bytes_before, bytes_after: of weights and constants.
        frozen, preserved, dropped, preserved_names: fates of parameters and buffers.
        near_misses, graph_breaks, notices, notice_codes, checks_failed, folds: findings.
        steps, nodes, freeze_ns, time_s: size and duration.
        limit_s, memory_bytes: limits of the recording.
        created: UTC, ISO 8601.
        trace: path of the trace.
        command: records it alone.
    """

    key: str = column("hash of the request and the environment; names the recording in the folder")
    model: str = column("label of the model in the sweep's file")
    options: str = column("label of the options", "default")
    backend: str = column("which freezing: `torchscript`, `inductor`, …", "torchscript")
    environment: str = column("label of the Python environment, empty for the one that ran the sweep", "")
    spec: str = column("MODEL, as on the command line", "")
    option_text: str = column("the options of the freeze that are no defaults", "")
    inputs: str = column("the inputs, as of `--input`; empty if the MODEL brings its own", "")
    torch: str = column("version of torch", "")
    python: str = column("version of Python", "")
    machine: str = column("processor, or the GPUs where there are some", "")
    status: Status = column(
        "`recorded`, `failed` (an exception), `crashed`, `timed_out`, `over_limit` (memory), or `killed` from outside",
        "recorded",
    )
    reason: str = column("why it is not recorded, one line; else empty", "")
    unmeasured: str = column("why a requested measurement is missing, else empty", "")
    latency_ratio: float | None = column("time of one call after the freeze, relative to before it (below 1 is faster)")
    latency_ratio_low: float | None = column("lower bound of its 95% interval")
    latency_ratio_high: float | None = column("upper bound")
    latency_claim: str = column("`faster`, `slower` or `no measurable difference`; empty if not measured", "")
    latency_against: str = column(
        "what the ratio is against: `before freezing`, `compiled without freezing`, `eager`", ""
    )
    latency_ns: float | None = column("time of one call of the frozen model, in ns")
    latency_ns_low: float | None = column("lower bound of its 95% interval")
    latency_ns_high: float | None = column("upper bound")
    device: str = column("where it was measured", "")
    max_abs_error: float | None = column("largest absolute error of an output against eager")
    is_close: bool | None = column("whether `torch.testing.assert_close` accepts all outputs with its defaults")
    bytes_before: int | None = column("bytes of parameters and buffers before, tied ones counted once")
    bytes_after: int | None = column("bytes of the final graph's constants, and of parameters and buffers that stay")
    frozen: int | None = column("parameters and buffers that became constants or were folded")
    preserved: int | None = column("parameters and buffers that are still attributes, or inputs of the compiled graph")
    dropped: int | None = column("parameters and buffers that nothing uses")
    preserved_names: tuple[str, ...] = column("paths of those preserved without a request", ())
    folds: int | None = column("folds and fusions that happened")
    near_misses: int | None = column("folds that almost happened")
    graph_breaks: int | None = column("graph breaks of `torch.compile`")
    notices: int | None = column("notices that warn of something")
    notice_codes: tuple[str, ...] = column("their codes, each once", ())
    checks_failed: tuple[str, ...] = column("checks of the frozen module that failed", ())
    checks_passed: tuple[str, ...] = column("checks that passed", ())
    steps: int | None = column("recorded passes")
    nodes: int | None = column("operations of the final graphs, nested ones included")
    freeze_ns: int | None = column("time of the recorded freeze, in ns")
    time_s: float = column("time of the whole recording, in s, the start of its process included", 0.0)
    limit_s: float | None = column("time limit of the recording, in s")
    memory_bytes: int | None = column("memory limit of the recording")
    created: str = column("when the recording ended, UTC, ISO 8601", "")
    trace: str = column("path of the trace in the folder, empty if there is none", "")
    command: str = column("the command that records it alone, in its environment", "")

    @property
    def is_recorded(self) -> bool:
        """Returns whether the freeze came to its end."""
        return self.status == "recorded"

    @property
    def label(self) -> str:
        """Returns the words that name the recording among the others of its sweep."""
        return " · ".join(part for part in (self.model, self.options, self.backend, self.environment) if part)


def row_columns() -> tuple[tuple[str, str, str], ...]:
    """Returns ``(name, type, meaning)`` of each column of the table, in their order."""
    return tuple((each.name, str(each.type), each.metadata[_KEY]) for each in fields(SweepRow))


def row_text(row: SweepRow) -> str:
    """Returns a row as JSON."""
    return json.dumps(asdict(row), ensure_ascii=False, allow_nan=True)


def read_row(text: str | bytes) -> SweepRow:
    """Returns the row that `row_text` wrote; columns that it lacks or has too many are of another version.

    Raises:
        FreezerError: it is no row.
    """
    given = parsed(text)
    if not isinstance(given, dict) or not isinstance(given.get("key"), str) or not isinstance(given.get("model"), str):
        raise FreezerError("it is not a row of a sweep")
    known = {each.name: str(each.type) for each in fields(SweepRow)}
    return SweepRow(**{name: _value(name, value, known[name]) for name, value in given.items() if name in known})


def _value(name: str, value: Any, kind: str) -> Any:
    """Returns the value of a column, which must be of the column's type."""
    if kind.startswith("tuple"):
        is_right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        value = tuple(value) if is_right else value
    elif kind == "Status":
        is_right = value in get_args(Status)
    else:
        is_right = (value is None and kind.endswith("| None")) or type(value) in _TYPES[kind.partition(" ")[0]]
    if not is_right:
        raise FreezerError(f"{name} is {value!r:.60}")
    return value
