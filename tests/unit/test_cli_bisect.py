"""``freezer-ui bisect``: what it asks for, what it prints, how it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine import models
from freeze_engine.diagnose import Culprit, GuiltyRewrite, Probe, Reproduction
from freeze_engine.requests import parse_input
from freeze_engine.trace import SourceRef
from tests.builders import small_trace
from viewer.cli import main

_CULPRIT = Culprit(
    step=7,
    stage="optimize_frozen_graph",
    name="FoldFrozenConvBatchnorm",
    method="forward",
    round=1,
    last_good=5,
    suspects=("step 7 (FoldFrozenConvBatchnorm, round 1)",),
    rewrites=(
        GuiltyRewrite(
            "conv_bn",
            ("%5 : Tensor = aten::conv2d(%x)", "%6 : Tensor = aten::batch_norm(%5)"),
            ("conv.weight", "bn.weight"),
            ("conv", "bn"),
            (SourceRef("net.py", 12),),
        ),
    ),
    rewrites_of_step=20,
    note="The other rewrites of the step break it as well, without it.",
)


def found(ending: Any = "nothing_found", **changed: Any) -> fe.Bisection:
    given: dict[str, Any] = {"culprit": None, "notes": (), "reproduction": None, "probes": ()} | changed
    return fe.Bisection(ending, "accuracy", "So it ended.", trace=small_trace(), **given)


class FakeSearch:
    """Stands for `fe.bisect`; keeps what it was asked."""

    def __init__(self) -> None:
        self.ends: fe.Bisection | Exception = found()
        self.asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> fe.Bisection:
        self.asked.append((args, kwargs))
        kwargs["on_probe"](Probe("step 0 (input)", 0, "good", "largest error 0"))
        if isinstance(self.ends, Exception):
            raise self.ends
        return self.ends


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeSearch:
    monkeypatch.chdir(tmp_path)
    fake = FakeSearch()
    monkeypatch.setattr(fe, "bisect", fake)
    monkeypatch.setattr(models, "make_inputs", lambda wanted, device: (wanted, device))
    return fake


def test_options_become_the_bisect_request(search: FakeSearch) -> None:
    words = ["bisect", "example:net", "--input", "1x3", "--device", "cuda:0"]
    freeze = ["--without", "RemoveDropout", "--via", "trace", "--preserve", "a.b"]
    check = ["--check", "accuracy", "--max-error", "0.5", "--no-every-step", "--script", "r.py", "--method", "encode"]
    assert main([*words, *freeze, *check]) == 0
    [(args, kwargs)] = search.asked
    assert args == ("example:net", ([parse_input("1x3")], "cuda:0"))
    assert {name: kwargs[name] for name in kwargs if name not in ("progress", "on_probe")} == {
        "criterion": fe.AccuracyCriterion(0.5),
        "backend": "torchscript",
        "options": fe.TorchScriptOptions(("a.b",), disabled_passes=("RemoveDropout",)),
        "via": "trace",
        "map_location": "cuda:0",
        "imports": (),
        "method": "encode",
        "every_step": False,
        "script": Path("r.py"),
        "apart": True,
    }


@pytest.mark.parametrize(
    ("words", "criterion"),
    [
        (["accuracy"], fe.AccuracyCriterion()),
        (["accuracy", "--limit", "3"], fe.AccuracyCriterion(limit_s=3.0)),
        (["latency", "--margin", "0.05", "--seconds", "9", "--limit", "60"], fe.LatencyCriterion(9.0, 0.05, 60.0)),
        (["python 'my check.py' -x", "--limit", "30"], fe.CommandCriterion(("python", "my check.py", "-x"), 30.0)),
    ],
)
def test_a_criterion_is_one_of_three_kinds(words: list[str], criterion: Any, search: FakeSearch) -> None:
    assert main(["bisect", "pkg.mod:make", "--no-script", "--check", *words]) == 0
    [(args, kwargs)] = search.asked
    assert (args, kwargs["criterion"], kwargs["script"]) == (("pkg.mod:make", None), criterion, None)


def test_the_script_is_named_after_the_model(search: FakeSearch) -> None:
    assert main(["bisect", "pkg.mod:make", "--check", "accuracy"]) == 0
    assert search.asked[0][1]["script"] == Path("make_repro.py")


@pytest.mark.parametrize(
    ("ending", "code"), [("nothing_found", 0), ("found", 1), ("broken_before", 1), ("inconclusive", 1)]
)
def test_exit_code_depends_on_the_check(ending: str, code: int, search: FakeSearch) -> None:
    search.ends = found(ending, culprit=_CULPRIT if ending == "found" else None)
    assert main(["bisect", "example:net", "--check", "accuracy"]) == code


def test_culprit_is_printed_with_its_rewrite_and_script(search: FakeSearch, capsys: pytest.CaptureFixture[str]) -> None:
    made = Reproduction(Path("net_repro.py"), (Path("net_repro.module.pt"),), True, True, ())
    search.ends = found("found", culprit=_CULPRIT, notes=("Not monotonic.",), reproduction=made)
    assert main(["bisect", "example:net", "--check", "accuracy"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "good       step 0 (input): largest error 0",
        "",
        "So it ended.",
        "  last good: step 5",
        "  by 1 of its 20 rewrites:",
        "  conv_bn: conv + bn",
        "    %5 : Tensor = aten::conv2d(%x)",
        "    %6 : Tensor = aten::batch_norm(%5)",
        "    attributes: conv.weight, bn.weight",
        "  The other rewrites of the step break it as well, without it.",
        "Not monotonic.",
        "net_repro.py shows it with torch alone (only the nodes involved; beside it: net_repro.module.pt)",
    ]


def test_a_script_that_shows_nothing_is_called_so(search: FakeSearch, capsys: pytest.CaptureFixture[str]) -> None:
    made = Reproduction(Path("net_repro.py"), (), False, False, ("fine",))
    search.ends = found("found", culprit=_CULPRIT, reproduction=made)
    main(["bisect", "example:net", "--check", "accuracy"])
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "net_repro.py does NOT show it when run on its own (the whole model; beside it: )",
        "    fine",
    ]


def test_json_option_prints_json_only(search: FakeSearch, capsys: pytest.CaptureFixture[str]) -> None:
    search.ends = found("found", culprit=_CULPRIT)
    main(["bisect", "example:net", "--check", "accuracy", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["ending"], told["culprit"]["name"], told["probes"]) == ("found", "FoldFrozenConvBatchnorm", [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["accuracy", "--seconds", "3"], "--seconds: for --check latency only, and this is accuracy"),
        (["latency", "--max-error", "3"], "--max-error: for --check accuracy only, and this is latency"),
        (["true", "--max-error", "3"], "--max-error: for --check accuracy only, and this is a command"),
        (["make 'test"], "the command cannot be read"),
        ([" "], "--check is empty"),
        (["accuracy", "--fullgraph"], "--fullgraph: for --backend inductor only"),
    ],
)
def test_wrong_use_is_refused_before_the_freeze(
    words: list[str], said: str, search: FakeSearch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bisect", "example:net", "--check", *words]) == 2
    assert said in capsys.readouterr().err
    assert search.asked == []


def test_exception_of_the_freeze_is_printed(search: FakeSearch, capsys: pytest.CaptureFixture[str]) -> None:
    search.ends = RuntimeError("torch says no")
    assert main(["bisect", "example:net", "--check", "accuracy"]) == 3
    assert "the freeze failed: RuntimeError: torch says no" in capsys.readouterr().err
    search.ends = fe.FreezerError("sh exited with 130")
    assert main(["bisect", "example:net", "--check", "accuracy"]) == 2


def test_crash_of_the_freeze_is_printed_with_a_remedy(search: FakeSearch, capsys: pytest.CaptureFixture[str]) -> None:
    search.ends = fe.CrashError(
        "the process was ended by SIGSEGV (segmentation fault), while freezing: Fold of forward"
    )
    assert main(["bisect", "example:net", "--check", "accuracy"]) == 3
    assert capsys.readouterr().err.splitlines() == [
        "freezer-ui: the freeze crashed: the process was ended by SIGSEGV (segmentation fault), "
        "while freezing: Fold of forward",
        "freezer-ui record example:net keeps a trace of what torch did until then",
    ]


@pytest.mark.parametrize(
    ("last_good", "step", "words"),
    [
        (7, 8, ""),
        (6, 8, " (step 7 changed nothing)"),
        (5, 8, " (steps 6 to 7 changed nothing)"),
        (5, None, " (steps 6 to 11 changed nothing)"),
    ],
)
def test_the_steps_between_the_last_good_one_and_the_culprit_are_accounted_for(
    last_good: int, step: int | None, words: str, search: FakeSearch, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = small_trace()
    quiet = replace(trace, steps=tuple(replace(each, changed=each.index in (5, 8)) for each in trace.steps))
    if step is None:
        quiet = replace(quiet, steps=tuple(replace(each, changed=False) for each in trace.steps))
    culprit = replace(_CULPRIT, last_good=last_good, step=step)
    search.ends = replace(found("found", culprit=culprit), trace=quiet)
    assert main(["bisect", "example:net", "--check", "accuracy"]) == 1
    assert f"  last good: step {last_good}{words}" in capsys.readouterr().out.splitlines()


def test_steps_that_changed_something_are_not_called_idle(
    search: FakeSearch, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = small_trace()
    busy = replace(trace, steps=tuple(replace(each, changed=True) for each in trace.steps))
    search.ends = replace(found("found", culprit=replace(_CULPRIT, last_good=5, step=8)), trace=busy)
    main(["bisect", "example:net", "--check", "accuracy"])
    assert "  last good: step 5" in capsys.readouterr().out.splitlines()
