from __future__ import annotations

import json
from pathlib import Path

import pytest

import freeze_engine as fe
from tests.builders import failed_trace, small_trace
from viewer.cli import main


@pytest.fixture
def small_file(tmp_path: Path) -> str:
    path = tmp_path / "small.fztrace"
    fe.save(small_trace(), path)
    return str(path)


def test_met_expectations_exit_with_0(small_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", small_file, "--expect-folded", "conv_bn", "--max-constant-bytes", "1K"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")] == [
        "ok: conv_bn folded",
        "ok: constants of at most 1,024 bytes",
    ]


def test_each_expectation_is_printed_and_a_failed_one_exits_with_1(
    small_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "--expect-folded conv_bn --expect-folded conv_add --no-preserved --saves --no-slower --no-failed-checks"
    assert main(["check", small_file, *line.split(), "--no-notices", "tracer_warning", "--expect-preserved", "m*"]) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")] == [
        "ok: conv_bn folded",
        "failed: conv_add folded",
        "failed: nothing preserved except by request",
        "ok: m* preserved",
        "ok: not slower than the first step",
        "failed: it saves and reloads, with the same outputs",
        "failed: the check round_trip passes",
        "failed: no notice tracer_warning",
    ]


def test_unanswered_expectation_exits_with_1(small_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", small_file, "--no-preserved", "layer*", "--max-error", "1", "--reference", "float64"]) == 1
    assert capsys.readouterr().out.count("cannot tell: ") == 2


def test_patterns_may_be_given_together_or_apart(small_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", small_file, "--no-preserved", "block.*", "label", "--no-preserved", "unused"]) == 0
    assert capsys.readouterr().out.count("ok: none of ") == 3


def test_trace_taken_for_a_pattern_is_pointed_out(small_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--no-preserved", small_file]) == 2
    assert "TRACE is missing: name it first, for --no-preserved takes what follows it" in capsys.readouterr().err


def test_a_freeze_that_failed_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fe.save(failed_trace(), tmp_path / "failed.fztrace")
    assert main(["check", str(tmp_path / "failed.fztrace"), "--no-preserved"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("failed: the freeze comes to its end\n")
    assert "</script>" in out


def test_the_findings_as_json(small_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", small_file, "--expect-folded", "conv_bn=1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "trace": "Net « naïve » <b>",
        "backend": "torchscript",
        "ok": True,
        "findings": [
            {
                "name": "expect_folded",
                "expected": "conv_bn folded 1 time",
                "outcome": "ok",
                "message": "conv_bn: 1 folded, 0 could have been and were not.",
                "evidence": ["1 by step 8, FoldFrozenConvBatchnorm (forward, round 1): block.conv, block.bn"],
                "remedy": "",
            }
        ],
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing is expected"),
        (["--reference", "float64"], "nothing is expected"),
        (["--max-error", "-1"], "is not a limit"),
        (["--expect-folded", "conv bn"], "is not an expectation of a fold"),
        (["--no-notices", "grap_break"], "there is no notice 'grap_break'. Did you mean graph_break?"),
    ],
)
def test_wrong_use_exits_with_2(
    small_file: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", small_file, *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--max-constant-bytes", "98MB"], ["--max-error", "x"], ["--reference", "bf16"]])
def test_unreadable_trace_exits_with_2(small_file: str, words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", small_file, *words])
    assert ended.value.code == 2


def test_a_missing_file_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "missing.fztrace"), "--saves"]) == 2
    assert "missing.fztrace" in capsys.readouterr().err
