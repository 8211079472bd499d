"""Recognizes the processes of torch and of this package, which freeze nothing of the user's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

#: Processes of torch and of this package, as modules, the beginning of an import, a program, and the end of a path.
_MODULES: Final = ("freeze_engine", "viewer.cli", "torch._inductor.compile_worker")
_IMPORT: Final = "from freeze_engine.worker."
_OWN_CODE: Final = "# freeze_engine"
#: Inductor's trial of the processor's vector units, ``_avx_py_load`` (torch/_inductor/cpu_vec_isa.py, 2.6 to 2.15).
_TRIAL: Final = re.compile(r"\nfrom ctypes import cdll\n(try:\n\s+)?cdll\.LoadLibrary\(")
_PROGRAM: Final = "freezer-ui"
_SCRIPT: Final = ("compile_worker", "__main__.py")
_WITH_VALUE: Final = ("-W", "-X")


def is_tool(words: Sequence[str]) -> bool:
    """Returns whether Python runs a process of torch's or of this package, which freezes nothing of the user's.

    Args:
        words: as of `sys.orig_argv`.
    """
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            module = next(rest, "")
            return any(f"{module}.".startswith(f"{known}.") for known in _MODULES)
        if word == "-c":
            code = next(rest, "")
            return _IMPORT in code or code.startswith(_OWN_CODE) or _TRIAL.search(code) is not None
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            path = PurePath(word)
            return path.name == _PROGRAM or path.parts[-len(_SCRIPT) :] == _SCRIPT
    return False
