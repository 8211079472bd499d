"""Batch-norm statistics such as training would leave."""

from __future__ import annotations

from torch import nn


def randomise_statistics(module: nn.Module) -> None:
    """Gives every batch norm below ``module`` statistics and affine parameters that are not the identity.

    Freshly made batch norms (mean 0, variance 1) would fold without a trace in the numbers.

    Args:
        module: changed in place, drawing from torch's global random state.
    """
    for norm in module.modules():
        if not isinstance(norm, nn.BatchNorm2d) or norm.running_mean is None or norm.running_var is None:
            continue
        nn.init.normal_(norm.running_mean, std=0.2)
        nn.init.uniform_(norm.running_var, 0.5, 1.5)
        nn.init.uniform_(norm.weight, 0.5, 1.0)
        nn.init.normal_(norm.bias, std=0.1)
