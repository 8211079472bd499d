"""The weights of quantised layers that are in objects of torch's C++ classes, which no count of parameters has."""

from __future__ import annotations

import re
from typing import Final

from freeze_engine.trace import Trace

#: Classes of torch 2.13.0: ``LinearPackedParamsBase``, ``Conv2dPackedParamsBase``, ``CellParamsBase`` and their like.
_PACKED: Final = re.compile(r"__torch__\.torch\.classes\.(quantized|rnn|sparse|xnnpack|mkldnn)\.")


def is_packed(type_text: str) -> bool:
    """Returns whether objects of a type hold packed weights."""
    return _PACKED.match(type_text) is not None


def packed_text(trace: Trace) -> str:
    """Counts a recording's packed objects, and those of them that are frozen (``2 packed objects, of which 1 is …``).

    Args:
        trace: the recording.

    Returns:
        The words, empty if there are none.
    """
    packed = [each for each in trace.attributes if is_packed(each.type)]
    if not packed:
        return ""
    frozen = sum(each.fate in ("inlined", "folded") for each in packed)
    counted = "1 packed object" if len(packed) == 1 else f"{len(packed)} packed objects"
    return f"{counted}, of which {frozen} {'is' if frozen == 1 else 'are'} frozen"
