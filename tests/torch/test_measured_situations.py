"""What people report about speed, numbers and memory, rebuilt small: does the trace say what happened, and where?"""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import time
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import duplicates, error_split
from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.latency import measure_latency
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.trace import MemoryLedger
from freeze_engine.trace.validation import check_trace
from tests.torch.models import ConvBn, filled

NUMBERS = fe.Measure(latency=False)
MEMORY = fe.Measure(latency=False, numerics=False)


def record(model, x, measure=MEMORY, **options):
    trace = fe.record(model, (x,), options=fe.TorchScriptOptions(**options), measure=measure).trace
    check_trace(trace)
    return trace


class TiedConvs(nn.Module):
    """Two convolutions of one weight, each before a batch norm of its own."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3), nn.Conv2d(3, 3, 3)
        self.one, self.other = nn.BatchNorm2d(3), nn.BatchNorm2d(3)

    def forward(self, x):
        return self.other(self.second(self.one(self.first(x))))


def test_weights_that_a_fold_tears_apart_are_counted_at_its_step():
    """#96726: memory that is not reclaimed after freezing."""
    model = filled(TiedConvs())
    model.second.weight = model.first.weight
    trace = record(model, torch.ones(1, 3, 8, 8))
    (split,) = [found for found in duplicates(trace) if found.kind == "split"]
    fold = trace.steps[split.step]
    assert (fold.name, split.nbytes) == ("FoldFrozenConvBatchnorm", 3 * 3 * 9 * 4)
    assert {"first.weight", "second.weight"} <= set(split.attributes)
    metrics = fe.step_metrics(trace)[split.step]
    # The second convolution's weight comes, five vectors of the batch norms at most go.
    assert split.nbytes - 10 * 3 * 4 <= metrics.constant_bytes_delta <= split.nbytes


def test_equal_unshared_parameters_are_reported_once_inlined():
    model = filled(TiedConvs())
    model.second.load_state_dict(model.first.state_dict())
    equal = [found for found in duplicates(record(model, torch.ones(1, 3, 8, 8))) if found.kind == "equal"]
    assert equal[0].attributes == ("first.weight", "second.weight")


class Combined(nn.Module):
    """What it multiplies with is computed from a parameter of 36 MiB, and so computed while freezing.

    glibc takes more than 32 MiB from the system, and never from what the process has freed (mallopt(3)).
    """

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3072, 3072))

    def forward(self, x):
        return x @ (self.weight * 2.0 + 1.0)


def test_the_peak_of_the_freeze_is_in_the_ledger():
    """#147062: the peak is high, though less is held at the end."""
    ledger = record(Combined().eval(), torch.ones(1, 3072)).memory
    assert (ledger.saves, ledger.step, ledger.message) == (True, None, "")
    assert ledger.file_before_bytes > 36 << 20
    assert ledger.file_after_bytes > 36 << 20
    if ledger.peak_bytes is None:
        pytest.skip("the system does not tell the peak of a process")
    assert ledger.peak_bytes > 35 << 20


def test_a_module_that_does_not_survive_saving_is_flagged_with_the_pass_that_made_it_so():
    """#81085: after optimize_for_inference the saved file is useless."""
    trace = record(filled(ConvBn()), torch.ones(1, 3, 8, 8), optimize_for_inference=True)
    ledger = trace.memory
    assert ledger.saves is False
    assert ledger.message.startswith("torch.jit.load says RuntimeError: ")
    assert trace.steps[ledger.step].name == "ConvertFrozenOpsToMKLDNN"
    (notice,) = [notice for notice in trace.notices if notice.code == "not_serializable"]
    assert (notice.step, ledger.message in notice.message) == (ledger.step, True)


def test_a_module_with_state_survives_saving_and_keeps_its_state():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x):
            self.seen.add_(1.0)
            return x + self.seen

    recording = fe.record(Counts().eval(), (torch.ones(1),), measure=MEMORY)
    assert recording.trace.memory.saves is True
    assert torch.equal(recording.module.seen, torch.zeros(1))


def test_a_module_that_does_not_run_on_the_inputs_is_not_said_to_be_broken():
    ledger = record(filled(ConvBn()), torch.ones(1, 5, 8, 8)).memory
    assert ledger.saves is None
    assert ledger.message.startswith("The frozen module does not run on the inputs: RuntimeError: Given groups=1, ")
    assert ledger.file_after_bytes is not None


def test_refused_inputs_are_reported_once():
    trace = record(filled(ConvBn()), torch.ones(1, 5, 8, 8), measure=fe.Measure(seconds=0.2, memory=False))
    told = [notice.message for notice in trace.notices if notice.code != "constants_baked_in"]
    assert [message.partition(" (RuntimeError: ")[0] for message in told] == [
        "Nothing was timed on cpu: the model does not run on the inputs",
        "Nothing was compared: the model does not run on the inputs",
    ]
    assert all("expected input[1, 5, 8, 8] to have 3 channels, but got 5 channels instead)." in each for each in told)
    assert {notice.step for notice in trace.notices if notice.code == "nothing_ran"} == {None}


def test_without_room_for_the_file_saving_is_not_tried(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    ledger = record(filled(ConvBn()), torch.ones(1, 3, 8, 8)).memory
    message = "Saving was not tried: the disk of temporary files has no room."
    assert ledger == MemoryLedger(ledger.peak_bytes, message=message)


def test_unmeasured_memory_has_no_ledger():
    assert record(filled(ConvBn()), torch.ones(1, 3, 8, 8), measure=fe.Measure(False, False, False)).memory is None
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(filled(ConvBn())))
    assert captured.traces[0].memory is None


def test_slow_first_calls_are_apart_from_steady_state():
    """#33354, #55898: the first calls are slow."""
    calls: list[int] = []

    def compiles_in_its_first_two_calls(x):
        calls.append(len(calls))
        if len(calls) <= 2:
            time.sleep(0.3)
        return x

    options = LatencyOptions(seconds=0.2, max_rounds=12, sample_ns=1)
    report = measure_latency([Candidate(0, compiles_in_its_first_two_calls)], (torch.ones(1),), {}, options=options)
    latency = report.latencies[0]
    assert min(latency.first_ns, latency.warmup_ns[0]) >= 0.3e9 > latency.median_ns.value
    assert max(report.samples[0]) < 0.3e9
    assert len(calls) > latency.samples + len(latency.warmup_ns)


def test_the_step_that_costs_a_bfloat16_model_its_accuracy_is_named():
    """#120545, #144888: conv-batchnorm folding in bfloat16."""
    trace = fe.record("example:bf16_misfold", measure=NUMBERS).trace
    (split,) = error_split(trace)
    assert split.present_close is True
    assert trace.steps[split.first_past].name == "FoldFrozenConvBatchnorm"
    assert [added.step for added in split.added] == [split.first_past]
    assert 0 < split.present < 0.1 * split.frozen


class Guarded(nn.Module):
    def forward(self, x):
        assert bool((x >= 0).all()), "negative"
        return torch.sqrt(x) + 1


def test_a_model_that_refuses_generated_inputs_is_still_compared_on_the_given_ones():
    class OnlyOnes(nn.Module):
        def forward(self, x):
            assert bool((x == 1.0).all()), "only ones"
            return x + 1

    trace = record(OnlyOnes().eval(), torch.ones(4), measure=NUMBERS)
    assert {numerics.inputs for step in trace.steps for numerics in step.numerics} == {"given"}
    refused = [notice.message for notice in trace.notices if notice.code == "inputs_refused"]
    assert [("'similar'" in message, "'wide'" in message) for message in refused] == [(True, False), (False, True)]
    guarded = record(Guarded().eval(), torch.rand(4), measure=NUMBERS)
    assert {numerics.inputs for numerics in guarded.steps[0].numerics} == {"given", "similar", "wide"}


def test_threads_are_chosen_for_the_measurement_put_back_and_recorded():
    seen: set[int] = set()

    class Looks(nn.Module):
        def forward(self, x):
            seen.add(torch.get_num_threads())
            return x + 1

    before = torch.get_num_threads()
    measure = fe.Measure(latency=False, memory=False, threads=before + 1)
    traced = torch.jit.trace(Looks().eval(), torch.ones(2))
    seen.clear()
    trace = fe.record(Looks().eval(), (torch.ones(2),), via="trace", measure=measure).trace
    assert before + 1 in seen
    assert torch.get_num_threads() == before
    assert trace.environment.threads == before
    assert ("measure_threads", str(before + 1)) in trace.environment.settings
    assert "measure_threads" not in dict(record(traced, torch.ones(2)).environment.settings)


@pytest.mark.parametrize("field", ["threads", "input_sets"])
def test_too_few_of_anything_is_refused(field):
    with pytest.raises(fe.FreezerError, match=f"{field}=0: it must be at least 1"):
        fe.Measure(**{field: 0})  # type: ignore[arg-type]


class OddBuffers(torch.nn.Module):
    """Holds what many operators of torch refuse: eight bits, other layouts, complex numbers, NaN, nothing at all."""

    def __init__(self):
        super().__init__()
        self.register_buffer("eighth", torch.ones(4).to(torch.float8_e4m3fn))
        self.register_buffer("sparse", torch.eye(4).to_sparse())
        self.register_buffer("wave", torch.ones(4, dtype=torch.complex64).conj())
        self.register_buffer("missing", torch.tensor([float("nan"), 1.0, 1.0, 1.0]))
        self.register_buffer("empty", torch.ones(0, 4))
        self.register_buffer("runs", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.runs += 1
        x = torch.sparse.mm(self.sparse, x.t()).t() * self.eighth.to(x.dtype)
        return torch.cat([x + self.missing, self.empty]), x * self.wave  # type: ignore[list-item]


def test_buffers_of_every_kind_are_measured():
    model = OddBuffers().eval()
    trace = fe.record(model, (torch.randn(2, 4),), measure=fe.Measure(latency=False, input_sets=1)).trace
    check_trace(trace)
    assert model.runs == 0
    assert {fate.path for fate in trace.attributes if fate.fate == "preserved"} == {"runs", "sparse"}
    assert not {"nothing_ran", "not_measured"} & {notice.code for notice in trace.notices}
    assert trace.steps[0].numerics
    assert all(numerics.close for step in trace.steps for numerics in step.numerics if numerics.reference == "eager")
    assert trace.memory is not None
    assert trace.memory.saves
