/* The rows of a sweep: columns, filter, order, groups; without a page. */

import { bytesText, durationText } from "../viewer/amounts.js";

/** @typedef {Record<string, any>} Row */
/** @typedef {{ key: string, title: string, unit?: string, number?: boolean, text: (row: Row) => string, value: (row: Row) => any }} Column */

/** Width of the text of a tick and the space beside it. */
const TICK = 70;

/** Stands for numbers that are not finite, see viewer/sweep_page.py: the largest, when sorted. */
const NOT_FINITE = 1.7e308;

/** @param {number | null} error */
export function errorText(error) {
  if (error === null) return "";
  return error === 0 ? "0" : isFinite(error) ? error.toExponential(1) : "not finite";
}

/** @param {any} value */
function isFinite(value) {
  return Number.isFinite(value) && value < NOT_FINITE;
}

/**
 * Whether the time after the freeze was measured, with its interval.
 * @param {Row} row
 */
export function isMeasured(row) {
  return [row.latency_ratio, row.latency_ratio_low, row.latency_ratio_high].every(isFinite);
}

/** @param {Row} row */
export function ratioText(row) {
  if (!isFinite(row.latency_ratio)) return "";
  if (!isMeasured(row)) return `${row.latency_ratio.toFixed(2)}×`;
  return `${row.latency_ratio.toFixed(2)}× (${row.latency_ratio_low.toFixed(2)}–${row.latency_ratio_high.toFixed(2)})`;
}

/** @param {string} key @param {string} title @param {(row: Row) => string} [text] @returns {Column} */
function number(key, title, text = (row) => (row[key] === null ? "" : String(row[key]))) {
  return { key, title, text, number: true, value: (row) => row[key] };
}

/** @param {string} key @param {string} title @param {(amount: number) => string} text @returns {Column} */
function amount(key, title, text) {
  return number(key, title, (row) => (isFinite(row[key]) ? text(row[key]) : ""));
}

/** @param {string} key @param {string} title @returns {Column} */
function word(key, title) {
  return { key, title, text: (row) => String(row[key] ?? ""), value: (row) => row[key] };
}

/** @param {Row} row */
export function statusText(row) {
  return statusName(row.status);
}

/** @param {string} status */
export function statusName(status) {
  return status.replace("_", " ");
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
  amount("latency_ns", "Time per call", durationText),
  number("max_abs_error", "Largest error", (row) => errorText(row.max_abs_error)),
  amount("bytes_before", "Bytes before", bytesText),
  amount("bytes_after", "Bytes after", bytesText),
  number("frozen", "Frozen"),
  number("preserved", "Preserved"),
  number("near_misses", "Near misses"),
  number("graph_breaks", "Graph breaks"),
  number("notices", "Notices"),
  amount("time_s", "Recorded in", (seconds) => `${seconds.toFixed(1)} s`),
];

/** The columns that a chart can show. */
export const METRICS = [
  "latency_ratio",
  "max_abs_error",
  "bytes_after",
  "preserved",
  "near_misses",
  "notices",
  "time_s",
];
/** Counts that have a column only where one is not 0. */
const RARE = ["graph_breaks", "notices"];
export const GROUPS = ["model", "options", "backend", "environment", "status"];

/**
 * The columns that tell something about these rows. Words that all rows share are facts of the sweep.
 * @param {Row[]} rows
 */
export function usedColumns(rows) {
  const shared = sharedFacts(rows).map(({ key }) => key);
  return COLUMNS.filter(({ key, value }) => {
    if (key === "model" || key === "time_s") return true;
    if (RARE.includes(key)) return rows.some((row) => row[key] > 0);
    return !shared.includes(key) && rows.some((row) => value(row) !== null && value(row) !== "");
  });
}

/**
 * The words that all rows have in common, such as the version of torch; what went wrong stays in the table.
 * @param {Row[]} rows
 * @returns {{ key: string, title: string, text: string }[]}
 */
export function sharedFacts(rows) {
  if (!rows.length) return [];
  return COLUMNS.filter(({ key, number }) => key !== "model" && !number)
    .filter(({ key }) => valuesOf(rows, key).length === 1 && rows[0][key] && (key !== "status" || isRecorded(rows[0])))
    .map((column) => ({ key: column.key, title: column.title, text: column.text(rows[0]) }));
}

/** @param {Row} row */
function isRecorded(row) {
  return row.status === "recorded";
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
 * @param {Record<string, string>} chosen value of columns; any of those that are not named
 */
export function filterRows(rows, text, chosen) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (Object.entries(chosen).some(([key, value]) => String(row[key] ?? "") !== value)) return false;
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
    return [{ group: value, rows: members }, ...members.map((row) => ({ row }))];
  });
}

/**
 * The address of a file beside a page: of a path that is never taken for a scheme, a query or a fragment.
 * @param {string} path absolute, or relative to the page
 */
export function fileAddress(path) {
  const address = path.split("/").map(encodeURIComponent).join("/");
  return address.startsWith("/") ? address.replace(/^\/+/, "/") : `./${address}`;
}

/** @param {Row} row */
function variantOf(row) {
  return [row.options, row.backend, row.environment].filter(Boolean).join(" · ");
}

/**
 * The data of a chart: a line for each model with a point for each variant, the largest first.
 * @param {Row[]} rows
 * @param {string} metric
 * @returns {{ variants: string[], lines: { model: string, points: { row: Row, value: number, variant: number }[] }[] }}
 */
export function chartData(rows, metric) {
  const shown = rows.filter((row) => isFinite(row[metric]));
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

/** @typedef {{ at: (value: number) => number, ticks: number[], isLog: boolean }} Scale */

/**
 * Errors, bytes and times differ by orders of magnitude, so they get a logarithmic scale; zero is at its start.
 * @param {number[]} values
 * @param {string} metric
 * @param {number} start
 * @param {number} end
 * @returns {Scale}
 */
export function scaleOf(values, metric, start, end) {
  const positive = values.filter((value) => value > 0);
  const [smallest, most] = [Math.min(...positive), Math.max(...positive)];
  const mostTicks = Math.max(2, Math.min(6, Math.floor((end - start) / TICK)));
  const isLog = ["max_abs_error", "bytes_after", "time_s"].includes(metric) && most / smallest > 20;
  if (isLog) {
    const [low, high] = [Math.floor(Math.log10(smallest)), Math.ceil(Math.log10(most))];
    const at = (/** @type {number} */ value) =>
      value > 0 ? start + ((Math.log10(value) - low) / Math.max(1, high - low)) * (end - start) : start;
    const step = Math.max(1, Math.ceil((high - low) / mostTicks));
    const ticks = [];
    for (let power = low; power <= high; power += step) ticks.push(10 ** power);
    return { at, ticks, isLog };
  }
  const least = { latency_ratio: 1.1, max_abs_error: 0 }[metric] ?? 1; // a scale of small errors ends at the largest
  const high = Math.max(least, ...values) || 1;
  const size = 10 ** Math.floor(Math.log10(high / 4));
  const step = /** @type {number} */ (
    [1, 2, 5, 10, 20, 50].map((one) => one * size).find((one) => high / one <= mostTicks)
  );
  const ticks = [];
  for (let index = 0; index * step <= high; index += 1) ticks.push(Number((index * step).toPrecision(6)));
  return { at: (value) => start + (Math.max(0, value) / high) * (end - start), ticks, isLog };
}
