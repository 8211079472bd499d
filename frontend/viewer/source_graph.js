/* The graph beside the source: that of the chosen pass, with the nodes marked that belong to what is looked at. */

import { create } from "../graph/view.js";
import { h } from "./dom.js";

export class SourceGraph {
  /**
   * @param {Viewer} app
   * @param {{ hover: (id: string | null) => void, choose: (id: string | null) => void }} acts
   */
  constructor(app, acts) {
    // Other methods set these.
    this.view = /** @type {any} */ (undefined);
    this.wanted = /** @type {any} */ (undefined);
    this.busy = false;
    this.app = app;
    this.acts = acts;
    /** @type {Record<string, any>} */
    this.shown = {};
    this.turn = Promise.resolve();
    this.element = h("div.fv-graph");
  }

  /** Made when first shown: drawing needs a container that has a size. */
  open() {
    this.view = create(this.element, { theme: this.app.theme(), panes: "after", wheel: this.app.options.wheel });
    this.view.setData(this.app.graph);
    this.view.on("hover", (/** @type {any} */ on) => this.acts.hover(on?.kind === "node" ? on.id : null));
    this.view.on("select", (/** @type {any} */ { id }) => this.busy || this.acts.choose(id));
  }

  destroy() {
    this.view?.destroy();
  }

  /**
   * Shows a step's graph; `node` is chosen in it and brought into the middle.
   * @param {{ step: number | null, node: string | null, constants: boolean }} wanted
   */
  follow(wanted) {
    if (wanted.step === null) return;
    if (!this.view) this.open();
    // Layout may run in a worker: changes follow one another, also after one that failed, and only the newest counts.
    this.wanted = wanted;
    this.turn = this.turn
      .catch(() => undefined)
      .then(() => (wanted === this.wanted && !this.app.gone ? this.show(wanted) : undefined));
  }

  /** @param {{ step: number | null, node: string | null, constants: boolean }} wanted */
  async show({ step, node, constants }) {
    const { shown, view } = this;
    const theme = this.app.theme();
    this.busy = true;
    try {
      if (theme !== shown.theme) view.setTheme(theme);
      if (constants !== shown.constants) await view.setOptions({ constants });
      if (step !== shown.step) await view.show({ before: null, after: step });
      if (node !== shown.node || (node !== null && step !== shown.step)) await this.select(node);
    } finally {
      this.busy = false;
    }
    this.shown = { theme, constants, step, node };
  }

  /** @param {string | null} node */
  async select(node) {
    try {
      await this.view.select(node, { center: node !== null });
    } catch (/** @type {any} */ error) {
      this.app.say(error.message); // a link may name a node that this trace does not have
    }
  }

  /**
   * @param {string[]} nodes
   * @param {string} label
   * @param {string} sign one letter
   */
  mark(nodes, label, sign) {
    if (!this.view) return;
    const fill = getComputedStyle(this.element).getPropertyValue("--accent").trim();
    const mark = { fill, label, sign };
    this.view.setMarks(Object.fromEntries(nodes.map((id) => [id, mark])));
    this.view.setLegend(nodes.length ? [mark] : []);
  }
}
