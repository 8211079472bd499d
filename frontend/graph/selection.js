/* The graph view's selection: one node or group, the box that shows it, and its announcement. */

import * as words from "./data/words.js";
import { element } from "./element.js";

const NOTHING = { id: null, kind: null, node: null, group: null };

export class Selection {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    this.id = null; // of a node or group
    this.item = -1; // the box that shows it in the picture
    this.live = element("div", "fg-live", view.root);
    this.live.setAttribute("aria-live", "polite");
  }

  /**
   * Selects what a box of the picture stands for, nothing with -1.
   * @param {number} item
   */
  choose(item, center = false) {
    const { camera, picture } = this.view;
    this.id = item > 0 ? picture.scene.idOf(item) : null;
    this.item = item;
    if (center && item > 0) camera.centre(item);
    this.announce();
    this.view.stage.redraw();
  }

  /** Finds the box anew: the picture or the selection is another one. */
  resolve() {
    const { picture } = this.view;
    this.item = this.id === null || !picture ? -1 : picture.scene.itemOf(picture.shownAs(this.id));
  }

  announce() {
    const { text, detail } = this._describe();
    this.live.textContent = text;
    this.view.emit("select", detail);
  }

  _describe() {
    const { id, view } = this;
    if (id === null) return { detail: { ...NOTHING }, text: "nothing selected" };
    const node = view.node(id);
    if (node) return { detail: { id, kind: "node", node, group: null }, text: nodeText(node) };
    const group = view.outline().groups.get(id);
    if (!group) return { detail: { id, kind: "node", node: null, group: null }, text: id };
    const expanded = view.groups.open.has(id);
    const detail = { id, kind: "group", node: null, group: { id, label: group.label, ops: group.ops, expanded } };
    return { detail, text: `module ${id}, ${words.count(group.ops, "op")}, ${expanded ? "open" : "closed"}` };
  }
}

/** @param {{ id: string, status: Status | null, before: GraphNode | null, after: GraphNode | null }} options */
function nodeText({ id, status, before, after }) {
  const shown = /** @type {GraphNode} */ (after || before);
  const type = shown.outputs.length ? `, ${words.shortType(shown.outputs[0].type)}` : "";
  const place = shown.module ? ` in ${shown.module}` : "";
  return `${words.opName(shown.op)} ${id}${place}${type}${status ? `, ${status}` : ""}`;
}
