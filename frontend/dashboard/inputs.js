/* What the model is called with: one row for each argument, checked by the server while it is typed. */

import { fill, h } from "../viewer/dom.js";
import { chooseFile } from "./files.js";
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
    this.element = h("div", null, this.choice, this.list, h("div.fd-row", null, this.add), this.note);
    this.render();
  }

  /** Texts to send: none where the model's own are used. */
  value() {
    return this.mine ? this.rows.map((row) => toText(row.fields)) : [];
  }

  /** @param {any} texts */
  set(texts) {
    this.rows = [];
    this.mine = texts.length > 0 || !this.brings;
    for (const text of texts) this.append(text);
    this.render();
  }

  /**
   * Says what the model brings: `texts` is null where its inputs cannot be written as text.
   * @param {any} brings
   * @param {any} texts
   */
  offer(brings, texts) {
    this.brings = brings;
    this.own = texts;
    if (brings && !this.rows.length) this.mine = false;
    if (!brings) this.mine = true;
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

  /** @param {any} text */
  append(text, focus = false) {
    /** @type {any} */
    const row = { fields: toRow(text), id: unique("input"), wrong: false };
    if (text === "") row.fields.kind = "tensor";
    row.said = h("p.fd-note", { id: `${row.id}-said`, "aria-live": "polite" });
    row.element = h("div.fd-input");
    this.rows.push(row);
    this.paint(row);
    this.render();
    if (text) this.validate(row);
    if (focus) row.element.querySelector("[data-main]").focus();
    this.onchange();
  }

  /** @param {any} row */
  remove(row) {
    const at = this.rows.indexOf(row);
    this.rows.splice(at, 1);
    this.render();
    this.onchange();
    const next = this.rows[at] ?? this.rows.at(-1);
    (next?.element.querySelector("[data-main]") ?? this.add).focus();
  }

  /** @param {any} mine */
  choose(mine) {
    this.mine = mine;
    if (mine && !this.rows.length) for (const text of this.own ?? []) this.append(text);
    this.render();
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
    fill(this.list, this.mine ? this.rows.map((row) => row.element) : h("div.fd-row", null, own));
    this.add.hidden = !this.mine;
    const none = this.mine && !this.rows.length;
    this.note.hidden = !none;
    this.note.classList.remove("fd-error");
    this.note.textContent = this.needed
      ? `${this.needed} compiles a model for its inputs: add the first one.`
      : "Without inputs the freeze is recorded, but nothing is measured.";
    this.rows.forEach((row, index) => row.element.setAttribute("aria-label", `Input ${index + 1}`));
  }

  /**
   * Draws a row's controls anew, after its kind or dtype changed.
   * @param {any} row
   */
  paint(row) {
    const { fields, id } = row;
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
      h(
        "div.fd-input-line",
        null,
        select("kind", "Kind of input", KINDS),
        controls,
        text("keyword", "Keyword argument, empty for the next positional one", {
          placeholder: "positional",
          class: "fd-keyword",
        }),
        iconButton("close", "Remove this input", () => this.remove(row)),
      ),
      row.said,
    );
    row.element.setAttribute("role", "group");
  }

  /** @param {any} row */
  async browse(row) {
    const path = await chooseFile(this.app, { title: "Choose a saved tensor", kinds: ["model", "other"] });
    if (path === null) return;
    row.fields.path = path;
    this.paint(row);
    this.changed(row);
  }

  /** @param {any} row */
  changed(row) {
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
