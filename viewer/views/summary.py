"""The summary of a trace in the form that the views read: the verdict, the next actions, the passes that mattered."""

from __future__ import annotations

from typing import Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.source_locations import source_row
from viewer.views.wording import finite

FREEZING: Final = (
    "Freezing turns the weights of a PyTorch model into constants of its graph, so that later passes can fold them."
)

_BACKENDS: Final = {"torchscript": "TorchScript", "inductor": "Inductor", "aotinductor": "AOTInductor"}


def summary_view(summary: fe.Summary, trace: fe.Trace) -> dict[str, Any]:
    """Returns the summary of a trace for display.

    Args:
        summary: result of `freeze_engine.summarize` for it.
        trace: the recording.
    """
    return {
        "sentence": summary.sentence,
        "about": about_text(trace),
        "actions": [action_row(action) for action in summary.actions],
        "passes": [pass_row(effects, trace) for effects in summary.passes],
        "main_step": summary.main_step,
    }


def about_text(trace: fe.Trace) -> str:
    """Returns what freezing is, and when and with what the recording was made."""
    where = trace.environment
    if not trace.is_recording:
        return f"{FREEZING} This was read from {analysis.ORIGINS[trace.origin]}; nothing of it was run."
    backend = _BACKENDS.get(trace.backend, trace.backend)
    made = f"Recorded with torch {where.torch} ({backend}) on {where.cpu or 'an unknown processor'}"
    when = f", {trace.created[:16].replace('T', ' ')} UTC" if trace.created else ""
    return f"{FREEZING} {made}{when}."


def action_row(action: analysis.Action) -> dict[str, Any]:
    """Returns an action for display."""
    return {
        "aim": action.aim,
        "title": action.title,
        "evidence": action.evidence,
        "fix": action.fix,
        "gain": action.gain,
        "step": action.step,
        "node": action.node or None,
        "attribute": action.attribute or None,
        "source": source_row(action.source),
    }


def pass_row(effects: analysis.PassEffects, trace: fe.Trace) -> dict[str, Any]:
    """Returns the effects of a pass in words, and as numbers to draw; a part that it did not move is ``None``."""
    step = trace.steps[effects.step]
    return {
        "step": effects.step,
        "name": step.name,
        "stage": step.stage,
        "method": step.method,
        "round": step.round,
        "nodes": list(effects.nodes),
        "nodes_text": _moved_nodes(effects),
        "constants": None if effects.constant_bytes is None else list(effects.constant_bytes),
        "constants_text": _moved_bytes(effects),
        "times": [_time(change) for change in effects.latency],
        "error": None if effects.error is None else finite(effects.error[1]),
        "error_text": None if effects.error is None else " → ".join(map(analysis.error_text, effects.error)),
        "rewrites": effects.rewrites,
        "past_tolerance": effects.is_past_tolerance,
        "node": _change(step),
    }


def pass_name(row: dict[str, Any]) -> str:
    """Returns the name of a pass with its round (``FoldFrozenConvBatchnorm (round 1)``)."""
    return str(row["name"]) if row["round"] is None else f"{row['name']} (round {row['round']})"


def _change(step: fe.Step) -> str | None:
    """Returns the node that the first fold or fusion of a step produced, ``None`` for none."""
    present = {node.id for node in step.graph.walk() if node.constant is None}
    produced = (node for rewrite in step.rewrites for node in rewrite.produced)
    return next((node for node in produced if node in present), None)


def _moved_nodes(effects: analysis.PassEffects) -> str:
    before, after = effects.nodes
    return f"{before} → {after}" if before != after else f"{after}, changed in place"


def _moved_bytes(effects: analysis.PassEffects) -> str | None:
    if effects.constant_bytes is None or effects.constant_bytes[0] == effects.constant_bytes[1]:
        return None
    before, after = effects.constant_bytes
    return f"{analysis.bytes_text(after)} ({analysis.bytes_delta_text(after - before)})"


def _time(change: analysis.LatencyChange) -> dict[str, Any]:
    claim = "faster" if change.ratio.value < 1 else "slower"
    return {
        "device": change.device,
        "since": change.since,
        "value": finite(change.ratio.value),
        "verdict": claim,
        "text": analysis.ratio_words(change.ratio, claim, 0.0),
    }
