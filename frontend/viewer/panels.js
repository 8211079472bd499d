/* The smaller tabs: rewrites and near misses, aliases and writes, environment. */

import { count } from "../graph/data/words.js";
import { fill, h, VirtualList } from "./dom.js";
import { grid } from "./grid.js";
import { pairs, section } from "./section.js";
import { term } from "./terms.js";
import { placeText } from "./source_places.js";

export class RewritesPanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "rewrites";
    this.term = "rewrite";
    this.label = "Rewrites";
    this.count = app.model.steps.reduce(
      (/** @type {any} */ sum, /** @type {ViewStep} */ step) => sum + step.rewrites.length,
      0,
    );
    this.misses = app.model.steps.reduce(
      (/** @type {any} */ sum, /** @type {ViewStep} */ step) => sum + step.near_misses.length,
      0,
    );
    this.scopes = new Map(
      [
        ["pass", "This pass"],
        ["all", "All passes"],
      ].map(([scope, text]) => [scope, this.scopeButton(scope, text)]),
    );
    this.body = h("div.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Rewrites and near misses" });
    this.element = h(
      "div.fv-panel-body",
      null,
      h("div.fv-bar", null, h("div.fv-segments", { role: "group", "aria-label": "Scope" }, [...this.scopes.values()])),
      this.body,
    );
  }

  /**
   * @param {any} scope
   * @param {any} text
   */
  scopeButton(scope, text) {
    return h("button.fv-button", { type: "button", onclick: () => this.app.navigate({ scope }) }, text);
  }

  /** @param {any} state */
  render(state) {
    for (const [scope, button] of this.scopes) button.setAttribute("aria-pressed", String(scope === state.scope));
    const key = `${state.scope}:${state.scope === "pass" ? state.step : ""}`;
    if (key !== this.shown) this.build(state);
    this.shown = key;
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (this.body.querySelectorAll("[data-node]"))) {
      cell.classList.toggle("fv-chosen-node", this.app.focused.has(cell.dataset.node));
    }
  }

  /** @param {any} state */
  build(state) {
    const { model } = this.app;
    const steps = state.scope === "all" ? model.steps : [model.step(state.step)].filter(Boolean);
    const blocks = steps.map((/** @type {ViewStep} */ step) => this.block(step)).filter(Boolean);
    fill(this.body, blocks.length ? blocks : this.nothing(state));
  }

  /** @param {any} state */
  nothing(state) {
    if (!this.count && !this.misses) return h("p.fv-empty", null, "No rewrite and no near miss in this trace.");
    const everywhere = h(
      "button.fv-linklike",
      { type: "button", onclick: () => this.app.navigate({ scope: "all" }) },
      "See all passes",
    );
    return h("p.fv-empty", null, "This pass folded and fused nothing. ", state.scope === "pass" ? everywhere : null);
  }

  /** @param {ViewStep} step */
  block(step) {
    if (!step.rewrites.length && !step.near_misses.length && !(this.app.current.scope === "pass" && step.log.length)) {
      return null;
    }
    return h(
      "section.fv-block",
      null,
      h("h3.fv-block-title", null, this.app.details.stepLink(step.index), h("span.fv-muted", null, ` ${step.method}`)),
      step.rewrites.length ? this.rewrites(step) : null,
      step.near_misses.length
        ? this.missGrid([term(this.app, "near miss", "Near misses"), ` (${step.near_misses.length})`], step)
        : null,
      this.app.current.scope === "pass" ? log(step.log) : null,
    );
  }

  /** @param {ViewStep} step */
  rewrites(step) {
    const rows = step.rewrites.map((rewrite) =>
      h(
        "tr",
        null,
        h("td", null, h("strong", null, rewrite.kind)),
        h("td", null, this.nodes(rewrite.consumed, step.before ?? step.index, step.index)),
        h("td", null, this.nodes(rewrite.produced, step.index, step.index)),
        h(
          "td",
          null,
          rewrite.attributes.map((path) => h("div", null, this.app.details.attributeLink(path))),
        ),
        h(
          "td.fv-mono",
          null,
          rewrite.modules.map((path) => h("div", null, path)),
        ),
      ),
    );
    return grid(
      [term(this.app, "rewrite", "Rewrites"), ` (${rows.length})`],
      ["Kind", "Consumed", "Produced", "Values from", "Modules"],
      rows,
    );
  }

  /**
   * @param {any} ids
   * @param {number} at
   * @param {any} step
   */
  nodes(ids, at, step) {
    const { model } = this.app;
    return ids.map((/** @type {any} */ id) => {
      const op = model.graph(at).nodes.get(id)?.op;
      return h(
        "div",
        { data: { node: id } },
        this.app.link(`%${id}`, { step, node: id, attribute: null, tab: "graph" }),
        op && op !== "prim::Constant" ? h("span.fv-muted", null, ` ${op}`) : null,
      );
    });
  }

  /**
   * Folds that did not happen, in the order of the trace: what would save most comes first.
   * @param {Child} caption
   * @param {ViewStep} step
   */
  missGrid(caption, step) {
    const rows = step.near_misses.map((miss) =>
      h(
        "tr",
        null,
        h("td", null, h("strong", null, miss.kind)),
        h("td", null, this.nodes([miss.node, miss.neighbour], step.index, step.index)),
        h("td", null, h("span.fv-badge", null, miss.reason)),
        h(
          "td",
          null,
          miss.detail,
          miss.advice ? h("div.fv-advice", null, miss.advice) : null,
          miss.saves ? h("div.fv-muted", null, miss.saves) : null,
        ),
      ),
    );
    return grid(caption, ["Fold", "Nodes", "Why not", "Evidence"], rows);
  }
}

/** @param {any} lines */
function log(lines) {
  return lines.length
    ? section("Torch's log of this pass", h("pre.fv-log", { tabindex: "0" }, lines.join("\n")))
    : null;
}

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
    this.element = h("div.fv-panel-body", null, h("div.fv-bar", null, this.text, this.note), this.writes, this.table);
  }

  focusSearch() {
    this.text.focus();
    this.text.select();
  }

  /**
   * The step whose alias sets are shown, or null.
   * @param {any} state
   */
  stepOf(state) {
    return this.app.model.step(state.step);
  }

  /** @param {any} state */
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
      row.classList.toggle("fv-chosen", focused.has(row.dataset.node));
    }
    this.list.refresh();
    const place = this.table.hidden ? -1 : this.entries.findIndex(([value]) => this.isChosen(value));
    if (place >= 0) this.list.reveal(place, { middle: true });
  }

  /** @param {string} value */
  isChosen(value) {
    return this.app.focused.has(this.app.model.graph(this.step.index).makers.get(value));
  }

  /** @param {any} state */
  build(state) {
    const step = this.stepOf(state);
    const aliases = step && step.aliases !== null ? this.app.model.view.aliases[step.aliases] : null;
    this.text.value = state.alias;
    this.text.disabled = !aliases;
    this.table.hidden = !aliases;
    if (!aliases) return this.missing();
    this.step = step;
    const text = state.alias.toLowerCase();
    this.entries = aliases.entries.filter(
      (/** @type {[string, any, any]} */ [value, , targets]) =>
        !text || `${value} ${targets.join(" ")}`.toLowerCase().includes(text),
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
   * @param {any} writes
   * @param {any} text
   */
  written(writes, text) {
    const shown = writes.filter(
      (/** @type {any} */ write) => !text || `${write.op} ${write.targets.join(" ")}`.toLowerCase().includes(text),
    );
    if (!shown.length) {
      return h("p.fv-empty", null, writes.length ? "No write matches." : "No node writes memory in this graph.");
    }
    const rows = shown.map((/** @type {any} */ write) =>
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
    return names.map((/** @type {any} */ name, /** @type {number} */ at) => [at ? ", " : "", this.value(name)]);
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

export class EnvironmentPanel {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.id = "environment";
    this.label = "Environment";
    const { environment } = app.model.view;
    this.element = h(
      "div.fv-panel-body.fv-scroll",
      null,
      h(
        "div.fv-columns",
        null,
        section("Recorded with", environment.call ? this.call(environment.call) : h("p.fv-muted", null, "unknown")),
        this.notices(environment.notices, "Notices", "fv-warn"),
        section("Recording", pairs(environment.recording)),
        section("Machine", pairs(environment.machine)),
        environment.options.length ? section("Options", pairs(environment.options)) : null,
        section(
          "Inputs",
          environment.inputs.length
            ? pairs(environment.inputs)
            : h("p.fv-muted", null, "Recorded without inputs: nothing was measured."),
        ),
        this.notices(environment.facts, "About this environment"),
        environment.settings.length ? section("Relevant settings", pairs(environment.settings)) : null,
        environment.baselines.length
          ? section(term(app, "baseline", "Compared with"), baselines(environment.baselines))
          : null,
      ),
    );
  }

  /** @param {any} text */
  call(text) {
    return h(
      "div.fv-call",
      null,
      h("pre", { tabindex: "0" }, text),
      h("button.fv-button", { type: "button", onclick: () => this.app.copy(text) }, "Copy"),
    );
  }

  /**
   * @param {any} notices
   * @param {any} title
   */
  notices(notices, title, tone = "") {
    if (!notices.length) return null;
    const items = notices.map((/** @type {any} */ notice) =>
      h(
        "li",
        null,
        h("span.fv-badge", { class: tone }, notice.code.replaceAll("_", " ")),
        " ",
        notice.message,
        notice.quoted ? h("pre.fv-log", { tabindex: "0" }, notice.quoted) : null,
        notice.step === null ? null : [" ", this.app.details.stepLink(notice.step)],
      ),
    );
    return section(title, h("ul.fv-list.fv-notices", null, items));
  }

  render() {}
}

/** @param {any[]} rows */
function baselines(rows) {
  const cells = rows.map((row) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, row.name),
      h(
        "td.fv-num",
        null,
        row.latency.length
          ? row.latency.map((/** @type {any} */ entry) =>
              h("div", null, `${entry.text} (${entry.interval}) on ${entry.device}`),
            )
          : "not measured",
      ),
      h(
        "td.fv-num",
        null,
        row.numerics.length
          ? row.numerics.map((/** @type {any} */ entry) =>
              h("div", null, entry.error ?? `${entry.max_abs} against ${entry.reference}`),
            )
          : "not compared",
      ),
    ),
  );
  return grid("", ["Model", "Latency", "Largest error"], cells);
}
