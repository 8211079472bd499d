"""Layers of the expressions whose folds something between, before or around the layers hides."""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_linear_bn_eval


class Layers(nn.Module):
    """The layers of all expressions, with values of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.line = nn.Conv1d(3, 4, 3)
        self.cube = nn.Conv3d(3, 4, 3)
        self.up = nn.ConvTranspose2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.flat = nn.BatchNorm1d(4)
        self.turned = nn.BatchNorm2d(4)
        self.deep = nn.BatchNorm3d(4)
        self.wide = nn.BatchNorm1d(8)
        self.wide2d = nn.BatchNorm2d(8)
        self.linear = nn.Linear(8, 4)
        self.embed = nn.Embedding(5, 4)
        self.register_buffer("order", torch.tensor([1, 0]))
        self.register_buffer("matrix", torch.ones(8, 4))
        self.register_buffer("row", torch.ones(4))
        self.register_buffer("other", torch.ones(4))
        self.register_buffer("channels", torch.ones(1, 4, 1, 1))
        self.register_buffer("shifts", torch.ones(1, 4, 1, 1))
        self.register_buffer("places", torch.ones(1, 1, 4, 4))
        generator = torch.Generator().manual_seed(1)
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
        with torch.no_grad():
            self.turned.weight[1] = -1.0
        self.eval()
        self.flat2d = nn.BatchNorm2d(4).eval()
        self.flat2d.load_state_dict(self.flat.state_dict())
        self.negative, self.doubled = copy.deepcopy(self.up), copy.deepcopy(self.up)
        with torch.no_grad():
            for factor, layer in ((-1.0, self.negative), (2.0, self.doubled)):
                for each in layer.parameters():
                    each.mul_(factor)
        self.fused = fuse_linear_bn_eval(self.linear, self.flat)
        self.fused2d = fuse_linear_bn_eval(self.linear, self.norm)


class Joined(Layers):
    """Layers, and what following the advice makes of them."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(2)
        self.second, self.same = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3, padding=1)
        self.big, self.many = nn.Conv2d(3, 8, 3), nn.Conv2d(3, 16, 3)
        self.other_norm, self.of_input = nn.BatchNorm2d(4, eps=1e-3), nn.BatchNorm2d(3)
        self.other_linear = nn.Linear(8, 4)
        self.register_buffer("mean", torch.rand(1, 3, 1, 1))
        self.register_buffer("deviation", torch.rand(3, 1, 1) + 0.5)
        self.register_buffer("factors", torch.rand(8) + 0.5)
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
        self.eval()
        one, two = self.norm, self.other_norm
        self.low, self.high = _norm(self.wide2d, slice(0, 4)), _norm(self.wide2d, slice(4, 8))
        self.both, self.one_half = _joint(one, two), _joint(one, None)
        self.repeated = _norm(one, torch.arange(4).repeat_interleave(4))
        scale, shift = _affine(one)
        self.scaled, self.shifted = _merged(self.conv, scale, shift), _merged(self.second, scale)
        self.row_scaled = _merged(self.linear, *_affine(self.flat))
        self.row_other = _merged(self.other_linear, _affine(self.flat)[0])
        self.tripled, self.tripled_too = (_merged(each, torch.full((4,), 3.0)) for each in (self.conv, self.second))
        self.row_tripled, self.row_tripled_too = (
            _merged(each, torch.full((4,), 3.0)) for each in (self.linear, self.other_linear)
        )
        mean, deviation = torch.as_tensor(self.mean).view(3), torch.as_tensor(self.deviation).view(3)
        self.normalising = _after(self.conv, 1 / deviation, -mean / deviation)
        self.halving, self.padded_halving = (_after(each, torch.full((3,), 0.5)) for each in (self.conv, self.same))
        self.turning, self.raising = _after(self.conv, -torch.ones(3)), _after(self.conv, torch.ones(3), torch.ones(3))
        self.weighing = _after(self.linear, torch.as_tensor(self.factors), torch.full((8,), 2.0))
        self.combined = copy.deepcopy(self.of_input)
        scale, shift = _affine(self.of_input)
        with torch.no_grad():
            self.combined.weight.mul_(scale)
            self.combined.bias.mul_(scale).add_(shift)


def _affine(norm: Any) -> tuple[torch.Tensor, torch.Tensor]:
    scale = norm.weight.detach() / (norm.running_var + norm.eps).sqrt()
    return scale, norm.bias.detach() - norm.running_mean * scale


def _norm(norm: Any, channels: Any) -> nn.BatchNorm2d:
    values = [each.detach()[channels] for each in (norm.weight, norm.bias, norm.running_mean, norm.running_var)]
    made = nn.BatchNorm2d(len(values[0]), eps=norm.eps).eval()
    for tensor, value in zip((made.weight, made.bias, made.running_mean, made.running_var), values, strict=True):
        assert tensor is not None
        tensor.data.copy_(value)
    return made


def _joint(one: Any, two: Any) -> nn.BatchNorm2d:
    """Makes one batch norm of two, with the first one's eps; without a second one its half changes nothing."""
    made = nn.BatchNorm2d(8, eps=one.eps).eval()
    for name, unchanged in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0 - one.eps)):
        other = torch.full((4,), unchanged) if two is None else getattr(two, name).detach()
        if two is not None and name == "running_var":
            other = other + two.eps - one.eps
        getattr(made, name).data.copy_(torch.cat([getattr(one, name).detach(), other]))
    return made


def _merged(layer: Any, scale: torch.Tensor, shift: torch.Tensor | float = 0.0) -> Any:
    made = copy.deepcopy(layer)
    made.weight.data.mul_(scale.view(-1, *[1] * (made.weight.dim() - 1)))
    made.bias.data.mul_(scale).add_(shift)
    return made


def _after(layer: Any, scale: torch.Tensor, shift: torch.Tensor | None = None) -> Any:
    """Merges what comes before a layer into it."""
    made = copy.deepcopy(layer)
    inner = [1] * (made.weight.dim() - 2)
    if shift is not None:
        made.bias.data.add_((layer.weight.detach() * shift.view(1, -1, *inner)).flatten(1).sum(1))
    made.weight.data.mul_(scale.view(1, -1, *inner))
    return made


def written_models(
    folder: Path,
    base: type[nn.Module],
    advised: Sequence[tuple[torch.Tensor, str, str, str]],
    silent: Sequence[tuple[torch.Tensor, str]],
    spelled: Callable[[str], str] = str,
) -> ModuleType:
    """Writes a module with one class for each expression, as TorchScript needs a file.

    Args:
        folder: of the file.
        base: a class of this file, whose layers the expressions name.
        advised: the third and fourth of each are an expression, class ``Is0``, and what its advice makes of it,
            ``Better0``.
        silent: the second of each is an expression, class ``Silent0``.
        spelled: writes out what an expression abbreviates.

    Returns:
        The module.
    """
    expressions = {f"Is{number}": case[2] for number, case in enumerate(advised)}
    expressions |= {f"Better{number}": case[3] for number, case in enumerate(advised)}
    expressions |= {f"Silent{number}": case[1] for number, case in enumerate(silent)}
    head = f"import torch\nimport torch.nn.functional as F\nfrom {__name__} import {base.__name__}\n"
    classes = (
        f"class {name}({base.__name__}):\n    def forward(self, x):\n        return {spelled(text)}\n"
        for name, text in expressions.items()
    )
    path = folder / f"written_{base.__name__.lower()}.py"
    path.write_text(head + "".join(classes), encoding="utf-8")
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
