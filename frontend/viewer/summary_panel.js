/* The first page: the verdict in one sentence, what would help, and the passes that mattered. */

import { count } from "../graph/data/words.js";
import { fates } from "./chrome.js";
import { fill, h } from "./dom.js";

const BAR = { width: 96, height: 8 }; // px
const SVG = "http://www.w3.org/2000/svg";

export class SummaryPanel {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.id = "summary";
    this.label = "Summary";
    this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Summary" });
  }

  render() {
    if (!this.element.childElementCount) fill(this.element, this.content());
  }

  /** The whole page; paper has one of its own. */
  content() {
    const { summary } = this.app.model.view;
    return h(
      "div.fv-answer",
      null,
      h("p.fv-answer-sentence", null, summary.sentence),
      fates(this.app),
      this.actions(summary.actions),
      this.passes(summary),
      this.further(),
      h("p.fv-answer-about.fv-muted", null, summary.about),
    );
  }

  // --- what would help

  /** @param {SummaryAction[]} actions */
  actions(actions) {
    if (!actions.length) {
      if (!this.app.model.steps.length || this.app.model.view.failure) return null;
      return h("p.fv-answer-calm.fv-muted", null, "Nothing here needs a change.");
    }
    return h(
      "section.fv-answer-part",
      null,
      h("h2", null, "What would help"),
      h(
        "ol.fv-cards",
        null,
        actions.map((action, at) => this.card(action, at + 1)),
      ),
    );
  }

  /**
   * @param {SummaryAction} action
   * @param {number} number
   */
  card(action, number) {
    const place = this.place(action);
    return h(
      "li.fv-card",
      { class: action.aim === "correct" || action.aim === "finish" ? "fv-card-urgent" : "" },
      h("h3", null, h("span.fv-card-number", { "aria-hidden": "true" }, number), action.title),
      h("p.fv-card-fix", null, action.fix),
      h("p.fv-card-gain", null, action.gain),
      h("p.fv-card-evidence.fv-muted", null, action.evidence),
      place && h("p.fv-card-place", null, this.app.link(place.label, place.patch, `${place.label}: ${action.title}`)),
    );
  }

  /** @param {SummaryAction} action */
  place({ attribute, node, step }) {
    if (attribute !== null) return { label: "See the attribute", patch: { tab: "attributes", attribute, node: null } };
    if (step === null) return null;
    const patch = { tab: "graph", step, against: null, attribute: null, node };
    return { label: node === null ? `See step ${step}` : "See the node", patch };
  }

  // --- the passes that mattered

  /** @param {Summary} summary */
  passes({ passes, main_step: main }) {
    if (!passes.length) return null;
    const most = {
      nodes: Math.max(1, ...passes.flatMap(({ nodes }) => nodes)),
      constants: Math.max(1, ...passes.flatMap(({ constants }) => constants ?? [])),
    };
    const columns = [
      ["Operations", true],
      ["Constants", passes.some((row) => row.constants_text !== null)],
      ["Time", passes.some((row) => row.times.length)],
      ["Error", passes.some((row) => row.error_text !== null)],
    ].filter(([, moved]) => moved);
    const names = columns.map(([name]) => /** @type {string} */ (name));
    return h(
      "section.fv-answer-part",
      null,
      h("h2", null, "The passes that mattered"),
      h(
        "div.fv-moves",
        { style: { "--columns": names.length } },
        h(
          "div.fv-moves-head.fv-muted",
          { "aria-hidden": "true" },
          h("span", null, "Pass"),
          names.map((name) => h("span", null, name)),
        ),
        h(
          "ol.fv-moves-list",
          null,
          passes.map((row) => h("li", null, this.row(row, { most, names, isMain: row.step === main }))),
        ),
      ),
      this.tidying(new Set(passes.map(({ step }) => step))),
    );
  }

  /**
   * What the passes did that the list leaves out, so that one row's end may differ from the next one's beginning.
   * @param {Set<number>} listed steps
   */
  tidying(listed) {
    const { model } = this.app;
    const steps = model.steps.filter((step) => step.tidied && !listed.has(step.index));
    if (!steps.length) return null;
    const removed = steps.reduce((sum, step) => sum + step.removed, 0);
    const [first] = steps;
    const passes = steps.length === 1 ? "a pass that only tidied up" : `${steps.length} passes that only tidied up`;
    const what = `removed ${count(removed, "operation")} that nothing read`;
    const patch = { tab: "graph", step: first.index, against: null, attribute: null, node: null };
    return h("p.fv-muted.fv-moves-rest", null, "Left out: ", this.app.link(passes, patch), `, which ${what}.`);
  }

  /**
   * @param {SummaryPass} row
   * @param {{ most: { nodes: number, constants: number }, names: string[], isMain: boolean }} options
   */
  row(row, { most, names, isMain }) {
    const { title } = this.app.model.step(row.step);
    const name = [row.name, title, row.round === null ? "" : `round ${row.round}`].filter(Boolean).join(", ");
    const several = this.app.model.methods.length > 1;
    const cells = /** @type {Record<string, any>} */ ({
      Operations: [bar(row.nodes, most.nodes), h("span.fv-num", null, row.nodes_text)],
      Constants: row.constants_text && [
        row.constants && bar(row.constants, most.constants),
        h("span.fv-num", null, row.constants_text),
      ],
      Time: row.times.map((time) => h("span", { class: `fv-verdict-${time.verdict}` }, time.text)),
      Error: row.error_text && [
        h("span.fv-num", { class: row.past_tolerance ? "fv-bad" : "" }, row.error_text),
        row.past_tolerance ? h("span.fv-bad", null, " past tolerance") : null,
      ],
    });
    const patch = { tab: "graph", step: row.step, against: null, attribute: null, node: row.node };
    const link = this.app.link(
      [
        h(
          "span.fv-move-name",
          null,
          h("span.fv-num.fv-muted", null, `${row.step}\u00a0`),
          h("strong", null, row.name),
          title ? h("span.fv-move-title", null, ` ${title}`) : null,
          row.round === null ? null : h("span.fv-round", null, ` round ${row.round}`),
          several ? h("span.fv-muted", null, ` ${row.method}`) : null,
          isMain ? h("span.fv-badge.fv-move-main", null, "mattered most") : null,
        ),
        names.map((column) => h("span.fv-move-cell", { data: { label: column } }, cells[column] ?? null)),
      ],
      patch,
      words(row, name),
    );
    link.classList.add("fv-move");
    if (isMain) link.classList.add("fv-move-chosen");
    return link;
  }

  // --- where to go on

  further() {
    const { app } = this;
    const places = [
      ["graph", "The graph, pass by pass"],
      ["attributes", "What became of the weights"],
      ["charts", "Time, error and memory per pass"],
      ["findings", "All findings"],
    ].filter(([tab]) => app.panels.has(tab));
    return h(
      "nav.fv-answer-further",
      { "aria-label": "Further" },
      places.map(([tab, text]) => app.link(text, { tab })),
    );
  }
}

/**
 * All of a row in one sentence, for a screen reader.
 * @param {SummaryPass} row
 * @param {string} name
 */
function words(row, name) {
  return [
    `Step ${row.step}, ${name}`,
    `operations ${row.nodes_text}`,
    row.constants_text && `constants ${row.constants_text}`,
    ...row.times.map((time) => time.text),
    row.error_text && `error ${row.error_text}${row.past_tolerance ? ", past tolerance" : ""}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/**
 * A bar: what is left, and, paler, what the pass took away or, in the colour of what is new, what it brought.
 * @param {[number, number]} sizes before and after
 * @param {number} most
 */
function bar([before, after], most) {
  const px = (/** @type {number} */ size) => (size ? Math.max(1, (BAR.width * size) / most) : 0);
  const svg = document.createElementNS(SVG, "svg");
  const attributes = {
    viewBox: `0 0 ${BAR.width} ${BAR.height}`,
    ...BAR,
    class: "fv-move-bar",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, String(value));
  const kept = Math.min(before, after);
  svg.append(part(0, px(kept), "fv-bar-kept"));
  if (before !== after) {
    const end = px(Math.max(before, after));
    svg.append(part(px(kept), Math.max(1, end - px(kept)), after > before ? "fv-bar-added" : "fv-bar-removed"));
  }
  return svg;
}

/**
 * @param {number} x
 * @param {number} width
 * @param {string} kind
 */
function part(x, width, kind) {
  const rect = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ x, y: 0, width, height: BAR.height, class: kind })) {
    rect.setAttribute(key, String(value));
  }
  return rect;
}
