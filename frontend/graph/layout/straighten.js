/* Sixth phase, per scope: lines get as few steps as can be, and columns that nothing is in are closed. */

import { separation } from "./columns.js";

const NONE = -1;
const EMPTY_COLUMN = 48;

/**
 * Gives runs of bends one x where their neighbours in the rows leave room for it.
 * @param {Grid} grid
 */
export function straightenChains(grid) {
  const room = roomFinder(grid);
  const loose = looseElements(grid);
  const chains = [...grid.chains.values()].map(({ chain, port }) =>
    (port === NONE ? chain : [...chain, port]).filter(loose),
  );
  // Twice: a line that moved may have made room for one beside it.
  for (const pass of [chains, chains.slice().reverse()]) {
    for (const chain of pass) {
      for (let start = 0; start < chain.length;) start = straightenRun(grid, chain, start, room);
    }
  }
}

/**
 * Returns a function that gives the range of x in which an element can move.
 * @param {Grid} grid
 */
function roomFinder(grid) {
  const place = new Int32Array(grid.row.length);
  for (const row of grid.rows) row.forEach((element, at) => (place[element] = at));
  return (/** @type {number} */ element) => {
    const row = grid.rows[grid.row[element]];
    const [left, right] = [row[place[element] - 1], row[place[element] + 1]];
    return [
      left === undefined ? -Infinity : grid.x[left] + separation(grid, left, element),
      right === undefined ? Infinity : grid.x[right] - separation(grid, element, right),
    ];
  };
}

/**
 * Returns a function that says what may move: bends and ports, but a port right above or below a box stays in line with it.
 * @param {Grid} grid
 */
function looseElements(grid) {
  const beside = new Set();
  grid.upper.forEach((upper, at) => {
    if (grid.box[upper] !== NONE) beside.add(grid.lower[at]);
    if (grid.box[grid.lower[at]] !== NONE) beside.add(upper);
  });
  const ends = new Set([grid.entering ? 0 : NONE, grid.leaving ? grid.rows.length - 1 : NONE]);
  return (/** @type {number} */ element) =>
    grid.box[element] === NONE && !(ends.has(grid.row[element]) && beside.has(element));
}

/**
 * Straightens the longest run from `start` on that can have one x; returns where it ended.
 * @param {Grid} grid
 * @param {number[]} chain
 * @param {number} start
 * @param {(element: number) => number[]} room
 */
function straightenRun(grid, chain, start, room) {
  let [low, high] = room(chain[start]);
  let end = start + 1;
  for (; end < chain.length; end++) {
    const [left, right] = room(chain[end]);
    if (Math.max(low, left) > Math.min(high, right)) break;
    [low, high] = [Math.max(low, left), Math.min(high, right)];
  }
  const now = chain
    .slice(start, end)
    .map((element) => grid.x[element])
    .sort((a, b) => a - b);
  const wish = now[now.length >> 1];
  for (let at = start; at < end; at++) grid.x[chain[at]] = Math.min(high, Math.max(low, wish));
  return end;
}

/**
 * Takes out the part of every empty column that is wider than it needs to be, and starts at 0.
 * @param {Grid} grid
 */
export function closeColumns(grid) {
  const order = Array.from(grid.x.keys()).sort(
    (a, b) => grid.x[a] - grid.width[a] / 2 - (grid.x[b] - grid.width[b] / 2),
  );
  let reach = null;
  let cut = 0;
  grid.extent = 0;
  const moved = new Float64Array(grid.x.length);
  for (const element of order) {
    const left = grid.x[element] - grid.width[element] / 2;
    if (reach === null) cut = left;
    else if (left - reach > EMPTY_COLUMN) cut += left - reach - EMPTY_COLUMN;
    reach = Math.max(reach ?? -Infinity, left + grid.width[element]);
    moved[element] = grid.x[element] - cut;
    grid.extent = Math.max(grid.extent, moved[element] + grid.width[element] / 2);
  }
  grid.x = moved;
}
