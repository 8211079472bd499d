from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace

_ROOT = Path(__file__).parents[2]


def test_a_freeze_that_does_what_is_expected_passes() -> None:
    fe.testing.assert_frozen(
        small_trace(), expect_folded="conv_bn:all", expect_preserved="count", max_latency_ratio=1.1
    )
    fe.testing.assert_frozen(small_trace())


def test_a_recording_and_a_file_are_looked_at_alike(tmp_path: Path) -> None:
    fe.save(small_trace(), tmp_path / "net.fztrace")
    for subject in (fe.Recording(None, small_trace(), {}), tmp_path / "net.fztrace", str(tmp_path / "net.fztrace")):
        fe.testing.assert_frozen(subject, expect_folded="conv_bn")
        with pytest.raises(AssertionError, match="nothing was seen that could be folded so"):
            fe.testing.assert_frozen(subject, expect_folded="linear_bn")


def test_the_error_says_what_where_why_and_what_to_do() -> None:
    with pytest.raises(AssertionError) as caught:
        fe.testing.assert_frozen(small_trace(), expect_folded="conv_bn", no_preserved="count", saves=True)
    kept = small_trace().sources[0]
    assert str(caught.value).splitlines() == [
        "Net « naïve » <b> (torchscript): 2 of 3 expectations not met",
        "failed: none of count preserved",
        "  1 attribute is preserved.",
        "    count: preserved (mutated_in_place)",
        "      aten::add_: attribute: count in %count has inplace writer",
        f"      at {kept.file}:4: {kept.lines[4 - kept.first_line].strip()}",
        "      through %seen (aten::view), %count (prim::GetAttr)",
        "  → Move the write out of forward, or keep it on purpose with preserved_attrs=['count'].",
        "failed: it saves and reloads, with the same outputs",
        "  Saved and loaded, it does not do the same.",
        "    RuntimeError: could not export Python function call",
    ]


def test_a_freeze_that_failed_fails_without_any_expectation() -> None:
    with pytest.raises(AssertionError, match="It failed in freeze_module, AttributePropagation of forward"):
        fe.testing.assert_frozen(failed_trace())


def test_unmeasured_expectation_fails() -> None:
    trace = replace(small_trace(), memory=None)
    with pytest.raises(AssertionError, match="cannot tell: it saves and reloads, with the same outputs"):
        fe.testing.assert_frozen(trace, saves=True)


def test_wrong_use_raises_no_assertion_error() -> None:
    with pytest.raises(TypeError, match="max_eror"):
        fe.testing.assert_frozen(small_trace(), max_eror=1.0)
    with pytest.raises(fe.FreezerError, match="recorded already"):
        fe.testing.assert_frozen(small_trace(), (1,))
    with pytest.raises(fe.TraceFileError):
        fe.testing.assert_frozen("missing.fztrace")


def test_a_trace_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import freeze_engine as fe\n"
        "from tests.builders import small_trace\n"
        "fe.testing.assert_frozen(small_trace(), expect_folded='conv_bn')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=_ROOT, check=True)
