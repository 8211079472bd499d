/* graph/drawing/edges: what a frame draws of thousands of lines. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { paintEdges } from "../graph/drawing/edges.js";
import { THEMES } from "../graph/drawing/theme.js";

const READERS = 4000;
const SIDE = 2;

/** A surface that notes the lines and arrows that it is given. */
class Noting {
  /** @type {number[][]} */
  lines = [];
  /** @type {number[]} */
  arrows = [];
  /** @type {number[]} */
  tips = [];
  beginPath() {
    this.tips = [];
  }
  /** @param {number[]} at */
  moveTo(...at) {
    this.tips.push(at[0]);
    this.last = at;
  }
  /** @param {number[]} to */
  lineTo(...to) {
    this.bezierCurveTo(...to);
  }
  /** @param {number[]} by */
  bezierCurveTo(...by) {
    this.lines.push([...(this.last ?? []), ...by]);
  }
  stroke() {}
  fill() {
    this.lines.length -= 2 * this.tips.length;
    this.arrows.push(...this.tips);
  }
}

/**
 * Paints the lines from one value to a row of readers.
 * @param {{ left: number, right: number }} sight
 * @param {number} zoom
 */
function painted(sight, zoom) {
  const ends = Array.from({ length: READERS }, (_, at) => 200 * at);
  const middle = 100 * READERS;
  const same = (/** @type {number} */ value) => new Float32Array(READERS).fill(value);
  const layout = { x1: same(middle), y1: same(0), x2: Float32Array.from(ends), y2: same(100), owner: same(0) };
  for (const name of ["x", "y", "width", "height", "layer", "lean"]) Object.assign(layout, { [name]: same(0) });
  const picture = {
    layout,
    before: null,
    segmentSides: same(SIDE),
    fanOut: [1],
    arrows: same(1),
    scene: { items: [] },
  };
  const s = new Noting();
  const look = { selected: -1, hovered: -1, side: SIDE };
  const view = { ...sight, top: -50, bottom: 150 };
  paintEdges(/** @type {any} */ ({ s, picture, look, view, zoom, theme: THEMES.light }));
  return { ...s, layout };
}

/** The height of a drawn line at an x, by halving the curve. */
const heightOf = (/** @type {number[]} */ line, /** @type {number} */ x) => {
  const [x1, y1, xa, ya, xb, yb, x2, y2] = line;
  const at = (/** @type {number[]} */ [a, b, c, d], /** @type {number} */ t) =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d;
  let [low, high] = [0, 1];
  for (let turn = 0; turn < 40; turn++) {
    const t = (low + high) / 2;
    if (at([x1, xa, xb, x2], t) < x === x1 < x2) low = t;
    else high = t;
  }
  return at([y1, ya, yb, y2], low);
};

test("of lines that take the same pixels from side to side, one is drawn, and none is lost", () => {
  const sight = { left: 150_000, right: 151_000 };
  const { lines, layout } = painted(sight, 1);
  assert.ok(lines.length > 20 && lines.length < 500, `${lines.length} lines`);
  const passing = lines.filter((line) => line[6] < sight.left);
  for (let at = 0; layout.x2[at] < sight.left; at += 7) {
    const own = [layout.x1[at], 0, layout.x1[at], 55, layout.x2[at], 45, layout.x2[at], 100];
    for (const x of [sight.left, sight.left + 300, sight.right]) {
      const height = heightOf(own, x);
      const nearest = Math.min(...passing.map((line) => Math.abs(heightOf(line, x) - height)));
      assert.ok(nearest <= 0.51, `reader ${at} at ${x}: the nearest line is ${nearest} away`);
    }
  }
});

test("all lines that end in sight are drawn, and only their arrows", () => {
  const sight = { left: 150_000, right: 151_000 };
  const { lines, arrows } = painted(sight, 1);
  const inside = (/** @type {number} */ x) => x >= sight.left && x <= sight.right;
  assert.deepEqual(lines.map((line) => line[6]).filter(inside), [150_000, 150_200, 150_400, 150_600, 150_800, 151_000]);
  assert.deepEqual(arrows, [150_000, 150_200, 150_400, 150_600, 150_800, 151_000]);
});

test("where all is in sight, all is drawn", () => {
  assert.equal(painted({ left: -1000, right: 1_000_000 }, 1).lines.length, READERS);
});
