"""Recording over and over leaves nothing in the process: no object of Python, descriptor, thread, process or file."""

from __future__ import annotations

import gc
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import torch

import freeze_engine as fe

COUNT = 8
PROCESS = Path("/proc/self")

pytestmark = pytest.mark.skipif(not (PROCESS / "task").is_dir(), reason="descriptors and threads are counted in /proc")


class Folding(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return torch.relu(self.norm(self.conv(x)))


MODEL = Folding().eval()
INPUTS = (torch.ones(1, 3, 4, 4),)


def recorded() -> None:
    fe.record(MODEL, INPUTS, measure=None)


def captured() -> None:
    with fe.capture() as capture:
        torch.jit.freeze(torch.jit.script(MODEL))
    assert len(capture.traces) == 1


def unread() -> None:
    with fe.capture():
        torch.jit.freeze(torch.jit.script(MODEL))


def failed() -> None:
    with pytest.raises(RuntimeError), fe.capture() as capture:
        torch.jit.freeze(torch.jit.script(MODEL).train())
    assert capture.traces is not None


def held() -> Counter[str]:
    """Counts what the process holds: objects by their type, and what the system gave it."""
    gc.collect()
    gc.collect()
    found = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    for name in ("fd", "task"):
        found[name] = len(list((PROCESS / name).iterdir()))
    found["children"] = sum(len((task / "children").read_text().split()) for task in (PROCESS / "task").iterdir())
    found["temporary"] = len(list(Path(tempfile.gettempdir()).rglob("*")))
    return found


@pytest.mark.parametrize("act", [recorded, captured, unread, failed])
def test_recordings_leave_nothing(act: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.freeze()  # what was there before stays, and need not be counted
    counted = []
    for times in (2, COUNT, COUNT):  # what is made once may stay
        for _ in range(times):
            act()
        counted.append(held())
    steps = [late - early for early, late in pairwise(counted)]
    assert {name for name in counted[-1] if all(step[name] >= COUNT for step in steps)} == set()
    assert [counted[-1][name] - counted[1][name] for name in ("fd", "task", "children", "temporary")] == [0, 0, 0, 0]
