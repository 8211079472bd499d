from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from freeze_engine.process.import_hook import after_import


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that can be imported, and is not yet."""
    (tmp_path / "hooked_module.py").write_text("VALUE = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "hooked_module", raising=False)
    return "hooked_module"


def test_a_function_is_called_once_after_the_module_was_executed(module: str) -> None:
    seen: list[int] = []
    finders = list(sys.meta_path)
    with after_import(module, lambda: seen.append(sys.modules[module].VALUE)):
        assert seen == []
        imported = importlib.import_module(module)
        importlib.import_module(module)
    assert seen == [3]
    assert sys.meta_path == finders
    assert imported.__spec__ is not None
    assert "exec_module" not in vars(imported.__spec__.loader)
    importlib.reload(imported)
    assert seen == [3]


def test_several_may_wait_for_one_module(module: str) -> None:
    seen: list[str] = []
    with after_import(module, lambda: seen.append("outer")), after_import(module, lambda: seen.append("inner")):
        importlib.import_module(module)
    assert sorted(seen) == ["inner", "outer"]


def test_after_the_block_nothing_is_called(module: str) -> None:
    with after_import(module, lambda: pytest.fail("called")):
        pass
    assert importlib.import_module(module).VALUE == 3


def test_an_exception_of_the_module_passes(tmp_path: Path, module: str) -> None:
    (tmp_path / "hooked_module.py").write_text("raise ValueError('not today')")
    with after_import(module, lambda: pytest.fail("called")), pytest.raises(ValueError, match="not today"):
        importlib.import_module(module)
