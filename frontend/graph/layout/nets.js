/* First phase: which nets there are. A net is what one source box has in one scope: where it comes from, who reads it. */

const NONE = -1;

/**
 * Per box: its parent, whether it is open, how deep it lies, its children, and its place among its siblings.
 * @param {{ parent: Int32Array, group: Uint8Array }} options
 */
export function indexTree({ parent, group }) {
  const size = parent.length;
  const depth = new Int32Array(size);
  /** @type {number[][]} */
  const children = Array.from({ length: size }, () => []);
  const place = new Int32Array(size);
  for (let box = 1; box < size; box++) {
    depth[box] = depth[parent[box]] + 1;
    place[box] = children[parent[box]].push(box) - 1;
  }
  return { parent, group, depth, children, place };
}

/** All nets of one layout, by scope, and by scope and source. */
export class Nets {
  /**
   * @param {number} size
   * @param {number} edges
   */
  constructor(size, edges) {
    this.size = size;
    /** @type {Map<number, Net>} */
    this.byName = new Map();
    /** @type {Net[][]} */
    this.inScope = Array.from({ length: size }, () => []);
    this.drawn = new Uint8Array(edges);
  }

  /**
   * @param {number} scope
   * @param {number} owner
   */
  find(scope, owner) {
    return this.byName.get(scope * this.size + owner);
  }

  /**
   * The net of a source in a scope, which comes from one of the scope's children, or from outside (NONE).
   * @param {number} scope
   * @param {number} owner
   * @param {number} from
   */
  add(scope, owner, from) {
    let net = this.find(scope, owner);
    if (!net) {
      net = { scope, owner, from, sinks: [], known: new Set(), exits: false, entryX: 0, exitX: 0 };
      this.byName.set(scope * this.size + owner, net);
      this.inScope[scope].push(net);
    }
    return net;
  }

  /**
   * @param {Net} net
   * @param {number} child
   */
  addSink(net, child) {
    if (net.known.has(child)) return;
    net.known.add(child);
    net.sinks.push(child);
  }
}

/**
 * The children of one scope that two boxes are or are in; the same one twice where one box holds the other.
 * @param {Tree} tree
 * @param {number} first
 * @param {number} second
 */
function siblingsOf(tree, first, second) {
  let [a, b] = [first, second];
  while (tree.depth[a] > tree.depth[b]) a = tree.parent[a];
  while (tree.depth[b] > tree.depth[a]) b = tree.parent[b];
  while (a !== b && tree.parent[a] !== tree.parent[b]) [a, b] = [tree.parent[a], tree.parent[b]];
  return [a, b];
}

/**
 * Finds, per scope and source, where the net comes from and which children read it.
 * @param {LayoutInput} input
 * @param {Tree} tree
 */
export function routeNets(input, tree) {
  const nets = new Nets(input.parent.length, input.source.length);
  for (let edge = 0; edge < input.source.length; edge++) {
    if (input.via[edge] !== NONE) continue;
    const [owner, target] = [input.source[edge], input.target[edge]];
    const [a, b] = siblingsOf(tree, owner, target);
    if (a === b) continue; // a box and what it holds: being inside says it all
    nets.drawn[edge] = 1;
    for (let at = owner; at !== a; at = tree.parent[at]) nets.add(tree.parent[at], owner, at).exits = true;
    nets.addSink(nets.add(tree.parent[a], owner, a), b);
    for (let at = target; at !== b; at = tree.parent[at]) nets.addSink(nets.add(tree.parent[at], owner, NONE), at);
  }
  return nets;
}
