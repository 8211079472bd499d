/* The chosen pass of two traces: what it did in each. */

import { fill, h } from "./dom.js";
import { Pair, stepLabel } from "./pair.js";
import { stripToggle } from "./strip_toggle.js";

export class ComparisonSummary {
  /** @param {ComparisonApp} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.app = app;
    this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
  }

  render() {
    const { pair } = /** @type {ComparisonApp} */ (this.app);
    if (this.shown === pair) return;
    this.shown = pair;
    if (!pair) {
      fill(this.element, h("h2", null, "Neither trace holds a pass."));
      return;
    }
    const row = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).passRows[
      /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).place(this.app.current)
    ];
    fill(
      this.element,
      h("div.fv-summary-name", null, this.app.passes.drawerButton(), this.names(pair), stripToggle(this.element)),
      row && row.graph === null ? h("span.fv-compare-hint", null, absent(row)) : null,
      h(
        "dl.fv-summary-facts",
        { tabindex: "0" },
        facts(pair)
          .filter(Boolean)
          .map(([label, ...value]) => h("div", null, h("dt", null, label), h("dd.fv-num", null, value))),
      ),
      this.sentences(pair),
    );
  }

  /**
   * The purpose of the pass and, for each trace in which it changed nothing, the reason.
   * @param {{ before: any, after: any }} options
   */
  sentences({ before, after }) {
    const steps = [before, after].filter(Boolean);
    const model = this.app.model;
    const texts = new Map(steps.flatMap((step) => model.passTexts(step)));
    const reasons = steps
      .filter((step) => step.why_not)
      .map((step) => ({
        side: step.side,
        why: step.why_not,
        text: `It changed nothing in ${"AB"[step.side]}. ${step.why_not} `,
      }));
    const [one, other] = reasons;
    const told =
      other && one.why === other.why ? [`It changed nothing in A and B. ${one.why}`] : reasons.map(({ text }) => text);
    if (!texts.size) return null;
    return h(
      "p.fv-summary-does",
      { tabindex: "0" },
      [...texts].map(([pass, does]) => h("span", null, texts.size > 1 ? `${pass}: ${does} ` : `${does} `)),
      told.length ? h("span.fv-why-not", null, told) : null,
    );
  }

  /** @param {{ before: any, after: any }} options */
  names({ before, after }) {
    const one = (/** @type {ViewStep} */ step) => [
      h("span.fv-side", { class: `fv-side-${step.side ? "b" : "a"}` }, stepLabel(step)),
      " ",
      step.name,
    ];
    const where = `${after.stage}${after.round === null ? "" : `, round ${after.round}`} · ${after.method}`;
    const same = before && before.name === after.name;
    const title = !before
      ? one(after)
      : same
        ? [h("span.fv-side.fv-side-a", null, stepLabel(before)), " ", one(after)]
        : [one(before), " ↔ ", one(after)];
    return [h("h2", null, title), h("span.fv-muted", null, where)];
  }
}

/** @param {any} row */
function absent(row) {
  const [name, other] = row.a === null ? ["B", "A"] : ["A", "B"];
  return row.shown.includes(null)
    ? `only ${name} has this method`
    : `only ${name} runs this pass; ${other} is shown as it is at that moment`;
}

/** @param {{ before: any, after: any, model: TraceModel }} options */
function facts({ before, after, model }) {
  if (!before) {
    return [
      ["nodes", after.nodes],
      ["constants", after.constants],
    ];
  }
  const pair = new Pair(model, before.index, after.index);
  return [
    ["nodes", `${before.nodes} | ${after.nodes}`, nodeWords(pair)],
    operators(pair),
    ["constants", `${before.constants} | ${after.constants}`],
    ...devices(before, after).map((device) => latency(before, after, device)),
    ...after.numerics.map((/** @type {any} */ entry) => error(before, entry)),
  ];
}

/** @param {any} pair */
function nodeWords(pair) {
  const { added, removed, changed } = pair.counts();
  if (!added && !removed && !changed) {
    return h("span.fv-muted", null, pair.same ? " the same graph" : " in another order");
  }
  const part = (
    /** @type {string} */ sign,
    /** @type {any} */ count,
    /** @type {string} */ kind,
    /** @type {string} */ title,
  ) => (count ? h(`span.fv-${kind}`, { title }, ` ${sign}${count}`) : null);
  return [
    part("−", removed, "removed", "only in A"),
    part("+", added, "added", "only in B"),
    part("~", changed, "modified", "in both, and different"),
  ];
}

/** @param {any} pair */
function operators(pair) {
  const all = pair
    .operators()
    .map((/** @type {[string, number]} */ [op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
  return all.length
    ? [
        "operators in B",
        h("span.fv-clip", { title: all.join("\n") }, all.slice(0, 3).join(", "), all.length > 3 ? ", …" : ""),
      ]
    : null;
}

/**
 * @param {any} before
 * @param {any} after
 */
function devices(before, after) {
  return [...new Set([...before.latency, ...after.latency].map(({ device }) => device))];
}

/**
 * The two were measured in different runs: no verdict is drawn from them.
 * @param {any} before
 * @param {any} after
 * @param {string} device
 */
function latency(before, after, device) {
  const text = (/** @type {ViewStep} */ step) => {
    const entry = step.latency.find((/** @type {any} */ one) => one.device === device);
    return entry ? [entry.text, h("span.fv-muted", null, ` (${entry.interval})`)] : "not measured";
  };
  return [
    `latency, ${device}`,
    text(before),
    " | ",
    text(after),
    h(
      "span.fv-muted",
      { title: "The machine may have been faster or busier in one of them: a difference of these two is no verdict" },
      " taken in different runs",
    ),
  ];
}

/**
 * @param {any} before
 * @param {any} entry
 */
function error(before, entry) {
  const old = before.numerics.find(
    (/** @type {{ reference: string }} */ { reference }) => reference === entry.reference,
  );
  if (!old || old.error !== null || entry.error !== null) return null;
  const past = (/** @type {any} */ one) => (one.close ? null : h("span.fv-bad", null, " ≠ past tolerance"));
  return [`largest error against ${entry.reference}`, old.max_abs, past(old), " | ", entry.max_abs, past(entry)];
}
