"""Folders of sweeps from somebody else: each is refused as documented, or can be shown, compared and checked."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import freeze_engine as fe
from freeze_engine import sweep
from freeze_engine.sweep.row import read_row
from tests.sweeps import make_sweep, sweep_row
from viewer.sweep_page import sweep_data
from viewer.text.sweep_diff import sweep_diff_text

_DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_DEEP, "nests too deeply"),
        ('{"key": "k", "model": "m", "steps": ' + "9" * 400 + "}", "more than 300 digits"),
        ('{"key": "k", "model": "\\ud800"}', "a text that is not Unicode"),
        ('{"key": "k", "model": "m", "status": "nope"}', "status is 'nope'"),
        ('{"key": "k", "model": "m", "notice_codes": ["\\udfff"]}', "a text that is not Unicode"),
    ],
    ids=["deep", "long number", "surrogate", "status", "surrogate in a list"],
)
def test_a_row_from_elsewhere_that_cannot_be_shown_is_refused(text: str, message: str) -> None:
    with pytest.raises(fe.FreezerError, match=message):
        read_row(text)


@pytest.mark.parametrize("text", [_DEEP, '{"version": 1, "name": "\\ud800", "rows": []}', "\xff"])
def test_a_list_from_elsewhere_that_cannot_be_shown_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "sweep.json").write_text(text, encoding="latin-1")
    with pytest.raises(fe.FreezerError, match="is damaged"):
        sweep.read_sweep(tmp_path)


def test_a_pipe_in_the_folder_of_a_sweep_does_not_block(tmp_path: Path) -> None:
    folder = make_sweep(tmp_path, sweep_row(), with_traces=False)
    [path] = (folder / "rows").iterdir()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(fe.FreezerError, match="not an ordinary file"):
        sweep.read_sweep(folder)


@pytest.mark.parametrize("limit", ["MAX_ROW_BYTES", "MAX_ROWS_BYTES", "MAX_MANIFEST_BYTES"])
def test_a_sweep_beyond_the_bounds_is_refused(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_sweep(tmp_path, sweep_row("a"), sweep_row("b"), with_traces=False)
    monkeypatch.setattr(f"freeze_engine.sweep.folder.{limit}", 100)
    with pytest.raises(fe.FreezerError, match="more than 100 bytes"):
        sweep.read_sweep(tmp_path)


def test_a_plan_that_nests_too_deeply_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(f"name = {_DEEP}")
    with pytest.raises(fe.FreezerError, match="it is no TOML"):
        sweep.read_plan(path)


_FIGURES = st.sampled_from(
    [None, 0, -1, 2**63, 10**299, -(10**299), -0.0, 5e-324, 1e308, math.nan, math.inf, -math.inf]
)
_NUMERIC = [name for name, kind, _ in sweep.row_columns() if kind.partition(" ")[0] in ("float", "int")]


@given(st.dictionaries(st.sampled_from(_NUMERIC), _FIGURES))
def test_whatever_figures_a_row_has_it_can_be_shown_and_compared(changes: dict[str, Any]) -> None:
    figures = {name: value for name, value in changes.items() if value is not None or name != "time_s"}
    given_row = {**asdict(sweep_row()), **figures}
    text = json.dumps(given_row)
    try:
        odd = read_row(text)
    except fe.FreezerError:  # a float where a count belongs
        return
    plain = sweep.Sweep("plain", (sweep_row(),), (), False, Path("/plain"))
    found = sweep.Sweep("odd", (odd,), (), False, Path("/odd"))
    for one, other in ((plain, found), (found, plain), (found, found)):
        json.dumps(sweep_data(other, one), ensure_ascii=False, allow_nan=False).encode()
        sweep_diff_text(sweep.diff_sweeps(one.rows, other.rows)).encode()
        assert sweep.check_sweep(other, fe.Expectations(), one)
