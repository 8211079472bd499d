"""Texts of an exported program that torch evaluates, executes, or writes into Python source: what each may be."""

from __future__ import annotations

import ast
import keyword
import re
from typing import Any

from freeze_engine.models.untrusted.exported_program.rules import RefusedError
from freeze_engine.process import foreign_code

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
_WORD = re.compile(r"[\w.+-]*", re.ASCII)
_NAMES = re.compile(r"[a-z]+_?\d+|L|x|oo|int_oo|true|false|nan", re.ASCII)
_ONE_LINE = re.compile(r"[ -~]{0,20000}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_PATH = re.compile(r"[A-Za-z0-9_ ./:@+=-]{0,1000}")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z_]{0,30}[0-9]{0,5}")
#: What a text that an operator gets may be: a mode, a norm, an equation, a device.
_OPTION = re.compile(r"[\w ,.:>-]{0,500}", re.ASCII)
_NOT_PLAIN = re.compile(r"[^\w ,.:;<>=+*/()\[\]%-]", re.ASCII)
_OPERATOR = re.compile(
    r"torch\.ops\.(?!higher_order\.)[A-Za-z_]\w*\.[a-z_]\w*\.[A-Za-z]\w*"
    r"|torch\.ops\.higher_order\.(cond|while_loop|map_impl|scan|associative_scan|wrap_with_set_grad_enabled"
    r"|wrap_with_autocast|out_dtype|invoke_subgraph|strict_mode)"
    r"|torch\.(sym_not|sym_int|sym_float|sym_ite|sym_max|sym_min|sym_sqrt|_sym_sqrt|sym_sum)"
    r"|_operator\.(eq|ne|le|ge|lt|gt|neg|pos|mul|add|sub|floordiv|mod|pow|truediv|and_|or_|lshift|rshift)"
    r"|math\.(trunc|ceil|floor)",
    re.ASCII,
)


def is_arithmetic(text: str) -> bool:
    """Returns whether a text, evaluated as Python, does no more than compute with sizes.

    Args:
        text: such as ``Mul(Integer(3), Symbol('s77', positive=True))`` or ``L['x'].size()[0] >= 2``.
    """
    tree = _parsed(text)
    if tree is None:
        return False
    keys = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return all(_is_harmless(node, id(node) in keys, id(node) in functions) for node in ast.walk(tree))


def _parsed(text: str) -> ast.Expression | None:
    if not _ONE_LINE.fullmatch(text) or any(mark in text for mark in ("#", "\\", ";", '"""', "'''")):
        return None
    try:
        return foreign_code.parse(text.strip(), "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_harmless(node: ast.AST, is_key: bool, is_function: bool) -> bool:
    if isinstance(node, ast.Name):
        return bool((_FUNCTIONS if is_function else _NAMES).fullmatch(node.id))
    if isinstance(node, ast.Attribute):
        return node.attr in _METHODS
    if isinstance(node, ast.Call):
        return isinstance(node.func, (ast.Name, ast.Attribute))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # torch writes guards into a text between double quotes, too.
        return bool((_PATH if is_key else _WORD).fullmatch(node.value))
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return abs(node.value) < 2**64
    return isinstance(node, _ARITHMETIC)


def size_text(value: Any) -> str:
    """Takes a text that sympy evaluates: arithmetic of numbers and symbols."""
    text = _text(value)
    tree = _parsed(text) if is_arithmetic(text) else None
    if tree is None or any(isinstance(node, (ast.Attribute, ast.Subscript)) for node in ast.walk(tree)):
        raise RefusedError(f"{text!r}, which is more than arithmetic")
    return text


def guard_text(value: Any) -> str:
    """Takes a condition on inputs that torch executes."""
    text = _text(value)
    if not is_arithmetic(text) or '"' in text:
        raise RefusedError(f"{text!r}, which is more than arithmetic")
    return text


def identifier(value: Any) -> str:
    """Takes a name that torch writes into Python source."""
    text = _text(value)
    if not _IDENTIFIER.fullmatch(text) or keyword.iskeyword(text):
        raise RefusedError(f"the name {text!r}")
    return text


def identifier_or_none(value: Any) -> str:
    """Takes such a name, or an empty text."""
    return "" if value == "" else identifier(value)


def dotted_path(value: Any) -> str:
    """Takes the path of a parameter, buffer or module: torch writes it into Python source, too."""
    text = _text(value)
    if not _PATH.fullmatch(text) or any(part.startswith("__") for part in text.split(".")):
        raise RefusedError(f"the path {text!r}")
    return text


def symbol(value: Any) -> str:
    """Takes the name of a size, or an expression of sizes, that has bounds."""
    text = _text(value)
    return text if _SYMBOL.fullmatch(text) else size_text(text)


def option(value: Any) -> str:
    """Takes a text that an operator gets as an argument."""
    text = _text(value)
    if not _OPTION.fullmatch(text):
        raise RefusedError(f"the text {text!r}")
    return text


def message(value: Any) -> str:
    """Takes the message of an assertion; marks that could end a text are left out."""
    return _NOT_PLAIN.sub("", _text(value))[:2000]


def operator(value: Any) -> str:
    """Takes the name of an operator; whether there is one, and whose it may be, `canonical_copy` checks."""
    text = _text(value)
    if not _OPERATOR.fullmatch(text) or ".__" in text:
        raise RefusedError(f"the operator {text!r}")
    return text


def matching(pattern: str) -> Any:
    """Returns a rule for texts of one form."""
    form = re.compile(pattern, re.ASCII)

    def check(value: Any) -> str:
        text = _text(value)
        if not form.fullmatch(text):
            raise RefusedError(f"the text {text!r}")
        return text

    return check


def _text(value: Any) -> str:
    if type(value) is not str:
        raise RefusedError(f"{str(value)[:200]!r} where a text belongs")
    return value
