"""What files are that are neither models nor traces, and what to do with each."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from freeze_engine.models import other_file
from freeze_engine.models.factory_names import factory_advice


def zipped(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return stream.getvalue()


def tarred() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("net.pt"))
    return stream.getvalue()


SAFETENSORS = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
CASES = [
    ("net.pt", b"", "empty (0 bytes)", "Copy or download it again"),
    ("net.pth", pickle.dumps({"w": 1}), "a pickle (torch.save", "Build the module in Python"),
    ("net.pt", zipped("net/data.pkl"), "a pickle (torch.save", "Build the module in Python"),
    ("net.py", b"import torch\n", "Python source", "net:build"),
    ("my-net.py", b"import torch\n", "Python source", "my_net:build, from the file's folder, after renaming it"),
    ("net.ipynb", b"{}", "a notebook", "fe.record(model, inputs)"),
    ("net.onnx", b"\x08\x07\x12\x07pytorch", "an ONNX model", "the torch module that it was made from"),
    (
        "net.safetensors",
        len(SAFETENSORS).to_bytes(8, "little") + SAFETENSORS + bytes(4),
        "a safetensors file",
        "Build the module in Python",
    ),
    (
        "renamed.pt",
        len(SAFETENSORS).to_bytes(8, "little") + SAFETENSORS + bytes(4),
        "a safetensors file",
        "Build the module in Python",
    ),
    ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(9), "an HDF5 file", "the torch module"),
    ("net.keras", b"\0\1", "a Keras model", "the torch module"),
    ("net.gguf", b"GGUF" + bytes(9), "a GGUF file", "Build the module in Python"),
    ("net.pte", b"\x1c\0\0\0ET12" + bytes(9), "an ExecuTorch program", "the torch module"),
    ("net.ptl", b"\x1c\0\0\0PTMF" + bytes(9), "TorchScript for mobile in the FlatBuffers format", "torch.jit.script"),
    ("net.tflite", b"\x1c\0\0\0TFL3" + bytes(9), "a TensorFlow Lite model", "the torch module"),
    ("net.npy", b"\x93NUMPY\1\0", "a NumPy array", "Build the module in Python"),
    ("net.npz", zipped("w.npy"), "a NumPy archive", "Build the module in Python"),
    ("net.zip", zipped("readme.txt"), "a zip archive that is neither", "No file in it has the name of a model"),
    ("net.zip", zipped("a/net.pt", "b.txt"), "a zip archive that is neither", "the model file in it (a/net.pt)."),
    ("net.pt", zipped("net/data.pkl")[:-9], "the beginning of a zip archive", "Copy or download it again"),
    ("net.pt2", zipped("net/data/aotinductor/model/net.so"), "a package of compiled code", "that it was compiled from"),
    ("net.tar", tarred(), "a packed archive", "Unpack it"),
    ("net.pt.gz", b"\x1f\x8b\x08\0", "a packed archive", "Unpack it"),
    ("net.fztrace", b"\0\1\2", "no trace, though its name ends as one", "record the model again"),
    ("net.txt", "Gewichte für das Netz".encode(), "a text file", "torch.jit.script(module.eval()).save"),
    ("net.pt", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS", "git lfs pull"),
    ("net.pt", b"<!DOCTYPE html>\n<html>", "a web page", "Open it in a browser"),
    ("net.json", b"{}", "a text file", "torch.jit.script(module.eval()).save"),
    ("net.bin", bytes(range(256)), "neither a TorchScript file nor an exported program", "torch.jit.script"),
]


@pytest.mark.parametrize(("name", "content", "what", "remedy"), CASES)
def test_a_file_is_named_and_comes_with_a_remedy(
    name: str, content: bytes, what: str, remedy: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    found = other_file(tmp_path / name)
    assert found.what.startswith(what)
    assert remedy in found.remedy
    assert "truncated" not in found.what + found.remedy
    assert ":build" not in found.page_remedy or "on the command line, freezer-ui record" in found.page_remedy
    assert "package.module:factory" not in found.page_remedy or "command line: freezer-ui record" in found.page_remedy


@pytest.mark.parametrize("letter", ["é", "語", "🔥"])
@pytest.mark.parametrize("shift", range(4))
def test_a_letter_that_the_look_cuts_in_two_is_text_still(letter: str, shift: int, tmp_path: Path) -> None:
    (tmp_path / "net.pt").write_bytes(("x" * shift + letter * 5000).encode())
    assert other_file(tmp_path / "net.pt").what == "a text file, not a saved model"


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        ("net.py", "net:build"),
        ("./nets/net.py", "nets.net:build"),
        ("nets/my-net.py", "my_net:build, from the file's folder, after renaming it my_net.py"),
        ("my-nets/net.py", "net:build, from the file's folder"),
        ("/elsewhere/net.py", "net:build, from the file's folder"),
        ("3net.py", "_3net:build, from the file's folder, after renaming it _3net.py"),
    ],
)
def test_function_of_a_file_is_named_as_it_is_looked_up(
    file: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert factory_advice(Path(file), "build") == advice
