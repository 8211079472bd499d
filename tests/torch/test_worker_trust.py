"""Files from somebody else: what a process that does not trust them opens, and what it refuses, without running it."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.worker import JobEnded, RecordingProcess, RecordRequest, inspect_model


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return torch.relu(self.norm(self.linear(x))).reshape(x.shape[0] * 3, -1)


class Payload:
    """Unpickling it makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return (Path.touch, (self.marker,))


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "net.pt2"
    sizes = torch.export.Dim("n", min=2, max=64)
    program = torch.export.export(Net().eval(), (torch.ones(8, 4),), dynamic_shapes=({0: sizes},))
    torch.export.save(program, path)
    return path


def changed(exported: Path, path: Path, **changes) -> str:
    """Copies an exported program with some members changed, named by the ends of their names, ``_`` for ``.``."""
    with zipfile.ZipFile(exported) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            matching = (change for end, change in changes.items() if name.replace(".", "_").endswith(end))
            data = source.read(name)
            target.writestr(name, next(matching, bytes)(data))
    return str(path)


def replaced(old: str, new: str):
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode())

    return change


def ran(marker: Path) -> str:
    return f"__import__('pathlib').Path('{marker}').touch()"


def refused(spec: str) -> str:
    """Returns why a file is refused, where no sandbox would keep what it does from this machine."""
    with pytest.raises(fe.ModelSpecError) as caught:
        inspect_model(spec, trusted=False, sandbox=False)
    return str(caught.value)


def pickled(marker: Path) -> bytes:
    buffer = io.BytesIO()
    torch.save((Payload(marker), {}), buffer)
    return buffer.getvalue()


def test_an_honest_file_is_opened(exported, tmp_path):
    summary = inspect_model(str(exported), trusted=False)
    assert (summary.name, summary.via, summary.inputs, summary.training) == ("net", "trace", ("8x4",), False)
    request = RecordRequest(str(exported), tmp_path / "net.fztrace", trusted=False, measure=fe.Measure(latency=False))
    process = RecordingProcess(request, lambda event: None)
    process.start()
    assert process.wait().outcome == "finished"
    assert fe.load(tmp_path / "net.fztrace").steps[-1].numerics


def test_an_operator_by_any_other_name_is_refused(exported, tmp_path):
    change = replaced("torch.ops.aten.relu.default", "torch.os.system")
    spec = changed(exported, tmp_path / "net.pt2", model_json=change)
    message = refused(spec)
    assert "the operator 'torch.os.system'" in message
    process = RecordingProcess(RecordRequest(spec, tmp_path / "a.fztrace", trusted=False), lambda event: None)
    process.start()
    ended = process.wait()
    assert ended == JobEnded(
        "failed", None, message, "loading the model", error=message, traceback=ended.traceback, is_refusal=True
    )


def test_sizes_that_are_code_are_refused(exported, tmp_path):
    marker = tmp_path / "marker"

    def change(data: bytes) -> bytes:
        content = json.loads(data)
        text = json.dumps(content)
        old = next(each for each in text.split('"expr_str": ')[1:])
        found = json.JSONDecoder().raw_decode(old)[0]
        return text.replace(json.dumps(found), json.dumps(ran(marker))).encode()

    spec = changed(exported, tmp_path / "net.pt2", model_json=change)
    assert "which is more than arithmetic" in refused(spec)
    assert not marker.exists()
    # It is what it looks like: torch itself runs it.
    with pytest.raises(Exception):  # noqa: B017, PT011
        torch.export.load(spec)
    assert marker.exists()


def test_guards_that_are_code_are_refused(exported, tmp_path):
    marker = tmp_path / "marker"

    def change(data: bytes) -> bytes:
        content = json.loads(data)
        assert "guards_code" in content
        return json.dumps(content | {"guards_code": [ran(marker)]}).encode()

    spec = changed(exported, tmp_path / "net.pt2", model_json=change)
    assert "which is more than arithmetic" in refused(spec)
    assert not marker.exists()


def test_custom_objects_are_refused(exported, tmp_path):
    marker = tmp_path / "marker"
    constant = {"path_name": "opaque_obj_0", "is_param": False, "use_pickle": True, "tensor_meta": None}
    config = json.dumps({"config": {"c": constant}}).encode()
    spec = changed(exported, tmp_path / "net.pt2", model_constants_config_json=lambda _: config)
    with zipfile.ZipFile(spec, "a") as archive:
        archive.writestr("net/data/constants/opaque_obj_0", pickle.dumps(Payload(marker)))
    assert "'opaque_obj_0', which is pickled and no tensor" in refused(spec)
    assert not marker.exists()


def pickled_weight(data: bytes) -> bytes:
    config = json.loads(data)
    next(iter(config["config"].values())).update(path_name="weight_0", use_pickle=True)
    return json.dumps(config).encode()


@pytest.mark.parametrize("member", ["sample_inputs/model_pt", "weights/weight_0"])
def test_pickles_in_place_of_tensors_are_not_opened(member, exported, tmp_path):
    marker = tmp_path / "marker"
    changes = {member: lambda _: pickled(marker)}
    if "weight" in member:
        changes["model_weights_config_json"] = pickled_weight
    spec = changed(exported, tmp_path / "net.pt2", **changes)
    assert "holds something pickled that is not a tensor" in refused(spec)
    assert not marker.exists()
    # It is what it looks like: trusted, torch unpickles it.
    with pytest.raises(fe.ModelSpecError):
        inspect_model(spec)
    assert marker.exists()


def test_compiled_code_is_refused(exported, tmp_path):
    spec = changed(exported, tmp_path / "net.pt2")
    with zipfile.ZipFile(spec, "a") as archive:
        archive.writestr("net/data/aotinductor/model/wrapper.so", b"ELF")
    assert "compiled code" in refused(spec)


def test_file_that_is_not_a_program_is_refused(tmp_path):
    marker = tmp_path / "marker"
    (tmp_path / "net.pkl").write_bytes(pickle.dumps(Payload(marker)))
    torch.save(Payload(marker), tmp_path / "net.pt")
    assert "is a pickle" in refused(str(tmp_path / "net.pkl"))
    assert "is a pickle" in refused(str(tmp_path / "net.pt"))
    assert "names code to import" in refused("tests.torch.worker_models:plain")
    assert not marker.exists()
