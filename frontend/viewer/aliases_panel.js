/* The tab of alias sets and writes. */

import { count } from "../graph/data/words.js";
import { fill, h, VirtualList } from "./dom.js";
import { grid } from "./grid.js";
import { placeText } from "./source_places.js";
import { term } from "./terms.js";

export class AliasesPanel {
  /**
   * Inductor has no alias analysis; where TorchScript's is missing, the tab says so.
   * @param {{ steps: ViewStep[], view: ViewData }} options
   */
  static isFor({ steps, view }) {
    return view.backend === "torchscript" || steps.some((step) => step.aliases !== null);
  }

  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.step = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "aliases";
    this.term = "alias set";
    this.label = "Aliases & writes";
    /** @type {any[]} */
    this.entries = [];
    /** @type {ElementOf<"input">} */
    this.text = h("input.fv-input", {
      type: "search",
      placeholder: "Filter values",
      "aria-label": "Filter alias sets",
      oninput: () => app.navigate({ alias: this.text.value }),
    });
    this.note = h("span.fv-muted", { role: "status" });
    this.writes = h("div.fv-writes");
    this.list = new VirtualList({
      rowHeight: 28,
      narrow: { below: 641, rowHeight: 52 }, // as viewer.css stacks the cells
      row: (index) => this.row(index),
      props: { role: "rowgroup" },
    });
    this.table = h(
      "div.fv-table.fv-aliases",
      { role: "table", "aria-label": "Alias sets" },
      h(
        "div.fv-table-row.fv-table-head",
        { role: "row" },
        ["Value", "Relation", "Targets"].map((text) => h("div", { role: "columnheader" }, text)),
      ),
      this.list.element,
    );
    this.bar = h("div.fv-bar", null, this.text, this.note);
    this.element = h("div.fv-panel-body", null, this.bar, this.writes, this.table);
  }

  focusSearch() {
    this.text.focus();
    this.text.select();
  }

  /**
   * The step whose alias sets are shown, or null.
   * @param {State} state
   */
  stepOf(state) {
    return this.app.model.step(state.step);
  }

  /** @param {State} state */
  render(state) {
    const key = JSON.stringify([this.stepOf(state)?.index, state.alias]);
    if (key !== this.shown) this.build(state);
    this.shown = key;
    this.mark();
  }

  /** Shows which values and writes are of the chosen node. */
  mark() {
    const { focused } = this.app;
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.writes.querySelectorAll("[data-node]"))) {
      row.classList.toggle("fv-chosen", focused.has(row.dataset.node ?? ""));
    }
    this.list.refresh();
    const place = this.table.hidden ? -1 : this.entries.findIndex(([value]) => this.isChosen(value));
    if (place >= 0) this.list.reveal(place, { middle: true });
  }

  /** @param {string} value */
  isChosen(value) {
    return this.app.focused.has(this.app.model.graph(this.step.index).makers.get(value) ?? "");
  }

  /** @param {State} state */
  build(state) {
    const step = this.stepOf(state);
    const aliases = step && step.aliases !== null ? this.app.model.view.aliases[step.aliases] : null;
    this.text.value = state.alias;
    for (const part of [this.bar, this.table]) part.hidden = !aliases;
    if (!aliases) return this.missing();
    this.step = step;
    const text = state.alias.toLowerCase();
    this.entries = aliases.entries.filter(
      ([value, , targets]) => !text || `${value} ${targets.join(" ")}`.toLowerCase().includes(text),
    );
    this.note.textContent = `${this.entries.length} of ${aliases.entries.length} relations, ${count(aliases.writes.length, "write")}`;
    fill(this.writes, this.written(aliases.writes, text));
    this.list.update(this.entries.length, 0);
  }

  destroy() {
    this.list.destroy();
  }

  missing() {
    const kept = this.app.model.steps.filter((/** @type {ViewStep} */ step) => step.aliases !== null);
    this.note.textContent = "";
    const where = kept.map((/** @type {ViewStep} */ step) =>
      h(
        "li",
        null,
        this.app.details.stepLink(step.index, { tab: "aliases" }),
        h("span.fv-muted", null, ` ${step.method}`),
      ),
    );
    fill(
      this.writes,
      h("p.fv-empty", null, "No alias analysis was recorded for this pass.", kept.length ? " It was for:" : ""),
      h("ul.fv-list.fv-centred", null, where),
    );
  }

  /**
   * @param {AliasWrite[]} writes
   * @param {string} text
   */
  written(writes, text) {
    const shown = writes.filter(
      (write) => !text || `${write.op} ${write.targets.join(" ")}`.toLowerCase().includes(text),
    );
    if (!shown.length) {
      return h("p.fv-empty", null, writes.length ? "No write matches." : "No node writes memory in this graph.");
    }
    const rows = shown.map((write) =>
      h(
        "tr",
        { data: { node: write.node } },
        h("td", null, this.app.link(write.op, { node: write.node, attribute: null, tab: "graph" })),
        h("td", null, this.values(write.targets)),
        h("td.fv-mono", null, write.source ? placeText(write.source) : ""),
      ),
    );
    return grid(`Writes (${rows.length})`, ["Node", "May write", "Source"], rows);
  }

  /** @param {any} names */
  values(names) {
    return names.map((/** @type {string} */ name, /** @type {number} */ at) => [at ? ", " : "", this.value(name)]);
  }

  /** @param {any} name */
  value(name) {
    const maker = this.app.model.graph(this.step.index).makers.get(name);
    if (maker !== undefined) return this.app.link(`%${name}`, { node: maker, attribute: null });
    return name.startsWith("WILDCARD")
      ? h("code.fv-wildcard", null, term(this.app, "wildcard", name))
      : h("code", null, `%${name}`);
  }

  /** @param {any} index */
  row(index) {
    const [value, relation, targets] = this.entries[index];
    const maker = this.app.model.graph(this.step.index).makers.get(value);
    const choose = (/** @type {any} */ event) =>
      event.target.closest("a") || maker === undefined || this.app.navigate({ node: maker, attribute: null });
    return h(
      "div.fv-table-row",
      { role: "row", class: this.isChosen(value) ? "fv-chosen" : "", onclick: choose },
      h("div.fv-clip", { role: "cell" }, this.value(value)),
      h("div.fv-muted", { role: "cell" }, relation),
      h("div.fv-clip", { role: "cell", title: targets.join(", ") }, this.values(targets)),
    );
  }
}
