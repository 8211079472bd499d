/* The graph view's picture: one laid-out scene with the difference of two snapshots. All that painters and pointer ask. */

import { SIDES } from "../data/scene.js";
import { chipLines, contentOf } from "./content.js";

const { BEFORE } = SIDES;

export class Picture {
  /**
   * @param {{scene: Scene, layout: LayoutOutput}} made
   * @param {ShownSteps} steps by index
   * @param {[number | null, number]} snapshots of those steps
   */
  constructor({ scene, layout }, steps, [before, after]) {
    this.scene = scene;
    this.layout = layout;
    this.steps = steps;
    this.before = before;
    this.after = after;
    this.statuses = scene.model.diff(before, after);
    this.replaced = scene.model.replaced(before, after);
    const { sides, ops, counts } = scene.tally(before, after, this.statuses);
    this.sides = sides;
    this.ops = ops;
    this.counts = counts;
    this.segmentSides = this._segmentSides(scene.edgeSides(before, after));
    this.fanOut = scene.fanOut;
    /** @type {Uint8Array | null} */
    this._arrows = null;
    /** @type {Map<number, any>[]} */
    this.contents = [new Map(), new Map(), new Map()]; // by side
  }

  /**
   * A line that several edges share is on a side where any of them does.
   * @param {Uint8Array} edges
   */
  _segmentSides(edges) {
    const { last, previous: before } = this.layout;
    const sides = new Uint8Array(this.layout.x1.length);
    for (let edge = 0; edge < last.length; edge++) if (last[edge] >= 0) sides[last[edge]] |= edges[edge];
    for (let segment = sides.length - 1; segment >= 0; segment--) {
      const previous = before[segment];
      if (previous >= 0) sides[previous] |= sides[segment];
    }
    return sides;
  }

  /** Per segment: whether it ends at a box, and so has an arrow. */
  get arrows() {
    if (this._arrows) return this._arrows;
    const { last } = this.layout;
    const { edges, items } = this.scene;
    const arrows = new Uint8Array(this.layout.x1.length);
    for (let edge = 0; edge < last.length; edge++) {
      if (last[edge] >= 0 && !items[edges[edge][1]].open) arrows[last[edge]] = 1;
    }
    this._arrows = arrows;
    return arrows;
  }

  /** @param {number} side */
  snapshotOf(side) {
    return /** @type {number} */ (side === BEFORE ? this.before : this.after);
  }

  /**
   * What values are called on one side: see `Model.namesOf`.
   * @param {number} side
   */
  namesOn(side) {
    return this.scene.model.namesOf(/** @type {number} */ (side === BEFORE ? this.steps.before : this.steps.after));
  }

  /**
   * How many operations a closed group holds on one side.
   * @param {number} item
   * @param {number} side
   */
  opsOf(item, side) {
    return this.ops[side][item];
  }

  /**
   * Status of a box: its own node's, not that of what it holds.
   * @param {number} item
   */
  statusOf(item) {
    const { key } = this.scene.items[item];
    return key < 0 ? undefined : this.statuses.get(key);
  }

  /**
   * @param {number} item
   * @param {number} side
   */
  content(item, side) {
    const cache = this.contents[side];
    if (!cache.has(item)) {
      const { key, caption } = this.scene.items[item];
      const snapshot = this.scene.model.snapshot(this.snapshotOf(side));
      const content = contentOf(this.scene.outline, snapshot.rowOf[key], caption, this.namesOn(side));
      const chips = content.chips.filter((chip) => snapshot.producer[/** @type {number} */ (chip.value)] === chip.key);
      cache.set(item, { ...content, lines: chipLines(chips, this.layout.width[item] - 16) });
    }
    return cache.get(item);
  }

  /**
   * Id of the node whose box shows a node here: for a constant that is no box, one that reads it in either graph. The one
   * that it belongs to in the layout may be of another pass.
   * @param {string} id
   */
  shownAs(id) {
    const { model, outline } = this.scene;
    const key = model.keyOfId.get(id);
    if (key === undefined || !outline.hidden[key]) return id;
    const readers = [this.after, this.before]
      .filter((index) => index !== null)
      .map((index) => this._boxReading(model.snapshot(index), key));
    return model.ids[readers.find((one) => one !== undefined) ?? -1] ?? id;
  }

  /**
   * Key of a box that reads a constant in a graph, if need be through lists; undefined where none does.
   * @param {Snapshot} snapshot
   * @param {number} key
   * @returns {number | undefined}
   */
  _boxReading(snapshot, key) {
    const {
      model,
      outline: { hidden, union },
    } = this.scene;
    for (const reader of union.readers[key]) {
      const row = snapshot.rowOf[reader];
      if (row < 0 || !model.inputs(row).some((/** @type {number} */ value) => snapshot.producer[value] === key)) {
        continue;
      }
      const box = hidden[reader] ? this._boxReading(snapshot, reader) : reader;
      if (box !== undefined) return box;
    }
    return undefined;
  }

  /**
   * The rectangle of the world that an item takes, and some more around it.
   * @param {number} item
   */
  box(item, margin = 0) {
    const { x, y, width, height } = this.layout;
    return {
      x: x[item] - margin,
      y: y[item] - margin,
      width: width[item] + 2 * margin,
      height: height[item] + 2 * margin,
    };
  }

  get whole() {
    return { x: 0, y: 0, width: this.layout.width[0], height: this.layout.height[0] };
  }

  /** All nodes and closed groups. */
  closedItems() {
    const { items } = this.scene;
    return [...items.keys()].filter((item) => item && !items[item].open);
  }

  /** Those in which something changed, top to bottom. */
  changedItems() {
    const { counts, layout } = this;
    return this.closedItems()
      .filter((item) => counts.added[item] || counts.removed[item] || counts.changed[item])
      .sort((a, b) => layout.y[a] - layout.y[b] || layout.x[a] - layout.x[b]);
  }

  /**
   * Segments on the way between an item and its neighbours.
   * @param {number} item
   */
  segmentsOf(item) {
    const found = new Set();
    this.scene.edges.forEach(([from, to], edge) => {
      if (from !== item && to !== item) return;
      for (let at = this.layout.last[edge]; at >= 0 && !found.has(at); at = this.layout.previous[at]) found.add(at);
    });
    return found;
  }

  /**
   * The innermost item at a point of the world that is on `side`, or -1.
   * @param {{ x: number, y: number, side: number }} options
   */
  itemAt({ x, y, side }) {
    const { layout, scene } = this;
    for (let item = scene.items.length - 1; item > 0; item--) {
      if (!(this.sides[item] & side)) continue;
      const [left, top] = [layout.x[item], layout.y[item]];
      if (x >= left && y >= top && x <= left + layout.width[item] && y <= top + layout.height[item]) return item;
    }
    return -1;
  }
}
