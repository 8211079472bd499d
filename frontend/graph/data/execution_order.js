/* The graph view's execution order: a valid one that leaves a module only when nothing more in it can run.
 *
 * Kahn's algorithm with one heap of ready nodes per module path, so that the next node comes from the deepest module of
 * the last one that has any. A circle (two versions of a graph may order nodes differently) is cut at its earliest node.
 * What no edge joins to anything (a check, say) would run first of all, and cut its module in two: it waits for its
 * module.
 */

const NONE = -1;

/** @typedef {{parent: QueuedModule | null, children: Map<string, QueuedModule>, ready: number[], joined: boolean}} QueuedModule */

/**
 * @param {number[]} keys the nodes of one body
 * @param {Map<number, string[]>} paths key -> segments of its module path
 * @param {[number, number][]} edges pairs of keys
 * @returns {number[]} the keys in the order found
 */
export function stayInModule(keys, paths, edges) {
  const queue = new ModuleQueue(
    keys.map((key) => /** @type {string[]} */ (paths.get(key))),
    indexEdges(keys, edges),
  );
  const order = [];
  while (order.length < keys.length) order.push(keys[queue.next()]);
  return order;
}

/**
 * Per place in `keys`: how many edges it waits for, and the places of its readers.
 * @param {number[]} keys
 * @param {[number, number][]} edges
 */
function indexEdges(keys, edges) {
  const index = new Map(keys.map((key, at) => [key, at]));
  const waiting = new Int32Array(keys.length);
  /** @type {number[][]} */
  const readers = keys.map(() => []);
  for (const [from, to] of edges) {
    readers[/** @type {number} */ (index.get(from))].push(/** @type {number} */ (index.get(to)));
    waiting[/** @type {number} */ (index.get(to))]++;
  }
  return { waiting, readers };
}

class ModuleQueue {
  /**
   * @param {string[][]} paths
   * @param {{ waiting: Int32Array, readers: number[][] }} options
   */
  constructor(paths, { waiting, readers }) {
    this.waiting = waiting;
    this.readers = readers;
    /** @type {QueuedModule} */
    this.top = { parent: null, children: new Map(), ready: [], joined: false };
    this.homes = paths.map((path) => path.reduce(innerModule, this.top));
    this.loose = paths.map((_, at) => !waiting[at] && !readers[at].length);
    this.homes.forEach((home, at) => {
      for (let module = /** @type {QueuedModule | null} */ (home); module && !this.loose[at]; module = module.parent) {
        module.joined = true;
      }
    });
    this.done = new Uint8Array(paths.length);
    this.current = this.top;
    this.earliest = 0;
    for (let at = 0; at < paths.length; at++) if (!waiting[at]) this._queue(at);
  }

  /** @param {number} at */
  _queue(at) {
    for (let module = /** @type {QueuedModule | null} */ (this.homes[at]); module; module = module.parent) {
      heapPush(module.ready, at);
      if (this.loose[at] && module.joined) return;
    }
  }

  /** The next place to run: ready in the innermost module around the last one, or else the earliest that is left. */
  next() {
    let at = NONE;
    for (
      let module = /** @type {QueuedModule | null} */ (this.current);
      module && at === NONE;
      module = module.parent
    ) {
      while (module.ready.length && this.done[module.ready[0]]) heapPop(module.ready);
      if (module.ready.length) at = module.ready[0];
    }
    if (at === NONE) {
      while (this.done[this.earliest]) this.earliest++;
      at = this.earliest;
    }
    this.done[at] = 1;
    this.current = this.homes[at];
    for (const reader of this.readers[at]) if (--this.waiting[reader] === 0 && !this.done[reader]) this._queue(reader);
    return at;
  }
}

/**
 * @param {QueuedModule} module
 * @param {string} segment
 * @returns {QueuedModule}
 */
function innerModule(module, segment) {
  if (!module.children.has(segment)) {
    module.children.set(segment, { parent: module, children: new Map(), ready: [], joined: false });
  }
  return /** @type {QueuedModule} */ (module.children.get(segment));
}

/**
 * @param {number[]} heap
 * @param {number} value
 */
function heapPush(heap, value) {
  let at = heap.push(value) - 1;
  for (let up = (at - 1) >> 1; at && heap[up] > value; at = up, up = (at - 1) >> 1) heap[at] = heap[up];
  heap[at] = value;
}

/** @param {number[]} heap */
function heapPop(heap) {
  const value = /** @type {number} */ (heap.pop());
  if (!heap.length) return;
  let at = 0;
  for (let down = 1; down < heap.length; down = 2 * at + 1) {
    if (down + 1 < heap.length && heap[down + 1] < heap[down]) down++;
    if (heap[down] >= value) break;
    heap[at] = heap[down];
    at = down;
  }
  heap[at] = value;
}
