"""Notices: those that need attention, and the facts that nearly every recording has."""

from __future__ import annotations

import freeze_engine as fe


def warning_notices(trace: fe.Trace) -> tuple[fe.Notice, ...]:
    """Returns the notices that need attention: all but the facts."""
    return tuple(notice for notice in trace.notices if notice.code not in fe.FACT_CODES)


def fact_notices(trace: fe.Trace) -> tuple[fe.Notice, ...]:
    """Returns the notices that nearly every recording has (`freeze_engine.FACT_CODES`), without their steps."""
    return tuple(fe.Notice(each.code, each.message) for each in trace.notices if each.code in fe.FACT_CODES)


def notice_parts(notice: fe.Notice) -> tuple[str, str | None]:
    """Returns the text of a notice, and the lines that it quotes, ``None`` if it quotes none."""
    said, _, quoted = notice.message.partition("\n")
    return said, quoted or None
