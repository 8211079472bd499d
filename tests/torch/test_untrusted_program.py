"""Exported programs and tensors from somebody else: honest ones work as ever, hostile ones run nothing."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils import _pytree

import freeze_engine as fe
from freeze_engine.models import make_inputs
from freeze_engine.models.loading import load_model
from freeze_engine.models.untrusted.plain_pickles import PickleRefusedError
from freeze_engine.models.untrusted.plain_tensors import plain_tensors
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError
from freeze_engine.requests import parse_input

F = nn.functional
MODEL = "/models/model.json"


class Mutating(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("calls", torch.zeros(3))
        self.register_buffer("shift", torch.ones(3), persistent=False)

    def forward(self, x, *, scale=2.0):
        self.calls.add_(1)
        y = torch.relu(self.norm(self.linear(x))) + self.shift + self.calls
        return {"sizes": y.reshape(x.shape[0] * 3, -1) * scale + torch.tensor([1.5]), "rest": [x.sum(), (x,)]}


class Branching(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


class Options(nn.Module):
    def forward(self, x, more):
        first = F.gelu(x, approximate="tanh").to(torch.float64)
        return first, torch.einsum("ij,jk->ik", x, more["w"]), torch.div(x, 2, rounding_mode="floor"), None, 3


class Counting(nn.Module):
    def forward(self, x, n):
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= x.shape[0])
        return x[:count].sum(0), torch.nonzero(x)


class Picture(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding="same", bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.layers = nn.ModuleList([nn.Linear(8, 8)])
        self.named = nn.ModuleDict({"a-b": nn.Linear(8, 4)})
        self.tied = self.layers[0].weight
        self.brain = nn.Parameter(torch.ones(4, dtype=torch.bfloat16))

    def forward(self, x):
        y = F.interpolate(self.norm(self.first(x)).relu(), scale_factor=2.0, mode="bilinear")
        y = F.linear(self.layers[0](F.adaptive_avg_pool2d(y, 1).flatten(1)), self.tied)  # type: ignore[arg-type]
        return self.named["a-b"](y).softmax(-1) * self.brain.float(), torch.split(y, 4, 1)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, ids):
        y = self.layer(self.words(ids))
        with torch.no_grad():
            return F.scaled_dot_product_attention(y, y, y), y[:, -1].argmax(-1)


DIM = torch.export.Dim
HONEST = {
    "mutating": (Mutating, (torch.ones(8, 4),), {"scale": 3.0}, {"x": {0: DIM("n", min=2, max=64)}, "scale": None}),
    "branching": (Branching, (torch.ones(3),), {}, None),
    "options": (Options, (torch.ones(3, 3), {"w": torch.eye(3)}), {}, None),
    "counting": (Counting, (torch.ones(5, 3), torch.tensor(2)), {}, None),
    "picture": (Picture, (torch.ones(2, 3, 8, 8),), {}, ({0: DIM("b", min=2, max=16), 2: 2 * DIM("h", min=2, max=9)},)),
    "words": (Words, (torch.arange(6).reshape(2, 3),), {}, ({0: DIM("b", min=2, max=9)},)),
}


def outputs(loaded) -> tuple[list[object], object]:
    flat, spec = _pytree.tree_flatten(loaded.module(*loaded.inputs.args, **loaded.inputs.kwargs))
    return flat, spec


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_give_what_they_give_when_trusted(name, tmp_path):
    make, args, kwargs, sizes = HONEST[name]
    program = torch.export.export(make().eval(), args, kwargs, dynamic_shapes=sizes)  # type: ignore[arg-type]
    path = tmp_path / "model ü.pt2"
    torch.export.save(program, path, extra_files={"notes.txt": "left out"})
    trusted, untrusted = load_model(str(path)), load_model(str(path), trusted=False)
    assert (untrusted.name, untrusted.via) == (trusted.name, trusted.via) == ("model ü", "trace")
    for (key, expected), (other, found) in zip(
        trusted.module.state_dict().items(), untrusted.module.state_dict().items(), strict=True
    ):
        assert key == other
        assert (expected.dtype, type(expected)) == (found.dtype, type(found))
        assert torch.equal(expected, found)
    (expected, spec), (found, other_spec) = outputs(trusted), outputs(untrusted)
    assert spec == other_spec
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def old_form(path: Path, target: Path) -> None:
    """Writes an exported program in the form of torch before 2.8."""
    program = torch.export.load(path)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as archive:
        names = {name.partition("/")[2]: name for name in source.namelist()}
        archive.writestr("serialized_exported_program.json", source.read(names["models/model.json"]))
        for name, value in (("state_dict", OrderedDict(program.state_dict)), ("constants", program.constants)):
            buffer = io.BytesIO()
            torch.save(value, buffer)
            archive.writestr(f"serialized_{name}.pt", buffer.getvalue())
        archive.writestr("serialized_example_inputs.pt", source.read(names["data/sample_inputs/model.pt"]))
        archive.writestr("version", "8.3")


def test_programs_of_older_versions_are_opened(exported, tmp_path):
    old_form(exported, tmp_path / "old.pt2")
    trusted, untrusted = load_model(str(tmp_path / "old.pt2")), load_model(str(tmp_path / "old.pt2"), trusted=False)
    torch.testing.assert_close(outputs(untrusted)[0], outputs(trusted)[0], rtol=0, atol=0)


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "net.pt2"
    make, args, kwargs, sizes = HONEST["mutating"]
    torch.export.save(torch.export.export(make().eval(), args, kwargs, dynamic_shapes=sizes), path)  # type: ignore[arg-type]
    return path


class Payload:
    """Unpickling it makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return (Path.touch, (self.marker,))


def rewritten(exported: Path, target: Path, change=lambda name, data: data, *more: tuple[str, bytes]) -> Path:
    """Copies an exported program with its members changed, and adds more behind the program itself."""
    with zipfile.ZipFile(exported) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in source.namelist():
            archive.writestr(name, change(name, source.read(name)))
            for added, data in more if name.endswith(MODEL) else ():
                archive.writestr(added, data)
    return target


def with_program(exported: Path, target: Path, change) -> Path:
    """Copies an exported program with its JSON changed by a function."""

    def changed(name: str, data: bytes) -> bytes:
        if not name.endswith(MODEL):
            return data
        content = json.loads(data)
        change(content)
        return json.dumps(content).encode()

    return rewritten(exported, target, changed)


def code(marker: Path) -> str:
    return f"__import__('pathlib').Path('{marker}').touch()"


def refusal(path: Path) -> str:
    with pytest.raises(fe.ModelSpecError) as caught:
        load_model(str(path), trusted=False)
    assert "Traceback" not in str(caught.value)
    return str(caught.value)


def opened_by_torch(path: Path) -> None:
    """Opens and runs a program as the trusted way does, whatever comes of it."""
    with contextlib.suppress(Exception):
        torch.export.load(path).module()(torch.ones(8, 4), scale=3.0)


def evil_json(exported: Path, marker: Path) -> bytes:
    with zipfile.ZipFile(exported) as source:
        (name,) = (each for each in source.namelist() if each.endswith(MODEL))
        content = json.loads(source.read(name))
    for meta in content["graph_module"]["graph"]["tensor_values"].values():
        meta["sizes"] = [{"as_expr": {"expr_str": code(marker)}}]
    return json.dumps(content).encode()


@pytest.mark.parametrize("name", ["net/models/MODEL.JSON", "net/MODELS/model.json", "NET/models/model.json"])
def test_a_second_program_by_a_name_that_torch_takes_for_the_first(name, exported, tmp_path):
    marker = tmp_path / "marker"
    path = rewritten(exported, tmp_path / "net.pt2", lambda name, data: data, (name, evil_json(exported, marker)))
    assert "which a reader may take for the same" in refusal(path)
    assert not marker.exists()


@pytest.mark.parametrize("name", ["net/models/MODEL.JSON", "net/MODELS/model.json"])
def test_torch_does_evaluate_the_second_program(name, exported, tmp_path):
    marker = tmp_path / "marker"
    path = rewritten(exported, tmp_path / "net.pt2", lambda name, data: data, (name, evil_json(exported, marker)))
    opened_by_torch(path)
    assert marker.exists()


def set_value_name(marker: Path):
    def change(content):
        specs = content["graph_module"]["signature"]["input_specs"]
        specs[-1]["constant_input"]["name"] = f"scale={code(marker)}"

    return change


def set_forward_names(marker: Path):
    def change(content):
        content["graph_module"]["module_call_graph"][0]["signature"]["forward_arg_names"] = [
            "x",
            f"scale={code(marker)}",
        ]

    return change


def set_keyword(marker: Path):
    def change(content):
        signature = content["graph_module"]["module_call_graph"][0]["signature"]
        protocol, tree = json.loads(signature["in_spec"])
        tree["children_spec"][1]["context"] = json.dumps([f"scale={code(marker)}"])
        signature["in_spec"] = json.dumps([protocol, tree])
        signature["forward_arg_names"] = None

    return change


def set_text_input(marker: Path):
    def change(content):
        inputs = content["graph_module"]["graph"]["inputs"]
        inputs[-1] = {"as_string": f"' or {code(marker)} or '"}

    return change


@pytest.mark.parametrize("set_to", [set_value_name, set_text_input, set_forward_names, set_keyword])
def test_names_and_texts_that_torch_writes_into_source(set_to, exported, tmp_path):
    marker = tmp_path / "marker"
    path = with_program(exported, tmp_path / "net.pt2", set_to(marker))
    refusal(path)
    assert not marker.exists()
    # They are what they look like: opened by torch itself, the first two run; the others stand in its source as well.
    opened_by_torch(path)
    assert marker.exists() or set_to in (set_forward_names, set_keyword)


def strings(value, path=()):
    """Yields the place of every text and every key in JSON."""
    if isinstance(value, str):
        yield path, None
    elif isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str):
                yield path, key
            yield from strings(each, (*path, key))


def replaced(value, path, key, new):
    """Replaces a text, or a key, in JSON."""
    for each in path[:-1]:
        value = value[each]
    if key is None:
        value[path[-1]] = new
    else:
        holder = value[path[-1]] if path else value
        holder[new] = holder.pop(key)


def test_no_text_and_no_key_of_the_program_may_be_python(exported, tmp_path):
    """Every one of them, replaced by code: refused, or left out."""
    from freeze_engine.models.untrusted.exported_program import RefusedError
    from freeze_engine.models.untrusted.exported_program.rules import write_json
    from freeze_engine.models.untrusted.exported_program.schema import exported_program

    with zipfile.ZipFile(exported) as source:
        (name,) = (each for each in source.namelist() if each.endswith(MODEL))
        data = source.read(name)
    for payload in ("x=__import__('os').getcwd()", 'a"]; evil() #'):
        for path, key in strings(json.loads(data)):
            content = json.loads(data)
            replaced(content, path, key, payload)
            try:
                found = write_json(exported_program(content))
            except RefusedError:
                continue
            assert b"evil" not in found, (path, key)
            assert b"__import__" not in found, (path, key)


@pytest.mark.parametrize(
    "name",
    [
        "torch.ops.aten.from_file.default",
        "torch.ops.aten.save.default",
        "torch.ops.aten.add.__call__",
        "torch.ops.aten.add",
        "torch.ops.aten.nothing.default",
        "torch.ops.aten._print.default",
        "torch.ops.aten.set_.source_Storage",
        "torch.ops.load_library",
        "torch.ops.higher_order.py_impl",
        "torch.ops.higher_order.aoti_call_delegate",
        "torch.ops._c10d_functional.all_reduce.default",
        "torch.ops.inductor._alloc_from_pool.default",
        "torch.hub.load",
        "_operator.attrgetter",
        "_operator.methodcaller",
        "math.__loader__.load_module",
        "torch.ops.aten.relu.default\n",
    ],
)
def test_operators_that_do_more_than_compute(name, exported, tmp_path):
    def change(content):
        content["graph_module"]["graph"]["nodes"][1]["target"] = name

    assert repr(name) in refusal(with_program(exported, tmp_path / "net.pt2", change))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: data + b"{}",
        lambda data: data[:-1] + b', "guards_code": []}',
        lambda data: data.replace(b'"guards_code": [', b'"guards_code": [NaN, ', 1),
        lambda data: data[:-1],
        lambda data: b"[" * 100_000,
        lambda data: data[:-1] + b', "more": {"x": 1}}',
        lambda data: data.replace(b'"kind": 1', b'"kind": ' + b"9" * 5000, 1),
        lambda data: b"[]",
    ],
)
def test_json_that_readers_may_understand_in_two_ways(spoil, exported, tmp_path):
    path = rewritten(exported, tmp_path / "net.pt2", lambda name, data: spoil(data) if name.endswith(MODEL) else data)
    assert "holds " in refusal(path)


@pytest.mark.parametrize(
    "name",
    ["net/models/model.json.so", "net/data/aotinductor/model/a.cpp", "net/other", "other/version", "net/code/a.py"],
)
def test_files_that_torch_does_not_write(name, exported, tmp_path):
    path = rewritten(exported, tmp_path / "net.pt2", lambda name, data: data, (name, b"1"))
    assert "holds " in refusal(path)


def test_weights_without_bytes_are_not_made(exported, tmp_path):
    def change(name: str, data: bytes) -> bytes:
        return b"" if name.endswith("weight_0") else data.replace(b'{"as_int": 4}', b'{"as_int": 4000000000000}')

    assert "without its values" in refusal(rewritten(exported, tmp_path / "net.pt2", change))


def test_another_schema_is_named(exported, tmp_path):
    def change(content):
        content["schema_version"]["major"] = 99

    message = refusal(with_program(exported, tmp_path / "net.pt2", change))
    assert f"written by torch {torch.__version__} with schema 99." in message


def test_torchscript_that_readers_may_understand_in_two_ways(tmp_path):
    path = tmp_path / "net.pt"
    torch.jit.script(nn.Linear(2, 2)).save(str(path))
    assert load_model(str(path), trusted=False).name == "net"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("net/DATA.PKL", b"")
    assert "which a reader may take for the same" in refusal(path)


def saved(value) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def test_plain_values_come_back_as_they_were():
    base = torch.arange(12.0)
    value = (
        [base, base[2:8].reshape(2, 3).t(), torch.ones(0, 3), torch.tensor(2.5, dtype=torch.bfloat16)],
        {"w": nn.Parameter(torch.ones(2)), "n": 3, "t": ("a", None, True, 1.5, torch.Size([1]))},
        OrderedDict(b=torch.tensor([True]), u=torch.ones(2, dtype=torch.uint16), f=torch.ones(1).to(torch.float8_e5m2)),
    )
    found = plain_tensors(saved(value))
    flat, _ = _pytree.tree_flatten(found)
    expected, _ = _pytree.tree_flatten((value[0], {**value[1], "t": ("a", None, True, 1.5, (1,))}, dict(value[2])))
    assert [type(each) for each in flat] == [type(each) for each in expected]
    for one, other in zip(flat, expected, strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
    assert isinstance(found[1]["w"], nn.Parameter)
    assert found[0][1].stride() == (1, 3)
    found[0][0][2] = -1
    assert found[0][1][0, 0] == -1
    assert plain_tensors(saved(nn.Linear(2, 2).state_dict())).keys() == {"weight", "bias"}


@pytest.mark.parametrize(
    "value",
    [
        nn.Linear(2, 2),
        torch.ones(2).to_sparse(),
        torch.ones(2, device="meta"),
        {1.5: 2},
        {"a", "b"},
        b"bytes",
    ],
    ids=lambda value: type(value).__name__,
)
def test_pickle_that_is_not_plain_is_refused(value):
    with pytest.raises(PickleRefusedError):
        plain_tensors(saved(value))


def repickled(old: bytes, new: bytes) -> bytes:
    """Returns a file of `torch.save` of a tensor with its pickle changed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(torch.ones(3)))) as source, zipfile.ZipFile(buffer, "w") as archive:
        for name in source.namelist():
            data = source.read(name)
            assert old in data or not name.endswith("data.pkl")
            archive.writestr(name, data.replace(old, new) if name.endswith("data.pkl") else data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"K\x03t", b"M\x00\x80t"),
        (b"K\x00K\x03\x85", b"K\x01K\x03\x85"),
        (b"K\x00K\x03\x85", b"K\x00J\xff\xff\xff\xff\x85"),
        (b"K\x03\x85", b"M\xff\xff\x85"),
        (b"K\x01\x85", b"K\x07\x85"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n", b"cos\nsystem\n"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch._utils\n_rebuild_wrapper_subclass\n"),
        (b"ctorch\nFloatStorage\n", b"ctorch\nDoubleStorage\n"),
        (b"q\x0b.", b"q\x0b}X\x06\x00\x00\x00offsetK\x09sb."),
        (b"q\x0b.", b"r\xff\xff\xff\x7f."),
        (b"q\x0b.", b"q\x0b.."),
        (b"q\x0b.", b"q\x0b"),
        (b"\x80\x02", b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00"),
    ],
)
def test_changed_pickles_of_tensors_are_refused(old, new):
    with pytest.raises(PickleRefusedError):
        plain_tensors(repickled(old, new))


def test_a_pickle_of_few_bytes_does_not_grow():
    pickled = (
        b"\x80\x02]q\x00"
        + b"".join(b"](h" + bytes([n]) + b"h" + bytes([n]) + b"eq" + bytes([n + 1]) for n in range(60))
        + b"."
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
    with pytest.raises(PickleRefusedError, match="more than"):
        plain_tensors(buffer.getvalue())


def test_other_files_are_no_plain_tensors(tmp_path):
    for data in (pickle.dumps(1), b"", saved(torch.ones(1))[:-3]):
        with pytest.raises((PickleRefusedError, ZipRefusedError)):
            plain_tensors(data)
    legacy = io.BytesIO()
    torch.save(torch.ones(1), legacy, _use_new_zipfile_serialization=False)
    with pytest.raises(ZipRefusedError):
        plain_tensors(legacy.getvalue())


def test_inputs_from_files_are_not_unpickled_by_torch(tmp_path, monkeypatch):
    def no_load(*args, **kwargs):
        raise AssertionError("torch.load")

    monkeypatch.setattr(torch, "load", no_load)
    torch.save(torch.ones(2, 3), tmp_path / "x.pt")
    requests = [parse_input(f"@{tmp_path / 'x.pt'}")]
    assert torch.equal(make_inputs(requests, trusted=False).args[0], torch.ones(2, 3))
    (tmp_path / "x.pt").write_bytes(saved([torch.ones(1)]))
    with pytest.raises(fe.ModelSpecError, match="holds list"):
        make_inputs(requests, trusted=False)
    (tmp_path / "x.pt").write_bytes(saved(nn.Linear(1, 1)))
    with pytest.raises(fe.ModelSpecError, match="cannot be read as a tensor"):
        make_inputs(requests, trusted=False)
