"""Quality of a layout: crossings, lengths of edges, labels that lie over each other, and how far boxes move.

Lines are read as they are drawn, as chains of points. Two lines cross where segments of them have a point in common
that is no end of either; lines that end at the same box are not counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

Point = tuple[float, float]
Ask = Callable[[str], Any]

_MOST = 60_000
"""Most segments whose crossings are counted: Python needs a minute for them."""
_MOST_PAIRS = 50_000_000
"""Most pairs of segments that are compared: thousands of lines may pass one place."""

_OWN = """(() => {
  const { picture } = viewer.panels.get("graph").view;
  const { layout, scene } = picture;
  const lines = scene.edges.map((edge, at) => {
    const points = [];
    for (let one = layout.last[at]; one >= 0; one = layout.previous[one]) {
      points.push([layout.x2[one], layout.y2[one]], [layout.x1[one], layout.y1[one]]);
    }
    return [edge[0], edge[1], points];
  });
  const boxes = picture.closedItems().map((at) => [layout.x[at], layout.y[at], layout.width[at], layout.height[at]]);
  return { lines, boxes, width: layout.width[0], height: layout.height[0] };
})()"""
_NETRON = """(() => {
  const canvas = document.getElementById("canvas");
  const [own, { width, height }] = [canvas.getBoundingClientRect(), canvas.viewBox.baseVal];
  const scale = own.width / width;
  const boxes = [...document.querySelectorAll(".node-item")].map((one) => {
    const box = one.getBoundingClientRect();
    return [(box.x - own.x) / scale, (box.y - own.y) / scale, box.width / scale, box.height / scale];
  });
  const lines = [...document.querySelectorAll(".edge-path")].map((path) => {
    const length = path.getTotalLength();
    const count = Math.max(2, Math.ceil(length / 40));
    const points = Array.from({ length: count + 1 }, (_, step) => {
      const { x, y } = path.getPointAtLength((length * step) / count);
      return [x, y];
    });
    return [`${points[0].map(Math.round)}`, `${points[count].map(Math.round)}`, points];
  });
  return { lines, boxes, width, height };
})()"""
_MOVES = """(async () => {
  const { view } = viewer.panels.get("graph");
  view.camera.findChanges = () => {}; // else it goes where something changed, which moves everything
  const [width, height] = [view.panes.width(), view.stage.height];
  const places = () => new Map(view.picture.scene.items.flatMap((item, at) => {
    if (!at || item.open || !view.picture.sides[at]) return [];
    const [x, y] = [view.picture.layout.x[at] - view.camera.x, view.picture.layout.y[at] - view.camera.y];
    return [[view.picture.scene.idOf(at), [x * view.camera.zoom, y * view.camera.zoom]]];
  }));
  const inSight = ([x, y]) => Math.abs(x) < width / 2 && Math.abs(y) < height / 2;
  const { after: shown } = view.steps;
  const method = view.model.steps[shown].method;
  const moves = [];
  let last = null;
  for (const step of view.model.steps.filter((one) => one.method === method)) {
    await view.show({ after: step.index });
    if (!last) Object.assign(view.camera, {
      x: view.picture.layout.width[0] / 2, y: view.picture.layout.height[0] / 2, zoom: 1,
    });
    const now = places();
    const both = last ? [...now].filter(([id]) => last.has(id) && inSight(last.get(id))) : [];
    const far = both.map(([id, [x, y]]) => Math.hypot(x - last.get(id)[0], y - last.get(id)[1]));
    if (far.length) {
      far.sort((a, b) => a - b);
      const share = (at) => far[Math.floor(at * far.length)] / Math.hypot(width, height);
      moves.push([share(0.5), share(0.95), view.picture.replaced]);
    }
    last = now;
  }
  delete view.camera.findChanges;
  await view.show({ after: shown });
  return moves;
})()"""


def own_quality(ask: Ask) -> dict[str, Any]:
    """Returns the quality of a report's picture with everything open, and how far boxes move from pass to pass."""
    moves = ask(_MOVES)
    return _quality(ask(_OWN)) | {"moves": moves}


def netron_quality(ask: Ask) -> dict[str, Any]:
    """Returns the quality of Netron's picture."""
    return _quality(ask(_NETRON))


def _quality(drawn: dict[str, Any]) -> dict[str, Any]:
    lines, boxes = drawn["lines"], drawn["boxes"]
    count = crossings(lines)
    lengths = [sum(_length(a, b) for a, b in _segments(points)) for _, _, points in lines]
    mean = sum(lengths) / max(1, len(lengths))
    return {
        "edges": len(lines),
        "crossings": count,
        "length_px": mean,
        "overlaps": overlaps(boxes),
        "size_px": [drawn["width"], drawn["height"]],
    }


def crossings(lines: Sequence[tuple[Any, Any, Sequence[Point]]]) -> int | None:
    """Counts the pairs of lines that cross, each once; ``None`` where there are too many segments or pairs of them.

    Args:
        lines: each with the boxes that it joins, and its points.
    """
    segments = [(a, b, at) for at, line in enumerate(lines) for a, b in _segments(line[2])]
    if len(segments) > _MOST:
        return None
    found: set[tuple[int, int]] = set()
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    compared = 0
    for number, (a, b, at) in enumerate(segments):
        for cell in _cells(a, b):
            compared += len(cells[cell])
            if compared > _MOST_PAIRS:
                return None
            for other in cells[cell]:
                c, d, with_ = segments[other]
                pair = (min(at, with_), max(at, with_))
                if at != with_ and pair not in found and _apart(lines[at], lines[with_]) and _cross(a, b, c, d):
                    found.add(pair)
            cells[cell].append(number)
    return len(found)


def overlaps(boxes: Sequence[Sequence[float]]) -> int:
    """Counts the pairs of boxes, each with its label inside, that lie over each other by more than a pixel."""
    count = 0
    ordered = sorted(boxes, key=lambda box: box[1])
    for at, (x, y, width, height) in enumerate(ordered):
        for other in ordered[at + 1 :]:
            if other[1] >= y + height - 1:
                break
            count += other[0] < x + width - 1 and x < other[0] + other[2] - 1
    return count


_CELL_PX = 200.0


def _cells(a: Point, b: Point) -> Iterator[tuple[int, int]]:
    """Yields the cells of a grid that a segment's bounds touch."""
    left, right = sorted((int(a[0] // _CELL_PX), int(b[0] // _CELL_PX)))
    top, bottom = sorted((int(a[1] // _CELL_PX), int(b[1] // _CELL_PX)))
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield column, row


def _segments(points: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    for a, b in pairwise(points):
        if a[0] != b[0] or a[1] != b[1]:
            yield (a[0], a[1]), (b[0], b[1])


def _apart(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any]) -> bool:
    return one[0] != other[0] and one[1] != other[1]


def _length(a: Point, b: Point) -> float:
    return float(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5)


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
