/* The graph view's groups: which modules and nested blocks are open. */

import { openAtFirst, openChanges } from "./data/opener.js";

export class Groups {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {Set<string>} */
    this.open = new Set(); // ids
    /** @type {Set<Outline>} */
    this.seen = new Set(); // outlines in which groups were opened on their own
  }

  /** Lets go of all that belongs to one trace. */
  forget() {
    this.open = new Set(); // ids
    this.seen = new Set(); // outlines in which groups were opened on their own
  }

  /** Opens groups the first time an outline is seen. */
  openAtFirst() {
    const outline = this.view.outline();
    if (this.seen.has(outline)) return;
    this.seen.add(outline);
    openAtFirst(outline, this.open, this.view.snapshots());
  }

  /** @param {string[]} ids */
  restore(ids) {
    this.open = new Set(ids);
    this.seen.add(this.view.outline());
  }

  ids() {
    return [...this.open].sort();
  }

  /**
   * @param {(open: Set<string>) => unknown} change
   * @param {string} [anchor]
   */
  async _change(change, anchor) {
    change(this.open);
    await this.view.rebuild(anchor);
    this.view.stage.draw();
    this.view.emit("expand", { expanded: this.ids() });
  }

  /** @param {string} id */
  expand(id) {
    return this._change((open) => open.add(id), id);
  }

  /** @param {string} id */
  collapse(id) {
    return this._change((open) => open.delete(id), id);
  }

  /** @param {string} id */
  toggle(id) {
    return this.open.has(id) ? this.collapse(id) : this.expand(id);
  }

  expandAll() {
    return this._change((open) => this.view.outline().groups.forEach((group, id) => id && open.add(id)));
  }

  collapseAll() {
    return this._change((open) => open.clear());
  }

  /** @param {string} id */
  expandTo(id) {
    const way = this.view.outline().wayTo(id);
    if (way.every((group) => this.open.has(group))) return Promise.resolve();
    return this._change((open) => way.forEach((group) => open.add(group)));
  }

  /** Opens whatever hides a change. */
  reveal() {
    return this._change((open) => openChanges(this.view.outline(), open, this.view.snapshots()));
  }
}
