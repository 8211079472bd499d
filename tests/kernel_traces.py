"""A hand-built trace whose programs have kernels."""

from __future__ import annotations

from dataclasses import replace

import freeze_engine as fe
from freeze_engine.trace import Interval, Kernel, Program, ProgramPass, SourceRef
from tests.builders import small_trace
from tests.graphs import FILE

CODE = """\
cpp_fused_relu_0 = async_compile.cpp_pybinding(['const float*'], '''
void cpp_fused_relu_0(const float* in) {}
''')

def call(args):
    buf0 = extern_kernels.convolution(args)
    cpp_fused_relu_0(buf0)
"""
TIME = Interval(1500.0, 1400.0, 1700.0)


def kernel_trace() -> fe.Trace:
    """Returns a trace whose programs name nodes of its graphs."""
    convolution = Kernel(
        "extern_kernels.convolution", "extern", ("y",), ("y",), ("aten::conv2d",), (SourceRef(FILE, 5, 8),), TIME
    )
    relu = Kernel("cpp_fused_relu_0", "cpp", ("sum",), ("sum",), ("aten::add",), (), TIME)
    plain = Kernel("extern_kernels.plain", "extern", (), ("y",))
    passes = (ProgramPass("joint_graph", "pointless_view", 9, True), ProgramPass("post_grad", "noop", 9, False))
    programs = (
        Program("compiled with freezing", "forward", (convolution, relu), CODE, (("seen", "a view: moves no data"),)),
        Program("compiled", "forward", (plain,), None, (), passes),
    )
    return replace(small_trace(), programs=programs)
