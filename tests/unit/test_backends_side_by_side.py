"""Two freezes of one model by different backends, held against each other by what their passes are for."""

from __future__ import annotations

import json
from dataclasses import replace

import freeze_engine as fe
from freeze_engine.analysis import FateDiff, PassEffect, PassPair
from freeze_engine.analysis.trace_diff.pass_correspondence import pass_pairs
from tests.builders import empty_trace, small_trace
from tests.two_backends import inductor, torchscript
from viewer.page import comparison_data


def pair(purpose: str, diff: fe.TraceDiff) -> PassPair:
    [found] = [each for each in diff.pairs if each.purpose == purpose]
    return found


def test_passes_stand_beside_each_other_by_their_purpose() -> None:
    diff = fe.diff_traces(torchscript(), inductor())
    assert [each.purpose for each in diff.pairs] == [
        "compute what depends on constants only",
        "merge equal nodes",
        "unroll loops and make lists values",
        "fold into convolutions",
        "fold into linears",
        "prepare convolutions for oneDNN",
        "prepare the weights of linears",
    ]
    found = pair("fold into convolutions", diff)
    assert found.before == PassEffect((2, 3), 1, 2, 1, (("conv_bn", 1),), ("bn", "conv"))
    assert found.after == PassEffect((2, 3), 2, 4, 2, (("conv_add", 1), ("conv_mul", 1)), ("bn", "conv", "other.bn"))


def test_purpose_without_a_pass_names_its_place() -> None:
    found = pair("unroll loops and make lists values", fe.diff_traces(torchscript(), inductor()))
    assert (found.before.steps, found.before.changed) == ((1,), 0)
    assert found.after == PassEffect((), instead="Dynamo runs Python's loops and lists while it traces")


def test_a_rewrite_of_another_kind_does_not_count() -> None:
    found = pair("fold into linears", fe.diff_traces(torchscript(), inductor()))
    assert (found.after.changed, found.after.rewrites) == (0, ())


def test_the_order_of_the_two_does_not_matter() -> None:
    there, back = fe.diff_traces(torchscript(), inductor()), fe.diff_traces(inductor(), torchscript())
    assert [(each.purpose, each.before, each.after) for each in there.pairs] == [
        (each.purpose, each.after, each.before) for each in back.pairs
    ]


def test_no_step_and_no_graph_stands_for_one_of_the_other_backend() -> None:
    diff = fe.diff_traces(torchscript(), inductor())
    assert diff.across_backends
    assert not diff.empty
    assert [(step.before, step.after) for step in diff.steps] == [
        *((index, None) for index in range(4)),
        *((None, index) for index in range(5)),
    ]
    assert {step.graph for step in diff.steps} == {None}
    assert diff.finals == ()


def test_of_attributes_only_the_fates_of_tensors_are_compared() -> None:
    first, second = torchscript(), inductor()
    diff = fe.diff_traces(first, second)
    assert diff.attributes == (
        FateDiff("conv.weight", first.attribute("conv.weight"), diff.after.attribute("conv.weight"), ("fate",)),
        FateDiff("only_here", first.attribute("only_here"), None),
    )


def test_two_traces_of_one_backend_have_no_pairs() -> None:
    diff = fe.diff_traces(small_trace(), small_trace())
    assert (diff.pairs, diff.across_backends, diff.empty) == ((), False, True)


def test_without_a_step_there_is_nothing_to_pair() -> None:
    assert pass_pairs(replace(empty_trace(), backend="torchscript"), empty_trace()) == ()


def test_the_view_names_each_pass_once_and_links_the_step_that_did_something() -> None:
    data = comparison_data(torchscript(), inductor())
    found = data["comparison"]
    assert (found["backends"], found["rows"], data["charts"]) == (["torchscript", "inductor"], [], None)
    [row] = [row for row in found["pairs"] if row["purpose"] == "fold into convolutions"]
    assert row["a"] == {
        "passes": [{"name": "FoldFrozenConvBatchnorm", "count": 2, "changed": 1, "step": 2}],
        "changed": 1,
        "removed": 2,
        "added": 1,
        "rewrites": [["conv_bn", 1]],
        "only": [],
        "instead": "",
    }
    assert row["b"]["passes"] == [{"name": "binary_folding", "count": 2, "changed": 2, "step": 4 + 2}]
    assert row["b"]["only"] == ["other.bn"]
    assert row["effect"]
    assert [row["path"] for row in found["attributes"]] == ["conv.weight", "only_here", "bn.weight"]
    json.dumps(data, allow_nan=False)


def test_steps_of_one_trace_are_compared_with_their_own() -> None:
    steps = comparison_data(torchscript(), inductor(), charted=False)["view"]["steps"]
    assert [(step["label"], step["before"]) for step in steps[3:6]] == [("A 3", 2), ("B 0", None), ("B 1", 4)]
