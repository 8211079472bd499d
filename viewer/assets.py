"""Finds the files of ``static/``: bundled scripts, style sheets and templates.

A wheel has them inside this package (``viewer/static``, see pyproject.toml); a checkout has them beside it.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import freeze_engine as fe


def read_asset(name: str) -> str:
    """Returns the text of one file of ``static/``.

    Args:
        name: path below ``static/``, with ``/`` between folders (``bundles/viewer.js``).

    Returns:
        The file's text, read as UTF-8.

    Raises:
        FreezerError: if there is no such file, as in a broken installation.
    """
    installed = resources.files("viewer") / "static"
    checkout = Path(__file__).parent.parent / "static"
    for folder in (installed, checkout):
        asset = folder.joinpath(*name.split("/"))
        if asset.is_file():
            return asset.read_text(encoding="utf-8")
    raise fe.FreezerError(
        f"The file {name!r} of the viewer is missing: neither in {installed} nor in {checkout}. "
        "Install freezer-ui again, or run it from a complete checkout."
    )
