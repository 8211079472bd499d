"""Load of the machine during latency measurements: other programs, and the processors' clock.

Read from Linux's ``/proc/stat`` (proc(5)) and ``/sys/devices/system/cpu`` (``scaling_cur_freq``, in kHz); where these
are missing, there is no reading.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
_PROCESSORS = Path("/sys/devices/system/cpu")
_OTHERS = 0.1
_SLOWDOWN = 0.05
_IDLE = (3, 4)  # idle, iowait


@dataclass(frozen=True, slots=True)
class Reading:
    """The machine at one moment.

    Attributes:
        total_s: time of all processors since the machine started, ``None`` where unknown.
        busy_s: how much of it they were busy, or taken by other virtual machines; ``None`` as well.
        own_s: how much of it this process used.
        clock_hz: of the fastest processor, ``None`` where unknown.
    """

    total_s: float | None
    busy_s: float | None
    own_s: float
    clock_hz: float | None


def reading(stat: Path = _STAT, processors: Path = _PROCESSORS) -> Reading:
    """Reads the machine's clocks and counters."""
    times = os.times()
    total, busy = _processor_seconds(stat)
    return Reading(total, busy, times.user + times.system, _clock_hz(processors))


def machine_notes(before: Reading, after: Reading) -> tuple[str, ...]:
    """Describes what could have disturbed the measurements between two readings.

    Args:
        before, after: the readings.

    Returns:
        Sentences with their remedy.
    """
    return (*_others_notes(before, after), *_clock_notes(before, after))


def _others_notes(before: Reading, after: Reading) -> Iterable[str]:
    if before.total_s is None or before.busy_s is None or after.total_s is None or after.busy_s is None:
        return
    total = after.total_s - before.total_s
    others = after.busy_s - before.busy_s - (after.own_s - before.own_s)
    if total > 0 and others / total > _OTHERS:
        yield f"busy: other programs took {others / total:.0%} of the processors meanwhile; stop them"


def _clock_notes(before: Reading, after: Reading) -> Iterable[str]:
    if not before.clock_hz or not after.clock_hz or after.clock_hz >= (1 - _SLOWDOWN) * before.clock_hz:
        return
    fell = f"{before.clock_hz / 1e9:.2f} to {after.clock_hz / 1e9:.2f} GHz"
    yield f"throttling: the processors' clock fell from {fell} meanwhile; cool the machine, or fix its clock"


def _processor_seconds(stat: Path) -> tuple[float | None, float | None]:
    try:
        fields = stat.read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return None, None
    ticks = [int(field) for field in fields]
    per_second = os.sysconf("SC_CLK_TCK")
    idle = sum(ticks[index] for index in _IDLE)
    return sum(ticks) / per_second, (sum(ticks) - idle) / per_second


def _clock_hz(processors: Path) -> float | None:
    found = []
    for file in processors.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"):
        try:
            found.append(float(file.read_text()) * 1e3)
        except (OSError, ValueError):
            continue  # an offline processor has no clock
    return max(found, default=None)
