"""The source lines that a trace keeps, held against the files that they are of."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.torchscript.graph.live import source_lines, source_ranges
from freeze_engine.trace import SourceLines

_SOURCE = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        text = 'File "net.py", line 3'
        if y.sum() > 0:
            y = (
                y
                + 1
            )
        return y.relu(), text
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A module's source, and the module saved beside it."""
    path = tmp_path / "net.py"
    path.write_text(_SOURCE)
    spec = importlib.util.spec_from_file_location("net_with_lines", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.jit.script(module.Net().eval()).save(str(tmp_path / "net.pt"))
    return path


def test_each_line_of_a_loaded_file_is_the_one_of_that_number_in_its_own_file(source: Path) -> None:
    saved = source.with_suffix(".pt")
    trace = fe.record(str(saved), measure=None).trace
    with zipfile.ZipFile(saved) as archive:
        members = {
            name.partition("/")[2]: archive.read(name).decode() for name in archive.namelist() if name.endswith("py")
        }
    files = {kept.file for kept in trace.sources}
    assert str(source) in files
    assert any(file in members for file in files)
    for kept in trace.sources:
        text = members[kept.file] if kept.file in members else Path(kept.file).read_text()
        lines = text.splitlines()
        assert kept.first_line >= 1
        for number, line in enumerate(kept.lines, kept.first_line):
            assert line.strip() == lines[number - 1].strip(), f"{kept.file}:{number}"


def test_a_line_that_reads_as_a_header_is_code() -> None:
    class Node:
        def kind(self) -> str:
            return "prim::Constant"

        def sourceRange(self) -> str:  # noqa: N802 - torch's name
            return (
                '  File "net.py", line 2\n    a\n    File "net.py", line 9\n    ~~~~ <--- HERE\n'
                'Serialized   File "code/__torch__/net.py", line 1\n    b\n    ~ <--- HERE\n'
            )

        def blocks(self) -> list[object]:
            return []

        def hasAttribute(self, name: str) -> bool:  # noqa: N802 - torch's name
            return False

    class Graph:
        def nodes(self) -> list[Node]:
            return [Node()]

    assert source_lines(source_ranges([(Graph(), ())])) == (
        SourceLines("code/__torch__/net.py", 1, ("b",)),
        SourceLines("net.py", 1, ("a", 'File "net.py", line 9')),
    )
