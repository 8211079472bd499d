"""Which child processes of a recorded script are recorded."""

from __future__ import annotations

import pytest

from freeze_engine.captures.tool_processes import is_tool
from freeze_engine.worker import child_process


@pytest.mark.parametrize(
    "words",
    [
        ("python", "-m", "viewer.cli", "record"),
        ("python", "-W", "ignore", "-m", "freeze_engine.worker"),
        ("python", "/usr/bin/freezer-ui", "stats"),
        ("python", "/lib/torch/_inductor/compile_worker/__main__.py", "--workers=2"),
        ("python", "-u", "-c", child_process._BOOT, "record"),
        ("python", "-u", "-c", child_process._BOOT_ELSEWHERE, "record"),
    ],
)
def test_processes_of_torch_and_of_this_package_are_not_recorded(words: tuple[str, ...]) -> None:
    assert is_tool(words)


@pytest.mark.parametrize(
    "words",
    [
        ("python",),
        ("python", "/home/me/freeze_engine/train.py"),
        ("python", "train.py", "freezer-ui"),
        ("python", "-m", "viewer_of_mine", "-m", "freeze_engine"),
        ("python", "-c", "from freeze_engine import load; import torch"),
        ("python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()", "--multiprocessing-fork"),
    ],
)
def test_processes_of_the_user_are_recorded(words: tuple[str, ...]) -> None:
    assert not is_tool(words)
