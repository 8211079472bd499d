/* The findings of two traces side by side, what differs first (viewer/views/comparison/findings.py). */

import { fill, h } from "./dom.js";
import { sideSign } from "./pair.js";
import { grid } from "./grid.js";
import { ratioBar, ratioSpread } from "./ratio.js";
import { section } from "./section.js";

export class ComparisonFindingsPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    this.app = app;
    this.id = "findings";
    this.label = "Findings";
    this.sections = app.model.comparison.findings;
    this.count = this.sections.filter((/** @type {{ differs: boolean }} */ { differs }) => differs).length;
    this.element = h("div.fv-panel-body.fv-scroll", {
      tabindex: "0",
      role: "region",
      "aria-label": "Findings of both traces",
    });
  }

  /** @param {{ step: any, against: any }} options */
  render({ step, against }) {
    if (!this.element.childElementCount) {
      fill(
        this.element,
        h(
          "div.fv-findings.fv-two-findings",
          null,
          this.summary(),
          this.sections.map((one) => this.part(one)),
        ),
      );
    }
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[data-steps]"))) {
      const own = (row.dataset.steps ?? "").split(" ").map(Number);
      row.classList.toggle("fv-chosen", own.includes(step) || (against !== null && own.includes(against)));
    }
  }

  summary() {
    if (!this.sections.length) return h("p.fv-empty", null, "Neither trace holds a pass, so there is nothing to find.");
    const names = this.sections
      .filter((/** @type {{ differs: boolean }} */ { differs }) => differs)
      .map(({ title }) => title);
    return h(
      "p.fv-finding-wide",
      null,
      names.length
        ? ["They differ in: ", h("strong", null, names.join(", ")), "."]
        : "Nothing that was found differs by more than noise.",
    );
  }

  /** @param {FindingTable} options */
  part({ title, note, none, differs, rows }) {
    const spread = ratioSpread(rows.flatMap(({ a, b }) => [a?.ratio, b?.ratio].filter(Boolean)));
    const lines = rows.map((row) => this.row(row, none, spread));
    const sign = differs
      ? h("span.fv-badge.fv-modified", null, "≠ differs")
      : h("span.fv-badge", null, "= no difference");
    const element = section(
      title,
      note ? h("p.fv-muted.fv-small", null, note) : null,
      grid("", ["", heading(this.app, 0), heading(this.app, 1)], lines),
    );
    element.classList.add("fv-finding", "fv-finding-wide");
    element.querySelector("h3")?.append(" ", sign);
    return element;
  }

  /**
   * @param {FindingRow} row
   * @param {string} none
   * @param {any} spread
   */
  row({ name, where, steps, differs, a, b }, none, spread) {
    const known = steps.filter((step) => step !== null);
    const what = known.length ? this.app.link(name, { step: known[known.length - 1] }) : name;
    const sign = differs
      ? h("span.fv-pair-new", { role: "img", "aria-label": "differs", title: "The two traces differ" }, "≠ ")
      : null;
    return h(
      "tr",
      { class: differs ? "" : "fv-row-same", data: known.length ? { steps: known.join(" ") } : {} },
      h("th.fv-wrap", { scope: "row" }, sign, what, where ? h("div.fv-muted.fv-small", null, where) : null),
      [a, b].map((cell) => h("td", null, cell ? content(cell, spread) : h("span.fv-muted", null, none))),
    );
  }
}

/**
 * @param {ComparisonApp} app
 * @param {number} side
 */
function heading(app, side) {
  return [sideSign(side), " ", h("span", null, app.model.comparison.names[side])];
}

/**
 * @param {{ text: any, note: any, tone: any, details: any, ratio: any }} options
 * @param {any} spread
 */
function content({ text, note, tone, details, ratio }, spread) {
  return [
    ratio ? ratioBar(ratio, spread) : null,
    h("div.fv-num", { class: `fv-${tone}` }, text),
    note ? h("div.fv-muted.fv-small.fv-wrap", null, note) : null,
    details.length
      ? h(
          "details.fv-small",
          null,
          h("summary", null, "more"),
          h(
            "ul.fv-list",
            null,
            details.map((/** @type {number} */ line) => h("li.fv-wrap", null, line)),
          ),
        )
      : null,
  ];
}
