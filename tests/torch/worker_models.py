"""Models that a recording in a process of its own is tried on: sound ones, and some that end the process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

INPUTS = (torch.ones(1, 3, 8, 8),)
_KEPT: list[Any] = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()


class Calling(nn.Module):
    """Calls an operator with an attribute: a constant only once that is propagated, inside ``_freeze_module``."""

    def __init__(self):
        super().__init__()
        self.net = Net()
        self.number = 3

    def forward(self, x):
        return self.net(x) + torch.ops.freezer_tests.act(self.number)


class Counting(Net):
    """Can be traced; ends the process when it is called again."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 1:
            ctypes.string_at(0)
        return super().forward(x)


class Fatal(Net):
    """Ends the process when it is called."""

    def forward(self, x):
        ctypes.string_at(0)
        return super().forward(x)


class Unscriptable(Net):
    def forward(self, x):
        return super().forward(x) + len(globals())


def unscriptable():
    return Unscriptable().eval(), INPUTS


def plain():
    return Net().eval(), INPUTS


def training():
    return Net().train(), INPUTS


def counting():
    return Counting().eval(), INPUTS


def fatal():
    return Fatal().eval(), INPUTS


def chatty():
    os.write(1, b"to standard output\n")
    os.write(2, b"to standard error\n" * 10_000)
    return plain()


def elsewhere():
    """Leaves the folder that the recording was begun in, for one that is gone."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    Path(folder).rmdir()
    return plain()


def raising():
    raise LookupError("no weights here\nsee the manual")


class Dying(Net):
    """Ends the process in the call of a given number."""

    def __init__(self, calls):
        super().__init__()
        self.left = calls

    def forward(self, x):
        x = self._count(x)
        return self.norm(self.conv(x)).relu()

    @torch.jit.ignore
    def _count(self, x):
        self.left -= 1
        if self.left == 0:
            ctypes.string_at(0)
        return x


def dying_in_first_run():
    return Dying(1).eval(), INPUTS


def dying_in_later_run():
    return Dying(2).eval(), INPUTS


def dying_in_saving():
    from freeze_engine.backends.torchscript.replay import measure

    measure.memory_ledger = lambda *_: ctypes.string_at(0)
    return plain()


def dying_in_check():
    from freeze_engine.diagnose.checks import run

    run._CHECKS["stale_weights"] = lambda *_: ctypes.string_at(0)
    return plain()


def dying_at_once():
    ctypes.string_at(0)


def printing_and_dying():
    sys.stdout.write("the last thing I see\n")
    ctypes.string_at(0)


def slow():
    sys.stdout.write("asleep\n")
    time.sleep(1000)


def swallows_interrupts():
    with contextlib.suppress(KeyboardInterrupt):
        slow()
    return plain()


def renames_interrupts():
    try:
        slow()
    except KeyboardInterrupt:
        raise RuntimeError("renamed") from None


def inside_nothing():
    return _calling(lambda: None)


def inside_segfault():
    return _calling(lambda: ctypes.string_at(0))


def inside_abort():
    return _calling(os.abort)


def inside_kill():
    return _calling(lambda: os.kill(os.getpid(), signal.SIGKILL))


def inside_exit():
    return _calling(lambda: os._exit(7))


def inside_growth():
    return _calling(_grow)


def _grow():
    """Takes more than 1 GiB of memory and waits; what the system refuses, torch's constant propagation would ignore."""
    _KEPT.extend(bytearray(1 << 22) for _ in range(270))
    time.sleep(1000)


def outside_growth():
    """Starts processes that leave its session and take the memory."""
    code = "import time; data = bytearray(300 << 20); time.sleep(1000)"
    for _ in range(4):
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    time.sleep(1000)


def too_large():
    return Net().eval(), (torch.ones(1 << 14, 3, 1 << 9, 1 << 9).expand(1, -1, -1, -1, -1),)


def inside_hang():
    return _calling(_hang)


def pass_segfault():
    return _patched("_jit_pass_fold_frozen_conv_add_or_sub", lambda: ctypes.string_at(0))


def pass_hang():
    return _patched("_jit_pass_fold_frozen_conv_add_or_sub", _hang)


def deaf_hang():
    """Hangs as C++ code does, which Ctrl-C does not end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return pass_hang()


def pass_error():
    def fail():
        raise RuntimeError("the fold is broken")

    return _patched("_jit_pass_fold_frozen_conv_add_or_sub", fail)


def build_segfault():
    from freeze_engine.backends.torchscript import trace_builder

    trace_builder.near_misses = lambda *_: ctypes.string_at(0)
    return plain()


def measure_error():
    from freeze_engine.backends.torchscript.replay import measure

    def fail(*_, **__):
        raise RuntimeError("the device is lost")

    measure.measure_latency = fail
    return plain()


def _hang():
    """Says so, and hangs as C++ code does that never lets go of the interpreter lock."""
    os.write(1, b"hanging\n")
    ctypes.PyDLL(None).pause()


def _calling(act):
    library = torch.library.Library("freezer_tests", "DEF")
    _KEPT.append(library)
    library.define("act(int x) -> int")

    def implementation(x):
        act()
        return x

    library.impl("act", implementation, "CompositeExplicitAutograd")
    return Calling().eval(), INPUTS


def _patched(name, act):
    original = getattr(torch._C, name)

    def replacement(*args):
        act()
        return original(*args)

    setattr(torch._C, name, replacement)
    return plain()


class Masked(nn.Module):
    """Takes two inputs."""

    def forward(self, x, attention_mask):
        return x * attention_mask


def masked():
    return Masked().eval()
