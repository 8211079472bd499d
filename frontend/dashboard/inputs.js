/* What the model is called with: one row for each argument, checked by the server while it is typed. */

import { fill, h } from "../viewer/dom.js";
import { chooseFile } from "./files.js";
import { assigned, parameterWords, prefixes } from "./parameters.js";
import { button, iconButton, unique } from "./pieces.js";

const KINDS = [
  ["tensor", "random tensor"],
  ["value", "plain value"],
  ["file", "saved tensor"],
  ["text", "as text"],
];
const INTEGER = /^u?int\d+$/;
const CHECK_AFTER_MS = 250;

/**
 * One row's fields for a text of `--input`; what has no form of its own stays text.
 * @param {any} text
 */
function toRow(text) {
  const named = text.startsWith("@") ? null : /^([A-Za-z_]\w*)=(.*)$/s.exec(text);
  const [keyword, part] = named ? [named[1], named[2]] : ["", text];
  const row = {
    kind: "text",
    keyword,
    text: part,
    shape: "",
    dtype: "float32",
    low: "",
    high: "",
    type: "int",
    value: "",
    path: "",
  };
  const tensor = /^(\d+(?:x\d+)*)(?::([a-z]+\d*)(?::(-?\d+)\.\.(-?\d+))?)?$/.exec(part);
  const plain = /^(int|float|bool):(.*)$/s.exec(part);
  if (part.startsWith("@")) return { ...row, kind: "file", path: part.slice(1) };
  if (plain) return { ...row, kind: "value", type: plain[1], value: plain[2] };
  if (!tensor) return row;
  const [, shape, dtype = "float32", low = "", high = ""] = tensor;
  return { ...row, kind: "tensor", shape, dtype, low, high };
}

/**
 * The text of `--input` that a row stands for.
 * @param {any} row
 */
function toText(row) {
  const part = /** @type {Record<string, any>} */ ({
    tensor: () => tensorText(row),
    value: () => `${row.type}:${row.value.trim()}`,
    file: () => `@${row.path.trim()}`,
    text: () => row.text.trim(),
  })[row.kind]();
  return row.keyword.trim() ? `${row.keyword.trim()}=${part}` : part;
}

/** @param {{ shape: any, dtype: any, low: any, high: any }} options */
function tensorText({ shape, dtype, low, high }) {
  const sizes = shape
    .trim()
    .replace(/^[([]|[)\]]$/g, "")
    .replace(/\s*[×x*,]\s*|\s+/gi, "x")
    .replace(/x$/, "");
  const range = INTEGER.test(dtype) && (low || high) ? `:${low || 0}..${high}` : "";
  return dtype === "float32" ? sizes : `${sizes}:${dtype}${range}`;
}

export class InputRows {
  /**
   * @param {any} app the dashboard; `onchange` is called whenever a text changes
   * @param {(...given: any[]) => unknown} onchange
   */
  constructor(app, onchange) {
    // Other methods set these.
    this.brings = /** @type {any} */ (undefined);
    /** The model's parameters; null as long as they are not known. @type {any[] | null} */
    this.parameters = null;
    /** Names of the parameters whose rows the user removed. @type {Set<string>} */
    this.removed = new Set();
    /** What one call of the model said. @type {any} */
    this.failure = null;
    this.needed = /** @type {any} */ (undefined);
    this.app = app;
    this.onchange = onchange;
    /** @type {any[]} */
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
   * @param {any} row
   */
  repaint(row) {
    const { active } = this;
    const key = active && row.element.contains(active) ? active.dataset.key : null;
    const at = key && active ? active.selectionStart : null;
    this.paint(row);
    const control = key && row.element.querySelector(`[data-key=${key}]`);
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
    wrong?.element.querySelector("[aria-invalid]")?.focus();
    return !wrong;
  }

  /**
   * Says who cannot do without inputs; null: nobody.
   * @param {any} who
   */
  need(who) {
    this.needed = who;
    this.render();
  }

  /**
   * @param {any} text
   * @param {boolean} focus
   * @param {any} parameter
   */
  append(text, focus = false, parameter = null) {
    /** @type {any} */
    const row = {
      fields: toRow(text),
      id: unique("input"),
      wrong: false,
      parameter,
      touched: focus,
      painted: undefined,
    };
    if (parameter && !focus) row.suggested = text;
    if (text === "") row.fields.kind = "tensor";
    row.said = h("p.fd-note", { id: `${row.id}-said`, "aria-live": "polite" });
    row.element = h("div.fd-input");
    this.rows.push(row);
    if (parameter || focus) this.assign();
    else this.paint(row);
    this.render();
    if (text) this.validate(row);
    if (focus) row.element.querySelector("[data-main]").focus();
    this.onchange();
  }

  /** @param {any} row */
  remove(row) {
    const at = this.rows.indexOf(row);
    this.rows.splice(at, 1);
    if (row.parameter) this.removed.add(row.parameter.name);
    this.assign();
    this.onchange();
    const next = this.rows[at] ?? this.rows.at(-1);
    (next?.element.querySelector("[data-main]") ?? this.add).focus();
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
    const part = (/** @type {any} */ mine, /** @type {any} */ text) =>
      h(
        "button.fv-button",
        { type: "button", "aria-pressed": String(this.mine === mine), onclick: () => this.choose(mine) },
        text,
      );
    fill(this.choice, this.brings ? [part(false, "The model's own"), part(true, "Others")] : null);
    this.choice.hidden = !this.brings;
    const own = this.own?.length
      ? this.own.map((/** @type {any} */ text) => h("code.fd-own", null, text))
      : h("p.fv-muted", null, "Its own inputs; they cannot be written as text.");
    const { active } = this;
    fill(this.list, this.mine ? this.lines() : h("div.fd-row", null, own));
    if (active && this.list.contains(active)) active.focus({ preventScroll: true }); // moving an element takes the focus away
    this.add.hidden = !this.mine;
    const none = this.mine && !this.rows.length;
    this.note.hidden = !none;
    this.note.classList.remove("fd-error");
    this.note.textContent = this.needed
      ? `${this.needed} compiles a model for its inputs: add the first one.`
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
    const lines = known.map((/** @type {any} */ parameter) => {
      const row = this.rows.find((one) => one.parameter === parameter);
      return row ? row.element : this.absent(parameter);
    });
    return [...lines, ...this.rows.filter((row) => !known.includes(row.parameter)).map((row) => row.element)];
  }

  /**
   * The line of a parameter without an input.
   * @param {any} parameter
   */
  absent(parameter) {
    const text =
      parameter.input ??
      /** @type {Record<string, any>} */ ({ int: "int:", float: "float:", bool: "bool:" })[
        parameter.type.replace(/^Optional\[(.*)\]$/, "$1")
      ] ??
      "";
    const give = button(`Give ${parameter.name}`, () => this.append(text, true, parameter), { icon: "plus" });
    const failed = this.failure && this.failure.at === null && this.failure.parameter === parameter.name;
    return h(
      "div.fd-input.fd-input-absent",
      null,
      h("div.fd-input-line", null, this.title(parameter), h("span.fv-spring"), give),
      failed && this.failure.element,
    );
  }

  /**
   * Name and type of a parameter, and whether a call needs it.
   * @param {any} parameter
   */
  title(parameter) {
    const required = parameter.is_required && h("span.fv-badge.fd-required", null, "required");
    return h(
      "div.fd-parameter",
      null,
      h("strong", null, parameter.name),
      parameter.type && h("code.fv-muted", null, parameter.type),
      required || h("span.fv-muted", null, `optional, ${parameter.default} by default`),
    );
  }

  /**
   * Draws a row's controls anew, after its kind or dtype changed.
   * @param {any} row
   */
  paint(row) {
    const { fields, id } = row;
    row.painted = row.parameter;
    row.failed ??= h("div.fd-input-failure");
    const change = (/** @type {string} */ key) => (/** @type {any} */ event) => {
      fields[key] = event.target.value;
      this.changed(row);
    };
    const repaint = (/** @type {string} */ key) => (/** @type {any} */ event) => {
      fields[key] = event.target.value;
      this.paint(row);
      row.element.querySelector(`[data-key=${key}]`).focus();
      this.changed(row);
    };
    const text = (/** @type {string} */ key, /** @type {any} */ label, props = {}) =>
      h("input.fv-input", {
        "aria-label": label,
        value: fields[key],
        autocomplete: "off",
        spellcheck: "false",
        oninput: change(key),
        "aria-describedby": `${id}-said`,
        data: { key },
        ...props,
      });
    const select = (/** @type {string} */ key, /** @type {any} */ label, /** @type {any} */ options) =>
      h(
        "select.fv-input",
        { "aria-label": label, onchange: repaint(key), data: { key } },
        options.map((/** @type {[any, any]} */ [value, words]) =>
          h("option", { value, selected: fields[key] === value }, words),
        ),
      );
    const main = (/** @type {string} */ key) => ({ data: { key, main: "" } });
    const controls = /** @type {Record<string, any>} */ ({
      tensor: () => [
        text("shape", "Shape", { ...main("shape"), placeholder: "1x3x224x224", class: "fd-grow" }),
        select(
          "dtype",
          "Data type",
          this.app.channel.site.dtypes.map((/** @type {any} */ name) => [name, name]),
        ),
        INTEGER.test(fields.dtype) && [
          text("low", "Lowest value", { placeholder: "0", class: "fd-number", inputmode: "numeric" }),
          h("span.fv-muted", { "aria-hidden": "true" }, "to below"),
          text("high", "Below", { placeholder: "2", class: "fd-number", inputmode: "numeric" }),
        ],
      ],
      value: () => [
        select(
          "type",
          "Type",
          ["int", "float", "bool"].map((name) => [name, name]),
        ),
        text("value", "Value", {
          ...main("value"),
          placeholder: /** @type {Record<string, any>} */ ({ int: "3", float: "0.5", bool: "true" })[fields.type],
          class: "fd-grow",
        }),
      ],
      file: () => [
        text("path", "File that torch.save wrote", { ...main("path"), placeholder: "tensor.pt", class: "fd-grow" }),
        button("Browse…", () => this.browse(row)),
      ],
      text: () => [
        text("text", "As on the command line", {
          ...main("text"),
          placeholder: "2x16:int64:0..30000",
          class: "fd-grow",
        }),
      ],
    })[fields.kind]();
    fill(
      row.element,
      row.parameter && h("div.fd-input-line", null, this.title(row.parameter), parameterWords(row)),
      h(
        "div.fd-input-line",
        null,
        select("kind", "Kind of input", KINDS),
        controls,
        row.parameter
          ? null
          : text("keyword", "Keyword argument, empty for the next positional one", {
              placeholder: "positional",
              class: "fd-keyword",
            }),
        iconButton("close", row.parameter ? `Remove the input ${row.parameter.name}` : "Remove this input", () =>
          this.remove(row),
        ),
      ),
      row.said,
      row.failed,
    );
    row.element.setAttribute("role", "group");
  }

  /** @param {any} row */
  async browse(row) {
    const path = await chooseFile(this.app, { title: "Choose a saved tensor", kinds: ["model", "other"] });
    if (path === null) return;
    row.fields.path = path;
    row.touched = true;
    this.paint(row);
    this.changed(row);
  }

  /** @param {any} row */
  changed(row) {
    row.touched = true;
    row.element.querySelector(".fd-guess")?.remove();
    clearTimeout(row.timer);
    row.timer = setTimeout(() => this.validate(row), CHECK_AFTER_MS);
    this.onchange();
  }

  /** @param {any} row */
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
    const control = row.element.querySelector("[data-main]");
    if (wrong) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }
}

export { toRow as inputRow, toText as inputText };
