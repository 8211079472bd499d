/* Kernels of two programs that do the same work in one row, and the other differences between the programs. */

import { h } from "./dom.js";
import { grid } from "./grid.js";

const WORDS = {
  same: "the same",
  different: "differ",
  "only with freezing": "only with freezing",
  "only without freezing": "only without",
};

/**
 * The kernels with freezing beside those without.
 * @param {ProgramComparison} comparison one of `view.comparisons`
 * @param {Viewer} app
 */
export function sideBySide(app, comparison) {
  return [h("p", null, counts(app, comparison)), kernels(app, comparison), passes(comparison)];
}

/**
 * @param {Viewer} app
 * @param {ProgramComparison} options
 */
function counts(app, { frozen, unfrozen, groups }) {
  const { programs } = app.model.view;
  return `${programs[frozen].kernels.length} kernels with freezing, ${programs[unfrozen].kernels.length} without; by the work they do: ${groupCounts(groups, WORDS)}.`;
}

/**
 * The numbers of groups by difference ("17 differ, 1 the same").
 * @param {KernelGroup[]} groups
 * @param {any} words
 */
export function groupCounts(groups, words) {
  return Object.entries(words)
    .map(([difference, text]) => [groups.filter((group) => group.difference === difference).length, text])
    .filter(([count]) => count)
    .map(([count, text]) => `${count} ${text}`)
    .join(", ");
}

/**
 * @param {Viewer} app
 * @param {ProgramComparison} options
 */
function kernels(app, { frozen, unfrozen, groups }) {
  const rows = groups.map((group) => {
    const lost = group.lost && group.unfrozen.length > 0;
    return kernelRow(
      app,
      group.difference === "same",
      [
        { program: frozen, kernels: group.frozen, time: group.frozen_time, lost },
        { program: unfrozen, kernels: group.unfrozen, time: group.unfrozen_time },
      ],
      [
        group.difference === "same" ? "=" : group.difference,
        lost ? h("div.fv-bad", null, "takes longer with freezing") : null,
      ],
    );
  });
  return grid("", ["With freezing", "Without", ""], rows);
}

/**
 * A row of a table of kernels: those of each side and their time together, then what there is to say.
 * @param {boolean} same whether the two sides do not differ
 * @param {{program: number|null, kernels: number[], time: string|null, lost?: boolean}[]} sides
 * @param {Viewer} app
 * @param {any} last
 */
export function kernelRow(app, same, sides, last) {
  const { program, kernel } = app.current;
  const chosen = kernel !== null && sides.some((side) => side.program === program && side.kernels.includes(kernel));
  const cells = sides.map((side) =>
    h(
      "td",
      null,
      links(app, side),
      side.time ? h("div.fv-num.fv-kernels-time", { class: side.lost ? "fv-bad" : "" }, side.time) : null,
    ),
  );
  return h("tr", { class: `${chosen ? "fv-chosen" : ""} ${same ? "fv-row-same" : ""}` }, cells, h("td", null, last));
}

/**
 * @param {Viewer} app
 * @param {{ program: any, kernels: any }} options
 */
function links(app, { program, kernels: places }) {
  const { kernels } = app.model.view.programs[program] ?? { kernels: [] };
  return places.map((/** @type {any} */ kernel) =>
    h("div.fv-mono", null, app.link(kernels[kernel].name, { program, kernel, node: null, attribute: null })),
  );
}

/** @param {ProgramComparison} options */
function passes({ passes }) {
  if (!passes.length) return null;
  const rows = passes.map(([stage, name, frozen, unfrozen]) =>
    h(
      "tr",
      null,
      h("td", null, name, h("div.fv-muted.fv-small", null, stage)),
      h("td", null, frozen),
      h("td", null, unfrozen),
    ),
  );
  return grid("Passes with an effect in one of the two only", ["Pass", "With freezing", "Without"], rows);
}
