/* The parts of the graph view that need no page: fonts, exported pictures, hits, colours. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SvgSurface } from "../graph/drawing/svg_surface.js";
import { sized } from "../graph/drawing/text.js";
import { THEMES } from "../graph/drawing/theme.js";
import { itemUnder, onToggle } from "../graph/hits.js";

test("a font comes in another size", () => {
  assert.equal(sized("600 13px Arial", 8.26), "600 8.3px Arial");
});

test("an SVG is in pixels and escaped", () => {
  const surface = new SvgSurface(40, 30);
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
  assert.equal(
    surface.toString(),
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" viewBox="0 0 40 30">' +
      '<path d="M10 5L16 5L16 13L10 13L10 5Z" fill="&#34;&#60;"/>' +
      '<text x="1" y="2" dominant-baseline="central" text-anchor="start" fill="&#34;&#60;" ' +
      'font-family="Arial" font-size="12" font-weight="600">a&#60;b</text></svg>',
  );
});

const hits = [
  { name: "nothing", place: [400, 400, 1], hit: [-1, false] },
  { name: "a node", place: [50, 210, 1], hit: [3, false] },
  { name: "a closed group", place: [150, 90, 1], hit: [2, false] },
  { name: "a name, before the box that it floats over", place: [90, 70, 1], hit: [1, false] },
  { name: "the sign that closes a group", place: [26, 69, 1], hit: [1, true] },
  { name: "that sign from afar, where it is too small", place: [26, 69, 0.4], hit: [1, false] },
  { name: "the open group itself", place: [250, 250, 1], hit: [1, false] },
];
for (const { name, place, hit } of hits) {
  test(`the pointer is on ${name}`, () => {
    const [x, y, zoom] = place;
    const items = [{}, { group: { id: "open" }, open: true }, { group: { id: "closed" } }, { group: null }];
    const layout = { x: [0, 10, 20, 20], y: [0, 10, 60, 200], width: [], height: [] };
    const boxes = [
      [0, 0, 500, 500],
      [10, 10, 300, 300],
      [20, 60, 168, 48],
      [20, 200, 84, 28],
    ];
    const within = (/** @type {number[]} */ [left, top, width, height]) =>
      x >= left && y >= top && x <= left + width && y <= top + height;
    const itemAt = () => boxes.findLastIndex((box, at) => at && within(box));
    const picture = /** @type {any} */ ({ scene: { items }, layout, itemAt });
    const pointer = { x, y, side: 2, offset: { x: 0, y: 0 } };
    const headers = [{ item: 1, label: "open", x: 16, y: 55, width: 80, height: 28 }]; // its name, over what it holds
    const item = itemUnder(picture, headers, pointer);
    assert.deepEqual([item, item > 0 && onToggle(picture, headers, pointer, { item, zoom })], hit);
  });
}

/** Relative luminance of a colour such as "#1a2b3c", see WCAG 2.1. */
const luminance = (/** @type {string} */ hex) =>
  [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);

const contrast = (/** @type {string} */ one, /** @type {string} */ other) => {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

for (const [name, theme] of Object.entries(THEMES)) {
  test(`texts can be read in the ${name} theme: WCAG asks for a contrast of 4.5`, () => {
    const pairs = [
      [theme.text, theme.box],
      [theme.soft, theme.box],
      [theme.text, theme.closed],
      [theme.chipText, theme.chip],
      [theme.groupText, theme.page],
      [theme.soft, theme.page],
      [theme.removed.text, theme.removed.fill],
      [theme.added.text, theme.added.fill],
      [theme.changed.text, theme.changed.fill],
    ];
    for (const [text, ground] of pairs) assert.ok(contrast(text, ground) >= 4.5, `${text} on ${ground}`);
  });
}
