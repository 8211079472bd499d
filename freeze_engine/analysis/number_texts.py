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


def ratio_text(ratio: Interval, than: str = "") -> str:
    """Returns a time ratio in percent, with its interval.

    Args:
        ratio: time relative to another one.
        than: names the other one, empty where the place of the text does.

    Returns:
        ``19% less time than step 3 (16 to 22%)``, ``1% more time (2% less to 4% more)``; beyond twice the time
        ``3.1 times the time of step 3 (3.0 to 3.3)``.
    """
    if ratio.value > 2 or not math.isfinite(ratio.value):
        of = f" of {than}" if than else ""
        return f"{ratio.value:.1f} times the time{of} ({ratio.low:.1f} to {ratio.high:.1f})"
    against = f" than {than}" if than else ""
    word = "less" if ratio.value < 1 else "more"
    return f"{percent_text(abs(1 - ratio.value))}% {word} time{against} ({_bounds(ratio)})"


def ratio_short_text(ratio: Interval) -> str:
    """Returns a time ratio without its interval, for a narrow place (``−12%``, ``+8%``, ``3.1×``)."""
    if ratio.value > 2 or not math.isfinite(ratio.value):
        return f"{ratio.value:.1f}×"
    return f"{'−' if ratio.value < 1 else '+'}{percent_text(abs(1 - ratio.value))}%"


def _bounds(ratio: Interval) -> str:
    low, high = (percent_text(abs(1 - bound)) if math.isfinite(bound) else str(bound) for bound in _ends(ratio))
    if ratio.low < 1 < ratio.high:
        return f"{low}% less to {high}% more"
    return f"{low} to {high}%"


def _ends(ratio: Interval) -> tuple[float, float]:
    """Returns the bounds, the one nearer to no difference first where both are on one side of it."""
    return (ratio.high, ratio.low) if ratio.high <= 1 else (ratio.low, ratio.high)


def percent_text(share: float) -> str:
    """Returns a share in percent, below one percent with a digit more (``8``, ``0.4``), without the sign."""
    if not share:
        return "0"
    return f"{100 * share:.1f}" if share < 0.0095 else f"{100 * share:.0f}"


def error_text(error: float) -> str:
    """Returns a numeric error with two digits (``2.4e-07``); ``0`` only if it is exactly zero."""
    return "0" if error == 0 else f"{error:.1e}" if math.isfinite(error) else str(error)


def _three_digits(number: float) -> str:
    if number >= 99.95:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def _time_unit(duration_ns: float) -> tuple[str, float]:
    return next((pair for pair in _TIME_UNITS if duration_ns >= pair[1]), _TIME_UNITS[-1])
