/* One figure of all recordings: a line for each model, a dot for each set of options. */

import { fill, h, svg } from "../viewer/dom.js";
import { chartData, COLUMNS, isMeasured, scaleOf } from "./model.js";

const LINE = 22;
const MOST = 60;
const LEFT = 190;
const RIGHT = 24;
const TOP = 26;

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
  picture.append(...gridLines(scale, metric, height));
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
 * @param {import("./model.js").Scale} scale
 * @param {string} metric
 * @param {number} height
 */
function gridLines(scale, metric, height) {
  return scale.ticks.flatMap((tick) => {
    const x = scale.at(tick);
    const isOne = metric === "latency_ratio" && tick === 1;
    return [
      svg("path", { d: `M${x} ${TOP - 4}V${height}`, class: isOne ? "fs-one" : "fs-grid" }),
      svg("text", { x, y: 14, "text-anchor": "middle", class: "fs-tick" }, tickText(tick, metric)),
    ];
  });
}

/**
 * @param {{ row: Record<string, any>, value: number, variant: number }} point
 * @param {number} y
 * @param {number} count of variants
 * @param {import("./model.js").Scale} scale
 * @param {string} metric
 * @param {import("./model.js").Column} column
 * @param {(row: Record<string, any>) => void} onopen
 */
function dot({ row, value, variant }, y, count, scale, metric, column, onopen) {
  const off = count > 1 ? (variant / (count - 1) - 0.5) * Math.min(10, 3 * count) : 0;
  const group = svg("g", { class: `fs-dot fs-dot-${variant % 6}` });
  if (metric === "latency_ratio" && isMeasured(row)) {
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
 * A name that fits, without its middle: models of one family differ at the end.
 * @param {string} text
 * @param {number} width
 */
function shortened(text, width) {
  const most = Math.max(8, Math.floor((width - 16) / 7));
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(-end)}`;
}
