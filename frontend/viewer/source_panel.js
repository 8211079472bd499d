/* Source, graph and kernels side by side: what is looked at in one shows in the others. */

import { fill, h, listMove, selectsText, VirtualList } from "./dom.js";
import { lineFacts, openingFacts } from "./source_facts.js";
import { SourceGraph } from "./source_graph.js";
import { telling } from "./source_links.js";
import { SourceListing } from "./source_listing.js";
import { kernelsOf } from "./node_kernels.js";

const FOREMOST = 5;

/**
 * The object in focus: a line by its key, a node by its id, a kernel of the chosen program by its place.
 * @typedef {{ kind: "line" | "node" | "kernel", id: any }} Look
 */

export class SourcePanel {
  /**
   * Whether a trace knows of any line.
   * @param {TraceModel} model
   */
  static isFor(model) {
    return Boolean(model.view.by_line?.files.length);
  }

  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.id = "source";
    this.label = "Source";
    this.links = app.model.links;
    /** @type {Look | null} */
    this.hovered = null;
    /** @type {Set<number>} */
    this.shownKernels = new Set();
    this.kept = ""; // what was kept when the page last followed
    this.listing = new SourceListing(app, this.links, {
      hover: (key) => this.hover(key === null ? null : { kind: "line", id: key }),
      pin: (key) => this.pin({ line: key === app.current.line ? "" : key }),
    });
    this.graph = new SourceGraph(app, {
      hover: (id) => this.hover(id === null ? null : { kind: "node", id }),
      choose: (id) => id === app.current.node || this.pin({ node: id }),
    });
    this.facts = h("div.fv-line-facts", { "aria-live": "polite" });
    /** @type {ElementOf<"select">} */
    this.program = h(
      "select.fv-input",
      { "aria-label": "Program", onchange: () => app.navigate({ program: Number(this.program.value), kernel: null }) },
      app.model.view.programs.map((program, /** @type {number} */ index) =>
        h(
          "option",
          { value: index },
          app.model.methods.length > 1 ? `${program.name}: ${program.method}` : program.name,
        ),
      ),
    );
    this.kernels = new VirtualList({
      rowHeight: 26,
      row: (index) => this.kernelRow(index),
      props: {
        class: "fv-kernels fv-line-kernels",
        role: "listbox",
        "aria-label": "Kernels",
        onpointerover: (event) => this.hoverKernel(event),
        onpointerleave: () => this.hover(null),
        onkeydown: (event) => this.kernelKey(event),
      },
    });
    const { programs } = app.model.view;
    this.element = h(
      "div.fv-panel-body.fv-trio",
      { class: programs.length ? "" : "fv-trio-no-kernels" },
      h("section.fv-trio-source", { "aria-label": "Source" }, this.legend(), this.listing.element),
      h("section.fv-trio-graph", { "aria-label": "Graph after the chosen pass" }, this.graph.element),
      h(
        "section.fv-trio-facts",
        { "aria-label": "Line and kernels" },
        this.facts,
        programs.length
          ? h(
              "div.fv-trio-kernels",
              null,
              h("div.fv-bar", null, h("h3", null, "Kernels"), this.program),
              this.kernels.element,
            )
          : null,
      ),
    );
  }

  legend() {
    const { isTimed } = this.listing;
    return h(
      "div.fv-bar.fv-lines-legend.fv-muted.fv-small",
      null,
      isTimed
        ? h(
            "span",
            { title: "Share of the time of all kernels; the solid part is in kernels of this line only" },
            h("span.fv-line-bar", { "aria-hidden": "true" }, h("span.fv-line-bar-all"), h("span.fv-line-bar-alone")),
            " time",
          )
        : null,
      h("span", { title: "How many passes touched the line" }, h("span.fv-line-passes.fv-num", null, "3"), " passes"),
      h(
        "span",
        { title: "A pass that touched the line made the numeric error grow" },
        h("span.fv-line-error", null, "≈"),
        " error grew",
      ),
      h(
        "span",
        { title: "Nothing of the line is left in the last graph" },
        h("span.fv-line-gone-sign", null, "gone"),
        " nothing left",
      ),
    );
  }

  destroy() {
    this.graph.destroy();
    this.kernels.destroy();
  }

  // --- what is looked at

  /** @param {Look | null} look */
  hover(look) {
    if (look?.kind === this.hovered?.kind && look?.id === this.hovered?.id) return;
    this.hovered = look;
    this.paint();
  }

  /** @param {HeardEvent<'pointerover'>} event */
  hoverKernel(event) {
    const row = event.target.closest("[data-kernel]");
    this.hover(row ? { kind: "kernel", id: Number(row.dataset.kernel) } : null);
  }

  /**
   * Keeps one of the three, and lets go of the others.
   * @param {any} patch
   */
  pin(patch) {
    this.app.navigate({ line: "", node: null, attribute: null, kernel: null, ...patch });
  }

  /**
   * The object that a click kept.
   * @returns {Look | null}
   */
  keptLook() {
    const { node, kernel, line } = this.app.current;
    if (node !== null) return { kind: "node", id: node };
    if (kernel !== null) return { kind: "kernel", id: kernel };
    return line ? { kind: "line", id: line } : null;
  }

  /**
   * The lines, nodes and kernels that belong to the object in focus.
   * @param {Look | null} look
   * @returns {{ lines: string[], nodes: string[], kernels: number[] }}
   */
  linked(look) {
    const { model, pair, current } = this.app;
    if (!look || !pair) return { lines: [], nodes: [], kernels: [] };
    const { index: step, method } = pair.after;
    if (look.kind === "line") {
      const nodes = model.lineNodes(look.id, pair);
      return { lines: [look.id], nodes, kernels: this.links.kernelsOfLine(current.program, look.id) };
    }
    if (look.kind === "kernel") {
      const nodes = model.kernelNodes({ program: current.program, kernel: look.id }, pair);
      return { lines: this.links.linesOfKernel(current.program, look.id), nodes, kernels: [look.id] };
    }
    const kernels = kernelsOf(model.view.programs, method, look.id).flatMap(({ program, kernel }) =>
      program === current.program ? [kernel] : [],
    );
    return { lines: this.links.linesOfNode(method, look.id, step), nodes: [look.id], kernels };
  }

  // --- the page

  /** @param {State} state */
  render(state) {
    this.listing.open();
    const kept = this.keptLook();
    const { nodes, lines, kernels } = this.linked(kept);
    const step = this.app.pair?.after.index ?? null;
    const graph = step === null ? null : this.app.model.graph(step).nodes;
    const [foremost = null] = graph ? telling(nodes, graph) : [];
    this.graph.follow({ step, node: kept?.kind === "node" ? kept.id : foremost, constants: state.constants });
    this.program.value = String(state.program);
    this.kernels.update(this.app.model.view.programs[state.program]?.kernels.length ?? 0);
    this.paint();
    const key = JSON.stringify([kept, state.program]);
    if (key === this.kept) return;
    this.kept = key;
    if (kept?.kind !== "line" || !this.listing.rows.has(kept.id)) this.listing.reveal(byNearness(this.links, lines));
    else this.listing.reveal([kept.id]);
    if (kernels.length) this.kernels.reveal(kernels[0], { middle: true });
    this.paint();
  }

  paint() {
    const kept = this.keptLook();
    const look = this.hovered ?? kept;
    const { lines, nodes, kernels } = this.linked(look);
    this.shownKernels = new Set(kernels);
    this.listing.paint(new Set(lines), kept?.kind === "line" ? kept.id : null);
    const graph = this.app.pair ? this.app.model.graph(this.app.pair.after.index).nodes : new Map();
    this.graph.mark(
      look?.kind === "node" ? [] : telling(nodes, graph),
      this.labelOf(look),
      look?.kind === "kernel" ? "K" : "L",
    );
    this.kernels.refresh();
    const key = look?.kind === "line" ? look.id : byNearness(this.links, lines)[0];
    const row = key === undefined ? undefined : this.links.rows.get(key);
    fill(
      this.facts,
      row
        ? lineFacts(this.app, key, row)
        : openingFacts(this.app, this.links.foremost(FOREMOST), (line) => this.pin({ line })),
    );
  }

  /** @param {Look | null} look */
  labelOf(look) {
    if (look?.kind === "line") return `line ${look.id.slice(look.id.lastIndexOf(":") + 1)}`;
    return look?.kind === "kernel" ? "kernel" : "";
  }

  /** @param {number} index */
  kernelRow(index) {
    const { program, kernel: chosen } = this.app.current;
    const { kernels } = this.app.model.view.programs[program];
    const kernel = kernels[index];
    const slowest = Math.max(1, ...kernels.map((/** @type {Kernel} */ each) => each.time_ns ?? 0));
    return h(
      "div.fv-line-kernel",
      {
        role: "option",
        id: `${this.app.prefix}-side-kernel-${index}`,
        "aria-selected": String(index === chosen),
        data: { kernel: index },
        class: index === chosen ? "fv-chosen" : this.shownKernels.has(index) ? "fv-linked" : "",
        title: [kernel.name, kernel.computes, kernel.time].filter(Boolean).join("\n"),
        onclick: (event) => selectsText(event.currentTarget) || this.pin({ kernel: index === chosen ? null : index }),
      },
      h("span.fv-muted.fv-num", null, index + 1),
      h("span.fv-mono.fv-clip", null, kernel.name.replace(/^torch\.ops\.|\.default$/g, "")),
      h("span.fv-num", null, kernel.short_time ?? ""),
      kernel.time_ns
        ? h("span.fv-kernel-bar", { "aria-hidden": "true", style: { width: `${(100 * kernel.time_ns) / slowest}%` } })
        : null,
    );
  }

  /** @param {KeyboardEvent} event */
  kernelKey(event) {
    const { program, kernel } = this.app.current;
    const { kernels } = this.app.model.view.programs[program];
    const next = listMove(event, kernel ?? -1, kernels.length, 10);
    if (next === null) return;
    this.pin({ kernel: next });
    this.kernels.element.setAttribute("aria-activedescendant", `${this.app.prefix}-side-kernel-${next}`);
  }
}

/**
 * Lines with those of the user's files first, of these the one that fewest nodes come from: the innermost call.
 * @param {import("./source_links.js").SourceLinks} links
 * @param {string[]} lines
 */
function byNearness(links, lines) {
  const kinds = new Map(
    links.files.map(({ file, kind, missing }) => [file, missing ? 1 : kind === "own" ? 0 : kind === "saved" ? 2 : 3]),
  );
  const rank = (/** @type {string} */ key) => kinds.get(key.slice(0, key.lastIndexOf(":"))) ?? 9;
  const breadth = (/** @type {string} */ key) => links.rows.get(key)?.operators ?? 0;
  return [...lines].sort((one, other) => rank(one) - rank(other) || breadth(one) - breadth(other));
}
