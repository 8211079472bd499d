/* The before | after graphs of the chosen pass: frontend/graph/ draws them, here they follow the viewer's state. */

import { create } from "../graph/view.js";
import { COLOUR_CHOICES, colouringOf } from "./colouring.js";
import { fill, h } from "./dom.js";
import { GraphSearch } from "./graph_search.js";
import { Menu } from "./menu.js";
import { telling } from "./source_links.js";

const NARROW = 620; // px below which two graphs side by side are too small to read

export class GraphPanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.view = /** @type {any} */ (undefined);
    this.wanted = /** @type {State | null} */ (null);
    this.busy = false;
    this.app = app;
    this.id = "graph";
    this.label = "Graph";
    this.search = new GraphSearch(() => this.view);
    /** What the graph view shows. @type {Partial<State> & { theme?: string, pair?: Pair }} */
    this.shown = {};
    /** @type {Promise<void>} */
    this.turn = Promise.resolve();
    this.canvas = h("div.fv-graph");
    const sized = new ResizeObserver(() => this.fit());
    sized.observe(this.canvas);
    app.stops.push(() => sized.disconnect());
    /** @type {ElementOf<"input">} */
    this.fates = h("input", { type: "checkbox", onchange: () => app.navigate({ fates: this.fates.checked }) });
    /** @type {ElementOf<"select">} */
    this.panes = h(
      "select.fv-input",
      {
        "aria-label": "Which graphs",
        onchange: () => app.navigate({ panes: /** @type {State["panes"]} */ (this.panes.value) }),
      },
      [
        ["split", "Before | after"],
        ["before", "Before"],
        ["after", "After"],
      ].map(([value, text]) => h("option", { value, data: { text } }, text)),
    );
    /** @type {ElementOf<"select">} */
    this.colour = h(
      "select.fv-input",
      {
        "aria-label": "Colour by",
        onchange: () => app.navigate({ colour: /** @type {State["colour"]} */ (this.colour.value) }),
      },
      COLOUR_CHOICES.map(([value, text]) => h("option", { value }, text)),
    );
    this.element = h(
      "div.fv-panel-body",
      null,
      h(
        "div.fv-bar.fv-graph-bar",
        { role: "toolbar", "aria-label": "Graph" },
        this.search.element,
        this.button("←", "Previous node that changed", () => this.view.nextChange(-1)),
        this.button("→", "Next node that changed", () => this.view.nextChange(1)),
        this.panes,
        h("label.fv-check", { title: "What the colour of a box shows" }, "Colour by", this.colour),
        h(
          "label.fv-check",
          { title: "Mark what reads or holds attributes by their fate" },
          this.fates,
          h("span", null, h("span.fv-mark-word", null, "Mark "), "fates"),
        ),
        h("span.fv-spring"),
        this.saving(),
      ),
      this.canvas,
    );
  }

  /**
   * @param {string} text
   * @param {string} title
   * @param {() => unknown} run
   */
  button(text, title, run) {
    return h(
      "button.fv-button",
      { type: "button", title, "aria-label": title, onclick: () => this.view && run() },
      text,
    );
  }

  /** The pictures that can be saved. */
  saving() {
    const title = "Save the graph as a picture";
    const button = h("button.fv-button", { type: "button", title, "aria-label": title }, "Save…");
    const item = (/** @type {string} */ kind, /** @type {() => unknown} */ run) => ({
      content: `Save the picture as ${kind}`,
      run: () => this.view && run(),
    });
    const menu = new Menu(button, "Save", [
      item("SVG", () => this.save("svg", new Blob([this.view.toSVG()], { type: "image/svg+xml" }))),
      item("PNG", async () => this.save("png", await this.view.toPNG())),
    ]);
    this.app.stops.push(() => menu.destroy());
    return menu.element;
  }

  /** Both graphs come back as soon as there is room for them, and one goes where there is none. */
  fit() {
    const { current } = this.app;
    if (this.view && this.canvas.clientWidth && this.panesFor(current) !== this.panes.value) this.render(current);
  }

  /** Says in the list of panes that both graphs do not fit, where that is so. */
  sayRoom() {
    const both = this.panes.options[0];
    const isNarrow = this.canvas.clientWidth < NARROW;
    both.disabled = isNarrow;
    both.textContent = isNarrow ? `${both.dataset.text} (needs a wider window)` : (both.dataset.text ?? "");
  }

  /** Made when first shown: drawing needs a container that has a size. */
  open() {
    this.view = create(this.canvas, {
      theme: this.app.theme(),
      panes: this.panesFor(this.app.current),
      wheel: this.app.options.wheel,
      words: /** @type {any} */ (this).words,
      sourceLine: (/** @type {string} */ file, /** @type {number} */ line) =>
        this.app.model.sourceAround(file, line, 0)[0]?.text ?? "",
    });
    this.view.setData(this.app.graph);
    this.view.on("select", (/** @type {any} */ { id }) => this.chosen(id));
    this.view.on("ready", () => this.followConstants());
  }

  /**
   * A click in the graph; the view also reports what was selected from here.
   * @param {string | null} id
   */
  chosen(id) {
    if (this.busy || id === this.app.current.node) return;
    this.shown.node = id;
    this.app.navigate({ node: id, attribute: null });
  }

  /** The graph's own toolbar can show and hide constants. */
  followConstants() {
    const { constants } = this.view.state().options;
    if (this.busy || constants === this.app.current.constants) return;
    this.shown.constants = constants;
    this.app.navigate({ constants });
  }

  destroy() {
    this.view?.destroy();
  }

  /** @param {State} state */
  panesFor(state) {
    return state.panes === "split" && this.canvas.clientWidth < NARROW ? "after" : state.panes;
  }

  /** @param {State} state */
  render(state) {
    this.fates.checked = state.fates;
    this.panes.value = this.panesFor(state);
    this.colour.value = state.colour;
    this.sayRoom();
    const { pair } = this.app;
    if (!pair) {
      fill(this.canvas, h("p.fv-empty", null, "This trace holds no graph."));
      return;
    }
    if (!this.view) this.open();
    // Layout may run in a worker: changes follow one another, also after one that failed, and only the newest state counts.
    this.wanted = state;
    this.turn = this.turn
      .catch(() => undefined)
      .then(() => {
        if (state === this.wanted && !this.app.gone) return this.follow(state, pair);
        return undefined;
      });
  }

  /**
   * @param {State} state
   * @param {Pair} pair
   */
  async follow(state, pair) {
    const { shown, view } = this;
    const theme = this.app.theme();
    const panes = this.panesFor(state);
    const [node = null] = this.app.focused;
    this.busy = true;
    try {
      if (theme !== shown.theme) view.setTheme(theme);
      if (state.constants !== shown.constants || panes !== shown.panes) {
        await view.setOptions({ constants: state.constants, panes });
      }
      const moved = pair !== shown.pair;
      if (moved) await view.show({ before: pair.before?.index ?? null, after: pair.after.index });
      if (moved && !shown.pair && node === null) this.lookAtChange(pair);
      const { program, kernel } = state;
      if (
        moved ||
        theme !== shown.theme ||
        state.fates !== shown.fates ||
        program !== shown.program ||
        kernel !== shown.kernel ||
        state.line !== shown.line ||
        (state.line && node !== shown.node)
      ) {
        this.mark(pair, state);
      }
      if (moved || state.colour !== shown.colour) {
        view.setColouring(this.colouring(pair, state.colour));
      }
      if (node !== shown.node) await this.select(node);
      if (moved) this.search.run();
    } finally {
      this.busy = false;
    }
    this.shown = {
      theme,
      panes,
      pair,
      constants: state.constants,
      fates: state.fates,
      colour: state.colour,
      program: state.program,
      kernel: state.kernel,
      line: state.line,
      node,
    };
  }

  /**
   * A first look at a pass is at the node that the summary leads to, if not all of the graph is in sight.
   * @param {Pair} pair
   */
  lookAtChange(pair) {
    const passes = this.app.model.view.summary?.passes ?? [];
    const row = passes.find((one) => one.step === pair.after.index);
    if (row?.node && !pair.chosen) this.view.lookAt(row.node);
  }

  /**
   * @param {Pair} pair
   * @param {string} kind
   */
  colouring(pair, kind) {
    return colouringOf(this.app.model, pair, kind);
  }

  /** @param {string | null} id */
  async select(id) {
    try {
      await this.view.select(id, { center: id !== null });
    } catch (/** @type {any} */ error) {
      this.app.say(error.message); // a link may name a node that this trace does not have
    }
  }

  /**
   * @param {Pair} pair
   * @param {State} state
   */
  mark(pair, { fates: wanted, program, kernel, line, node, attribute }) {
    const styles = getComputedStyle(this.element);
    if (line && kernel === null && node === null && attribute === null) {
      return this.markLine(line, pair, styles.getPropertyValue("--accent").trim());
    }
    if (kernel !== null) {
      return this.markKernel(
        this.app.model.view.programs[program].kernels[kernel],
        pair,
        styles.getPropertyValue("--accent").trim(),
      );
    }
    /** @type {Record<string, Mark>} */
    const marks = {};
    const fates = new Map();
    const add = (/** @type {string} */ value, /** @type {{ fate: string }} */ { fate }) => {
      if (!fates.has(fate)) fates.set(fate, styles.getPropertyValue(`--${fate}`).trim());
      marks[value] = {
        fill: fates.get(fate),
        label: fate,
        sign: fate[0].toUpperCase(),
      };
    };
    for (const { index } of wanted ? pair.steps().reverse() : []) this.eachAttribute(index, add);
    this.view.setMarks(marks);
    this.view.setLegend(
      [...fates].sort().map(([label, fill]) => ({ fill, label, sign: label[0].toUpperCase() })),
      "attributes:",
    );
  }

  /**
   * While a kernel is chosen, its nodes are marked and no fates: two kinds of marks would be confused.
   * @param {Kernel} kernel
   * @param {Pair} pair
   * @param {string} fill
   */
  markKernel({ name }, pair, fill) {
    const mark = { fill, label: "kernel", sign: "K" };
    const nodes = this.app.model.kernelNodes(this.app.current, pair);
    this.view.setMarks(Object.fromEntries(nodes.map((id) => [id, mark])));
    this.view.setLegend([{ ...mark, label: name }], "kernel:");
  }

  /**
   * The same for the nodes of the chosen line of source.
   * @param {string} line
   * @param {Pair} pair
   * @param {string} fill
   */
  markLine(line, pair, fill) {
    const mark = { fill, label: `line ${line.slice(line.lastIndexOf(":") + 1)}`, sign: "L" };
    const { model } = this.app;
    const nodes = telling(model.lineNodes(line, pair), model.graph(pair.after.index).nodes);
    this.view.setMarks(Object.fromEntries(nodes.map((id) => [id, mark])));
    this.view.setLegend([mark], "source:");
  }

  /**
   * @param {number} at
   * @param {(value: string, row: AttributeRow) => void} add
   */
  eachAttribute(at, add) {
    const { model } = this.app;
    for (const [value, path] of model.reads(at)) {
      const row = model.attribute(path);
      if (row && row.kind !== "submodule") add(value, row);
    }
    const holding = [...model.held(model.step(at).method).keys(), ...model.named(at).keys()];
    for (const value of new Set(holding)) {
      const [row] = model.attributesOf(at, value);
      const id = model.holder(at, value);
      if (row && id !== undefined) add(id, row);
    }
  }

  focusSearch() {
    this.search.focus();
  }

  /**
   * @param {string} kind
   * @param {Blob} blob
   */
  save(kind, blob) {
    const link = h("a", {
      href: URL.createObjectURL(blob),
      download: `${this.app.model.view.name || "graph"}-step-${this.app.current.step}.${kind}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}
