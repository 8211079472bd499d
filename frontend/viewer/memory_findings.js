/* The finding about memory: constants that are held more than once. */

import { h } from "./dom.js";
import { grid } from "./grid.js";
import { part, wide } from "./finding_parts.js";

const DUPLICATES_SHOWN = 6;

const NAMES_SHOWN = 8;

/**
 * Constants that are held more than once, and the memory of the frozen module.
 * @param {FindingsPanel} panel
 */
export function memoryPart(panel) {
  const { duplicates, duplicates_between: between, memory } = panel.found;
  if (!memory.length && !duplicates.length && !between.length) return null;
  const facts = memory.map((row) => [
    h("dt", null, row.label),
    h(
      "dd",
      null,
      h("span.fv-num", { class: `fv-${row.tone}` }, row.value),
      row.note ? h("span.fv-muted.fv-wrap", null, `, ${row.note}`) : null,
      row.step === null ? null : h("div", null, "since ", panel.pass(row.step)),
    ),
  ]);
  const rows = duplicates
    .slice(0, DUPLICATES_SHOWN)
    .map((row) =>
      h(
        "tr",
        { data: { step: row.step } },
        h("td", null, panel.pass(row.step)),
        h("td.fv-num", null, row.bytes),
        h("td", null, row.kind, h("div.fv-muted.fv-small.fv-wrap", null, someOf(row.names))),
      ),
    );
  const smaller = duplicates.length - rows.length;
  const ended = between.slice(0, DUPLICATES_SHOWN).map((row) => betweenRow(panel, row));
  const more = between.length - ended.length;
  const frame = rows.length || ended.length ? wide : part; // names of constants are long
  return frame(
    "Memory",
    facts.length ? h("dl.fv-pairs", null, facts) : null,
    rows.length ? grid("Held more than once in the final graph", ["Since", "Bytes", "Constants"], rows) : null,
    smaller ? h("p.fv-muted", null, `… and ${smaller} smaller ones`) : null,
    ended.length ? grid("Held more than once for a while", ["From", "Until", "Bytes", "Constants"], ended) : null,
    more ? h("p.fv-muted", null, `… and ${more} more`) : null,
  );
}

/**
 * @param {FindingsPanel} panel
 * @param {DuplicateBetween} row
 */
function betweenRow(panel, { step, until, bytes, names }) {
  return h(
    "tr",
    { data: { step } },
    h("td", null, panel.pass(step)),
    h("td", null, panel.pass(until)),
    h("td.fv-num", null, bytes),
    h("td", null, h("div.fv-muted.fv-small.fv-wrap", null, someOf(names))),
  );
}

/** @param {string[]} names */
function someOf(names) {
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
