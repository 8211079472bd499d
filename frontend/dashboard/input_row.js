/* The controls of one row of inputs, by the kind of the input. */

import { h } from "../viewer/dom.js";
import { isInteger } from "./input_text.js";
import { button, iconButton } from "./pieces.js";

const KINDS = [
  ["tensor", "random tensor"],
  ["value", "plain value"],
  ["file", "saved tensor"],
  ["text", "as text"],
];
const TYPES = ["int", "float", "bool"].map((name) => [name, name]);
/** @type {Record<string, string>} */
const EXAMPLES = { int: "3", float: "0.5", bool: "true" };

export class RowControls {
  /**
   * @param {import("./inputs.js").InputRows} rows
   * @param {InputRow} row
   */
  constructor(rows, row) {
    this.rows = rows;
    this.row = row;
    this.fields = row.fields;
  }

  /** The line of controls. */
  line() {
    const { row } = this;
    const name = row.parameter ? `Remove the input ${row.parameter.name}` : "Remove this input";
    const keyword = { placeholder: "positional", class: "fd-keyword" };
    return h(
      "div.fd-input-line",
      null,
      this.select("kind", "Kind of input", KINDS),
      this.ofKind(),
      row.parameter ? null : this.text("keyword", "Keyword argument, empty for the next positional one", keyword),
      iconButton("close", name, () => this.rows.remove(row)),
    );
  }

  /** The controls that only this kind of input has. */
  ofKind() {
    if (this.fields.kind === "tensor") return this.tensor();
    if (this.fields.kind === "value") return this.value();
    if (this.fields.kind === "file") return this.file();
    return this.main("text", "As on the command line", "2x16:int64:0..30000");
  }

  tensor() {
    const dtypes = this.rows.app.channel.site.dtypes.map((/** @type {string} */ name) => [name, name]);
    const number = { class: "fd-number", inputmode: "numeric" };
    return [
      this.main("shape", "Shape", "1x3x224x224"),
      this.select("dtype", "Data type", dtypes),
      isInteger(this.fields.dtype) && [
        this.text("low", "Lowest value", { ...number, placeholder: "0" }),
        h("span.fv-muted", { "aria-hidden": "true" }, "to below"),
        this.text("high", "Below", { ...number, placeholder: "2" }),
      ],
    ];
  }

  value() {
    return [this.select("type", "Type", TYPES), this.main("value", "Value", EXAMPLES[this.fields.type])];
  }

  file() {
    return [
      this.main("path", "File that torch.save wrote", "tensor.pt"),
      button("Browse…", () => this.rows.browse(this.row)),
    ];
  }

  /**
   * The text field that a row is mostly about; it gets the focus and the mark of what is wrong.
   * @param {InputField} key
   * @param {string} label
   * @param {string | undefined} placeholder
   */
  main(key, label, placeholder) {
    return this.text(key, label, { data: { key, main: "" }, placeholder, class: "fd-grow" });
  }

  /**
   * @param {InputField} key
   * @param {string} label
   * @param {Record<string, unknown>} props
   */
  text(key, label, props) {
    return h("input.fv-input", {
      "aria-label": label,
      value: this.fields[key],
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => {
        this.fields[key] = event.target.value;
        this.rows.changed(this.row);
      },
      "aria-describedby": `${this.row.id}-said`,
      data: { key },
      ...props,
    });
  }

  /**
   * A choice on which other controls of the row depend.
   * @param {InputField} key
   * @param {string} label
   * @param {string[][]} options values with their labels
   */
  select(key, label, options) {
    const choose = (/** @type {{ target: HTMLSelectElement }} */ event) => {
      this.fields[key] = event.target.value;
      this.rows.paint(this.row);
      /** @type {HTMLElement} */ (this.row.element.querySelector(`[data-key=${key}]`)).focus();
      this.rows.changed(this.row);
    };
    return h(
      "select.fv-input",
      { "aria-label": label, onchange: choose, data: { key } },
      options.map(([value, words]) => h("option", { value, selected: this.fields[key] === value }, words)),
    );
  }
}
