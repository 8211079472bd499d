"""Merges two traces into the form in which `frontend/viewer/` shows one trace, and adds their differences.

The steps of both are in one list, those of the second trace after those of the first, so that every view of a step, a
node or a value works for two traces. Nodes and values that are the same in both have the same name
(`freeze_engine.diff_traces`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views import view_data
from viewer.views.attribute_names import attribute_names, renamed_names
from viewer.views.attributes import attribute_rows, counts_view
from viewer.views.comparison.findings import finding_sections
from viewer.views.comparison.folds import folded_lines
from viewer.views.comparison.kernels import joined_programs, program_pair_rows, without_programs
from viewer.views.comparison.pass_pairs import pair_rows
from viewer.views.comparison.source_lines import source_pair
from viewer.views.environment import moment_text
from viewer.views.failure import failure_message
from viewer.views.graph_data import graph_data
from viewer.views.notices import fact_notices, notice_parts, warning_notices

if TYPE_CHECKING:
    from freeze_engine.trace import Failure, Latency, NearMiss, Notice, Numerics

#: Ends of the day and of the second in a time such as ``2026-01-02T03:04:05Z``.
_DAY: Final = 10
_SECOND: Final = 19


def diff_views(diff: fe.TraceDiff, second: fe.Trace) -> dict[str, Any]:
    """Returns ``view``, ``graph`` and ``comparison`` of `viewer.page.comparison_data`, which adds the charts.

    Args:
        diff: of both traces.
        second: trace B with its original names.
    """
    names = [*attribute_names(diff.before), *renamed_names(second, diff.after)]
    source = source_pair(diff, second)
    first, second = diff.before, diff.after
    rows = [] if diff.across_backends else _rows(diff)
    # Two traces share a list of steps; a runtime step of one would shift those of the other.
    ours, theirs = (view_data(replace(trace, runtime=()), sourced=False) for trace in (first, second))
    return {
        "view": {**_view(diff, ours, theirs), "by_line": source.pop("a")},
        "graph": _graph(diff, names),
        "comparison": {
            "names": _names(first, second),
            "made": [moment_text(trace.created) for trace in (first, second)],
            "calls": [trace.call for trace in (first, second)],
            "notices": [_notices(warning_notices(trace)) for trace in (first, second)],
            "facts": [_notices(fact_notices(trace)) for trace in (first, second)],
            "rows": rows,
            "backends": [trace.backend for trace in (first, second)],
            "pairs": pair_rows(diff),
            "findings": finding_sections(diff, ours["findings"], theirs["findings"]),
            "programs": program_pair_rows(diff),
            "without_programs": [without_programs(trace) for trace in (first, second)],
            "attributes": _attributes(diff),
            "folds": list(folded_lines(diff)),
            "source": source,
            "settings": [
                {"subject": one.subject, "name": one.name, "a": one.before, "b": one.after} for one in diff.settings
            ],
            "failures": [failure and _ending(failure) for failure in diff.failures],
            "near_misses": [[_near_miss(miss) for miss in misses] for misses in diff.near_misses],
            "empty": diff.empty,
        },
    }


def _notices(notices: Iterable[Notice]) -> list[dict[str, str | None]]:
    return [{"message": said, "quoted": quoted} for said, quoted in map(notice_parts, notices)]


def _ending(failure: Failure) -> str:
    return f"{analysis.failure_title(failure)}. {failure_message(failure)}"


def _names(first: fe.Trace, second: fe.Trace) -> list[str]:
    """Returns the names of both traces; if they are equal, with the first of several properties that differs."""
    names = [trace.name or "unnamed model" for trace in (first, second)]
    if names[0] != names[1]:
        return names
    told = [
        [trace.backend, f"torch {trace.environment.torch}", trace.created[:_DAY], trace.created[_DAY + 1 : _SECOND]]
        for trace in (first, second)
    ]
    apart = next(((one, other) for one, other in zip(*told, strict=True) if one != other), None)
    return names if apart is None else [f"{name}, {what}" for name, what in zip(names, apart, strict=True)]


def _view(diff: fe.TraceDiff, ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    steps = _shifted_steps(ours, theirs)
    paths = {row["path"] for row in ours["attributes"]}
    attributes = [*ours["attributes"], *(row for row in _shifted_attributes(diff) if row["path"] not in paths)]
    attributes.sort(key=lambda row: row["path"])
    counts = analysis.attribute_counts((row["fate"], row["counted"]) for row in attributes)
    notices = [*ours["environment"]["notices"], *theirs["environment"]["notices"]]
    return {
        **ours,
        "environment": {**ours["environment"], "notices": notices},
        "name": " ↔ ".join(_names(diff.before, diff.after)),
        "methods": list(dict.fromkeys((*ours["methods"], *theirs["methods"]))),
        "stages": {**theirs["stages"], **ours["stages"]},
        "overview": [],
        **counts_view(counts),
        "failure": None,
        "programs": joined_programs(ours["programs"], theirs["programs"], len(diff.before.steps)),
        "comparisons": [],
        "steps": steps,
        "attributes": attributes,
        "pass_texts": [*ours["pass_texts"], *theirs["pass_texts"]],
        "aliases": [*ours["aliases"], *theirs["aliases"]],
        "codes": [*ours["codes"], *theirs["codes"]],
        "sources": [*ours["sources"], *(source for source in theirs["sources"] if source not in ours["sources"])],
    }


def _shifted_steps(ours: dict[str, Any], theirs: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the steps of both, each labelled with its trace (``A 12``)."""
    shift, texts = len(ours["steps"]), len(ours["pass_texts"])
    aliases, codes = len(ours["aliases"]), len(ours["codes"])
    steps = [{**step, "side": 0, "label": f"A {step['index']}"} for step in ours["steps"]]
    for step in theirs["steps"]:
        changes = [{**change, "since": change["since"] + shift} for change in step["latency_changes"]]
        steps.append(
            {
                **step,
                "side": 1,
                "label": f"B {step['index']}",
                "index": step["index"] + shift,
                "before": _plus(step["before"], shift),
                "does": [place + texts for place in step["does"]],
                "aliases": _plus(step["aliases"], aliases),
                "code": _plus(step["code"], codes),
                "latency_changes": changes,
            }
        )
    return steps


def _plus(place: int | None, shift: int) -> int | None:
    return None if place is None else place + shift


def _shifted_attributes(diff: fe.TraceDiff) -> list[dict[str, Any]]:
    """Returns the second trace's attributes, with steps as numbered in the common list."""
    shift = len(diff.before.steps)
    rows = attribute_rows(diff.after)
    for row in rows:
        row["step"] = _plus(row["step"], shift)
        for place in (*row["evidence"], *row["locations"]):
            place["step"] = _plus(place["step"], shift)
    return rows


def _graph(diff: fe.TraceDiff, names: Sequence[Mapping[str, tuple[str, ...]]]) -> dict[str, Any]:
    shift = len(diff.before.steps)
    shifted = (replace(step, index=step.index + shift) for step in diff.after.steps)
    data: dict[str, Any] = graph_data(replace(diff.before, steps=(*diff.before.steps, *shifted)), names)
    begun: set[str] = set()
    for step in data["steps"]:
        index = step["index"]
        step["label"] = f"A {index}" if index < shift else f"B {index - shift}"
    for step in data["steps"][shift:]:
        if step["method"] not in begun:
            step["before"] = None  # the second trace did not start with the first one's last graph
        begun.add(step["method"])
    return data


def _rows(diff: fe.TraceDiff) -> list[dict[str, Any]]:
    """Returns one row per pass: its two steps, the two graphs to show for it, and the differences.

    For a pass that only one trace has, the other graph is the other trace's latest.
    """
    shift = len(diff.before.steps)
    latest: dict[str, list[int | None]] = {}
    rows = []
    for step in diff.steps:
        here = latest.setdefault(step.method, [None, None])
        places = (step.before, _plus(step.after, shift))
        here[:] = [here[side] if place is None else place for side, place in enumerate(places)]
        rows.append(
            {
                "stage": step.stage,
                "name": step.name,
                "method": step.method,
                "round": step.round,
                "a": places[0],
                "b": places[1],
                "shown": list(here),
                "differs": step.differs,
                "carried": step.carried,
                "graph": step.graph and _counts(step.graph),
                "constants": [
                    None
                    if size is None
                    else analysis.bytes_text(size)
                    if analysis.knows_constants(trace)
                    else "unknown"
                    for size, trace in zip(step.constant_bytes, (diff.before, diff.after), strict=True)
                ],
                "latency": [_latency(pair) for pair in step.latency],
                "errors": [_error(pair) for pair in step.numerics],
            }
        )
    return rows


def _counts(graph: analysis.GraphDiff) -> dict[str, int]:
    return {
        "added": len(graph.added),
        "removed": len(graph.removed),
        "changed": len(graph.changed),
        "moved": len(graph.moved),
        "empty": int(graph.empty),
    }


def _latency(pair: analysis.LatencyPair) -> dict[str, Any]:
    def text(latency: Latency | None) -> str | None:
        if latency is None:
            return None
        return analysis.timed_text(latency.median_ns)

    return {"device": pair.device, "a": text(pair.before), "b": text(pair.after)}


def _error(pair: analysis.NumericsPair) -> dict[str, Any]:
    def text(numerics: Numerics | None) -> str | None:
        if numerics is None:
            return None
        if numerics.error is not None:
            return "could not be compared"
        return analysis.error_text(numerics.max_abs) + ("" if numerics.close else " ≠ past tolerance")

    texts = {"reference": pair.reference, "a": text(pair.before), "b": text(pair.after)}
    return {**texts, "differs": pair.verdict_differs}


def _attributes(diff: fe.TraceDiff) -> list[dict[str, Any]]:
    """Returns every attribute of both with its two fates, the differing ones first."""
    ours = {row["path"]: row for row in attribute_rows(diff.before)}
    theirs = {row["path"]: row for row in _shifted_attributes(diff)}
    fields = {one.path: one.fields or ("only in one",) for one in diff.attributes}
    rows = []
    for path in sorted({*ours, *theirs}, key=lambda path: (_weight(fields.get(path, ())), path)):
        one = ours.get(path) or theirs[path]
        if diff.across_backends and not one["shape"]:
            continue  # Inductor has no submodules, flags and hooks
        rows.append(
            {
                "path": path,
                "kind": one["kind"],
                "shape": one["shape"],
                "dtype": one["dtype"],
                "type": one["type"],
                "fields": list(fields.get(path, ())),
                "counted": one["counted"],
                "minor": all(row["minor"] for row in (ours.get(path), theirs.get(path)) if row),
                "a": ours.get(path),
                "b": theirs.get(path),
            }
        )
    return rows


def _weight(fields: tuple[str, ...]) -> int:
    """Returns the sort rank: 0 for a different fate, 1 for any other difference, 2 for none."""
    return 2 if not fields else int(not {"fate", "reason", "only in one"} & set(fields))


def _near_miss(miss: NearMiss) -> dict[str, Any]:
    return {"kind": miss.kind, "node": miss.node, "reason": miss.reason.replace("_", " "), "detail": miss.detail}
