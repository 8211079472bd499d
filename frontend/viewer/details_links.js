/* The links of the side panel: to nodes, values, attributes, steps and lines of source. */

import { h } from "./dom.js";
import { stepLabel } from "./pair.js";
import { section } from "./section.js";
import { isInstalled } from "./source_places.js";

const SOURCE_REACH = 4; // lines before and after a place

export class DetailsLinks {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
  }

  /**
   * @param {string} text
   * @param {any} patch
   * @param {any} [label]
   */
  link(text, patch, label) {
    return this.app.link(text, patch, label);
  }

  /** @param {string} id */
  nodeLink(id, step = this.app.current.step) {
    return this.link(`%${id}`, { node: id, attribute: null, ...this.visibleIn(step) });
  }

  // A node that only the graph before the pass has is found there: the step stays.
  /** @param {null | number} step */
  visibleIn(step) {
    const { pair } = this.app;
    return pair && (step === pair.after.index || step === pair.before?.index) ? {} : { step };
  }

  /**
   * @param {number} at
   * @param {string} name
   */
  valueLink(at, name) {
    const { model } = this.app;
    const maker = model.graph(at).makers.get(name);
    if (maker === undefined) return this.inputLink(at, `%${name}`);
    const { op } = /** @type {GraphNode} */ (model.graph(at).nodes.get(maker));
    const [path] = op === "get_attr" ? (model.named(at).get(name) ?? []) : [];
    return [
      this.link(`%${name}`, { node: maker, attribute: null, ...this.visibleIn(at) }),
      h("span.fv-muted.fv-wrap", null, ` ${path ?? op}`),
    ];
  }

  /**
   * To an input of the whole graph; those of a block have no name that they can be found by.
   * @param {number} at
   * @param {string} id
   */
  inputLink(at, id) {
    const isOutermost = this.app.model.graphs.keyOfId.has(id);
    const name = isOutermost
      ? this.link(id, { node: id, attribute: null, ...this.visibleIn(at) })
      : h("code", null, id);
    const [path] = isOutermost ? (this.app.model.named(at).get(id.slice(1)) ?? []) : [];
    return [name, h("span.fv-muted.fv-wrap", null, isOutermost ? ` ${path ?? "input"}` : " input of a block")];
  }

  /** @param {string} path */
  attributeLink(path) {
    return this.link(path, { attribute: path, node: null, tab: "attributes" });
  }

  /** @param {number} index */
  stepLink(index, patch = {}) {
    const step = this.app.model.step(index);
    return this.link(step ? `${stepLabel(step)} ${step.name}` : `${index} unknown step`, { step: index, ...patch });
  }

  /** @param {{ method: string; step: number; value: string; node: string | undefined; }} location */
  locationLink(location) {
    const text = `%${location.value}`;
    if (location.step === null || location.node === null) return h("code", null, text);
    return this.link(text, { step: location.step, node: location.node, attribute: null, tab: "graph" });
  }

  /**
   * The user's own line first; what torch says of its own files after it.
   * @param {string} method
   * @param {GraphNode} node
   */
  source(method, node) {
    const places = this.app.model.places(method, node);
    const blocks = places.map(({ source, called }) => [
      called === null ? null : h("p.fv-small.fv-muted", null, "where ", h("code", null, called), " is called"),
      this.sourceLines(source),
    ]);
    if (places.length === 1 && isInstalled(places[0].source.file)) {
      /** @type {any[]} */ (blocks).push(h("p.fv-muted.fv-small", null, "torch recorded no place in a file of yours."));
    }
    return places.length ? section("Source", blocks) : null;
  }

  /** @param {SourceRef} place */
  sourceLines(place) {
    const { model } = this.app;
    const lines = model.sourceAround(place.file, place.line, SOURCE_REACH);
    const where = h(
      "div.fv-small.fv-wrap",
      { title: place.file },
      this.link(`${shortPath(place.file)}:${place.line}`, { tab: "code" }),
    );
    if (!lines.length) return [where, h("p.fv-muted.fv-small", null, "The trace holds no text of this file.")];
    const rows = lines.map(({ number, text }) =>
      h(
        "div.fv-source-line",
        { class: number === place.line ? "fv-source-here" : "" },
        h("span.fv-source-number", null, number),
        h("span", null, text),
      ),
    );
    return [
      where,
      h("div.fv-source", { tabindex: "0", role: "region", "aria-label": `Source around line ${place.line}` }, rows),
    ];
  }
}

/**
 * A long path by its last three parts, which mostly identify the file.
 * @param {string} file
 */
function shortPath(file) {
  const parts = file.split(/[\\/]/);
  return parts.length > 4 ? `…/${parts.slice(-3).join("/")}` : file;
}
