"""The script that shows a fault: it is Python, and imports nothing but torch and the standard library."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys

import pytest

import freeze_engine as fe
from freeze_engine.diagnose.bisection.repro_script import ScriptFacts, script_text

FACTS = ScriptFacts(
    title='A "quoted" """title""" with a \\ in it.',
    facts=("first", '    %1 : str = prim::Constant[value="\\n"]()'),
    torch="torch 2.13.0",
    load=('return torch.jit.load(HERE / "net.module.pt").eval()',),
    freeze=("module = torch.jit.freeze(module)", "return module"),
    inputs="net.inputs.pt",
    step=7,
)


@pytest.mark.parametrize(
    ("criterion", "imports", "expected"),
    [
        (fe.AccuracyCriterion(), {"sys", "pathlib", "torch"}, "the outputs stay within the tolerances of"),
        (fe.AccuracyCriterion(0.5), {"sys", "pathlib", "torch"}, "the outputs stay within 0.5 of what they were"),
        (fe.LatencyCriterion(margin=0.1), {"sys", "time", "pathlib", "torch"}, "it gets no more than 10% slower"),
        (
            fe.CommandCriterion(("python", "it's a check.py")),
            {"os", "subprocess", "sys", "tempfile", "pathlib", "torch"},
            "the command, which gets the module as a file, exits with 0",
        ),
    ],
)
def test_each_criterion_has_a_script_of_its_own(criterion, imports, expected):
    text = script_text(FACTS, criterion)
    tree = ast.parse(text)
    assert (ast.get_docstring(tree) or "").startswith(FACTS.title.replace('"""', "'''"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported == imports
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert f"Expected: {expected}" in (ast.get_docstring(functions["check"]) or "")
    assert ast.unparse(functions["freeze"]).endswith("module = torch.jit.freeze(module)\n    return module")


def test_a_command_is_kept_word_by_word():
    tree = ast.parse(script_text(FACTS, fe.CommandCriterion(("python", "it's a check.py"))))
    (words,) = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMAND"
    ]
    assert ast.literal_eval(words) == ["python", "it's a check.py"]


#: Stands for torch beside a script: what is to be loaded is a function.
FAKE_TORCH = """
import contextlib
class jit:
    load = staticmethod(lambda path: type("Module", (), {"eval": lambda self: self, "__call__": lambda self, x: x})())
Tensor = float
no_grad = contextlib.nullcontext
manual_seed = load = lambda *args, **kwargs: {"args": (1.0,), "kwargs": {}}
class testing:
    def assert_close(one, other, **how):
        assert one == other, f"{one} != {other}"
"""


@pytest.mark.parametrize(
    ("ran", "freeze", "code", "said"),
    [
        ("to_its_end", "return lambda x: x + 1", 1, "BROKEN: [2.0] != [1.0]"),
        ("to_its_end", "return lambda x: (x, None)", 0, "fine"),
        ("raised", "return lambda x: 1 // 0", 1, "BROKEN: ZeroDivisionError: integer division or modulo by zero"),
        ("raised", "return module", 0, "fine"),
        ("died", "import ctypes; ctypes.string_at(0)", 1, "BROKEN: ended by SIGSEGV"),
        ("died", "return module", 0, "fine"),
        ("hung", "import time; time.sleep(600)", 1, "BROKEN: not done after 0.5 s"),
    ],
)
def test_a_script_shows_the_fault_that_was_seen_and_no_other(ran, freeze, code, said, tmp_path, monkeypatch):
    monkeypatch.setattr("freeze_engine.diagnose.bisection.repro_script._START_S", 0.25)
    facts = dataclasses.replace(FACTS, ran=ran, freeze=(freeze,))
    (tmp_path / "torch.py").write_text(FAKE_TORCH)
    (tmp_path / "script.py").write_text(script_text(facts, fe.AccuracyCriterion(limit_s=0.25)))
    ended = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (code, [said]), ended.stderr


def test_a_script_does_not_take_another_error_for_the_fault(tmp_path):
    facts = dataclasses.replace(FACTS, freeze=("import no_such_module",))
    (tmp_path / "torch.py").write_text(FAKE_TORCH)
    (tmp_path / "script.py").write_text(script_text(facts, fe.AccuracyCriterion()))
    ended = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError" in ended.stderr
    assert "BROKEN" not in ended.stdout


def test_a_script_calls_the_method_that_was_searched():
    text = script_text(dataclasses.replace(FACTS, method="encode"), fe.AccuracyCriterion())
    assert "result = module.encode(*args, **kwargs)" in text
