"""Shared by the tests of unusual situations."""

from __future__ import annotations

import torch
from torch import nn

import freeze_engine as fe
from tests.torch.models import filled


def frozen(module: nn.Module, *preserved: str) -> torch.jit.ScriptModule:
    """Fills a module with distinct values and freezes it."""
    return torch.jit.freeze(torch.jit.script(filled(module)), list(preserved))


def fates(captured: fe.Captured, *paths: str) -> dict[str, str]:
    """Returns fates of the last trace by path, with the reason after a colon for preserved attributes."""
    found = {path: captured.traces[-1].attribute(path) for path in paths}
    return {path: f"{fate.fate}: {fate.reason}" if fate.reason else fate.fate for path, fate in found.items()}
