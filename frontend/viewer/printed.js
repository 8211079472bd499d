/* The printed page: all parts of a trace that read well on paper, made when the browser prints. */

import { backendName } from "../graph/data/words.js";
import { h } from "./dom.js";
import { bars } from "./printed_bars.js";
import { comparisonPages } from "./printed_comparison.js";
import { printedTable } from "./printed_table.js";

export class Printed {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.element = h("div.fv-print", { "aria-hidden": "true" });
  }

  /** Makes the pages anew: the trace does not change, but the theme and the panels do. */
  fill() {
    const summary = this.app.panels.get("summary")?.content?.();
    if (!summary) return;
    if ("comparison" in this.app.model) {
      const pages = comparisonPages(/** @type {ComparisonModel} */ (this.app.model), summary);
      return this.element.replaceChildren(...pages);
    }
    this.element.replaceChildren(
      ...[this.title(), summary, this.fates(), this.charts(), ...this.passes()].filter((part) => part !== null),
    );
  }

  clear() {
    this.element.replaceChildren();
  }

  title() {
    const { view } = this.app.model;
    return h(
      "header",
      null,
      h("h1", null, view.name || "unnamed model"),
      h("p.fv-muted", null, `${backendName(view.backend)} · torch ${view.torch}`),
    );
  }

  /** Flags, submodules and values are left out, but for those that are preserved; what is preserved comes first. */
  fates() {
    const { attributes } = /** @type {ViewData} */ (this.app.model.view);
    const shown = attributes.filter((row) => !row.minor);
    const isKept = (/** @type {AttributeRow} */ row) => row.fate === "preserved";
    const rows = [...shown.filter(isKept), ...shown.filter((row) => !isKept(row))];
    if (!rows.length) return null;
    return h(
      "section.fv-print-page",
      null,
      h("h2", null, "What became of the weights"),
      printedTable(
        ["Attribute", "Shape", "Size", "Fate", "Why"],
        rows.map((row) => [row.path, row.shape, row.bytes, row.fate, row.why]),
      ),
    );
  }

  charts() {
    const { steps } = /** @type {ViewData} */ (this.app.model.view);
    if (!steps.length) return null;
    const device = steps.flatMap((step) => step.latency).at(0)?.device;
    const errorOf = (/** @type {ViewStep} */ step) =>
      step.numerics.find((entry) => entry.reference === "eager")?.max_abs ?? null;
    const charts = [
      bars(
        "Operations after each step",
        steps.map((step) => ({ step: step.index, value: step.nodes, text: String(step.nodes) })),
      ),
      bars(
        `Time per call${device ? ` on ${device}` : ""}`,
        steps.map((step) => ({
          step: step.index,
          value: step.latency[0]?.median ?? null,
          text: step.latency[0]?.text ?? "",
        })),
      ),
      bars(
        "Largest error against eager",
        steps.map((step) => ({
          step: step.index,
          value: errorOf(step) === null ? null : Number(errorOf(step)),
          text: errorOf(step) ?? "",
        })),
      ),
    ].filter((chart) => chart !== null);
    return h("section.fv-print-page", null, h("h2", null, "Per step"), charts);
  }

  passes() {
    const { steps } = /** @type {ViewData} */ (this.app.model.view);
    const changed = steps.filter((step) => step.changed && step.before !== null);
    return changed.map((step, at) =>
      h(
        "section",
        { class: at ? "fv-print-pass" : "fv-print-page fv-print-pass" },
        at ? null : h("h2", null, "The passes that changed something"),
        h(
          "h3",
          null,
          `${step.index} ${step.name}`,
          h(
            "span.fv-muted",
            null,
            ` ${step.stage}${step.round === null ? "" : `, round ${step.round}`} · ${step.method}`,
          ),
        ),
        printedTable(
          [],
          this.facts(step).filter(([, text]) => text),
        ),
      ),
    );
  }

  /**
   * @param {ViewStep} step
   * @returns {[string, string][]}
   */
  facts(step) {
    const counts = `${step.nodes}: −${step.removed} +${step.added} ~${step.modified}`;
    const operators = this.app.model
      .pair(step.index, null)
      .operators()
      .map((/** @type {[string, number]} */ [op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
    const kinds = new Map();
    for (const { kind } of step.rewrites) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    return [
      ["operations", counts],
      ["operators", operators.join(", ")],
      ["folds", [...kinds].map(([kind, count]) => `${count} × ${kind.replaceAll("_", " ")}`).join(", ")],
      ["constants", step.constants_delta === null ? step.constants : `${step.constants} (${step.constants_delta})`],
      ["took", step.duration ?? ""],
      ...step.latency.map(
        (entry) =>
          /** @type {[string, string]} */ ([
            `time, ${entry.device}`,
            `${entry.text} (${entry.interval}), ${entry.verdict}`,
          ]),
      ),
      ...step.numerics.map(
        (entry) =>
          /** @type {[string, string]} */ ([
            `error, ${entry.reference}`,
            entry.error ?? `${entry.max_abs}${entry.close ? "" : ", past tolerance"}`,
          ]),
      ),
      ["notices", step.notices.join(" ")],
    ];
  }
}
