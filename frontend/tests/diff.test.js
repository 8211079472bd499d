/* viewer/diff: which lines two texts share. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { diffLines, increasing, textLines } from "../viewer/diff.js";

/**
 * @param {string} before
 * @param {string} after
 */
const compare = (before, after) =>
  diffLines(textLines(before), textLines(after), (one, other) => one.text === other.text);

/** @param {ReturnType<typeof compare>} rows */
const marked = (rows) =>
  rows.map(
    ({ kind, line }) =>
      `${/** @type {Record<string, string>} */ ({ same: " ", removed: "-", added: "+" })[kind]}${line.text}`,
  );

test("equal texts have only common lines, counted from 1", () => {
  const rows = compare("a\nb", "a\nb");
  assert.deepEqual(
    rows.map((row) => [row.kind, row.old, row.new]),
    [
      ["same", 1, 1],
      ["same", 2, 2],
    ],
  );
});

test("removed lines come before added ones", () => {
  assert.deepEqual(marked(compare("a\nb\nc", "a\nx\nc")), [" a", "-b", "+x", " c"]);
});

test("a line that moved is removed and added, and its rows know each other", () => {
  const rows = compare("a\nb\nc\nd", "b\nc\nd\na");
  assert.deepEqual(marked(rows), ["-a", " b", " c", " d", "+a"]);
  assert.deepEqual(
    rows.filter((row) => row.pair).map((row) => [row.kind, row.pair?.text, row.moved]),
    [
      ["removed", "a", true],
      ["added", "a", true],
    ],
  );
});

test("equal lines of one text are told apart by how often they stood before", () => {
  assert.deepEqual(marked(compare("x\nx", "x\nx\nx")), [" x", " x", "+x"]);
  assert.deepEqual(
    textLines("x\ny\nx\n").map((line) => line.key),
    ["0:x", "0:y", "1:x"],
  );
});

/** The length of a longest strictly increasing run, from its definition: all runs that end at each place. */
function longest(/** @type {number[]} */ numbers) {
  /** @type {number[]} */
  const ends = [];
  numbers.forEach((number, at) =>
    ends.push(1 + Math.max(0, ...ends.filter((_, before) => before < at && numbers[before] < number))),
  );
  return Math.max(0, ...ends);
}

test("the longest increasing run is found in any numbers", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) % 12;
  for (let round = 0; round < 300; round++) {
    const numbers = Array.from({ length: round % 20 }, random);
    const run = increasing(numbers);
    const values = run.map((at) => numbers[at]);
    assert.ok(run.every((at, place) => !place || (at > run[place - 1] && values[place] > values[place - 1])));
    assert.equal(run.length, longest(numbers), String(numbers));
  }
});
