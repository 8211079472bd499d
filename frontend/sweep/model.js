/* The rows of a sweep: columns, filter, order, groups; without a page. */

/** @typedef {Record<string, any>} Row */
/** @typedef {{ key: string, title: string, unit?: string, number?: boolean, text: (row: Row) => string, value: (row: Row) => any }} Column */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** @param {number | null} bytes */
export function bytesText(bytes) {
  if (bytes === null) return "";
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit === 0 ? size : size.toPrecision(3)} ${UNITS[unit]}`;
}

/** @param {number | null} ns */
export function timeText(ns) {
  if (ns === null) return "";
  for (const [unit, scale] of /** @type {[string, number][]} */ ([
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ])) {
    if (ns >= scale) return `${(ns / scale).toPrecision(3)} ${unit}`;
  }
  return `${ns} ns`;
}

/** @param {number | null} error */
export function errorText(error) {
  return error === null ? "" : error === 0 ? "0" : error.toExponential(1);
}

/** @param {Row} row */
export function ratioText(row) {
  if (row.latency_ratio === null) return "";
  return `${row.latency_ratio.toFixed(2)}× (${row.latency_ratio_low.toFixed(2)}–${row.latency_ratio_high.toFixed(2)})`;
}

/** @param {string} key @param {string} title @param {(row: Row) => string} [text] @returns {Column} */
function number(key, title, text = (row) => (row[key] === null ? "" : String(row[key]))) {
  return { key, title, text, number: true, value: (row) => row[key] };
}

/** @param {string} key @param {string} title @returns {Column} */
function word(key, title) {
  return { key, title, text: (row) => String(row[key] ?? ""), value: (row) => row[key] };
}

/** @param {Row} row */
export function statusText(row) {
  return row.status.replace("_", " ");
}

/** @type {Column[]} */
export const COLUMNS = [
  word("model", "Model"),
  word("options", "Options"),
  word("backend", "Backend"),
  word("environment", "Environment"),
  word("torch", "torch"),
  { key: "status", title: "Status", text: statusText, value: (row) => row.status },
  number("latency_ratio", "Time after / before", ratioText),
  number("latency_ns", "Time per call", (row) => timeText(row.latency_ns)),
  number("max_abs_error", "Largest error", (row) => errorText(row.max_abs_error)),
  number("bytes_before", "Bytes before", (row) => bytesText(row.bytes_before)),
  number("bytes_after", "Bytes after", (row) => bytesText(row.bytes_after)),
  number("frozen", "Frozen"),
  number("preserved", "Preserved"),
  number("near_misses", "Near misses"),
  number("graph_breaks", "Graph breaks"),
  number("notices", "Notices"),
  number("time_s", "Recorded in", (row) => `${row.time_s.toFixed(1)} s`),
];

/** What a chart can show: column, and whether smaller is better. */
export const METRICS = [
  "latency_ratio",
  "max_abs_error",
  "bytes_after",
  "preserved",
  "near_misses",
  "notices",
  "time_s",
];
export const GROUPS = ["model", "options", "backend", "environment", "status"];

/**
 * The columns that tell something about these rows.
 * @param {Row[]} rows
 */
export function usedColumns(rows) {
  const always = ["model", "status", "time_s"];
  return COLUMNS.filter(({ key, value }) => {
    if (always.includes(key)) return true;
    if (key === "environment") return rows.some((row) => row.environment);
    return rows.some((row) => value(row) !== null && value(row) !== "");
  });
}

/**
 * @param {Row[]} rows
 * @param {string} key
 * @returns {string[]} the values that a column has, sorted
 */
export function valuesOf(rows, key) {
  return [...new Set(rows.map((row) => String(row[key] ?? "")))].sort();
}

/**
 * Keeps the rows with all words of a text somewhere, and with the chosen values.
 * @param {Row[]} rows
 * @param {string} text
 * @param {Record<string, string>} chosen value of each column, empty for any
 */
export function filterRows(rows, text, chosen) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (Object.entries(chosen).some(([key, value]) => value && String(row[key]) !== value)) return false;
    if (!words.length) return true;
    const all = [row.model, row.options, row.backend, row.environment, row.torch, statusText(row), row.reason]
      .concat(row.notice_codes, row.preserved_names)
      .join(" ")
      .toLowerCase();
    return words.every((one) => all.includes(one));
  });
}

/**
 * Sorts rows by a column; those without a value come last, equal ones stay in their order.
 * @param {Row[]} rows
 * @param {string} key
 * @param {boolean} descending
 */
export function sortRows(rows, key, descending) {
  const turn = descending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [first, second] = [one[key], other[key]];
    const [isFirstEmpty, isSecondEmpty] = [first === null || first === "", second === null || second === ""];
    if (isFirstEmpty || isSecondEmpty) return Number(isFirstEmpty) - Number(isSecondEmpty);
    if (typeof first === "number" && typeof second === "number") return turn * (first - second);
    return turn * String(first).localeCompare(String(second), "en", { numeric: true });
  });
}

/**
 * The lines of the table: rows, with a heading before each group.
 * @param {Row[]} rows
 * @param {string} by column, empty for no groups
 * @returns {({ row: Row } | { group: string, rows: Row[] })[]}
 */
export function tableLines(rows, by) {
  if (!by) return rows.map((row) => ({ row }));
  return valuesOf(rows, by).flatMap((value) => {
    const members = rows.filter((row) => String(row[by] ?? "") === value);
    return [{ group: value || "none", rows: members }, ...members.map((row) => ({ row }))];
  });
}

/** @param {Row} row */
export function variantOf(row) {
  return [row.options, row.backend, row.environment].filter(Boolean).join(" · ");
}

/**
 * What a chart shows: a line for each model with a point for each variant, the largest first.
 * @param {Row[]} rows
 * @param {string} metric
 * @returns {{ variants: string[], lines: { model: string, points: { row: Row, value: number, variant: number }[] }[] }}
 */
export function chartData(rows, metric) {
  const shown = rows.filter((row) => Number.isFinite(row[metric]));
  const variants = [...new Set(shown.map(variantOf))].sort();
  /** @type {Map<string, { row: Row, value: number, variant: number }[]>} */
  const models = new Map();
  for (const row of shown) {
    const point = { row, value: row[metric], variant: variants.indexOf(variantOf(row)) };
    models.set(row.model, [...(models.get(row.model) ?? []), point]);
  }
  const most = (/** @type {{ value: number }[]} */ points) => Math.max(...points.map(({ value }) => value));
  const lines = [...models].map(([model, points]) => ({ model, points }));
  lines.sort((one, other) => most(other.points) - most(one.points) || one.model.localeCompare(other.model));
  return { variants, lines };
}
