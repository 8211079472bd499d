"""A file of a module that was optimized for inference before it was saved, as torch writes it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from freeze_engine.opening import open_existing

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")


def test_weights_that_torch_leaves_out_of_the_file_are_named(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4)).eval()
    optimized = torch.jit.optimize_for_inference(torch.jit.script(model))
    path = tmp_path / "optimized.pt"
    torch.jit.save(optimized, path)
    if "mkldnn_convolution" not in str(optimized.graph):
        pytest.skip("this torch converts no convolution to oneDNN here")
    with pytest.raises(RuntimeError):
        torch.jit.load(path)
    trace = open_existing(path)
    (notice,) = [each for each in trace.notices if each.code == "not_serializable"]
    assert notice.message.startswith("forward reads 2 weights in oneDNN's layout, which torch.jit.save leaves out")
    assert notice.step == 0
    assert "aten::matmul" in [node.op for node in trace.steps[0].graph.walk()]
    assert trace.near_misses == ()
