/* The IR diff: long texts of which only what is visible is coloured. */

import { h, selectsText, VirtualList } from "./dom.js";
import { stepLabel } from "./pair.js";
import { lineText } from "./snapshots.js";

const CONTEXT = 3;
/** @type {Record<string, any>} */
const SIGNS = { same: " ", removed: "−", added: "+" };
const TOKENS =
  /(#\s.*$)|("(?:[^"\\]|\\.)*")|(%[\w./]+)|(\b\w+::\w+)|(\b\d[\d.e+-]*\b)|(\b(?:graph|return|block\d+|def|if|else|for|while|in|not|None|True|False)\b)/g;
const KINDS = ["comment", "string", "value", "op", "number", "keyword"];

/**
 * Coloured pieces of one line, as nodes.
 * @param {string} text
 */
export function coloured(text) {
  const pieces = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > at) pieces.push(text.slice(at, match.index));
    pieces.push(h(`span.fv-t-${KINDS[match.slice(1).findIndex((group) => group !== undefined)]}`, null, match[0]));
    at = match.index + match[0].length;
  }
  pieces.push(text.slice(at));
  return pieces;
}

export class IrPanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.all = /** @type {any} */ (undefined);
    this.width = /** @type {any} */ (undefined);
    this.pair = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "ir";
    this.label = "IR diff";
    /** @type {any[]} */
    this.rows = [];
    this.opened = new Set();
    /** @type {ElementOf<"input">} */
    this.fold = h("input", { type: "checkbox", onchange: () => app.navigate({ fold: this.fold.checked }) });
    this.note = h("span.fv-muted");
    this.list = new VirtualList({
      rowHeight: 20,
      row: (index) => this.row(index),
      props: { class: "fv-code", role: "region", "aria-label": "Graph as text" },
    });
    this.element = h(
      "div.fv-panel-body",
      null,
      h(
        "div.fv-bar",
        null,
        h("label.fv-check", null, this.fold, "Fold unchanged lines"),
        this.jump("↑", -1, "Previous change"),
        this.jump("↓", 1, "Next change"),
        this.note,
      ),
      this.list.element,
    );
  }

  /**
   * @param {string} text
   * @param {number} direction
   * @param {string} label
   */
  jump(text, direction, label) {
    return h(
      "button.fv-button",
      { type: "button", "aria-label": label, title: label, onclick: () => this.next(direction) },
      text,
    );
  }

  /** @param {number} direction */
  next(direction) {
    const first = Math.round(this.list.element.scrollTop / 20);
    const starts = this.rows.flatMap((row, index) =>
      isChange(row) && !isChange(this.rows[index - 1]) ? [Math.max(0, index - 2)] : [],
    );
    const target = direction > 0 ? starts.find((index) => index > first) : starts.findLast((index) => index < first);
    if (target !== undefined) this.list.element.scrollTop = target * 20;
  }

  /**
   * @param {State} state
   * @param {State | null} previous
   */
  render(state, previous) {
    const fresh = this.pair !== this.app.pair || !previous || previous.fold !== state.fold;
    this.fold.checked = state.fold;
    if (this.pair !== this.app.pair) this.opened.clear();
    if (fresh) this.build(state);
    this.list.refresh();
    if (!fresh && previous?.node === state.node && previous.attribute === state.attribute) return;
    const place = this.rows.findLastIndex((row) => this.app.focused.has(row.line?.node?.id));
    if (place >= 0) this.list.reveal(place, { middle: true });
  }

  /** @param {State} state */
  build(state) {
    const { pair } = this.app;
    const kept = this.pair === pair;
    this.all = kept ? this.all : pair ? pair.lines() : [];
    this.width = Math.max(2, String(this.all.length).length);
    this.refold(state);
    const changes = this.all.filter(isChange).length;
    this.note.textContent = !pair ? "" : note(pair, changes);
    this.list.update(this.rows.length, kept ? null : this.startAt());
    this.pair = pair;
  }

  destroy() {
    this.list.destroy();
  }

  startAt() {
    const first = this.rows.findIndex(isChange);
    return first < 0 ? 0 : Math.max(0, first - CONTEXT) * 20;
  }

  /** @param {State} state */
  refold(state) {
    const changed = this.all.some(isChange);
    this.rows = state.fold && changed ? folded(this.all, this.opened) : this.all;
    this.list.body.style.minWidth = `${this.longest() + this.width * 2 + 8}ch`;
  }

  longest() {
    return this.rows.reduce((most, row) => (row.line ? Math.max(most, lineText(row.line).length) : most), 0);
  }

  /** @param {any} index */
  row(index) {
    const row = this.rows[index];
    if (row.skipped) return this.skip(row);
    const { node } = row.line;
    const element = diffRow(row, lineText, this.width);
    if (!node) return element;
    element.classList.toggle("fv-chosen", this.app.focused.has(node.id));
    element.addEventListener(
      "click",
      () => selectsText(element) || this.app.navigate({ node: node.id, attribute: null }),
    );
    return element;
  }

  /** @param {any} row */
  skip(row) {
    const open = () => {
      this.opened.add(row.start);
      this.refold(this.app.current);
      this.list.update(this.rows.length);
    };
    return h(
      "div.fv-code-line.fv-line-skip",
      null,
      h("button.fv-linklike", { type: "button", onclick: open }, `⋯ ${row.skipped} unchanged lines`),
    );
  }
}

/**
 * @param {{ before: any, after: any, chosen: any }} options
 * @param {any} changes
 */
function note({ before, after, chosen }, changes) {
  if (!before) return "The graph as it came.";
  if (chosen) {
    return changes
      ? `${changes} lines differ between ${stepLabel(before)} and ${stepLabel(after)}`
      : `${stepLabel(before)} and ${stepLabel(after)} read the same.`;
  }
  return changes ? `${changes} lines changed` : "This pass changed no line.";
}

/** @param {any} row */
function isChange(row) {
  return row !== undefined && (row.kind === "added" || row.kind === "removed");
}

/**
 * @param {any} all
 * @param {any} opened
 */
function folded(all, opened) {
  const rows = [];
  for (let start = 0; start < all.length;) {
    let end = start;
    while (end < all.length && !isChange(all[end])) end += 1;
    if (end > start) rows.push(...foldedRun(all, start, end, opened));
    if (end < all.length) rows.push(all[end]);
    start = Math.max(end, start) + 1;
  }
  return rows;
}

/**
 * @param {any} all
 * @param {number} start
 * @param {number} end
 * @param {any} opened
 */
function foldedRun(all, start, end, opened) {
  const head = start === 0 ? 0 : CONTEXT;
  const tail = end === all.length ? 0 : CONTEXT;
  const skipped = end - start - head - tail;
  if (skipped < 3 || opened.has(start)) return all.slice(start, end);
  return [...all.slice(start, start + head), { kind: "skip", skipped, start }, ...all.slice(end - tail, end)];
}

/**
 * One row of `diffLines`, with what differs from the line it was rewritten from.
 * @param {any} row
 * @param {any} text
 * @param {number} width
 */
export function diffRow(row, text, width) {
  const number = (/** @type {string} */ value) =>
    h("span.fv-code-number", { style: { width: `${width}ch` } }, value ?? "");
  const content =
    row.pair === undefined || row.moved ? coloured(text(row.line)) : emphasised(text(row.line), text(row.pair));
  const props = {
    class: `fv-line-${row.kind} ${row.moved ? "fv-line-moved" : ""}`,
    title: row.moved ? "The same line in another place" : null,
  };
  return h(
    "div.fv-code-line",
    props,
    number(row.old),
    number(row.new),
    h("span.fv-code-sign", null, SIGNS[row.kind]),
    h("span", null, content),
  );
}

/**
 * The line with the words that differ from its counterpart marked.
 * @param {string} text
 * @param {string} other
 */
function emphasised(text, other) {
  const inWord = (/** @type {number} */ at) =>
    at > 0 && at < text.length && /[\w.]/.test(text[at]) && /[%\w.]/.test(text[at - 1]);
  const room = Math.min(text.length, other.length);
  let head = 0;
  while (head < room && text[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < room - head && text.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  let end = text.length - tail;
  while (inWord(head)) head -= 1;
  while (inWord(end)) end += 1;
  return [coloured(text.slice(0, head)), h("mark", null, text.slice(head, end)), coloured(text.slice(end))];
}
