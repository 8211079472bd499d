"""The environment, call and inputs of a recording, and its notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.measurements import latency_rows, numerics_rows
from viewer.views.notices import fact_notices, notice_parts, warning_notices
from viewer.views.wording import shape_text

if TYPE_CHECKING:
    from freeze_engine.trace import InputSpec, Notice


def moment_text(created: str) -> str:
    """Returns a time of a trace, ISO 8601, as ``2026-01-02 03:04 UTC``; empty if it is unknown."""
    return f"{created[:10]} {created[11:16]} UTC" if created else ""


def environment_view(trace: fe.Trace) -> dict[str, Any]:
    """Returns the environment, the exact call, inputs, options, baselines and notices.

    ``facts`` are notices that nearly every recording has; ``notices`` are the others, which need attention.
    """
    detection = analysis.detection(trace)
    where = trace.environment
    unknown = "unknown"
    return {
        "call": trace.call,
        "machine": [
            ["torch", where.torch],
            ["Python", where.python],
            ["platform", where.platform],
            ["CPU", where.cpu or unknown],
            ["GPU", ", ".join(where.gpus) or ("none" if trace.is_recording else unknown)],
            ["threads", str(where.threads) if where.threads else unknown],
        ],
        "settings": [list(pair) for pair in where.settings],
        "options": [list(pair) for pair in trace.options],
        "recording": [
            ["model", trace.name],
            *([] if trace.is_recording else [["read from", analysis.ORIGINS[trace.origin]]]),
            ["backend", trace.backend],
            ["methods", ", ".join(trace.methods)],
            ["made", moment_text(trace.created) or unknown],
            ["took", unknown if trace.duration_ns is None else analysis.duration_text(trace.duration_ns)],
            *([["package", package_text(trace)]] if trace.package is not None else []),
        ],
        "inputs": [[spec.name, input_text(spec)] for spec in trace.inputs],
        "baselines": [
            {
                "name": baseline.name,
                "latency": latency_rows(baseline.latency, detection),
                "numerics": numerics_rows(baseline.numerics),
            }
            for baseline in trace.baselines
        ],
        "notices": [_notice_row(notice) for notice in warning_notices(trace)],
        "facts": [_notice_row(notice) for notice in fact_notices(trace)],
    }


def package_text(trace: fe.Trace) -> str:
    """Describes the package of a trace in one line; empty where there is none."""
    if trace.package is None:
        return ""
    place = f"{trace.package.path}, " if trace.package.path else ""
    used = [fate for fate in trace.attributes if fate.fate != "dropped" and fate.updatable is not None]
    updatable = sum(1 for fate in used if fate.updatable)
    updates = f", takes new values for {updatable} of {len(used)} weights and buffers" if used else ""
    return f"{place}{analysis.bytes_text(trace.package.nbytes)}{updates}"


def _notice_row(notice: Notice) -> dict[str, Any]:
    said, quoted = notice_parts(notice)
    return {"code": notice.code, "message": said, "quoted": quoted, "step": notice.step}


def input_text(spec: InputSpec) -> str:
    """Returns an input in one line (``Tensor 1×3×224×224 float32 on cpu``)."""
    device = spec.device and f"on {spec.device}"
    return " ".join(filter(None, (spec.type, shape_text(spec.shape), spec.dtype, device)))
