"""Differences between the options, inputs and environments of two freezes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from freeze_engine.analysis.trace_diff.join import joined
from freeze_engine.analysis.trace_diff.model import SettingArea, SettingDiff
from freeze_engine.trace import Environment, InputSpec, Trace


def setting_diffs(before: Trace, after: Trace) -> Iterator[SettingDiff]:
    """Yields what differs of options, inputs and environment."""
    subjects: tuple[tuple[SettingArea, Callable[[Trace], Iterable[tuple[str, str]]]], ...] = (
        ("recording", lambda trace: (("backend", trace.backend),)),
        ("options", lambda trace: trace.options),
        ("inputs", lambda trace: ((spec.name, _input_text(spec)) for spec in trace.inputs)),
        ("environment", lambda trace: _machine(trace.environment)),
        ("settings", lambda trace: trace.environment.settings),
    )
    for subject, read in subjects:
        for name, old, new in joined(read(before), read(after), lambda row: row[0]):
            if old != new:
                yield SettingDiff(subject, name, old and old[1], new and new[1])


def _input_text(spec: InputSpec) -> str:
    shape = None if spec.shape is None else f"[{', '.join(map(str, spec.shape))}]"
    return " ".join(filter(None, (spec.type, shape, spec.dtype, spec.device)))


def _machine(environment: Environment) -> tuple[tuple[str, str], ...]:
    return (
        ("torch", environment.torch),
        ("python", environment.python),
        ("platform", environment.platform),
        ("cpu", environment.cpu),
        ("gpus", ", ".join(environment.gpus)),
        ("threads", str(environment.threads)),
    )
