/* The details of a kernel in the side panel. */

import { h } from "./dom.js";
import { detailsTitle, section } from "./section.js";
import { isInstalled } from "./source_places.js";

/**
 * The details of a kernel.
 * @param {Viewer} app
 * @param {Program} program
 * @param {number} index
 */
export function kernelDetails(app, program, index) {
  const { details, model } = app;
  const kernel = program.kernels[index];
  const at = program.step;
  const link = (/** @type {string} */ id, /** @type {number} */ step) => {
    const op = model.graph(step).nodes.get(id)?.op;
    return h(
      "li",
      null,
      op === undefined
        ? h("code", null, `%${id}`)
        : [app.link(`%${id}`, { step, node: id, attribute: null, tab: "graph" }), h("span.fv-muted", null, ` ${op}`)],
    );
  };
  const chain = model.chains(program.method).find(([step]) => step.side === program.side);
  const first = at === null ? null : (chain?.[0].index ?? null);
  return [
    detailsTitle(kernel.name, h("span.fv-badge", null, kernel.kind)),
    h("p.fv-muted", null, `call ${index + 1} of ${program.kernels.length}, ${program.name}`),
    kernel.time ? section("Time in one run", h("p.fv-num", null, kernel.time)) : null,
    kernel.nodes.length && at !== null
      ? section(
          "Computes",
          h("p", null, app.link("Show in the graph", { step: at, tab: "graph", panes: "after" })),
          h(
            "ul.fv-list",
            null,
            kernel.nodes.map((id) => link(id, at)),
          ),
        )
      : null,
    kernel.origins.length && first !== null
      ? section(
          "Comes from, in the graph as it came",
          h(
            "ul.fv-list",
            null,
            kernel.origins.map((id) => link(id, first)),
          ),
        )
      : null,
    kernel.sources.length
      ? section(
          "Source",
          ordered(kernel.sources).map((source) => details.sourceLines(source)),
        )
      : null,
  ];
}

/** @param {SourceRef[]} sources */
function ordered(sources) {
  return [...sources].sort((one, other) => Number(isInstalled(one.file)) - Number(isInstalled(other.file)));
}
