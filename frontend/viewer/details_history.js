/* The kernels, history and rewrites of a node, for the side panel. */

import { h } from "./dom.js";
import { kernelsOf, noKernel } from "./node_kernels.js";
import { section } from "./section.js";
import { term } from "./terms.js";

/**
 * The kernels that compute a node, or why none does.
 * @param {Details} details
 * @param {string} method
 * @param {string} id
 */
export function nodeKernels(details, method, id) {
  const { programs } = details.app.model.view;
  const rows = kernelsOf(programs, method, id).map(({ program, kernel }) =>
    h(
      "li",
      null,
      details.link(programs[program].kernels[kernel].name, {
        tab: "kernels",
        program,
        kernel,
        node: null,
        attribute: null,
      }),
      programs.length > 1 ? h("span.fv-muted", null, ` ${programs[program].name}`) : null,
    ),
  );
  if (rows.length) return section(rows.length === 1 ? "Kernel" : "Kernels", h("ul.fv-list", null, rows));
  const why = noKernel(programs, method, id);
  return why === null ? null : section("Kernel", h("p.fv-muted", null, `none: ${why}`));
}

/**
 * The passes that made, changed and removed a node.
 * @param {Details} details
 * @param {string} method
 * @param {string} id
 */
export function nodeHistory(details, method, id) {
  const events = details.app.model.history(method, id);
  const rows = events.map((event) =>
    h("li", null, details.stepLink(event.step, { node: id }), " ", h("span.fv-muted", null, event.what)),
  );
  return section(
    term(details.app, "lineage", "History"),
    rows.length ? h("ol.fv-list", null, rows) : h("p.fv-muted", null, "It was never in this method's graph."),
  );
}

/**
 * The folds that a node went into or came out of.
 * @param {Details} details
 * @param {string} method
 * @param {string} id
 */
export function nodeRewrites(details, method, id) {
  const found = details.app.model.steps
    .filter((/** @type {ViewStep} */ step) => step.method === method)
    .flatMap((/** @type {ViewStep} */ step) =>
      step.rewrites.map((/** @type {Rewrite} */ rewrite) => ({ step, rewrite })),
    )
    .filter(
      (/** @type {{ rewrite: Rewrite }} */ { rewrite }) =>
        rewrite.consumed.includes(id) || rewrite.produced.includes(id),
    );
  const rows = found.map((/** @type {{ step: ViewStep, rewrite: Rewrite }} */ { step, rewrite }) =>
    h(
      "li",
      null,
      rewrite.produced.includes(id) ? "made by " : "consumed by ",
      h("strong", null, rewrite.kind),
      " in ",
      details.stepLink(step.index, { tab: "rewrites" }),
    ),
  );
  return rows.length ? section("Rewrites", h("ul.fv-list", null, rows)) : null;
}
