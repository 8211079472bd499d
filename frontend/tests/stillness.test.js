/* graph/stillness: where to look once another layout takes the place of one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { commonShift, withBoxInSight } from "../graph/stillness.js";

const MIDDLE = { x: 100, y: 100 };
const ROOM = { width: 200, height: 200 };

/**
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
const move = ([x, y], [left, top]) => ({ from: { x, y }, to: { x: left, y: top } });

test("most of the boxes in sight stay, whatever the one in the middle does", () => {
  const moves = [
    move([100, 100], [900, 900]),
    move([20, 30], [40, 130]),
    move([150, 60], [170, 160]),
    move([60, 180], [80, 280]),
  ];
  assert.deepEqual(commonShift(moves, MIDDLE, ROOM), { x: 20, y: 100 });
});

test("boxes out of sight do not count while one is in sight", () => {
  const far = [1, 2, 3].map((number) => move([1000 * number, 0], [0, 0]));
  assert.deepEqual(commonShift([...far, move([90, 90], [95, 60])], MIDDLE, ROOM), { x: 5, y: -30 });
});

test("two boxes that part move by the same", () => {
  assert.deepEqual(commonShift([move([50, 50], [50, 50]), move([50, 150], [50, 90])], MIDDLE, ROOM), { x: 0, y: -30 });
});

test("with nothing in sight, the nearest box stays", () => {
  const moves = [move([100, 900], [100, 500]), move([100, 400], [110, 300])];
  assert.deepEqual(commonShift(moves, MIDDLE, ROOM), { x: 10, y: -100 });
});

test("without a common box the view stays", () => {
  assert.equal(commonShift([], MIDDLE, ROOM), null);
});

test("a view without a box goes to the nearest one, any other stays", () => {
  const places = [
    { x: 900, y: 100 },
    { x: 100, y: 500 },
  ];
  assert.deepEqual(withBoxInSight(places, MIDDLE, ROOM), { x: 100, y: 500 });
  assert.deepEqual(withBoxInSight([...places, { x: 60, y: 60 }], MIDDLE, ROOM), MIDDLE);
  assert.deepEqual(withBoxInSight([], MIDDLE, ROOM), MIDDLE);
});
