"""The parts of the graph view that need a page, since a canvas measures texts; frontend/tests/ tests the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import PATIENCE_MS

FRONTEND = Path(__file__).parents[2] / "frontend"
ORIGIN = "http://frontend.test/"
MODULES = (
    "graph/camera.js",
    "graph/drawing/closed_groups.js",
    "graph/drawing/content.js",
    "graph/drawing/svg_surface.js",
    "graph/drawing/text.js",
    "graph/drawing/theme.js",
)


@pytest.fixture(scope="module")
def parts(browser: Browser) -> Iterator[Page]:
    """A page with what the modules export as ``parts``: the sources themselves, unbundled."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.route(ORIGIN, lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.route(f"{ORIGIN}*/**", lambda route: route.fulfill(path=FRONTEND / route.request.url.removeprefix(ORIGIN)))
    page.goto(ORIGIN)
    page.evaluate(
        """async (names) => {
            const modules = await Promise.all(names.map((name) => import(`/${name}`)));
            globalThis.parts = Object.assign({}, ...modules);
        }""",
        MODULES,
    )
    yield page
    page.close()


def test_a_text_is_cut_to_its_width(parts: Page) -> None:
    cut = """([text, letters]) => {
        const { FONTS, shorten, textWidth } = parts;
        const width = textWidth(FONTS.title, "m".repeat(letters));
        const short = shorten(FONTS.title, text, width);
        return [short, textWidth(FONTS.title, short) <= width];
    }"""
    assert parts.evaluate(cut, ["mmm", 3]) == ["mmm", True]
    short, fits = parts.evaluate(cut, ["m" * 200, 6])
    assert (short[-1], set(short[:-1]), fits) == ("…", {"m"}, True)
    assert parts.evaluate(cut, ["mmm", 0]) == ["", True]


def test_chips_go_line_by_line_and_the_last_counts_the_rest(parts: Page) -> None:
    lines = parts.evaluate(
        """() => {
            const chips = ["one", "two", "three", "four", "five", "six", "seven"].map((text, key) => ({ key, text }));
            return parts.chipLines(chips, 100);
        }"""
    )
    assert [chip["text"] for line in lines for chip in line] == ["one", "two", "three", "four", "five", "+2"]
    assert all(chip["x"] + chip["width"] <= 100 for line in lines for chip in line)
    assert all(line[0]["x"] == 0 for line in lines)


def test_letters_of_marks_have_room_between_chips(parts: Page) -> None:
    [[first, second]] = parts.evaluate("parts.chipLines([{ key: 1, text: 'weight' }, { key: 2, text: 'bias' }], 208)")
    radius = 5.5 + 2  # of a letter's circle, whose middle is 2 px before its chip
    assert second["x"] - radius >= first["width"]


@pytest.mark.parametrize(("ops", "changed", "said"), [(12, 3, True), (1234, 0, True), (1234, 1234, False)])
def test_badges_of_a_closed_group_cover_no_text(parts: Page, ops: int, changed: int, said: bool) -> None:
    svg = parts.evaluate(
        """([ops, changed]) => {
            const s = new parts.SvgSurface(200, 60);
            const box = () => ({ x: 10, y: 0, width: 168, height: 48 });
            const picture = { box, opsOf: () => ops, scene: { items: [{ group: { label: "layer1" } }] },
                counts: { removed: [changed], added: [changed], changed: [0] } };
            parts.paintClosed({ s, picture, zoom: 1, theme: parts.THEMES.light, look: { alone: true } }, 0);
            return s.toString();
        }""",
        [ops, changed],
    )
    assert ("layer1" in svg, f"{ops} ops" in svg, f"+{changed}" in svg) == (True, said, changed > 0)
    texts = [float(x) for x in re.findall(r'<text x="([^"]+)" y="34', svg)]
    assert all(38 <= x < 178 for x in texts)


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
            const camera = new parts.Camera(view);
            camera.lookFirst();
            return camera.place();
        }"""
    )
    assert (place["x"], place["zoom"]) == (5050, 0.6)
