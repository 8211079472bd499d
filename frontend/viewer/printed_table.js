/* A table for paper. */

import { h } from "./dom.js";

/**
 * @param {string[]} heads
 * @param {any[][]} rows
 */
export function printedTable(heads, rows) {
  return h(
    "table.fv-grid",
    null,
    heads.length
      ? h(
          "thead",
          null,
          h(
            "tr",
            null,
            heads.map((head) => h("th", { scope: "col" }, head)),
          ),
        )
      : null,
    h(
      "tbody",
      null,
      rows.map((cells) =>
        h(
          "tr",
          null,
          cells.map((cell) => h("td", null, cell ?? "")),
        ),
      ),
    ),
  );
}
