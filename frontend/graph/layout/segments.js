/* Last phase: every net as segments, from its source through the scopes it leaves and enters down to all its readers. */

const NONE = -1;
const SPREAD = 14;
const BORDER = 24; // of a box's width, that arrivals keep off

class Pen {
  constructor() {
    /** @type {number[]} */
    this.x1 = [];
    /** @type {number[]} */
    this.y1 = [];
    /** @type {number[]} */
    this.x2 = [];
    /** @type {number[]} */
    this.y2 = [];
    /** @type {number[]} */
    this.owner = [];
    /** @type {number[]} */
    this.previous = [];
  }

  /**
   * @param {number} x1
   * @param {number} y1
   * @param {number} x2
   * @param {number} y2
   * @param {number} owner
   * @param {number} previous
   */
  draw(x1, y1, x2, y2, owner, previous) {
    this.x1.push(x1);
    this.y1.push(y1);
    this.x2.push(x2);
    this.y2.push(y2);
    this.owner.push(owner);
    return this.previous.push(previous) - 1;
  }

  arrays() {
    return {
      x1: Float32Array.from(this.x1),
      y1: Float32Array.from(this.y1),
      x2: Float32Array.from(this.x2),
      y2: Float32Array.from(this.y2),
      owner: Int32Array.from(this.owner),
      previous: Int32Array.from(this.previous),
    };
  }
}

/**
 * @param {LayoutInput} input
 * @param {Tree} tree
 * @param {Nets} nets
 * @param {(Grid | null)[]} scopes
 * @param {LayoutBoxes} result
 */
export function drawSegments(input, tree, nets, scopes, result) {
  const pen = new Pen();
  const last = new Int32Array(input.source.length).fill(NONE);
  const arrivals = spreadArrivals(tree, nets, scopes, result);
  for (const [owner, edges] of edgesBySource(input, nets.drawn)) {
    const ends = new Map();
    drawNet(/** @type {Net} */ (nets.find(tree.parent[owner], owner)), NONE, {
      pen,
      tree,
      nets,
      scopes,
      result,
      arrivals,
      ends,
    });
    for (const edge of edges) last[edge] = ends.get(input.target[edge]) ?? NONE;
  }
  drawBypasses(input, pen, last);
  return { ...pen.arrays(), last };
}

/**
 * @param {LayoutInput} input
 * @param {Uint8Array} drawn
 */
function edgesBySource(input, drawn) {
  const edgesOf = new Map();
  for (let edge = 0; edge < drawn.length; edge++) {
    if (!drawn[edge]) continue;
    if (!edgesOf.has(input.source[edge])) edgesOf.set(input.source[edge], []);
    edgesOf.get(input.source[edge]).push(edge);
  }
  return edgesOf;
}

/**
 * An edge past a box that is gone: the line to that box, straight through its place, and on along its line.
 * @param {LayoutInput} input
 * @param {Pen} pen
 * @param {Int32Array<ArrayBuffer>} last
 */
function drawBypasses(input, pen, last) {
  const size = input.parent.length;
  const edgeOf = new Map();
  input.source.forEach((from, edge) => edgeOf.set(from * size + input.target[edge], edge));
  input.via.forEach((via, edge) => {
    if (via === NONE) return;
    const [owner, to] = [input.source[edge], input.target[edge]];
    const arriving = last[edgeOf.get(owner * size + via)];
    const onward = [];
    for (let at = last[edgeOf.get(via * size + to)]; at !== NONE; at = pen.previous[at]) onward.unshift(at);
    // Copies, since each has sides of its own; what other readers share before the last bend stays shared.
    const copy = (/** @type {number} */ at, /** @type {number} */ previous) =>
      pen.draw(pen.x1[at], pen.y1[at], pen.x2[at], pen.y2[at], owner, previous);
    const reached = copy(arriving, pen.previous[arriving]);
    const through = pen.draw(pen.x2[arriving], pen.y2[arriving], pen.x1[onward[0]], pen.y1[onward[0]], owner, reached);
    last[edge] = onward.reduce((previous, at) => copy(at, previous), through);
  });
}

/**
 * Net -> child -> x at which the net meets that box: side by side in the order in which they come, or at its port.
 * @param {Tree} tree
 * @param {Nets} nets
 * @param {(Grid | null)[]} scopes
 * @param {LayoutBoxes} result
 */
function spreadArrivals(tree, nets, scopes, result) {
  const arrivals = new Map();
  for (const grid of scopes) {
    for (const [child, coming] of grid ? comingTo(grid, tree) : []) {
      coming.sort(
        (/** @type {[number, Net]} */ a, /** @type {[number, Net]} */ b) => a[0] - b[0] || a[1].owner - b[1].owner,
      );
      const step = coming.length > 1 ? Math.min(SPREAD, (result.width[child] - BORDER) / (coming.length - 1)) : 0;
      coming.forEach((/** @type {[any, Net]} */ [, net], /** @type {number} */ at) => {
        const inner = nets.find(child, net.owner);
        const middle = result.x[child] + result.width[child] / 2 + Math.round((at - (coming.length - 1) / 2) * step);
        const port = inner && inner.from === NONE ? result.x[child] + inner.entryX : middle;
        if (!arrivals.has(net)) arrivals.set(net, new Map());
        arrivals.get(net).set(child, port);
      });
    }
  }
  return arrivals;
}

/**
 * Child -> the nets that reach it in a scope, each with the x from which it comes.
 * @param {Grid} grid
 * @param {Tree} tree
 */
function comingTo(grid, tree) {
  const coming = new Map();
  for (const [net, { chain }] of grid.chains) {
    for (const child of net.sinks) {
      const at = chain[grid.carrier(chain, grid.row[grid.element[tree.place[child]]])];
      if (!coming.has(child)) coming.set(child, []);
      coming.get(child).push([grid.x[at], net]);
    }
  }
  return coming;
}

/**
 * Draws one net of a scope and goes on into the scopes it enters or leaves to.
 * @param {Net} net
 * @param {number} previous
 * @param {any} context
 */
function drawNet(net, previous, context) {
  const { pen, tree, nets, scopes, result, arrivals, ends } = context;
  const grid = scopes[net.scope];
  const { chain, port } = grid.chains.get(net);
  const [left, up] = [result.x[net.scope], result.y[net.scope]];
  const rowBottom = (/** @type {number} */ row) => up + grid.top[row] + grid.depth[row];
  let x = left + grid.x[chain[0]] + (net.from === NONE ? 0 : exitOf(net, nets, result));
  let y = net.from === NONE ? up : result.y[net.from] + result.height[net.from];
  const go = (/** @type {number} */ toX, /** @type {number} */ toY) => {
    if (toX === x && toY === y) return;
    previous = pen.draw(x, y, toX, toY, net.owner, previous);
    [x, y] = [toX, toY];
  };
  const tips = chain.map((/** @type {number} */ element, /** @type {number} */ at) => {
    if (at) go(left + grid.x[element], up + grid.top[grid.row[element]]);
    go(x, rowBottom(grid.row[element]));
    return [x, y, previous];
  });
  if (net.exits) {
    go(left + grid.x[port], up + grid.top[grid.row[port]]);
    go(x, up + result.height[net.scope]);
  }
  const exit = previous;
  for (const child of net.sinks) {
    [x, y, previous] = tips[grid.carrier(chain, grid.row[grid.element[tree.place[child]]])];
    go(arrivals.get(net).get(child), result.y[child]);
    ends.set(child, previous);
    const inner = nets.find(child, net.owner);
    if (inner && inner.from === NONE) drawNet(inner, previous, context);
  }
  if (net.exits) drawNet(nets.find(tree.parent[net.scope], net.owner), exit, context);
}

/**
 * How far beside the middle of its box a net leaves it.
 * @param {Net} net
 * @param {Nets} nets
 * @param {LayoutBoxes} result
 */
function exitOf(net, nets, result) {
  const inner = net.from === net.owner ? undefined : nets.find(net.from, net.owner);
  return inner ? inner.exitX - result.width[net.from] / 2 : 0;
}
