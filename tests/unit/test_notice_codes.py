"""The lists of words that an expectation may name: all that recordings can hold, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import freeze_engine as fe
from freeze_engine.analysis.expectations.folding import FOLD_KINDS
from freeze_engine.analysis.missing_measurements import NOTHING_RAN, STILL_MEASURED
from freeze_engine.backends.torchscript.record import UNREADABLE_NAME
from freeze_engine.worker.record_task import NO_JOURNAL

ENGINE = Path(fe.__file__).parent
NAMED = {
    "NOTHING_RAN": NOTHING_RAN,
    "NO_JOURNAL": NO_JOURNAL,
    "STILL_MEASURED": STILL_MEASURED,
    "UNREADABLE_NAME": UNREADABLE_NAME,
}
FOLDED = re.compile(r"(?:\.fold\(|_into_weights\(rewriting, |Rewrite\()\"(\w+)\"|\"(\w+)\" if old\.op == ")


def written_codes() -> set[str]:
    """The codes that the package's sources give to notices."""
    found: set[str] = set()
    for path in ENGINE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            code: Any = node.args[0]
            if called not in ("Notice", "_notice") or (isinstance(code, ast.Name) and code.id == "code"):
                continue
            found.add(str(code.value) if isinstance(code, ast.Constant) else NAMED[code.id])
    return found


def test_every_code_of_a_notice_can_be_expected_not_to_be_there() -> None:
    assert written_codes() == set(fe.NOTICE_CODES)
    assert list(fe.NOTICE_CODES) == sorted(fe.NOTICE_CODES)


def test_every_kind_of_fold_that_is_named_here_is_known() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ENGINE / "backends").rglob("*.py"))
    written = {one or other for one, other in FOLDED.findall(sources)}
    assert {"conv_bn", "dropout", "mkldnn", "constant", "aten_conv"} <= written
    assert written <= set(FOLD_KINDS)
