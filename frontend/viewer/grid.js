/* A table of a few rows. On a phone its rows become cards, in which each cell says its column. */

import { h } from "./dom.js";

const CARDS_FROM = 3; // columns; two of them fit on a phone

/**
 * @param {Child} caption
 * @param {Child[]} heads empty where a column needs no name
 * @param {HTMLTableRowElement[]} rows
 */
export function grid(caption, heads, rows) {
  const cells = heads.map((head) => (head === "" ? h("td") : h("th", { scope: "col" }, head)));
  for (const row of rows) label(row, cells);
  return h(
    "table.fv-grid",
    { class: heads.length >= CARDS_FROM ? "fv-grid-cards" : "" },
    h("caption", null, caption),
    h("thead", null, h("tr", null, cells)),
    h("tbody", null, rows),
  );
}

/**
 * Gives each cell the name of its column, which the style sheet prints before it in a card; an axis is no name.
 * @param {HTMLTableRowElement} row
 * @param {HTMLElement[]} heads
 */
function label(row, heads) {
  if (row.cells.length !== heads.length) return;
  heads.forEach((head, column) => {
    const isName = column > 0 && !head.querySelector(".fv-ratio-axis");
    if (head.textContent && isName) row.cells[column].dataset.label = head.textContent;
  });
}
