"""The script that shows a fault: it is Python, and imports nothing but torch and the standard library."""

from __future__ import annotations

import ast

import pytest

import freeze_engine as fe
from freeze_engine.bisection.script import ScriptFacts, script_text

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
    ("check", "imports", "expected"),
    [
        (fe.AccuracyCheck(), {"sys", "pathlib", "torch"}, "the outputs stay within the tolerances of"),
        (fe.AccuracyCheck(0.5), {"sys", "pathlib", "torch"}, "the outputs stay within 0.5 of what they were"),
        (fe.LatencyCheck(margin=0.1), {"sys", "time", "pathlib", "torch"}, "it gets no more than 10% slower"),
        (
            fe.CommandCheck(("python", "it's a check.py")),
            {"os", "subprocess", "sys", "tempfile", "pathlib", "torch"},
            "the command, which gets the module as a file, exits with 0",
        ),
    ],
)
def test_each_check_has_a_script_of_its_own(check, imports, expected):
    text = script_text(FACTS, check)
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
    tree = ast.parse(script_text(FACTS, fe.CommandCheck(("python", "it's a check.py"))))
    (words,) = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMAND"
    ]
    assert ast.literal_eval(words) == ["python", "it's a check.py"]
