/* The attributes of two traces: the fate of each in both, and a filter for those that differ. */

import { attributeList, filterField, MINOR_TITLE } from "./attribute_list.js";
import { countWords } from "./attributes.js";
import { h, listMove } from "./dom.js";
import { SIDES } from "./pair.js";
import { fateBadge } from "./sheet.js";

export class ComparisonAttributesPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    // Other methods set these.
    this.query = /** @type {any} */ (undefined);
    this.chosen = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "attributes";
    this.label = "Attributes";
    this.all = app.model.comparison.attributes;
    this.count = this.all.filter((/** @type {any} */ row) => row.counted && row.fields.length).length;
    /** @type {any[]} */
    this.rows = [];
    this.text = filterField(app, "Filter by path");
    /** @type {ElementOf<"input">} */
    this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
    /** @type {ElementOf<"input">} */
    this.minor = h("input", { type: "checkbox", onchange: () => app.navigate({ minor: this.minor.checked }) });
    this.shown = h("span.fv-muted.fv-num", { role: "status" });
    const head = ["Attribute", "Shape, type", "A", "B", "What differs"].map((text) =>
      h("div", { role: "columnheader" }, text),
    );
    this.list = attributeList(this);
    this.table = h(
      "div.fv-table.fv-two-fates",
      { role: "table", "aria-label": "Fates of attributes in both traces" },
      h("div.fv-table-row.fv-table-head", { role: "row" }, head),
      this.list.element,
    );
    this.empty = h("p.fv-empty");
    const checks = [
      h("label.fv-check", null, this.quiet, "Only differences"),
      h("label.fv-check", { title: MINOR_TITLE }, this.minor, "Others"),
    ];
    this.element = h(
      "div.fv-panel-body",
      null,
      h("div.fv-bar", null, this.text, checks, this.shown),
      this.table,
      this.empty,
    );
  }

  focusSearch() {
    this.text.focus();
    this.text.select();
  }

  /** @param {any} state */
  render(state) {
    const query = JSON.stringify([state.q, state.quiet, state.minor]);
    if (query !== this.query) this.filter(state);
    this.query = query;
    this.chosen = state.attribute;
    this.list.refresh();
    const place = this.rows.findIndex((row) => row.path === state.attribute);
    if (place >= 0) this.list.reveal(place, { middle: true });
  }

  /** @param {any} state */
  filter(state) {
    if (this.text.value !== state.q) this.text.value = state.q;
    this.quiet.checked = state.quiet;
    this.minor.checked = state.minor;
    const text = state.q.toLowerCase();
    this.rows = this.all.filter(
      (/** @type {any} */ row) =>
        (state.minor || !row.minor) &&
        (!state.quiet || row.fields.length) &&
        (!text || row.path.toLowerCase().includes(text)),
    );
    this.shown.textContent = `${countWords(this.rows)} of ${this.all.filter((/** @type {any} */ row) => row.counted).length} parameters and buffers`;
    this.empty.textContent = !this.all.length
      ? "Neither trace says anything about attributes."
      : state.quiet && !state.q
        ? "Every attribute met the same fate in both."
        : "No attribute matches.";
    this.empty.hidden = this.rows.length > 0;
    this.table.hidden = !this.rows.length;
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.list.update(this.rows.length, 0);
  }

  destroy() {
    this.list.destroy();
  }

  /** @param {any} index */
  row(index) {
    const row = this.rows[index];
    return h(
      "div.fv-table-row",
      {
        role: "row",
        "aria-rowindex": index + 2,
        class: `${row.path === this.chosen ? "fv-chosen" : ""} ${row.fields.length ? "" : "fv-row-same"}`,
        data: { path: row.path },
        onclick: (event) => event.target.closest("a") || this.app.navigate({ attribute: row.path, node: null }),
      },
      h("div.fv-mono.fv-clip.fv-clip-start", { role: "cell", title: row.path }, h("bdi", null, row.path)),
      h("div.fv-clip", { role: "cell", title: row.type }, row.shape ? `${row.shape} ${row.dtype ?? ""}` : row.type),
      SIDES.map((side) =>
        h(
          "div.fv-clip",
          { role: "cell" },
          row[side]
            ? [
                fateBadge(/** @type {any} */ (row)[side].fate),
                /** @type {any} */ (row)[side].reason ? ` ${/** @type {any} */ (row)[side].reason}` : null,
              ]
            : h("span.fv-muted", null, "absent"),
        ),
      ),
      h("div.fv-clip", { role: "cell" }, fateDifferences(row) || h("span.fv-muted", null, "=")),
    );
  }

  /** @param {any} event */
  key(event) {
    const next = listMove(
      event,
      this.rows.findIndex((row) => row.path === this.chosen),
      this.rows.length,
      15,
    );
    if (next !== null) this.app.navigate({ attribute: this.rows[next].path, node: null });
  }
}

/**
 * What differs between the fates of an attribute, in words; empty where nothing does.
 * @param {any} row
 */
export function fateDifferences(row) {
  if (!row.fields.length) return "";
  if (!row.a || !row.b) return `only in ${row.a ? "A" : "B"}`;
  // Where the fate is another one, so are the pass that decided and the place: they go without saying.
  const said = row.fields.includes("fate")
    ? row.fields.filter((/** @type {string} */ field) => field !== "step" && field !== "locations")
    : row.fields;
  return said
    .map(
      (/** @type {string} */ field) =>
        ({ step: "decided by another pass", locations: "another constant holds it" })[field] ?? `another ${field}`,
    )
    .join(", ");
}
