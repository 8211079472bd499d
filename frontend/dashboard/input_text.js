/* The text of `--input`, and the fields of the row that stands for it. */

const INTEGER = /^u?int\d+$/;

/**
 * Whether a dtype has whole numbers, of which a range can be given.
 * @param {string} dtype
 */
export function isInteger(dtype) {
  return INTEGER.test(dtype);
}

/**
 * One row's fields for a text of `--input`; what has no form of its own stays text.
 * @param {string} text
 */
export function toRow(text) {
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
export function toText(row) {
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
  const range = isInteger(dtype) && (low || high) ? `:${low || 0}..${high}` : "";
  return dtype === "float32" ? sizes : `${sizes}:${dtype}${range}`;
}
