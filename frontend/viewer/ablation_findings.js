/* The finding about each pass on its own: time and error with it and without it. */

import { h } from "./dom.js";
import { grid } from "./grid.js";
import { ratioAxis, ratioBar, ratioSpread } from "./ratio.js";
import { term } from "./terms.js";
import { TIDIED, judged, wide } from "./finding_parts.js";

/**
 * What each pass does on its own: the whole freeze against the freeze without it.
 * @param {FindingsPanel} panel
 */
export function ablationPart(panel) {
  const { ablation } = panel.found;
  if (!ablation.length) return null;
  const spread = ratioSpread(ablation.flatMap((/** @type {any} */ row) => row.latency));
  const rows = ablation.map((/** @type {any} */ row) =>
    h(
      "tr",
      null,
      h("td", null, named(panel, row)),
      row.error === null
        ? contribution(row, spread)
        : h("td", { colspan: 4 }, h("span.fv-muted", null, "could not be measured: "), row.error),
    ),
  );
  const note = h(
    "p.fv-muted.fv-small",
    null,
    "The whole freeze against the freeze with this pass left out, in every round: below 1, the pass pays off.",
  );
  return wide(
    term(panel.app, "ablation", "What each pass does on its own"),
    note,
    grid("", ["Pass", ratioAxis(spread), "Time with it, against without", "Error with it", "Error without"], rows),
  );
}

/**
 * @param {FindingsPanel} panel
 * @param {AblationRow} row
 */
function named(panel, { name, steps, stage, tidied }) {
  return [
    steps.length ? panel.app.link(name, { step: steps[0] }) : name,
    tidied ? TIDIED() : null,
    h("div.fv-muted.fv-small", null, stage),
  ];
}

/**
 * @param {any} row
 * @param {any} spread
 */
function contribution(row, spread) {
  const times = (/** @type {any} */ each) =>
    row.latency.map((/** @type {any} */ one) => h("div.fv-ratio-line", null, each(one)));
  return [
    h(
      "td",
      null,
      times((/** @type {any} */ one) => ratioBar(one, spread)),
    ),
    h(
      "td.fv-num",
      null,
      row.latency.length
        ? times((/** @type {any} */ one) => [
            one.text,
            h("span.fv-muted", null, row.latency.length > 1 ? ` ${one.device}` : ""),
            one.verdict === "no measurable difference"
              ? h("span.fv-muted", null, ` not measurable (${one.unseen})`)
              : null,
          ])
        : h("span.fv-muted", null, "not measured"),
    ),
    h("td.fv-num", null, judged(row.with, row.close_with)),
    h("td.fv-num", null, judged(row.without, row.close_without)),
  ];
}
