/* The viewer with two traces side by side. */

import { Viewer } from "./app.js";
import { countWords } from "./attributes.js";
import { CodePanel } from "./code.js";
import { ComparisonFindingsPanel } from "./comparison_findings.js";
import { ComparisonKernelsPanel } from "./comparison_kernels.js";
import { ComparisonModel } from "./comparison_model.js";
import {
  ComparisonAliasesPanel,
  ComparisonChartsPanel,
  ComparisonDetails,
  ComparisonGraphPanel,
  ComparisonRewritesPanel,
} from "./comparison_panels.js";
import { ComparisonEnvironmentPanel } from "./comparison_environment.js";
import { ComparisonAttributesPanel } from "./comparison_attributes.js";
import { ComparisonPassList } from "./comparison_passes.js";
import { ComparisonSummary } from "./comparison_pass_summary.js";
import { ComparisonSourcePanel } from "./comparison_source.js";
import { ComparisonSummaryPanel } from "./comparison_summary.js";
import { h } from "./dom.js";
import { validChoices, validKernel } from "./state_validity.js";
import { IrPanel } from "./ir.js";
import { sideSign } from "./pair.js";

const KEYS = {
  "r f": "previous, next pass that makes a difference of its own",
  c: "from any two steps back to those of one pass",
  h: "leave only what differs, in the passes and the attributes",
  Esc: "leave a field, close details",
};
/** @type {[() => Child, string][]} */
const PASS_SIGNS = [
  [
    () => [h("span.fv-side.fv-side-a", null, "A"), " ", h("span.fv-side.fv-side-b", null, "B")],
    "the first trace, the second one; a number of either shows that step alone against the other's",
  ],
  [
    () => [h("span.fv-removed", null, "−9 "), h("span.fv-added", null, "+7 "), h("span.fv-modified", null, "~4")],
    "nodes only in A, only in B, in both and different",
  ],
  [() => h("span.fv-pair-new", null, "≠"), "after this pass the two differ in another way than before"],
  [() => h("span.fv-muted", null, "″"), "they differ as after the pass before"],
  [() => h("span.fv-muted", null, "="), "they are the same"],
];

export class ComparisonViewer extends Viewer {
  /** @param {ViewerData} data */
  modelOf({ view, graph, comparison }) {
    return new ComparisonModel(view, graph, /** @type {ComparisonData} */ (comparison));
  }

  /** @returns {ViewerParts} */
  parts() {
    const panels = [
      ComparisonSummaryPanel,
      ComparisonGraphPanel,
      ComparisonSourcePanel,
      ComparisonAttributesPanel,
      ComparisonRewritesPanel,
      ComparisonAliasesPanel,
      IrPanel,
      CodePanel,
      ComparisonKernelsPanel,
      ComparisonChartsPanel,
      ComparisonFindingsPanel,
      ComparisonEnvironmentPanel,
    ];
    return {
      Details: ComparisonDetails,
      PassList: ComparisonPassList,
      PassSummary: ComparisonSummary,
      panels,
      sheet: { keys: KEYS, passSigns: PASS_SIGNS },
    };
  }

  heading() {
    const { comparison, passRows, view } = /** @type {ComparisonModel} */ (/** @type {any} */ (this.model));
    const different = passRows.filter((row) => row.differs);
    const fates = comparison.attributes.filter((row) =>
      row.fields.some((/** @type {string} */ field) => ["fate", "reason", "only in one"].includes(field)),
    );
    const first = /** @type {ComparisonModel} */ (/** @type {any} */ (this.model)).firstDifference;
    const title = comparison.names.map((name, index) =>
      h("span.fv-two-name", { title: name }, sideSign(index), " ", name),
    );
    return [
      h(
        "div.fv-title",
        null,
        h("h1.fv-two-names", { title: view.name }, title),
        h("span.fv-muted", null, comparison.empty ? "the same in both, times left out" : "two traces side by side"),
      ),
      h(
        "div.fv-facts",
        { tabindex: "0", role: "group", "aria-label": "In short" },
        fact("passes that differ", `${different.length} of ${passRows.length}`, "by graph or by verdict"),
        first < 0
          ? fact("first difference", "none", "all graphs are the same")
          : fact(
              "first difference",
              this.link(
                passRows[first].name,
                /** @type {ComparisonModel} */ (/** @type {any} */ (this.model)).shown(first),
              ),
              passRows[first].method,
            ),
        fact(
          "parameters and buffers",
          fates.length ? this.link(`${countWords(fates)} met another fate`, { tab: "attributes" }) : "the same fates",
          `of ${comparison.attributes.filter((row) => row.counted).length}`,
        ),
        fact(
          "settings",
          comparison.settings.length
            ? this.link(`${comparison.settings.length} differ`, { tab: "environment" })
            : "the same",
          comparison.settings
            .slice(0, 2)
            .map(({ subject, name }) => (/^\d+$/.test(name) ? `${subject} ${name}` : name))
            .join(", "),
        ),
      ),
    ];
  }

  /**
   * @param {Partial<State>} patch
   * @param {{ jump?: boolean }} [how]
   */
  navigate(patch, how) {
    // A link to a step means the row it is in; only who names both puts any two together.
    const named = "step" in patch && !("against" in patch) ? { ...patch, against: null } : patch;
    super.navigate(named, how);
  }

  /**
   * @param {State} state
   * @returns {State}
   */
  valid(state) {
    const { model } = /** @type {this & { model: ComparisonModel }} */ (this);
    const pair = model.step(state.step) ? model.chosen(state) : model.shown(Math.max(model.firstDifference, 0));
    const tab = this.panels?.has(state.tab) ? state.tab : "graph";
    return { ...state, ...pair, tab, ...validChoices(model, state), ...validKernel(model, state) };
  }

  /** Without a step, the first pass that differs is shown. */
  firstStep() {
    return null;
  }

  /** @param {number} direction */
  move(direction, differing = false) {
    const { model, passes } = /** @type {this & { model: ComparisonModel }} */ (this);
    const shown = passes.visible();
    const here = model.place(this.current);
    const rest =
      direction > 0 ? shown.filter((place) => place > here) : shown.filter((place) => place < here).reverse();
    const next = rest.find((place) => !differing || (model.passRows[place].differs && !model.passRows[place].carried));
    if (next !== undefined) this.navigate(model.shown(next));
  }
}

/**
 * @param {string} label
 * @param {Child} value
 * @param {Child} note
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
