/* The page of a sweep: chart and table of its recordings, filter, order, groups; and what changed since another sweep. */

import { count } from "../graph/data/words.js";
import { fill, h, VirtualList } from "../viewer/dom.js";
import { drawChart } from "./chart.js";
import {
  COLUMNS,
  filterRows,
  GROUPS,
  METRICS,
  sharedFacts,
  sortRows,
  statusName,
  statusText,
  tableLines,
  usedColumns,
  valuesOf,
} from "./model.js";

const ROW = 30;
/** Changes that are listed; the command lists all. */
const SHOWN = 200;
const CHOICES = ["status", "backend", "options", "environment"];

export class SweepView {
  /**
   * @param {HTMLElement} root filled with the page
   * @param {any} data of viewer/sweep_page.py
   * @param {any} options `link(row)`: an element that opens the trace of a row; `open(row)` does that
   */
  constructor(root, data, { link, open }) {
    this.root = root;
    this.link = link;
    this.open = open;
    this.text = "";
    this.group = "";
    this.order = { key: "", descending: false };
    /** @type {Record<string, string>} */
    this.chosen = {};
    this.data = data;
    this.metric = METRICS.find((key) => data.rows.some((/** @type {any} */ row) => row[key] !== null)) ?? "time_s";
    /** @type {ReturnType<typeof tableLines>} */
    this.lines = [];
    this.heading = h("h1", { tabindex: "-1" });
    this.outcome = h("p.fs-outcome");
    this.facts = h("p.fv-muted.fv-small");
    this.summary = h("p.fv-muted", { role: "status" });
    this.controls = h("div.fs-controls");
    this.changes = h("div");
    this.chart = h("div.fs-chart");
    this.head = h("div.fs-row.fs-head", { role: "row" });
    this.list = new VirtualList({
      rowHeight: ROW,
      row: (index) => this.line(index),
      props: { role: "rowgroup", "aria-label": "Recordings" },
    });
    this.table = h("div.fs-table", { role: "table", "aria-label": "Recordings" }, this.head, this.list.element);
    /** @type {HTMLDialogElement} */
    this.reason = h("dialog.fv-sheet.fs-told", { "aria-label": "Why the recording failed" });
    this.observer = new ResizeObserver(() => {
      this.fitColumns();
      this.draw();
    });
    this.observer.observe(this.chart);
    fill(
      root,
      this.heading,
      this.outcome,
      this.facts,
      this.changes,
      this.controls,
      this.summary,
      h("div.fs-scroll", null, this.table),
      h("section", { "aria-label": "Chart" }, this.chartHead(), this.chart),
      this.reason,
    );
    this.update(data);
  }

  destroy() {
    this.observer.disconnect();
    this.list.destroy();
  }

  /**
   * Shows newer data of the same sweep; filter and order stay.
   * @param {any} data
   */
  update(data) {
    this.data = data;
    this.columns = usedColumns(data.rows);
    fill(this.heading, data.name);
    fill(this.outcome, data.sentences.join(" "));
    fill(
      this.facts,
      sharedFacts(data.rows).map(({ title, text }) => h("span.fs-fact", null, `${title}: ${text}`)),
    );
    this.showControls();
    this.showChanges();
    this.show();
  }

  /** @returns {any[]} */
  rows() {
    const rows = filterRows(this.data.rows, this.text, this.chosen);
    return this.order.key ? sortRows(rows, this.order.key, this.order.descending) : rows;
  }

  show() {
    const rows = this.rows();
    this.lines = tableLines(rows, this.group);
    const all = this.data.rows.length;
    const failed = this.data.rows.filter((/** @type {any} */ row) => row.status !== "recorded").length;
    const parts = [
      rows.length === all ? recordings(all) : `${rows.length} of ${recordings(all)}`,
      failed ? `${failed} not recorded` : "",
      this.data.waiting ? `${this.data.waiting} ${this.data.running ? "to come" : "not made yet"}` : "",
      this.data.running ? "running now" : "",
    ];
    fill(this.summary, parts.filter(Boolean).join(", "));
    this.showHead();
    this.list.update(this.lines.length);
    this.list.element.style.height = `${Math.min(Math.max(this.lines.length, 1) * ROW + 2, Math.max(240, innerHeight * 0.6))}px`;
    // The heading has no scroll bar beside it.
    this.head.style.paddingRight = `${this.list.element.offsetWidth - this.list.element.clientWidth}px`;
    this.draw();
  }

  draw() {
    drawChart(this.chart, this.rows(), this.metric, this.open);
  }

  showControls() {
    if (this.controls.contains(this.focused())) return;
    const search = h("input.fv-input.fs-search", {
      type: "search",
      placeholder: "Model, reason, notice …",
      "aria-label": "Filter the recordings",
      value: this.text,
      oninput: (event) => {
        this.text = event.target.value;
        this.show();
      },
    });
    const choices = CHOICES.filter((key) => valuesOf(this.data.rows, key).length > 1).map((key) =>
      this.select(
        titleOf(key),
        key in this.chosen ? `=${this.chosen[key]}` : "",
        [
          ["", `any ${titleOf(key).toLowerCase()}`],
          ...valuesOf(this.data.rows, key).map((value) => [`=${value}`, nameOf(key, value)]),
        ],
        (value) => this.choose(key, value),
      ),
    );
    const groups = GROUPS.filter((key) => valuesOf(this.data.rows, key).length > 1);
    const group = this.select(
      "Group",
      this.group,
      [["", "no groups"], ...groups.map((key) => [key, `by ${titleOf(key).toLowerCase()}`])],
      (value) => {
        this.group = value;
        this.show();
      },
    );
    fill(this.controls, search, choices, group);
  }

  /**
   * @param {string} key of a column
   * @param {string} value empty for any, else a value after "="
   */
  choose(key, value) {
    const { [key]: _, ...others } = this.chosen;
    this.chosen = value ? { ...others, [key]: value.slice(1) } : others;
    this.show();
  }

  /** The focused element of the page, or of the shadow tree that this is in. */
  focused() {
    return /** @type {Document | ShadowRoot} */ (this.root.getRootNode()).activeElement;
  }

  /**
   * @param {string} label
   * @param {string} value
   * @param {string[][]} options
   * @param {(value: string) => void} onchange
   */
  select(label, value, options, onchange) {
    return h(
      "select.fv-input",
      { "aria-label": label, onchange: (event) => onchange(event.target.value) },
      options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
    );
  }

  chartHead() {
    return h(
      "div.fs-chart-head",
      null,
      h("h2", null, "By model and options"),
      this.select(
        "Figure",
        this.metric,
        METRICS.map((key) => [key, titleOf(key)]),
        (value) => {
          this.metric = value;
          this.draw();
        },
      ),
    );
  }

  /** Widths of the columns: names have what they need, and leave half of the page to the others. */
  fitColumns() {
    const longest = Math.max(0, ...this.data.rows.map((/** @type {any} */ row) => row.model.length));
    const most = Math.max(120, Math.min(380, this.root.clientWidth * 0.5));
    const widths = (this.columns ?? []).map(({ key, number, title }) =>
      key === "model" ? [Math.min(Math.max(120, longest * 7.5 + 24), most), 1] : width(key, number, title),
    );
    this.table.style.setProperty(
      "--fs-columns",
      widths.map(([least, share]) => `minmax(${least}px, ${share}fr)`).join(" "),
    );
    this.table.style.setProperty("--fs-least", `${widths.reduce((sum, [least]) => sum + least, 0)}px`);
  }

  showHead() {
    this.fitColumns();
    const cells = this.columns?.map((column) => {
      const isOrder = this.order.key === column.key;
      const direction = isOrder ? (this.order.descending ? "descending" : "ascending") : "none";
      return h(
        "div",
        { role: "columnheader", "aria-sort": direction, class: column.number ? "fs-number" : "" },
        h(
          "button.fs-sort",
          { type: "button", onclick: () => this.sort(column.key), title: `Sort by ${column.title.toLowerCase()}` },
          column.title,
          isOrder ? (this.order.descending ? " ↓" : " ↑") : "",
        ),
      );
    });
    const at = [...this.head.children].findIndex((cell) => cell.contains(this.focused()));
    fill(this.head, cells);
    this.head.children[at]?.querySelector("button")?.focus();
  }

  /** @param {string} key */
  sort(key) {
    const descending = this.order.key === key && !this.order.descending;
    this.order = this.order.key === key && this.order.descending ? { key: "", descending: false } : { key, descending };
    this.show();
  }

  /** @param {number} index */
  line(index) {
    const line = this.lines[index];
    if ("group" in line) {
      const text = `${nameOf(this.group, line.group)}: ${recordings(line.rows.length)}`;
      return h("div.fs-row.fs-group", { role: "row" }, h("div", { role: "cell" }, text));
    }
    const { row } = line;
    const cells = this.columns?.map((column) =>
      h("div", { role: "cell", class: cellClass(column, row), title: titleText(column, row) }, this.cell(column, row)),
    );
    return h("div.fs-row", { role: "row" }, cells);
  }

  /**
   * @param {import("./model.js").Column} column
   * @param {any} row
   */
  cell(column, row) {
    if (column.key === "model") return row.trace ? this.link(row) : row.model;
    if (column.key !== "status" || row.status === "recorded") return column.text(row);
    const text = `${statusText(row)}: ${row.reason}`;
    return h("button.fv-linklike.fs-reason", { type: "button", onclick: () => this.tell(row, text) }, text);
  }

  /**
   * Shows in full why a recording failed.
   * @param {any} row
   * @param {string} text
   */
  tell(row, text) {
    const close = h("button.fv-button", { type: "button", onclick: () => this.reason.close() }, "Close");
    fill(this.reason, h("h2", null, row.model), h("pre.fv-log", { tabindex: "0" }, text), close);
    this.reason.showModal();
  }

  showChanges() {
    const { diff } = this.data;
    if (!diff) return;
    fill(
      this.changes,
      changeList("Worse", "Nothing became worse.", diff.worse, this.link),
      diff.better.length ? changeList("Better", "", diff.better, this.link) : null,
      only(`Only in ${diff.before}`, diff.gone),
      only(`Only in ${diff.after}`, diff.new),
    );
  }
}

/**
 * @param {string} title
 * @param {string} empty
 * @param {any[]} changes
 * @param {(row: any) => HTMLElement} link
 */
function changeList(title, empty, changes, link) {
  return h(
    "section",
    { "aria-label": title },
    h("h2", null, changes.length ? `${title}: ${changes.length}` : title),
    changes.length ? null : h("p.fv-muted", null, empty),
    h(
      "ul.fs-changes",
      null,
      changes
        .slice(0, SHOWN)
        .map((/** @type {any} */ change) =>
          h(
            "li",
            { class: title === "Worse" ? "fs-worse" : "fs-better" },
            h("span.fs-kind", null, change.title),
            h("span", null, change.row.trace ? link({ ...change.row, model: change.label }) : change.label),
            h("span.fv-muted", null, change.message),
          ),
        ),
    ),
    changes.length > SHOWN
      ? h("p.fv-muted", null, `and ${changes.length - SHOWN} more: freezer-ui diff lists all`)
      : null,
  );
}

/**
 * @param {string} title
 * @param {string[]} labels
 */
function only(title, labels) {
  if (!labels.length) return null;
  return h(
    "details",
    null,
    h("summary", null, `${title}: ${labels.length}`),
    h(
      "ul.fs-changes",
      null,
      labels.map((label) => h("li", null, label)),
    ),
  );
}

/** @param {number} number */
function recordings(number) {
  return count(number, "recording");
}

/**
 * @param {string} key of a column
 * @param {string} value
 */
function nameOf(key, value) {
  return (key === "status" ? statusName(value) : value) || "none";
}

/** @param {string} key */
function titleOf(key) {
  return /** @type {any} */ (COLUMNS.find((column) => column.key === key)).title;
}

/**
 * @param {import("./model.js").Column} column
 * @param {any} row
 */
function cellClass(column, row) {
  const classes = column.number ? ["fs-number"] : [];
  if (column.key === "status" && row.status !== "recorded") classes.push("fs-bad");
  if (column.key === "max_abs_error" && row.is_close === false) classes.push("fs-bad");
  if (column.key === "latency_ratio" && row.latency_claim === "slower") classes.push("fs-bad");
  if (column.key === "latency_ratio" && row.latency_claim === "faster") classes.push("fs-good");
  return classes.join(" ");
}

/**
 * @param {import("./model.js").Column} column
 * @param {any} row
 */
function titleText(column, row) {
  if (column.key === "status") return row.reason || null;
  if (column.key === "preserved") return row.preserved_names.join(", ") || null;
  if (column.key === "notices") return row.notice_codes.join(", ") || null;
  if (column.key === "latency_ratio") {
    return row.latency_claim ? `${row.latency_claim}, against ${row.latency_against}` : null;
  }
  if (column.key === "max_abs_error") return row.is_close === false ? "past torch's tolerances" : null;
  return column.key === "model" ? row.command || row.model : null;
}

/**
 * @param {string} key
 * @param {boolean | undefined} isNumber
 * @param {string} title
 */
function width(key, isNumber, title) {
  const wide = /** @type {Record<string, [number, number]>} */ ({ status: [180, 2.4], latency_ratio: [150, 1] });
  return wide[key] ?? (isNumber ? [Math.max(84, title.length * 7 + 24), 0.7] : [110, 1]);
}
