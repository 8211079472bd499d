"""How many arguments operators take at least, and the defaults that torch leaves out where it writes code.

The tables hold the operators whose arguments the package reads by place (torch's own schemas,
``torch._C._jit_get_all_schemas()``, torch 2.13).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LEAST: Final[Mapping[int, str]] = {
    2: """__getitem__ _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d add add_ append avg_pool1d avg_pool2d avg_pool3d chunk clamp_min_ constant_pad_nd conv1d
        conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d copy_ div div_ embedding expand expand_as
        extend flip get group_norm hsplit layer_norm linear matmul max_pool1d max_pool2d max_pool3d mm mul mul_
        multinomial ne pad permute pow pow_ prelu repeat reshape roll rsub select softmax split_with_sizes sub sub_
        tensor_split unsqueeze unsqueeze_ update upsample_nearest1d upsample_nearest2d upsample_nearest3d view view_as
        vsplit""",
    3: """_set_item _upsample_bicubic2d_aa _upsample_bilinear2d_aa addcdiv addcdiv_ addcmul addcmul_ addmm addmm_
        alpha_dropout alpha_dropout_ as_strided as_strided_ bilinear dropout dropout_ feature_alpha_dropout
        feature_alpha_dropout_ feature_dropout feature_dropout_ index_select insert lerp lerp_ movedim setdefault
        swapaxes swapaxes_ threshold_ transpose transpose_ upsample_bicubic2d upsample_bilinear2d upsample_linear1d
        upsample_trilinear3d""",
    4: "narrow unfold",
    7: "_batch_norm_with_update _convolution_mode cudnn_convolution_relu",
    9: "batch_norm convolution cudnn_convolution_add_relu instance_norm",
    12: "_convolution",
}
_WITHOUT: Final = """Generator dict has_torch_function is_autocast_cpu_enabled is_autocast_enabled is_grad_enabled
    is_scripting is_vulkan_available _get_cpu_capability _get_tracing_state _make_dep_token _nnpack_available
    _use_cudnn_rnn_flatten_weight"""


def _listed(number: int, rank: int) -> tuple[str, str]:
    return f"[{', '.join([str(number)] * rank)}]", "int[]"


_NOTHING: Final = ("None", "NoneType")
_EMPTY: Final = ("[]", "int[]")
_ONE: Final = ("1", "int")
_FALSE: Final = ("0", "bool")
_TRUE: Final = ("1", "bool")
OMITTED: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    **{
        f"aten::conv{rank}d": (_NOTHING, _listed(1, rank), _listed(0, rank), _listed(1, rank), _ONE)
        for rank in (1, 2, 3)
    },
    **{
        f"aten::conv_transpose{rank}d": (
            *(_NOTHING, _listed(1, rank), _listed(0, rank), _listed(0, rank)),
            *(_ONE, _listed(1, rank)),
        )
        for rank in (1, 2, 3)
    },
    **{f"aten::avg_pool{rank}d": (_EMPTY, _listed(0, rank), _FALSE, _TRUE, _NOTHING) for rank in (2, 3)},
    "aten::avg_pool1d": (_EMPTY, _listed(0, 1), _FALSE, _TRUE),
    **{f"aten::max_pool{rank}d": (_EMPTY, _listed(0, rank), _listed(1, rank), _FALSE) for rank in (1, 2, 3)},
    "aten::group_norm": (_NOTHING, _NOTHING, ("1e-05", "float"), _TRUE),
    "aten::layer_norm": (_NOTHING, _NOTHING, ("1e-05", "float"), _TRUE),
    "aten::linear": (_NOTHING,),
}
"""The arguments after those that an operator takes at least, each with its type in the graph."""

LEAST_ARGUMENTS: Final = {
    f"aten::{name}": least for least, names in {0: _WITHOUT, **_LEAST}.items() for name in names.split()
}
"""The least number of arguments of an operator; of any other that torch has it is 1."""


def lacks_arguments(op: str, given: int) -> bool:
    """Returns whether a call has fewer arguments than its operator takes."""
    least = LEAST_ARGUMENTS.get(op, 1 if op.startswith("aten::") else 0)
    return given < least


def omitted_defaults(op: str, given: int) -> tuple[tuple[str, str], ...]:
    """Returns the defaults that stand for the last arguments of a call, each with its type.

    Args:
        op: operator of the call.
        given: how many arguments the call has, all of them by place.
    """
    defaults = OMITTED.get(op, ())
    return defaults[max(given - LEAST_ARGUMENTS.get(op, given), 0) :]
