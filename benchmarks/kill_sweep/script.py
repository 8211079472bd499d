"""A script for `freezer-ui run`: freezes twice, and can be held in each pass."""

from __future__ import annotations

import torch

from benchmarks.kill_sweep.models import Net
from benchmarks.kill_sweep.stopping import stop_in_passes

stop_in_passes()
for _ in range(2):
    torch.jit.freeze(torch.jit.script(Net().eval()))
