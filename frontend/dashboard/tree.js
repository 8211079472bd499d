/* A model's own tree, from which attributes and methods to preserve are ticked. */

import { bytesText } from "../viewer/amounts.js";
import { fill, h, VirtualList } from "../viewer/dom.js";
import { sign, unique } from "./pieces.js";

const ROW = 26;

export class AttributeTree {
  /** @param {() => void} onchange called whenever another set is ticked */
  constructor(onchange) {
    // Other methods set these.
    this.waiting = /** @type {any} */ (undefined);
    this.matches = /** @type {any} */ (undefined);
    this.onchange = onchange;
    this.prefix = unique("tree");
    this.nodes = new Map();
    /** @type {any[]} */
    this.roots = [];
    this.open = new Set();
    this.chosen = new Set();
    this.active = null;
    /** @type {any[]} */
    this.rows = [];
    this.filter = h("input.fv-input", {
      type: "search",
      placeholder: "Search attributes",
      "aria-label": "Search attributes",
      oninput: () => this.refresh(0),
      onkeydown: (event) => this.filterKey(event),
    });
    this.count = h("span.fv-muted.fv-num");
    this.list = new VirtualList({
      rowHeight: ROW,
      row: (index) => this.row(this.rows[index], index),
      props: {
        role: "tree",
        "aria-multiselectable": "true",
        "aria-label": "The model's attributes",
        onkeydown: (event) => this.key(event),
        onclick: (event) => this.click(event),
      },
    });
    this.list.element.classList.add("fd-tree-list");
    this.nothing = h("p.fv-muted.fd-tree-nothing", { role: "status" });
    this.chips = h("div.fv-chips.fd-chosen");
    this.element = h(
      "div.fd-tree",
      null,
      this.chips,
      h("div.fd-tree-bar", null, this.filter, this.count),
      this.nothing,
      this.list.element,
    );
    this.say("Choose a model first: its attributes appear here.");
  }

  /** The ticked names in the model's order; those that it does not have come last. */
  value() {
    const known = [...this.nodes.keys()].filter((path) => this.chosen.has(path));
    return [...known, ...[...this.chosen].filter((path) => !this.nodes.has(path))];
  }

  /** @param {any} paths */
  set(paths) {
    this.chosen = new Set(paths);
    for (const path of paths) this.openTo(path);
    this.refresh();
  }

  /**
   * Shows a word instead of a tree.
   * @param {string} text
   */
  say(text) {
    this.nodes.clear();
    this.roots = [];
    this.waiting = text;
    this.refresh(0);
  }

  /**
   * Shows what `inspect` told of a model.
   * @param {{ attributes: any, methods: any }} options
   */
  show({ attributes, methods }) {
    this.nodes.clear();
    this.roots = [];
    this.waiting = null;
    for (const name of methods) this.add({ path: name, kind: "method", type: "", shape: null, nbytes: 0 });
    for (const attribute of attributes) this.add(attribute);
    for (const path of this.chosen) this.openTo(path);
    this.active = this.roots[0] ?? null;
    this.refresh(0);
  }

  /** @param {any} attribute */
  add(attribute) {
    const { path } = attribute;
    const known = this.nodes.get(path);
    if (known) return void (known.attribute = attribute);
    const cut = path.lastIndexOf(".");
    const parent = cut < 0 ? null : this.parent(path.slice(0, cut));
    const node = {
      path,
      name: path.slice(cut + 1),
      parent,
      depth: parent ? parent.depth + 1 : 1,
      children: [],
      attribute,
    };
    this.nodes.set(path, node);
    (parent?.children ?? this.roots).push(node);
  }

  /** @param {any} path */
  parent(path) {
    if (!this.nodes.has(path)) this.add({ path, kind: "module", type: "", shape: null, nbytes: 0 });
    return this.nodes.get(path);
  }

  /** @param {any} path */
  openTo(path) {
    for (let node = this.nodes.get(path)?.parent; node; node = node.parent) this.open.add(node.path);
  }

  // --- what is shown

  /** @param {number | null} [top] */
  refresh(top = null) {
    const text = this.filter.value.trim().toLowerCase();
    this.matches = text ? this.matching(text) : null;
    this.rows = [];
    this.collect(this.roots);
    if (this.active && !this.rows.includes(this.active)) this.active = this.rows[0] ?? null;
    const words =
      this.waiting ??
      (this.nodes.size
        ? this.rows.length
          ? null
          : "No attribute has that in its name."
        : "This model has nothing to preserve.");
    this.nothing.hidden = words === null;
    this.nothing.textContent = words ?? "";
    this.list.element.hidden = !this.rows.length;
    this.list.element.style.height = `${Math.min(this.rows.length, 10) * ROW + 2}px`;
    this.count.textContent = this.nodes.size ? `${this.chosen.size} of ${this.nodes.size} preserved` : "";
    this.filter.disabled = !this.nodes.size;
    this.list.update(this.rows.length, top);
    this.mark();
    fill(
      this.chips,
      this.value().map((path) => this.chip(path)),
    );
    this.chips.hidden = !this.chosen.size;
  }

  /**
   * Nodes to show while searching: those that match, and all above them.
   * @param {string} text
   */
  matching(text) {
    const found = new Set();
    for (const node of this.nodes.values()) {
      if (!node.path.toLowerCase().includes(text)) continue;
      for (let at = node; at && !found.has(at); at = at.parent) found.add(at);
    }
    return found;
  }

  /** @param {string[]} nodes */
  collect(nodes) {
    const shown = this.matches ? nodes.filter((node) => this.matches.has(node)) : nodes;
    shown.forEach((/** @type {any} */ node, /** @type {number} */ index) => {
      Object.assign(node, { place: index + 1, among: shown.length });
      this.rows.push(node);
      if (this.isOpen(node)) this.collect(node.children);
    });
  }

  /** @param {any} node */
  isOpen(node) {
    return (
      this.open.has(node.path) ||
      Boolean(this.matches && node.children.some((/** @type {any} */ child) => this.matches.has(child)))
    );
  }

  /**
   * @param {any} node
   * @param {number} index
   */
  row(node, index) {
    const { attribute } = node;
    const expandable = node.children.length > 0;
    const ticked = this.chosen.has(node.path);
    const shape = attribute.shape
      ? `${attribute.shape.join("×") || "scalar"} ${attribute.dtype ?? ""}`
      : attribute.type;
    return h(
      "div.fd-tree-row",
      {
        role: "treeitem",
        id: `${this.prefix}-${index}`,
        data: { path: node.path },
        "aria-level": node.depth,
        "aria-posinset": node.place,
        "aria-setsize": node.among,
        "aria-expanded": expandable ? String(this.isOpen(node)) : null,
        "aria-checked": String(ticked),
        class: node === this.active ? "fd-active" : "",
        style: { "padding-left": `${8 + 16 * (node.depth - 1)}px` },
        title: node.path,
      },
      h("span.fd-caret", { "aria-hidden": "true" }, expandable ? "▸" : ""),
      h("span.fd-tick", { "aria-hidden": "true" }, ticked ? "✓" : ""),
      h("span.fd-tree-name", null, node.name),
      h("span.fv-muted.fv-small", null, attribute.kind),
      h("span.fv-spring"),
      h("span.fv-type.fv-clip", null, shape),
      h("span.fv-muted.fv-small.fv-num.fd-tree-size", null, attribute.nbytes ? bytesText(attribute.nbytes) : ""),
    );
  }

  /** @param {string} path */
  chip(path) {
    const missing = this.nodes.size > 0 && !this.nodes.has(path);
    const title = missing ? `${path}: the model has no such attribute` : `Do not preserve ${path}`;
    return h(
      "button.fv-chip",
      {
        type: "button",
        title,
        "aria-label": `Do not preserve ${path}`,
        class: missing ? "fv-bad" : "",
        onclick: () => this.toggle(path),
      },
      path,
      sign("close"),
    );
  }

  mark() {
    const index = this.rows.indexOf(this.active);
    if (index >= 0) {
      this.list.reveal(index);
      this.list.refresh();
      this.list.element.setAttribute("aria-activedescendant", `${this.prefix}-${index}`);
    } else this.list.element.removeAttribute("aria-activedescendant");
  }

  // --- what the user does

  /** @param {any} path */
  toggle(path) {
    if (!this.chosen.delete(path)) this.chosen.add(path);
    this.refresh();
    this.onchange();
  }

  /**
   * @param {GraphNode} node
   * @param {boolean} open
   */
  expand(node, open) {
    if (open) this.open.add(node.path);
    else this.open.delete(node.path);
    this.refresh();
  }

  /** @param {GraphNode} node */
  move(node) {
    if (!node) return;
    this.active = node;
    this.mark();
  }

  /** @param {any} event */
  click(event) {
    const element = event.target.closest("[role=treeitem]");
    if (!element) return;
    const node = this.nodes.get(element.dataset.path);
    this.active = node;
    if (event.target.closest(".fd-caret") && node.children.length) this.expand(node, !this.isOpen(node));
    else this.toggle(node.path);
  }

  /** @param {any} event */
  key(event) {
    const at = this.rows.indexOf(this.active);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = this.active;
    const run = /** @type {Record<string, any>} */ ({
      ArrowDown: () => this.move(this.rows[at + 1]),
      ArrowUp: () => this.move(this.rows[at - 1]),
      Home: () => this.move(this.rows[0]),
      End: () => this.move(this.rows.at(-1)),
      ArrowRight: () =>
        node.children.length && !this.isOpen(node)
          ? this.expand(node, true)
          : this.move(node.children.length ? this.rows[at + 1] : null),
      ArrowLeft: () => (this.open.has(node.path) ? this.expand(node, false) : this.move(node.parent)),
      " ": () => this.toggle(node.path),
      Enter: () => this.toggle(node.path),
    })[event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }

  /** @param {HeardEvent<'keydown'>} event */
  filterKey(event) {
    if (event.key !== "ArrowDown" || !this.rows.length) return;
    event.preventDefault();
    this.list.element.focus();
  }
}
