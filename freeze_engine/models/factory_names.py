"""The MODEL that stands for a function in a Python file, and the folder where that name holds."""

from __future__ import annotations

import re
from pathlib import Path


def factory_advice(file: Path, function: str) -> str:
    """Returns what to give for a function of a Python file (``nets.net:build``), and where, if not here.

    ``package.module:factory`` is looked up from the working directory.

    Args:
        file: the Python file, which need not be there.
        function: its name.
    """
    whole = file.resolve()
    if not whole.stem.isidentifier():
        name = re.sub(r"\W", "_", whole.stem)
        name = name if name.isidentifier() else f"_{name}"
        return f"{name}:{function}, from the file's folder, after renaming it {name}.py"
    try:
        parts = whole.relative_to(Path.cwd()).with_suffix("").parts
    except ValueError:
        parts = ()
    if parts and all(part.isidentifier() for part in parts):
        return f"{'.'.join(parts)}:{function}"
    return f"{whole.stem}:{function}, from the file's folder"
