from __future__ import annotations

from freeze_engine.measure.distinct_steps import distinct_steps
from freeze_engine.trace import GraphSnapshot, Interval, Latency, Step, Value


def _graph(name: str) -> GraphSnapshot:
    return GraphSnapshot((Value(name, "Tensor"),), (), (name,))


A, B, C = (_graph(name) for name in "abc")


def _steps(*graphs: GraphSnapshot) -> list[Step]:
    return [Step(2 * index, "stage", f"pass {index}", "forward", graph, True) for index, graph in enumerate(graphs)]


def test_each_graph_is_measured_once_and_follows_what_stood_before_it() -> None:
    found = distinct_steps(_steps(A, A, B, B, A, C))
    assert found.first == {0: 0, 2: 0, 4: 4, 6: 4, 8: 0, 10: 10}
    assert found.follows == {0: None, 4: 0, 10: 0}
    assert distinct_steps([]).follows == {}


def test_only_the_step_that_was_measured_is_held_against_the_one_before() -> None:
    ratio = Interval(0.5, 0.4, 0.6)
    latency = Latency("cpu", 1, (), 9, Interval(9.0, 8.0, 10.0), ratio, "faster", (), ratio, "faster")
    found = distinct_steps(_steps(A, B, B, C))
    measured: dict[int | str, tuple[Latency, ...]] = {2: (latency,)}
    assert found.latency(2, measured) == (latency,)
    (shared,) = found.latency(4, measured)
    assert (shared.ratio, shared.previous, shared.change) == (ratio, None, None)
    assert found.latency(6, measured) == ()
