/* The tabs of two traces that differ from those of one: attributes with two fates, charts of both, requests. */

import { attributeList, filterField, MINOR_TITLE } from "./attribute_list.js";
import { countWords } from "./attributes.js";
import { ChartsPanel } from "./charts.js";
import { Details } from "./details.js";
import { fill, h, listMove } from "./dom.js";
import { GraphPanel } from "./graph_panel.js";
import { sideSign } from "./pair.js";
import { grid } from "./grid.js";
import { AliasesPanel } from "./aliases_panel.js";
import { RewritesPanel } from "./rewrites_panel.js";
import { section } from "./section.js";
import { fateBadge } from "./sheet.js";

const SIDES = /** @type {const} */ (["a", "b"]);
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
            : h("span.fv-muted", null, "not there"),
        ),
      ),
      h("div.fv-clip", { role: "cell" }, this.differs(row)),
    );
  }

  /** @param {any} row */
  differs(row) {
    if (!row.fields.length) return h("span.fv-muted", null, "=");
    if (!row.a || !row.b) return `only in ${row.a ? "A" : "B"}`;
    // Where the fate is another one, so are the pass that decided and the place: they go without saying.
    const said = row.fields.includes("fate")
      ? row.fields.filter((/** @type {string} */ field) => field !== "step" && field !== "locations")
      : row.fields;
    return said
      .map(
        (/** @type {string} */ field) =>
          ({ step: "decided by another pass", locations: "stands elsewhere" })[field] ?? field,
      )
      .join(", ");
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
   * @param {any} state
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
   * A chart's point stands at the place of its row, not at its step.
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

export class ComparisonEnvironmentPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    this.app = app;
    this.id = "environment";
    this.label = "Settings";
    const { settings, failures, near_misses: misses, names, made, calls, notices, facts } = app.model.comparison;
    this.count = settings.length;
    const rows = settings.map((/** @type {{ subject: any, name: any, a: any, b: any }} */ { subject, name, a, b }) =>
      line([subject, name, a ?? "not there", b ?? "not there"]),
    );
    const traces = SIDES.map((side, index) =>
      h(
        "tr",
        null,
        h("td", null, sideSign(index)),
        h("td", null, names[index]),
        h("td.fv-num", null, made[index] || "unknown"),
        h("td.fv-mono.fv-wrap", null, calls[index] || "unknown"),
      ),
    );
    this.element = h(
      "div.fv-panel-body.fv-scroll.fv-two-settings",
      { tabindex: "0", role: "region", "aria-label": "Settings" },
      grid("Traces", ["", "Model", "Made", "By"], traces),
      rows.length
        ? grid("Differences of request, inputs and environment", ["", "Name", "A", "B"], rows)
        : section("Settings", h("p.fv-muted", null, "Options, inputs and environment are the same in both.")),
      told("Notices", notices),
      told("About this environment", facts),
      failures.some(Boolean)
        ? grid(
            "How the freezes ended",
            ["A", "B"],
            [line(failures.map((/** @type {string | null} */ text) => text ?? "it did not fail"))],
          )
        : null,
      misses.some((/** @type {any} */ side) => side.length)
        ? grid(
            "Near misses of one trace only",
            ["", "Fold", "Node", "Why not", "Evidence"],
            misses.flatMap((/** @type {any} */ side, /** @type {any} */ index) =>
              side.map((/** @type {any} */ miss) =>
                line([sideSign(index), miss.kind, `%${miss.node}`, miss.reason, miss.detail]),
              ),
            ),
          )
        : null,
    );
  }

  render() {}
}

/**
 * @param {any} title
 * @param {any} sides
 */
function told(title, sides) {
  if (!sides.some((/** @type {any} */ side) => side.length)) return null;
  const rows = sides.flatMap((/** @type {any} */ side, /** @type {number} */ index) =>
    side.map((/** @type {{ message: any, quoted: any }} */ { message, quoted }) =>
      h(
        "tr",
        null,
        h("td", null, sideSign(index)),
        h("td.fv-wrap", null, message, quoted && h("pre.fv-log", { tabindex: "0" }, quoted)),
      ),
    ),
  );
  return grid(title, ["", "Notice"], rows);
}

/** @param {any} texts */
function line(texts) {
  return h(
    "tr",
    null,
    texts.map((/** @type {string | null} */ text) => h("td.fv-wrap", null, text)),
  );
}
