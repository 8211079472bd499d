"""Explains calls that failed at their arguments: missing, unknown, too many, of a wrong type."""

from __future__ import annotations

import difflib
import re

from freeze_engine.analysis.refused_inputs import plain_refusal
from freeze_engine.models.signature.unwritable import REMEDY
from freeze_engine.models.trial.failed_call import FailedCall
from freeze_engine.models.trial.trial import CallFailure, CallFix


def missing(match: re.Match[str], call: FailedCall) -> CallFailure:
    """Explains arguments that are missing."""
    names = re.findall(r"'([^']*)'", match["names"])
    texts = list(call.texts)
    for name in names:
        parameter = call.parameter(name)
        if parameter is None or parameter.input is None:
            return CallFailure(plain_refusal(match.string), None, names[0])
        texts.append(f"{name}={parameter.input}")
    which = " and ".join(names)
    return CallFailure(plain_refusal(match.string), None, names[0], (CallFix(f"Add {which}", tuple(texts)),))


def other_keywords(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains keywords that differ from those of an exported program."""
    wanted, got = (re.findall(r"'([^']*)'", match[each]) for each in ("wanted", "got"))
    unknown = next((name for name in got if name not in wanted), None)
    if unknown is not None:
        return _unexpected(unknown, call)
    absent = next((name for name in wanted if name not in got), None)
    if absent is None:
        return None
    extra = call.positional(sum(not each.is_keyword for each in call.parameters)) if call.parameters else None
    if extra is not None:
        fix = CallFix(f"Pass it as {absent}", call.replaced(extra, f"{absent}={call.value(extra)}"))
        return CallFailure(f"forward() takes {absent} by its name only", extra, absent, (fix,))
    parameter = call.parameter(absent)
    text = parameter.input if parameter else None
    fixes = (CallFix(f"Add {absent}", (*call.texts, f"{absent}={text}")),) if text else ()
    return CallFailure(f"forward() is missing {absent}", None, absent, fixes)


def unknown_keyword(match: re.Match[str], call: FailedCall) -> CallFailure:
    """Explains a keyword that no parameter has."""
    return _unexpected(match["name"], call)


def _unexpected(name: str, call: FailedCall) -> CallFailure:
    at = call.keyword(name)
    message = f"forward() has no input {name}"
    if at is None:
        return CallFailure(message)
    near = next(iter(difflib.get_close_matches(name, [each.name for each in call.parameters], n=1)), None)
    text = call.texts[at].partition("=")[2]
    renamed = [CallFix(f"Call it {near}", call.replaced(at, f"{near}={text}"))] if near else []
    return CallFailure(message, at, "", (*renamed, CallFix("Remove it", call.without(at))))


def too_many(match: re.Match[str], call: FailedCall) -> CallFailure:
    """Explains positional arguments beyond the last parameter."""
    most = int(match["most"].split()[-1]) - 1  # without self
    at = call.positional(most)
    fixes = () if at is None else (CallFix("Remove it", call.without(at)),)
    return CallFailure(plain_refusal(match.string), at, "", fixes)


def given_twice(match: re.Match[str], call: FailedCall) -> CallFailure:
    """Explains a parameter that is given by its place and by its name."""
    at = call.keyword(match["name"])
    fixes = () if at is None else (CallFix(f"Remove {match['name']}=…", call.without(at)),)
    return CallFailure(plain_refusal(match.string), at, match["name"], fixes)


def wrong_type(match: re.Match[str], call: FailedCall) -> CallFailure:
    """Explains a value whose type is not the declared one."""
    name, wanted = match["name"], match["wanted"].removesuffix(" (inferred)")
    at = call.of(name)
    plain = {"int": "int:1", "float": "float:1.0", "bool": "bool:true", "Tensor": "1x16"}
    parameter = call.parameter(name)
    text = (parameter.input if parameter else None) or plain.get(wanted)
    fixes = () if at is None or text is None else (CallFix(f"Use {text}", call.with_value(at, text)),)
    return CallFailure(plain_refusal(match.string), at, name, fixes)


def no_tensor(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains an attribute that no tensor has: the model may want an object of a class of its own."""
    wanted = [each for at in range(len(call.texts)) if (each := call.parameter_at(at)) and each.type != "Tensor"]
    if len(wanted) != 1:
        return None
    name = wanted[0].name
    reason = f"a tensor has no attribute {match['name']}. If {name} is to be an object that has it: {REMEDY}"
    return CallFailure(reason, call.of(name), name)
