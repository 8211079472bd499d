"""Detects files that are no model and no trace, and says what to do with them; nothing of them is run."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from freeze_engine.models.factory_names import factory_advice
from freeze_engine.models.file_kinds import file_kind
from freeze_engine.models.untrusted.zip_names import loose_names

_HEAD_BYTES: Final = 4096
_JSON_LENGTH_BYTES: Final = 8
_MODELS: Final = (".pt", ".pth", ".ts", ".pt2")
_MODELS_SHOWN: Final = 3
_UNPACK: Final = "Unpack it, and give the model file in it."
_LFS: Final = b"version https://git-lfs.github.com/spec/"
_HTML: Final = (b"<!doctype html", b"<html")
_NOT_TORCH: Final = "Freezing is torch's: give the torch module that it was made from, {saved}."
_COPY_AGAIN: Final = "Copy or download it again, or save the model again."


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file that is no model and no trace.

    Attributes:
        what: its kind, in words that follow ``is``.
        remedy: one or two sentences on what to do, for places that may import code (command line, Python).
        page_remedy: the same on a page that imports no code.
    """

    what: str
    remedy: str
    page_remedy: str


def other_file(path: Path) -> OtherFile:
    """Returns the kind of a file that neither opens as a trace nor can be recorded.

    Args:
        path: of a file for which `freeze_engine.models.file_kinds.file_kind` found none of its kinds.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    kind = file_kind(path)
    if kind in ("tensor", "legacy") or _is_pickle(head):
        what = "a pickle (torch.save of a module, a state dict or a tensor), which holds no program"
        return _weights(path, f"{what}, or needs running code to be read")
    for is_it, tell in _KINDS:
        if is_it(path.suffix.lower(), head):
            return tell(path)
    return _said("neither a TorchScript file nor an exported program", f"Give the model {_saved(path)}.")


def _saved(path: Path) -> str:
    return f'saved as TorchScript, torch.jit.script(module.eval()).save("{path.stem}.ts.pt")'


def _said(what: str, remedy: str) -> OtherFile:
    return OtherFile(what, remedy, remedy)


def _weights(path: Path, what: str) -> OtherFile:
    build = "Build the module in Python, load its state dict, and"
    saved = f'torch.jit.script(module.eval()).save("{path.stem}.ts.pt")'
    return OtherFile(
        what,
        f"{build} either save TorchScript, {saved}, or give the function that builds it as package.module:factory "
        "(build in net.py is net:build).",
        f"{build} save TorchScript, {saved}, which this page takes; or record the function that builds it on the "
        "command line: freezer-ui record package.module:factory.",
    )


def _empty(path: Path) -> OtherFile:
    return _said("empty (0 bytes)", _COPY_AGAIN)


def _python(path: Path) -> OtherFile:
    advice = factory_advice(path, "build")
    call, _, where = factory_advice(Path("/") / path.name, "build").partition(",")
    return OtherFile(
        "Python source, not a saved model",
        f"Give the function in it that builds the model: {advice}; build stands for its name.",
        f"This page imports no code: record it on the command line, freezer-ui record {call},{where}; build stands "
        "for the name of the function that builds the model. Or save the model as TorchScript, "
        f'torch.jit.script(module.eval()).save("{path.stem}.pt").',
    )


def _notebook(path: Path) -> OtherFile:
    remedy = "Record in the notebook itself, with fe.record(model, inputs), or save the model there as TorchScript."
    return _said("a notebook, not a saved model", remedy)


def _foreign(name: str) -> Callable[[Path], OtherFile]:
    return lambda path: _said(f"{name}, which torch does not run", _NOT_TORCH.format(saved=_saved(path)))


def _bare_weights(name: str) -> Callable[[Path], OtherFile]:
    return lambda path: _weights(path, f"{name}, which holds weights and no program")


def _archive(path: Path) -> OtherFile:
    names = loose_names(path)
    if names is None:
        what = "the beginning of a zip archive, as TorchScript files and exported programs are, cut short or damaged"
        return _said(what, _COPY_AGAIN)
    if any("aotinductor" in name for name in names):
        what = "a package of compiled code (AOTInductor), of which nothing is left to freeze"
        return _said(
            what,
            f"Give the exported program that it was compiled from, which --backend aotinductor compiles, or its module "
            f"{_saved(path)}.",
        )
    if names and all(name.endswith(".npy") for name in names):
        return _weights(path, "a NumPy archive, which holds arrays and no program")
    inside = [name for name in names if name.lower().endswith(_MODELS)][:_MODELS_SHOWN]
    what = "a zip archive that is neither a TorchScript file nor an exported program"
    if not inside:
        return _said(what, f"No file in it has the name of a model: give the model {_saved(path)}.")
    return _said(what, f"{_UNPACK[:-1]} ({', '.join(inside)}).")


def _packed(path: Path) -> OtherFile:
    return _said("a packed archive", _UNPACK)


def _no_trace(path: Path) -> OtherFile:
    return _said("no trace, though its name ends as one", "Copy it again, or record the model again.")


def _pointer(path: Path) -> OtherFile:
    remedy = f"Fetch the file: git lfs pull --include={path.name}, in the repository."
    return _said("a pointer of Git LFS, and not the file that it stands for", remedy)


def _web_page(path: Path) -> OtherFile:
    return _said("a web page, which a download may give in place of the file", "Open it in a browser to see why.")


def _text(path: Path) -> OtherFile:
    return _said("a text file, not a saved model", f"Give the model {_saved(path)}.")


def _mobile(path: Path) -> OtherFile:
    what = "TorchScript for mobile in the FlatBuffers format, which holds instructions and no graph"
    return _said(what, f"Give the model {_saved(path)}.")


def _is_pickle(head: bytes) -> bool:
    return len(head) >= 2 and head[:1] == pickle.PROTO and head[1] <= pickle.HIGHEST_PROTOCOL


def _is_safetensors(suffix: str, head: bytes) -> bool:
    """Returns whether a file begins with the length of a JSON object, and that object (safetensors' format)."""
    length = int.from_bytes(head[:_JSON_LENGTH_BYTES], "little")
    return suffix == ".safetensors" or (head[_JSON_LENGTH_BYTES:][:2] == b'{"' and length < 1 << 40)


def _is_text(suffix: str, head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4 and len(head) == _HEAD_BYTES  # cut within a letter
    return True


def _starts(*marks: bytes) -> Callable[[str, bytes], bool]:
    return lambda suffix, head: head.startswith(marks)


def _called(*suffixes: str) -> Callable[[str, bytes], bool]:
    return lambda suffix, head: suffix in suffixes


def _marked(mark: bytes) -> Callable[[str, bytes], bool]:
    """FlatBuffers have their mark behind the first offset."""
    return lambda suffix, head: head[4:8] == mark


_KINDS: Final[tuple[tuple[Callable[[str, bytes], bool], Callable[[Path], OtherFile]], ...]] = (
    (lambda suffix, head: not head, _empty),
    (_starts(b"PK\x03\x04", b"PK\x05\x06"), _archive),
    (_called(".fztrace"), _no_trace),
    (_starts(b"\x89HDF\r\n\x1a\n"), _foreign("an HDF5 file, as Keras writes it")),
    (_starts(b"GGUF"), _bare_weights("a GGUF file")),
    (_marked(b"ET12"), _foreign("an ExecuTorch program")),
    (_marked(b"PTMF"), _mobile),
    (_marked(b"TFL3"), _foreign("a TensorFlow Lite model")),
    (_is_safetensors, _bare_weights("a safetensors file")),
    (_starts(b"\x93NUMPY"), _bare_weights("a NumPy array")),
    (_starts(b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd", b"Rar!"), _packed),
    (lambda suffix, head: head[257:262] == b"ustar", _packed),
    (_called(".onnx"), _foreign("an ONNX model")),
    (_called(".h5", ".hdf5", ".keras"), _foreign("a Keras model")),
    (_called(".pb", ".tflite"), _foreign("a TensorFlow model")),
    (_called(".engine", ".plan", ".trt"), _foreign("a TensorRT engine")),
    (_called(".py", ".pyi"), _python),
    (_called(".ipynb"), _notebook),
    (_starts(_LFS), _pointer),
    (lambda suffix, head: head.lstrip().lower().startswith(_HTML), _web_page),
    (_is_text, _text),
)
"""The test for each kind, the surest first, with the message about it."""
