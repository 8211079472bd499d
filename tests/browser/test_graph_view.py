"""The graph renderer in a real browser: the bundle of frontend/graph/ on hand-built traces."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page

from freeze_engine.analysis.graph_diff import diff_snapshots
from freeze_engine.trace import GraphSnapshot, Node, Step, Trace, Value
from tests.builders import HOSTILE, small_trace, synthetic_trace
from viewer.assets import read_asset
from viewer.views.graph_data import graph_data

FRONTEND = Path(__file__).parents[2] / "frontend"
BUNDLE = "bundles/graph_view.js"
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:"
)
NO_WORKERS = POLICY.replace("script-src 'unsafe-inline' blob:; worker-src blob:", "script-src 'unsafe-inline'")


class Harness:
    """The renderer on a page of its own, opened from disk under the strictest policy it is to work with."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder

    def open(self, trace: Trace, options: str = "{}", policy: str = POLICY) -> None:
        file = self.folder / "graph.html"
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<style>html, body, #graph { margin: 0; height: 100% }</style><div id="graph"></div>'
            f"<script>{read_asset(BUNDLE)}</script>",
            encoding="utf-8",
        )
        self.page.goto(file.as_uri())
        self.page.evaluate(
            f"""(data) => {{
                window.events = [];
                window.view = FreezerGraph.create(document.getElementById("graph"), {options});
                for (const name of ["select", "hover", "expand", "ready"])
                    view.on(name, (detail) => events.push([name, detail && detail.id]));
                view.setData(data);
            }}""",
            graph_data(trace),
        )

    def show(self, after: int, before: int | str | None = "default") -> None:
        sides = {"after": after} if before == "default" else {"before": before, "after": after}
        self.page.evaluate("(sides) => view.show(sides)", sides)

    def run(self, code: str) -> Any:
        return self.page.evaluate(f"async () => {{ {code} }}")

    def positions(self) -> dict[str, list[float]]:
        """World coordinates of all boxes of nodes, by id."""
        return dict(
            self.run(
                """const { scene, layout } = view.picture;
                return scene.items.flatMap((item, at) => item.key < 0 || item.open ? [] :
                    [[view.model.ids[item.key], [layout.x[at], layout.y[at], layout.width[at], layout.height[at]]]]);"""
            )
        )

    def laid_out(self) -> dict[str, Any]:
        """The whole layout, as lists."""
        return dict(
            self.run(
                """const { scene, layout } = view.picture;
                const lists = Object.entries({ ...scene.input, ...layout }).map(([name, array]) => [name, [...array]]);
                return Object.fromEntries(lists);"""
            )
        )

    def colours(self, x: int, y: int, width: int, height: int) -> int:
        """How many different colours a part of the canvas shows."""
        return int(
            self.page.evaluate(
                """([x, y, width, height]) => {
                    const { data } = view.stage.surface.getImageData(x, y, width, height);
                    return new Set(new Uint32Array(data.buffer)).size;
                }""",
                [x, y, width, height],
            )
        )


@pytest.fixture
def graph(page: Page, tmp_path: Path) -> Harness:
    return Harness(page, tmp_path)


def snapshot_of(*nodes: Node) -> GraphSnapshot:
    return GraphSnapshot((Value("x", "Tensor"),), nodes, (nodes[-1].id,))


def chain(*places: tuple[str, str], start: str = "x") -> tuple[Node, ...]:
    """Nodes that each read the one before, as pairs of name and module."""
    sources = [start, *(name for name, _ in places)]
    return tuple(
        Node(name, "aten::relu", (source,), (Value(name, "Tensor"),), module=module)
        for source, (name, module) in zip(sources, places, strict=False)
    )


def trace_of(*graphs: GraphSnapshot) -> Trace:
    steps = tuple(Step(at, "input", f"pass {at}", "forward", graph, at > 0) for at, graph in enumerate(graphs))
    return replace(small_trace(), steps=steps, attributes=(), near_misses=(), notices=(), baselines=())


def random_trace(seed: int, count: int = 120) -> Trace:
    """A random graph in random modules, rewired at random in a second step."""
    random = Random(seed)
    modules = ["", "a", "a.b", "a.b.0", "a.b.1", "c", "c.d", "e"]
    nodes: list[Node] = []
    for number in range(count):
        known = ["x", *(node.id for node in nodes[-25:])]
        inputs = tuple(random.sample(known, min(len(known), random.randint(1, 3))))
        name = f"n{number}"
        # Mostly module by module, as in a real model, with some nodes out of place.
        module = random.choice(modules) if random.random() < 0.2 else modules[number * len(modules) // count]
        nodes.append(Node(name, "aten::add", inputs, (Value(name, "Tensor"),), module=module))
    kept = [node for node in nodes if random.random() < 0.9]
    names = {"x", *(node.id for node in kept)}
    after = [replace(node, inputs=tuple(name for name in node.inputs if name in names) or ("x",)) for node in kept]
    return trace_of(snapshot_of(*nodes), snapshot_of(*after))


# ------------------------------------------------------------------------------------------------------ what is shown


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_panes_are_painted(graph: Harness, theme: str) -> None:
    graph.open(synthetic_trace(400, 4), f'{{theme: "{theme}"}}')
    graph.show(1)
    assert graph.colours(0, 60, 640, 580) > 20
    assert graph.colours(640, 60, 640, 580) > 20


@pytest.mark.parametrize("trace", [small_trace(), synthetic_trace(300, 5, "transformer"), random_trace(3)])
def test_its_differences_are_those_of_the_engine(graph: Harness, trace: Trace) -> None:
    graph.open(trace)
    for step in trace.steps:
        before = trace.before(step)
        if before is None:
            continue
        expected = diff_snapshots(before.graph, step.graph)
        statuses: dict[str, str] = graph.page.evaluate(
            """(step) => {
                const { model } = view;
                const { before, after } = model.steps[step];
                const found = [...model.diff(before, after)].filter(([key]) => !model.isPseudo(key));
                return Object.fromEntries(found.map(([key, status]) => [model.ids[key], status]));
            }""",
            step.index,
        )
        assert statuses == {
            **dict.fromkeys(expected.added, "added"),
            **dict.fromkeys(expected.removed, "removed"),
            **{change.node: "changed" for change in expected.changed},
        }


def test_the_number_of_nodes_and_changes_stands_above_each_pane(graph: Harness) -> None:
    trace = small_trace()
    graph.open(trace)
    graph.show(8)
    texts = svg_texts(graph.run("return view.toSVG()"))
    before, after = (sum(1 for _ in trace.steps[index].graph.walk()) for index in (6, 8))
    assert {f"{before} nodes", f"{after} nodes"} <= {text for text, _, _ in texts}
    diff = diff_snapshots(trace.steps[6].graph, trace.steps[8].graph)
    signs = [text for text, _, y in texts if y < 32 and text[0] in "−+~"]
    assert signs == [f"−{len(diff.removed)}", f"~{len(diff.changed)}", f"+{len(diff.added)}", f"~{len(diff.changed)}"]


def test_a_graph_alone_fills_the_view(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(0)
    assert graph.run("return view.state().steps") == {"before": None, "after": 0}
    titles = [text for text, _, _ in svg_texts(graph.run("return view.toSVG()"))]
    assert titles.count("CallMethod") == 1


def test_nodes_in_both_graphs_stand_at_the_same_place_in_both_panes(graph: Harness) -> None:
    graph.open(synthetic_trace(60, 3))
    graph.show(2)
    graph.run("view.fit(); view.zoomBy(1.5)")
    texts = [entry for entry in svg_texts(graph.run("return view.toSVG()")) if entry[2] > 40]
    pane = graph.run("return view.panes.width()")
    places = [(round(x % pane, 1), round(y, 1), x > pane) for text, x, y in texts if text in {"add", "relu"}]
    left = sorted(place[:2] for place in places if not place[2])
    assert len(left) >= 8
    assert left == sorted(place[:2] for place in places if place[2])


@pytest.mark.parametrize("shape", ["resnet", "transformer"])
def test_nothing_moves_from_pass_to_pass(graph: Harness, shape: Any) -> None:
    graph.open(synthetic_trace(400, 8, shape))
    graph.show(1)
    for after in range(2, 8):
        old, camera = graph.positions(), graph.run("return view.camera.place()")
        graph.show(after)
        new = graph.positions()
        assert old == {name: new[name] for name in old}
        assert graph.run("return view.camera.place()") == camera


def called_trace() -> Trace:
    """A graph that calls seven modules, and the same after their bodies came in place of the calls."""
    inputs = (Value("self", "__torch__.Net"), Value("x", "Tensor"))
    called: list[Node] = []
    inlined: list[Node] = []
    for number in range(7):
        name, start = f"m{number}", f"m{number - 1}.out" if number else "x"
        module = Node(name, "prim::GetAttr", ("self",), (Value(name, "__torch__.M"),), (("name", f'"{name}"'),))
        call = Node(f"{name}.out", "prim::CallMethod", (name, start), (Value(f"{name}.out", "Tensor"),))
        body = chain(*((f"{name}.{at}", f"{name}.inner") for at in range(20)), start=start)
        last = Node(f"{name}.out", "aten::relu", (body[-1].id,), (Value(f"{name}.out", "Tensor"),), module=name)
        called += [module, call]
        inlined += [module, *body, last]
    return trace_of(*(GraphSnapshot(inputs, tuple(nodes), ("m6.out",)) for nodes in (called, inlined)))


def test_a_graph_made_anew_is_compared_by_its_modules(graph: Harness) -> None:
    graph.open(called_trace())
    graph.show(1)
    boxes = (
        "return view.picture.scene.items.slice(1).map((item) => item.group ? item.group.id : view.model.ids[item.key])"
    )
    assert graph.run(boxes) == ["%x", "m0×", "%return"]
    assert graph.run("return view.picture.replaced")
    texts = svg_texts(graph.run("return view.toSVG()"))
    assert [text for text, x, _ in texts if text.endswith(("op", "ops")) and x < 640] == ["7 ops"]
    assert [text for text, x, _ in texts if text.endswith(("op", "ops")) and x > 640] == ["147 ops"]
    graph.run("await view.groups.expand('m0×'); await view.groups.expand('m0×+')")
    modules = [f"m{number}" for number in range(7)]
    assert [box for box in graph.run(boxes) if box in modules] == modules


def test_places_of_the_other_side_are_only_hinted_at_where_there_is_much_to_compare(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 4))
    graph.show(1)
    graph.run("view.fitChanges()")
    assert "stroke-dasharray" in graph.run("return view.toSVG()")
    graph.open(called_trace())
    graph.show(1)
    graph.run("await view.groups.expandAll(); view.fit()")
    assert "stroke-dasharray" not in graph.run("return view.toSVG()")


def test_unread_node_is_drawn_in_its_module(graph: Harness) -> None:
    check = Node("check", "aten::warn", (), (), module="second.inner")
    first, second = chain(("first", "first.inner"), ("second", "second.inner"))
    graph.open(trace_of(snapshot_of(check, first, replace(second, inputs=("first",)))))
    graph.show(0)
    groups = graph.run("return [...view.outline().groups.keys()]")
    assert groups == ["", "second"]


def test_the_last_picture_stays_while_the_next_one_is_laid_out(graph: Harness) -> None:
    graph.open(synthetic_trace(60, 3))
    graph.show(0)
    graph.run("view.arrangements.forget()")
    graph.run("view.arrangements.runner.run = async (input) => FreezerGraph.runLayout(input)")
    titles = """const shown = view.show({ after: 1 });
        const titles = () => [...view.toSVG().matchAll(/>(before|after|graph)</g)].map((match) => match[1]);
        const first = titles();
        await shown;
        return [first, titles()];"""
    assert graph.run(titles) == [["graph"], ["before", "after"]]


def test_a_rewritten_graph_keeps_what_one_looks_at_where_it_is(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(2)
    graph.run('await view.select("sum", { center: true })')
    where = """const { item } = view.selection, { layout } = view.picture, { camera } = view;
        return [(layout.x[item] + layout.width[item] / 2 - camera.x) * camera.zoom,
            (layout.y[item] - camera.y) * camera.zoom];"""
    old = graph.run(where)
    for after in (4, 6, 8):
        graph.show(after)
        assert graph.run(where) == pytest.approx(old, abs=0.01)


def test_modules_with_changes_are_open_at_first_and_large_quiet_ones_closed(graph: Harness) -> None:
    graph.open(synthetic_trace(4000, 2))
    graph.show(1)
    expanded = set(graph.run("return view.state().expanded"))
    assert {"layer1", "layer1.0", "layer1.1"} <= expanded
    boxes = graph.run("return view.picture.scene.items.length")
    assert boxes < 300
    assert "layer40.0" not in expanded


def test_wrong_steps_and_formats_are_refused_in_words(graph: Harness) -> None:
    graph.open(small_trace())
    refuse = "try {{ {0}; }} catch (error) {{ return error.message; }}"
    assert "there is no step 99" in graph.run(refuse.format("await view.show({ after: 99 })"))
    assert "step 1 is no step of forward" in graph.run(refuse.format("await view.show({ before: 1, after: 2 })"))
    assert "cannot read format 99" in graph.run(refuse.format("view.setData({ format: 99 })"))
    graph.show(2)
    assert 'no node or group "nowhere"' in graph.run(refuse.format('await view.select("nowhere")'))


# ------------------------------------------------------------------------------------------------------------ looking


def test_expand_and_collapse(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 4))
    graph.show(1)
    graph.run("await view.groups.collapseAll()")
    assert graph.run("return view.state().expanded") == []
    closed = graph.run("return view.picture.scene.items.filter((item) => item.group).map((item) => item.group.id)")
    assert closed == ["", *(f"layer{number}" for number in range(1, 7))]
    graph.run('await view.groups.expandTo("conv.3")')
    assert graph.run("return view.state().expanded") == ["layer1", "layer1.3"]
    assert "conv.3" in graph.positions()
    graph.run('await view.groups.collapse("layer1.3")')
    assert "conv.3" not in graph.positions()
    graph.run("await view.groups.expandAll()")
    assert {f"relu.{number}" for number in range(40)} <= set(graph.positions())
    assert ["expand", None] in graph.run("return events")


def test_closed_modules_count_what_they_hold(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 4))
    graph.show(1)
    graph.run("await view.groups.collapseAll(); view.fit()")
    texts = [(text, x < 640) for text, x, y in svg_texts(graph.run("return view.toSVG()")) if y > 40]
    before, after = ({text for text, left in texts if left == side} for side in (True, False))
    assert {"32 ops", "−6", "~2"} <= before
    assert "+2" not in before
    assert {"+2", "~2"} <= after
    assert "−6" not in after


def test_double_click_opens_and_closes(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 4))
    graph.show(1)
    graph.run("await view.groups.collapseAll(); view.fit()")
    x, y = centre_of(graph, "layer1")
    graph.page.mouse.dblclick(x, y)
    graph.page.wait_for_function("() => view.groups.open.has('layer1')")


def test_nested_blocks_are_groups(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(2)
    groups = graph.run("return [...view.outline().groups.values()].map((group) => [group.id, group.label])")
    assert ["noisy/", "If"] in groups
    assert ["noisy/0/", "then"] in groups
    assert ["looped/", "Loop"] in groups
    assert ["future/", "fork"] in groups


def test_a_module_called_twice_is_two_groups(graph: Harness) -> None:
    places = [("a", "shared"), ("b", "shared"), ("c", "other.x"), ("d", "shared"), ("e", "shared")]
    graph.open(trace_of(snapshot_of(*chain(*places))))
    graph.show(0)
    assert_layout_holds(graph.laid_out())
    groups = graph.run("return [...view.outline().groups.keys()]")
    assert {"shared", "shared#2"} <= set(groups)


def test_a_node_that_a_pass_made_stands_with_its_neighbours(graph: Harness) -> None:
    graph.open(
        trace_of(snapshot_of(*chain(("a", "m.n"), ("made", ""), ("b", "m.n"), ("c", "m"), ("between", ""), ("d", "o"))))
    )
    graph.show(0)
    groups: dict[str, list[str]] = graph.run(
        """const { groups } = view.outline();
        return Object.fromEntries([...groups].map(([id, group]) => [id,
            group.children.map((child) => (child.children ? child.id : view.model.ids[child.leaf]))]));"""
    )
    assert groups == {"": ["%x", "m", "between", "d", "%return"], "m": ["m.n", "c"], "m.n": ["a", "made", "b"]}


def test_replacement_of_a_module_is_drawn_in_the_same_box(graph: Harness) -> None:
    modules = [("1", "first"), ("2", "first"), ("3", "second"), ("4", "second")]
    old, new = ([(f"{side}{name}", module) for name, module in modules] for side in ("old", "new"))
    graph.open(trace_of(snapshot_of(*chain(*old)), snapshot_of(*chain(*new))))
    graph.show(1)
    assert graph.run("return [...view.outline().groups.keys()]") == ["", "first", "second"]


def test_a_fold_leaves_a_straight_line_through_the_place_of_what_is_gone(graph: Harness) -> None:
    conv, norm, relu = chain(("conv", ""), ("norm", ""), ("relu", ""))
    graph.open(trace_of(snapshot_of(conv, norm, relu), snapshot_of(conv, replace(relu, inputs=("conv",)))))
    graph.show(1)
    made = graph.laid_out()
    assert [via for via in made["via"] if via >= 0] == [made["parent"].index(0) + 2]
    assert made["x1"] == made["x2"]


def test_constants_stay_chips_where_passes_reorder_them(graph: Harness) -> None:
    weight = Node("w", "prim::GetAttr", ("m",), (Value("w", "Tensor"),), (("name", '"weight"'),))
    module = Node("m", "prim::GetAttr", ("self",), (Value("m", "__torch__.M"),), (("name", '"m"'),))
    conv = Node("conv", "aten::conv2d", ("x", "w"), (Value("conv", "Tensor"),))
    inputs = (Value("self", "__torch__.Net"), Value("x", "Tensor"))
    other = replace(module, id="n", outputs=(Value("n", "__torch__.M"),))
    graphs = [(module, weight, conv), (other, replace(weight, inputs=("n",)), conv)]
    graph.open(trace_of(*(GraphSnapshot(inputs, nodes, ("conv",)) for nodes in graphs)))
    graph.show(1)
    assert set(graph.positions()) == {"%x", "conv", "%return"}


def test_constants_are_chips_until_they_are_switched_on(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    graph.run("await view.groups.expandAll(); view.fit()")
    assert "self.block.conv.weight" not in graph.positions()
    assert "weight [2, 1, 3, 3]" in {text for text, _, _ in svg_texts(graph.run("return view.toSVG()"))}
    graph.run("await view.setOptions({ constants: true }); await view.groups.expandAll()")
    assert {"self.block.conv.weight", "weight_fused_bn", "one"} <= set(graph.positions())
    assert_layout_holds(graph.laid_out())


def test_search_finds_by_every_text(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(2)
    find = "(text) => view.search(text).map((match) => match.id)"
    assert graph.page.evaluate(find, "batch_norm") == ["normed"]
    assert graph.page.evaluate(find, "BLOCK.BN") == ["scale", "normed"]
    assert graph.page.evaluate(find, '"count"') == ["count"]
    assert graph.page.evaluate(find, "future/neg") == ["future/negative"]
    assert graph.page.evaluate(find, "no such thing") == []
    assert graph.run('return view.search("rand_like")') == [{"id": "noise", "label": "rand_like", "module": "noise"}]
    graph.run("await view.groups.collapseAll(); await view.focusMatch(0)")
    assert "noise" in graph.positions()
    assert graph.run("return view.state().selection") == "noise"


def test_click_selects_a_node_and_shows_both_versions(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    graph.run("window.chosen = []; view.on('select', (detail) => chosen.push(detail))")
    x, y = centre_of(graph, "y")
    graph.page.mouse.click(x, y)
    chosen = graph.run("return chosen.at(-1)")
    assert (chosen["id"], chosen["kind"], chosen["node"]["status"]) == ("y", "node", "changed")
    assert chosen["node"]["before"]["inputs"] == ["x", "self.block.conv.weight"]
    assert chosen["node"]["after"]["inputs"] == ["x", "weight_fused_bn", "bias_fused_bn"]
    assert graph.page.locator("[aria-live]").text_content() == "conv2d y in block.conv, Tensor, changed"
    graph.page.mouse.click(20, 400)
    assert graph.run("return chosen.at(-1)") == {"id": None, "kind": None, "node": None, "group": None}


def test_the_tooltip_says_what_a_box_is(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    x, y = centre_of(graph, "y", right=True)
    graph.page.mouse.move(x, y)
    tip = graph.page.locator(".fg-tip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert text.startswith("aten::conv2d   ~ changed")
    assert "%weight_fused_bn : f32[2, 1, 3, 3]" in text
    assert "model.py:5" in text


def test_marks_colour_nodes_and_chips(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    graph.run("""view.setMarks({ sum: { fill: "#123456", label: "preserved" },
        weight_fused_bn: { fill: "#654321", label: "folded" } });
        view.setLegend([{ fill: "#123456", label: "preserved" }]); view.fit()""")
    svg = graph.run("return view.toSVG()")
    assert svg.count('fill="#123456"') == 2
    assert svg.count('stroke="#654321"') == 1
    assert graph.page.locator(".fg-legend").inner_text().split() == [
        "−",
        "removed",
        "+",
        "added",
        "~",
        "changed",
        "preserved",
    ]


def test_state_comes_back_after_a_reload(graph: Harness) -> None:
    trace = synthetic_trace(400, 6)
    graph.open(trace)
    graph.show(3)
    graph.run('await view.groups.collapse("layer1"); await view.select("relu.17", { center: true }); view.zoomBy(1.3)')
    state, places = graph.run("return view.state()"), graph.positions()
    graph.open(trace)
    graph.page.evaluate("(state) => view.restore(state)", json.loads(json.dumps(state)))
    assert graph.run("return view.state()") == state
    assert graph.positions() == places


def test_keys_walk_along_edges(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    assert graph.run("return document.activeElement === view.root") is False
    graph.page.keyboard.press("Tab")
    assert graph.run("return document.activeElement === view.root")
    graph.run('await view.select("sum")')

    def selected(key: str) -> str:
        graph.page.keyboard.press(key)
        return str(graph.run("return view.state().selection"))

    assert selected("ArrowUp") in {"normed", "y"}
    assert selected("ArrowDown") == "sum"
    assert selected("ArrowDown") == "looped"
    graph.page.keyboard.press("Enter")
    graph.page.wait_for_function("() => !view.groups.open.has('looped/')")
    assert selected("ArrowDown") == "future"
    assert selected("n") in {"y", "normed", "sum"}
    zoom = graph.run("return view.camera.zoom")
    graph.page.keyboard.press("+")
    assert graph.run("return view.camera.zoom") == pytest.approx(zoom * 1.4)
    assert selected("Escape") == "None"


def test_the_page_keeps_its_own_keys(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    graph.run("window.heard = []; addEventListener('keydown', (event) => heard.push(event.key)); view.root.focus()")
    for key in ("/", "f", "ArrowDown", "r"):
        graph.page.keyboard.press(key)
    assert graph.run("return heard") == ["/", "f", "r"]


def test_the_wheel_zooms_about_the_pointer_and_dragging_pans_both_panes(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 4))
    graph.show(1)
    spot = (
        "const { camera } = view, middle = 1.5 * view.panes.width();"
        "return [camera.x + (1000 - middle) / camera.zoom, camera.y + (300 - 360) / camera.zoom]"
    )
    old = graph.run(spot)
    graph.page.mouse.move(1000, 300)
    graph.page.mouse.wheel(0, -200)
    graph.page.wait_for_function("() => view.camera.zoom > 1.05")
    assert graph.run(spot) == pytest.approx(old, abs=0.01)
    start = graph.run("return view.camera.place()")
    graph.page.mouse.down()
    graph.page.mouse.move(1000, 250, steps=4)
    graph.page.mouse.up()
    end = graph.run("return view.camera.place()")
    assert end["y"] - start["y"] == pytest.approx(50 / start["zoom"], abs=0.01)
    assert graph.run("return events.filter(([name]) => name === 'select')") == []


def test_the_wheel_can_be_left_to_the_page(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 4), '{wheel: "ctrl"}')
    graph.show(1)
    zoom = graph.run("return view.camera.zoom")
    graph.run("window.left = []; addEventListener('wheel', (event) => left.push(!event.defaultPrevented))")
    graph.page.mouse.move(1000, 300)
    graph.page.mouse.wheel(0, -200)
    graph.page.wait_for_function("() => left.length === 1")
    assert graph.run("return view.camera.zoom") == zoom
    graph.page.keyboard.down("Control")
    graph.page.mouse.wheel(0, -20)
    graph.page.keyboard.up("Control")
    graph.page.wait_for_function("() => left.length === 2")
    assert graph.run("return left") == [True, False]
    assert graph.run("return view.camera.zoom") > zoom


def test_a_chip_that_makes_its_box_wide_is_not_cut(graph: Harness) -> None:
    weight = Node("w", "prim::Constant", (), (Value("quite_a_long_name_of_a_weight", "Tensor"),))
    conv = Node("conv", "aten::conv2d", ("x", "quite_a_long_name_of_a_weight"), (Value("conv", "Tensor"),))
    graph.open(trace_of(snapshot_of(weight, conv)))
    graph.show(0)
    texts = {text for text, _, _ in svg_texts(graph.run("return view.toSVG()"))}
    assert "quite_a_long_name_of_a_weight" in texts


def test_a_value_called_input_has_its_type_in_the_tooltip(graph: Harness) -> None:
    relu = Node("relu", "aten::relu", ("input",), (Value("relu", "Tensor"),))
    graph.open(trace_of(GraphSnapshot((Value("input", "Float(2, 3)"),), (relu,), ("relu",))))
    graph.show(0)
    x, y = graph.run(
        """const box = view.picture.box(view.picture.scene.itemOf("relu")), { camera } = view;
        return [(box.x + box.width / 2 - camera.x) * camera.zoom + 640, (box.y + 10 - camera.y) * camera.zoom + 360];"""
    )
    graph.page.mouse.move(x, y)
    tip = graph.page.locator(".fg-tip")
    tip.wait_for(state="visible")
    assert "← %input : f32[2, 3]" in tip.inner_text()


def test_names_of_open_modules_stay_in_sight_sideways(graph: Harness) -> None:
    graph.open(synthetic_trace(60, 2))
    graph.show(0)
    graph.run("await view.groups.expandAll()")
    name, left, right = graph.run(
        """const group = view.picture.scene.itemOf("layer1"), box = view.picture.box(group);
        view.camera.jump({ x: box.x + box.width / 2 + 640 / 6, y: box.y + 60, zoom: 6 });
        view.stage.draw();
        const header = view.panes.headers[2].find((one) => one.item === group);
        return [header.x, view.camera.x - 640 / 6, box.x + box.width];"""
    )
    assert left < name < right


@pytest.mark.parametrize("width", [430, 768, 1280])
@pytest.mark.parametrize("step", [0, 1])
def test_the_map_covers_no_box(graph: Harness, width: int, step: int) -> None:
    graph.page.set_viewport_size({"width": width, "height": 720})
    graph.open(synthetic_trace(400, 2))
    graph.show(step)
    graph.run("await view.groups.expandAll()")
    place = graph.page.evaluate(
        """() => {
            const item = view.picture.closedItems()[20], { layout } = view.picture;
            const x = layout.x[item] + layout.width[item] / 2, y = layout.y[item] + layout.height[item] / 2;
            view.camera.jump({ zoom: 1.2, x, y });
            view.stage.draw();
            const { left, top, width, height } = view.overview.map, bounds = view.stage.canvas.getBoundingClientRect();
            // The box now stands where the map would cover it, if the map stood over a pane.
            const offset = { x: left + width / 2 - (view.panes.sides().length - 0.5) * view.panes.width(), y: 0 };
            const down = top + height / 2 - view.stage.height / 2;
            view.camera.jump({ zoom: 1.2, x: x - offset.x / 1.2, y: y - down / 1.2 });
            view.stage.draw();
            const event = { clientX: bounds.left + left + width / 2, clientY: bounds.top + top + height / 2 };
            return { left, right: left + width, panes: view.panes.width() * view.panes.sides().length,
                all: view.stage.width, under: view.picture.itemAt(view.panes.locate(event)) };
        }"""
    )
    assert place["panes"] <= place["left"]
    assert place["right"] <= place["all"]
    assert place["under"] == -1  # a box that no pane shows is not under the pointer either


# ----------------------------------------------------------------------------------------------------- export, safety


def hostile_trace() -> Trace:
    node = Node(
        HOSTILE, HOSTILE, ("x",), (Value(HOSTILE, HOSTILE),), (("name", HOSTILE),), module=f"{HOSTILE}.</title>"
    )
    added = Node("relu", "\u0000\ud800aten::relu", (HOSTILE,), (Value("relu", "Tensor"),))
    hostile = trace_of(snapshot_of(node), snapshot_of(node, added))
    return replace(hostile, steps=tuple(replace(step, name=HOSTILE) for step in hostile.steps))


def test_names_cannot_break_out_of_page_or_export(graph: Harness) -> None:
    graph.open(hostile_trace())
    graph.show(1)
    graph.page.mouse.move(*centre_of(graph, HOSTILE))
    graph.page.locator(".fg-tip").wait_for(state="visible")
    assert HOSTILE in graph.page.locator(".fg-tip").inner_text()
    svg = graph.run("return view.toSVG()")
    assert "<script" not in svg
    assert any(text.startswith("</script><script>") for text, _, _ in svg_texts(svg))
    assert graph.page.locator("script").count() == 1


def test_png_export_is_a_png(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    head = graph.run("return [...new Uint8Array(await (await view.toPNG()).arrayBuffer())].slice(0, 8)")
    assert bytes(head) == b"\x89PNG\r\n\x1a\n"


def test_view_resizes_with_its_container_and_can_be_removed(graph: Harness) -> None:
    graph.open(small_trace())
    graph.show(8)
    graph.run("document.getElementById('graph').style.width = '500px'")
    graph.page.wait_for_function("() => view.stage.canvas.width === 500")
    graph.run("view.destroy()")
    assert graph.run("return document.getElementById('graph').childElementCount") == 0


def test_view_can_be_imported_as_a_module(graph: Harness) -> None:
    graph.open(small_trace())
    made = graph.page.evaluate(
        """async (text) => {
            const blob = new Blob([text + "\\nexport default globalThis.FreezerGraph;"], { type: "text/javascript" });
            return typeof (await import(URL.createObjectURL(blob))).default.create;
        }""",
        read_asset(BUNDLE),
    )
    assert made == "function"


# ------------------------------------------------------------------------------------------------------------- layout


def assert_layout_holds(made: dict[str, Any]) -> None:
    """What must be true of every layout, whatever the graph."""
    parent, x, y, width, height = (made[name] for name in ("parent", "x", "y", "width", "height"))
    children: dict[int, list[int]] = {}
    for box in range(1, len(parent)):
        children.setdefault(parent[box], []).append(box)
        around = parent[box]
        assert x[around] < x[box]
        assert x[box] + width[box] < x[around] + width[around]
        assert y[around] < y[box]
        assert y[box] + height[box] < y[around] + height[around]
    for siblings in children.values():
        siblings.sort(key=lambda box: y[box])
        for at, box in enumerate(siblings):
            for other in siblings[at + 1 :]:
                if y[other] >= y[box] + height[box]:
                    break
                assert x[other] >= x[box] + width[box] or x[box] >= x[other] + width[other]
    for source, target in zip(made["source"], made["target"], strict=True):
        pair = lifted(parent, source, target)
        if pair:
            assert made["layer"][pair[0]] < made["layer"][pair[1]]
            assert y[pair[0]] + height[pair[0]] < y[pair[1]]
    for segment, previous in enumerate(made["previous"]):
        assert previous < segment
        if previous >= 0:
            assert (made["x1"][segment], made["y1"][segment]) == (made["x2"][previous], made["y2"][previous])
        assert made["y1"][segment] <= made["y2"][segment]


def lifted(parent: list[int], source: int, target: int) -> tuple[int, int] | None:
    """The two boxes of one scope that stand for an edge, or ``None`` if one end holds the other."""
    chains = []
    for box in (source, target):
        chain = [box]
        while chain[-1]:
            chain.append(parent[chain[-1]])
        chains.append(chain[::-1])
    for first, second in zip(*chains, strict=False):
        if first != second:
            return first, second
    return None


@pytest.mark.parametrize("shape", ["resnet", "transformer"])
def test_layout_of_networks(graph: Harness, shape: Any) -> None:
    graph.open(synthetic_trace(400, 4, shape))
    graph.show(2)
    assert_layout_holds(graph.laid_out())
    graph.run("await view.groups.expandAll()")
    assert_layout_holds(graph.laid_out())


def test_layout_of_control_flow(graph: Harness) -> None:
    graph.open(small_trace())
    for after in (0, 2, 4, 6, 8):
        graph.show(after)
        graph.run("await view.groups.expandAll()")
        assert_layout_holds(graph.laid_out())


def test_layout_of_random_graphs(graph: Harness) -> None:
    for seed in range(8):
        graph.open(random_trace(seed))
        graph.show(0)
        graph.run("await view.groups.expandAll()")
        assert_layout_holds(graph.laid_out())


def test_a_resnet_is_a_straight_column(graph: Harness) -> None:
    graph.open(synthetic_trace(400, 1, changed=0))
    graph.show(0)
    graph.run("await view.groups.expandAll()")
    middles = {round(x + width / 2) for x, _, width, _ in graph.positions().values()}
    assert len(middles) == 1


def test_the_worker_lays_out_as_the_page_does(graph: Harness) -> None:
    graph.open(synthetic_trace(2000, 2), "{worker: 'auto'}")
    graph.show(1)
    graph.run("await view.groups.expandAll()")
    assert graph.run("return view.arrangements.runner.worker !== null && view.picture.scene.items.length > 500")
    same = """const { scene, layout } = view.picture;
        const here = FreezerGraph.runLayout(scene.input);
        return Object.keys(here).every((name) => here[name].every((value, at) => value === layout[name][at]));"""
    assert graph.run(same)


def test_without_workers_it_lays_out_on_the_page(graph: Harness, problems: list[str]) -> None:
    graph.open(synthetic_trace(2000, 2), policy=NO_WORKERS)
    graph.show(1)
    graph.run("await view.groups.expandAll()")
    assert graph.run("return view.arrangements.runner.worker === null && view.picture.scene.items.length > 500")
    assert graph.colours(0, 60, 640, 580) > 10
    assert problems
    assert all("blob:" in problem and "Content Security Policy" in problem for problem in problems)
    problems.clear()


def test_two_orders_of_the_same_nodes_can_be_compared(graph: Harness) -> None:
    """The union of the two graphs is a circle: a reads b in one, b reads a in the other."""
    first, second = (chain(*((name, "") for name in names)) for names in ("ab", "ba"))
    graph.open(trace_of(snapshot_of(*first), snapshot_of(*second)))
    graph.show(1)
    assert set(graph.positions()) == {"%x", "a", "b", "%return"}


# ------------------------------------------------------------------------------------------------------------ reading


def svg_texts(svg: str) -> list[tuple[str, float, float]]:
    """All texts of an exported picture with their places; fails if the picture is not well-formed."""
    root = ElementTree.fromstring(svg)
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    return [(text.text or "", float(text.attrib["x"]), float(text.attrib["y"])) for text in texts]


def centre_of(graph: Harness, name: str, right: bool = False) -> tuple[float, float]:
    """Where on the page the box of a node or group stands, in the pane before or in the one after."""
    x, y = graph.page.evaluate(
        """(id) => {
            const item = view.picture.scene.itemOf(id);
            const { layout } = view.picture;
            const { camera } = view;
            return [(layout.x[item] + layout.width[item] / 2 - camera.x) * camera.zoom + 320,
                (layout.y[item] + layout.height[item] / 2 - camera.y) * camera.zoom + 360];
        }""",
        name,
    )
    return x + (640 if right else 0), y


def test_no_text_reaches_the_page_as_markup() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in FRONTEND.rglob("*.js"))
    assert text
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|(?<!model\.)\beval\(|new Function"
    assert not re.search(markup, text)


def test_a_layout_is_given_up_for_a_later_one(graph: Harness) -> None:
    graph.open(synthetic_trace(2_000, 3))
    graph.show(1)
    first, pending, boxes, again = graph.run(
        """const { runner } = view.arrangements;
        view.groups.collapseAll();
        const opening = view.groups.expandAll();
        const first = runner.worker;
        const closing = view.groups.collapseAll();
        const given_up = runner.worker !== first;
        await Promise.all([opening, closing]);
        const closed = view.picture.scene.items.length;
        await Promise.all([view.groups.expandAll(), view.show({ after: 2 })]);  // one layout for both
        return [given_up, runner.pending.size, closed, view.picture.scene.items.length];"""
    )
    assert (first, pending) == (True, 0)
    assert boxes < 500 < again
