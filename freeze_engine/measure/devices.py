"""Devices for latency measurements."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from freeze_engine.trace import Notice


def chosen_devices(wanted: Iterable[str], tensors: Iterable[object]) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """Returns the devices that can be measured on: a frozen module runs where its constants are.

    Args:
        wanted: by the user; none for where the model is.
        tensors: of the model and its inputs; anything else among them is passed over.

    Returns:
        The devices, and a notice for each wanted one that is not available.
    """
    own = tuple(sorted({str(tensor.device) for tensor in tensors if isinstance(tensor, torch.Tensor)})) or ("cpu",)
    asked = tuple(dict.fromkeys("cuda:0" if device == "cuda" else device for device in wanted)) or own
    notices = tuple(
        Notice(
            "device_not_measured",
            f"No latency was taken on {device}: model and inputs are on {', '.join(own)}, and freezing bakes that in. "
            f"Move both to {device} before recording.",
        )
        for device in asked
        if device not in own
    )
    return tuple(device for device in asked if device in own), notices
