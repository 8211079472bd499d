"""Notices: those that ask for attention, and the facts that nearly every recording has."""

from __future__ import annotations

import freeze_engine as fe


def warning_notices(trace: fe.Trace) -> tuple[fe.Notice, ...]:
    """Returns the notices that ask for attention: all but the facts."""
    return tuple(notice for notice in trace.notices if notice.code not in fe.FACT_CODES)


def fact_notices(trace: fe.Trace) -> tuple[fe.Notice, ...]:
    """Returns the notices that nearly every recording has, by `freeze_engine.FACT_CODES`, as of no step."""
    return tuple(fe.Notice(each.code, each.message) for each in trace.notices if each.code in fe.FACT_CODES)


def notice_parts(notice: fe.Notice) -> tuple[str, str | None]:
    """Returns what a notice says, and the lines that it quotes, if it does."""
    said, _, quoted = notice.message.partition("\n")
    return said, quoted or None
