/* The tabs of two traces that differ from those of one: attributes with two fates, charts of both, requests. */

import { ChartsPanel } from "./charts.js";
import { Details } from "./details.js";
import { fill, h } from "./dom.js";
import { GraphPanel } from "./graph_panel.js";
import { SIDES, sideSign } from "./pair.js";
import { AliasesPanel } from "./aliases_panel.js";
import { RewritesPanel } from "./rewrites_panel.js";

const WORDS = { removed: "only in A", added: "only in B", changed: "different" };

export class ComparisonGraphPanel extends GraphPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    super(app);
    this.words = WORDS;
    for (const [value, text] of [
      ["split", "A | B"],
      ["before", "A"],
      ["after", "B"],
    ]) {
      /** @type {Element} */ (this.panes.querySelector(`option[value="${value}"]`)).textContent = text;
    }
  }

  /**
   * A value that met another fate in each trace has a colour of its own: its box is drawn for both.
   * @param {number} at
   * @param {any} add
   */
  eachAttribute(at, add) {
    const { model } = /** @type {ComparisonApp} */ (this.app);
    const told = (/** @type {string} */ value, /** @type {any} */ row) => {
      const { a, b } = /** @type {AttributePair} */ (model.fates.get(row.path));
      add(value, a && b && a.fate !== b.fate ? { fate: "varies" } : row);
    };
    model.as(model.sideOf(at), () => super.eachAttribute(at, told));
  }
}

export class ComparisonDetails extends Details {
  /** @param {ComparisonApp} app */
  constructor(app) {
    super(app);
    this.words = WORDS;
  }

  /**
   * The attribute as both traces have it.
   * @param {string} path
   * @returns {Child}
   */
  attribute(path) {
    const { model } = /** @type {ComparisonApp} */ (this.app);
    const row = model.fates.get(path);
    if (!row) return super.attribute(path);
    return SIDES.map((side, index) => [
      h("div.fv-side-head", null, sideSign(index), ` ${model.comparison.names[index]}`),
      row[side]
        ? model.as(index, () => super.attribute(path))
        : h("p.fv-muted", null, "This trace has no such attribute."),
    ]);
  }
}

export class ComparisonRewritesPanel extends RewritesPanel {
  /**
   * The rewrites of the chosen pass in both traces.
   * @param {State} state
   */
  build(state) {
    const { model, pair } = /** @type {ComparisonApp} */ (this.app);
    const steps = state.scope === "all" ? model.steps : (pair?.steps().reverse() ?? []);
    const blocks = steps.map((step) => this.block(step)).filter(Boolean);
    fill(this.body, blocks.length ? blocks : this.nothing(state));
  }

  /** @param {any} state */
  render(state) {
    if (this.against !== state.against) this.shown = null;
    this.against = state.against;
    super.render(state);
  }
}

/** The alias sets of one of the two traces. */
class SideAliasesPanel extends AliasesPanel {
  /**
   * @param {ComparisonApp} app
   * @param {number} side
   */
  constructor(app, side) {
    super(app);
    this.side = side;
    this.element.prepend(h("div.fv-side-head", null, sideSign(side), ` ${app.model.comparison.names[side]}`));
  }

  stepOf() {
    const { pair } = /** @type {ComparisonApp} */ (this.app);
    return [pair?.before, pair?.after].find((step) => step?.side === this.side) ?? null;
  }
}

export class ComparisonAliasesPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    this.id = "aliases";
    this.label = "Aliases & writes";
    this.sides = [0, 1].map((side) => new SideAliasesPanel(app, side));
    this.element = h(
      "div.fv-panel-body.fv-split",
      null,
      this.sides.map((panel) => h("section", null, panel.element)),
    );
  }

  focusSearch() {
    this.sides[0].focusSearch();
  }

  /** @param {any} state */
  render(state) {
    for (const panel of this.sides) panel.render(state);
  }

  destroy() {
    for (const panel of this.sides) panel.destroy();
  }
}

export class ComparisonChartsPanel extends ChartsPanel {
  /**
   * A chart's point is at the place of its row, not at its step.
   * @param {any} place
   */
  choose(place) {
    this.app.navigate(/** @type {any} */ (this.app.model).shown(Math.round(place))); // the points of A and B stand left and right of it
  }

  places() {
    const { chosen, base } = super.places();
    const { model } = /** @type {ComparisonApp} */ (this.app);
    const place = (/** @type {number} */ step) => model.rowOfStep.get(step) ?? -10;
    return { chosen: place(chosen), base: place(base) };
  }
}
