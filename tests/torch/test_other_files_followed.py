"""The next step that a refused file comes with works when it is followed as it is written."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.errors import ModelSpecError
from freeze_engine.models.loading import load_model

SOURCE = "from torch import nn\n\n\ndef build():\n    return nn.Linear(3, 3).eval()\n"
BUILT = nn.Linear(3, 3)
ADVICE = r"(?P<model>[\w.]+:build)(?P<there>, from the file's folder)?(, after renaming it (\w+\.py))?"


def refusal(model: str, *, trusted: bool = True) -> str:
    with pytest.raises(ModelSpecError) as told:
        load_model(model, trusted=trusted)
    return str(told.value)


WEIGHTS: dict[str, Callable[[Path], object]] = {
    "net.pth": lambda path: torch.save(BUILT.state_dict(), path),
    "old.pth": lambda path: torch.save(BUILT.state_dict(), path, _use_new_zipfile_serialization=False),
    "whole.pth": lambda path: torch.save(BUILT, path),
    "last.ckpt": lambda path: torch.save({"state_dict": BUILT.state_dict(), "epoch": 3}, path),
    "net.pkl": lambda path: path.write_bytes(pickle.dumps({"w": 1})),
    "net.onnx": lambda path: path.write_bytes(b"\x08\x07\x12\x07pytorch"),
    "net.safetensors": lambda path: path.write_bytes(b"\2\0\0\0\0\0\0\0{}"),
    "net.txt": lambda path: path.write_text("weights\n"),
    "net.bin": lambda path: path.write_bytes(bytes(range(256))),
}


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("name", WEIGHTS)
def test_saving_the_module_as_the_remedy_says_makes_a_model(
    name: str, trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WEIGHTS[name](tmp_path / name)
    match = re.search(r'torch\.jit\.script\(module\.eval\(\)\)\.save\("([^"]+)"\)', refusal(name, trusted=trusted))
    assert match is not None
    exec(match.group(), {"torch": torch, "module": nn.Linear(3, 3)})
    assert fe.record(match[1], measure=None).trace.attributes


PLACES = ["net.py", "nets/net.py", "my-nets/net.py", "my-net.py", "../outside/net.py"]


@pytest.mark.parametrize("suffix", ["", ":build"])
@pytest.mark.parametrize("place", PLACES)
def test_giving_the_function_of_a_file_as_the_remedy_says_loads_it(
    place: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    file = here / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(SOURCE)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [*sys.path])
    told = refusal(place + suffix)
    _, _, advice = told.partition("Give the function" if not suffix else "Did you mean")
    match = re.search(ADVICE, advice)
    assert match is not None, told
    if match[4]:
        file.rename(file.with_name(match[4]))
    if match["there"]:
        monkeypatch.chdir(file.parent)
    for name in ("net", "my_net", "nets", "nets.net"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert isinstance(load_model(match["model"]).module, nn.Linear)
