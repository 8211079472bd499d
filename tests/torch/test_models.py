"""MODEL and ``--input`` of the command line."""

from __future__ import annotations

import errno
import io
import os
import pickle
import re
import sys
import zipfile

import pytest
import torch
from torch import nn

from freeze_engine.errors import ModelSpecError
from freeze_engine.models.examples import EXAMPLES
from freeze_engine.models.loading import LoadedModel, load_model
from freeze_engine.models.tensors import make_inputs
from freeze_engine.requests.inputs import InputRequest, Inputs, RandomTensor, SavedTensor, parse_input
from freeze_engine.serde import save
from tests.builders import small_trace

FACTORIES = """
import torch
from torch import nn

from freeze_engine.requests.inputs import Inputs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x)


class Holder:
    @staticmethod
    def build():
        return Net().eval()


def bare():
    return Net()


def with_tuple():
    return Net(), (torch.ones(1, 4),)


def with_inputs():
    return Net(), Inputs((), {"x": torch.ones(1, 4)})


def with_tensor():
    return Net(), torch.ones(1, 4)


def sized(width):
    return Net()


def broken():
    raise ZeroDivisionError("the user's own")


def nothing():
    return 3


instance = Net()
scripted = torch.jit.script(Net())
number = 3
"""


class ConvNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.conv(x))


@pytest.fixture
def conv_norm() -> nn.Module:
    return ConvNorm().eval()


@pytest.fixture
def picture() -> torch.Tensor:
    return torch.randn(1, 3, 8, 8)


@pytest.fixture
def factories(tmp_path, monkeypatch):
    """A module ``netz`` in the working directory; imports and `sys.path` are as before afterwards."""
    (tmp_path / "netz.py").write_text(FACTORIES)
    (tmp_path / "imports_missing.py").write_text("import no_such_dependency\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "netz", raising=False)
    yield
    sys.modules.pop("netz", None)


def test_torchscript_file(tmp_path, conv_norm, picture):
    path = tmp_path / "net.pt"
    torch.jit.script(conv_norm).save(path)

    loaded = load_model(str(path), map_location="cpu")

    assert isinstance(loaded.module, torch.jit.ScriptModule)
    assert loaded == LoadedModel(loaded.module, None, "net")
    assert torch.equal(loaded.module(picture), conv_norm(picture))


# The program compares its inputs with those it was exported with, in Python, which tracing bakes in and warns of.
@pytest.mark.filterwarnings("ignore:Converting a tensor to a Python:torch.jit.TracerWarning")
def test_exported_program_brings_its_inputs_and_can_be_frozen(tmp_path, conv_norm, picture):
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(conv_norm, (picture,)), path)

    loaded = load_model(str(path))

    assert (loaded.name, loaded.via) == ("net", "trace")
    assert len(loaded.inputs.args) == 1
    assert torch.equal(loaded.inputs.args[0], picture)
    assert loaded.inputs.kwargs == {}
    assert torch.equal(loaded.module(picture), conv_norm(picture))
    frozen = torch.jit.freeze(torch.jit.trace(loaded.module, loaded.inputs.args))
    assert not frozen.graph.findAllNodes("aten::batch_norm", recurse=True)


def test_exported_program_with_keywords(tmp_path, picture):
    class Scaled(nn.Module):
        def forward(self, x, *, scale):
            return x * scale

    path = tmp_path / "scaled.pt2"
    torch.export.save(torch.export.export(Scaled(), (picture,), {"scale": torch.tensor([2.0])}), path)

    loaded = load_model(str(path), map_location="cpu")

    assert torch.equal(loaded.module(*loaded.inputs.args, **loaded.inputs.kwargs), picture * 2)
    assert list(loaded.inputs.kwargs) == ["scale"]


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("what", ["module", "state dict", "tensor"])
def test_a_pickle_is_refused_with_the_way_out(tmp_path, conv_norm, what, zipped):
    path = tmp_path / "weights.pt"
    saved = {"module": conv_norm, "state dict": conv_norm.state_dict(), "tensor": torch.ones(2)}[what]
    torch.save(saved, path, _use_new_zipfile_serialization=zipped)

    with pytest.raises(ModelSpecError, match=r"is a pickle .* torch\.jit\.script\(module\.eval\(\)\)\.save"):
        load_model(str(path))


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def test_a_pickle_is_not_executed(tmp_path):
    plain, zipped = tmp_path / "plain.pt", tmp_path / "zipped.pt"
    plain.write_bytes(pickle.dumps(Bomb()))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("zipped/data.pkl", pickle.dumps(Bomb()))

    for path in (plain, zipped):
        with pytest.raises(ModelSpecError, match="is a pickle"):
            load_model(str(path))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", r"is empty \(0 bytes\)\. Copy"),
        (b"\x80", "is neither a TorchScript file nor an exported program"),
        (b"hello", "is a text file, not a saved model"),
        (b"PK\x03\x04 truncated", "is the beginning of a zip archive, .* cut short or damaged"),
    ],
)
def test_a_foreign_file(tmp_path, content, what):
    path = tmp_path / "net.pt"
    path.write_bytes(content)
    with pytest.raises(ModelSpecError, match=what):
        load_model(str(path))


def test_no_factory_is_advised_without_imported_code(tmp_path):
    for name in ("net.py", "net.pth", "net.onnx", "net.safetensors", "net.zip", "net.txt", "net.bin"):
        (tmp_path / name).write_bytes(pickle.dumps({}) if name == "net.pth" else b"import torch\n")
        with pytest.raises(ModelSpecError) as caught:
            load_model(str(tmp_path / name), trusted=False)
        advised = re.findall(r"(\S+ \S+) \w[\w.]*:[a-z]\w*", str(caught.value))
        assert set(advised) <= {"freezer-ui record"}
    with pytest.raises(ModelSpecError, match=r"exported program \(model\.pt2\), or example:NAME"):
        load_model(str(tmp_path), trusted=False)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    (tmp_path / "net.pt").write_bytes(b"")
    monkeypatch.setattr("freeze_engine.models.loading.file_kind", refused)
    with pytest.raises(ModelSpecError, match=r"cannot be read: Permission denied\. Check its permissions\."):
        load_model(str(tmp_path / "net.pt"))


def test_a_link_to_nowhere_and_a_pipe(tmp_path):
    (tmp_path / "net.pt").symlink_to("gone.pt")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelSpecError, match=r"is a link to gone\.pt, which is not there"):
        load_model(str(tmp_path / "net.pt"))
    with pytest.raises(ModelSpecError, match="is a device or a pipe"):
        load_model(str(tmp_path / "pipe"))


def test_trace_given_as_model_is_refused(tmp_path):
    save(small_trace(), tmp_path / "net.fztrace")
    with pytest.raises(ModelSpecError, match=r"net\.fztrace is a recorded trace, not a model\. Look at it with"):
        load_model(str(tmp_path / "net.fztrace"))


def test_a_foreign_archive(tmp_path):
    path = tmp_path / "net.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ModelSpecError, match="neither a TorchScript file nor an exported program"):
        load_model(str(path))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (("net/constants.pkl", "net/data.pkl", "net/code/x.py"), "looks like TorchScript, but torch .* cannot load it"),
        (("net/archive_format", "net/models/model.json"), "looks like an exported program, but .* cannot load it"),
    ],
)
def test_a_damaged_archive(tmp_path, members, message):
    path = tmp_path / "net.pt"
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "damaged")
    with pytest.raises(ModelSpecError, match=message) as caught:
        load_model(str(path))
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("spec", ["no/such/file.pt", "a b:c", "netz:", ":build", "C:\\net.pt"])
def test_no_known_form(spec):
    with pytest.raises(ModelSpecError, match=r"neither a file here nor of a known form\. Give a TorchScript file"):
        load_model(spec)


def test_an_example_without_its_prefix():
    with pytest.raises(ModelSpecError, match=r"Did you mean example:resnet50\?"):
        load_model("resnet50")


def test_a_folder(tmp_path):
    with pytest.raises(ModelSpecError, match="is a folder"):
        load_model(str(tmp_path))


def test_example_brings_inputs_and_what_to_preserve():
    loaded = load_model("example:preserved_version", map_location="cpu")
    assert loaded.name == "preserved_version"
    assert loaded.preserved_attrs == ("sub.version",)
    assert loaded.module(*loaded.inputs.args).shape == (2, 2)


def test_unknown_example_lists_the_known_ones():
    with pytest.raises(ModelSpecError) as caught:
        load_model("example:resnet5")
    assert str(caught.value) == (
        f"There is no example 'resnet5'. Did you mean resnet50 or resnet18? The examples are {', '.join(EXAMPLES)}."
    )


@pytest.mark.usefixtures("factories")
@pytest.mark.parametrize(
    ("path", "name", "args", "keywords"),
    [
        ("bare", "bare", None, None),
        ("Net", "Net", None, None),
        ("instance", "instance", None, None),
        ("scripted", "scripted", None, None),
        ("Holder.build", "build", None, None),
        ("with_tuple", "with_tuple", 1, []),
        ("with_inputs", "with_inputs", 0, ["x"]),
    ],
)
def test_factory(path, name, args, keywords):
    loaded = load_model(f"netz:{path}", map_location="cpu")
    assert loaded.name == name
    assert loaded.via == "script"
    assert loaded.module(torch.ones(1, 4)).shape == (1, 2)
    if args is None:
        assert loaded.inputs is None
    else:
        assert (len(loaded.inputs.args), list(loaded.inputs.kwargs)) == (args, keywords)


@pytest.mark.usefixtures("factories")
def test_factory_keeps_the_mode():
    assert load_model("netz:bare").module.training
    assert not load_model("netz:Holder.build").module.training


@pytest.mark.usefixtures("factories")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("netzz:build", "there is no module 'netzz', neither installed nor in"),
        ("netz.deeper:build", "there is no module 'netz.deeper'"),
        ("netz.py:bare", r"there is no module 'netz\.py', .* Did you mean netz:bare\?"),
        ("./nets/netz.py:bare", r"nor of a known form\. Did you mean nets\.netz:bare\?"),
        ("netz:bear", "netz has no 'bear'. Did you mean bare"),
        ("netz:Holder.missing", "netz has no 'Holder.missing'"),
        ("netz:sized", r"cannot be called without arguments \(missing a required argument: 'width'\)"),
        ("netz:number", "is int, which is neither a module nor a function"),
        ("netz:nothing", "gave int, which is not a module"),
        ("netz:with_tensor", "the inputs it returns are Tensor. Return a tuple"),
    ],
)
def test_wrong_factory(spec, message):
    with pytest.raises(ModelSpecError, match=message):
        load_model(spec)


@pytest.mark.usefixtures("factories")
@pytest.mark.parametrize(
    ("spec", "error"), [("netz:broken", ZeroDivisionError), ("imports_missing:build", ModuleNotFoundError)]
)
def test_exception_of_user_code_passes_through(spec, error):
    with pytest.raises(error):
        load_model(spec)


@pytest.mark.parametrize("device", ["nowhere", "cuda:99"])
def test_wrong_device(device):
    with pytest.raises(ModelSpecError, match="device"):
        load_model("example:counter", map_location=device)
    with pytest.raises(ModelSpecError, match="device"):
        make_inputs([], device=device)


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("1x3x224x224", InputRequest(None, RandomTensor((1, 3, 224, 224)))),
        ("7", InputRequest(None, RandomTensor((7,)))),
        ("0x3", InputRequest(None, RandomTensor((0, 3)))),
        ("1x3:bfloat16", InputRequest(None, RandomTensor((1, 3), "bfloat16"))),
        ("1x3:bool", InputRequest(None, RandomTensor((1, 3), "bool"))),
        ("2x16:int64", InputRequest(None, RandomTensor((2, 16), "int64", range(2)))),
        ("2x16:int64:0..30000", InputRequest(None, RandomTensor((2, 16), "int64", range(30000)))),
        ("2:int8:-128..128", InputRequest(None, RandomTensor((2,), "int8", range(-128, 128)))),
        ("mask=1x16:bool", InputRequest("mask", RandomTensor((1, 16), "bool"))),
        ("@a=b.pt", InputRequest(None, SavedTensor("a=b.pt"))),
        ("x=@a=b.pt", InputRequest("x", SavedTensor("a=b.pt"))),
    ],
)
def test_parse_input(text, request_):
    assert parse_input(text) == request_


@pytest.mark.parametrize(
    ("text", "value"),
    [("int:3", 3), ("int:-3", -3), ("float:0.5", 0.5), ("float:2", 2.0), ("bool:true", True), ("bool:False", False)],
)
def test_parse_input_of_a_plain_value(text, value):
    parsed = parse_input(text).value
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("", "'' is not a shape", "1x3x224x224"),
        ("1,3,224", "'1,3,224' is not a shape", "1x3x224"),
        ("[2, 16]:int64:0..9", r"'\[2, 16\]' is not a shape .*a dtype behind them", "2x16:int64:0..9"),
        ("1x-3", "'1x-3' is not a shape", "1x3x224x224"),
        ("1xx3", "'1xx3' is not a shape", "1x3x224x224"),
        ("1x9999999999999999999", "is not a shape", "1x3x224x224"),
        ("str:hello", "'str' is not a shape", "1x3x224x224"),
        ("1x3:", "'' is not a dtype", "1x3:bfloat16"),
        ("1x3:float23", "'float23' is not a dtype .* Did you mean float32", "1x3:bfloat16"),
        ("1x3:float32:0..1", "goes with an integer dtype, not with float32", "2x16:int64:0..30000"),
        ("1x3:int64:0-5", "'0-5' is not a range", "2x16:int64:0..100"),
        ("1x3:int64:5..5", "the range '5..5' is empty", "2x16:int64:0..100"),
        ("1x3:uint8:0..257", "the range '0..257' does not fit uint8", "2x16:uint8:0..100"),
        ("1x3:uint8:-1..2", "the range '-1..2' does not fit uint8", "2x16:uint8:0..100"),
        ("int:3.5", "'3.5' is no int", "int:3"),
        ("int:", "'' is no int", "int:3"),
        ("float:x", "'x' is no float", "float:0.5"),
        ("bool:yes", "'yes' is no bool", "bool:true"),
        ("1x=2", "'1x' is not a name", "mask=1x16:bool"),
        ("class=2", "'class' is not a name", "mask=1x16:bool"),
        ("=2", "'' is not a name", "mask=1x16:bool"),
        ("@", "after @ there is no file", "@tensor.pt"),
        ("mask=", "'' is not a shape", "1x3x224x224"),
    ],
)
def test_parse_input_says_what_is_wrong_and_what_is_right(text, wrong, right):
    with pytest.raises(ModelSpecError, match=wrong) as caught:
        parse_input(text)
    assert str(caught.value).startswith(f"--input {text!r}: ")
    assert str(caught.value).endswith(f" A right one is --input {right}.")
    parse_input(right)


def test_make_inputs():
    texts = [
        "2x3",
        "2:bfloat16",
        "50:int64:-1..2",
        "20:bool",
        "2:complex64",
        "int:3",
        "mask=2:float64",
        "flag=bool:true",
    ]
    requests = [parse_input(text) for text in texts]
    before = torch.random.get_rng_state()
    made, again, other = make_inputs(requests), make_inputs(requests, seed=0), make_inputs(requests, seed=1)

    assert [value.dtype for value in made.args[:5]] == [
        torch.float32,
        torch.bfloat16,
        torch.int64,
        torch.bool,
        torch.complex64,
    ]
    assert [tuple(value.shape) for value in made.args[:5]] == [(2, 3), (2,), (50,), (20,), (2,)]
    assert set(made.args[2].tolist()) == {-1, 0, 1}
    assert set(made.args[3].tolist()) == {True, False}
    assert made.args[5] == 3
    assert made.kwargs["mask"].dtype is torch.float64
    assert made.kwargs["flag"] is True
    torch.testing.assert_close((made.args, dict(made.kwargs)), (again.args, dict(again.kwargs)), rtol=0, atol=0)
    assert not torch.equal(made.args[0], other.args[0])
    assert torch.equal(torch.random.get_rng_state(), before)


def test_make_inputs_of_nothing():
    assert make_inputs([]) == Inputs()


def test_make_inputs_from_a_file(tmp_path):
    tensor = torch.arange(4)
    torch.save(tensor, tmp_path / "tensor.pt")
    made = make_inputs([parse_input(f"ids=@{tmp_path / 'tensor.pt'}")])
    assert made.args == ()
    assert torch.equal(made.kwargs["ids"], tensor)


def test_make_inputs_refuses_a_keyword_given_twice():
    with pytest.raises(ModelSpecError, match=r"--input x=… is given twice"):
        make_inputs([parse_input("x=1"), parse_input("x=2")])


def test_make_inputs_refuses_what_does_not_fit():
    with pytest.raises(ModelSpecError, match="--input 999999999999x999999999:float32 cannot be made"):
        make_inputs([parse_input("999999999999x999999999")])


def _bytes_of(saved: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(saved, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the file is not there"),
        (b"", "holds no tensor"),
        (b"hello", "holds no tensor"),
        (_bytes_of(torch.ones(3))[:-200], "holds no tensor"),
        (_bytes_of([torch.ones(3)]), "holds list"),
        (_bytes_of(ConvNorm()), "cannot be read as a tensor"),
        (_bytes_of(Bomb()), "cannot be read as a tensor"),
    ],
    ids=["missing", "empty", "foreign", "truncated", "list", "module", "bomb"],
)
def test_make_inputs_from_a_wrong_file(tmp_path, content, message):
    path = tmp_path / "tensor.pt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelSpecError, match=message) as caught:
        make_inputs([parse_input(f"@{path}")])
    assert str(path) in str(caught.value)


def test_make_inputs_from_a_torchscript_file_does_not_warn(tmp_path, conv_norm):
    path = tmp_path / "net.pt"
    torch.jit.script(conv_norm).save(path)
    # A warning would be an error here, as everywhere in these tests.
    with pytest.raises(ModelSpecError, match="holds no tensor"):
        make_inputs([parse_input(f"@{path}")])
