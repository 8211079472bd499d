"""Files that hold a module which was frozen before it was saved."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.backends.inductor.kernels import generated_code
from freeze_engine.errors import FreezerError
from freeze_engine.models import file_kind
from freeze_engine.opening import existing_kind, open_existing
from freeze_engine.opening.code_graph import UNREAD, parsed
from freeze_engine.opening.remaining import ConstantChains, constant_chains
from freeze_engine.opening.script_code import method_graph
from freeze_engine.trace import Constant, GraphSnapshot, Node, Value
from tests.existing import FROZEN
from viewer.cli import main

CODE = "code/__torch__/___torch_mangle_0.py"


@pytest.fixture(scope="module")
def trace() -> fe.Trace:
    return open_existing(FROZEN)


def test_frozen_file_gives_one_step_and_runs_nothing(trace: fe.Trace) -> None:
    assert (file_kind(FROZEN), existing_kind(FROZEN)) == ("frozen", "frozen_file")
    assert fe.problems(trace) == ()
    (step,) = trace.steps
    assert (trace.origin, step.stage, step.method, step.executable) == ("frozen_file", "input", "forward", False)
    operations = [node.op for node in step.graph.walk() if not node.op.startswith("prim::Constant")]
    assert operations == [
        *("prim::GetAttr", "aten::view", "aten::add_", "prim::GetAttr", "aten::add", "prim::SetAttr"),
        *("aten::conv2d", "aten::batch_norm", "aten::relu", "prim::If", "aten::mul", "aten::size", "prim::Loop"),
        *("aten::add", "aten::rand", "aten::add", "prim::TupleConstruct"),
    ]
    assert fe.loads(fe.dumps(trace)) == trace


def test_frozen_file_opens_without_torch() -> None:
    code = f"import sys; from freeze_engine.opening import open_existing; open_existing({str(FROZEN)!r})"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True)


def test_constants_and_remaining_attributes_have_reasons(trace: fe.Trace) -> None:
    constants = [node.constant for node in trace.steps[0].graph.walk() if node.constant is not None]
    assert [(each.shape, each.dtype, each.nbytes) for each in constants] == [
        ((4, 3, 3, 3), "float32", 432),
        *[((4,), "float32", 16)] * 3,
    ]
    assert trace.steps[0].constant_bytes == 432 + 3 * 16
    fates = {fate.path: (fate.kind, fate.fate, fate.reason) for fate in trace.attributes}
    assert fates == {
        "calls": ("attribute", "preserved", "set_in_method"),
        "seen": ("buffer", "preserved", "mutated_in_place"),
        "version": ("attribute", "preserved", "unknown"),
    }
    seen = trace.attribute("seen")
    assert seen is not None
    assert [link.op for link in seen.evidence[0].chain] == ["aten::view", "prim::GetAttr"]
    assert [(miss.kind, miss.reason) for miss in trace.near_misses] == [("conv_bn", "unknown")]
    assert "optimize_numerics=False" in trace.near_misses[0].detail


def test_verdict_claims_nothing_that_was_not_run(trace: fe.Trace) -> None:
    summary = fe.summarize(trace)
    assert summary.frozen is None
    assert summary.sentence == (
        "Read from a frozen TorchScript file: forward has 15 operations and 4 constant tensors (480 B); 3 attributes "
        "remain, calls because a method writes it; 1 possible fold did not happen; nothing of it was run, so its "
        "passes, times and outputs are not known."
    )


def test_command_line_reads_frozen_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["record", str(FROZEN), "-o", "read.fztrace"]) == 0
    said = capfd.readouterr()
    assert said.out.startswith("read.fztrace: Read 1 step.\nRead from a frozen TorchScript file: ")
    assert "nothing of it was run or measured" in said.err
    assert fe.load("read.fztrace").call == f"freezer-ui record {FROZEN} -o read.fztrace"
    assert main(["check", "read.fztrace", "--expect-folded", "conv_bn"]) == 1
    assert capfd.readouterr().out.startswith("cannot tell: conv_bn folded\n")


def test_recording_one_in_python_gives_its_trace_and_no_module() -> None:
    recording = fe.record(FROZEN)
    assert recording.module is None
    assert (recording.trace.origin, recording.trace.name) == ("frozen_file", "frozen")


def _graph(code: str) -> GraphSnapshot:
    (method,) = parsed(code, "code").body
    return method_graph(method, {"c0": Constant((2,), "float32", "cpu", 8)})  # type: ignore[arg-type]


def test_branch_yields_what_both_sides_assign() -> None:
    graph = _graph(
        "def forward(self, x: Tensor) -> Tensor:\n  if torch.gt(x, 0):\n    y = x\n    z = 1\n"
        "  else:\n    y = CONSTANTS.c0\n  return torch.add(y, 1)\n"
    )
    branch = next(node for node in graph.nodes if node.op == "prim::If")
    assert [value.name for value in branch.outputs] == ["y"]
    assert [block.outputs for block in branch.blocks] == [("x",), ("c0",)]


def test_unknown_statements_are_shown_as_text() -> None:
    graph = _graph("def forward(self, x: Tensor):\n  del x\n  return (lambda: 1)\n")
    assert [node.attribute("code") for node in graph.nodes if node.op == UNREAD] == ["del x", "lambda: 1"]


def test_chains_of_constants_are_found() -> None:
    held = Node("w", "prim::Constant", (), (Value("w", "Tensor"),))
    first = Node("a", "aten::dequantize", ("w",), (Value("a", "Tensor"),))
    second = Node("b", "aten::mul", ("a", "w"), (Value("b", "Tensor"),))
    random = Node("r", "aten::rand_like", ("w",), (Value("r", "Tensor"),))
    used = Node("y", "aten::mul", ("x", "b"), (Value("y", "Tensor"),))
    graph = GraphSnapshot((Value("x", "Tensor"),), (held, first, second, random, used), ("y", "r"))
    assert constant_chains(graph) == ConstantChains(2, (second,))


def _changed(target: Path, member: str, change: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(FROZEN) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info.filename, change(data) if info.filename == f"frozen/{member}" else data)
    return target


class _Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('it ran')",)


HOSTILE: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a pickle that calls something": ("constants.pkl", lambda data: pickle.dumps(_Runs(), protocol=2)),
    "a pickle of something else": ("constants.pkl", lambda data: pickle.dumps([1, 2], protocol=2)[:-1] + b"N."),
    "a pickle that ends early": ("constants.pkl", lambda data: data[: len(data) // 2]),
    "a later protocol": ("constants.pkl", lambda data: pickle.dumps([1], protocol=4)),
    "code that is no Python": (CODE, lambda data: data.replace(b"  def forward", b"  def forward(", 1)),
    "code that nests deeply": (
        CODE,
        lambda data: data.replace(b"torch.relu(_2)", b"torch.relu(" * 190 + b"_2" + b")" * 190),
    ),
    "code that nests more deeply than Python parses": (
        CODE,
        lambda data: data.replace(b"torch.relu(_2)", b"torch.relu(" * 5000 + b"_2" + b")" * 5000),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    path = _changed(tmp_path / "hostile.pt", *HOSTILE[name])
    assert existing_kind(path) == "frozen_file"
    with pytest.raises(FreezerError, match=r"hostile\.pt|code/__torch__"):
        open_existing(path)


def test_file_cut_short_is_not_taken_for_a_frozen_one(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pt"
    cut.write_bytes(FROZEN.read_bytes()[:-30])
    assert existing_kind(cut) is None


def test_setstate_of_the_file_is_not_run(tmp_path: Path) -> None:
    own = b'  def __setstate__(self, state: int) -> NoneType:\n    ops.prim.RaiseException("ran")\n'
    path = _changed(tmp_path / "own.pt", CODE, lambda data: data + own)
    assert [step.method for step in open_existing(path).steps] == ["forward", "__setstate__"]


def test_every_cut_of_the_file_is_refused_or_read(tmp_path: Path) -> None:
    whole = FROZEN.read_bytes()
    for position in range(0, len(whole), 97):
        path = tmp_path / "bad.pt"
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        with suppress(FreezerError):
            found = existing_kind(path) and open_existing(path)
            assert not found or fe.problems(found) == ()


def test_python_warns_of_no_text_of_others(recwarn: pytest.WarningsRecorder) -> None:
    """Python warns of ``1if`` and ``"\\d"`` while it parses; the user wrote neither."""
    parsed('def forward(self, x: Tensor):\n  y = 1if x else "\\d"\n  return y\n', "code")
    assert generated_code.calls('y = 1if x else "\\d"\n') == ()
    assert recwarn.list == []
