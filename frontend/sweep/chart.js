/* One figure of all recordings: a line for each model, a dot for each set of options. */

import { fill, h } from "../viewer/dom.js";
import { chartData, COLUMNS } from "./model.js";

const LINE = 22;
const MOST = 60;
const LEFT = 190;
const RIGHT = 24;
const TOP = 26;

/**
 * @param {string} tag
 * @param {Record<string, string | number>} props
 * @param {...(Node | string)} children
 */
function svg(tag, props, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * Draws a metric of some rows.
 * @param {HTMLElement} place
 * @param {Record<string, any>[]} rows
 * @param {string} metric key of a column
 * @param {(row: Record<string, any>) => void} onopen called with the row of a dot that is clicked
 */
export function drawChart(place, rows, metric, onopen) {
  const { variants, lines } = chartData(rows, metric);
  const column = /** @type {import("./model.js").Column} */ (COLUMNS.find(({ key }) => key === metric));
  if (!lines.length) {
    fill(place, h("p.fv-muted", null, `Nothing to draw: ${column.title.toLowerCase()} is not known of any recording.`));
    return;
  }
  const shown = lines.slice(0, MOST);
  const width = Math.max(320, place.clientWidth || 800);
  const left = Math.min(LEFT, width * 0.4);
  const values = shown.flatMap(({ points }) => points.map(({ value }) => value));
  const scale = scaleOf(values, metric, left, width - RIGHT);
  const height = TOP + shown.length * LINE + 6;
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  picture.setAttribute("aria-label", `${column.title} by model; the table has the figures`);
  for (const tick of scale.ticks) {
    const x = scale.at(tick);
    const strong = metric === "latency_ratio" && tick === 1;
    picture.append(
      svg("path", { d: `M${x} ${TOP - 4}V${height}`, class: strong ? "fs-one" : "fs-grid" }),
      svg("text", { x, y: 14, "text-anchor": "middle", class: "fs-tick" }, tickText(tick, metric)),
    );
  }
  shown.forEach(({ model, points }, index) => {
    const y = TOP + index * LINE + LINE / 2;
    picture.append(
      svg("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "fs-name" }, shortened(model, left)),
    );
    points.forEach((point) => picture.append(dot(point, y, variants.length, scale, metric, column, onopen)));
  });
  const more = lines.length - shown.length;
  fill(
    place,
    h(
      "p.fs-legend",
      null,
      variants.map((variant, index) => h("span", null, h("i", { class: `fs-dot-${index % 6}` }), variant || "all")),
      scale.isLog ? h("span.fv-muted", null, "logarithmic") : null,
    ),
    h("div.fs-picture", null, picture),
    more > 0
      ? h("p.fv-muted.fv-small", null, `The ${MOST} models with the largest figures; filter to see the other ${more}.`)
      : null,
  );
}

/**
 * @param {{ row: Record<string, any>, value: number, variant: number }} point
 * @param {number} y
 * @param {number} count of variants
 * @param {Scale} scale
 * @param {string} metric
 * @param {import("./model.js").Column} column
 * @param {(row: Record<string, any>) => void} onopen
 */
function dot({ row, value, variant }, y, count, scale, metric, column, onopen) {
  const off = count > 1 ? (variant / (count - 1) - 0.5) * Math.min(10, 3 * count) : 0;
  const group = svg("g", { class: `fs-dot fs-dot-${variant % 6}` });
  if (metric === "latency_ratio" && row.latency_ratio_low !== null) {
    const [low, high] = [scale.at(row.latency_ratio_low), scale.at(row.latency_ratio_high)];
    group.append(svg("path", { d: `M${low} ${y + off}H${high}` }));
  }
  const name = [row.model, row.options, row.backend, row.environment].filter(Boolean).join(" · ");
  group.append(
    svg("circle", { cx: scale.at(value), cy: y + off, r: 4 }),
    svg("title", {}, `${name}: ${column.text(row)}`),
  );
  group.addEventListener("click", () => onopen(row));
  return group;
}

/** @typedef {{ at: (value: number) => number, ticks: number[], isLog: boolean }} Scale */

/**
 * Errors, bytes and times differ by orders of magnitude, so they get a logarithmic scale; zero stands at its start.
 * @param {number[]} values
 * @param {string} metric
 * @param {number} start
 * @param {number} end
 * @returns {Scale}
 */
function scaleOf(values, metric, start, end) {
  const positive = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  const isLog = ["max_abs_error", "bytes_after", "time_s"].includes(metric) && most / least > 20;
  if (isLog) {
    const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
    const at = (/** @type {number} */ value) =>
      value > 0 ? start + ((Math.log10(value) - low) / Math.max(1, high - low)) * (end - start) : start;
    const step = Math.max(1, Math.ceil((high - low) / 6));
    const ticks = [];
    for (let power = low; power <= high; power += step) ticks.push(10 ** power);
    return { at, ticks, isLog };
  }
  const high = Math.max(metric === "latency_ratio" ? 1.1 : 1, ...values);
  const size = 10 ** Math.floor(Math.log10(high / 4));
  const step = /** @type {number} */ ([1, 2, 5, 10].map((one) => one * size).find((one) => high / one <= 6));
  const ticks = [];
  for (let index = 0; index * step <= high; index += 1) ticks.push(Number((index * step).toPrecision(6)));
  return { at: (value) => start + (Math.max(0, value) / high) * (end - start), ticks, isLog };
}

/**
 * @param {number} value
 * @param {string} metric
 */
function tickText(value, metric) {
  const column = /** @type {import("./model.js").Column} */ (COLUMNS.find(({ key }) => key === metric));
  if (metric === "latency_ratio") return `${value}×`;
  if (metric === "time_s") return `${value} s`;
  return column.text({ [metric]: value });
}

/**
 * @param {string} text
 * @param {number} width
 */
function shortened(text, width) {
  const most = Math.max(8, Math.floor((width - 16) / 7));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
