"""What models, traces and files say is shown by the terminal, and never obeyed."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import freeze_engine as fe
from freeze_engine.trace import Notice
from tests.builders import failed_trace, small_trace
from tests.sweeps import failed_row, make_sweep, sweep_row
from viewer.cli import main
from viewer.cli.terminal import ProgressLine
from viewer.text.printable import PassedOn, printable, printable_json

ROOT = Path(__file__).parents[2]
#: ESC and commands that begin with it (colours, title, link, clipboard), C1, bell, backspace, directions, line ends.
SIGNS = (
    "\x1b[31m\x1b]0;x\x07\x1b]8;;http://x\x1b\\\x1b]52;c;eA==\x07\x9b31m\x90\x9d\x08\x7f\u202e\u2066\u200f\u2028\u2029"
)


def unsafe(text: str) -> set[str]:
    return {char for char in text if not char.isprintable()} - {"\n"}


@given(st.text(st.characters()))
def test_nothing_is_left_that_a_terminal_obeys(text):
    assert unsafe(printable(text)) == set()
    assert printable(text).isprintable()
    assert all(printable(char) == char for char in text if char.isprintable())


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_stays_what_it_was(value):
    text = printable_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert unsafe(text) == set()
    assert json.loads(text) == value


@given(st.text(st.sampled_from("a\x1b[]0;1mK\n\r\t\x07\x9b")), st.lists(st.integers(0, 30)))
def test_output_in_pieces_is_joined(text, cuts):
    text += "."  # no sequence is left open
    whole = PassedOn().shown(text)
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    passed = PassedOn()
    assert "".join(passed.shown(text[a:b]) for a, b in pairwise(ends)) == whole


def test_a_program_keeps_its_colours_on_a_terminal_and_gets_no_other_command_through(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, expected in (
        (Terminal(), "\x1b[1;31mred\x1b[0m 50%\r100%\n\\x1b]52;c;eA==\\x07\\x9b2J"),
        (io.StringIO(), "\x1b[1;31mred\x1b[0m 50%\r100%\n\x1b]52;c;eA==\x07\x9b2J"),
    ):
        monkeypatch.setattr(sys, "stdout", stream)
        ProgressLine(None).pass_on("stdout", "\x1b[1;31mred\x1b[0m 50%\r100%\n\x1b]52;c;eA==\x07\x9b2J".encode())
        assert stream.getvalue() == expected


@pytest.fixture
def poisoned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = failed_trace()
    notices = (*trace.notices, Notice("unread", f"said {SIGNS}", 0))
    failure = replace(trace.failure, message=SIGNS, name=SIGNS)
    fe.save(replace(trace, name=SIGNS, call=SIGNS, notices=notices, failure=failure), "bad.fztrace")
    fe.save(small_trace(), "good.fztrace")
    make_sweep(Path("bad.sweep"), failed_row("net", SIGNS, command=SIGNS), name=SIGNS, with_traces=False)
    make_sweep(Path("good.sweep"), sweep_row(), with_traces=False)
    quoted = "".join(f"\\u{ord(sign):04x}" for sign in SIGNS)
    Path("bad.toml").write_text(f'[[models]]\nmodel = "no{quoted}such"\n')


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(
    "words",
    [
        ["stats", "bad.fztrace"],
        ["diff", "good.fztrace", "bad.fztrace"],
        ["diff", "good.fztrace", "bad.fztrace", "--json"],
        ["check", "bad.fztrace", "--no-notices", "unread"],
        ["check", "bad.fztrace", "--no-notices", "unread", "--json"],
        ["stats", f"no{SIGNS}such"],
        ["report", "bad.fztrace", "-o", f"no{SIGNS}such/report.html"],
        ["record", f"no{SIGNS}such"],
        ["record", "example:counter", "--input", SIGNS],
        [f"no{SIGNS}such.pt"],
        ["-v", "stats", f"no{SIGNS}such"],
        ["summary", "bad.fztrace"],
        ["summary", "bad.fztrace", "--markdown"],
        ["summary", "good.fztrace", "bad.fztrace", "--markdown"],
        ["check", "bad.fztrace", "--no-notices", "unread", "--github"],
        ["check", "bad.sweep"],
        ["check", "bad.sweep", "--github"],
        ["diff", "bad.sweep", "good.sweep"],
        ["diff", "bad.sweep", "good.sweep", "--json"],
        ["sweep", "bad.toml", "--dry-run"],
        ["export", "bad.fztrace", "--format", "csv", "-o", f"no{SIGNS}such/x"],
    ],
    ids=range(21),
)
def test_no_command_sends_what_it_was_given(words, capsys):
    with contextlib.suppress(SystemExit):
        main(words)
    told = capsys.readouterr()
    assert told.out + told.err
    assert unsafe(told.out + told.err) == set()


#: Commands of GitHub's, Azure's and TeamCity's to the program that runs the job, as names in a trace.
ORDERS = (
    "::stop-commands::x",
    " \t::add-mask::a",
    "a ##[add-mask]a",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[x]",
)


@pytest.mark.parametrize("variable", ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"])
@pytest.mark.parametrize("order", ORDERS)
def test_no_line_of_a_job_is_a_command_except_our_own(variable, order, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, "true")
    trace = failed_trace()
    fe.save(replace(trace, name=order, call=f"a\n{order}", notices=(Notice("unread", order, 0),)), "bad.fztrace")
    make_sweep(Path("bad.sweep"), failed_row(order, order, command=order), name=order, with_traces=False)
    told = ""
    for words in (
        ["stats", "bad.fztrace"],
        ["summary", "bad.fztrace"],
        ["summary", "bad.fztrace", "--markdown"],
        ["check", "bad.fztrace", "--no-notices", "unread", "--github"],
        ["check", "bad.fztrace", "--no-notices", "unread", "--json"],
        ["check", "bad.sweep"],
        ["stats", order],
    ):
        with contextlib.suppress(SystemExit):
            main(words)
        shown = capsys.readouterr()
        told += shown.out + shown.err
        if "--json" in words:
            assert json.loads(shown.out)["trace"] == order
    commands = [line for line in told.splitlines() if line.lstrip().startswith("::") or re.search(r"##\w*\[", line)]
    ours = [line for line in commands if line.startswith("::error title=freeze of ")]
    assert (len(ours), commands) == (1, ours)


def test_only_one_module_writes_to_the_terminal():
    written = {}
    for path in sorted((ROOT / "viewer").rglob("*.py")):
        names = {
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if ast.unparse(node) in ("sys.stdout", "sys.stderr", "print", "traceback.print_exception")
        }
        if names:
            written[path.relative_to(ROOT).as_posix()] = names
    del written["viewer/cli/terminal.py"]
    # The log of the server, which has the formatting of its own records.
    written.pop("viewer/dashboard/discretion.py", None)
    # A default; the command line gives its own.
    written.pop("viewer/dashboard/server.py", None)
    assert written == {}
