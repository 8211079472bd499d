"""``fe.testing.assert_frozen`` on modules that it freezes itself."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import torch

import freeze_engine as fe


class ConvBn(torch.nn.Module):
    def __init__(self, track_running_stats: bool = True) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3)
        self.bn = torch.nn.BatchNorm2d(3, track_running_stats=track_running_stats)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.conv(x))


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        return x + self.seen


INPUT = torch.ones(1, 2, 8, 8)


def test_a_module_is_frozen_and_measured_as_far_as_it_is_asked_about() -> None:
    fe.testing.assert_frozen(
        ConvBn().eval(), (INPUT,), expect_folded="conv_bn=1", no_preserved=(), max_error=1e-4, max_constant_bytes=10**6
    )


def test_missing_fold_is_reported_with_torchs_condition() -> None:
    with pytest.raises(AssertionError) as caught:
        fe.testing.assert_frozen(ConvBn(track_running_stats=False).eval(), INPUT, expect_folded="conv_bn:all")
    text = str(caught.value)
    assert "0 folded, 1 could have been and were not" in text
    assert "no_running_stats" in text


def test_preserved_attribute_is_reported_with_the_line_that_writes_it() -> None:
    with pytest.raises(AssertionError) as caught:
        fe.testing.assert_frozen(Counter().eval(), (INPUT,), no_preserved=())
    text = str(caught.value)
    assert "seen: preserved (mutated_in_place)" in text
    assert "self.seen.add_(1)" in text
    assert "test_assert_frozen.py:" in text


def test_freeze_by_user_code_is_asserted() -> None:
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(ConvBn().eval()))
        torch.jit.freeze(torch.jit.script(Counter().eval()))
    fe.testing.assert_frozen(captured)
    with pytest.raises(AssertionError, match=r"Counter \(torchscript\): 1 of 1 expectations not met"):
        fe.testing.assert_frozen(captured, no_preserved=())
    with fe.capture() as nothing:
        pass
    with pytest.raises(AssertionError, match="nothing was frozen"):
        fe.testing.assert_frozen(nothing)


def test_exception_of_torch_passes_through() -> None:
    with pytest.raises(RuntimeError):
        fe.testing.assert_frozen(ConvBn().eval(), options=fe.TorchScriptOptions(preserved_attrs=("missing",)))


def test_the_example_of_the_docs_fails_as_they_say(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    code, said = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    assert code is not None
    assert said is not None
    (tmp_path / "detector.py").write_text(code[1], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("detector", tmp_path / "detector.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(AssertionError) as caught:
        module.test_the_detector_freezes_whole()
    text = re.sub(r"at \S*/(torch/nn/functional.py):\d+", r"at \1", str(caught.value))
    assert text.replace(f"{tmp_path}/", "") == said[1].rstrip("\n")
