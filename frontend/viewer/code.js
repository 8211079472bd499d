/* The code that torch prints for a pass, beside the user's source. */

import { diffLines, textLines } from "./diff.js";
import { fill, h, reveal, VirtualList } from "./dom.js";
import { coloured, diffRow } from "./ir.js";
import { stepLabel } from "./pair.js";
import { isInstalled } from "./source_places.js";

export class CodePanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.pair = /** @type {any} */ (undefined);
    this.compared = /** @type {any} */ (undefined);
    this.places = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "code";
    this.label = "Code";
    /** @type {any[]} */
    this.lines = [];
    this.code = new VirtualList({
      rowHeight: 20,
      row: (index) => this.line(index),
      props: { class: "fv-code", role: "region", "aria-label": "Code of the pass" },
    });
    this.title = h("h3.fv-pane-title");
    this.none = h("p.fv-empty");
    this.source = h("div.fv-code.fv-code-plain", { tabindex: "0", role: "region", "aria-label": "Source" });
    this.element = h(
      "div.fv-panel-body.fv-split",
      null,
      h("section", null, this.title, this.code.element, this.none),
      h("section", { hidden: !app.model.view.sources.length }, h("h3.fv-pane-title", null, "Source"), this.source),
    );
  }

  render() {
    const { pair } = this.app;
    if (this.pair !== pair) this.build(pair);
    this.pair = pair;
    if (pair) this.mark(pair);
  }

  destroy() {
    this.code.destroy();
  }

  /** @param {Pair | null} pair */
  build(pair) {
    const step = pair?.after;
    const code = (/** @type {ViewStep | null | undefined} */ one) =>
      one && one.code !== null ? textLines(this.app.model.view.codes[one.code]) : null;
    const base = pair?.chosen ? pair.before : null;
    const [before, after] = [code(base), code(step)];
    this.compared = before !== null && after !== null;
    this.lines = before && after ? diffLines(before, after, () => true) : (after ?? []);
    const untold = base && after && !before ? ` (torch gave none for ${stepLabel(base)})` : "";
    this.title.textContent =
      this.compared && base && step
        ? `Code of ${stepLabel(base)} and ${stepLabel(step)}`
        : `Code after this pass${untold}`;
    this.code.element.hidden = after === null;
    this.none.hidden = after !== null;
    if (after === null) fill(this.none, this.nothing(step));
    const longest = this.lines.reduce((most, row) => Math.max(most, (row.line ?? row).text.length), 0);
    this.code.body.style.minWidth = `${longest + 16}ch`;
    this.code.update(this.lines.length);
    this.places = step ? this.nodesByPlace(step) : new Map();
    fill(this.source, this.sourceBlocks(this.app.model.view.sources));
  }

  /**
   * Says that a pass has no code, and which step of its method has: Inductor generates it at the end.
   * @param {ViewStep | undefined} step
   */
  nothing(step) {
    const other = step && this.app.model.steps.findLast(({ method, code }) => method === step.method && code !== null);
    return [
      "torch gave no code for this pass",
      other ? [", but for ", this.app.details.stepLink(other.index, { tab: "code" })] : null,
      ".",
    ];
  }

  /** @param {number} index */
  line(index) {
    const row = this.lines[index];
    return this.compared
      ? diffRow(row, (/** @type {any} */ line) => line.text, 3)
      : plainLine(index + 1, coloured(row.text));
  }

  /** @param {ViewStep} step */
  nodesByPlace(step) {
    const places = new Map();
    for (const node of this.app.model.graph(step.index).nodes.values()) {
      if (!node.source) continue;
      const key = `${node.source.file}:${node.source.line}`;
      if (!places.has(key)) places.set(key, []);
      places.get(key).push(node);
    }
    return places;
  }

  /**
   * Each file once, the user's own before what is installed; what was saved with the model is a listing of its own.
   * @param {SourceText[]} sources
   */
  sourceBlocks(sources) {
    const files = new Map();
    for (const source of sources) files.set(source.file, [...(files.get(source.file) || []), source]);
    const names = [...files.keys()].sort(
      (one, other) =>
        Number(isSaved(one)) - Number(isSaved(other)) || Number(isInstalled(one)) - Number(isInstalled(other)),
    );
    return names.map((name) => [
      h(
        "h4.fv-file",
        null,
        name,
        isSaved(name) ? h("span.fv-muted", null, " · TorchScript that was saved with the model") : null,
      ),
      files
        .get(name)
        .map((/** @type {any} */ source, /** @type {number} */ index) => [
          index ? h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯") : null,
          this.sourceLines(source),
        ]),
    ]);
  }

  /** @param {any} source */
  sourceLines(source) {
    return source.lines.map((/** @type {string} */ text, /** @type {any} */ offset) => {
      const number = source.first_line + offset;
      const nodes = this.places.get(`${source.file}:${number}`) || [];
      const row = plainLine(number, coloured(text));
      row.dataset.place = `${source.file}:${number}`;
      if (nodes.length) this.makeClickable(row, nodes);
      return row;
    });
  }

  /**
   * @param {HTMLDivElement} row
   * @param {any} nodes
   */
  makeClickable(row, nodes) {
    const choose = () => this.app.navigate({ node: nodes[0].id, attribute: null });
    row.classList.add("fv-code-used");
    row.append(
      h(
        "button.fv-linklike.fv-used",
        { type: "button", title: nodes.map((/** @type {GraphNode} */ node) => node.op).join(", "), onclick: choose },
        nodes.length === 1 ? "1 node" : `${nodes.length} nodes`,
      ),
    );
  }

  /** @param {Pair} pair */
  mark(pair) {
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.source.querySelectorAll(".fv-chosen"))) {
      row.classList.remove("fv-chosen");
    }
    const { focused, model } = this.app;
    const graphs = pair.steps().map(({ index }) => model.graph(index));
    const nodes = [...focused].flatMap((id) => graphs.find((graph) => graph.nodes.has(id))?.nodes.get(id) ?? []);
    const places = nodes
      .flatMap((one) => model.places(pair.after.method, one))
      .map(({ source }) => `${source.file}:${source.line}`);
    const rows = [...this.source.querySelectorAll("[data-place]")];
    for (const place of places.reverse()) {
      const row = /** @type {HTMLElement[]} */ (rows).find((line) => line.dataset.place === place);
      if (!row) continue;
      row.classList.add("fv-chosen");
      reveal(this.source, row, { middle: true });
    }
  }
}

/**
 * Whether a file is one inside the model's file; so torch names them (torch.jit.save).
 * @param {string} name
 */
function isSaved(name) {
  return name.startsWith("code/__torch__");
}

/**
 * @param {number} number
 * @param {(string | HTMLSpanElement)[]} content
 */
function plainLine(number, content) {
  return h("div.fv-code-line", null, h("span.fv-code-number", null, number), h("span", null, content));
}
