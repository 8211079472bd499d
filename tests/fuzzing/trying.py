"""Runs one input of the fuzzer: loads it, passes it to the readers, and reports the failure."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from tests.fuzzing.consumers import CHEAP, COSTLY, Consumer
from tests.fuzzing.mutations import mutated

_TESTS = Path(__file__).parents[1]
KEPT = _TESTS / "corpus" / "kept.txt"
"""Inputs that once caused a failure, one per line."""

_MAX_BYTES = 256 << 20
_COSTLY_EVERY = 997  # not a multiple of the number of files


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one input.

    Attributes:
        loaded: whether it loads as a trace.
        failure: a reader's name and the traceback; ``None`` without a failure.
    """

    loaded: bool
    failure: str | None = None


@cache
def originals() -> Mapping[str, bytes]:
    """Returns the files to alter, by name: both backends, every version, a failed recording."""
    golden = {path.stem: path.read_bytes() for path in sorted((_TESTS / "golden").glob("*.fztrace"))}
    real = {path.stem: path.read_bytes() for path in sorted((_TESTS / "corpus").glob("*.fztrace"))}
    return {**golden, **real, "small": fe.dumps(small_trace()), "failed": fe.dumps(failed_trace())}


@cache
def _sound(original: str) -> fe.Trace:
    return fe.loads(originals()[original])


def input_name(seed: int, number: int) -> str:
    """Returns the name of an input, such as ``small:7:1234``: the file, the seed and the number."""
    names = sorted(originals())
    return f"{names[number % len(names)]}:{seed}:{number}"


def outcome_of(name: str, *, thorough: bool = False) -> Outcome:
    """Creates an input, and passes it to the readers of traces.

    Args:
        name: as `input_name` returns it.
        thorough: whether to pass it to the costly readers, which otherwise get one in 997.
    """
    original, _, number = name.split(":")
    try:
        trace = fe.loads(mutated(originals()[original], name), name, _MAX_BYTES)
    except fe.TraceFileError as error:
        return Outcome(False, _failure(str(error).encode, f"message of {name}"))
    except Exception:  # noqa: BLE001 - any such exception is a finding
        return Outcome(False, f"load of {name}\n{traceback.format_exc()}")
    is_thorough = thorough or int(number) % _COSTLY_EVERY == _COSTLY_EVERY - 1
    for where, reader in {**CHEAP, **(COSTLY if is_thorough else {})}.items():
        if failure := _failure(_reading(reader, trace, original), f"{where} of {name}"):
            return Outcome(True, failure)
    return Outcome(True)


def _reading(reader: Consumer, trace: fe.Trace, original: str) -> Callable[[], object]:
    return lambda: reader(trace, _sound(original))


def _failure(action: Callable[[], object], where: str) -> str | None:
    try:
        action()
    except fe.FreezerError:
        return None
    except Exception:  # noqa: BLE001 - as above
        return f"{where}\n{traceback.format_exc()}"
    return None
