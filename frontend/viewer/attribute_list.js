/* The parts that every table of attributes has: its filter, and its list of rows. */

import { h, VirtualList } from "./dom.js";

/** Explains the switch of the attributes that the table leaves out by default. */
export const MINOR_TITLE =
  "Attributes that are neither parameters nor buffers and were not preserved: submodules, flags, values";

/**
 * The field that filters a table.
 * @param {Viewer} app
 * @param {string} placeholder
 * @returns {HTMLInputElement}
 */
export function filterField(app, placeholder) {
  /** @type {HTMLInputElement} */
  const field = h("input.fv-input", {
    type: "search",
    placeholder,
    "aria-label": "Filter attributes",
    oninput: () => app.navigate({ q: field.value }),
  });
  return field;
}

/**
 * The rows of a table, of which only those in sight are made.
 * @param {{ row: (index: number) => HTMLElement, key: (event: KeyboardEvent) => void }} panel
 */
export function attributeList(panel) {
  return new VirtualList({
    rowHeight: 30,
    narrow: { below: 641, rowHeight: 76 }, // as viewer.css stacks the cells
    row: (index) => panel.row(index),
    props: { role: "rowgroup", "aria-label": "Attributes", onkeydown: (event) => panel.key(event) },
  });
}
