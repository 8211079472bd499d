/* Names of open groups: at their tops, and as a path where the tops are out of view. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeHeaders } from "../graph/drawing/open_groups.js";

const ruler = { font: "", measureText: (/** @type {string} */ text) => ({ width: 7 * text.length }) };
globalThis.document = /** @type {any} */ ({ createElement: () => ({ getContext: () => ruler }) });

/**
 * Places the names of nested groups, the outermost first.
 * @param {{ top: number, right?: number }} view the part of the world in sight
 * @param {{ y: number, height: number }[]} boxes of the groups, one in the other
 */
function placed({ top, right = 800 }, boxes) {
  const items = boxes.map((_, at) => ({ group: { label: `layer${at}` }, parent: at - 1 }));
  const picture = {
    scene: { items },
    box: (/** @type {number} */ item) => ({ x: 0, width: 1000, ...boxes[item] }),
    statusOf: () => null,
  };
  const view = { left: 100, right, top, bottom: top + 500 };
  const job = /** @type {any} */ ({ groups: items.map((_, at) => at), look: { headerTop: 0 }, picture, view, zoom: 1 });
  return placeHeaders(job, 1);
}

const NESTED = [
  { y: 0, height: 2000 },
  { y: 30, height: 1900 },
  { y: 60, height: 1800 },
];

test("names are at the tops of their groups while these are in view", () => {
  const headers = placed({ top: -50 }, NESTED);
  assert.deepEqual(
    headers.map(({ y }) => y),
    [0, 30, 60],
  );
});

test("names whose tops are out of view are one line, from the outermost to the innermost", () => {
  const headers = placed({ top: 400 }, NESTED);
  assert.deepEqual(
    headers.map(({ y }) => y),
    [400, 400, 400],
  );
  for (const [at, header] of headers.entries()) {
    assert.ok(header.x >= (at ? headers[at - 1].x + headers[at - 1].width : 100));
  }
});

test("a group that begins in view has its name at its top, below the path", () => {
  const headers = placed({ top: 400 }, [...NESTED.slice(0, 2), { y: 600, height: 500 }]);
  assert.deepEqual(
    headers.map(({ y }) => y),
    [400, 400, 600],
  );
});

test("a path that is longer than the view is wide goes on in the next line", () => {
  const headers = placed({ top: 400, right: 260 }, NESTED);
  assert.deepEqual(
    headers.map(({ y }) => y > 400),
    [false, false, true],
  );
});
