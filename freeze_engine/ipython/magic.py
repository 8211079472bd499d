"""The cell magic ``%%freeze_trace``: records every freeze in a cell. Imported only where IPython runs."""

from __future__ import annotations

import argparse
import ast
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from freeze_engine.captures.block import capture

NAME = "freeze_trace"


@magic_arguments(NAME)  # type: ignore[untyped-decorator]
@argument(  # type: ignore[untyped-decorator]
    "name", nargs="?", default="_freezes", help="the variable that gets the tuple of traces, by default _freezes"
)
@argument(  # type: ignore[untyped-decorator]
    "--show",
    action=argparse.BooleanOptionalAction,
    default=True,
    help="show each trace below the cell, or keep them in the variable only",
)
def freeze_trace(line: str, cell: str) -> Any:
    """Runs the cell and records every freeze in it, also of one that raises.

    The cell behaves as without the magic, except for a top-level ``await``, which it
    does not accept.
    """
    asked: Any = parse_argstring(freeze_trace, line)
    if not asked.name.isidentifier():
        raise UsageError(f"%%{NAME}: {asked.name!r} cannot be the name of a variable")
    shell: Any = get_ipython()
    with capture() as captured:
        try:
            return _run(cell, shell)
        finally:
            shell.user_ns[asked.name] = captured.traces
            if asked.show:
                _show(captured.traces)


def _run(cell: str, shell: Any) -> Any:
    """Runs a cell in the user's namespace, returns the value of its last line where that is an expression."""
    source = shell.transform_cell(cell)
    # Under a name that linecache knows: torch.jit.script reads the source of the cell's functions and classes.
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
    valued = tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";")
    last = tree.body.pop() if valued else None
    exec(shell.compile(tree, name, "exec"), shell.user_global_ns, shell.user_ns)
    if last is None:
        return None
    return eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_global_ns, shell.user_ns)


def _show(traces: tuple[Any, ...]) -> None:
    if not traces:
        sys.stderr.write(f"%%{NAME}: nothing was frozen in this cell\n")
    for trace in traces:
        display(trace)
