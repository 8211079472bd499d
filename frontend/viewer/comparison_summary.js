/* The first page of two traces: the verdict on each, and what changed from A to B. */

import { h } from "./dom.js";
import { sideSign } from "./pair.js";
import { SummaryPanel } from "./summary_panel.js";

/** Subject of a change -> the tabs that have the details, the best first. */
const TABS = /** @type {Record<string, string[]>} */ ({
  ending: ["environment"],
  weights: ["attributes"],
  bytes: ["charts", "attributes"],
  time: ["findings", "charts"],
  error: ["findings", "charts"],
  checks: ["findings"],
  passes: ["graph"],
  settings: ["environment"],
});
const TITLES = /** @type {Record<string, string>} */ ({
  ending: "How it ended",
  weights: "Weights and buffers",
  bytes: "Bytes",
  time: "Time",
  error: "Outputs",
  checks: "Checks",
  passes: "Passes",
  settings: "Settings",
});

export class ComparisonSummaryPanel extends SummaryPanel {
  content() {
    const { comparison } = /** @type {ComparisonModel} */ (this.app.model);
    const { about, changes, sentences } = comparison.summary;
    const { folds } = comparison;
    return h(
      "div.fv-answer",
      null,
      sentences.map((/** @type {string} */ sentence, /** @type {number} */ side) =>
        h("p.fv-answer-sentence.fv-answer-side", null, sideSign(side), " ", sentence),
      ),
      h("section.fv-answer-part", null, h("h2", null, "What changed from A to B"), this.changes(changes)),
      folds.length
        ? h(
            "section.fv-answer-part",
            null,
            h("h2", null, "What torch.compile and AOTInductor fold"),
            h(
              "ul.fv-list",
              null,
              folds.map((line) => h("li", null, line)),
            ),
          )
        : null,
      h("p.fv-answer-about.fv-muted", null, about),
    );
  }

  /** @param {{ subject: string, text: string }[]} changes */
  changes(changes) {
    if (!changes.length) {
      return h("p.fv-answer-calm.fv-muted", null, "Nothing changed but times within their intervals.");
    }
    const subjects = [...new Set(changes.map(({ subject }) => subject))];
    return h(
      "dl.fv-answer-changes",
      null,
      subjects.map((subject) =>
        h(
          "div",
          null,
          h("dt", null, this.title(subject)),
          changes.filter((one) => one.subject === subject).map(({ text }) => h("dd", null, text)),
        ),
      ),
    );
  }

  /**
   * The subject, as a link to the tab with the details.
   * @param {string} subject
   */
  title(subject) {
    const tab = TABS[subject].find((id) => this.app.panels.has(id));
    return tab ? this.app.link(TITLES[subject], { tab }) : TITLES[subject];
  }
}
