/* The findings of a trace: the passes that made it faster, those that changed results, and the checks of the module. */

import { fill, h } from "./dom.js";
import { grid } from "./grid.js";
import { ratioAxis, ratioBar, ratioSpread } from "./ratio.js";
import { term } from "./terms.js";
import { measuringNotes } from "./measuring_notes.js";
import { TIDIED, part, wide } from "./finding_parts.js";
import { memoryPart } from "./memory_findings.js";
import { ablationPart } from "./ablation_findings.js";

/** @type {Record<string, any>} */
const SIGNS = { passed: "✓", "as meant": "•", failed: "✕", unknown: "?" };
/** @type {Record<string, any>} */
const TONES = { passed: "good", "as meant": "muted", failed: "bad", unknown: "warn" };

export class FindingsPanel {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.id = "findings";
    this.label = "Findings";
    this.found = app.model.view.findings;
    this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Findings" });
  }

  render() {
    if (!this.element.childElementCount) fill(this.element, h("div.fv-findings", null, this.parts()));
    const { step } = this.app.current;
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[data-step]"))) {
      row.classList.toggle("fv-chosen", Number(row.dataset.step) === step);
    }
  }

  parts() {
    const parts = [
      this.paidOff(),
      this.movedTheNumbers(),
      this.checks(),
      memoryPart(this),
      ablationPart(this),
      this.absent(),
    ].filter(Boolean);
    return parts.length ? parts : h("p.fv-empty", null, "This trace holds no pass, so there is nothing to find.");
  }

  // --- which pass paid off

  paidOff() {
    const { losses, payoffs, whole } = this.found;
    if (!whole.length) return null;
    const spread = ratioSpread(payoffs);
    const severalDevices = new Set(whole.map((/** @type {{ device: string }} */ { device }) => device)).size > 1;
    const rows = payoffs.map((/** @type {any} */ row) =>
      h(
        "tr",
        { data: { step: row.step } },
        h("td", null, this.pass(row.step)),
        h("td", null, ratioBar(row, spread)),
        h("td.fv-num", null, row.text),
        severalDevices ? h("td.fv-muted", null, row.device) : null,
      ),
    );
    return wide(
      "What made it faster",
      rows.length
        ? grid(
            "",
            ["Pass", ratioAxis(spread), "Time against the pass before", ...(severalDevices ? ["Device"] : [])],
            rows,
          )
        : h(
            "p",
            null,
            `No single pass changed the latency measurably${this.found.unseen ? ` (${this.found.unseen})` : ""}.`,
          ),
      whole.map((/** @type {any} */ row) => this.together(row, whole.length > 1)),
      losses.map((row) =>
        h(
          "p",
          null,
          h("strong.fv-bad", null, "Freezing lost: "),
          `compiled with freezing takes ${row.text}, against compiled without it, on ${row.device}`,
        ),
      ),
    );
  }

  /**
   * @param {any} row
   * @param {any} several
   */
  together(row, several) {
    const of = several ? ` (${row.method}, ${row.device})` : ` on ${row.device}`;
    const words =
      row.verdict === "faster" || row.verdict === "slower"
        ? h(`strong.fv-verdict-${row.verdict}`, null, row.words)
        : [h("strong", null, term(this.app, "measurable difference", row.verdict)), ` (${row.unseen})`];
    return [
      h("p", null, `All passes together${of}: `, words),
      row.beside ? h("p.fv-muted.fv-small", null, row.beside) : null,
      measuringNotes(row.notes),
    ];
  }

  // --- what moved the numbers

  movedTheNumbers() {
    const { errors } = this.found;
    if (!errors.length) return null;
    return wide(
      "What changed the results",
      errors.map((method) => this.errorsOf(method, errors.length > 1)),
    );
  }

  /**
   * @param {ErrorSource} options
   * @param {boolean} several
   */
  errorsOf({ method, present, total, added }, several) {
    const rows = added.map((/** @type {any} */ row) =>
      h(
        "tr",
        { data: { step: row.step } },
        h(
          "td",
          null,
          this.pass(row.step),
          this.app.model.step(row.step)?.before === null ? h("span.fv-muted", null, " the graph as it came") : null,
        ),
        h(
          "td.fv-num",
          null,
          row.from,
          " → ",
          h("strong", null, row.to),
          row.span ? h("div.fv-muted.fv-small", null, `${row.span} over the inputs`) : null,
        ),
        h(
          "td",
          null,
          row.close
            ? h("span.fv-good", null, "within tolerance")
            : h("span.fv-bad", null, row.first_past ? "≠ the first past tolerance" : "≠ past tolerance"),
          row.close || row.worst === null
            ? null
            : h("div.fv-muted.fv-small", null, `worst with the inputs: ${row.worst}`),
        ),
      ),
    );
    const before =
      present === null
        ? null
        : h(
            "p",
            null,
            "Against float64: ",
            h("strong.fv-num", null, present),
            " before freezing (eager)",
            total === null ? null : [", ", h("strong.fv-num", null, total), " after all passes"],
          );
    return [
      several ? h("h4.fv-block-title", null, method) : null,
      rows.length
        ? grid("", ["Added by", "Largest error against eager", "torch's tolerances"], rows)
        : h("p", null, "No pass moved the outputs away from eager's."),
      before,
    ];
  }

  // --- the frozen module

  checks() {
    const { checks } = this.found;
    if (!checks.length) return null;
    const items = checks.map((/** @type {any} */ check) => {
      const head = [
        h(
          `span.fv-check-sign.fv-${TONES[check.verdict]}`,
          { role: "img", "aria-label": check.verdict, title: check.verdict },
          SIGNS[check.verdict],
        ),
        h("strong", null, check.name),
        h("span.fv-wrap", null, check.message),
      ];
      if (!check.details.length) return h("div.fv-check-row", null, head);
      return h(
        "details.fv-check-more",
        { open: check.verdict === "failed" },
        h("summary.fv-check-row", null, head),
        h(
          "ul.fv-list.fv-check-details",
          null,
          check.details.map((/** @type {number} */ line) => h("li", null, line)),
        ),
      );
    });
    return part("Checks of the frozen module", h("div.fv-checks", null, items));
  }

  absent() {
    const { absent } = this.found;
    if (!absent.length) return null;
    return wide(
      "Not recorded",
      h(
        "dl.fv-pairs.fv-absent",
        null,
        absent.map(([what, how]) => [h("dt", null, what), h("dd", null, how)]),
      ),
    );
  }

  /** @param {number} index */
  pass(index) {
    const { round, tidied, title } = this.app.model.step(index);
    return [
      this.app.details.stepLink(index),
      title ? h("span.fv-muted", null, ` ${title}`) : null,
      round === null ? null : h("span.fv-muted", null, ` round ${round}`),
      tidied ? TIDIED() : null,
    ];
  }
}
