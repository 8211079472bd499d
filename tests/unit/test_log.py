"""The capture of torch's log: what is read from it, and what of file descriptor 2 reaches its owner."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from freeze_engine.backends.torchscript.log.records import CapturedLog, LogRecord
from freeze_engine.backends.torchscript.log.stderr_capture import LOGGING_OPTION, captured_log

PREFIX = b"[DEBUG freeze_module.cpp:415] "
LOG = (
    PREFIX + b"Freezing Module: Net\n",
    b"[DUMP graph_executor.cpp:32] Before inlining:\n"
    b"[DUMP graph_executor.cpp:32] graph(%x : Tensor):\n"
    b"[DUMP graph_executor.cpp:32]   return (%x)\n"
    b"[DUMP graph_executor.cpp:32] \n",
    PREFIX + b"attribute: x is set\n",
    b"[UPDATE graph_executor.cpp:7] After Pass\n"
    b"[UPDATE graph_executor.cpp:7] graph():\n"
    b"[UPDATE graph_executor.cpp:7]   %f : Future[Tensor] = prim::fork_0()\n"
    b"[UPDATE graph_executor.cpp:7]   return ()\n"
    b"[UPDATE graph_executor.cpp:7] with prim::fork_0 = graph():\n"
    b"[UPDATE graph_executor.cpp:7]   return ()\n"
    b"[UPDATE graph_executor.cpp:7] \n",
)
FOREIGN = b"user: a line\n\x00\xff no text\nand half"


@pytest.fixture(autouse=True)
def logging_option() -> Iterator[None]:
    before = torch._C._jit_get_logging_option()
    yield
    torch._C._jit_set_logging_option(before)


@contextlib.contextmanager
def stderr_at(path: Path) -> Iterator[None]:
    """Points file descriptor 2 at a file; not in a fixture, since pytest takes it back between set-up and test."""
    real = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(real, 2)
            os.close(real)


def records(*parts: bytes) -> tuple[LogRecord, ...]:
    return CapturedLog(b"".join(parts)).records


def test_messages_and_graphs_are_distinguished():
    ends = [len(b"".join(LOG[: count + 1])) for count in range(len(LOG))]
    found = records(*LOG)
    graph = "graph():\n  %f : Future[Tensor] = prim::fork_0()\n  return ()\nwith prim::fork_0 = graph():\n  return ()"
    assert [(record.file, record.message, record.graph) for record in found if record.message] == [
        ("freeze_module", "Freezing Module: Net", None),
        ("graph_executor", "Before inlining:", "graph(%x : Tensor):\n  return (%x)"),
        ("freeze_module", "attribute: x is set", None),
        ("graph_executor", "After Pass", graph),
    ]
    assert {record.end for record in found} >= set(ends[:1] + ends[2:3])


def test_a_foreign_line_between_the_lines_of_a_graph_is_skipped():
    torn = LOG[1].replace(b"[DUMP graph_executor.cpp:32]   return", b"hello\nhalf[DUMP graph_executor.cpp:32]   return")
    assert [record.graph for record in records(torn)][:1] == ["graph(%x : Tensor):\n  return (%x)"]


def test_another_files_log_is_none_of_ours():
    assert records(b"[DEBUG inliner.cpp:3] graph():\n", b"plain\n") == ()


def test_an_empty_log():
    assert records() == ()


def test_a_log_is_held_in_a_fraction_of_its_bytes():
    data = b"".join(LOG) * 1_000
    log = CapturedLog(data)
    held = [getattr(log, name) for name in CapturedLog.__slots__]
    assert sum(map(sys.getsizeof, held)) < len(data) / 10
    assert log.records == records(data)
    assert len(log.records) == 1_000 * len(records(*LOG))


@pytest.mark.parametrize(
    "others",
    [b"", b"[DEBUG freeze_module.cpp] no line\n", b"[INFO freeze_module.cpp:1] no level\n", b"\n", b"no line's end"],
)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_only_what_is_not_torchs_is_passed_on(tmp_path, others, before):
    with stderr_at(tmp_path / "stderr"), captured_log():
        os.write(2, others + b"".join(LOG) if before else b"".join(LOG) + others)
    assert (tmp_path / "stderr").read_bytes() == others


def test_foreign_output_is_passed_on_byte_for_byte(tmp_path):
    with stderr_at(tmp_path / "stderr"), captured_log() as log:
        for part in LOG:
            os.write(2, FOREIGN)
            os.write(2, part)
        os.write(2, FOREIGN)
    assert (tmp_path / "stderr").read_bytes() == FOREIGN * (len(LOG) + 1)
    assert [record.message for record in log.records if record.message] == [
        "Freezing Module: Net",
        "Before inlining:",
        "attribute: x is set",
        "After Pass",
    ]


def test_buffered_output_of_python_keeps_its_place(tmp_path, monkeypatch):
    with stderr_at(tmp_path / "stderr"), os.fdopen(os.dup(2), "w") as buffered:
        monkeypatch.setattr(sys, "stderr", buffered)
        buffered.write("before ")
        with captured_log():
            os.write(2, b"inside ")
        buffered.write("after")
    assert (tmp_path / "stderr").read_bytes() == b"before inside after"


def test_a_lot_of_output_is_passed_on(tmp_path):
    large = b"0123456789abcdef\n" * 100_000
    with stderr_at(tmp_path / "stderr"), captured_log():
        os.write(2, large)
    assert (tmp_path / "stderr").stat().st_size == len(large)


def test_output_into_a_slow_pipe_is_passed_on(tmp_path):
    reader, writer = os.pipe()
    sent, received = b"x" * 300_000, bytearray()

    def read() -> None:
        for part in iter(lambda: os.read(reader, 999), b""):
            received.extend(part)

    drain = threading.Thread(target=read)
    drain.start()
    real = os.dup(2)
    os.dup2(writer, 2)
    os.close(writer)
    try:
        with captured_log():
            os.write(2, sent)
    finally:
        os.dup2(real, 2)
        os.close(real)
    drain.join()
    os.close(reader)
    assert received == sent


def fail_inside() -> None:
    with captured_log():
        os.write(2, b"lost?")
        raise KeyError("the user's own")


def test_errors_restore_everything(tmp_path):
    torch._C._jit_set_logging_option("peephole")
    with stderr_at(tmp_path / "stderr"):
        target = os.fstat(2).st_ino
        with pytest.raises(KeyError, match="the user's own"):
            fail_inside()
        assert os.fstat(2).st_ino == target
    assert torch._C._jit_get_logging_option() == "peephole"
    assert (tmp_path / "stderr").read_bytes() == b"lost?"


def closed() -> io.TextIOWrapper:
    stream = io.TextIOWrapper(io.BytesIO())
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, closed()], ids=["none", "closed"])
def test_a_program_without_a_usable_sys_stderr(monkeypatch, stream):
    """``pythonw`` and some services have none; torch freezes all the same."""
    monkeypatch.setattr(sys, "stderr", stream)
    with captured_log() as log:
        torch._C._freeze_module(torch.jit.script(Net().eval())._c)
    assert log.records


def close_inside(stream: io.TextIOWrapper) -> None:
    with captured_log():
        stream.close()


def test_file_descriptor_2_comes_back_even_if_sys_stderr_was_closed_meanwhile(monkeypatch):
    stream, target = io.TextIOWrapper(io.BytesIO()), os.fstat(2).st_ino
    monkeypatch.setattr(sys, "stderr", stream)
    with contextlib.suppress(ValueError):
        close_inside(stream)
    assert os.fstat(2).st_ino == target


def test_a_closed_file_descriptor_2():
    """A daemon may have closed it; torch freezes all the same."""
    script = (
        "import os, torch\nfrom freeze_engine.backends.torchscript.log.stderr_capture import captured_log\n"
        "m = torch.jit.trace(torch.nn.Linear(2, 2).eval(), torch.ones(1, 2))\nos.close(2)\n"
        "with captured_log() as log: torch._C._freeze_module(m._c)\n"
        "print(len(log.records) > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    assert done.stdout == b"True\n"


def test_no_file_descriptor_is_left_open():
    with captured_log():
        pass
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with captured_log():
        pass
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@pytest.mark.parametrize("own", ["", "peephole", ">>peephole:dead_code_elimination", "inliner", ">graph_executor"])
def test_the_users_own_option_is_kept_and_restored(own):
    torch._C._jit_set_logging_option(own)
    with captured_log():
        inside = torch._C._jit_get_logging_option()
    assert torch._C._jit_get_logging_option() == own
    assert inside.startswith(LOGGING_OPTION)
    assert inside.endswith(own)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight


def without_places(log: bytes) -> bytes:
    """Mangled class names count up from one run to the next."""
    return re.sub(rb"___torch_mangle_\d+\.", b"", log)


OPTIONS = ["", "inliner", "freeze_module", ">graph_executor", ">>freeze_module", "dead_code_elimination"]


@pytest.mark.parametrize("own", OPTIONS)
def test_torchs_log_reaches_the_user_as_it_would_without_us(own, tmp_path):
    """The log that the user asked for by an option of his own is his: no line less and none more."""
    module = torch.jit.script(Net().eval())
    torch._C._jit_set_logging_option(own)
    with stderr_at(tmp_path / "plain"):
        torch._C._freeze_module(module._c)
    with stderr_at(tmp_path / "captured"), captured_log() as log:
        torch._C._freeze_module(module._c)
    plain, captured = (without_places((tmp_path / name).read_bytes()) for name in ("plain", "captured"))
    assert captured.splitlines() == plain.splitlines()
    assert any(record.message.startswith("Propagating function") for record in log.records)


@contextlib.contextmanager
def stderr_replaced_by(target: str | None) -> Iterator[None]:
    """Points file descriptor 2 at a file, or closes it."""
    before = os.dup(2)
    os.close(2)
    try:
        if target is not None:
            opened = os.open(target, os.O_WRONLY)
            os.dup2(opened, 2)
            if opened != 2:
                os.close(opened)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


@pytest.mark.parametrize("target", [None, "/dev/full"])
def test_log_is_captured_where_stderr_is_closed_or_full(target: str | None) -> None:
    with stderr_replaced_by(target):
        with captured_log() as log:
            os.write(2, LOG[0] + FOREIGN)
        if target is None:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(2)
        else:
            assert os.fstat(2).st_rdev == Path(target).stat().st_rdev
    assert [record.message for record in log.records] == ["Freezing Module: Net"]
