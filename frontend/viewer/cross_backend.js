/* The viewer with two traces of different backends: what each did for one purpose, and both fates of every tensor. */

import { backendName } from "../graph/data/words.js";
import { Viewer } from "./app.js";
import { countWords } from "./attributes.js";
import { CodePanel } from "./code.js";
import { ComparisonViewer } from "./comparison.js";
import { ComparisonFindingsPanel } from "./comparison_findings.js";
import { ComparisonKernelsPanel } from "./comparison_kernels.js";
import { ComparisonModel } from "./comparison_model.js";
import { ComparisonDetails } from "./comparison_panels.js";
import { ComparisonEnvironmentPanel } from "./comparison_environment.js";
import { ComparisonAttributesPanel } from "./comparison_attributes.js";
import { ComparisonSourcePanel } from "./comparison_source.js";
import { ComparisonSummaryPanel } from "./comparison_summary.js";
import { fill, h } from "./dom.js";
import { GraphPanel } from "./graph_panel.js";
import { validChoices, validKernel } from "./state_validity.js";
import { IrPanel } from "./ir.js";
import { sideSign, stepLabel } from "./pair.js";
import { AliasesPanel } from "./aliases_panel.js";
import { RewritesPanel } from "./rewrites_panel.js";
import { PassList } from "./passes.js";
import { PassSummary } from "./summary.js";
import { PairsPanel } from "./cross_backend_pairs.js";

const STEPLESS = ["pairs", "source", "attributes", "kernels", "findings", "environment"];
/** Passes and operators are others: a step is held against those of its own trace only. */
class CrossBackendModel extends ComparisonModel {
  /**
   * @param {number | null} one
   * @param {number | null} other
   */
  comparable(one, other) {
    return super.comparable(one, other) && this.step(one)?.side === this.step(other)?.side;
  }

  /**
   * @param {number | null} index
   * @param {number | null} [against]
   * @returns {number | null}
   */
  baseOf(index, against = null) {
    const step = this.step(index);
    if (step === null) return null;
    return this.comparable(against, index) ? against : step.before;
  }

  get backends() {
    return this.comparison.backends.map((backend) => backendName(backend));
  }
}

export class CrossBackendViewer extends ComparisonViewer {
  /** @param {any} options */
  modelOf({ view, graph, comparison }) {
    return new CrossBackendModel(view, graph, comparison);
  }

  /** @returns {any} */
  parts() {
    const panels = [
      ComparisonSummaryPanel,
      PairsPanel,
      CrossBackendGraphPanel,
      ComparisonSourcePanel,
      ComparisonAttributesPanel,
      RewritesPanel,
      AliasesPanel,
      IrPanel,
      CodePanel,
      ComparisonKernelsPanel,
      ComparisonFindingsPanel,
      ComparisonEnvironmentPanel,
    ];
    return {
      Details: CrossBackendDetails,
      PassList: CrossBackendPassList,
      PassSummary: CrossBackendSummary,
      panels,
      sheet: {},
    };
  }

  heading() {
    const { comparison } = /** @type {ComparisonModel} */ (/** @type {any} */ (this.model));
    const { pairs, attributes, names } = comparison;
    const fates = attributes.filter((row) =>
      row.fields.some((/** @type {string} */ field) => ["fate", "only in one"].includes(field)),
    );
    const both = pairs.filter(({ a, b }) => a.changed && b.changed);
    const title = names.map((name, index) => h("span.fv-two-name", { title: name }, sideSign(index), ` ${name}`));
    return [
      h(
        "div.fv-title",
        null,
        h("h1.fv-two-names", { title: names.join(" ↔ ") }, title),
        h("span.fv-muted", null, "two backends side by side"),
      ),
      h(
        "div.fv-facts",
        { tabindex: "0", role: "group", "aria-label": "In short" },
        fact("done by both", this.link(`${both.length} of ${pairs.length}`, { tab: "pairs" }), "purposes of passes"),
        fact(
          "parameters and buffers",
          fates.length
            ? this.link(`${countWords(fates)} met another fate`, { tab: "attributes", quiet: true })
            : "the same fates",
          `of ${attributes.filter((row) => row.counted).length}`,
        ),
      ),
    ];
  }

  /**
   * Nothing chosen shows the pairs; a view of a pass shows the first that did something.
   * @param {State} state
   */
  valid(state) {
    const { model } = /** @type {this & { model: ComparisonModel }} */ (this);
    const known = model.step(state.step) !== null;
    const tab = !this.panels?.has(state.tab) || (!known && state.tab === "graph") ? "pairs" : state.tab;
    const against = model.comparable(state.against, state.step) ? state.against : null;
    return {
      ...state,
      tab,
      step: known ? state.step : null,
      against,
      ...validChoices(model, state),
      ...validKernel(model, state),
    };
  }

  /**
   * @param {Partial<State>} patch
   * @param {any} [how]
   */
  navigate(patch, how) {
    const needs = patch.tab !== undefined && !STEPLESS.includes(patch.tab);
    const first = /** @type {ComparisonModel} */ (this.model).steps.find(
      (/** @type {ViewStep} */ step) => step.changed && step.before !== null,
    );
    const step = needs && this.current.step === null && first ? { step: first.index } : {};
    Viewer.prototype.navigate.call(this, { ...step, ...patch }, how);
  }

  /** @param {number} direction */
  move(direction, changedOnly = false) {
    Viewer.prototype.move.call(this, direction, changedOnly);
  }
}

class CrossBackendPassList extends PassList {
  /** @param {any} group */
  group(group) {
    const element = super.group(group);
    element.querySelector(".fv-passes-stage > .fv-clip")?.prepend(sideSign(group.items[0].side), " ");
    return element;
  }

  /**
   * The numbers are those that the passes have in their own trace.
   * @param {ViewStep} step
   */
  option(step) {
    const option = super.option(step);
    /** @type {Element} */ (option.querySelector(".fv-pass-index")).textContent = stepLabel(step).slice(2);
    return option;
  }
}

class CrossBackendSummary extends PassSummary {
  /** @param {State} state */
  render(state) {
    if (this.app.pair) {
      super.render(state);
      return;
    }
    this.shown = null;
    fill(
      this.element,
      h("div.fv-summary-name", null, this.app.passes.drawerButton(), h("strong", null, "No pass is chosen")),
      h("span.fv-muted", null, "Choose one from either trace to see what it did."),
    );
  }
}

class CrossBackendGraphPanel extends GraphPanel {
  /**
   * @param {number} at
   * @param {any} add
   */
  eachAttribute(at, add) {
    const { model } = /** @type {ComparisonApp} */ (this.app);
    model.as(model.sideOf(at), () => super.eachAttribute(at, add));
  }
}

class CrossBackendDetails extends ComparisonDetails {
  /** @param {ComparisonApp} app */
  constructor(app) {
    super(app);
    this.words = { added: "added", removed: "removed", changed: "changed" };
  }
}

/**
 * @param {string} label
 * @param {HTMLAnchorElement | string} value
 * @param {string} note
 */
function fact(label, value, note) {
  return h(
    "div.fv-fact",
    null,
    h("span.fv-fact-label", null, label),
    h("span.fv-fact-value", null, value),
    h("span.fv-fact-note", null, note),
  );
}
