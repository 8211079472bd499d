/* The graph view's scene: the boxes and edges that are visible for one set of open groups, ready to be laid out. */

const NONE = -1;
export const SIDES = { BEFORE: 1, AFTER: 2 }; // bits: what is in both graphs has both

export class Scene {
  /**
   * @param {Outline} outline
   * @param {Set<string>} expanded ids of the groups that are open
   * @param {(scene: Scene, item: number) => Size} measure size of item n
   */
  constructor(outline, expanded, measure) {
    this.outline = outline;
    this.model = outline.model;
    /** @type {Item[]} */
    this.items = [{ group: outline.root, open: true, key: NONE, caption: "", parent: NONE }];
    /** @type {number[]} */
    this.itemOfKey = [];
    /** @type {number[]} */
    this.ownerOfKey = [];
    /** @type {[number, number][]} */
    this.edges = [];
    /** @type {number[]} */
    this.via = []; // item through whose place an edge may run, since the two are never seen together
    /** @type {Map<number, number>} */
    this.edgeIndex = new Map();
    /** @type {Map<string, number>} */
    this.itemOfGroup = new Map([["", 0]]);
    this._visit(outline.root, 0, expanded);
    this._placeConstants();
    this._connect();
    this.input = this._layoutInput(measure);
    this.fanOut = new Int32Array(this.items.length);
    for (let edge = 0; edge < this.edges.length; edge++) this.fanOut[this.edges[edge][0]]++;
  }

  /**
   * What the layout is made from: see layout/run.js.
   * @param {(scene: Scene, item: number) => Size} measure
   */
  _layoutInput(measure) {
    const sizes = this.items.map((_, item) => measure(this, item));
    return {
      parent: Int32Array.from(this.items, (item) => item.parent),
      group: Uint8Array.from(this.items, (item) => (item.open ? 1 : 0)),
      width: Float32Array.from(sizes, (size) => size.width),
      height: Float32Array.from(sizes, (size) => size.height),
      source: Int32Array.from(this.edges, (edge) => edge[0]),
      target: Int32Array.from(this.edges, (edge) => edge[1]),
      via: Int32Array.from(this.via),
    };
  }

  /**
   * @param {Group} group
   * @param {number} parent
   * @param {Set<string>} expanded
   */
  _visit(group, parent, expanded) {
    for (const child of group.children) {
      const item = this.items.length;
      if (!child.children) {
        this.items.push({ group: null, open: false, key: child.leaf, caption: child.caption, parent });
        this.itemOfKey[child.leaf] = item;
        continue;
      }
      const open = expanded.has(child.id);
      this.items.push({ group: child, open, key: child.node, caption: "", parent });
      this.itemOfGroup.set(child.id, item);
      if (child.node !== NONE) this.itemOfKey[child.node] = item;
      if (open) this._visit(child, item, expanded);
      else this._close(child, item);
    }
  }

  /**
   * @param {Group} group
   * @param {number} item
   */
  _close(group, item) {
    for (const child of group.children) {
      if (!child.children) this.itemOfKey[child.leaf] = item;
      else {
        if (child.node !== NONE) this.itemOfKey[child.node] = item;
        this._close(child, item);
      }
    }
  }

  /** A hidden constant counts for the box of the node that reads it; `itemOfKey` stays boxes only. */
  _placeConstants() {
    const { hidden, home: homes, union } = this.outline;
    this.ownerOfKey = this.itemOfKey.slice();
    for (const key of union.order) {
      if (!hidden[key]) continue;
      const home = homes[key];
      this.ownerOfKey[key] = home === NONE ? 0 : this.itemOfKey[home];
    }
  }

  _connect() {
    const { hidden, union } = this.outline;
    for (const key of union.order) {
      if (hidden[key]) continue;
      for (const reader of union.readers[key]) if (!hidden[reader]) this._addEdge(key, reader);
    }
    const plain = (/** @type {number} */ from, /** @type {number} */ to) =>
      this.via[/** @type {number} */ (this.edgeIndex.get(this._edgeName(from, to)))] === NONE;
    const usable = this.edges.map(([from, to], edge) => {
      const via = this.via[edge];
      return via !== NONE && !this.items[via].open && plain(from, via) && plain(via, to);
    });
    this.via = this.via.map((via, edge) => (usable[edge] ? via : NONE));
  }

  /**
   * @param {number} key
   * @param {number} reader
   */
  _addEdge(key, reader) {
    const [from, to] = [this.itemOfKey[key], this.itemOfKey[reader]];
    if (from === to) return;
    const name = this._edgeName(from, to);
    const via = this.itemOfKey[this.outline.union.bypasses.get(`${key}/${reader}`) ?? NONE] ?? NONE;
    if (this.edgeIndex.has(name)) {
      if (via === NONE) this.via[/** @type {number} */ (this.edgeIndex.get(name))] = NONE;
      return;
    }
    this.edgeIndex.set(name, this.edges.length);
    this.edges.push([from, to]);
    this.via.push(via);
  }

  /**
   * Id of the node or group that an item stands for.
   * @param {number} item
   */
  idOf(item) {
    const { group, key } = this.items[item];
    return key === NONE ? group.id : this.model.ids[key];
  }

  /**
   * The box that shows a node or group: its own, the one it is a chip of, or the closed group that holds it; or -1.
   * @param {string} id
   */
  itemOf(id) {
    const owner = this.ownerOfKey[this.model.keyOfId.get(id) ?? NONE]; // a module may be called as a node of another pass
    if (owner !== undefined) return owner;
    /** @type {Group | null | undefined} */
    let group = this.outline.groups.get(id);
    while (group && !this.itemOfGroup.has(group.id)) group = group.parent;
    return group ? /** @type {number} */ (this.itemOfGroup.get(group.id)) : NONE;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  _edgeName(from, to) {
    return from * this.items.length + to;
  }

  /**
   * Per edge: the sides it is on.
   * @param {number | null} before
   * @param {number} after
   */
  edgeSides(before, after) {
    const sides = new Uint8Array(this.edges.length);
    const { start, values } = this.model.rowInputs;
    for (const [index, bit] of /** @type {[number | null, number][]} */ ([
      [before, SIDES.BEFORE],
      [after, SIDES.AFTER],
    ])) {
      if (index === null) continue;
      const snapshot = this.model.snapshot(index);
      for (const key of snapshot.order) {
        const to = this.itemOfKey[key];
        if (to === undefined) continue;
        const row = snapshot.rowOf[key];
        for (let at = start[row]; at < start[row + 1]; at++) {
          const producer = snapshot.producer[values[at]];
          const from = producer === NONE ? undefined : this.itemOfKey[producer];
          if (from === undefined || from === to) continue;
          const edge = this.edgeIndex.get(this._edgeName(from, to));
          if (edge !== undefined) sides[edge] |= bit;
        }
      }
    }
    return sides;
  }

  /**
   * Per item: sides it is on, operations it holds on each, and how many nodes in it were added, removed, changed.
   * @param {number | null} before
   * @param {number} after
   * @param {Map<number, Status>} statuses
   */
  tally(before, after, statuses) {
    const count = this.items.length;
    const sides = new Uint8Array(count);
    /** @type {Record<string, Int32Array>} */
    const counts = { added: new Int32Array(count), removed: new Int32Array(count), changed: new Int32Array(count) };
    /** @type {any[]} */
    const ops = [null, new Int32Array(count), new Int32Array(count)];
    for (const [index, bit] of /** @type {[number | null, number][]} */ ([
      [before, SIDES.BEFORE],
      [after, SIDES.AFTER],
    ])) {
      if (index === null) continue;
      for (const key of this.model.snapshot(index).order) {
        const item = this.itemOfKey[key];
        if (item === undefined) continue;
        sides[item] |= bit;
        if (!this.model.isPseudo(key)) ops[bit][item]++;
      }
    }
    for (let item = count - 1; item > 0; item--) sides[this.items[item].parent] |= sides[item];
    for (const [key, status] of statuses) {
      if (this.model.isPseudo(key)) continue;
      const item = this.itemOfKey[key] ?? this.ownerOfKey[key];
      // The change of an open If or Loop is its own box's, not that of what it holds.
      for (let at = item; at !== undefined && at !== NONE; at = this.items[at].parent) counts[status][at]++;
    }
    return { sides, ops, counts };
  }
}
