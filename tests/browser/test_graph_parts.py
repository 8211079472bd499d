"""The parts of the graph view that are functions of what they are given, each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from viewer.assets import read_asset
from viewer.views.graph_data import SCRIPTS

STATIC = Path(__file__).parents[2] / "static"

# What a script takes must be there already: `const { one } = FreezerGraph` of a later script would be undefined.
STRICT = """() => {
    const strict = (value) => new Proxy(value, {
        get: (target, name) => {
            if (name in target) return target[name];
            throw new Error(`${String(name)} is not there yet`);
        },
        set: (target, name, given) => {
            target[name] = Object.getPrototypeOf(given) === Object.prototype ? strict(given) : given;
            return true;
        },
    });
    globalThis.FreezerGraph = strict({});
    globalThis.freezeLayout = () => {
        const layout = strict({});
        FreezerLayout.add = (part) => part(layout);
    };
}"""

LAYOUT = """({ boxes, edges }) => {
    const ints = (values) => Int32Array.from(values);
    const layout = FreezerLayout.layout.run({
        parent: ints(boxes.map(([parent]) => parent)),
        group: Uint8Array.from(boxes, ([, group]) => group),
        width: Float32Array.from(boxes, ([, , width]) => width),
        height: Float32Array.from(boxes, ([, , , height]) => height),
        source: ints(edges.map(([from]) => from)),
        target: ints(edges.map(([, to]) => to)),
        via: ints(edges.map(([, , via]) => via ?? -1)),
    });
    return Object.fromEntries(Object.entries(layout).map(([name, array]) => [name, [...array]]));
}"""
ROOT = (-1, 1, 0, 0)
BOX = (0, 0, 100, 40)


@pytest.fixture(scope="module")
def parts(browser: Browser) -> Iterator[Page]:
    """A page with the scripts and nothing else."""
    page = browser.new_page()
    page.evaluate("\n;\n".join(map(read_asset, SCRIPTS)))
    yield page
    page.close()


def laid_out(parts: Page, boxes: list[tuple[int, int, int, int]], *edges: tuple[int, ...]) -> dict[str, Any]:
    return dict(parts.evaluate(LAYOUT, {"boxes": boxes, "edges": edges}))


def middles(made: dict[str, Any]) -> list[float]:
    return [x + width / 2 for x, width in zip(made["x"], made["width"], strict=True)][1:]


# ------------------------------------------------------------------------------------------------------------- scripts


def test_every_script_of_the_graph_view_is_loaded() -> None:
    files = {path.relative_to(STATIC).as_posix() for path in (STATIC / "graph").rglob("*.js")}
    assert (len(SCRIPTS), set(SCRIPTS)) == (len(files), files)


def test_a_script_takes_only_what_stands_before_it(browser: Browser) -> None:
    page = browser.new_page()
    page.evaluate(STRICT)
    for name in SCRIPTS:
        page.evaluate(f"() => {{ {read_asset(name)}\n}}")
        if name == "graph/layout/parts.js":
            page.evaluate("freezeLayout()")
    page.close()


# -------------------------------------------------------------------------------------------------------------- layout


def test_a_box_stands_below_what_it_reads(parts: Page) -> None:
    made = laid_out(parts, [ROOT, BOX, BOX], (1, 2))
    assert made == {
        "x": [0, 14, 14],
        "y": [0, 14, 80],
        "width": [128, 100, 100],
        "height": [134, 40, 40],
        "layer": [0, 0, 1],
        "lean": [0, 0, 0],
        "x1": [64],
        "y1": [54],
        "x2": [64],
        "y2": [80],
        "owner": [1],
        "previous": [-1],
        "last": [0],
    }


def test_layers_are_longest_paths_and_sources_stand_near_their_readers(parts: Page) -> None:
    # 1 → 2 → 3 → 5, and 4, which only 5 reads.
    made = laid_out(parts, [ROOT, BOX, BOX, BOX, BOX, BOX], (1, 2), (2, 3), (3, 5), (4, 5))
    assert made["layer"] == [0, 0, 1, 2, 2, 3]


def test_what_no_edge_places_stands_beside_what_ran_before_it(parts: Page) -> None:
    assert laid_out(parts, [ROOT, BOX, BOX, BOX], (1, 2))["layer"] == [0, 0, 1, 1]


def test_crossings_are_sorted_away(parts: Page) -> None:
    made = laid_out(parts, [ROOT, BOX, BOX, BOX, BOX], (1, 4), (2, 3))
    one, other, under_other, under_one = middles(made)
    assert (one < other) == (under_one < under_other)


def test_a_way_past_a_box_is_one_straight_line(parts: Page) -> None:
    made = laid_out(parts, [ROOT, BOX, BOX, BOX], (1, 2), (2, 3), (1, 3))
    first, second, third = middles(made)
    assert first == second == third
    way = []
    at = made["last"][2]
    while at >= 0:
        way.append((made["x1"][at], made["x2"][at]))
        at = made["previous"][at]
    assert len({x for ends in way[1:-1] for x in ends}) == 1


def test_readers_share_a_line_as_far_as_they_can(parts: Page) -> None:
    readers = range(2, 42)
    alone = laid_out(parts, [ROOT, *[BOX] * 41], *((at, at + 1) for at in range(1, 41)))
    shared = laid_out(
        parts, [ROOT, *[BOX] * 41], *((at, at + 1) for at in range(1, 41)), *((1, reader) for reader in readers[1:])
    )
    assert len(shared["x1"]) - len(alone["x1"]) < 4 * len(readers)


def test_a_line_enters_a_group_through_one_port(parts: Page) -> None:
    inside = (2, 0, 100, 40)
    made = laid_out(parts, [ROOT, BOX, (0, 1, 60, 20), inside, inside, BOX], (1, 3), (1, 4), (3, 5))
    assert made["width"][2] > made["width"][3] + made["width"][4]
    border = made["y"][2]
    ports = {x for x, y in zip(made["x2"], made["y2"], strict=True) if y == border}
    assert len(ports) == 1
    assert made["owner"].count(3) >= 2


def test_an_edge_past_a_box_that_is_gone_runs_through_its_place(parts: Page) -> None:
    made = laid_out(parts, [ROOT, BOX, BOX, BOX], (1, 2), (2, 3), (1, 3, 2))
    assert made["x1"] == made["x2"] == [64] * len(made["x1"])
    assert max(made["y2"]) == made["y"][3]


def test_a_box_and_what_it_holds_have_no_line_between_them(parts: Page) -> None:
    made = laid_out(parts, [ROOT, (0, 1, 60, 20), (1, 0, 100, 40)], (1, 2))
    assert (made["x1"], made["last"]) == ([], [-1])


def test_nothing_is_a_layout_too(parts: Page) -> None:
    made = laid_out(parts, [ROOT])
    assert (made["width"], made["height"], made["x1"]) == ([28], [28], [])


# ---------------------------------------------------------------------------------------------------- execution order

ORDER = """([paths, edges]) => FreezerGraph.stayInModule([...paths.keys()],
    new Map(paths.map((path, key) => [key, path.split(".").filter(Boolean)])), edges)"""


@pytest.mark.parametrize(
    ("paths", "edges", "order"),
    [
        pytest.param(["a", "b", "a"], [], [0, 2, 1], id="a module is left when nothing in it is left"),
        pytest.param(["a", "b", "a"], [[0, 1], [1, 2]], [0, 1, 2], id="but nothing runs before what it waits for"),
        pytest.param(["a.x", "a", "a.x"], [], [0, 2, 1], id="inner modules too"),
        pytest.param(["", ""], [[0, 1], [1, 0]], [0, 1], id="a circle is cut at its earliest"),
        pytest.param(["b", "a", "b"], [[1, 2]], [1, 2, 0], id="what nothing joins waits for its module"),
        pytest.param([], [], [], id="nothing"),
    ],
)
def test_execution_stays_in_modules(parts: Page, paths: list[str], edges: list[list[int]], order: list[int]) -> None:
    assert parts.evaluate(ORDER, [paths, edges]) == order


# --------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("aten::conv2d", "conv2d"),
        ("prim::If", "If"),
        ("torch.ops.aten.add.Tensor", "add.Tensor"),
        ("torch.ops.mkldnn._linear_pointwise.default", "_linear_pointwise.default"),
        ("output", "output"),
    ],
)
def test_operators_have_short_names(parts: Page, op: str, name: str) -> None:
    assert parts.evaluate("(op) => FreezerGraph.words.opName(op)", op) == name


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("Float(1, 64, strides=[64, 1], requires_grad=0, device=cpu)", "f32[1, 64]"),
        ("Float()", "f32[]"),
        ("Tensor", "Tensor"),
        ("__torch__." + "x" * 40, "__torch__." + "x" * 29 + "…"),
    ],
)
def test_types_read_as_sizes(parts: Page, type_: str, text: str) -> None:
    assert parts.evaluate("(type) => FreezerGraph.words.shortType(type)", type_) == text


# ------------------------------------------------------------------------------------------------------------- drawing


def test_a_text_is_cut_to_its_width(parts: Page) -> None:
    cut = """([text, letters]) => {
        const { FONTS, shorten, textWidth } = FreezerGraph.drawing;
        const width = textWidth(FONTS.title, "m".repeat(letters));
        const short = shorten(FONTS.title, text, width);
        return [short, textWidth(FONTS.title, short) <= width];
    }"""
    assert parts.evaluate(cut, ["mmm", 3]) == ["mmm", True]
    short, fits = parts.evaluate(cut, ["m" * 200, 6])
    assert (short[-1], set(short[:-1]), fits) == ("…", {"m"}, True)
    assert parts.evaluate(cut, ["mmm", 0]) == ["", True]


def test_a_font_comes_in_another_size(parts: Page) -> None:
    assert parts.evaluate("FreezerGraph.drawing.sized('600 13px Arial', 8.26)") == "600 8.3px Arial"


def test_chips_go_line_by_line_and_the_last_counts_the_rest(parts: Page) -> None:
    lines = parts.evaluate(
        """() => {
            const chips = ["one", "two", "three", "four", "five", "six", "seven"].map((text, key) => ({ key, text }));
            return FreezerGraph.drawing.chipLines(chips, 100);
        }"""
    )
    assert [chip["text"] for line in lines for chip in line] == ["one", "two", "three", "four", "five", "+2"]
    assert all(chip["x"] + chip["width"] <= 100 for line in lines for chip in line)
    assert all(line[0]["x"] == 0 for line in lines)


def test_changes_can_be_read_in_both_themes(parts: Page) -> None:
    """WCAG 2.1's contrast ratio, 4.5 for text."""
    worst = parts.evaluate(
        """() => {
            const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
                .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
                .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
            const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
            return Object.values(FreezerGraph.drawing.THEMES).flatMap((theme) => [
                contrast(theme.text, theme.box), contrast(theme.soft, theme.box), contrast(theme.text, theme.closed),
                contrast(theme.chipText, theme.chip), contrast(theme.groupText, theme.page),
                contrast(theme.soft, theme.page),
                ...["removed", "added", "changed"].map((status) => contrast(theme[status].text, theme[status].fill)),
            ]);
        }"""
    )
    assert len(worst) == 18
    assert min(worst) >= 4.5


def test_letters_of_marks_have_room_between_chips(parts: Page) -> None:
    [[first, second]] = parts.evaluate(
        "FreezerGraph.drawing.chipLines([{ key: 1, text: 'weight' }, { key: 2, text: 'bias' }], 208)"
    )
    radius = 5.5 + 2  # of a letter's circle, whose middle is 2 px before its chip
    assert second["x"] - radius >= first["width"]


@pytest.mark.parametrize(("ops", "changed", "said"), [(12, 3, True), (1234, 0, True), (1234, 1234, False)])
def test_badges_of_a_closed_group_cover_no_text(parts: Page, ops: int, changed: int, said: bool) -> None:
    svg = parts.evaluate(
        """([ops, changed]) => {
            const { drawing } = FreezerGraph;
            const s = new drawing.SvgSurface(200, 60);
            const box = () => ({ x: 10, y: 0, width: 168, height: 48 });
            const picture = { box, opsOf: () => ops, scene: { items: [{ group: { label: "layer1" } }] },
                counts: { removed: [changed], added: [changed], changed: [0] } };
            drawing.paintClosed({ s, picture, zoom: 1, theme: drawing.THEMES.light, look: { alone: true } }, 0);
            return s.toString();
        }""",
        [ops, changed],
    )
    assert ("layer1" in svg, f"{ops} ops" in svg, f"+{changed}" in svg) == (True, said, changed > 0)
    texts = [float(x) for x in re.findall(r'<text x="([^"]+)" y="34', svg)]
    assert all(38 <= x < 178 for x in texts)


def test_an_svg_is_in_pixels_and_escaped(parts: Page) -> None:
    svg = parts.evaluate(
        """() => {
            const surface = new FreezerGraph.drawing.SvgSurface(40, 30);
            surface.save();
            surface.translate(10, 5);
            surface.scale(2);
            surface.beginPath();
            surface.rect(0, 0, 3, 4);
            surface.fillStyle = '"<';
            surface.fill();
            surface.restore();
            surface.font = "600 12px Arial";
            surface.fillText("a<b", 1, 2);
            return surface.toString();
        }"""
    )
    assert svg == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" viewBox="0 0 40 30">'
        '<path d="M10 5L16 5L16 13L10 13L10 5Z" fill="&#34;&#60;"/>'
        '<text x="1" y="2" dominant-baseline="central" text-anchor="start" fill="&#34;&#60;" '
        'font-family="Arial" font-size="12" font-weight="600">a&#60;b</text></svg>'
    )


# ---------------------------------------------------------------------------------------------------------------- hits

HITS = """([x, y, zoom]) => {
    const items = [{}, { group: { id: "open" }, open: true }, { group: { id: "closed" } }, { group: null }];
    const layout = { x: [0, 10, 20, 20], y: [0, 10, 60, 200], width: [], height: [] };
    const boxes = [[0, 0, 500, 500], [10, 10, 300, 300], [20, 60, 168, 48], [20, 200, 84, 28]];
    const within = ([left, top, width, height]) => x >= left && y >= top && x <= left + width && y <= top + height;
    const picture = { scene: { items }, layout, itemAt: () => boxes.findLastIndex((box, at) => at && within(box)) };
    const headers = [{ item: 1, x: 16, y: 55, width: 80, height: 28 }]; // its name, over what it holds
    const item = FreezerGraph.itemUnder(picture, headers, { x, y });
    return [item, item > 0 && FreezerGraph.onToggle(picture, headers, { x, y }, { item, zoom })];
}"""


@pytest.mark.parametrize(
    ("place", "hit"),
    [
        pytest.param((400, 400, 1), [-1, False], id="nothing"),
        pytest.param((50, 210, 1), [3, False], id="a node"),
        pytest.param((150, 90, 1), [2, False], id="a closed group"),
        pytest.param((90, 70, 1), [1, False], id="a name before what it floats over"),
        pytest.param((26, 69, 1), [1, True], id="the box that closes it"),
        pytest.param((26, 69, 0.4), [1, False], id="which is too small from afar"),
        pytest.param((250, 250, 1), [1, False], id="the open group itself"),
    ],
)
def test_what_the_pointer_is_on(parts: Page, place: tuple[float, float, float], hit: list[Any]) -> None:
    assert parts.evaluate(HITS, place) == hit


# -------------------------------------------------------------------------------------------------------------- camera


def test_a_first_look_shows_where_the_graph_begins(parts: Page) -> None:
    """A graph too wide to be seen as a whole, whose first row stands far from its middle."""
    place = parts.evaluate(
        """() => {
            const layout = { x: [0, 5000, 3000, 400], y: [0, 14, 300, 14], width: [6000, 100, 100, 100], height: [] };
            const picture = {
                layout, whole: { x: 0, y: 0, width: 6000, height: 9000 },
                changedItems: () => [], closedItems: () => [1, 2, 3],
            };
            const view = { picture, panes: { room: () => ({ width: 600, height: 500 }) },
                stage: { width: 640, height: 628, redraw: () => {} } };
            const camera = new FreezerGraph.Camera(view);
            camera.lookFirst();
            return camera.place();
        }"""
    )
    assert (place["x"], place["zoom"]) == (5050, 0.6)
