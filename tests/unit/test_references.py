"""What docstrings and documents refer to is there: modules, what they define, and the files that are named."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("freeze_engine", "viewer")
_REFERENCE = re.compile(r"`((?:freeze_engine|viewer)(?:\.\w+)+)`")
_FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")
_ROOM = re.compile(r"`((?:\w+/)+)`")


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def module_file(parts: list[str]) -> Path | None:
    """The file of a module, ``None`` if there is none; of a package, the stub that lists its exports, if it has one."""
    base = ROOT.joinpath(*parts)
    found = (base.with_suffix(".py"), base / "__init__.pyi", base / "__init__.py")
    return next((path for path in found if path.is_file()), None)


def definitions(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """The statements of a module or class that bind a name, by that name."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name: node for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    return found


@functools.cache
def body_of(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text(encoding="utf-8")).body


def exists(reference: str) -> bool:
    """Whether a dotted name is a module here, or something that one defines."""
    parts = reference.split(".")
    for length in range(len(parts), 0, -1):
        file = module_file(parts[:length])
        if file is not None:
            package = parts[:length] if file.stem == "__init__" else parts[: length - 1]
            return is_defined(body_of(file), parts[length:], package)
    return False


def is_defined(body: list[ast.stmt], names: list[str], package: list[str]) -> bool:
    """Whether a body, of a module of a package, defines the first of some names, that one the second, and so on."""
    if not names:
        return True
    node = definitions(body).get(names[0])
    if isinstance(node, ast.ImportFrom) and len(names) > 1:
        above = package[: len(package) - node.level + 1] if node.level else []
        return exists(".".join([*above, node.module or "", *names]))
    return node is not None and is_defined(getattr(node, "body", []), names[1:], package)


@pytest.mark.parametrize("path", [*sources(), *documents()], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_that_are_referred_to_exist(path: Path) -> None:
    named = set(_REFERENCE.findall(path.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not exists(name)] == []


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_documents_name_exist(path: Path) -> None:
    others = (found for folder in ("tests", "benchmarks", "docs") for found in (ROOT / folder).rglob("*.py"))
    ours = [f"/{found.relative_to(ROOT).as_posix()}" for found in (*sources(), *others)]
    named = set(_FILE.findall(path.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in ours)] == []


def test_the_rooms_of_the_architecture_are_those_of_the_tree() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [text.partition(f"\n## Rooms of the {name}\n")[2].partition("\n## ")[0] for name in ("engine", "viewer")]
    named = {room.rstrip("/") for table in rooms for room in _ROOM.findall(table)}
    folders = {path.parent.relative_to(ROOT / "freeze_engine") for path in ROOT.glob("freeze_engine/*/__init__.py")}
    assert {path.as_posix() for path in folders} <= {room.partition("/")[0] for room in named}
    viewers = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("viewer/*/__init__.py")}
    assert viewers <= named
    assert [room for room in sorted(named) if not is_room(room)] == []


def is_room(name: str) -> bool:
    """Whether a folder of that name is in the project, in a package, or in a room of one."""
    return any(any(ROOT.glob(f"{place}{name}")) for place in ("", "freeze_engine/**/", "viewer/**/"))


def test_the_architecture_leads_to_every_design_note() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(docs/design/([\w-]+\.md)\)", text)) == {
        path.name for path in (ROOT / "docs" / "design").glob("*.md")
    }


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("freeze_engine.trace", True),
        ("freeze_engine.trace.Block.scope", True),
        ("freeze_engine.Trace", True),
        ("freeze_engine.serde.encode.encode", True),
        ("freeze_engine.gone", False),
        ("freeze_engine.trace.Block.gone", False),
        ("freeze_engine.serde.encode.encode.gone", False),
    ],
)
def test_references_are_resolved(reference: str, found: bool) -> None:
    assert exists(reference) == found
