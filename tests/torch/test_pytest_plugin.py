"""The plugin of pytest, in a test run of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine import sweep
from freeze_engine.pytest_plugin.expected import read_expectations, with_marks
from freeze_engine.pytest_plugin.recorder import prepare
from tests.sweeps import make_sweep, sweep_row

ROOT = Path(__file__).parents[2]
_TESTS = """
import pytest
import torch

AT_IMPORT = torch.jit.freeze(torch.jit.script(torch.nn.ReLU().eval()))


@pytest.fixture(scope="module")
def frozen():
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2)).eval()
    return torch.jit.freeze(torch.jit.script(net))


def test_folds(frozen):
    assert frozen is not None


def test_nothing_is_frozen():
    pass


@pytest.mark.freezer(expect_folded="conv_add")
def test_other_fold():
    torch.jit.freeze(torch.jit.script(torch.nn.Linear(1, 1).eval()))


def test_failing_freeze():
    with pytest.raises(RuntimeError):
        torch.jit.freeze(torch.jit.script(torch.nn.Linear(1, 1)))
"""


def test_each_freeze_of_a_test_run_is_recorded_and_checked(tmp_path: Path) -> None:
    (tmp_path / "test_nets.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "freeze_engine.pytest_plugin", "-p", "no:cacheprovider"]
    command += ["-W", "ignore::DeprecationWarning"]
    # In the place of a configuration above the temporary folder, which may have options of its own.
    (tmp_path / "pytest.ini").write_text("[pytest]\nfreezer_expect = no-notices=misfold\n")
    done = subprocess.run(
        [*command, "--freezer-record", "freezes", "test_nets.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1].partition(" in ")[0]) == (1, "1 failed, 3 passed"), (
        done.stdout
    )
    assert "the freeze of Linear (torchscript) is not as expected\nfailed: conv_add folded" in done.stdout
    found = sweep.read_sweep(tmp_path / "freezes")
    assert f"freezes: 4 recorded in {tmp_path / 'freezes'}; to look at them: freezer-ui " in done.stdout
    assert [(row.options.rpartition("::")[2], row.model, row.status) for row in found.rows] == [
        ("test_nets.py", "ReLU", "recorded"),
        ("test_failing_freeze", "Linear", "failed"),
        ("test_folds", "Sequential", "recorded"),
        ("test_other_fold", "Linear", "recorded"),
    ]
    assert [len(fe.load(found.folder / row.trace).steps) == row.steps for row in found.rows] == [True] * 4


def test_expectations_are_read_as_on_the_command_line() -> None:
    texts = ["max-error=1e-4", "no-preserved", "expect-folded=conv_bn", "expect_folded=conv_add", "no-slower"]
    expected = fe.Expectations(max_error=1e-4, no_preserved=(), expect_folded=("conv_bn", "conv_add"), no_slower=True)
    assert read_expectations(texts) == expected
    marks = [pytest.Mark("freezer", (), {"max_error": limit}, _ispytest=True) for limit in (1.0, 2.0)]
    assert with_marks(expected, marks).max_error == 2.0
    with pytest.raises(fe.FreezerError, match="give expectations by name"):
        with_marks(expected, [pytest.Mark("freezer", ("no-preserved",), {}, _ispytest=True)])


@pytest.mark.parametrize("name", ["sweep.json", "notes.txt"])
def test_a_test_run_is_not_recorded_into_the_folder_of_something_else(tmp_path: Path, name: str) -> None:
    folder = make_sweep(tmp_path / "out", sweep_row())
    if name != "sweep.json":
        (folder / "sweep.json").rename(folder / name)
    before = sorted(folder.rglob("*"))
    with pytest.raises(fe.FreezerError, match="holds something else"):
        prepare(folder)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max-eror=1", "Did you mean max_error?"),
        ("max-error=much", "that is not a number"),
        ("no-slower=yes", "takes no value"),
        ("expect-folded", "takes a value"),
    ],
)
def test_a_wrong_expectation_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(fe.FreezerError, match=message.replace("?", r"\?")):
        read_expectations([text])
