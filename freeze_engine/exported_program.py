"""Looks into an exported program, before torch opens it, for what would run code that is none of torch's operators.

`torch.export.load` (torch 2.13.0) unpickles custom objects (``torch/export/pt2_archive/_package.py``), loads compiled
libraries that come along, looks operators up by any path that begins with ``torch``, evaluates the texts of sizes
(``torch/_export/serde/serialize.py``) and executes those of guards (``torch/export/_unlift.py``). Where a file comes
from somebody else, only tensors, torch's operators and arithmetic are let through. Pickled tensors are left to
``TORCH_FORCE_WEIGHTS_ONLY_LOAD``, which must be set.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from freeze_engine.errors import ModelSpecError

_OPERATOR = re.compile(
    r"torch\.ops\.(?!load_library\b|import_module\b|loaded_libraries\b)[a-z]\w*\.\w+(\.\w+)?"
    r"|torch\.(_sym_\w+|sym_\w+)|_operator\.\w+|math\.[a-z]\w*"
)
#: Callables of the operator module that reach beyond arithmetic.
_NO_ARITHMETIC = re.compile(r"_operator\.(\w*(call|getter)\w*|_\w*)")
_TENSOR_FILE = re.compile(r"(weight|tensor)_\d+")
_OTHER_LOADERS = ("aotinductor", ".so", ".pyc")
#: What forms of structure torch imports something by name for.
_IMPORTING_STRUCTURE = re.compile(r"defaultdict|__enum__")
_FUNCTIONS = re.compile(
    r"Symbol|Integer|Float|Rational|Add|Mul|Pow|Abs|Max|Min|Mod|And|Or|Not|Equality|Unequality|Eq|Ne|Lt|Le|Gt|Ge"
    r"|(Strict)?(Less|Greater)Than|Piecewise|ExprCondPair|FloorDiv|ModularIndexing|Where|PythonMod|CleanDiv|CeilToInt"
    r"|FloorToInt|CeilDiv|LShift|RShift|PowByNatural|FloatPow|FloatTrueDiv|IntTrueDiv|TruncToFloat|TruncToInt"
    r"|RoundToInt|RoundDecimal|ToFloat|Identity|IsNonOverlappingAndDenseIndicator|floor|ceiling|sqrt|min|max|abs|int"
    r"|float|bool|round"
)
_METHODS = frozenset(("size", "stride", "storage_offset", "item", "dim", "shape"))
_ARITHMETIC = (
    *(ast.Expression, ast.Constant, ast.Load, ast.Tuple, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp),
    *(ast.Subscript, ast.keyword, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.IfExp),
)
_WORD = re.compile(r"[\w.+-]*")
_NAMES = re.compile(r"[a-z]+_?\d+|L|x|oo|int_oo|true|false|nan")


def check_exported_program(path: Path) -> None:
    """Checks that opening an exported program runs nothing but torch's operators.

    Args:
        path: the file.

    Raises:
        ModelSpecError: it holds something else; the message says what.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(path, archive)
    except (zipfile.BadZipFile, ValueError, RecursionError) as error:
        raise ModelSpecError(f"{path} looks like an exported program, but cannot be read: {error}") from error


def _check_members(path: Path, archive: zipfile.ZipFile) -> None:
    for name in archive.namelist():
        if any(part in name for part in _OTHER_LOADERS):
            _refuse(path, f"compiled code ({name})")
        if name.endswith(".json"):
            _check(path, json.loads(archive.read(name)))


def _check(path: Path, content: Any) -> None:
    for key, text in _texts(content):
        if key in ("target", "as_operator") and (not _OPERATOR.fullmatch(text) or _NO_ARITHMETIC.fullmatch(text)):
            _refuse(path, f"the operator {text!r}")
        elif key == "path_name" and not _TENSOR_FILE.fullmatch(text):
            _refuse(path, f"{text!r}, which is pickled and no tensor")
        elif key in ("expr_str", "guards_code") and not is_arithmetic(text):
            _refuse(path, f"{text!r}, which is more than arithmetic")
        elif key in ("in_spec", "out_spec") and _IMPORTING_STRUCTURE.search(text):
            _refuse(path, f"inputs or outputs of the form {text!r}")


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yields every text in JSON, with the key that it, or the list around it, stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, name)


def is_arithmetic(text: str) -> bool:
    """Whether a text, evaluated as Python, does no more than compute with sizes.

    Args:
        text: such as ``Mul(Integer(3), Symbol('s77', positive=True))`` or ``L['x'].size()[0] >= 2``.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return False
    keys = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return all(_is_harmless(node, id(node) in keys, id(node) in functions) for node in ast.walk(tree))


def _is_harmless(node: ast.AST, is_key: bool, is_function: bool) -> bool:
    if isinstance(node, ast.Name):
        return bool((_FUNCTIONS if is_function else _NAMES).fullmatch(node.id))
    if isinstance(node, ast.Attribute):
        return node.attr in _METHODS
    if isinstance(node, ast.Call):
        return isinstance(node.func, (ast.Name, ast.Attribute))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return is_key or bool(_WORD.fullmatch(node.value))
    return isinstance(node, _ARITHMETIC)


def _refuse(path: Path, what: str) -> NoReturn:
    raise ModelSpecError(
        f"{path} holds {what}: opening it could run code that is no operator of torch, which is not done from here. If "
        "you trust the file, record it on the command line: freezer-ui record."
    )
