/* graph/layout: boxes and edges in, places and segments out. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../graph/layout/run.js";

/** @typedef {[parent: number, group: number, width: number, height: number]} Box */

/** @type {Box} */
const ROOT = [-1, 1, 0, 0];
/** @type {Box} */
const BOX = [0, 0, 100, 40];

/**
 * @param {Box[]} boxes
 * @param {...number[]} edges from, to, and the box through whose place the edge runs
 */
function layOut(boxes, ...edges) {
  const made = run({
    parent: Int32Array.from(boxes, ([parent]) => parent),
    group: Uint8Array.from(boxes, ([, group]) => group),
    width: Float32Array.from(boxes, ([, , width]) => width),
    height: Float32Array.from(boxes, ([, , , height]) => height),
    source: Int32Array.from(edges, ([from]) => from),
    target: Int32Array.from(edges, ([, to]) => to),
    via: Int32Array.from(edges, ([, , via]) => via ?? -1),
  });
  return Object.fromEntries(Object.entries(made).map(([name, array]) => [name, [...array]]));
}

/** @param {Record<string, number[]>} made */
const middles = (made) => made.x.map((x, box) => x + made.width[box] / 2).slice(1);

test("a box stands below what it reads", () => {
  assert.deepEqual(layOut([ROOT, BOX, BOX], [1, 2]), {
    x: [0, 14, 14],
    y: [0, 14, 80],
    width: [128, 100, 100],
    height: [134, 40, 40],
    layer: [0, 0, 1],
    lean: [0, 0, 0],
    x1: [64],
    y1: [54],
    x2: [64],
    y2: [80],
    owner: [1],
    previous: [-1],
    last: [0],
  });
});

test("layers are longest paths, and sources stand near their readers", () => {
  // 1 → 2 → 3 → 5, and 4, which only 5 reads.
  const made = layOut([ROOT, BOX, BOX, BOX, BOX, BOX], [1, 2], [2, 3], [3, 5], [4, 5]);
  assert.deepEqual(made.layer, [0, 0, 1, 2, 2, 3]);
});

test("a box that no edge places is beside the one that ran before it", () => {
  assert.deepEqual(layOut([ROOT, BOX, BOX, BOX], [1, 2]).layer, [0, 0, 1, 1]);
});

test("crossings are sorted away", () => {
  const [one, other, underOther, underOne] = middles(layOut([ROOT, BOX, BOX, BOX, BOX], [1, 4], [2, 3]));
  assert.equal(one < other, underOne < underOther);
});

test("a line past a box is straight", () => {
  const made = layOut([ROOT, BOX, BOX, BOX], [1, 2], [2, 3], [1, 3]);
  const [first, second, third] = middles(made);
  assert.deepEqual([first, second], [second, third]);
  const line = [];
  for (let at = made.last[2]; at >= 0; at = made.previous[at]) line.push([made.x1[at], made.x2[at]]);
  assert.equal(new Set(line.slice(1, -1).flat()).size, 1);
});

test("readers share a line as far as they can", () => {
  const boxes = [ROOT, ...Array.from({ length: 41 }, () => BOX)];
  const chain = Array.from({ length: 40 }, (_, at) => [at + 1, at + 2]);
  const readers = Array.from({ length: 39 }, (_, at) => [1, at + 3]);
  const [alone, shared] = [layOut(boxes, ...chain), layOut(boxes, ...chain, ...readers)];
  assert.ok(shared.x1.length - alone.x1.length < 4 * 40);
});

test("a line enters a group through one port", () => {
  /** @type {Box} */
  const inside = [2, 0, 100, 40];
  const made = layOut([ROOT, BOX, [0, 1, 60, 20], inside, inside, BOX], [1, 3], [1, 4], [3, 5]);
  assert.ok(made.width[2] > made.width[3] + made.width[4]);
  const ports = new Set(made.x2.filter((_, at) => made.y2[at] === made.y[2]));
  assert.equal(ports.size, 1);
  assert.ok(made.owner.filter((owner) => owner === 3).length >= 2);
});

test("an edge past a removed box runs through its place", () => {
  const made = layOut([ROOT, BOX, BOX, BOX], [1, 2], [2, 3], [1, 3, 2]);
  assert.deepEqual(new Set([...made.x1, ...made.x2]), new Set([64]));
  assert.equal(Math.max(...made.y2), made.y[3]);
});

test("a box and what it holds have no line between them", () => {
  const made = layOut([ROOT, [0, 1, 60, 20], [1, 0, 100, 40]], [1, 2]);
  assert.deepEqual([made.x1, made.last], [[], [-1]]);
});

test("an empty graph has a layout", () => {
  const made = layOut([ROOT]);
  assert.deepEqual([made.width, made.height, made.x1], [[28], [28], []]);
});

test("equal input gives equal output, and the input stays as it was", () => {
  const boxes = [ROOT, ...Array.from({ length: 30 }, () => BOX)];
  const edges = Array.from({ length: 60 }, (_, at) => [1 + ((at * 7) % 29), 2 + ((at * 7) % 29)]);
  assert.deepEqual(layOut(boxes, ...edges), layOut(boxes, ...edges));
});
