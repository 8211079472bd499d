/* The inputs of the model: one row for each argument, checked by the server while it is typed. */

import { fill, h } from "../viewer/dom.js";
import { chooseFile } from "./files.js";
import { RowControls } from "./input_row.js";
import { toRow, toText } from "./input_text.js";
import { assigned, parameterTitle, parameterWords, prefixes } from "./parameters.js";
import { button, unique } from "./pieces.js";

const CHECK_AFTER_MS = 250;

export class InputRows {
  /**
   * @param {Dashboard} app the dashboard; `onchange` is called whenever a text changes
   * @param {(...given: any[]) => unknown} onchange
   */
  constructor(app, onchange) {
    // Other methods set these.
    this.brings = /** @type {any} */ (undefined);
    /** The model's parameters; null as long as they are not known. @type {ModelParameter[] | null} */
    this.parameters = null;
    /** Names of the parameters whose rows the user removed. @type {Set<string>} */
    this.removed = new Set();
    /** The failure of the trial call. @type {any} */
    this.failure = null;
    this.needed = /** @type {any} */ (undefined);
    this.isReading = false;
    this.app = app;
    this.onchange = onchange;
    /** @type {InputRow[]} */
    this.rows = [];
    this.own = null;
    this.mine = true;
    this.list = h("div.fd-inputs");
    this.choice = h("div.fv-segments", { role: "group", "aria-label": "Whose inputs" });
    this.add = button("Add an input", () => this.append(this.rows.length ? "" : "1x3x224x224", true), { icon: "plus" });
    this.note = h("p.fd-note");
    this.trial = h("div.fd-trial");
    this.element = h("div", null, this.choice, this.list, h("div.fd-row", null, this.add), this.note, this.trial);
    this.render();
  }

  /**
   * The model is being read, or no longer: it may bring inputs.
   * @param {boolean} isReading
   */
  read(isReading) {
    this.isReading = isReading;
    this.render();
  }

  /** Texts to send: none where the model's own are used. */
  value() {
    if (!this.mine) return [];
    const names = prefixes(this.rows, this.parameters ?? []);
    return this.rows.map((row, at) => names[at] + toText(row.fields));
  }

  /** @param {any} texts */
  set(texts) {
    this.rows = [];
    this.mine = texts.length > 0 || !this.brings;
    for (const text of texts) this.append(text);
    this.assign();
  }

  /**
   * Shows what the model takes and brings: `inputs` is null where its own cannot be written as text.
   * @param {{ brings_inputs: boolean, inputs: any, parameters?: any }} summary
   */
  offer({ brings_inputs: brings, inputs, parameters = null }) {
    const names = prefixes(this.rows, this.parameters ?? []);
    this.rows.forEach((row, at) => (row.named = names[at].slice(0, -1)));
    this.brings = brings;
    this.own = inputs;
    this.parameters = parameters;
    this.removed.clear();
    this.rows = this.rows.filter((row) => !row.suggested || row.touched);
    if (brings && !this.rows.length) this.mine = false;
    if (!brings) this.mine = true;
    if (this.mine) this.prefill();
    this.assign();
    this.onchange();
  }

  /** Adds a row for each required parameter that has a suggestion and no row yet; no row is changed. */
  prefill() {
    this.assign();
    const taken = new Set(this.rows.map((row) => row.parameter?.name));
    for (const parameter of this.parameters ?? []) {
      if (taken.has(parameter.name) || this.removed.has(parameter.name)) continue;
      if (parameter.is_required && parameter.input !== null) this.append(parameter.input, false, parameter);
    }
  }

  /** Finds the parameter of each row, and puts the rows in the parameters' order. */
  assign() {
    this.rows = assigned(this.rows, this.parameters ?? []);
    for (const row of this.rows) if (row.painted !== row.parameter) this.repaint(row);
    this.render();
  }

  /** The element that has the focus, also inside of a shadow root. @returns {HTMLInputElement | null} */
  get active() {
    return /** @type {any} */ (this.element.getRootNode()).activeElement ?? null;
  }

  /**
   * Draws a row anew that the user may be typing in.
   * @param {InputRow} row
   */
  repaint(row) {
    const { active } = this;
    const key = active && row.element.contains(active) ? active.dataset.key : null;
    const at = key && active ? active.selectionStart : null;
    this.paint(row);
    const control = key ? controlOf(row, `[data-key=${key}]`) : null;
    control?.focus();
    if (at !== null && control?.setSelectionRange) control.setSelectionRange(at, at);
  }

  /**
   * Replaces all inputs by the texts of a fix that the user chose.
   * @param {string[]} texts
   */
  apply(texts) {
    this.set(texts);
    for (const row of this.rows) row.touched = true;
    this.onchange();
  }

  /**
   * Shows why a call failed, at the row at fault; null takes that away.
   * @param {any} failure
   */
  fail(failure) {
    this.failure = failure;
    this.render();
  }

  /** Resolves to whether every row is right; shows what is wrong, and goes to the first. */
  async check() {
    if (!this.mine) return true;
    if (this.needed && this.brings === false && !this.rows.length) {
      this.note.classList.add("fd-error");
      this.add.focus();
      return false;
    }
    await Promise.all(this.rows.map((row) => this.validate(row)));
    const wrong = this.rows.find((row) => row.wrong);
    if (wrong) controlOf(wrong, "[aria-invalid]")?.focus();
    return !wrong;
  }

  /**
   * Sets the name of the backend that needs inputs; null if none does.
   * @param {null | string} who
   */
  need(who) {
    this.needed = who;
    this.render();
  }

  /**
   * @param {string} text
   * @param {boolean} focus
   * @param {ModelParameter | null} parameter
   */
  append(text, focus = false, parameter = null) {
    const id = unique("input");
    /** @type {InputRow} */
    const row = {
      fields: toRow(text),
      id,
      wrong: false,
      parameter,
      touched: focus,
      painted: undefined,
      said: h("p.fd-note", { id: `${id}-said`, "aria-live": "polite" }),
      element: h("div.fd-input"),
      failed: h("div.fd-input-failure"),
    };
    if (parameter && !focus) row.suggested = text;
    if (text === "") row.fields.kind = "tensor";
    this.rows.push(row);
    if (parameter || focus) this.assign();
    else this.paint(row);
    this.render();
    if (text) this.validate(row);
    if (focus) controlOf(row, "[data-main]")?.focus();
    this.onchange();
  }

  /** @param {InputRow} row */
  remove(row) {
    const at = this.rows.indexOf(row);
    this.rows.splice(at, 1);
    if (row.parameter) this.removed.add(row.parameter.name);
    this.assign();
    this.onchange();
    const next = this.rows[at] ?? this.rows.at(-1);
    ((next && controlOf(next, "[data-main]")) ?? this.add).focus();
  }

  /** @param {any} mine */
  choose(mine) {
    this.mine = mine;
    if (mine && !this.rows.length) for (const text of this.own ?? []) this.append(text);
    if (mine) this.prefill();
    this.assign();
    this.onchange();
  }

  render() {
    const part = (/** @type {any} */ mine, /** @type {string} */ text) =>
      h(
        "button.fv-button",
        { type: "button", "aria-pressed": String(this.mine === mine), onclick: () => this.choose(mine) },
        text,
      );
    fill(this.choice, this.brings ? [part(false, "The model's own"), part(true, "Others")] : null);
    this.choice.hidden = !this.brings;
    const own = this.own?.length
      ? this.own.map((/** @type {string} */ text) => h("code.fd-own", null, text))
      : h("p.fv-muted", null, "Its own inputs; they cannot be written as text.");
    const { active } = this;
    fill(this.list, this.mine ? this.lines() : h("div.fd-row", null, own));
    if (active && this.list.contains(active)) active.focus({ preventScroll: true }); // moving an element takes the focus away
    this.add.hidden = !this.mine;
    const none = this.mine && !this.rows.length;
    this.note.hidden = !none;
    this.note.classList.remove("fd-error");
    this.note.textContent = this.isReading
      ? "The model is being read: what it takes appears here."
      : this.needed
        ? `${this.needed} compiles a model for its inputs: add the first one.`
        : this.parameters?.length === 0
          ? "The model takes no inputs."
          : "Without inputs the freeze is recorded, but nothing is measured.";
    this.rows.forEach((row, index) => {
      row.element.setAttribute("aria-label", `Input ${index + 1}${row.parameter ? `: ${row.parameter.name}` : ""}`);
      const isHere = this.failure && (this.failure.at === index || this.failure.parameter === row.parameter?.name);
      fill(row.failed, isHere && this.failure.element);
      row.element.classList.toggle("fd-input-failed", Boolean(isHere));
    });
  }

  /** Whether the failure of a call is shown at a row. */
  get isFailureShown() {
    return Boolean(this.failure?.element.isConnected);
  }

  /** The rows, and a line for each parameter that has none. */
  lines() {
    const known = this.parameters ?? [];
    const lines = known.map((parameter) => {
      const row = this.rows.find((one) => one.parameter === parameter);
      return row ? row.element : this.absent(parameter);
    });
    return [
      ...lines,
      ...this.rows.filter((row) => !row.parameter || !known.includes(row.parameter)).map((row) => row.element),
    ];
  }

  /**
   * The line of a parameter without an input.
   * @param {ModelParameter} parameter
   */
  absent(parameter) {
    const text =
      parameter.input ??
      { int: "int:", float: "float:", bool: "bool:" }[parameter.type.replace(/^Optional\[(.*)\]$/, "$1")] ??
      "";
    const give = button(`Give ${parameter.name}`, () => this.append(text, true, parameter), { icon: "plus" });
    const failed = this.failure && this.failure.at === null && this.failure.parameter === parameter.name;
    return h(
      "div.fd-input.fd-input-absent",
      null,
      h("div.fd-input-line", null, parameterTitle(parameter), h("span.fv-spring"), give),
      parameter.input === null && parameter.note && h("p.fd-note.fv-muted", null, `${parameter.note}.`),
      failed && this.failure.element,
    );
  }

  /**
   * Draws a row's controls anew, after its kind or dtype changed.
   * @param {InputRow} row
   */
  paint(row) {
    row.painted = row.parameter;
    const { parameter } = row;
    fill(
      row.element,
      parameter && h("div.fd-input-line", null, parameterTitle(parameter), parameterWords(row)),
      new RowControls(this, row).line(),
      row.said,
      row.failed,
    );
    row.element.setAttribute("role", "group");
  }

  /** @param {InputRow} row */
  async browse(row) {
    const path = await chooseFile(this.app, { title: "Choose a saved tensor", kinds: ["model", "other"] });
    if (path === null) return;
    row.fields.path = path;
    row.touched = true;
    this.paint(row);
    this.changed(row);
  }

  /** @param {InputRow} row */
  changed(row) {
    row.touched = true;
    row.element.querySelector(".fd-guess")?.remove();
    clearTimeout(row.timer);
    row.timer = setTimeout(() => this.validate(row), CHECK_AFTER_MS);
    this.onchange();
  }

  /** @param {InputRow} row */
  async validate(row) {
    clearTimeout(row.timer);
    const text = toText(row.fields);
    const turn = (row.turn = (row.turn ?? 0) + 1);
    let wrong = false;
    let says;
    try {
      ({ says } = await this.app.ask({ type: "parse_input", text }));
    } catch (/** @type {any} */ error) {
      [wrong, says] = [true, error.message.replace(/^--input (['"]).*?\1: /, "")];
    }
    if (turn !== row.turn) return;
    row.wrong = wrong;
    row.said.textContent = says;
    row.said.classList.toggle("fd-error", wrong);
    const control = controlOf(row, "[data-main]");
    if (wrong) control?.setAttribute("aria-invalid", "true");
    else control?.removeAttribute("aria-invalid");
  }
}

/**
 * @param {InputRow} row
 * @param {string} selector
 */
function controlOf(row, selector) {
  return /** @type {HTMLInputElement | null} */ (row.element.querySelector(selector));
}
