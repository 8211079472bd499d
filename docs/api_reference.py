"""Generates the reference of the Python API from the docstrings of what `freeze_engine` exports.

``python docs/api_reference.py > docs/api.md`` updates ``docs/api.md``. Nothing is imported: the sources are read.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = "freeze_engine"
INTRODUCTION: Final = """\
# The Python API

This page is generated from the docstrings by `python docs/api_reference.py > docs/api.md`.

`import freeze_engine as fe` offers the names below, and loads each on first use; torch is imported only once something
is recorded or a model is loaded. Everything else is imported from its room, such as `freeze_engine.trace.Interval`,
`freeze_engine.analysis.duplicates` or `freeze_engine.worker.RecordingProcess`; [ARCHITECTURE.md](../ARCHITECTURE.md)
lists the rooms. [trace-format.md](trace-format.md) describes the types of a trace that have no entry here.
"""
#: The names by topic; together they are all that the package exports.
TOPICS: Final = {
    "Record": ("record", "capture", "Recording", "Captured", "partial_trace"),
    "How to freeze, and what to measure": (
        *("TorchScriptOptions", "InductorOptions", "AOTInductorOptions"),
        *("Measure", "CHECKS"),
    ),
    "Models and inputs": ("load_model", "Inputs", "EXAMPLES"),
    "Trace files": ("save", "load", "dumps", "loads", "problems", "check_trace"),
    "The trace": ("Trace", "Step", "GraphSnapshot", "Node", "AttributeFate", "NOTICE_CODES"),
    "Read and compare traces": ("summarize", "Summary", "step_metrics", "StepMetrics", "diff_traces", "TraceDiff"),
    "Expectations": ("testing", "Expectations", "Finding"),
    "Find the culprit": ("bisect", "Bisection", "AccuracyCriterion", "LatencyCriterion", "CommandCriterion"),
    "Other tools": ("chrome_trace", "csv_tables", "model_explorer_data"),
    "Errors": (
        "FreezerError",
        "ModelSpecError",
        "TraceFileError",
        "InvalidTraceError",
        "MeasureError",
        "CrashError",
        "SandboxError",
        "UnsupportedTorchError",
    ),
}
_SECTIONS: Final = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Returns": "Returns",
    "Yields": "Yields",
    "Raises": "Raises",
}
Definition = ast.FunctionDef | ast.ClassDef | ast.AnnAssign | ast.Module


def reference() -> str:
    """Returns the page as Markdown."""
    parts = [INTRODUCTION]
    for topic, names in TOPICS.items():
        parts += [f"## {topic}\n", *(f"### {name}\n\n{entry(name)}\n" for name in names)]
    return "\n".join(parts)


def entry(name: str) -> str:
    """Returns the description of one exported name."""
    found, text = definition(ROOT / PACKAGE / "__init__.pyi", name)
    if isinstance(found, ast.Module):
        inside = [node for node in found.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
        return "\n\n".join([prose(text), *(_described(node, f"{name}.", text="") for node in inside)])
    return _described(found, "", text)


def definition(file: Path, name: str) -> tuple[Definition, str]:
    """Finds the statement that defines a name, and its docstring, through the imports that pass the name on.

    Raises:
        LookupError: the file neither defines nor imports the name, or there is no docstring.
    """
    body = ast.parse(file.read_text(encoding="utf-8")).body
    for place, node in enumerate(body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node, _documented(ast.get_docstring(node), file, name)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node, _documented(_text_after(body, place), file, name)
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return _imported(file, node, name)
    raise LookupError(f"{file} does not define {name}")


def _imported(file: Path, node: ast.ImportFrom, name: str) -> tuple[Definition, str]:
    base = (file.parent if node.level else ROOT).joinpath(*(node.module or "").split("."))
    if node.module is None:
        module = base / f"{name}.py"
        tree = ast.parse(module.read_text(encoding="utf-8"))
        return tree, _documented(ast.get_docstring(tree), module, name)
    files = (base.with_suffix(".py"), base / "__init__.pyi", base / "__init__.py")
    return definition(next(each for each in files if each.is_file()), name)


def _text_after(body: Sequence[ast.stmt], place: int) -> str | None:
    following = body[place + 1] if place + 1 < len(body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return inspect.cleandoc(str(following.value.value))
    return None


def _documented(text: str | None, file: Path, name: str) -> str:
    if not text:
        raise LookupError(f"{file}: {name} has no docstring")
    return text


def _described(node: Definition, prefix: str, text: str) -> str:
    text = text or ast.get_docstring(node) or ""  # type: ignore[arg-type]
    code = "\n".join(_signature(node, prefix))
    return f"```python\n{code}\n```\n\n{prose(text)}"


def _signature(node: Definition, prefix: str) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield from _call(f"{prefix}{node.name}", _arguments(node.args), node.returns)
    elif isinstance(node, ast.AnnAssign):
        yield f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
    elif isinstance(node, ast.ClassDef):
        yield from _class(node)


def _class(node: ast.ClassDef) -> Iterator[str]:
    is_data = any("dataclass" in ast.unparse(each) for each in node.decorator_list)
    fields = [_field(each) for each in node.body if isinstance(each, ast.AnnAssign) and is_data]
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    if fields:
        yield from _call(f"class {node.name}", fields, None)
    else:
        yield f"class {node.name}({bases})" if bases else f"class {node.name}"
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            summary = (ast.get_docstring(each) or "").partition("\n")[0].replace("``", "`")
            is_property = any(ast.unparse(mark) == "property" for mark in each.decorator_list)
            result = f" -> {ast.unparse(each.returns)}" if each.returns and ast.unparse(each.returns) != "None" else ""
            arguments = ", ".join(_arguments(each.args)[1:])
            yield f"    .{each.name}{'' if is_property else f'({arguments})'}{result}  # {summary}"


def _field(node: ast.AnnAssign) -> str:
    """Returns a field with the default that it gets where a call declares it."""
    text = f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
    default = node.value
    if isinstance(default, ast.Call) and ast.unparse(default.func) in ("field", "option"):
        named = {each.arg: each.value for each in default.keywords}
        if "default_factory" in named:
            return f"{text} = {ast.unparse(named['default_factory'])}()"
        default = default.args[0] if default.args else named.get("default")
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _call(head: str, arguments: Sequence[str], returns: ast.expr | None) -> Iterator[str]:
    tail = f" -> {ast.unparse(returns)}" if returns else ""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line) <= 100:
        yield line
        return
    yield f"{head}("
    yield from (f"    {argument}," for argument in arguments)
    yield f"){tail}"


def _arguments(given: ast.arguments) -> list[str]:
    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    positional = [_argument(each, default) for each, default in zip(given.args, defaults, strict=True)]
    rest = [f"*{_argument(given.vararg, None)}"] if given.vararg else ["*"] if given.kwonlyargs else []
    named = [_argument(each, default) for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return positional + rest + named + ([f"**{_argument(given.kwarg, None)}"] if given.kwarg else [])


def _argument(given: ast.arg, default: ast.expr | None) -> str:
    text = given.arg + (f": {ast.unparse(given.annotation)}" if given.annotation else "")
    if default is None:
        return text
    shown = "Measure()" if ast.unparse(default) == "_DEFAULT_MEASURE" else ast.unparse(default)
    return f"{text} = {shown}" if given.annotation else f"{text}={shown}"


def prose(text: str) -> str:
    """Turns a docstring in Google style into Markdown: paragraphs, and a list for each section."""
    parts = re.split(rf"^({'|'.join(_SECTIONS)}):\n", text.replace("``", "`"), flags=re.MULTILINE)
    shown = [parts[0].strip()]
    for section, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = inspect.cleandoc(f"\n{body}").splitlines()
        shown.append("\n".join([f"**{_SECTIONS[section]}**", "", *_items(section, lines)]))
    return "\n\n".join(shown)


def _items(section: str, lines: Sequence[str]) -> Iterator[str]:
    if section in ("Returns", "Yields"):
        yield from lines
        return
    for line in lines:
        named, colon, rest = line.partition(": ")
        if line and not line.startswith(" ") and colon:
            yield f"- `{named}`: {rest}"
        else:
            yield f"  {line.strip()}" if line else ""


if __name__ == "__main__":
    sys.stdout.write(reference())
