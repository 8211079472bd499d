"""Models whose compile ends the process that records it, each in another place."""

from __future__ import annotations

import ctypes
import traceback

import torch
import torch._inductor.config
from torch import nn

_KEPT: list[object] = []


class Net(nn.Module):
    """Is compiled without any C++: Inductor calls a library's convolution and the operator below."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return torch.ops.freezer_dying.act(self.norm(self.conv(x)))


def crash(*_args: object) -> None:
    ctypes.string_at(0)


def sound():
    return _net(fake=lambda: None, real=lambda: None), (torch.ones(1, 3, 8, 8),)


def pass_segfault():
    torch._inductor.config.post_grad_custom_post_pass = crash
    return sound()


def pass_hang():
    """Hangs as C++ code does that never lets go of the interpreter lock."""
    torch._inductor.config.post_grad_custom_post_pass = lambda graph: ctypes.PyDLL(None).pause()
    return sound()


def dynamo_segfault():
    """Dies when Dynamo reads the code."""
    import torch._dynamo.symbolic_convert

    torch._dynamo.symbolic_convert.InstructionTranslator.run = crash
    return sound()


def fake_segfault():
    """Dies where fake tensors go through the graph in the midst of the folding."""

    def act():
        if any(frame.name == "freezing_passes" for frame in traceback.extract_stack()):
            crash()

    return _net(fake=act, real=lambda: None), (torch.ones(1, 3, 8, 8),)


def cpp_segfault():
    """Dies where the generated C++ would be compiled."""
    import torch._inductor.cpp_builder
    import torch._inductor.cpu_vec_isa

    torch._inductor.cpu_vec_isa.VecISA.check_build = lambda *_args: True
    torch._inductor.cpp_builder.CppBuilder.build = crash
    return nn.Sequential(nn.Linear(4, 4), nn.GELU()).eval(), (torch.ones(1, 4),)


def code_segfault():
    """Dies when the compiled code runs."""
    return _net(fake=lambda: None, real=crash), (torch.ones(1, 3, 8, 8),)


def _net(fake, real):
    library = torch.library.Library("freezer_dying", "DEF")
    _KEPT.append(library)
    library.define("act(Tensor x) -> Tensor")

    def of(act):
        def implementation(x):
            act()
            return torch.empty_like(x)

        return implementation

    library.impl("act", of(real), "CPU")
    library.impl("act", of(fake), "Meta")
    return Net().eval()
