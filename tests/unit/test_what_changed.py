"""What is read of a graph because it changed equals what is read of the whole graph, over random passes."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from freeze_engine import load
from freeze_engine.backends.torchscript.attributes.origins import Origins, advance
from freeze_engine.backends.torchscript.graph.annotations import Annotations
from freeze_engine.backends.torchscript.graph.known_graphs import KnownGraphs
from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.recorder.node_identity import assign_ids
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import Constant, GraphSnapshot, Trace
from freeze_engine.trace.rules.texts import with_plain_texts
from freeze_engine.trace.rules.values import value_problems
from tests.builders import empty_trace

GOLDEN = Path(__file__).parent.parent / "golden" / "small_v3.fztrace"
SEEDS = range(20)
MADE = re.compile(r"(?<=^  )%[\w.]+")
READ = re.compile(r"(?<=\()%[\w.]+")


class Program:
    """A random method, and random passes over it: they remove, add, move and rewire nodes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made = 0
        self.names: list[str] = []
        self.lines: list[list[str]] = [self.node() for _ in range(12)]

    def name(self, stem: str = "v.") -> str:
        self.made += 1
        self.names.append(f"{stem}{self.made}")
        return self.names[-1]

    def argument(self) -> str:
        return f"%{self.random.choice(['x', *self.names])}"

    def node(self) -> list[str]:
        at = f"# model.py:{self.random.randint(1, 4)}:8"
        kind = self.random.choice(["constant", "constant", "plain", "plain", "silent", "branch", "fork"])
        if kind == "constant":
            return [f"  %{self.name('self.w')} : Float(2, 3, device=cpu) = prim::Constant[value=<Tensor>]()"]
        if kind == "plain":
            given = [self.argument() for _ in range(self.random.choice([1, 1, 2]))]
            return [f"  %{self.name()} : Tensor = aten::mul({', '.join(given)}) {at}"]
        if kind == "silent":
            return [f'  = prim::SetAttr[name="w"]({self.argument()}, {self.argument()}) {at}']
        if kind == "fork":
            return [f"  %{self.name()} : Future(Tensor) = prim::fork_N({self.argument()}) {at}"]
        return [
            f"  %{self.name()} : Tensor = prim::If({self.argument()}) {at}",
            "    block0():",
            f"      %{self.name()} : Tensor = aten::neg({self.argument()}) {at}",
            f"      = prim::Print({self.argument()})",
            f"      -> ({self.argument()})",
            "    block1():",
            f"      -> ({self.argument()})",
        ]

    def run_pass(self) -> None:
        for _ in range(self.random.choice([0, 0, 1, 2, 3])):
            place = self.random.randrange(len(self.lines))
            match self.random.choice(["remove", "add", "move", "rewire", "copy", "merge", "merge"]):
                case "remove" if len(self.lines) > 3:
                    del self.lines[place]
                case "add":
                    self.lines.insert(place, self.node())
                case "move":
                    self.lines.append(self.lines.pop(place))
                case "copy":
                    self.lines.append([MADE.sub(f"%{self.name()}", line) for line in self.lines[place]])
                case "merge":
                    self.merge()
                case _:
                    self.lines[place] = [READ.sub(self.argument(), line) for line in self.lines[place]]

    def merge(self) -> None:
        """Removes a node that computes what one before it does; its readers take that one's value."""
        known: dict[str, str] = {}
        for place, (line, *_) in enumerate(self.lines):
            made, _, computed = line.strip().partition(" : ")
            kept = known.setdefault(computed, made)
            if "aten::" in computed and kept != made:
                del self.lines[place]
                gone = re.compile(rf"{re.escape(made)}(?![\w.])")
                self.lines = [[gone.sub(kept, each) for each in lines] for lines in self.lines]
                return

    def text(self) -> str:
        body = [line for lines in self.lines for line in lines]
        forks = [index for index, line in enumerate(body) if "fork_N" in line]
        for number, index in enumerate(forks):
            body[index] = body[index].replace("fork_N", f"fork_{number}")
        # torch numbers the values of each fork anew, so that their lines are those of the graph around them.
        inside = "%v.1 : Tensor = aten::add(%x, %v.1) # model.py:1:8"
        bodies = [
            f"with prim::fork_{number} = graph(%x : Tensor):\n  {inside}\n  return (%v.1)"
            for number in range(len(forks))
        ]
        return "\n".join(["graph(%x : Tensor):", *body, f"  return ({self.argument()})", *bodies]) + "\n"


def passes(seed: int, count: int = 12) -> Iterator[str]:
    """The text of a random method after each of its passes."""
    program = Program(seed)
    for _ in range(count):
        yield program.text()
        program.run_pass()


def golden() -> Trace:
    return load(GOLDEN)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_graph_is_read_as_if_none_had_been_read_before(seed: int):
    known = KnownGraphs()
    for text in passes(seed):
        assert known.read(text) == parse_graph(text)
        assert known.read(text.rstrip("\n")) is known.read(text)


def test_the_graphs_of_a_recording_are_read_alike():
    known = KnownGraphs()
    texts = [repr(step.graph) for step in golden().steps]
    assert len(set(texts)) > 2
    assert [known.read(text) for text in texts] == [parse_graph(text) for text in texts]


def test_a_line_that_stands_in_two_graphs_is_one_node():
    text = "graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n{}  return (%y)\n"
    known = KnownGraphs()
    short, long = known.read(text.format("")), known.read(text.format("  %z : Tensor = aten::neg(%y)\n"))
    assert short.nodes[0] is long.nodes[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_is_annotated_as_if_it_stood_in_one_graph_only(seed: int):
    known = KnownGraphs()
    facts = ({f"v.{number}": f"layers.{number}" for number in range(0, 40, 2)}, constants())
    together = Annotations(*facts)
    for text in passes(seed):
        assert together.annotate(known.read(text)) == Annotations(*facts).annotate(parse_graph(text))


def constants() -> dict[str, Constant]:
    """Two constants of each content."""
    names = [f"self.w{number}" for number in range(60)]
    return {
        name: Constant((2, 3), "float32", "cpu", 24, digest=f"{place // 2:016x}") for place, name in enumerate(names)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_graph_that_comes_again_keeps_its_ids(seed: int):
    recorder = Recorder(empty_trace())
    before: GraphSnapshot | None = None
    retired: set[str] = set()
    for text in passes(seed):
        expected = assign_ids(before, parse_graph(text), retired)
        retired |= {node.id for node in expected.walk()}
        step = recorder.add_step("stage", "Pass", "forward", parse_graph(text))
        assert step.graph == expected
        assert step.changed == (before is not None and expected is not before)
        before = expected


@pytest.mark.parametrize("seed", SEEDS)
def test_origins_are_carried_over_what_stayed_as_over_all(seed: int):
    annotations = Annotations({}, constants())
    known = KnownGraphs()
    held = Origins({name: frozenset({f"path.{name}"}) for name in constants()})
    before: GraphSnapshot | None = None
    for text in passes(seed):
        graph = assign_ids(before, annotations.annotate(known.read(text)))
        if before is not None:
            made = {"self.w14": ("path.self.w3",)} if seed % 2 else {}
            carried = advance(held, before, graph, made)
            # No node of a copy is the object that it was before, so that every place is looked at.
            assert carried == advance(held, copy.deepcopy(before), graph, made) or before is graph
            held = carried
        before = graph


def test_a_text_is_made_plain_wherever_it_stands():
    made = golden()
    assert with_plain_texts(made) is made
    for changed in itertools.islice(with_one_odd_text(made), 0, None, 13):
        plain = with_plain_texts(changed)
        assert plain is not changed
        assert not any("surrogate" in problem for problem in value_problems(plain))


def with_one_odd_text(value: Any) -> Iterator[Any]:
    """Yields the value with a lone surrogate at the end of one of its texts, for each text that it holds."""
    if isinstance(value, str):
        yield value + "\udcff"
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from ((*value[:place], odd, *value[place + 1 :]) for odd in with_one_odd_text(part))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            odds = with_one_odd_text(getattr(value, field.name))
            yield from (dataclasses.replace(value, **{field.name: odd}) for odd in odds)
