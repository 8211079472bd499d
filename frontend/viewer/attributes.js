/* The fate table: every attribute, what became of it, why, and one click to what decided it. */

import { attributeList, filterField, MINOR_TITLE } from "./attribute_list.js";
import { count } from "../graph/data/words.js";
import { h, listMove } from "./dom.js";
import { fateBadge } from "./sheet.js";
import { explains } from "./terms.js";
import { placeText } from "./source_places.js";

const FATES = ["inlined", "folded", "preserved", "dropped"];
const COLUMNS = [
  { key: "path", label: "Attribute", order: (/** @type {any} */ row) => row.path },
  { key: "kind", label: "Kind", order: (/** @type {any} */ row) => row.kind },
  { key: "shape", label: "Shape, type", order: (/** @type {any} */ row) => `${row.shape} ${row.dtype ?? row.type}` },
  { key: "bytes", label: "Size", order: (/** @type {any} */ row) => row.nbytes },
  { key: "fate", label: "Fate", order: (/** @type {any} */ row) => FATES.indexOf(row.fate) },
  { key: "why", label: "Why", order: (/** @type {any} */ row) => row.reason ?? "" },
  { key: "home", label: "Now", order: (/** @type {any} */ row) => row.locations[0]?.value ?? "" },
];

/** Width of a letter of a path; the column is as wide as the longest one needs. */
const LETTER_PX = 7.3;

export class AttributesPanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.chosen = /** @type {any} */ (undefined);
    this.linked = /** @type {Set<any>} */ (/** @type {any} */ (undefined));
    this.query = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "attributes";
    this.label = "Attributes";
    this.count = app.model.attributes.filter((/** @type {any} */ row) => row.counted).length;
    /** @type {any[]} */
    this.rows = [];
    this.text = filterField(app, "Filter by path or type");
    this.fates = new Map(
      FATES.filter((fate) => app.model.attributes.some((/** @type {any} */ row) => row.fate === fate)).map((fate) => [
        fate,
        this.fateButton(fate),
      ]),
    );
    this.kind = this.select("kind", "All kinds", (/** @type {any} */ row) => row.kind);
    this.reason = this.select("reason", "All reasons", (/** @type {any} */ row) => row.reason);
    this.shown = h("span.fv-muted.fv-num", { role: "status" });
    /** @type {ElementOf<"input">} */
    this.minor = h("input", { type: "checkbox", onchange: () => app.navigate({ minor: this.minor.checked }) });
    const minor = app.model.attributes.filter((/** @type {any} */ row) => row.minor).length;
    this.minorLabel = h("label.fv-check", { title: MINOR_TITLE, hidden: !minor }, this.minor, `Others (${minor})`);
    this.header = h(
      "div.fv-table-row.fv-table-head",
      { role: "row" },
      COLUMNS.map((column) => this.head(column)),
    );
    this.list = attributeList(this);
    this.table = h(
      "div.fv-table.fv-attributes",
      { role: "table", "aria-label": "Fates of attributes" },
      this.header,
      this.list.element,
    );
    const paths = app.model.attributes.filter((/** @type {any} */ row) => !row.minor);
    const longest = paths.reduce((most, { path }) => Math.max(most, path.length), 0);
    this.table.style.setProperty("--path", `${(longest + 1) * LETTER_PX}px`);
    this.empty = h("p.fv-empty");
    this.element = h(
      "div.fv-panel-body",
      null,
      h(
        "div.fv-bar",
        null,
        this.text,
        h("div.fv-chips", { role: "group", "aria-label": "Fates" }, [...this.fates.values()]),
        this.kind,
        this.reason,
        this.minorLabel,
        this.shown,
      ),
      this.table,
      this.empty,
    );
  }

  /** @param {string} fate */
  fateButton(fate) {
    const toggle = () => {
      const chosen = new Set(this.app.current.fate);
      if (!chosen.delete(fate)) chosen.add(fate);
      this.app.navigate({ fate: FATES.filter((name) => chosen.has(name)) });
    };
    return h(
      "button.fv-chip",
      {
        type: "button",
        class: `fv-fate-${fate}`,
        "aria-pressed": "false",
        onclick: toggle,
        ...explains(this.app, fate),
      },
      h("span.fv-dot"),
      fate,
      h("span.fv-num"),
    );
  }

  /**
   * @param {string} key
   * @param {any} all
   * @param {any} read
   */
  select(key, all, read) {
    const names = [...new Set(this.app.model.attributes.map(read).filter(Boolean))].sort();
    /** @type {ElementOf<"select">} */
    const element = h(
      "select.fv-input",
      { "aria-label": all, onchange: () => this.app.navigate({ [key]: element.value }) },
      h("option", { value: "" }, all),
      names.map((name) => h("option", { value: name }, name)),
    );
    element.hidden = names.length < 2;
    return element;
  }

  /** @param {any} column */
  head(column) {
    const sort = () => {
      const [key, down] = parseSort(this.app.current.sort);
      this.app.navigate({ sort: key === column.key && !down ? `-${column.key}` : column.key });
    };
    return h(
      "div",
      { role: "columnheader", data: { key: column.key } },
      h(
        "button.fv-sort",
        { type: "button", onclick: sort, ...explains(this.app, column.key) },
        column.label,
        h("span.fv-sort-mark", { "aria-hidden": "true" }),
      ),
    );
  }

  focusSearch() {
    this.text.focus();
    this.text.select();
  }

  /** @param {any} state */
  render(state) {
    const named = this.app.model.attribute(state.attribute)?.minor ? state.attribute : null; // a link may lead to any
    const query = JSON.stringify([state.q, state.fate, state.kind, state.reason, state.sort, state.minor, named]);
    this.chosen = state.attribute;
    this.linked = new Set(state.attribute === null ? this.linkedTo(state.node) : []);
    if (query !== this.query) this.filter(state);
    this.query = query;
    this.list.refresh();
    const place = this.rows.findIndex((row) => row.path === state.attribute || this.linked.has(row.path));
    if (place >= 0) this.list.reveal(place, { middle: true });
  }

  /**
   * Paths of the attributes that a node reads or holds.
   * @param {string | null} node
   */
  linkedTo(node) {
    const { model, pair } = this.app;
    if (node === null) return [];
    for (const step of pair?.steps() ?? []) {
      const found = model.graph(step.index).nodes.get(node);
      if (found) {
        return found.outputs.flatMap(({ name }) => model.attributesOf(step.index, name)).map((row) => row.path);
      }
    }
    return [];
  }

  destroy() {
    this.list.destroy();
  }

  /** @param {any} state */
  filter(state) {
    if (this.text.value !== state.q) this.text.value = state.q;
    this.kind.value = state.kind;
    this.reason.value = state.reason;
    this.minor.checked = state.minor;
    const text = state.q.toLowerCase();
    const all = this.app.model.attributes.filter(
      (/** @type {any} */ row) =>
        state.minor || state.kind === "submodule" || !row.minor || row.path === state.attribute,
    );
    for (const [fate, button] of this.fates) {
      button.setAttribute("aria-pressed", String(state.fate.includes(fate)));
      const found = all.filter((/** @type {any} */ row) => row.fate === fate);
      const count = found.length;
      /** @type {Node} */ (button.lastChild).textContent = countWords(found);
      button.hidden = !count && !state.fate.includes(fate);
    }
    this.rows = all.filter(
      (/** @type {any} */ row) =>
        (!state.fate.length || state.fate.includes(row.fate)) &&
        (!state.kind || row.kind === state.kind) &&
        (!state.reason || row.reason === state.reason) &&
        (!text || `${row.path} ${row.type}`.toLowerCase().includes(text)),
    );
    this.sort(state.sort);
    this.shown.textContent = `${countWords(this.rows)} of ${this.count} parameters and buffers`;
    const hidden = all.length < this.app.model.attributes.length ? " Submodules, flags and values are left out." : "";
    this.empty.textContent = this.app.model.attributes.length
      ? `No attribute matches these filters.${hidden}`
      : "This trace says nothing about attributes.";
    this.empty.hidden = this.rows.length > 0;
    this.table.hidden = !this.rows.length;
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.list.update(this.rows.length, 0);
  }

  /** @param {any} text */
  sort(text) {
    const [key, down] = parseSort(text);
    const { order } = COLUMNS.find((column) => column.key === key) || COLUMNS[0];
    const sign = down ? -1 : 1;
    this.rows.sort((one, other) => sign * compare(order(one), order(other)) || compare(one.path, other.path));
    for (const cell of /** @type {HTMLCollectionOf<HTMLElement>} */ (this.header.children)) {
      const mine = cell.dataset.key === key;
      cell.setAttribute("aria-sort", mine ? (down ? "descending" : "ascending") : "none");
      /** @type {Element} */ (cell.querySelector(".fv-sort-mark")).textContent = mine ? (down ? "↓" : "↑") : "";
    }
  }

  /** @param {any} index */
  row(index) {
    const row = this.rows[index];
    return h(
      "div.fv-table-row",
      {
        role: "row",
        "aria-rowindex": index + 2,
        class: row.path === this.chosen ? "fv-chosen" : this.linked.has(row.path) ? "fv-linked" : "",
        data: { path: row.path },
        onclick: (event) => event.target.closest("a") || this.app.navigate({ attribute: row.path, node: null }),
      },
      h("div.fv-mono.fv-clip.fv-clip-start", { role: "cell", title: row.path }, h("bdi", null, row.path)),
      h("div.fv-muted", { role: "cell" }, row.kind),
      h("div.fv-clip", { role: "cell", title: row.type }, row.shape ? `${row.shape} ${row.dtype ?? ""}` : row.type),
      h("div.fv-num", { role: "cell" }, row.bytes),
      h("div", { role: "cell" }, fateBadge(row.fate)),
      h("div.fv-clip", { role: "cell", title: row.why }, this.why(row)),
      h("div.fv-clip", { role: "cell" }, this.home(row)),
    );
  }

  /**
   * The reason of the fate, with a link to the node that decided; for a preserved attribute mostly a write.
   * @param {any} row
   */
  why(row) {
    const { details } = this.app;
    if (row.fate === "folded" && row.step !== null) {
      return ["folded in step ", details.stepLink(row.step, { tab: "rewrites" })];
    }
    if (row.fate !== "preserved") return row.why;
    const write = row.evidence.find(
      (/** @type {Evidence} */ evidence) => evidence.node !== null && evidence.step !== null,
    );
    if (!write) return row.reason;
    const text = `${write.op ?? "node"}${write.source ? ` ${placeText(write.source)}` : ""}`;
    const patch = { step: write.step, node: write.node, attribute: null, tab: "graph" };
    return [row.reason, " · ", this.app.link(text, patch, `${text} keeps ${row.path}`)];
  }

  /**
   * A link to the constant that holds its value at the end, or to what reads the attribute that it still is.
   * @param {any} row
   */
  home(row) {
    const [first, ...others] = this.app.model.homes(row);
    if (!first) return h("span.fv-muted", null, row.fate === "folded" ? "computed away" : "removed");
    const more = others.length
      ? h(
          "span.fv-muted",
          { title: others.map((/** @type {{ value: string }} */ { value }) => `%${value}`).join(", ") },
          ` +${others.length}`,
        )
      : null;
    return [
      h("span.fv-muted", null, row.fate === "preserved" ? "read as " : "constant "),
      this.app.details.locationLink(first),
      more,
    ];
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
 * The number of parameters and buffers, and of others: "12 + 2 others".
 * @param {any[]} rows
 */
export function countWords(rows) {
  const counted = rows.filter((row) => row.counted).length;
  const others = rows.length - counted;
  const words = count(others, "other");
  return !others ? `${counted}` : counted ? `${counted} + ${words}` : words;
}

/** @param {string} text */
function parseSort(text) {
  return text.startsWith("-") ? [text.slice(1), true] : [text, false];
}

const NAMES = new Intl.Collator("en", { numeric: true }); // layer 2 comes before layer 10

/**
 * @param {any} one
 * @param {any} other
 */
function compare(one, other) {
  if (typeof one === "string" && typeof other === "string") return NAMES.compare(one, other);
  return one < other ? -1 : one > other ? 1 : 0;
}
