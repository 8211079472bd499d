"""The programs that Inductor generated, as the views get them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freeze_engine as fe
from freeze_engine.trace import Interval, Kernel, Program
from tests.builders import empty_trace, small_trace
from viewer.views.programs import comparison_rows, ops_text, program_rows

CODE = """\
cpp_fused_relu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], '''
extern "C" void cpp_fused_relu_0(const float* in) {}
''')
triton_add = async_compile.triton('triton_add', '''
def triton_add(in_ptr0):
    pass
''', device_str='cuda')
one_line = async_compile.cpp('''text''')

def call(args):
    # cpp_fused_relu_0(arg0)
    cpp_fused_relu_0(arg0, buf0)
    buf1 = extern_kernels.convolution(buf0, arg1)
    buf2 = aten.mm(buf1, one_line(buf1)); one_line(buf2)
    triton_add.run(buf2)
    not_one_line(buf2); cpp_fused_relu_0(buf2)
"""


def traced(*programs: Program) -> fe.Trace:
    return replace(small_trace(), programs=programs)


def program(names: tuple[str, ...], code: str | None = CODE, name: str = "compiled with freezing") -> Program:
    return Program(name, "forward", tuple(Kernel(each, "cpp") for each in names), code)


def test_each_call_is_found_in_the_code_and_what_it_calls():
    names = ("cpp_fused_relu_0", "extern_kernels.convolution", "one_line", "torch.ops.aten.mm", "triton_add")
    (row,) = program_rows(traced(program((*names, "cpp_fused_relu_0", "gone"))))
    assert [(kernel["name"], kernel["call"], kernel["definition"]) for kernel in row["kernels"]] == [
        ("cpp_fused_relu_0", 11, [0, 2]),
        ("extern_kernels.convolution", 12, None),
        ("one_line", 13, [7, 7]),
        ("torch.ops.aten.mm", 13, None),
        ("triton_add", 14, [3, 6]),
        ("cpp_fused_relu_0", 15, [0, 2]),
        ("gone", None, None),
    ]


@pytest.mark.parametrize("code", [None, "", "not python ("])
def test_code_without_the_calls_has_no_lines(code):
    (row,) = program_rows(traced(program(("cpp_fused_relu_0", "x(["), code)))
    assert [(kernel["call"], kernel["definition"]) for kernel in row["kernels"]] == [(None, None)] * 2


def test_kernel_is_attributed_to_the_first_graph_where_known():
    row = program_rows(small_trace())[0]
    assert (row["name"], row["method"], row["step"], row["time"]) == (
        "compiled with freezing",
        "forward",
        10,
        "1.50 µs",
    )
    (kernel,) = row["kernels"]
    assert (kernel["time"], kernel["short_time"], kernel["time_ns"]) == ("1.50 µs (1.40–1.70 µs)", "1.50 µs", 1500.0)
    assert kernel["sources"] == [{"file": "/home/zoë/model.py", "line": 4, "column": 8}]


def test_operators_are_short_and_counted():
    ops = ("aten.convolution.default", "aten.mul.Tensor", "aten::relu", "aten.mul.Tensor", "mkldnn._linear")
    assert ops_text(ops) == "convolution, mul ×2, relu, mkldnn._linear"
    assert ops_text(()) == ""


def test_both_programs_of_a_method_are_compared_by_the_work_they_do():
    frozen = Program("compiled with freezing", "forward", (kernel("a_0", 9.0), kernel("b_0", None)))
    plain = Program("compiled", "forward", (kernel("c_0", 5.0, "a_0"), kernel("d_0", None)))
    (row,) = comparison_rows(traced(frozen, plain))
    assert (row["frozen"], row["unfrozen"], row["passes"]) == (0, 1, [])
    assert row["groups"] == [
        group([0], [0], "different", "9.00 ns (9.00–9.00 ns)", "5.00 ns (5.00–5.00 ns)", lost=True),
        group([1], [], "only with freezing", None, None),
        group([], [1], "only without freezing", None, None),
    ]


def kernel(name: str, time_ns: float | None, origin: str = "") -> Kernel:
    time = None if time_ns is None else Interval(time_ns, time_ns, time_ns)
    return Kernel(name, "cpp", origins=(origin or name,), time_ns=time)


def group(
    frozen: list[int], unfrozen: list[int], difference: str, one: str | None, other: str | None, lost: bool = False
) -> dict:
    return {
        "frozen": frozen,
        "unfrozen": unfrozen,
        "difference": difference,
        "frozen_time": one,
        "unfrozen_time": other,
        "lost": lost,
    }


def test_a_trace_without_programs_has_none():
    assert program_rows(empty_trace()) == comparison_rows(empty_trace()) == []
