"""What torch says of TorchScript is kept back where the call was not the user's, and nothing else is."""

from __future__ import annotations

import warnings

import pytest

from freeze_engine.backends.common.deprecation import undeprecated


@pytest.mark.parametrize(
    ("category", "text"),
    [
        (DeprecationWarning, "`torch.jit.load` is deprecated. Please switch to `torch.export`."),  # torch 2.13
        (FutureWarning, "`torch.jit.freeze` is deprecated. Please use `torch.compile` instead."),  # torch 2.14
    ],
)
def test_the_deprecation_of_torchscript_is_kept_back_inside_only(category: type[Warning], text: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with undeprecated():
            warnings.warn(text, category, stacklevel=1)
            warnings.warn("torch.ao.quantization is deprecated", category, stacklevel=1)
        warnings.warn(text, category, stacklevel=1)
    assert [str(each.message) for each in said] == ["torch.ao.quantization is deprecated", text]
