"""Numbers of constants as pages get them: short texts, since a graph can have thousands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from freeze_engine.trace import Constant, ValueSummary

LEVELS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Heights of a histogram's bars, from nothing to the highest; `frontend/viewer/values.js` reads them."""


def value_cells(values: ValueSummary) -> tuple[int, int, int, str, str]:
    """Returns zeros, NaNs, the elements looked at, the bars of the histogram, and the first numbers as a text."""
    first = ", ".join(f"{number:.4g}" for number in values.first)
    return values.zeros, values.nans, values.counted, _bars(values.histogram), first


def tensor_row(constant: Constant | None) -> dict[str, Any] | None:
    """Returns the summary of an attribute's tensor in the form that the page has of a constant."""
    if constant is None or constant.values is None:
        return None
    zeros, nans, counted, histogram, first = value_cells(constant.values)
    return {
        "shape": list(constant.shape),
        "minimum": _number(constant.minimum),
        "maximum": _number(constant.maximum),
        "mean": _number(constant.mean),
        "std": _number(constant.std),
        "nonfinite": constant.nonfinite,
        "values": {"zeros": zeros, "nans": nans, "counted": counted, "histogram": histogram, "first": first},
    }


def _bars(histogram: tuple[int, ...]) -> str:
    """A bin that holds anything has a bar: a level of at least 1."""
    most = max(histogram, default=0)
    top = len(LEVELS) - 1
    return "".join(LEVELS[-(-count * top // most)] if count else LEVELS[0] for count in histogram)


def _number(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(f"{number:.6g}")
