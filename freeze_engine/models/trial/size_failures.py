"""Explains calls that failed at a size or at an index."""

from __future__ import annotations

import re

from freeze_engine.analysis.refused_inputs import plain_refusal
from freeze_engine.models.summary import ModelParameter
from freeze_engine.models.trial.failed_call import FailedCall
from freeze_engine.models.trial.trial import CallFailure, CallFix
from freeze_engine.requests.inputs import INTEGER_RANGES


def out_of_range(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains an index out of range."""
    limit = int(match["size"]) if match.groupdict().get("size") else None
    found = [at for at, each in call.given_tensors() if each.dtype in INTEGER_RANGES]
    at = next((at for at in found if _limit(call.parameter_at(at))), None)
    if at is None and len(found) == 1:
        at = found[0]
    if at is None:
        return None
    name = call.names[at]
    most = _limit(call.parameter_at(at)) or limit
    if most is None:
        return CallFailure("an index in it is out of range: give it a smaller range", at, name)
    text = call.in_range(at, most)
    fixes = () if text is None else (CallFix(f"Draw from 0 to {most - 1}", call.with_value(at, text)),)
    return CallFailure(f"an index in it is out of range: give it a range within 0..{most}", at, name, fixes)


def _limit(parameter: ModelParameter | None) -> int | None:
    match = re.search(r"\.\.(\d+)$", (parameter.input if parameter and parameter.source == "operator" else "") or "")
    return int(match[1]) if match else None


def wrong_channels(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a size that an operator checks, and names what it was given."""
    wanted = int(match["wanted"])
    given = tuple(int(size) for size in match["given"].split(","))
    for shape, axis in ((given, 1), (given[1:], 0)):  # torch adds the batch
        at = call.shaped(shape)
        if at is not None:
            return _sized(plain_refusal(match.string), at, axis, wanted, call)
    return None


def wrong_last_size(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a last size, of which an operator names the one it got and the one it needs."""
    return _by_axis(match, call, -1)


def wrong_second_size(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a second size, of which an operator names the one it got and the one it needs."""
    return _by_axis(match, call, 1)


def _by_axis(match: re.Match[str], call: FailedCall, axis: int) -> CallFailure | None:
    got, wanted = int(match["got"]), int(match["wanted"])
    found = [at for at, each in call.given_tensors() if len(each.shape) > max(axis, 0) and each.shape[axis] == got]
    return None if len(found) != 1 else _sized(plain_refusal(match.string), found[0], axis, wanted, call)


def guarded_size(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a size that an exported program does not take."""
    at = call.of(match["name"])
    if at is None:
        return None
    axis, wanted = int(match["axis"]), int(match["size"])
    words = {"==": "must be", "<=": "may be at most", ">=": "must be at least"}[match["relation"]]
    return _sized(f"size {axis} {words} {wanted}, as the program was exported", at, axis, wanted, call)


def fixed_value(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a value that is fixed in an exported program."""
    at = call.of(match["name"])
    if at is None:
        return None
    kind = {"True": "bool", "False": "bool"}.get(match["value"], "float" if "." in match["value"] else "int")
    text = f"{kind}:{match['value'].lower()}"
    fix = CallFix(f"Use {match['value']}", call.with_value(at, text))
    return CallFailure(f"it must be {match['value']}, as the program was exported", at, match["name"], (fix,))


def _sized(message: str, at: int, axis: int, size: int, call: FailedCall) -> CallFailure:
    text = call.with_size(at, (axis,), size)
    fixes = () if text is None else (CallFix(f"Use {text}", call.with_value(at, text)),)
    return CallFailure(message, at, call.names[at], fixes)


def suggested(call: FailedCall) -> tuple[int | None, str, tuple[CallFix, ...]]:
    """Returns the only tensor at fault, and its suggestion if that is another one."""
    found = [at for at, _ in call.given_tensors()]
    if len(found) != 1:
        return None, "", ()
    parameter = call.parameter_at(found[0])
    name = call.names[found[0]]
    text = parameter.input if parameter else None
    if text is None or text == call.value(found[0]):
        return found[0], name, ()
    return found[0], name, (CallFix(f"Use {text}", call.with_value(found[0], text)),)
