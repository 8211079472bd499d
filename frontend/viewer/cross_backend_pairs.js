/* The panel that sets the passes of two backends side by side by their purpose. */

import { h } from "./dom.js";
import { SIDES, sideSign } from "./pair.js";
import { grid } from "./grid.js";

// tabs that show no pass
const MODULES_SHOWN = 3;

/** One row for each purpose, with what either backend did for it. */
export class PairsPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    this.app = app;
    this.id = "pairs";
    this.label = "Side by side";
    const { pairs } = app.model.comparison;
    this.count = pairs.length;
    const heads = [
      "Purpose",
      .../** @type {any} */ (app.model).backends.map((/** @type {any} */ backend, /** @type {any} */ index) =>
        h("span", null, sideSign(index), ` ${backend}`),
      ),
      "Why these two",
    ];
    this.element = h(
      "div.fv-panel-body.fv-scroll.fv-across",
      null,
      h(
        "p.fv-muted",
        null,
        "Passes and operators differ, so the passes are paired by their purpose. A pass opens with what it did to its own graph.",
      ),
      grid(
        "What each did for one purpose",
        heads,
        pairs.map((pair) => this.row(pair)),
      ),
    );
  }

  render() {}

  /** @param {BackendPair} pair */
  row(pair) {
    const sides = SIDES.map((side) => h("td", null, this.side(pair[side])));
    return h(
      "tr",
      { class: pair.effect ? "" : "fv-row-same" },
      h("th", { scope: "row" }, pair.purpose),
      sides,
      h("td.fv-wrap.fv-muted", null, pair.why),
    );
  }

  /** @param {BackendSide} side */
  side(side) {
    if (!side.passes.length) return h("span.fv-muted", null, side.instead || "no pass for it");
    const passes = side.passes.map(({ name, count, step }) =>
      h(
        "div",
        null,
        this.app.link(name, { step, against: null, tab: "graph", node: null, attribute: null }),
        count > 1 ? h("span.fv-muted.fv-num", null, ` ×${count}`) : null,
      ),
    );
    return [passes, h("div.fv-num", null, effect(side)), only(side.only)];
  }
}

/** @param {BackendSide} options */
function effect({ changed, removed, added, rewrites }) {
  if (!changed) return h("span.fv-muted", null, "changed nothing");
  const nodes = [
    removed ? h("span.fv-removed", { title: "nodes taken out" }, `−${removed} `) : null,
    added ? h("span.fv-added", { title: "nodes put in" }, `+${added} `) : null,
  ];
  const kinds = rewrites.map(([kind, count]) => `${count} ${kind}`).join(", ");
  return [
    nodes,
    kinds ? h("span", null, kinds) : removed || added ? "nodes" : h("span.fv-muted", null, "changed nodes in place"),
  ];
}

/** @param {string[]} modules */
function only(modules) {
  if (!modules.length) return null;
  const more = modules.length > MODULES_SHOWN ? ` and ${modules.length - MODULES_SHOWN} more` : "";
  return h(
    "div.fv-small",
    { title: modules.join("\n") },
    "only here: ",
    h("span.fv-mono", null, modules.slice(0, MODULES_SHOWN).join(", ")),
    more,
  );
}
