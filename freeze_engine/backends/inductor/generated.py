"""Reads the kernels out of the code that Inductor generated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_COMPILED = re.compile(r"^(\w+) = async_compile\.(\w+)\(", re.MULTILINE)
_EXTERN = re.compile(r"\b(extern_kernels\.\w+|torch\.ops\.\w+\.\w+\.\w+|aten\.\w+\.\w+)\(")


def kernels(code: str) -> Iterator[str]:
    """Yields a line for each kernel that the generated code compiles, and each library function that it calls.

    Args:
        code: text of the Python module that Inductor wrote.
    """
    compiled = _COMPILED.findall(code)
    for name, language in compiled:
        yield f"kernel {name} ({language})"
    _, _, body = code.partition("\ndef call(")
    body = body or code[code.find("class Runner") :]
    for name, count in Counter(_EXTERN.findall(body)).items():
        yield f"calls {name}" + (f" ({count} times)" if count > 1 else "")
