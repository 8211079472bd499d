"""Names that there are not are refused, with what there is."""

from __future__ import annotations

import re
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.requests import did_you_mean
from freeze_engine.requests.options import ModuleOptions


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("resnet8", " Did you mean resnet18?"),
        ("RESNET18", " Did you mean resnet18?"),
        ("conv", ""),
        ("", ""),
    ],
)
def test_close_names_are_suggested(word: str, said: str) -> None:
    assert did_you_mean(word, ("resnet18", "Inception")) == said


@pytest.mark.parametrize(
    ("options", "given", "said"),
    [
        (fe.TorchScriptOptions, {"preserved_attrs": "version"}, "preserved_attrs='version' is a text: pass a tuple"),
        (fe.TorchScriptOptions, {"other_methods": (1,)}, "other_methods=(1,) is not a tuple of names"),
        (fe.TorchScriptOptions, {"disabled_passes": None}, "disabled_passes=None is not a tuple of names"),
        (
            fe.InductorOptions,
            {"disabled_passes": "cse"},
            "disabled_passes='cse' is a text: pass a tuple, disabled_passes=('cse',)",
        ),
        (fe.InductorOptions, {"mode": "max-autotun"}, "Did you mean max-autotune?"),
        (fe.Measure, {"devices": "cuda"}, "devices='cuda' is a text: pass a tuple, devices=('cuda',)"),
        (fe.Measure, {"seconds": float("nan")}, "seconds=nan: it must be a time, such as 12.0"),
        (fe.Measure, {"seconds": -1.0}, "seconds=-1.0: it must be a time, such as 12.0"),
        (ModuleOptions, {"via": "tracing"}, "via='tracing': a module gets into TorchScript by 'script' or 'trace'"),
    ],
)
def test_options_that_name_nothing_are_refused(options: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(fe.FreezerError, match=re.escape(said)):
        options(**given)
