import assert from "node:assert/strict";
import test from "node:test";
import { RowIndex } from "../graph/drawing/row_index.js";

test("an index of rows finds every span that a window touches, in order and once", () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const spans = Array.from({ length: 500 }, (_, at) => {
    const top = random() * 20_000 - 100;
    return [top, top + random() ** 6 * (at % 9 ? 800 : 20_000)];
  });
  const index = new RowIndex(
    spans.length,
    (at) => spans[at][0],
    (at) => spans[at][1],
  );
  for (let turn = 0; turn < 200; turn++) {
    const top = random() * 22_000 - 1000;
    const bottom = top + random() * 3000;
    const found = index.between(top, bottom);
    const wanted = [...spans.keys()].filter((at) => spans[at][0] <= bottom && spans[at][1] >= top);
    assert.deepEqual(
      found,
      [...new Set(found)].sort((a, b) => a - b),
    );
    assert.ok(wanted.every((at) => found.includes(at)));
  }
  assert.ok(index.between(5000, 5400).length < 200);
});
