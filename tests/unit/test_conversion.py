"""Why a model does not become TorchScript, in a sentence."""

from __future__ import annotations

import pytest

from freeze_engine.worker.conversion import conversion_text

FRAME = '  File "{}", line {}\n    def forward(self, x):\n               ~ <--- HERE\n'
LIBRARY = "/venv/lib/python3.11/site-packages/torch/nn/modules/activation.py"


@pytest.mark.parametrize(
    ("conversion", "error", "traceback", "text"),
    [
        (
            "scripted",
            "UnsupportedNodeError: Lambda aren't supported:\n" + FRAME.format("/home/me/model.py", 32),
            (),
            "The model cannot be scripted: Lambda aren't supported, at line 32 of model.py.",
        ),
        (
            "scripted",
            "RuntimeError: \n\nModule 'Net' has no attribute 'd' :\n" + FRAME.format("/home/me/net.py", 3) * 2,
            (),
            "The model cannot be scripted: Module 'Net' has no attribute 'd', at line 3 of net.py.",
        ),
        (
            "scripted",
            "RuntimeError: \nUnknown type:\n" + FRAME.format(LIBRARY, 900) + FRAME.format("a.py", 7),
            (),
            "The model cannot be scripted: Unknown type, at line 7 of a.py.",
        ),
        (
            "traced",
            "RuntimeError: Only tensors can be output from traced functions",
            (
                f'  File "{LIBRARY}", line 9, in a',
                '  File "/m/net.py", line 4, in forward',
                '  File "<string>", line 1',
            ),
            "The model cannot be traced: Only tensors can be output from traced functions, at line 4 of net.py.",
        ),
        (
            "scripted",
            "OSError: could not get source",
            (),
            "The model cannot be scripted: could not get source.",
        ),
        ("scripted", "RuntimeError: ", (), "The model cannot be scripted: RuntimeError."),
    ],
)
def test_the_reason_and_the_line(conversion, error, traceback, text):
    assert conversion_text(conversion, error, traceback) == text
