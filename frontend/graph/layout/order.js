/* Fourth phase, per scope: the order within rows. Barycentre sweeps; the order with the fewest crossings wins. */

const MOST_STALE = 3; // sweeps without a better order

/** @param {Grid} grid */
export function orderRows(grid) {
  const count = grid.row.length;
  const position = new Float64Array(count);
  grid.links = adjacency(grid, count);
  const { up, down } = grid.links;
  const sortDown = () => {
    for (let row = 1; row < grid.rows.length; row++) sortRow(grid, row, up, position);
  };
  const sortUp = () => {
    for (let row = grid.rows.length - 2; row >= 0; row--) sortRow(grid, row, down, position);
  };
  // Ports first in the order of their sources: the scope around this one will mostly have them so as well.
  if (grid.entering) grid.rows[0].sort((a, b) => ownerAt(grid, a) - ownerAt(grid, b));
  grid.rows[0].forEach((element, at) => (position[element] = at));
  sortDown();
  const limit = count > 6000 ? 2 : count > 1500 ? 4 : 8;
  let best = grid.rows.map((row) => row.slice());
  let fewest = crossings(grid, position);
  let stale = 0;
  for (let sweep = 0; sweep < limit && fewest > 0 && stale < MOST_STALE; sweep++) {
    sortUp();
    sortDown();
    const now = crossings(grid, position);
    stale = now < fewest ? 0 : stale + 1;
    if (now < fewest) [fewest, best] = [now, grid.rows.map((row) => row.slice())];
  }
  grid.rows = best;
}

/**
 * Source of the net that an element is a bend or port of.
 * @param {Grid} grid
 * @param {number} element
 */
function ownerAt(grid, element) {
  return grid.net[element]?.owner ?? -1;
}

/**
 * Per side of a row: the links that lead there from each element, the elements they lead to, and their shifts.
 * @param {Grid} grid
 * @param {number} count
 */
function adjacency(grid, count) {
  /** @type {Links} */
  const up = {
    of: Array.from({ length: count }, () => []),
    ends: grid.upper,
    theirShift: grid.upperShift,
    ownShift: grid.lowerShift,
  };
  /** @type {Links} */
  const down = {
    of: Array.from({ length: count }, () => []),
    ends: grid.lower,
    theirShift: grid.lowerShift,
    ownShift: grid.upperShift,
  };
  for (let at = 0; at < grid.upper.length; at++) {
    // Links of straight nets skip rows; they take no part in ordering.
    if (grid.row[grid.lower[at]] !== grid.row[grid.upper[at]] + 1) continue;
    up.of[grid.lower[at]].push(at);
    down.of[grid.upper[at]].push(at);
  }
  return { up, down };
}

/**
 * Sorts a row by the mean place of its neighbours on one side.
 * @param {Grid} grid
 * @param {number} row
 * @param {{ of: number[][], ends: number[], theirShift: number[] }} options
 * @param {Float64Array} position
 */
function sortRow(grid, row, { of: links, ends, theirShift }, position) {
  const elements = grid.rows[row];
  // Elements without a neighbour there keep their place among the others.
  const free = elements.filter((element) => links[element].length);
  const wish = new Map();
  for (const element of free) {
    let sum = 0;
    for (const at of links[element]) sum += position[ends[at]] + (0.9 * theirShift[at]) / grid.width[ends[at]];
    wish.set(element, sum / links[element].length);
  }
  free.sort((a, b) => wish.get(a) - wish.get(b) || position[a] - position[b]);
  let next = 0;
  grid.rows[row] = elements.map((element) => (links[element].length ? free[next++] : element));
  grid.rows[row].forEach((element, at) => (position[element] = at));
}

/**
 * Counts crossings of links between neighbouring rows with a Fenwick tree over the lower row.
 * @param {Grid} grid
 * @param {Float64Array} position
 */
function crossings(grid, position) {
  let total = 0;
  for (let row = 0; row + 1 < grid.rows.length; row++) {
    const size = grid.rows[row + 1].length;
    const tree = new Int32Array(size + 1);
    let seen = 0;
    for (const element of grid.rows[row]) {
      const places = grid.links.down.of[element].map((at) => position[grid.lower[at]]).sort((a, b) => a - b);
      for (const place of places) {
        let before = 0;
        for (let at = place + 1; at > 0; at -= at & -at) before += tree[at];
        total += seen - before;
      }
      for (const place of places) {
        seen++;
        for (let at = place + 1; at <= size; at += at & -at) tree[at]++;
      }
    }
  }
  return total;
}
