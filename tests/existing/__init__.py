"""Small files that exist already when a test opens them; `tests.existing.make` made them with torch 2.13."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
FROZEN = FOLDER / "frozen.pt"
"""A frozen TorchScript file, its batch norm not folded."""
