"""The pages of `docs/roads`: their blocks, and the names that their Python leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ROADS = sorted((ROOT / "docs" / "roads").glob("*.md"))


def blocks(page: Path, language: str) -> list[str]:
    """Returns the blocks of a language; the commands have none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def run_page(stem: str, **names: Any) -> dict[str, Any]:
    """Runs the Python of a page, and returns all names that it leaves.

    Args:
        stem: of the page.
        **names: what the page takes as given.
    """
    (page,) = (page for page in ROADS if page.stem == stem)
    codes = blocks(page, "python")
    assert codes
    for code in codes:
        exec(compile(code.replace('"/logs"', '"logs"'), page.name, "exec"), names)
    return names
