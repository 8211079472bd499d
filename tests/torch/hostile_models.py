"""Malicious models that act when they are opened or run, saved to files as an adversary would send them."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn


class Writer(nn.Module):
    """Writes a file when it is loaded, and another one when it runs."""

    def __init__(self, loaded: str, run: str) -> None:
        super().__init__()
        self.loaded = loaded
        self.run = run
        self.weight = torch.ones(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.save(x, self.run)
        return x * self.weight

    @torch.jit.export
    def __getstate__(self) -> tuple[torch.Tensor, str, str, bool]:
        return self.weight, self.loaded, self.run, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, str, str, bool]) -> None:
        self.weight = state[0]
        self.loaded = state[1]
        self.run = state[2]
        self.training = state[3]
        torch.save(self.weight, self.loaded)


class Reader(nn.Module):
    """Reads a file when it is loaded."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret
        self.weight = torch.ones(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight

    @torch.jit.export
    def __getstate__(self) -> tuple[str, bool]:
        return self.secret, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[str, bool]) -> None:
        self.secret = state[0]
        self.training = state[1]
        self.weight = torch.from_file(self.secret, False, 3, dtype=torch.float32)


class Hoarder(nn.Module):
    """Takes 1.6 GiB of memory when it is loaded, and never comes to an end."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight

    @torch.jit.export
    def __getstate__(self) -> tuple[torch.Tensor, bool]:
        return self.weight, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, bool]) -> None:
        self.weight = state[0]
        self.training = state[1]
        kept = [self.weight]
        while len(kept) < 104:  # torch removes a list that nothing reads
            kept.append(torch.ones(1 << 22))
        rounds = 0
        while rounds < 1 << 50:
            rounds += 1
        self.weight = kept[rounds % 2]


def saved(module: nn.Module, path: Path) -> str:
    """Saves a model as TorchScript and returns its path."""
    torch.jit.script(module.eval()).save(str(path))
    return str(path)


ATTEMPTS = '''
"""Tries everything that a sandbox forbids, and tells what it could do."""
import ctypes, json, os, pathlib, resource, socket, time

def tried(what):
    try:
        return what()
    except Exception as error:
        return f"{{type(error).__name__}}"

def connect():
    with socket.create_connection(("127.0.0.1", {port}), timeout=2):
        return "connected"

def write(path):
    pathlib.Path(path).write_text("harm")
    return "written"

def unshare():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "unshare")
    return "a namespace"

def attempts():
    told = dict(
        network=tried(connect),
        read=tried(lambda: pathlib.Path({secret!r}).read_text()),
        home=tried(lambda: sorted(os.listdir({home!r}))),
        write=tried(lambda: write({target!r})),
        system=[tried(lambda path=path: write(path)) for path in {system!r}],
        userns=tried(unshare),
        variables=sorted(name for name in os.environ if "SECRET" in name or "TOKEN" in name),
        processes=len([name for name in os.listdir("/proc") if name.isdecimal()]),
        rights=[line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "CapBnd"))],
        core=resource.getrlimit(resource.RLIMIT_CORE)[1],
        own=tried(lambda: write("/tmp/mine")),
        descriptors=len(os.listdir("/proc/self/fd")),
        load=tried(lambda: pathlib.Path("/proc/loadavg").read_text() != ""),
        stat=tried(lambda: pathlib.Path("/proc/stat").read_text()[:4]),
        cpus=len(os.sched_getaffinity(0)),
    )
    raise LookupError(json.dumps(told))
'''

CHEATS = '''
"""Deceives and burdens the process that waits for a recording."""
import os, pathlib, sys, time

words = pathlib.Path("/proc/self/cmdline").read_bytes().split(b"\\0")
folder = pathlib.Path(os.fsdecode(words[words.index(b"-c") + 3]))
trace = folder / "recorded.fztrace"
preview = b'{{"event": "preview", "path": "/etc/passwd"}}'
ended = b'{{"event": "ended", "outcome": "finished", "trace": "/etc/passwd", "message": "fine"}}'

def send(line):
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and "pipe:" in os.readlink("/proc/self/fd/" + name):
                os.write(int(name), line + b"\\n")
        except OSError:
            pass
    time.sleep(60)

def link():
    trace.symlink_to({secret!r})
    send(preview)

def pipe():
    os.mkfifo(trace)
    send(preview)

def garbage():
    trace.write_bytes(b"no trace")
    send(preview)

def nothing():
    send(ended)

def unknown():
    send(b'{{"event": "step", "index": "0"}}')

def deep():
    send(b'{{"event": ' + b"[" * 100_000)

def remains():
    for name in ("now", "journal.jsonl", "torch.log", "death.json"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to({secret!r})
    os.kill(os.getpid(), 9)

def processes():
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(60)
    time.sleep(60)

def disk():
    for number in range(100):
        (folder / str(number)).write_bytes(bytes(1 << 20))
    time.sleep(60)
'''
