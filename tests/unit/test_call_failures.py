"""Why a call of a model fails, as told beside the form's inputs."""

from __future__ import annotations

import pytest

from freeze_engine.models import CallFailure, CallFix, ModelParameter
from freeze_engine.models.trial.failures import explain_failure
from freeze_engine.models.trial.location import failure_place
from freeze_engine.requests import parse_input

IDS = ModelParameter("ids", "Tensor", True, input="1x16:int64:0..100", source="operator")
IMAGE = ModelParameter("image", "Tensor", True, input="1x3x224x224", source="operator")
SCALE = ModelParameter("scale", "float", False, "1.0")
MASK = ModelParameter("mask", "Tensor", True, is_keyword=True)

#: (what torch or Python raised, the inputs, (message, index at fault, parameter, first fix, its inputs))
CASES = {
    "missing, by Python": (
        "TypeError: Net.forward() missing 2 required positional arguments: 'ids' and 'image'",
        (),
        ("forward() is missing ids and image", None, "ids", "Add ids and image"),
        ("ids=1x16:int64:0..100", "image=1x3x224x224"),
    ),
    "missing, by TorchScript": (
        "RuntimeError: forward() is missing value for argument 'image'. Declaration: forward(Net s) -> ()",
        ("1x16:int64",),
        ("forward() is missing image", None, "image", "Add image"),
        ("1x16:int64", "image=1x3x224x224"),
    ),
    "missing, by an exported program": (
        "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords [] but expected ['mask']",
        ("1x16:int64", "1x3x8x8"),
        ("forward() is missing mask", None, "mask", None),
        (),
    ),
    "a keyword given by its place": (
        "ValueError: Ran into a kwarg keyword mismatch: Got the following keywords [] but expected ['mask']",
        ("1x16:int64", "1x3x8x8", "float:2.0", "1x4"),
        ("forward() takes mask by its name only", 3, "mask", "Pass it as mask"),
        ("1x16:int64", "1x3x8x8", "float:2.0", "mask=1x4"),
    ),
    "a misspelt keyword": (
        "TypeError: Net.forward() got an unexpected keyword argument 'imag'",
        ("1x16:int64", "imag=1x3x8x8"),
        ("forward() has no input imag", 1, "", "Call it image"),
        ("1x16:int64", "image=1x3x8x8"),
    ),
    "an unknown keyword": (
        "RuntimeError: Unknown keyword argument 'foo' for operator 'forward'. Schema: forward(Net s) -> ()",
        ("1x16:int64", "foo=int:3"),
        ("forward() has no input foo", 1, "", "Remove it"),
        ("1x16:int64",),
    ),
    "too many": (
        "RuntimeError: forward() expected at most 2 argument(s) but received 3 argument(s). Declaration: forward()",
        ("1x3", "1x4"),
        ("forward() takes 1 input, and 2 were given", 1, "", "Remove it"),
        ("1x3",),
    ),
    "twice": (
        "TypeError: Net.forward() got multiple values for argument 'ids'",
        ("1x16:int64", "ids=1x16:int64"),
        ("forward() gets its input ids twice", 1, "ids", "Remove ids=…"),
        ("1x16:int64",),
    ),
    "a wrong type": (
        "RuntimeError: forward() Expected a value of type 'float' for argument 'scale' but instead found type "
        "'Tensor'.",
        ("1x16:int64", "1x3x8x8", "1x2"),
        ("forward() takes a value of type float for scale, and got one of type Tensor", 2, "scale", "Use float:1.0"),
        ("1x16:int64", "1x3x8x8", "float:1.0"),
    ),
    "no index": (
        "RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
        "but got torch.FloatTensor instead (while checking arguments for embedding)",
        ("2x16", "1x3x8x8"),
        ("the model expects int64 here, not float32: choose int64", 0, "ids", "Choose int64"),
        ("2x16:int64:0..100", "1x3x8x8"),
    ),
    "double": (
        "RuntimeError: Input type (double) and bias type (float) should be the same",
        ("1x16:int64", "image=1x3x8x8:float64"),
        ("the model expects float32 here, not float64: choose float32", 1, "image", "Choose float32"),
        ("1x16:int64", "image=1x3x8x8"),
    ),
    "long, in a matrix product": (
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Long and Float",
        ("1x3:int64:0..5",),
        ("the model expects float32 here, not int64: choose float32", 0, "ids", "Choose float32"),
        ("1x3",),
    ),
    "half, in C++'s words": (
        "RuntimeError: expected m1 and m2 to have the same dtype, but got: c10::Half != float",
        ("1x3:float16",),
        ("the model expects float32 here, not float16: choose float32", 0, "ids", "Choose float32"),
        ("1x3",),
    ),
    "no operator for integers": (
        "NotImplementedError: \"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
        ("1x3:int64",),
        ("the model expects float32 here, not int64: choose float32", 0, "ids", "Choose float32"),
        ("1x3",),
    ),
    "an index out of range": (
        "IndexError: index out of range in self",
        ("1x8:int64:0..1000", "1x3x8x8"),
        ("an index in it is out of range: give it a range within 0..100", 0, "ids", "Draw from 0 to 99"),
        ("1x8:int64:0..100", "1x3x8x8"),
    ),
    "an index out of a known size": (
        "IndexError: index 4 is out of bounds for dimension 0 with size 3",
        ("1x3x8x8:int64:0..9",),
        ("an index in it is out of range: give it a range within 0..100", 0, "ids", "Draw from 0 to 99"),
        ("1x3x8x8:int64:0..100",),
    ),
    "channels": (
        "RuntimeError: Given groups=1, weight of size [4, 3, 3, 3], expected input[1, 1, 8, 8] to have 3 channels, but "
        "got 1 channels instead",
        ("1x16:int64", "1x1x8x8"),
        (
            "Given groups=1, weight of size [4, 3, 3, 3], expected input[1, 1, 8, 8] to have 3 channels, but got 1 "
            "channels instead",
            1,
            "image",
            "Use 1x3x8x8",
        ),
        ("1x16:int64", "1x3x8x8"),
    ),
    "channels without a batch": (
        "RuntimeError: Given groups=1, weight of size [4, 3, 3], expected input[1, 4, 9] to have 3 channels, but got 4 "
        "channels instead",
        ("4x9",),
        (
            "Given groups=1, weight of size [4, 3, 3], expected input[1, 4, 9] to have 3 channels, but got 4 channels "
            "instead",
            0,
            "ids",
            "Use 3x9",
        ),
        ("3x9",),
    ),
    "features": (
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)",
        ("1x2x5",),
        ("mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)", 0, "ids", "Use 1x2x3"),
        ("1x2x3",),
    ),
    "normalized features": (
        "RuntimeError: Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[1, 4]",
        ("1x4",),
        (
            "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[1, 4]",
            0,
            "ids",
            "Use 1x3",
        ),
        ("1x3",),
    ),
    "a size of an exported program": (
        "AssertionError: Guard failed: image.size()[1] <= 8",
        ("1x16:int64", "image=1x9"),
        ("size 1 may be at most 8, as the program was exported", 1, "image", "Use 1x8"),
        ("1x16:int64", "image=1x8"),
    ),
    "a value of an exported program": (
        "AssertionError: Guard failed: scale == 3",
        ("1x16:int64", "scale=int:4"),
        ("it must be 3, as the program was exported", 1, "scale", "Use 3"),
        ("1x16:int64", "scale=int:3"),
    ),
    "anything else, with one tensor": (
        "RuntimeError: shape '[5]' is invalid for input of size 6",
        ("2x3",),
        ("RuntimeError: shape '[5]' is invalid for input of size 6", 0, "ids", "Use 1x16:int64:0..100"),
        ("1x16:int64:0..100",),
    ),
    "anything else, with two": (
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        ("1x3", "1x4"),
        (
            "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
            None,
            "",
            None,
        ),
        (),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_input_at_fault_and_what_mends_it(case):
    error, inputs, (message, at, parameter, label), mended = case
    found = explain_failure(error, inputs, (IDS, IMAGE, SCALE, MASK))
    first = CallFix(label, mended) if label else None
    assert found == CallFailure(message, at, parameter, found.fixes)
    assert (found.fixes[0] if found.fixes else None) == first
    for fix in found.fixes:
        assert [parse_input(text) for text in fix.inputs]  # each text is a right one


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_a_signature_nothing_is_invented(case):
    error, inputs, _, _ = case
    found = explain_failure(error, inputs, None)
    assert found.message
    assert found.at is None or 0 <= found.at < len(inputs)
    assert all(parse_input(text) for fix in found.fixes for text in fix.inputs)


SCRIPTED = """RuntimeError: The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__.py", line 18, in forward
    _0 = (emb).forward(ids, )
          ~~~~~~~~~~~~ <--- HERE

Traceback of TorchScript, original code (most recent call last):
  File "/home/me/net.py", line 9, in forward
    def forward(s, ids):
        y=s.lin(s.emb(ids)).sum(1)
                ~~~~~ <--- HERE
  File "/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 2615, in embedding
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)
           ~~~~~~~~~~~~~~~ <--- HERE
RuntimeError: index out of range in self
"""
EAGER = """  File "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1779, in _call_impl
    return forward_call(*args, **kwargs)
  File "/home/me/net.py", line 12, in forward
    return self.conv(x)
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py", line 543, in _conv_forward
    return F.conv2d(input, weight, bias)
"""


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (SCRIPTED, "in embedding, line 9 of net.py"),
        (EAGER, "in conv2d, line 12 of net.py"),
        ("IndexError: index out of range in self", ""),
        ("", ""),
    ],
)
def test_the_operator_and_the_users_line(error, place):
    assert failure_place(error) == place


def test_the_reason_inside_a_traceback_of_torchscript():
    assert explain_failure(SCRIPTED, ("1x8:int64:0..1000",), (IDS,)).fixes == (
        CallFix("Draw from 0 to 99", ("1x8:int64:0..100",)),
    )
