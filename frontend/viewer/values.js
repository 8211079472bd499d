/* Numbers of constants: histograms as small pictures, zeros, the first numbers; before and after a pass in one scale. */

import { partText } from "./amounts.js";
import { h, svg } from "./dom.js";
import { pairs, section } from "./section.js";

const LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"; // viewer/views/value_summaries.py
const SIZE = { width: 160, height: 44 };

/**
 * The numbers of a constant, with a histogram where the trace has one; null where the trace has none of its numbers.
 * @param {any} constant
 * @param {[number, number] | null} [range] of the axis, where two are compared
 */
export function valuesOf(constant, range = null) {
  if (!constant?.values) return null;
  return h(
    "div.fv-values",
    null,
    constant.values.histogram ? histogram(constant, range ?? endsOf([constant])) : null,
    pairs(valueRows(constant)),
  );
}

/**
 * Names and texts of a constant's known numbers.
 * @param {any} constant
 */
function valueRows(constant) {
  const { zeros, nans, first } = constant.values;
  const count = constant.shape.reduce((/** @type {number} */ product, /** @type {number} */ size) => product * size, 1);
  const infinite = constant.nonfinite - nans;
  const rows = [
    [
      "zeros",
      zeros ? `${zeros.toLocaleString("en")} of ${count.toLocaleString("en")} (${partText(zeros, count)})` : "none",
    ],
    ["NaN", nans ? nans.toLocaleString("en") : null],
    ["infinite", infinite ? infinite.toLocaleString("en") : null],
    ["first", first ? `${first}${count > first.split(", ").length ? ", …" : ""}` : null],
  ];
  return rows.filter(([, text]) => text !== null);
}

/**
 * The smallest and the largest number of some constants.
 * @param {any[]} constants
 * @returns {[number, number]}
 */
function endsOf(constants) {
  return [Math.min(...constants.map((one) => one.minimum)), Math.max(...constants.map((one) => one.maximum))];
}

/**
 * @param {any} constant
 * @param {[number, number]} range
 */
function histogram(constant, [low, high]) {
  const { histogram: bars, counted } = constant.values;
  const text = `From ${number(constant.minimum)} to ${number(constant.maximum)}, mean ${number(constant.mean)}, of ${counted.toLocaleString("en")} numbers`;
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", "aria-label": text, class: "fv-histogram" },
    svg("title", {}, text),
  );
  const place = (/** @type {number} */ value) =>
    high > low ? ((value / 2 - low / 2) / (high / 2 - low / 2)) * SIZE.width : SIZE.width / 2; // halves do not overflow
  const [start, end] =
    constant.maximum > constant.minimum
      ? [constant.minimum, constant.maximum].map(place)
      : [place(low) - 2, place(low) + 2];
  const width = Math.max(1, (end - start) / bars.length);
  [...bars].forEach((letter, at) => {
    const height = (LEVELS.indexOf(letter) / (LEVELS.length - 1)) * (SIZE.height - 3);
    if (height <= 0) return;
    const x = start + ((end - start) * at) / bars.length;
    const shown = Math.max(1, height);
    picture.append(svg("rect", { x, y: SIZE.height - 1 - shown, width, height: shown, class: "fv-histogram-bar" }));
  });
  picture.append(
    svg("line", { x1: 0, x2: SIZE.width, y1: SIZE.height - 0.5, y2: SIZE.height - 0.5, class: "fv-histogram-axis" }),
  );
  if (low < 0 && high > 0) {
    picture.append(svg("line", { x1: place(0), x2: place(0), y1: 0, y2: SIZE.height, class: "fv-histogram-zero" }));
  }
  return h(
    "figure.fv-histogram-figure",
    null,
    picture,
    h("figcaption.fv-num.fv-muted.fv-small", null, h("span", null, number(low)), h("span", null, number(high))),
  );
}

/** @param {number} value */
function number(value) {
  return value === null ? "?" : String(Number(value.toPrecision(3)));
}

/**
 * Two constants in one scale, as one became the other.
 * @param {[Child, any][]} sides a title and a constant each; those without numbers are left out
 */
export function compared(sides) {
  const known = sides.filter(([, constant]) => constant?.values);
  if (!known.length) return null;
  const finite = known.map(([, constant]) => constant).filter((constant) => constant.minimum !== null);
  const range = finite.length ? endsOf(finite) : null;
  return h(
    "div.fv-values-sides",
    null,
    known.map(([title, constant]) =>
      h("div", null, h("h4.fv-subtitle.fv-wrap", null, title), valuesOf(constant, range)),
    ),
  );
}

/**
 * The constant that a value of a step is, or that the attribute is which it reads; null where that is not known.
 * @param {TraceModel} model
 * @param {number} index
 * @param {string} value
 */
export function constantOf(model, index, value) {
  const maker = model.graph(index).makers.get(value);
  const constant = maker === undefined ? null : model.graph(index).nodes.get(maker)?.constant;
  if (constant) return constant;
  const [row] = model.attributesOf(index, value);
  return row ? tensorOf(model, row) : null;
}

/**
 * The summary of an attribute's tensor before freezing; null where the trace has none.
 * @param {TraceModel} model
 * @param {any} row
 */
export function tensorOf(model, row) {
  if (row.tensor) return row.tensor;
  return row.digest ? (model.graphs.constantOfDigest(row.digest) ?? null) : null;
}

/**
 * The constants that a node reads, before and after the pass.
 * @param {TraceModel} model
 * @param {Pair} pair
 * @param {any} before
 * @param {any} after
 */
export function readConstants(model, pair, before, after) {
  const old = before && pair.before ? read(model, pair.before.index, before) : [];
  const now = after ? read(model, pair.after.index, after) : [];
  const blocks = [];
  for (let at = 0; at < Math.max(old.length, now.length); at++) {
    const [first, second] = [old[at], now[at]];
    const isSame = first && second && first.constant?.digest === second.constant?.digest;
    const sides = isSame || !first ? [second] : [first, second];
    const titled = sides.flatMap((side) => {
      if (!side) return [];
      const when = isSame || !first || !second ? "" : side === first ? "before: " : "after: ";
      return [/** @type {[Child, any]} */ ([`${when}%${side.name}`, side.constant])];
    });
    const block = compared(titled);
    if (block) blocks.push(block);
  }
  return blocks.length ? section("Values of the constants it reads", blocks) : null;
}

/**
 * @param {TraceModel} model
 * @param {number} index
 * @param {GraphNode} node
 */
function read(model, index, node) {
  return node.inputs.map((name) => {
    const constant = constantOf(model, index, name);
    return constant?.values ? { name, constant } : null;
  });
}
