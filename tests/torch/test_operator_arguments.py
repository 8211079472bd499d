"""The arguments of operators in code that torch wrote, held against torch's own schemas."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from keyword import kwlist
from pathlib import Path

import pytest
import torch
from torch.nn import functional

import freeze_engine as fe
import freeze_engine.backends
from freeze_engine.opening import open_existing
from freeze_engine.opening.operator_arguments import LEAST_ARGUMENTS, OMITTED, omitted_defaults

CONV = "torch.conv2d({}, CONSTANTS.c0, CONSTANTS.c0, [1, 1], [0, 0], [1, 1], 1)"
NORM = f"torch.batch_norm({{}}, {', '.join(['CONSTANTS.c0'] * 4)}, False, 0.1, 1e-05, True)"


@cache
def _least() -> Mapping[str, int]:
    """The least number of arguments of each operator, over its overloads."""
    found: dict[str, int] = defaultdict(lambda: 99)
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::") and not any(each.is_out for each in schema.arguments):
            needed = sum(not each.has_default_value() for each in schema.arguments)
            found[schema.name] = min(found[schema.name], needed)
    return found


def test_least_number_of_arguments_is_that_of_torch() -> None:
    assert {op: _least()[op] for op in LEAST_ARGUMENTS} == LEAST_ARGUMENTS
    assert {op for op, least in _least().items() if least == 0} <= set(LEAST_ARGUMENTS)


@pytest.mark.parametrize("op", OMITTED)
def test_defaults_are_those_of_torch(op: str) -> None:
    (schema,) = (
        each
        for each in torch._C._jit_get_all_schemas()
        if each.name == op and each.overload_name in ("", "input") and not each.arguments[-1].is_out
    )
    defaults = [each.default_value for each in schema.arguments if each.has_default_value()]
    assert [text for text, _ in OMITTED[op]] == [
        str(int(each) if isinstance(each, bool) else each) for each in defaults
    ]
    assert omitted_defaults(op, LEAST_ARGUMENTS[op]) == OMITTED[op]
    assert omitted_defaults(op, len(schema.arguments)) == ()


class _Calls(torch.nn.Module):
    """Calls operators with and without arguments that have defaults."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4, 3, 3, 3))
        self.back = torch.nn.Parameter(torch.ones(4, 3, 3, 3))
        self.norm = torch.nn.BatchNorm2d(4)
        self.again = torch.nn.BatchNorm2d(3)
        self.square = torch.nn.Parameter(torch.ones(6, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(functional.avg_pool2d(torch.conv2d(x, self.weight), 2))
        y = self.again(torch.conv_transpose2d(functional.max_pool2d(y, [2, 2]), self.back))
        y = functional.avg_pool2d(y, [2, 2], [1, 1], [0, 0], True)
        y = functional.group_norm(functional.layer_norm(y, [6, 6]), 3)
        return functional.linear(y, self.square)


def test_opened_file_has_the_arguments_that_torch_leaves_out(tmp_path: Path) -> None:
    """torch writes ``torch.avg_pool2d(x, [2, 2])`` for a node of seven inputs."""
    frozen = torch.jit.freeze(torch.jit.script(_Calls().eval()), optimize_numerics=False)
    frozen.save(str(tmp_path / "frozen.pt"))
    (step,) = open_existing(tmp_path / "frozen.pt").steps
    opened = [(node.op, len(node.inputs)) for node in step.graph.walk() if node.op in OMITTED]
    written = [(node.kind(), len(list(node.inputs()))) for node in frozen.graph.nodes() if node.kind() in OMITTED]
    assert opened == written
    assert {op for op, _ in opened} >= {
        "aten::avg_pool2d",
        "aten::max_pool2d",
        "aten::conv_transpose2d",
        "aten::linear",
    }


def test_call_with_too_few_arguments_is_shown_as_text(tmp_path: Path) -> None:
    """Whatever operator it is of those that the package names, and whatever is before and after it."""
    saved = tmp_path / "frozen.pt"
    torch.jit.freeze(torch.jit.script(_Calls().eval()), optimize_numerics=False).save(str(saved))
    backends = Path(freeze_engine.backends.__file__).parent
    sources = (path.read_text() for room in ("common", "torchscript") for path in (backends / room).rglob("*.py"))
    named = {word for text in sources for word in re.findall(r"\w+", text)}
    operators = sorted(named & {op.removeprefix("aten::") for op in _least()} - set(kwlist))
    assert len(operators) > 150
    for name in operators:
        assert fe.problems(open_existing(_with_calls(saved, tmp_path / "made.pt", name))) == (), name


def _with_calls(saved: Path, target: Path, name: str) -> Path:
    """Writes the file with another ``forward``, which calls an operator with up to three arguments."""
    lines = []
    for given in range(4):
        call = f"torch.{name}({', '.join(('y', 'CONSTANTS.c0', 'None')[:given])})"
        for before, after in ((CONV, NORM), ("x", CONV), (NORM, CONV), (CONV, "torch.mul({}, CONSTANTS.c0)")):
            lines += [f"y = {before.format('x')}", f"z = {call}", f"w = {after.format('z')}", f"v = {NORM.format('w')}"]
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            data = old.read(info).decode(errors="surrogateescape")
            if info.filename.endswith(".py"):
                head, sign, _ = data.partition("-> Tensor:\n")
                data = head + sign + "".join(f"    {line}\n" for line in (*lines, "return v"))
            new.writestr(info.filename, data.encode(errors="surrogateescape"))
    return target
