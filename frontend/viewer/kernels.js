/* The kernels of a program in call order, with the generated code beside them. */

import { count } from "../graph/data/words.js";
import { fill, h, listMove, selectsText, VirtualList } from "./dom.js";
import { coloured } from "./ir.js";
import { grid } from "./grid.js";
import { sideBySide } from "./side_by_side.js";
import { isInstalled, placeText } from "./source_places.js";

export class KernelsPanel {
  /**
   * Whether a trace has any program to show.
   * @param {TraceModel} model
   */
  static isFor(model) {
    return model.view.programs.length > 0;
  }

  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.chosen = /** @type {any} */ (undefined);
    this.place = /** @type {any} */ (undefined);
    this.program = /** @type {any} */ (undefined);
    this.lines = /** @type {any} */ (undefined);
    this.slowest = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "kernels";
    this.term = "kernel";
    this.label = "Kernels";
    this.programs = app.model.view.programs;
    /** @type {any[]} */
    this.rows = [];
    this.text = h("input.fv-input", {
      type: "search",
      placeholder: "Filter kernels ( / )",
      "aria-label": "Filter kernels",
      oninput: () => this.filter(),
    });
    this.shown = h("span.fv-muted.fv-num", { role: "status" });
    this.comparisons = app.model.view.comparisons;
    this.buttons = this.programs.map((program, index) =>
      h(
        "button.fv-button",
        { type: "button", onclick: () => app.navigate({ program: index, kernel: null, beside: false }) },
        this.title(program),
      ),
    );
    this.besideButton = h(
      "button.fv-button",
      { type: "button", onclick: () => app.navigate({ beside: true }) },
      "Side by side",
    );
    this.both = h("div.fv-beside.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Both programs" });
    this.list = new VirtualList({
      rowHeight: 46,
      row: (index) => this.row(index),
      props: {
        class: "fv-kernels",
        role: "listbox",
        "aria-label": "Kernels in call order",
        onkeydown: (event) => this.key(event),
      },
    });
    this.rest = h("div.fv-kernels-rest");
    this.code = new VirtualList({
      rowHeight: 20,
      row: (index) => this.line(index),
      props: { class: "fv-code", role: "region", "aria-label": "Generated code" },
    });
    this.none = h("p.fv-empty", null, "The generated code was not kept.");
    this.one = h(
      "div.fv-split.fv-kernels-split",
      null,
      h("section.fv-kernels-side", null, this.list.element, this.rest),
      h("section", null, h("h3.fv-pane-title", null, "Generated code"), this.code.element, this.none),
    );
    const segments = [...this.buttons, ...(this.comparisons.length ? [this.besideButton] : [])];
    this.element = h(
      "div.fv-panel-body",
      null,
      h(
        "div.fv-bar",
        { role: "toolbar", "aria-label": "Kernels" },
        segments.length > 1 ? h("div.fv-segments", { role: "group", "aria-label": "Program" }, segments) : null,
        this.text,
        this.shown,
      ),
      this.one,
      this.both,
    );
  }

  /** @param {Program} options */
  title({ name, method }) {
    return this.app.model.methods.length > 1 && this.programs.some((other) => other.method !== method)
      ? `${name}: ${method}`
      : name;
  }

  /** @param {State} state */
  render(state) {
    const beside = state.beside && this.comparisons.length > 0;
    this.buttons.forEach((button, index) =>
      button.setAttribute("aria-pressed", String(!beside && index === state.program)),
    );
    this.besideButton.setAttribute("aria-pressed", String(beside));
    for (const element of [this.one, this.text, this.shown]) element.hidden = beside;
    this.both.hidden = !beside;
    if (beside) return fill(this.both, this.compared(state));
    if (state.program !== this.place) this.build(state.program);
    const fresh = this.chosen !== state.kernel;
    this.chosen = state.kernel;
    this.list.refresh();
    this.code.refresh();
    if (fresh && this.chosen !== null) this.bringIntoView();
  }

  /**
   * The programs of the method that the chosen program is of.
   * @param {State} options
   */
  compared({ program }) {
    const own = this.comparisons.find(({ frozen, unfrozen }) => program === frozen || program === unfrozen);
    return sideBySide(this.app, own ?? this.comparisons[0]);
  }

  /** @param {number} place */
  build(place) {
    this.place = place;
    this.chosen = null;
    this.program = this.programs[place];
    const { code, kernels } = this.program;
    this.lines = code === null ? [] : code.split("\n");
    this.code.element.hidden = code === null;
    this.none.hidden = code !== null;
    this.code.body.style.minWidth = `${this.lines.reduce((/** @type {any} */ most, /** @type {string} */ line) => Math.max(most, line.length), 0) + 8}ch`;
    this.slowest = Math.max(0, ...kernels.map((/** @type {{ time_ns: any }} */ { time_ns }) => time_ns ?? 0));
    this.code.update(this.lines.length, 0);
    fill(this.rest, this.withoutKernel(), this.passes());
    this.filter();
  }

  filter() {
    const text = this.text.value.toLowerCase();
    const words = (/** @type {Kernel} */ { name, kind, ops, sources }) =>
      [name, kind, ...ops, ...sources.map((source) => placeText(source))].join(" ").toLowerCase();
    const { kernels, time } = this.program;
    this.rows = kernels.flatMap((/** @type {Kernel} */ kernel, /** @type {number} */ index) =>
      !text || words(kernel).includes(text) ? [index] : [],
    );
    const many = count(kernels.length, "kernel");
    this.shown.textContent = `${this.rows.length === kernels.length ? many : `${this.rows.length} of ${many}`}${time ? `, ${time} in all` : ""}`;
    this.list.update(this.rows.length);
  }

  focusSearch() {
    this.text.focus();
    this.text.select();
  }

  destroy() {
    this.list.destroy();
    this.code.destroy();
  }

  /** @param {any} kernel */
  choose(kernel) {
    this.app.navigate({ kernel: kernel === this.chosen ? null : kernel, node: null, attribute: null });
  }

  bringIntoView() {
    const row = this.rows.indexOf(this.chosen);
    if (row >= 0) this.list.reveal(row, { middle: true });
    const { call, definition } = this.program.kernels[this.chosen];
    const line = definition ? definition[0] : call;
    if (line !== null) this.code.reveal(line, { middle: definition === null });
    if (definition && line !== null) this.code.element.scrollTop = Math.max(0, line - 2) * this.code.rowHeight;
  }

  /** @param {any} place */
  row(place) {
    const index = this.rows[place];
    const kernel = this.program.kernels[index];
    const linked = kernel.nodes.some((/** @type {string} */ id) => this.app.focused.has(id));
    return h(
      "div.fv-kernel",
      {
        role: "option",
        id: this.optionId(index),
        "aria-selected": String(index === this.chosen),
        class: index === this.chosen ? "fv-chosen" : linked ? "fv-linked" : "",
        title: [kernel.name, kernel.ops.join(", "), kernel.time].filter(Boolean).join("\n"),
        onclick: (event) => selectsText(event.currentTarget) || this.choose(index),
      },
      h("span.fv-muted.fv-num.fv-kernel-place", null, index + 1),
      h("span.fv-mono.fv-clip", null, kernel.name),
      h(
        "span.fv-kernel-time.fv-num",
        null,
        kernel.time
          ? [
              h("span.fv-kernel-bar", {
                "aria-hidden": "true",
                style: { width: `${(100 * kernel.time_ns) / this.slowest}%` },
              }),
              kernel.short_time,
            ]
          : null,
      ),
      h("span.fv-badge.fv-kernel-kind", null, kernel.kind),
      h(
        "span.fv-muted.fv-small.fv-clip",
        null,
        [this.origin(kernel), kernel.computes || "no node of the graph"].filter(Boolean).join(" · "),
      ),
    );
  }

  /** @param {number} index */
  optionId(index) {
    return `${this.app.prefix}-kernel-${index}`;
  }

  /**
   * The user's own line, before any of an installed package.
   * @param {{ sources: any[] }} options
   */
  origin({ sources }) {
    const source = sources.find(({ file }) => !isInstalled(file)) ?? sources[0];
    return source ? placeText(source) : null;
  }

  /** @param {any} event */
  key(event) {
    const place = listMove(event, this.rows.indexOf(this.chosen), this.rows.length, 10);
    if (place === null) return;
    const next = this.rows[place];
    this.app.navigate({ kernel: next, node: null, attribute: null });
    this.list.element.setAttribute("aria-activedescendant", this.optionId(next));
  }

  /** @param {number} index */
  line(index) {
    const kernel = this.chosen === null ? null : this.program.kernels[this.chosen];
    const [first, last] = kernel?.definition ?? [-1, -1];
    const here = kernel !== null && (index === kernel.call || (index >= first && index <= last));
    return h(
      "div.fv-code-line",
      { class: here ? "fv-chosen" : "" },
      h("span.fv-code-number", null, index + 1),
      h("span", null, coloured(this.lines[index])),
    );
  }

  // --- what is below the list

  withoutKernel() {
    const { no_kernel: pairs, step } = this.program;
    if (!pairs.length) return null;
    const whys = new Map();
    for (const [id, why] of pairs) whys.set(why, [...(whys.get(why) ?? []), id]);
    const items = [...whys].map(([why, ids]) =>
      h(
        "li",
        null,
        h("div", null, why),
        h(
          "div.fv-small",
          null,
          ids.map((/** @type {string} */ id) => [
            this.app.link(`%${id}`, { step, node: id, attribute: null, tab: "graph" }),
            " ",
          ]),
        ),
      ),
    );
    return h(
      "details",
      null,
      h("summary", null, `${pairs.length} ${pairs.length === 1 ? "node needs" : "nodes need"} no kernel`),
      h("ul.fv-list", null, items),
    );
  }

  passes() {
    const { passes } = this.program;
    if (!passes.length) return null;
    const changed = passes.filter((/** @type {[any, any, any, any]} */ [, , , change]) => change);
    const rows = changed.map((/** @type {[string, any, any]} */ [stage, name, nodes]) =>
      h("tr", null, h("td", null, name), h("td.fv-muted", null, stage), h("td.fv-num", null, nodes)),
    );
    return h(
      "details",
      null,
      h("summary", null, `${passes.length} passes made it, ${changed.length} changed something`),
      grid("", ["Pass", "Stage", "Nodes after it"], rows),
    );
  }
}
