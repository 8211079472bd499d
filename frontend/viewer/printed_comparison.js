/* The printed page of two traces: what changed, the attributes, passes and settings that differ. */

import { fateDifferences } from "./comparison_attributes.js";
import { h } from "./dom.js";
import { SIDES, sideSign } from "./pair.js";
import { printedTable } from "./printed_table.js";

/**
 * @param {ComparisonModel} model
 * @param {Element} summary
 * @returns {Element[]}
 */
export function comparisonPages({ comparison }, summary) {
  const { names, made, attributes, rows, settings } = comparison;
  const title = h(
    "header",
    null,
    h("h1", null, "Two recordings side by side"),
    names.map((name, side) =>
      h("p", null, sideSign(side), ` ${name}`, h("span.fv-muted", null, ` ${made[side] ?? ""}`)),
    ),
  );
  return [
    title,
    summary,
    page(
      "Attributes that differ",
      ["Attribute", "Shape", "A", "B", "What differs"],
      attributes
        .filter((row) => row.fields.length && !row.minor)
        .map((row) => [row.path, row.shape, ...SIDES.map((side) => fate(row[side])), fateDifferences(row)]),
    ),
    page(
      "Passes that made a difference of their own",
      ["Pass", "Nodes", "Time, A | B", "Other error, A | B"],
      rows.filter(({ differs, carried }) => differs && !carried).map(pass),
    ),
    page(
      "Settings that differ",
      ["", "Name", "A", "B"],
      settings.map(({ subject, name, a, b }) => [subject, name, a ?? "absent", b ?? "absent"]),
    ),
  ].filter((part) => part !== null);
}

/**
 * @param {string} title
 * @param {string[]} heads
 * @param {any[][]} rows
 */
function page(title, heads, rows) {
  if (!rows.length) return null;
  return h("section.fv-print-part", null, h("h2", null, title), printedTable(heads, rows));
}

/** @param {AttributeRow | null} row */
function fate(row) {
  return row ? [row.fate, row.reason].filter(Boolean).join(", ") : "absent";
}

/** @param {PassRow} row */
function pass(row) {
  const { graph } = row;
  const nodes =
    graph === null
      ? `only in ${row.a === null ? "B" : "A"}`
      : graph.empty
        ? "the same"
        : `−${graph.removed} +${graph.added} ~${graph.changed}`;
  const both = (/** @type {{ a: string | null, b: string | null }} */ { a, b }) => `${a ?? "–"} | ${b ?? "–"}`;
  return [
    `${row.name}${row.round === null ? "" : `, round ${row.round}`} · ${row.method}`,
    nodes,
    row.latency.map(both).join(", "),
    row.errors
      .filter(({ differs }) => differs)
      .map((error) => `${error.reference}: ${both(error)}`)
      .join(", "),
  ];
}
