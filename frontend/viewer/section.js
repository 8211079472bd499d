/* The parts that a side panel is made of: its title, titled sections, and names with their values. */

import { h } from "./dom.js";

/**
 * The title of the panel, and beside it a badge or a word in grey.
 * @param {string} text
 * @param {HTMLSpanElement | string | null} [mark]
 */
export function detailsTitle(text, mark) {
  return h(
    "h2.fv-details-title",
    null,
    h("span.fv-wrap", null, text),
    typeof mark === "string" ? h("span.fv-muted.fv-wrap", null, mark) : mark,
  );
}

/**
 * @param {Child} name
 * @param {...any} children
 */
export function section(name, ...children) {
  return h("section.fv-section", null, h("h3", null, name), children);
}

/** @param {Child[][]} rows */
export function pairs(rows) {
  return h(
    "dl.fv-pairs",
    null,
    rows.map(([name, text]) => [h("dt", null, name), h("dd.fv-wrap", null, text)]),
  );
}
