"""Sizes, times, ratios and errors as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from freeze_engine.analysis.detectability import BOUNDS_UNKNOWN, bounds_known

if TYPE_CHECKING:
    from freeze_engine.trace import Interval

_BYTE_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_TIME_UNITS: Final = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


def bytes_text(nbytes: int) -> str:
    """Returns a size in binary units, three significant digits (``97.5 MiB``)."""
    size, unit = float(abs(nbytes)), 0
    while size >= 999.5 and unit < len(_BYTE_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    sign = "−" if nbytes < 0 else ""
    return f"{sign}{abs(nbytes) if unit == 0 else _three_digits(size)} {_BYTE_UNITS[unit]}"


def bytes_delta_text(nbytes: int) -> str:
    """Returns a difference of sizes with its sign (``+4 KiB``, ``−1.5 MiB``), ``±0`` for none."""
    return "±0" if nbytes == 0 else ("+" if nbytes > 0 else "") + bytes_text(nbytes)


def duration_text(duration_ns: float) -> str:
    """Returns a duration in the largest fitting unit (``1.24 ms``)."""
    unit, scale = _time_unit(duration_ns)
    return f"{_three_digits(duration_ns / scale)} {unit}"


def interval_text(interval: Interval) -> str:
    """Returns the bounds of a time's interval, in the unit of its value (``4.1–4.4 ms``), or that it is unknown."""
    if not bounds_known(interval):
        return BOUNDS_UNKNOWN
    unit, scale = _time_unit(interval.value)
    return f"{_three_digits(interval.low / scale)}–{_three_digits(interval.high / scale)} {unit}"


def timed_text(interval: Interval) -> str:
    """Returns a time with its interval (``4.21 ms (4.10–4.40 ms)``)."""
    return f"{duration_text(interval.value)} ({interval_text(interval)})"


def ratio_text(ratio: Interval) -> str:
    """Returns a time ratio with its interval (``0.81× (0.78–0.84)``)."""
    return f"{ratio.value:.2f}× ({ratio.low:.2f}–{ratio.high:.2f})"


def error_text(error: float) -> str:
    """Returns a numeric error with two digits (``2.4e-07``); ``0`` only if it is exactly zero."""
    return "0" if error == 0 else f"{error:.1e}" if math.isfinite(error) else str(error)


def _three_digits(number: float) -> str:
    if number >= 99.95:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def _time_unit(duration_ns: float) -> tuple[str, float]:
    return next((pair for pair in _TIME_UNITS if duration_ns >= pair[1]), _TIME_UNITS[-1])
