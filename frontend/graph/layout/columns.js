/* Fifth phase, per scope: x. Sweeps in which each row is fitted to its neighbours.
 *
 * Least absolute instead of least squared distance, since a median makes lines exactly straight where a mean would leave
 * them all slightly bent. A row is an isotonic regression: elements that would overlap form a block that moves as one.
 */

/** @typedef {[place: number, pull: number]} Wish where an element would stand, and how much it matters */

const NONE = -1;
const MOST_WISHES = 200;

/**
 * Middles of all elements.
 * @param {Grid} grid
 */
export function placeX(grid) {
  const x = new Float64Array(grid.row.length);
  grid.x = x;
  for (const row of grid.rows) {
    let at = 0;
    row.forEach((element, index) => {
      at += index ? separation(grid, row[index - 1], element) : 0;
      x[element] = at;
    });
    for (const element of row) x[element] -= at / 2;
  }
  const rounds = grid.row.length > 6000 ? 2 : 5;
  const { up, down } = grid.links;
  for (let round = 0; round < rounds; round++) {
    for (let row = 1; row < grid.rows.length; row++) fitRow(grid, row, [up]);
    for (let row = grid.rows.length - 2; row >= 0; row--) fitRow(grid, row, [down]);
  }
  for (let row = 0; row < grid.rows.length; row++) fitRow(grid, row, [up, down]);
}

/**
 * @param {Grid} grid
 * @param {number} left
 * @param {number} right
 */
export function separation(grid, left, right) {
  const bends = Number(grid.box[left] === NONE) + Number(grid.box[right] === NONE);
  return (grid.width[left] + grid.width[right]) / 2 + (bends === 2 ? 5 : bends === 1 ? 10 : 20);
}

/**
 * Fits a row to its neighbours on some sides.
 * @param {Grid} grid
 * @param {number} row
 * @param {Links[]} sides
 */
function fitRow(grid, row, sides) {
  const elements = grid.rows[row];
  const offsets = new Float64Array(elements.length);
  /** @type {{start: number, wishes: Wish[], middle: number}[]} */
  const blocks = [];
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    if (index) offsets[index] = offsets[index - 1] + separation(grid, elements[index - 1], element);
    /** @type {Wish[]} */
    let wishes = [];
    for (const side of sides) collect(grid, side, element, offsets[index], wishes);
    if (!wishes.length) wishes.push([grid.x[element] - offsets[index], 0.01]);
    let start = index;
    let middle = weightedMedian(wishes);
    for (let left = blocks[blocks.length - 1]; left && left.middle > middle; left = blocks[blocks.length - 1]) {
      blocks.pop();
      wishes = merged(left.wishes, wishes);
      start = left.start;
      middle = weightedMedian(wishes);
    }
    blocks.push({ start, wishes, middle });
  }
  blocks.forEach(({ start, middle }, at) => {
    const end = at + 1 < blocks.length ? blocks[at + 1].start : elements.length;
    for (let index = start; index < end; index++) grid.x[elements[index]] = middle + offsets[index];
  });
}

/**
 * Where the neighbours of an element want it, and how much.
 * @param {Grid} grid
 * @param {Links} options
 * @param {number} element
 * @param {number} offset
 * @param {Wish[]} wishes
 */
function collect(grid, { of: links, ends, theirShift, ownShift }, element, offset, wishes) {
  for (const at of links[element]) {
    wishes.push([grid.x[ends[at]] + theirShift[at] - ownShift[at] - offset, grid.weight[at]]);
  }
}

/**
 * Wishes of two blocks as one; very many settle for their mean, which keeps a row of thousands linear.
 * @param {Wish[]} first
 * @param {Wish[]} second
 * @returns {Wish[]}
 */
function merged(first, second) {
  if (first.length + second.length <= MOST_WISHES) return first.concat(second);
  let [sum, weight] = [0, 0];
  for (const wishes of [first, second]) {
    for (const [place, pull] of wishes) [sum, weight] = [sum + place * pull, weight + pull];
  }
  return [[sum / weight, weight]];
}

/** @param {Wish[]} wishes */
function weightedMedian(wishes) {
  if (wishes.length === 1) return wishes[0][0];
  wishes.sort((a, b) => a[0] - b[0]);
  let total = 0;
  for (const wish of wishes) total += wish[1];
  let sum = 0;
  for (let at = 0; at < wishes.length; at++) {
    sum += wishes[at][1];
    if (sum * 2 > total) return wishes[at][0];
    if (sum * 2 === total) return (wishes[at][0] + wishes[at + 1][0]) / 2;
  }
  return wishes[wishes.length - 1][0];
}
