"""Notices: those that need attention, and the facts that nearly every recording has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import freeze_engine as fe

if TYPE_CHECKING:
    from freeze_engine.trace import Notice


def warning_notices(trace: fe.Trace) -> tuple[Notice, ...]:
    """Returns the notices that need attention: all but the facts."""
    return tuple(notice for notice in trace.notices if not _is_fact(notice))


def fact_notices(trace: fe.Trace) -> tuple[Notice, ...]:
    """Returns the notices that nearly every recording has (`freeze_engine.trace.FACT_CODES`), without their steps."""
    from freeze_engine.trace import Notice  # `freezer-ui --help` imports this module, but needs no trace

    return tuple(Notice(each.code, each.message) for each in trace.notices if _is_fact(each))


def _is_fact(notice: Notice) -> bool:
    from freeze_engine.trace import FACT_CODES  # as above

    return notice.code in FACT_CODES


def notice_parts(notice: Notice) -> tuple[str, str | None]:
    """Returns the text of a notice, and the lines that it quotes, ``None`` if it quotes none."""
    said, _, quoted = notice.message.partition("\n")
    return said, quoted or None
