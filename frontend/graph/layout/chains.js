/* Third phase, per scope: its rows of elements, and the chain of bends of each net from row to row. */

const NONE = -1;
const BEND = 8;
const BEND_BUDGET = 60000; // bends in one scope, beyond which nets that span many layers run straight
const LONG_SPAN = 40;
// How much a link wants to be straight: from neighbour to neighbour, along a long line, and at a line's ends. The
// main path weighs most, so that lines that pass it by make way, all of them together, and not the boxes.
const MAIN = 4;
const LONG = 2;
const SIDE = 1;
/** @type {Links} */
const NO_LINKS = { of: [], ends: [], theirShift: [], ownShift: [] };

/**
 * The scope as rows of elements: boxes, bends of nets, and ports in a first and last row of their own.
 *
 * An element is an index into these arrays. A link joins elements of neighbouring rows; its shifts say where it
 * meets them, to the right of their middles. A net's chain is its source or the port it enters by, and its bends; the
 * port by which it leaves stands apart.
 */
export class Grid {
  /**
   * @param {number} count
   * @param {boolean} entering
   * @param {boolean} leaving
   */
  constructor(count, entering, leaving) {
    /** @type {number[][]} */
    this.rows = Array.from({ length: Math.max(count, 1) }, () => []);
    this.entering = entering;
    this.leaving = leaving;
    /** @type {Map<Net, {chain: number[], port: number}>} */
    this.chains = new Map();
    // Per element: its row, how wide it is, the box it is or NONE, and the net it is a bend or port of.
    /** @type {number[]} */
    this.row = [];
    /** @type {number[]} */
    this.width = [];
    /** @type {number[]} */
    this.box = [];
    /** @type {(Net | null)[]} */
    this.net = [];
    // Per link.
    /** @type {number[]} */
    this.upper = [];
    /** @type {number[]} */
    this.lower = [];
    /** @type {number[]} */
    this.weight = [];
    /** @type {number[]} */
    this.upperShift = [];
    /** @type {number[]} */
    this.lowerShift = [];
    /** @type {number[]} child of the scope -> its element */
    this.element = [];
    // What later phases find: orderRows, placeX, closeColumns, placeY.
    /** @type {{up: Links, down: Links}} */
    this.links = { up: NO_LINKS, down: NO_LINKS };
    this.x = new Float64Array();
    this.extent = 0;
    this.top = new Float64Array();
    this.depth = new Float64Array();
    this.bottom = 0;
  }

  /**
   * @param {number} row
   * @param {number} width
   * @param {number} box
   * @param {Net | null} net
   */
  add(row, width, box, net) {
    const element = this.row.push(row) - 1;
    this.width.push(width);
    this.box.push(box);
    this.net.push(net);
    this.rows[row].push(element);
    return element;
  }

  /**
   * @param {number} upper
   * @param {number} lower
   * @param {number} weight
   * @param {number} upperShift
   * @param {number} lowerShift
   */
  link(upper, lower, weight, upperShift, lowerShift) {
    this.upper.push(upper);
    this.lower.push(lower);
    this.weight.push(weight);
    this.upperShift.push(upperShift);
    this.lowerShift.push(lowerShift);
  }

  /**
   * Where in a net's chain it goes on to `row`: at its lowest element above that.
   * @param {number[]} chain
   * @param {number} row
   */
  carrier(chain, row) {
    return Math.max(0, Math.min(row - 1 - this.row[chain[0]], chain.length - 1));
  }
}

/**
 * @param {Scope} scope
 * @param {{ layer: Int32Array, count: number }} layers
 * @param {Tree} tree
 * @param {LayoutBoxes} result
 */
export function buildChains(scope, layers, tree, result) {
  const entering = scope.nets.some((net) => net.from === NONE);
  const leaving = scope.nets.some((net) => net.exits);
  const first = entering ? 1 : 0;
  const grid = new Grid(layers.count + first + (leaving ? 1 : 0), entering, leaving);
  grid.element = scope.children.map((child, at) =>
    grid.add(layers.layer[at] + first, result.width[child], child, null),
  );
  scope.children.forEach((child, at) => (result.layer[child] = layers.layer[at]));
  const spans = scope.nets.map((net) => spanOf(grid, net, tree));
  const bends = spans.reduce((sum, { start, end }) => sum + Math.max(0, end - start - 1), 0);
  scope.nets.forEach((net, at) => {
    const straight = bends > BEND_BUDGET && spans[at].end - spans[at].start > LONG_SPAN;
    addChain(grid, net, { ...spans[at], straight }, { scope, tree, result });
  });
  return grid;
}

/**
 * The rows that a net starts and ends in.
 * @param {Grid} grid
 * @param {Net} net
 * @param {Tree} tree
 */
function spanOf(grid, net, tree) {
  const rowOf = (/** @type {number} */ child) => grid.row[grid.element[tree.place[child]]];
  const start = net.from === NONE ? 0 : rowOf(net.from);
  const end = net.exits ? grid.rows.length - 1 : start;
  return {
    start,
    end: net.sinks.reduce((most, child) => Math.max(most, rowOf(child)), end),
  };
}

/**
 * One net: its source or port, a bend per row down to its last reader, links from there to all readers.
 * @param {Grid} grid
 * @param {Net} net
 * @param {{ start: number, end: number, straight: boolean }} options
 * @param {{ scope: Scope, tree: Tree, result: LayoutBoxes }} more
 */
function addChain(grid, net, { start, end, straight }, { scope, tree, result }) {
  const top = net.from === NONE ? grid.add(0, BEND, NONE, net) : grid.element[tree.place[net.from]];
  const topShift = net.from === NONE ? 0 : exitShift(scope, net, result);
  const shiftOf = (/** @type {number} */ element) => (element === top ? topShift : 0);
  const chain = [top];
  for (let row = start + 1; row < end && !straight; row++) {
    const bend = grid.add(row, BEND, NONE, net);
    const above = chain[chain.length - 1];
    grid.link(above, bend, above === top ? SIDE : LONG, shiftOf(above), 0);
    chain.push(bend);
  }
  for (const child of net.sinks) {
    const element = grid.element[tree.place[child]];
    if (grid.row[element] <= start) continue; // runs backward: drawn, but shapes nothing
    const above = chain[grid.carrier(chain, grid.row[element])];
    grid.link(above, element, above === top ? MAIN : SIDE, shiftOf(above), entryShift(scope, net, child, result));
  }
  const port = net.exits ? grid.add(grid.rows.length - 1, BEND, NONE, net) : NONE;
  if (net.exits) {
    const above = chain[chain.length - 1];
    grid.link(above, port, above === top ? MAIN : LONG, shiftOf(above), 0);
  }
  grid.chains.set(net, { chain, port });
}

/**
 * Where a net leaves or enters a box, relative to the box's middle: inner scopes are laid out already.
 *
 * Half of what the ways out lie beside the ways in is taken off at either end: else a column of such boxes, each
 * in line with the one above, would wander off to one side.
 * @param {Scope} scope
 * @param {Net} net
 * @param {LayoutBoxes} result
 */
function exitShift(scope, net, result) {
  const inner = net.from === net.owner ? undefined : scope.find(net.from, net.owner);
  return inner ? inner.exitX - result.width[net.from] / 2 - result.lean[net.from] : 0;
}

/**
 * @param {Scope} scope
 * @param {Net} net
 * @param {number} child
 * @param {LayoutBoxes} result
 */
function entryShift(scope, net, child, result) {
  const inner = scope.find(child, net.owner);
  return inner && inner.from === NONE ? inner.entryX - result.width[child] / 2 + result.lean[child] : 0;
}
