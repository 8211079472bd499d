"""The parameters of a model, the input that is suggested for each, and one call on these."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, Optional

import pytest
import torch
from torch import nn
from torch.export import Dim

from freeze_engine import Inputs
from freeze_engine.errors import ModelSpecError
from freeze_engine.models import CallFix, LoadedModel, ModelParameter
from freeze_engine.models.binding import check_binding
from freeze_engine.models.inspection import parameters_of
from freeze_engine.models.signature.program_arguments import argument_kinds
from freeze_engine.models.signature.unwritable import is_unwritable
from freeze_engine.models.trial.call import output_text, try_call


class Two(nn.Module):
    """Takes words and a picture, and has optional parameters of several types."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 8)
        self.linear = nn.Linear(8, 5)
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, ids, image: torch.Tensor, scale: float = 1.0, mask: Optional[torch.Tensor] = None):  # noqa: UP045
        words = self.linear(self.embedding(ids)).sum(1)
        return words, self.norm(self.conv(torch.relu(image / 2))) * scale


class Needs(nn.Module):
    """Needs plain values."""

    def forward(self, x: torch.Tensor, count: int, factor: float, flag: bool) -> torch.Tensor:
        return x * count * factor if flag else x


class Digits(nn.Module):
    """Takes pictures of one size only, which no operator tells."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 5, stride=2)
        self.linear = nn.Linear(2 * 14 * 14, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.conv(x).flatten(1))


def scripted(module: nn.Module) -> torch.jit.ScriptModule:
    """The module, scripted, saved and loaded again, as from a file."""
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(module.eval()), buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


def loaded(module: Any, inputs: Inputs | None = None, **more: Any) -> LoadedModel:
    return LoadedModel(module, inputs, "model", **more)


def suggested(module: nn.Module) -> list[str | None]:
    found = parameters_of(loaded(scripted(module)))
    assert found is not None
    return [each.input for each in found]


def test_a_scripted_module():
    guess = "a guess from {}, which uses it first"
    assert parameters_of(loaded(scripted(Two()))) == (
        ModelParameter(
            "ids", "Tensor", True, input="1x16:int64:0..100", source="operator", note=guess.format("embedding")
        ),
        ModelParameter("image", "Tensor", True, input="1x3x224x224", source="operator", note=guess.format("conv2d")),
        ModelParameter("scale", "float", False, "1.0"),
        ModelParameter("mask", "Optional[Tensor]", False, "None"),
    )
    plain = parameters_of(loaded(scripted(Needs())))
    assert plain is not None
    assert [(each.name, each.type, each.input, each.source) for each in plain] == [
        ("x", "Tensor", None, ""),
        ("count", "int", "int:1", "type"),
        ("factor", "float", "float:1.0", "type"),
        ("flag", "bool", "bool:false", "type"),
    ]


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), "1x784"),
        (nn.Sequential(nn.ReLU(), nn.Dropout(), nn.Conv1d(4, 2, 3)), "1x4x128"),
        (nn.Conv2d(8, 4, 3, groups=4), "1x8x32x32"),
        (nn.Conv2d(1, 4, 3), "1x1x28x28"),
        (nn.ConvTranspose2d(6, 4, 3), "1x6x32x32"),
        (nn.Conv3d(2, 4, 3), "1x2x16x32x32"),
        (nn.LayerNorm(12), "1x16x12"),
        (nn.Identity(), None),
    ],
)
def test_first_operator_gives_the_sizes(module, text):
    assert suggested(module)[0] == text
    # Tracing writes other operators, and freezing makes constants of the weights.
    example = torch.zeros([int(size) for size in (text or "1x2").split("x")])
    traced = torch.jit.trace(module.eval(), example)
    assert [each.input for each in parameters_of(loaded(traced)) or ()] == [text]
    frozen = torch.jit.freeze(torch.jit.script(module.eval()))
    if text is not None:
        first, *_ = parameters_of(loaded(frozen)) or ()
        assert first.input == text
        assert try_call(loaded(traced), [text], None).failure is None  # the guess is one that runs


def test_an_exported_program_has_its_own_sizes():
    sizes = {"ids": {0: Dim("batch", max=8)}, "image": None}
    given = (torch.tensor([[3, 7], [1, 4]]), torch.zeros(1, 3, 8, 8))
    module = torch.export.export(Two().eval(), given, dynamic_shapes=sizes).module()
    example = (
        ModelParameter(
            "ids",
            "Tensor",
            True,
            input="2x2:int64:0..8",
            source="example",
            note="from the model's own example; size 0 may differ",
        ),
        ModelParameter("image", "Tensor", True, input="1x3x8x8", source="example", note="from the model's own example"),
    )
    assert parameters_of(loaded(module, Inputs(given), via="trace")) == example
    without = parameters_of(loaded(module, via="trace"))
    assert without is not None
    assert [(each.input, each.source, each.note) for each in without] == [
        ("2x2:int64", "program", "from the program; size 0 may differ"),
        ("1x3x8x8", "program", "from the program"),
    ]
    keywords = torch.export.export(Two().eval(), given[:1], {"image": given[1]}).module()
    inputs = Inputs(given[:1], {"image": given[1]})
    found = parameters_of(loaded(keywords, inputs, via="trace"))
    assert found is not None
    assert [each.is_keyword for each in found] == [False, True]
    failed = try_call(loaded(keywords, inputs, via="trace"), ["2x2:int64", "1x3x8x8"], found).failure
    assert failed is not None
    assert failed.fixes == (CallFix("Pass it as image", ("2x2:int64", "image=1x3x8x8")),)
    assert try_call(loaded(keywords, via="trace"), failed.fixes[0].inputs, found).failure is None


def test_a_python_signature():
    class Anything(nn.Module):
        def forward(self, *args, **kwargs):
            return args

    class Keyword(nn.Module):
        def forward(self, x: "torch.Tensor", *, names: list[str] = ["a"]):  # noqa: B006, UP037
            return x

    assert parameters_of(loaded(Anything(), via="trace")) is None
    assert parameters_of(loaded(Keyword(), Inputs((torch.zeros(2, 2),)), via="trace")) == (
        ModelParameter("x", "Tensor", True, input="2x2", source="example", note="from the model's own example"),
        ModelParameter("names", "list[str]", False, "['a']", True),
    )
    nested = parameters_of(loaded(Keyword(), Inputs(([torch.zeros(2)],)), via="trace"))
    assert nested is not None
    assert (nested[0].input, nested[0].note) == (None, "the model's own example, list with 1 tensors, has no text")


def test_a_call_that_runs():
    found = try_call(loaded(scripted(Two())), ["2x16:int64:0..100", "1x3x8x8"], None)
    assert (found.output, found.failure, found.error) == ("(2×5 float32, 1×4×6×6 float32)", None, "")
    assert found.duration_ns > 0


def test_a_call_that_fails_is_mended_by_its_fixes():
    """Each fix leads to another failure or to a call that runs; from nothing at all, only by buttons."""
    for make in (scripted, lambda module: module.eval()):
        model = loaded(make(Two()))
        parameters = parameters_of(model)
        texts: tuple[str, ...] = ("1x16", "1x1x8x8:float64")
        failures = []
        while (trial := try_call(model, texts, parameters)).failure is not None:
            failures.append(trial.where)
            assert trial.failure.fixes, trial
            texts = trial.failure.fixes[0].inputs
            assert len(failures) < 9
        assert texts == ("1x16:int64:0..100", "1x3x8x8")
        assert [where.partition(",")[0] for where in failures] == ["in embedding", "in conv2d", "in conv2d"]
        assert [where.partition(" of ")[2] for where in failures] == ["test_signature.py"] * 3


def test_a_size_that_runs_is_looked_for():
    model = loaded(scripted(Digits()))
    parameters = parameters_of(model)
    found = try_call(model, ["2x3x224x224"], parameters)
    assert found.failure is not None
    assert found.failure.fixes[0] == CallFix("Use 2x3x32x32, which runs", ("2x3x32x32",))


def test_output_text_describes_nested_results():
    assert output_text({"a": torch.zeros(2), "b": [torch.zeros(()), 3, None, "x", 5]}) == (
        "{a: 2 float32, b: (one float32, 3, None, str, …)}"
    )
    assert len(output_text([[torch.zeros(1, 2, 3)] * 4] * 4)) <= 200


class Batch(nn.Module):
    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return batch["x"].relu()


class Several(nn.Module):
    def forward(self, xs: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat(xs)


class Mode(nn.Module):
    def forward(self, x: torch.Tensor, mode: str) -> torch.Tensor:
        return x.relu() if mode == "relu" else x[mode]


class Attributes(nn.Module):
    def forward(self, point) -> torch.Tensor:
        return point.left + point.right


class More(nn.Module):
    def forward(self, x: torch.Tensor, *rest: torch.Tensor, **options: Any) -> torch.Tensor:
        return x.relu()


class Nothing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self) -> torch.Tensor:
        return self.weight * 2


@pytest.mark.parametrize(
    ("module", "texts", "name", "takes"),
    [
        (Batch(), ["1x4"], "batch", "dict[str, Tensor]"),
        (Several(), ["1x4"], "xs", "list[Tensor]"),
        (Mode(), ["1x4", "1x4"], "mode", "str"),
    ],
)
def test_an_input_that_cannot_be_written_names_the_way_out(
    module: nn.Module, texts: list[str], name: str, takes: str
) -> None:
    model = loaded(module.eval())
    parameters = parameters_of(model)
    failure = try_call(model, texts, parameters).failure
    assert failure is not None
    assert (failure.parameter, failure.at, failure.fixes) == (name, len(texts) - 1, ())
    assert failure.message.startswith(
        f"{name} takes {takes}, and inputs here are tensors and numbers only. Write a func"
    )
    (parameter,) = (each for each in parameters or () if each.name == name)
    assert ("Write a function that returns the model and its inputs" in parameter.note) == bool(parameter.type)


class OwnList(nn.Module):
    def forward(self, xs: list[torch.Tensor]) -> torch.Tensor:
        raise RuntimeError("the table of positions has 512 rows. " * 9 + "Give fewer.")


def test_a_type_that_cannot_be_written_does_not_hide_the_error_of_the_call() -> None:
    model = loaded(OwnList().eval())
    trial = try_call(model, ["1x4"], parameters_of(model))
    assert trial.failure is not None
    assert (
        " as the model. The call failed with: RuntimeError: the table of positions has 512 rows."
        in trial.failure.message
    )
    assert trial.error.endswith("Give fewer.")


def test_inputs_that_a_model_brings_are_not_refused_for_their_type() -> None:
    model = loaded(OwnList().eval(), Inputs(([torch.ones(1, 4)],)))
    failure = try_call(model, [], parameters_of(model)).failure
    assert failure is not None
    assert failure.message.startswith("RuntimeError: the table of positions has 512 rows.")


def _tree(kind: type | None, *parts: Any, context: Any = None) -> Any:
    return SimpleNamespace(type=kind, context=context, children_specs=list(parts))


@pytest.mark.parametrize(("names", "count"), [(["scale", "y"], 1), (["scale", "scale"], 2), (None, 1), ([], 1)])
def test_a_program_whose_keywords_contradict_each_other_is_refused(names: list[str] | None, count: int) -> None:
    args, kwargs = _tree(tuple, _tree(None)), _tree(dict, *[_tree(None)] * count, context=names)
    module = SimpleNamespace(_in_spec=_tree(tuple, args, kwargs))
    with pytest.raises(ModelSpecError, match=r"keyword inputs, and names them as .*; export it again"):
        argument_kinds(module)


def test_attribute_that_no_tensor_has_may_be_that_of_an_object() -> None:
    model = loaded(Attributes().eval())
    failure = try_call(model, ["1x4"], parameters_of(model)).failure
    assert failure is not None
    assert (failure.parameter, failure.at, failure.fixes) == ("point", 0, ())
    assert failure.message.startswith("a tensor has no attribute left. If point is to be an object that has it: inputs")


@pytest.mark.parametrize(
    ("declared", "is_so"),
    [
        ("Dict[str, int | float]", True),
        ("list[Tensor | None]", True),
        ("Union[Dict[str, Tensor], List[Tensor]]", True),
        ("typing.Optional[typing.List[int]]", True),
        ("dict[str, Tensor] | None", True),
        ("Tensor | list[Tensor]", False),
        ("Union[List[Tensor], Tensor]", False),
        ("Optional[Tensor]", False),
        ("None", False),
        ("", False),
        ("Stringed", False),
    ],
)
def test_type_that_no_input_can_have_is_known(declared: str, is_so: bool) -> None:
    assert is_unwritable(declared) is is_so


def test_a_command_does_not_ask_for_an_input_that_cannot_be_written() -> None:
    with pytest.raises(ModelSpecError) as refused:
        check_binding(loaded(Mode().eval()), Inputs((torch.ones(1, 4),)), ("1x4",))
    assert str(refused.value).startswith("model: mode takes str, and inputs here are tensors and numbers only. ")
    assert "--input mode" not in str(refused.value)


def test_parameters_beside_any_number_of_others_are_known() -> None:
    (only,) = parameters_of(loaded(More().eval())) or ()
    assert (only.name, only.type, only.is_required) == ("x", "Tensor", True)


def test_a_model_without_inputs_is_called_as_it_is() -> None:
    model = loaded(Nothing().eval())
    assert parameters_of(model) == ()
    assert try_call(model, (), ()).output == "3 float32"


class Structured(nn.Module):
    def forward(self, x: torch.Tensor, more: dict[str, torch.Tensor], *, factor: int = 2) -> torch.Tensor:
        return x + more["a"] * factor


def test_structures_and_keywords_of_an_exported_program_are_known() -> None:
    x, size = torch.ones(3, 4), Dim("size", min=2, max=64)
    shapes = {"x": {0: size}, "more": {"a": {0: size}}, "factor": None}
    program = torch.export.export(Structured(), (x, {"a": x}), {"factor": 3}, dynamic_shapes=shapes)
    x_, more, factor = parameters_of(loaded(program.module(), via="trace")) or ()
    assert (x_.input, x_.note) == ("3x4", "from the program; size 0 may differ")
    assert (more.type, more.input) == ("dict", None)
    assert (factor.is_keyword, factor.input) == (True, "int:3")
