"""Files made to be huge are refused with the place, or read in time in proportion to their size.

Executed lines are counted, not seconds, as in ``test_scaling.py``.
"""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.backends.inductor.kernels.generated_code import calls
from freeze_engine.errors import FreezerError
from freeze_engine.models import file_kind, other_file
from freeze_engine.models.untrusted import plain_pickles, script_archive
from freeze_engine.opening import (
    bounds,
    code_graph,
    compile_debug,
    compile_trace,
    existing_kind,
    frozen_file,
    open_existing,
    remaining,
    structured_log,
)
from freeze_engine.opening.code_graph import CodeError
from freeze_engine.opening.variables import Variables
from tests.executed_lines import counted_lines

_SIZES = (12, 48, 192)
_MOST = 6.0
_SLACK = 2000
_TOP = "__torch__.Top"


def _pickled(value: Any) -> bytes:
    return pickle.dumps(value, protocol=2)


class _Made:
    """Pickles as torch writes an object of a class whose code is in the file."""

    def __init__(self, name: str, **state: Any) -> None:
        self.name, self.state = name, state


_PYTHON_PICKLER: Any = pickle._Pickler  # its methods are not in the type stubs


class _Pickler(_PYTHON_PICKLER):
    """Writes what torch's own pickler writes of a module."""

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        if not isinstance(value, _Made):
            super().save(value, save_persistent_id)
            return
        module, _, name = value.name.rpartition(".")
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.write(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
        super().save(value.state)
        self.write(pickle.BUILD)


def _data(value: Any) -> bytes:
    target = io.BytesIO()
    _Pickler(target, protocol=2).dump(value)
    return target.getvalue()


def _file(folder: Path, code: str, module: Any = None, constants: bytes | None = None) -> Path:
    """Writes a frozen TorchScript file.

    Args:
        folder: to write into.
        code: of the class ``Top``, and of others.
        module: the top module, an empty one by default.
        constants: the pickle of the file's constants.
    """
    path = folder / "made.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("made/data.pkl", _data(_Made(_TOP) if module is None else module))
        archive.writestr("made/constants.pkl", _pickled(()) if constants is None else constants)
        archive.writestr("made/code/__torch__.py", code)
        archive.writestr("made/version", "3\n")
    assert existing_kind(path) == "frozen_file"
    return path


def _method(*lines: str, name: str = "forward") -> str:
    body = "".join(f"    {line}\n" for line in (*lines, "return x"))
    return f"  def {name}(self: __torch__.Top,\n    x: Tensor) -> Tensor:\n{body}"


def _class(*methods: str, fields: str = "", name: str = "Top") -> str:
    return f"class {name}(Module):\n  __parameters__ = []\n  __buffers__ = []\n{fields}{''.join(methods)}"


def _code(*lines: str) -> str:
    return _class(_method(*lines))


def _links(count: int) -> Iterator[str]:
    yield "c0 = torch.relu(1.)"
    yield from (f"c{number} = torch.add(c{number - 1}, 1.)" for number in range(1, count))


def _chain(count: int) -> str:
    return _code(*_links(count))


def _ends(count: int) -> str:
    return _code(*_links(count), *(f"e{number} = torch.mul(c{count - 1}, 2.)" for number in range(count)))


def _gathers(count: int) -> str:
    lists = (f"g{number} = [g{number - 1}, 1]" for number in range(1, count))
    return _code("g0 = [torch.relu(1.)]", *lists, f"y = torch.cat(g{count - 1})")


def _branches(count: int) -> str:
    names = [f"v{number} = torch.relu(x)" for number in range(count)]
    branches = (f"if torch.gt(x, {number}):\n      w = 1\n    else:\n      w = 2" for number in range(count))
    return _code(*names, *branches)


def _loops(count: int) -> str:
    names = [f"v{number} = torch.relu(x)" for number in range(count)]
    return _code(*names, *(f"for i{number} in range(2):\n      v0 = torch.relu(v0)" for number in range(count)))


def _writes(count: int) -> str:
    return _code("a = self.held", *(f"_{number} = torch.add_(a, 1)" for number in range(count)))


def _chained_writes(count: int) -> str:
    return _code("a0 = self.held", *(f"a{number} = torch.add_(a{number - 1}, 1)" for number in range(1, count)))


def _owners(count: int) -> str:
    reads = (f"a{number} = a{number - 1}.m\n    a{number}.y = 1" for number in range(1, count))
    return _code("a0 = self.held", *reads)


def _same_name(count: int) -> str:
    return _code(*("y = torch.relu(x)" for _ in range(count)))


def _methods(count: int) -> str:
    return _class(*(_method("y = torch.relu(x)", name=f"forward{number}") for number in range(count)))


def _dropouts(count: int) -> str:
    return _code("y0 = x", *(f"y{n} = torch.dropout(torch.conv2d(y{n - 1}, y0), 0.5, False)" for n in range(1, count)))


def _batch_norms(count: int) -> str:
    given = ", ".join(["x"] * 4)
    return _code("y = x", *(f"y = torch.batch_norm(y, {given}, False, 0.1, 1e-05, True)" for _ in range(count)))


def _far_from_a_convolution(count: int) -> str:
    way = (f"y = torch.{name}(y)" for name in ("relu", "contiguous") for _ in range(count))
    return _code("y = torch.conv2d(x, x)", *way, *(f"z{number} = torch.mul(y, 2.)" for number in range(count)))


FILES: dict[str, Callable[[int], str]] = {
    "a chain of constants": _chain,
    "many ends of a chain of constants": _ends,
    "lists of lists of constants": _gathers,
    "branches after many variables": _branches,
    "loops after many variables": _loops,
    "writes of one attribute": _writes,
    "writes of what was written": _chained_writes,
    "owners of owners": _owners,
    "one name for all": _same_name,
    "methods": _methods,
    "folds": _dropouts,
    "batch norms": _batch_norms,
    "arithmetic far from a convolution": _far_from_a_convolution,
}


def _steep(make: Callable[[int], Path]) -> tuple[int, ...]:
    """Returns the lines run for the three sizes if they grow faster than the size, nothing otherwise."""
    open_existing(make(2))  # what is worked out once per process
    found = []
    for size in _SIZES:
        path = make(size)
        with counted_lines() as lines:
            open_existing(path)
        found.append(lines[0])
    small, middle, large = found
    return tuple(found) if large - middle > _MOST * (middle - small) + _SLACK else ()


@pytest.mark.parametrize("name", FILES)
def test_four_times_the_code_takes_about_four_times_as_long(name: str, tmp_path: Path) -> None:
    held = _Made(_TOP, held=1)
    assert _steep(lambda size: _file(tmp_path, FILES[name](size), held)) == ()


def test_modules_of_one_class_take_as_long_as_they_are_many(tmp_path: Path) -> None:
    def made(count: int) -> Path:
        fields = "".join(f"  f{number} : int\n" for number in range(count))
        part = _class(_method("y = torch.relu(x)"), name="Part", fields=fields)
        top = _Made(_TOP, **{f"m{number}": _Made("__torch__.Part", f0=1) for number in range(count)})
        return _file(tmp_path, f"{_code()}\n{part}", top)

    assert _steep(made) == ()


def test_a_long_chain_of_views_is_kept_once_however_often_its_end_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remaining, "_MAX_LINKS", 30)
    views = (f"a{number} = torch.view(a{number - 1}, [2])" for number in range(1, 40))
    writes = [f"_{number} = torch.add_(a39, 1)" for number in range(9)]
    (fate,) = open_existing(_file(tmp_path, _code("a0 = self.held", *views, *writes), _Made(_TOP, held=1))).attributes
    assert [len(evidence.chain) for evidence in fate.evidence] == [40]
    short = open_existing(_file(tmp_path, _code("a39 = self.held", *writes), _Made(_TOP, held=1)))
    assert len(short.attributes[0].evidence) == 9


def _record(fields: dict[str, object], payload: str = "") -> str:
    lines = "".join(f"\t{line}\n" for line in payload.split("\n")) if payload else ""
    return f"V1122 18:11:29.883000 24460 torch/x.py:1] {json.dumps(fields)}\n{lines}"


def _graph(*lines: str) -> str:
    body = "".join(f"        {line}\n" for line in (*lines, "return (x,)"))
    return f"class GraphModule(torch.nn.Module):\n    def forward(self, x):\n{body}"


def _log_of_compiles(count: int) -> str:
    settings = "\n".join(f"torch._inductor.config.s{number} = {number}" for number in range(12))
    return "".join(
        _record({"dynamo_output_graph": {}, "frame_id": number}, _graph("y = x.relu()"))
        + _record({"artifact": {"name": "fx_graph_runnable"}, "frame_id": number}, f"# {number}\n{settings}")
        for number in range(count)
    )


def _log_of_settings(count: int) -> str:
    lines = [f"torch._inductor.config.s{number} = {number}" for number in range(count)]
    runnable = "\n".join(lines)
    return "".join(
        _record({"dynamo_output_graph": {}, "frame_id": frame}, _graph("y = x.relu()"))
        + _record({"artifact": {"name": "fx_graph_runnable"}, "frame_id": frame}, f"{runnable}\n# {frame}")
        for frame in range(2)
    )


def _log_of_graphs(count: int) -> str:
    text = "".join(
        _record({f"after_{number}_graph": {}, "frame_id": 0}, _graph("y = x.relu()")) for number in range(count)
    )
    return text + _record({"artifact": {"name": "fx_graph_runnable"}, "frame_id": 0}, "torch._inductor.config.a = 1")


LOGS: dict[str, Callable[[int], str]] = {
    "compiles": _log_of_compiles,
    "settings": _log_of_settings,
    "graphs of one compile": _log_of_graphs,
    "breaks": lambda count: "".join(
        _record({"artifact": {"name": "dynamo_graph_break_reason"}, "frame_id": number}, "a break")
        for number in range(count)
    ),
    "nodes": lambda count: _record(
        {"dynamo_output_graph": {}, "frame_id": 0}, _graph(*(f"y{number} = x.relu()" for number in range(count)))
    ),
    "reads": lambda count: _record(
        {"dynamo_output_graph": {}, "frame_id": 0}, _graph(f"y = torch.cat([{', '.join('x' for _ in range(count))}])")
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_four_times_the_log_takes_about_four_times_as_long(name: str, tmp_path: Path) -> None:
    def made(size: int) -> Path:
        path = tmp_path / "made.log"
        path.write_text(_record({"str": ["a", 0]}) + LOGS[name](size))
        return path

    assert _steep(made) == ()


# -- what is refused


LARGE_CODE: dict[str, tuple[str, str]] = {
    "more words": ("".join("    y = x\n" for _ in range(60)), "code/__torch__.py has more than 100 words and signs"),
    "a long number": (f"    y = 0x{'f' * 5000}\n", r"a number of 20000 bits on line 6"),
    "a long name": (f"    {'y' * 2000} = x\n", r"a name of 2000 characters on line 6"),
    "an f-string": ("    y = f'{x}{x!r}'\n", r"an f-string on line 6"),
}


@pytest.mark.parametrize("name", LARGE_CODE)
def test_code_that_torch_does_not_write_is_refused_with_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (bounds, code_graph):
        monkeypatch.setattr(module, "MAX_TOKENS", 100)
    lines, message = LARGE_CODE[name]
    path = _file(tmp_path, _code().replace("    return x\n", f"{lines}    return x\n"))
    with pytest.raises(FreezerError, match=message):
        open_existing(path)


def test_too_many_methods_and_nodes_are_refused_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frozen_file, "MAX_GRAPHS", 4)
    with pytest.raises(FreezerError, match=r"made\.pt .* more than 4 methods; forward4 is the first beyond"):
        open_existing(_file(tmp_path, _methods(6)))
    monkeypatch.setattr(bounds, "MAX_PARTS", 40)
    with pytest.raises(FreezerError, match=r"made\.pt .*the method forward is too large"):
        open_existing(_file(tmp_path, _chain(30)))


def test_the_methods_of_a_class_count_for_each_of_its_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = _class(_method("y = torch.relu(x)"), name="Part")
    top = _Made(_TOP, **{f"m{number}": _Made("__torch__.Part") for number in range(20)})
    path = _file(tmp_path, f"{_code()}\n{part}", top)
    assert len(open_existing(path).steps) == 21
    monkeypatch.setattr(bounds, "MAX_PARTS", 60)
    with pytest.raises(FreezerError, match=r"the method m\d+\.forward is too large"):
        open_existing(path)


def _nested(depth: int) -> _Made:
    found = _Made(_TOP)
    for _ in range(depth):
        found = _Made(_TOP, m=found)
    return found


LARGE_MODULES: dict[str, tuple[Callable[[], Any], str]] = {
    "nesting": (lambda: _nested(20), r"the module m(\.m)+ is in more than 10 others"),
    "a long name": (lambda: _Made(_TOP, **{"a" * 2000: 1}), r"\(top\) has an attribute with an impossible name"),
    "a long path": (
        lambda: _Made(
            _TOP,
            **{
                "a" * 900: _Made(
                    _TOP,
                    **{
                        "b" * 900: _Made(_TOP, **{"c" * 900: _Made(_TOP, **{"d" * 900: _Made(_TOP, **{"e" * 900: 1})})})
                    },
                )
            },
        ),
        "the path of the attribute a+",
    ),
    "attributes": (lambda: _Made(_TOP, **{f"a{number}": 1 for number in range(50)}), "hold more than 40 attributes"),
    "classes": (lambda: [_Made(f"__torch__.C{number}") for number in range(50)], "more than 40 classes"),
    "a long class name": (lambda: _Made(_TOP, a=_Made(f"__torch__.{'C' * 2000}")), "a class with a name of 2010"),
    "operations": (lambda: _Made(_TOP, a=[0] * 3000), "a pickle of more than 2000 operations"),
}


@pytest.mark.parametrize("name", LARGE_MODULES)
def test_modules_beyond_the_bounds_are_refused_with_their_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frozen_file, "_MAX_OBJECTS", 40)
    monkeypatch.setattr(frozen_file, "MAX_DEPTH", 10)
    monkeypatch.setattr(script_archive, "_MAX_CLASSES", 40)
    monkeypatch.setattr(plain_pickles, "_MOST_OPCODES", 2000)
    make, message = LARGE_MODULES[name]
    module = make()
    if isinstance(module, list):
        module = _Made(_TOP, a=module)
    with pytest.raises(FreezerError, match=f"(?s)made\\.pt.*{message}"):
        open_existing(_file(tmp_path, _code(), module))


# -- what is read in part


def test_logs_of_a_folder_share_the_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured_log, "_MAX_RECORDS", 5)
    for number in range(3):
        text = "".join(_record({"dynamo_output_graph": {}, "frame_id": frame}, _graph()) for frame in range(4))
        (tmp_path / f"dedicated_log_torch_trace_{number}.log").write_text(text)
    trace = open_existing(tmp_path)
    assert len(trace.steps) == 5
    left_out = [notice.message for notice in trace.notices if "is too long" in notice.message]
    assert [text.partition(" is too long: its last ")[2] for text in left_out] == [
        "3 records are left out.",
        "4 records are left out.",
    ]


def test_compiles_graphs_and_notices_beyond_the_bounds_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.log"
    path.write_text(_log_of_compiles(30))
    monkeypatch.setattr(compile_trace, "_MAX_COMPILES", 20)
    monkeypatch.setattr(compile_trace, "MAX_GRAPHS", 15)
    monkeypatch.setattr(bounds, "_MAX_NOTICES", 4)
    trace = open_existing(path)
    assert (len(trace.steps), fe.problems(trace)) == (15, ())
    messages = [notice.message for notice in trace.notices]
    assert messages[0] == "There are 30 compiles; the first 20 are read."
    assert messages[1] == "There are 5 graphs more than the 15 that are read."
    assert messages[-1].endswith(" more facts of the compiles are left out.")


def test_a_graph_beyond_the_budget_is_left_out_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made.log"
    path.write_text(_log_of_graphs(10))
    monkeypatch.setattr(bounds, "MAX_PARTS", 10)
    trace = open_existing(path)
    assert len(trace.steps) == 3
    assert any("after_3_graph of graph 0/0 is too large" in notice.message for notice in trace.notices)


def test_long_lines_and_payloads_are_damaged_and_the_next_record_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structured_log, "_MAX_LINE_BYTES", 2000)
    path = tmp_path / "made.log"
    long = _record({"dynamo_output_graph": {"x": "y" * 5000}, "frame_id": 1}, _graph())
    payload = _record({"dynamo_output_graph": {}, "frame_id": 2, "has_payload": "0" * 32}, "z" * 5000)
    path.write_text(
        _record({"str": ["a", 0]}) + long + payload + _record({"dynamo_output_graph": {}, "frame_id": 3}, _graph())
    )
    found = structured_log.read_log(path)
    assert (found.damaged, [record.frame for record in found.records]) == (2, [3])


def test_generated_code_beyond_the_bounds_is_kept_without_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.log"
    code = "def call(args):\n" + "    extern_kernels.mm(a, b)\n" * 40
    path.write_text(
        _record({"dynamo_output_graph": {}, "frame_id": 0}, _graph())
        + _record({"inductor_output_code": {}, "frame_id": 0}, code)
    )
    assert len(open_existing(path).programs[0].kernels) == 40
    monkeypatch.setattr(bounds, "MAX_TOKENS", 100)
    trace = open_existing(path)
    assert trace.programs[0].kernels == ()
    assert any("too long to look for its kernels" in notice.message for notice in trace.notices)


@pytest.mark.parametrize("code", ["a\0b", "(" * 300 + ")" * 300, "x = " + "-" * 100_000 + "1", "x = ("])
def test_generated_code_that_python_cannot_parse_has_no_calls(code: str) -> None:
    assert calls(code) == ()


# -- links


def _compile_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "fx_graph_readable.py").write_text(_graph("y = x.relu()"))
    return folder


def test_links_out_of_a_debug_folder_are_not_followed(tmp_path: Path) -> None:
    private = _compile_folder(tmp_path / "elsewhere" / "model__9_inference_9.0")
    (private / "output_code.py").write_text("secret = 1\n")
    given = tmp_path / "torch_compile_debug"
    inner = _compile_folder(given / "torchinductor" / "model__0_inference_0.0")
    (inner.parent / "model__1_inference_1.0").symlink_to(private)
    (inner.parent / "model__2_inference_2.0").symlink_to(inner.parent / "model__2_inference_2.0")
    (inner / "output_code.py").symlink_to(private / "output_code.py")
    trace = open_existing(given)
    assert trace.methods == ("model__0_inference",)
    assert trace.programs == ()
    left_out = [notice.message for notice in trace.notices if notice.code == "unread"]
    assert [message.partition(" is left out: ")[0] for message in left_out] == [
        str(inner.parent / "model__1_inference_1.0"),
        str(inner / "output_code.py"),
    ]
    linked = tmp_path / "linked"
    linked.symlink_to(given)
    assert open_existing(linked).methods == ("model__0_inference",)


def test_links_out_of_a_folder_of_logs_are_not_followed(tmp_path: Path) -> None:
    private = tmp_path / "private.log"
    private.write_text(_log_of_graphs(1))
    given = tmp_path / "logs"
    given.mkdir()
    (given / "dedicated_log_torch_trace_1.log").symlink_to(private)
    assert existing_kind(given) is None
    (given / "dedicated_log_torch_trace_2.log").write_text(_log_of_graphs(2))
    assert len(open_existing(given).steps) == 2


def test_files_of_a_debug_folder_share_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        _compile_folder(tmp_path / "torchinductor" / f"model__{number}_inference_{number}.0")
    size = len(_graph("y = x.relu()"))
    monkeypatch.setattr(compile_debug, "MAX_KEPT_BYTES", 2 * size)
    trace = open_existing(tmp_path)
    assert len(trace.methods) == 2
    assert any(notice.message.startswith("1 files are left out") for notice in trace.notices)


# -- the parts


def test_variables_of_a_block_are_as_before_after_it() -> None:
    names = Variables()
    names.update({"a": "1", "b": "2"})
    names.begin()
    names["c"], names["b"], names["a"] = "3", "4", "1"
    names.begin()
    names["c"] = "5"
    assert names.end() == {"c": "5"}
    assert names["c"] == "3"
    assert list(names.end().items()) == [("b", "4"), ("c", "3")]
    assert (names["a"], names["b"], "c" in names) == ("1", "2", False)


TOKENS: dict[str, tuple[str, int]] = {
    "words and signs": ("a = b + c", 5),
    "a string is one": ("a = 'b c d'", 3),
    "a comment is none": ("a  # b c d\nb", 2),
    "a string over lines is one": ('a = """b\nc "d" e\n"""\nf', 4),
    "an escaped quote ends no string": (r"a = 'b\'c d'", 3),
    "a continued string is one": ("a = 'b\\\n c d'", 3),
    "a carriage return ends a comment": ("# a\rb c", 2),
    "where there is an f-string every word counts": ("f'{a + b}' + 'c d'", 13),
}


@pytest.mark.parametrize("name", TOKENS)
def test_words_and_signs_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, count = TOKENS[name]
    monkeypatch.setattr(bounds, "MAX_TOKENS", count - 1)
    assert bounds.has_many_tokens(text)
    monkeypatch.setattr(bounds, "MAX_TOKENS", count)
    assert not bounds.has_many_tokens(text)


def test_a_text_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_graph, "MAX_TEXT_BYTES", 10)
    with pytest.raises(CodeError, match="it has 11 characters"):
        code_graph.parsed("a" * 11, "it")


@pytest.mark.parametrize("comment", [b"", b"other readers find another directory"])
def test_directory_beyond_the_bounds_is_not_read(
    comment: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = comment
        for name in ("a/data.pkl", "a/constants.pkl", *(f"a/data/{number}" for number in range(100))):
            archive.writestr(name, b"")
    assert file_kind(path) == "torchscript"
    monkeypatch.setattr("freeze_engine.models.untrusted.strict_zip._LONGEST_DIRECTORY_BYTES", 1000)
    monkeypatch.setattr("freeze_engine.models.untrusted.zip_names.MAX_DIRECTORY_BYTES", 1000)
    assert file_kind(path) is None
    assert existing_kind(path) is None
    assert "damaged" in other_file(path).what
