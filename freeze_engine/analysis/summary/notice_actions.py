"""Actions from the notices of a trace: those with a known fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from freeze_engine.analysis.summary.action import Action, Aim
from freeze_engine.trace import Notice, Trace


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a notice becomes an action.

    Attributes:
        aim, title, gain: as in `Action`.
        fix: as there; empty if the last sentence of the notice's message is the fix.
    """

    aim: Aim
    title: str
    gain: str
    fix: str = ""


_TIME_UNKNOWN: Final = "the effect on time is not known"
_KINDS: Final[Mapping[str, _Kind]] = {
    "misfold": _Kind("correct", "Avoid a fold that gives wrong results", "outputs as those of eager"),
    "written_constant": _Kind("correct", "Keep a written tensor as a buffer", "calls would not change later ones"),
    "overwritten_input": _Kind(
        "correct", "Pass a copy of the input that is overwritten", "calls would not change the caller's tensor"
    ),
    "removed_attribute": _Kind("correct", "Preserve an attribute that the graph reads", "the frozen module would run"),
    "training_mode": _Kind("correct", "Compile the model in evaluation mode", "the same outputs at each call"),
    "tracer_warning": _Kind(
        "correct",
        "Make the traced code independent of the values",
        "the trace would hold for other inputs, too",
        "Script the model (--via script), or write these lines with tensor operators such as torch.where.",
    ),
    "nothing_frozen": _Kind(
        "faster",
        "Switch freezing on before the first call",
        f"parameters would become constants; {_TIME_UNKNOWN}",
        "Set torch._inductor.config.freezing = True before torch.compile traces the function.",
    ),
    "nothing_quantised": _Kind("faster", "Quantise operators that the model has", f"less memory; {_TIME_UNKNOWN}"),
    "dequantized": _Kind("faster", "Keep the weights quantised", f"less memory; {_TIME_UNKNOWN}"),
    "compiled_anew": _Kind("once", "Let the model compile only once", "no further compile at later calls"),
    "recompilation": _Kind(
        "once",
        "Avoid the second compile",
        "one compile less for such inputs",
        "Keep what the guard names the same at each call, or compile with dynamic sizes (--dynamic).",
    ),
    "graph_break": _Kind(
        "once",
        "Avoid the graph break",
        f"one graph instead of several; {_TIME_UNKNOWN}",
        "Change that code so that Dynamo can trace it; --fullgraph makes each break an error.",
    ),
    "device_baked_in": _Kind("known", "Take the device from an input", "the frozen module could run on other devices"),
}
#: The first words of what Inductor's misfolds have in the place of a fix.
_NO_FIX: Final = "The numeric errors"


#: The guard that fails where another module of the class runs the code that was compiled for one.
_OTHER_OBJECT: Final = "___check_obj_id("
_OWN_CODE: Final = (
    "With freezing, the weights of one module are in its code, so each module needs a compile of its own. Compile what "
    "calls all of them at once, for one compile, or compile without freezing, so that they share one."
)


def notice_actions(trace: Trace, past_tolerance: Collection[int]) -> Iterator[Action]:
    """Yields one action for each kind of notice that has a fix, the most harmful kind first.

    Args:
        trace: the recording.
        past_tolerance: steps that have an action for their numeric error; it includes their misfolds.
    """
    found: dict[str, list[Notice]] = {}
    for notice in trace.notices:
        covered = notice.code == "misfold" and notice.step in past_tolerance
        if notice.code in _KINDS and not covered and _parts(notice)[1]:
            found.setdefault(notice.code, []).append(notice)
    for code, kind in _KINDS.items():
        notices = found.get(code, ())
        if not notices:
            continue
        first = notices[0]
        evidence, fix = _parts(first)
        more = f" ({len(notices) - 1} more like it)" if len(notices) > 1 else ""
        yield Action(kind.aim, kind.title, evidence + more, fix, kind.gain, step=first.step)


def _parts(notice: Notice) -> tuple[str, str]:
    """Returns the evidence and the fix; no fix if the message has only one sentence."""
    said = notice.message.partition("\n")[0]
    fix = _KINDS[notice.code].fix
    if notice.code == "recompilation" and _OTHER_OBJECT in said:
        fix = _OWN_CODE
    if fix:
        return said, fix
    evidence, stop, last = said.rpartition(". ")
    if not stop or last.startswith(_NO_FIX):
        return said, ""
    return f"{evidence}.", last
