/* Marks and words at a line of source: time, passes, error. */

import { count } from "../graph/data/words.js";
import { percentText } from "./amounts.js";
import { h } from "./dom.js";
import { shareOf, stepsOf } from "./source_links.js";

/** @param {LineRow | undefined} row */
export function timeMark(row) {
  const time = row && shareOf(row);
  if (!time) return h("span.fv-line-time");
  return h(
    "span.fv-line-time",
    null,
    h(
      "span.fv-line-bar",
      { "aria-hidden": "true" },
      h("span.fv-line-bar-all", { style: { width: `${100 * time.share}%` } }),
      h("span.fv-line-bar-alone", { style: { width: `${100 * time.alone}%` } }),
    ),
    h("span.fv-num", null, percentText(time.share)),
  );
}

/** @param {LineRow | undefined} row */
export function passMark(row) {
  const passes = row ? stepsOf(row).length : 0;
  return h("span.fv-line-passes.fv-num", null, passes || null);
}

/** @param {LineRow | undefined} row */
export function errorMark(row) {
  return h("span.fv-line-error", null, row?.errors.length ? "≈" : "");
}

/**
 * The marks of a line, in words.
 * @param {LineRow} row
 */
export function words(row) {
  const passes = stepsOf(row).length;
  const time = shareOf(row);
  return [
    passes ? `${count(passes, "pass", "passes")} touched it` : "no pass touched it",
    left(row),
    time ? time.text : null,
    ...row.errors.map(({ text }) => text),
  ].filter(Boolean);
}

/**
 * The remains of a line, in words.
 * @param {LineRow} row
 */
export function left({ operators, left: nodes, constants }) {
  if (!operators && !nodes.length && !constants.length) return "it computes nothing by itself";
  const held = constants.length ? ` and ${count(constants.length, "constant")}` : "";
  if (!nodes.length && !held) return `nothing is left of its ${count(operators, "operator")}`;
  return `${count(nodes.length, "operator")}${held} left of ${operators}`;
}
