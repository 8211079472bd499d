/* The tab of rewrites and near misses. */

import { fill, h } from "./dom.js";
import { grid } from "./grid.js";
import { section } from "./section.js";
import { term } from "./terms.js";

export class RewritesPanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "rewrites";
    this.term = "rewrite";
    this.label = "Rewrites";
    this.count = app.model.steps.reduce((sum, /** @type {ViewStep} */ step) => sum + step.rewrites.length, 0);
    this.misses = app.model.steps.reduce((sum, /** @type {ViewStep} */ step) => sum + step.near_misses.length, 0);
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
   * @param {string} scope
   * @param {string} text
   */
  scopeButton(scope, text) {
    return h("button.fv-button", { type: "button", onclick: () => this.app.navigate({ scope }) }, text);
  }

  /** @param {State} state */
  render(state) {
    for (const [scope, button] of this.scopes) button.setAttribute("aria-pressed", String(scope === state.scope));
    const key = `${state.scope}:${state.scope === "pass" ? state.step : ""}`;
    if (key !== this.shown) this.build(state);
    this.shown = key;
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (this.body.querySelectorAll("[data-node]"))) {
      cell.classList.toggle("fv-chosen-node", this.app.focused.has(cell.dataset.node ?? ""));
    }
  }

  /** @param {State} state */
  build(state) {
    const { model } = this.app;
    const steps = state.scope === "all" ? model.steps : [model.step(state.step)];
    const blocks = steps.flatMap((step) => (step && this.block(step)) ?? []);
    fill(this.body, blocks.length ? blocks : this.nothing(state));
  }

  /** @param {State} state */
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
   * @param {string[]} ids
   * @param {number} at
   * @param {number} step
   */
  nodes(ids, at, step) {
    const { model } = this.app;
    return ids.map((id) => {
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

/** @param {string[]} lines */
function log(lines) {
  return lines.length
    ? section("Torch's log of this pass", h("pre.fv-log", { tabindex: "0" }, lines.join("\n")))
    : null;
}
