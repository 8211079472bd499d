"""Models to record under strikes and adverse conditions; the recording process imports them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.kill_sweep.stopping import stop_in_journal

GIGABYTE = 1 << 30
Model = tuple[nn.Module, tuple[torch.Tensor, ...]]


class Net(nn.Module):
    """A model that Inductor compiles without C++, which would take long: it calls a library's convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x))


def net() -> Model:
    return Net().eval(), (torch.ones(1, 3, 8, 8),)


def stopping() -> Model:
    stop_in_journal()
    return net()


def forking() -> Model:
    if os.fork() == 0:
        time.sleep(3600)
    return net()


def leaving_a_child() -> Model:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    return net()


def leaving_a_daemon() -> Model:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
    return net()


def closing_descriptors() -> Model:
    os.closerange(3, 1000)
    return net()


def reusing_descriptors() -> Model:
    """Closes all descriptors and opens files of its own, which get the same numbers."""
    os.closerange(3, 1000)
    for number in range(12):
        os.open(Path.cwd() / f"own-{number}", os.O_RDWR | os.O_CREAT)
    return net()


def closing_the_streams() -> Model:
    os.closerange(0, 3)
    return net()


def changing_the_folder() -> Model:
    folder = Path(tempfile.mkdtemp(dir=Path.cwd()))
    os.chdir(folder)
    folder.rmdir()
    return net()


def printing_a_gigabyte() -> Model:
    chunk = b"spam and eggs\n" * (1 << 16)
    for _ in range(GIGABYTE // len(chunk)):
        sys.stdout.buffer.write(chunk)
    return net()


def one_long_line() -> Model:
    for _ in range(64):
        sys.stderr.write("x" * (1 << 20))
    return net()


def exiting_at_once() -> Model:
    os._exit(0)


def exiting_with_an_error() -> Model:
    os._exit(7)


def exiting_as_scripts_do() -> Model:
    sys.exit("I do not want to")


def sleeping() -> Model:
    time.sleep(3600)
    return net()


def allocating() -> Model:
    kept = []
    while True:
        kept.append(bytearray(64 << 20))


def starting_threads() -> Model:
    for _ in range(8):
        threading.Thread(target=time.sleep, args=(3600,)).start()
    return net()


def replacing_signal_handlers() -> Model:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    return net()


def _temporary(act: Any) -> Model:
    for folder in Path(tempfile.gettempdir()).glob("freezer-recording-*"):
        act(folder)
    return net()


def unlinking_its_folder() -> Model:
    return _temporary(shutil.rmtree)


def unlinking_and_dying() -> Model:
    _temporary(shutil.rmtree)
    os.kill(os.getpid(), signal.SIGKILL)
    return net()


def damaging_its_folder() -> Model:
    """Overwrites the journal with garbage, and dies."""

    def damage(folder: Path) -> None:
        for path in folder.iterdir():
            path.write_bytes(b"\x00\xff not what you wrote\n[]\n{}\n")

    _temporary(damage)
    os.kill(os.getpid(), signal.SIGKILL)
    return net()


def removing_the_temporary_folder() -> Model:
    shutil.rmtree(tempfile.gettempdir())
    return net()


def removing_the_output_folder() -> Model:
    shutil.rmtree(Path.cwd() / "out")
    return net()
