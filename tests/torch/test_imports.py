"""Modules that are imported before a model is loaded: the operators that a saved program needs."""

from __future__ import annotations

import itertools
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import freeze_engine as fe
from freeze_engine.models.loading import load_model
from freeze_engine.models.untrusted import canonical_copy

PACKAGE = """
import torch
LIBRARY = torch.library.Library("{space}", "DEF")
LIBRARY.define("halve(Tensor self) -> Tensor")
LIBRARY.impl("halve", lambda tensor: tensor / 2, "CompositeImplicitAutograd")
"""


class Relu(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("programs") / "net.pt2"
    torch.export.save(torch.export.export(Relu().eval(), (torch.ones(2),)), path)
    return path


@pytest.fixture(autouse=True)
def modules_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder on the search path, which is put back afterwards."""
    folder = tmp_path / "installed"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *(each for each in sys.path if each)])
    return folder


def with_operators(exported: Path, target: Path, *names: str) -> str:
    """Copies a program, with a chain of other operators in the place of its own one."""
    with zipfile.ZipFile(exported) as source, zipfile.ZipFile(target, "w") as archive:
        for member in source.infolist():
            data = source.read(member)
            if member.filename.endswith("models/model.json"):
                program: Any = json.loads(data)
                (node,) = program["graph_module"]["graph"]["nodes"]
                chain = [json.loads(json.dumps(node)) | {"target": name} for name in names]
                for before, after in itertools.pairwise(chain):
                    middle = f"middle_{before['target'].split('.')[3]}"
                    before["outputs"][0]["as_tensor"]["name"] = middle
                    after["inputs"][0]["arg"]["as_tensor"]["name"] = middle
                    values = program["graph_module"]["graph"]["tensor_values"]
                    values[middle] = next(iter(values.values()))
                program["graph_module"]["graph"]["nodes"] = chain
                data = json.dumps(program).encode()
            archive.writestr(member, data)
    return str(target)


def refusal(spec: str, **options: Any) -> str:
    with pytest.raises(fe.ModelSpecError) as caught:
        load_model(spec, **options)
    return str(caught.value)


@pytest.mark.parametrize("trusted", [True, False])
def test_missing_operators_are_named_with_the_remedy(
    exported: Path, tmp_path: Path, trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a process that has not imported torchao yet.
    known = canonical_copy.operator_namespaces() - {"torchao"}
    monkeypatch.setattr(canonical_copy, "operator_namespaces", lambda: known)
    absent = ("torch.ops.torchao.not_there.default", "torch.ops.some_package.halve.default")
    spec = with_operators(exported, tmp_path / "net.pt2", *absent)
    message = refusal(spec, trusted=trusted)
    assert "2 operators: torch.ops.some_package.halve.default, torch.ops.torchao.not_there.default" in message
    assert "--import torchao (imports=('torchao',) in Python, Import in the form)" in message


def test_operator_of_no_known_package_gets_a_placeholder(exported: Path, tmp_path: Path) -> None:
    spec = with_operators(exported, tmp_path / "net.pt2", "torch.ops.some_package.halve.default")
    message = refusal(spec)
    assert "needs the operator torch.ops.some_package.halve.default. " in message
    assert "--import PACKAGE (imports=('PACKAGE',) in Python" in message


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("trusted", [True, False])
def test_an_import_registers_them(exported: Path, tmp_path: Path, modules_here: Path, trusted: bool) -> None:
    space = f"freezer_test_{trusted}".lower()
    (modules_here / f"{space}.py").write_text(PACKAGE.format(space=space))
    spec = with_operators(exported, tmp_path / "net.pt2", f"torch.ops.{space}.halve.default")
    assert "--import" in refusal(spec, trusted=trusted)
    for _ in range(2):  # the second import registers nothing, and must not be refused for that
        loaded = load_model(spec, imports=(space,), trusted=trusted)
        assert torch.equal(loaded.module(torch.full((2,), 4.0)), torch.full((2,), 2.0))
    if trusted:
        recording = fe.record(spec, imports=(space,), measure=None)
        assert recording.trace.call == f"fe.record({spec!r}, inputs, imports=({space!r},))"


def test_a_file_from_the_page_uses_only_operators_that_the_user_imported(
    exported: Path, tmp_path: Path, modules_here: Path
) -> None:
    for space in ("freezer_named", "freezer_other"):
        (modules_here / f"{space}.py").write_text(PACKAGE.format(space=space))
    spec = with_operators(exported, tmp_path / "net.pt2", "torch.ops.freezer_other.halve.default")
    load_model(spec, imports=("freezer_other",))  # another job of this process did
    message = refusal(spec, imports=("freezer_named",), trusted=False)
    assert "'torch.ops.freezer_other.halve.default'" in message


def test_the_working_directory_counts_for_the_own_models_only(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_the_model.py").touch()
    monkeypatch.chdir(tmp_path)
    assert "there is no module 'beside_the_model'" in refusal(
        str(exported), imports=("beside_the_model",), trusted=False
    )
    assert load_model(str(exported), imports=("beside_the_model",)).name == "net"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no_such_package", "there is no module 'no_such_package'"),
        ("json.nothing", "there is no module 'json.nothing'"),
        ("../x", "'../x' is not the name of a module"),
        ("", "'' is not the name of a module"),
        ("raising", "importing it raised OSError: no disk"),
        ("leaving", "importing it raised SystemExit: 3"),
        ("lacking", "there is no module 'no_such_dependency'"),
    ],
)
def test_module_that_cannot_be_imported_is_named_with_the_reason(
    name: str, says: str, exported: Path, modules_here: Path
) -> None:
    (modules_here / "raising.py").write_text("raise OSError('no disk')")
    (modules_here / "leaving.py").write_text("raise SystemExit(3)")
    (modules_here / "lacking.py").write_text("import no_such_dependency")
    assert says in refusal(str(exported), imports=(name,))


def test_a_text_is_no_list_of_names(exported: Path) -> None:
    assert "imports=('torchao',)" in refusal(str(exported), imports="torchao")
