/* The quantised layers: how each computes after freezing, which patterns matched and which did not, and why. */

import { fill, h } from "./dom.js";
import { grid } from "./grid.js";

export class QuantisationPanel {
  /** @param {{ view: ViewData }} model */
  static isFor({ view }) {
    return Boolean(view.quantisation);
  }

  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.id = "quantisation";
    this.label = "Quantisation";
    this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Quantisation" });
  }

  render() {
    if (this.element.childElementCount) return;
    const { sentence, error, has_errors, layers, left } = /** @type {QuantisationView} */ (
      this.app.model.view.quantisation
    );
    fill(
      this.element,
      h(
        "div.fv-quantisation",
        null,
        h("p", null, sentence),
        h(
          "div",
          null,
          grid(
            "Layers",
            has_errors ? [...HEADS, ERRORS] : HEADS,
            layers.flatMap((layer) => this.layer(layer, has_errors)),
          ),
        ),
        h("p.fv-muted.fv-small", null, error),
        left.length ? this.left(left) : null,
      ),
    );
  }

  /**
   * @param {QuantisedRow} layer
   * @param {boolean} hasErrors whether a layer was compared with the float model
   */
  layer(layer, hasErrors) {
    const { step, node, patterns } = layer;
    const where = this.app.link(layer.name, { step, node, tab: "graph" }, `${layer.name} in the graph`);
    const undone = layer.undone_by === null ? null : [" ", this.app.details.stepLink(layer.undone_by)];
    const outcome = h(
      "span",
      { class: `fv-${layer.tone}`, title: layer.meaning },
      undone ? "undone by" : layer.outcome,
    );
    const cells = [
      h(
        "td",
        null,
        where,
        h("div.fv-muted.fv-small.fv-wrap", null, [layer.op, layer.method].filter(Boolean).join(", ")),
      ),
      h("td", null, outcome, undone, h("div.fv-muted.fv-small.fv-wrap", null, layer.meaning)),
      h("td", null, layer.weight, h("div.fv-muted.fv-small.fv-wrap", null, layer.weights.join(", "))),
      h("td", null, layer.activation),
      h("td", null, layer.kernel),
      h("td.fv-num", null, layer.bytes),
      h("td.fv-num", null, layer.is_quantised ? layer.rounding : "–"),
      ...(hasErrors ? [h("td.fv-num", null, layer.errors[0], h("div", null, layer.errors[1]))] : []),
    ];
    const row = h("tr", null, cells);
    if (!patterns.length) return [row];
    const items = patterns.map((pattern) => this.pattern(pattern));
    return [
      row,
      h(
        "tr.fv-quantisation-patterns",
        null,
        h("td", { colspan: HEADS.length + Number(hasErrors) }, h("ul.fv-list", null, items)),
      ),
    ];
  }

  /** @param {QuantisationPattern} pattern */
  pattern({ name, group, step, matched, why }) {
    const sign = h(
      `span.fv-check-sign.fv-${matched ? "good" : "warn"}`,
      { role: "img", "aria-label": matched ? "matched" : "did not match" },
      matched ? "✓" : "✕",
    );
    const place = step === null ? group : this.app.link(group, { step }, `${group}, step ${step}`);
    return h(
      "li",
      null,
      sign,
      " ",
      name,
      h("span.fv-muted", null, " in "),
      place,
      why ? h("div.fv-muted", null, why) : null,
    );
  }

  /** @param {QuantisationView["left"]} left */
  left(left) {
    const rows = left.map(({ node, op, step, why }) =>
      h(
        "tr",
        null,
        h("td", null, this.app.link(`%${node}`, { step, node, tab: "graph" }, `%${node} in the graph`)),
        h("td", null, op),
        h("td", null, why),
      ),
    );
    return h("div", null, grid("Conversions that the last graph still computes", ["Node", "Operator", "Why"], rows));
  }
}

const ERRORS = "Error against the float model";
const HEADS = [
  "Layer",
  "Computes on",
  "Weight",
  "Activation",
  "Operator",
  "Bytes of the weight",
  "Rounding per element",
];
