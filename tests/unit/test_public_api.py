"""What `freeze_engine` and its rooms export: few names at the top, each with one place."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

import pytest

import freeze_engine as fe

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "freeze_engine"
EXPORTS: list[str] = importlib.import_module("freeze_engine").__all__


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "docs" / "api_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


api = _generator()
ROOMS = sorted(stub.parent.name for stub in ENGINE.glob("*/__init__.pyi"))


def test_the_top_has_at_most_fifty_names() -> None:
    assert len(EXPORTS) <= 50


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_exports_what_the_top_does_not(room: str) -> None:
    exported = set(importlib.import_module(f"freeze_engine.{room}").__all__)
    assert exported & set(EXPORTS) == set()


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_no_export_has_the_name_of_a_module_beside_it(room: str) -> None:
    """Importing the module would bind its name in the package, in the place of the lazily loaded export."""
    package = importlib.import_module(f"freeze_engine.{room}".rstrip("."))
    modules = {path.stem for path in Path(package.__file__ or "").parent.iterdir()}
    assert {name for name in package.__all__ if name in modules} <= {"testing"}


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_export_exists(room: str) -> None:
    package = importlib.import_module(f"freeze_engine.{room}".rstrip("."))
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


def test_the_reference_is_that_of_the_docstrings() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == api.reference(), "run `python docs/api_reference.py > docs/api.md`"


def test_the_reference_has_an_entry_for_each_export_and_for_nothing_else() -> None:
    names = [name for topic in api.TOPICS.values() for name in topic]
    assert sorted(names) == sorted(EXPORTS)
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == names


@pytest.mark.parametrize("name", EXPORTS)
def test_every_argument_and_field_of_an_export_is_described(name: str) -> None:
    found, text = api.definition(ENGINE / "__init__.pyi", name)
    if isinstance(found, ast.FunctionDef):
        wanted = [each.arg for each in (*found.args.args, *found.args.kwonlyargs)]
    else:
        wanted = [field.name for field in fields(getattr(fe, name))] if is_dataclass(getattr(fe, name)) else []
    one_line = len(text.splitlines()) == 1 and len(wanted) == 1
    described = {word for line in re.findall(r"^    ([\w*, ]+): ", text, re.MULTILINE) for word in line.split(", ")}
    assert one_line or set(wanted) <= described
