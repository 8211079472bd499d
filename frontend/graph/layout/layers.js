/* Second phase, per scope: which row each box is in. */

const NONE = -1;

/**
 * Longest path from the sources; then boxes sink towards their readers where that shortens their lines.
 * @param {Scope} scope
 * @param {Tree} tree
 */
export function assignLayers(scope, tree) {
  const count = scope.children.length;
  const layer = new Int32Array(count);
  const { outs, ins } = netsByChild(scope, tree);
  for (let at = 0; at < count; at++) pushReaders(at, layer, outs[at], tree);
  for (let at = count - 1; at >= 0; at--) sinkDown(at, layer, outs[at], ins[at], tree);
  // What no edge places is beside what ran just before it.
  for (let at = 1; at < count; at++) if (!outs[at].length && !ins[at].length) layer[at] = layer[at - 1];
  const lowest = layer.reduce((most, one) => Math.max(most, one), 0);
  return { layer, count: count ? lowest + 1 : 0 };
}

/**
 * The nets that leave each child and those that reach it from above.
 * @param {Scope} scope
 * @param {Tree} tree
 */
function netsByChild(scope, tree) {
  /** @type {Net[][]} */
  const outs = scope.children.map(() => []);
  /** @type {Net[][]} */
  const ins = scope.children.map(() => []);
  for (const net of scope.nets) {
    const from = net.from === NONE ? NONE : tree.place[net.from];
    if (from !== NONE) outs[from].push(net);
    for (const child of net.sinks) if (tree.place[child] > from) ins[tree.place[child]].push(net);
  }
  return { outs, ins };
}

/**
 * @param {number} at
 * @param {Int32Array} layer
 * @param {Net[]} outs
 * @param {Tree} tree
 */
function pushReaders(at, layer, outs, tree) {
  for (const net of outs) {
    for (const child of net.sinks) {
      const to = tree.place[child];
      if (to > at && layer[to] <= layer[at]) layer[to] = layer[at] + 1;
    }
  }
}

/**
 * @param {number} at
 * @param {Int32Array} layer
 * @param {Net[]} outs
 * @param {Net[]} ins
 * @param {Tree} tree
 */
function sinkDown(at, layer, outs, ins, tree) {
  if (!outs.length || outs.some((net) => net.exits)) return;
  let nearest = Infinity;
  for (const net of outs) {
    for (const child of net.sinks) if (tree.place[child] > at) nearest = Math.min(nearest, layer[tree.place[child]]);
  }
  if (nearest === Infinity || nearest - 1 <= layer[at]) return;
  const reaches = (/** @type {Net} */ net) =>
    net.exits || net.sinks.some((/** @type {number} */ child) => layer[tree.place[child]] >= nearest - 1);
  const stretched = ins.filter((net) => !reaches(net)).length;
  if (stretched < outs.length) layer[at] = nearest - 1;
}
