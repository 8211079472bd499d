from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch

from freeze_engine.errors import MeasureError
from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.numerics import NumericsOptions, in_float64, measure_numerics
from freeze_engine.measure.outputs import Leaf, compare_outputs, leaves
from freeze_engine.trace import Numerics, OutputError

INF, NAN = math.inf, math.nan
ONE = torch.ones(1)


class ConvBn(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.bn = torch.nn.BatchNorm2d(4)
        self.bn.running_var.copy_(torch.tensor([0.1, 0.7, 1.9, 3.3]))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": self.bn(self.conv(x))}


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


@dataclasses.dataclass
class Result:
    hidden: list[torch.Tensor]
    loss: float


class Layer:
    """As transformers keeps a layer's keys: a plain object, with bookkeeping beside the tensors."""

    def __init__(self, keys: torch.Tensor) -> None:
        self.keys, self.dtype, self.owner = keys, keys.dtype, object()


class Cache:
    """As transformers keeps all layers'; it knows itself, too."""

    def __init__(self, *keys: torch.Tensor) -> None:
        self.layers, self.offloading, self.itself = [Layer(each) for each in keys], object(), self


def frozen(module: torch.nn.Module) -> Any:
    return torch.jit.freeze(torch.jit.script(module.eval()))


def numerics_of(call: Callable[..., object], eager: torch.nn.Module, *args: object, **kwargs: Any) -> Any:
    options = NumericsOptions(**kwargs)
    return measure_numerics([Candidate(0, call)], eager, args, {}, options).numerics[0]


def against(actual: object, expected: object) -> Numerics:
    return compare_outputs(actual, expected, "eager")


def exact(output: str = "0", ulp: float | None = 0.0) -> OutputError:
    return OutputError(output, 0.0, 0.0, INF, 0, True, ulp)


def test_a_folded_batch_norm_is_close_to_both_references() -> None:
    torch.manual_seed(0)
    eager = ConvBn().eval()
    same, double = numerics_of(frozen(eager), eager, torch.randn(2, 3, 8, 8))
    for numerics, reference in ((same, "eager"), (double, "float64")):
        assert (numerics.reference, numerics.error, numerics.close) == (reference, None, True)
        (output,) = numerics.outputs
        assert output.output == "logits"
        assert output.nonfinite == 0
    assert 0 < double.outputs[0].max_abs < 1e-4
    assert 80 < double.outputs[0].sqnr_db < 200


def test_bfloat16_is_far_from_float64_and_equal_to_itself() -> None:
    torch.manual_seed(0)
    eager = torch.nn.Linear(64, 64).bfloat16().eval()
    same, double = numerics_of(eager, eager, torch.randn(8, 64, dtype=torch.bfloat16))
    assert same == Numerics("eager", (exact(),))
    assert double.outputs[0].max_abs > 1e-3
    assert 20 < double.outputs[0].sqnr_db < 60


def test_the_figures_are_those_of_the_formulas() -> None:
    actual, expected = torch.tensor([1.0, 2.5, 0.25, 4.0]), torch.tensor([1.0, 2.0, 0.0, 4.0])
    sqnr = 10 * math.log10((1 + 4 + 16) / (0.5**2 + 0.25**2))
    assert against(actual, expected).outputs == (
        OutputError("0", 0.5, 0.25, pytest.approx(sqnr), 0, False, 0x3E800000),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("actual", "expected", "error"),
    [
        ([NAN, 1.0], [NAN, 1.0], exact()),
        ([INF, -INF], [INF, -INF], exact()),
        ([NAN, 1.0], [2.0, 1.0], OutputError("0", INF, INF, -INF, 1, False, INF)),
        ([INF, 1.0], [-INF, 1.0], OutputError("0", INF, INF, -INF, 1, False, INF)),
        ([2.0, 1.0], [NAN, 1.0], OutputError("0", INF, INF, -INF, 0, False, INF)),
        ([1.0, 0.0], [0.0, 0.0], OutputError("0", 1.0, 0.0, -INF, 0, False, 0x3F800000)),
        ([0.0], [0.0], exact()),
        ([], [], exact()),
    ],
)
def test_non_finite_and_empty_outputs(actual: list[float], expected: list[float], error: OutputError) -> None:
    assert against(torch.tensor(actual), torch.tensor(expected)) == Numerics("eager", (error,))


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int64, torch.uint16, torch.float16, torch.complex64, torch.float8_e4m3fn],
)
def test_every_dtype_can_be_compared(dtype: torch.dtype) -> None:
    tensor = torch.tensor([1, 0, 1]).to(dtype)
    other = torch.tensor([1, 1, 1]).to(dtype)
    ulp = 0.0 if dtype == torch.float16 else None
    assert against(tensor, tensor.clone()) == Numerics("eager", (exact(ulp=ulp),))
    (error,) = against(tensor, other).outputs
    assert (error.max_abs, error.close) == (1.0, False)


def test_complex_errors_are_distances_in_the_plane() -> None:
    (error,) = against(torch.tensor([3 + 4j]), torch.tensor([0j])).outputs
    assert error.max_abs == 5.0


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.parametrize(
    "other",
    [
        lambda tensor: torch.quantize_per_tensor(tensor, 0.5, 0, torch.qint8),
        lambda tensor: tensor.to_sparse(),
        lambda tensor: tensor.to_mkldnn(),
    ],
)
def test_other_layouts_are_compared_by_value(other: Callable[[torch.Tensor], torch.Tensor]) -> None:
    tensor = torch.tensor([[1.0, 0.0], [0.5, 2.0]])
    ulp = None if other(tensor).is_quantized else 0.0
    assert against(other(tensor), other(tensor)) == Numerics("eager", (exact(ulp=ulp),))
    assert against(other(tensor), other(tensor + 1)).outputs[0].max_abs == 1.0


def test_large_outputs_are_compared_in_pieces() -> None:
    expected = torch.ones(3_000_000)
    actual = expected.clone()
    actual[[5, 2_500_000]] = torch.tensor([1.5, 3.0])
    (error,) = against(actual.reshape(3, -1), expected.reshape(3, -1)).outputs
    assert error == OutputError("0", 2.0, 2.0, pytest.approx(10 * math.log10(3e6 / 4.25)), 0, False, 0xC00000)  # type: ignore[arg-type]


def test_an_output_is_taken_apart_by_names() -> None:
    output = (Pair(ONE, ONE), {"a": [3, None]}, Result([ONE], 0.5))
    assert leaves(output) == (
        Leaf("0.left", "0.0", ONE),
        Leaf("0.right", "0.1", ONE),
        Leaf("1.a.0", "1.a.0", 3),
        Leaf("1.a.1", "1.a.1", None),
        Leaf("2.hidden.0", "2.hidden.0", ONE),
        Leaf("2.loss", "2.loss", 0.5),
    )
    assert leaves(ONE) == leaves((ONE,)) == (Leaf("0", "0", ONE),)
    assert leaves(()) == ()


def test_of_other_objects_the_tensors_are_compared() -> None:
    class Empty:
        pass

    assert against({"cache": Cache(ONE)}, {"cache": Cache(ONE)}) == Numerics("eager", (exact("cache.layers.0.keys"),))
    assert against(Cache(ONE), Cache(ONE + 1)).outputs[0].max_abs == 1.0
    assert against(Cache(ONE), Cache(ONE, ONE)).error == (
        "the outputs differ in structure: it returns layers.0.keys, and eager returns layers.0.keys, layers.1.keys"
    )
    assert compare_outputs(Cache(ONE), Cache(ONE.double()), "float64").close
    known = Cache(ONE)
    known.layers[0].owner = known
    assert leaves(known) == (Leaf("layers.0.keys", "layers.0.keys", ONE),)
    assert against(Empty(), Empty()) == Numerics("eager", ())
    assert leaves(torch.relu) == (Leaf("0", "0", torch.relu),)


def test_a_named_tuple_is_equal_to_the_plain_one_that_tracing_makes_of_it() -> None:
    assert against((ONE, ONE), Pair(ONE, ONE)) == Numerics("eager", (exact("left"), exact("right")))


@pytest.mark.parametrize(
    ("actual", "expected", "error"),
    [
        ((ONE,), (ONE, ONE), "the outputs differ in structure: it returns one value, and eager returns 0, 1"),
        ({"a": ONE}, {"b": ONE}, "the outputs differ in structure: it returns a, and eager returns b"),
        ((), ONE, "the outputs differ in structure: it returns nothing, and eager returns one value"),
        (torch.ones(2), ONE, "output 0 has shape (2,), that of eager (1,)"),
        (3, 4, "output 0 is 3, that of eager 4"),
        (1, True, "output 0 is 1, that of eager True"),
        (None, "x" * 100, f"output 0 is None, that of eager '{'x' * 79}…"),
        (ONE, None, "output 0 is a tensor, that of eager None"),
    ],
)
def test_incomparable_outputs_are_reported(actual: object, expected: object, error: str) -> None:
    assert against(actual, expected) == Numerics("eager", (), error)


def test_a_changed_dtype_is_an_error_and_still_has_figures() -> None:
    assert against(ONE.half(), ONE) == Numerics(
        "eager",
        (OutputError("0", 0.0, 0.0, INF, 0, False),),
        "output 0 has dtype torch.float16, that of eager torch.float32",
    )


def test_values_that_are_no_tensors_are_compared_too() -> None:
    assert against((2, "same", None, 0.5), (2, "same", None, 0.5)) == Numerics("eager", (exact("3"),))
    assert against(0.5, 0.75).outputs[0].max_abs == 0.25


def test_each_run_has_its_own_inputs() -> None:
    class WritesInput(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.add_(1)

    kept = torch.zeros(2)
    found = numerics_of(torch.jit.script(WritesInput()), WritesInput(), kept)
    assert found == (Numerics("eager", (exact(),)), Numerics("float64", (exact(),)))
    assert torch.equal(kept, torch.zeros(2))


def test_each_run_has_objects_of_its_own() -> None:
    class Appends(torch.nn.Module):
        def forward(self, cache: Cache) -> Cache:
            cache.layers[0].keys = torch.cat([cache.layers[0].keys, ONE])
            return cache

    kept = Cache(ONE)
    found = numerics_of(Appends(), Appends(), kept)
    assert found == tuple(Numerics(reference, (exact("layers.0.keys"),)) for reference in ("eager", "float64"))
    assert kept.layers[0].keys is ONE


def test_state_is_reset_and_the_eager_module_is_left_alone() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x * self.count

    eager = Counter()
    scripted = torch.jit.script(Counter())
    candidates = [Candidate("reset", scripted, lambda: scripted.count.zero_()), Candidate("kept", scripted)]
    found = measure_numerics(candidates, eager, (ONE,), {}, NumericsOptions(reference64=False)).numerics
    assert found["reset"] == (Numerics("eager", (exact(),)),)
    assert found["kept"][0].outputs[0].max_abs == 3.0
    assert torch.equal(eager.count, torch.zeros(1))  # type: ignore[arg-type]


def test_another_method_can_be_the_reference() -> None:
    class Methods(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

        def doubled(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

    found = numerics_of(lambda x: 2 * x, Methods(), ONE, method="doubled")
    assert found == (Numerics("eager", (exact(),)), Numerics("float64", (exact(),)))
    missing = numerics_of(lambda x: x, Methods(), ONE, method="tripled", reference64=False)
    assert "the eager module did not run: AttributeError" in missing[0].error


def test_a_failing_candidate_does_not_end_the_others() -> None:
    def fail(x: torch.Tensor) -> None:
        raise ZeroDivisionError("by zero")

    identity = torch.nn.Identity()
    found = measure_numerics([Candidate(0, fail), Candidate("ok", identity)], identity, (ONE,), {}).numerics
    assert found == {
        0: tuple(Numerics(reference, (), "ZeroDivisionError: by zero") for reference in ("eager", "float64")),
        "ok": tuple(Numerics(reference, (exact(),)) for reference in ("eager", "float64")),
    }


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated:DeprecationWarning")
def test_a_quantised_module_has_no_float64_reference() -> None:
    eager = torch.ao.quantization.quantize_dynamic(
        torch.nn.Sequential(torch.nn.Linear(4, 4)).eval(), {torch.nn.Linear}, dtype=torch.qint8
    )
    same, double = numerics_of(frozen(eager), eager, torch.randn(2, 4))
    assert same == Numerics("eager", (exact(),))
    assert double.outputs == ()
    assert double.error is not None
    assert double.error.startswith("the eager module does not run in float64: RuntimeError: ")


def test_random_numbers_are_the_same_in_each_run_and_the_users_are_left_alone() -> None:
    class Noisy(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.rand_like(x)

    before = torch.get_rng_state()
    same, double = numerics_of(torch.jit.script(Noisy()), Noisy(), torch.ones(3))
    assert same == Numerics("eager", (exact(),))
    assert double == Numerics("float64", (), "the model draws random numbers, and draws others in double precision")
    assert torch.equal(torch.get_rng_state(), before)


def test_the_double_precision_copy_leaves_no_single_precision_behind() -> None:
    class Mixed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2, dtype=torch.complex64)
            self.plain = [torch.ones(2)]
            self.register_buffer("index", torch.tensor([1, 0]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x * self.plain[0] + torch.zeros(2))[self.index]

    module = Mixed()
    assert in_float64(module)(torch.ones(2, 2, dtype=torch.complex128)).dtype == torch.complex128
    assert {tensor.dtype for tensor in module.parameters()} == {torch.complex64}
    assert torch.get_default_dtype() == torch.float32
    assert numerics_of(module, module, torch.ones(2, 2, dtype=torch.complex64))[1].close


def test_an_overflow_that_the_dtype_cannot_avoid_is_close_but_counted() -> None:
    eager = torch.nn.Linear(1, 1, bias=False)
    eager.weight.data.fill_(60000.0)
    same, double = numerics_of(eager.half(), eager, torch.full((1, 1), 2.0, dtype=torch.float16))
    assert same == Numerics("eager", (exact(),))
    assert double == Numerics("float64", (OutputError("0", INF, INF, -INF, 1, True, 0.0),))


def test_keys_must_differ() -> None:
    with pytest.raises(MeasureError, match="several candidates are called a"):
        measure_numerics([Candidate("a", print), Candidate("a", print)], torch.nn.Identity(), (), {})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA is not available: device numerics are not exercised")
def test_cuda_outputs_are_compared_where_they_are() -> None:
    eager = ConvBn().cuda().eval()
    assert all(found.close for found in numerics_of(frozen(eager), eager, torch.randn(2, 3, 8, 8, device="cuda")))


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]
)
def test_close_is_what_assert_close_accepts(dtype: torch.dtype) -> None:
    expected = torch.tensor([0, 1, 3, 100, 127]).to(torch.complex128 if dtype.is_complex else torch.float64)
    answers = set()
    for error in (0.0, 9e-8, 2e-7, 1.2e-6, 1.4e-6, 9e-6, 1.1e-5, 9e-4, 1.1e-3, 1.5e-2, 1.7e-2, 1.0, NAN, INF):
        for actual in ((expected * (1 + error)).to(dtype), (expected + error).to(dtype)):
            for other in (actual, expected.to(dtype), expected):
                try:
                    torch.testing.assert_close(actual, other, equal_nan=True)
                    accepts = True
                except AssertionError:
                    accepts = False
                assert against(actual, other).close == accepts, (error, actual, other)
                answers.add(accepts)
    assert answers == {True, False}
