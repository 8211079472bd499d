import assert from "node:assert/strict";
import { test } from "node:test";

import { firstCrowd } from "../graph/crowd.js";

const box = (/** @type {number} */ x, /** @type {number} */ y) => ({ x, y, width: 100, height: 50 });

test("a lone change before many is passed over", () => {
  const crowd = [box(2000, 900), box(2120, 900), box(2000, 1000), box(2120, 1000)];
  const place = firstCrowd([box(0, 0), ...crowd, box(9000, 1100)], 600, 400);
  assert.deepEqual(place, { x: 2000, y: 900, width: 220, height: 150 });
});

test("without a crowd the first change is shown, and where there is no room, it alone", () => {
  const lone = [box(0, 0), box(5000, 0), box(0, 5000)];
  assert.deepEqual(firstCrowd(lone, 600, 400), lone[0]);
  assert.deepEqual(firstCrowd([box(0, 0), box(10, 10)], -20, -20), box(0, 0));
});

test("many changes above each other are quickly looked through", () => {
  const column = Array.from({ length: 50_000 }, (_, at) => box(0, 60 * at));
  assert.deepEqual(firstCrowd(column, 600, 410), { x: 0, y: 0, width: 100, height: 410 });
});
