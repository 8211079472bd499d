"""Writes the card of a trace as a picture."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import freeze_engine as fe
from freeze_engine import process
from viewer.cli.command import CommandError, output_file

_BROWSERS: Final = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge"),
    "chromium-headless-shell",
)
_PATIENCE_S: Final = 180.0
"""Time limit of the browser, in s; only a hanging one reaches it."""


def card_file(text: str) -> Path:
    """Validates the name of the picture.

    Raises:
        argparse.ArgumentTypeError: it ends in neither ``.svg`` nor ``.png``, or cannot be a file.
    """
    if Path(text).suffix.lower() not in (".svg", ".png"):
        raise argparse.ArgumentTypeError(f"{text} is no .svg and no .png; give a name that ends in one of these")
    return output_file(text)


def write_card(trace: fe.Trace, path: Path) -> None:
    """Writes the card of a trace atomically.

    Args:
        trace: the recording.
        path: the file, ``.svg`` or ``.png``. An installed Chromium or Chrome draws the latter.

    Raises:
        CommandError: no browser is installed for PNG, or it failed.
    """
    from viewer.card import card_svg

    text = card_svg(trace)
    if path.suffix.lower() == ".svg":
        _write(path, text.encode())
        return
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise CommandError(
            f"{path}: Chromium or Chrome draws a PNG, and none is installed; write an SVG (--card {path.stem}.svg)"
        )
    with process.temporary_folder("freezer-card-") as folder:
        _write(path, _drawn(browser, text, folder, path))


def _drawn(browser: str, text: str, folder: Path, path: Path) -> bytes:
    from viewer.card import HEIGHT_PX, WIDTH_PX

    source, target = folder / "card.svg", folder / "card.png"
    source.write_text(text, encoding="utf-8")
    options = [
        "--headless",
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-background-networking",
        "--no-first-run",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={WIDTH_PX},{HEIGHT_PX}",
        f"--screenshot={target}",
        *(
            ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        ),  # it does not start with it as root
    ]
    try:
        done = subprocess.run(
            [browser, *options, source.as_uri()], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{path}: {browser} did not end within {_PATIENCE_S:.0f} s; write an SVG instead") from error
    if done.returncode or not target.is_file():
        raise CommandError(
            f"{path}: {browser} could not draw it (exit code {done.returncode}); write an SVG instead",
            details=done.stderr,
        )
    return target.read_bytes()


def _write(path: Path, data: bytes) -> None:
    process.write_files({path: data})
