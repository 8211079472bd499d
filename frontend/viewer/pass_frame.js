/* The common parts of all lists of passes: filters, groups by stage, and a drawer on narrow pages. */

import { h, reveal } from "./dom.js";

export class PassFrame {
  /**
   * @param {Viewer} app
   * @param {{label: string, quiet: string, heads?: Node}} words what the list is called, what its checkbox
   *   leaves out, and what is above the columns
   */
  constructor(app, { label, quiet, heads }) {
    // Other methods set these.
    this.drawn = false;
    this.app = app;
    this.options = new Map();
    /** @type {ElementOf<"input">} */
    this.filter = h("input.fv-input", {
      type: "search",
      placeholder: "Filter passes",
      "aria-label": "Filter passes by name",
      oninput: () => app.navigate({ passes: this.filter.value }),
    });
    /** @type {ElementOf<"input">} */
    this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
    this.count = h("span.fv-muted.fv-num");
    this.list = h("div.fv-passes-list", {
      role: "listbox",
      tabindex: "0",
      "aria-label": label,
      onclick: (event) => /** @type {any} */ (this).click(event),
    });
    this.element = h(
      "aside.fv-passes",
      { "aria-label": "Passes" },
      h("div.fv-passes-bar", null, this.filter),
      h("div.fv-passes-bar", null, h("label.fv-check", null, this.quiet, quiet), this.count),
      heads,
      this.list,
    );
    this.away = (/** @type {any} */ event) => event.composedPath().includes(this.element) || this.draw(false);
    app.stops.push(() => this.draw(false));
  }

  /**
   * Opens and closes the drawer that holds the list on narrow pages.
   * @param {boolean} open
   */
  draw(open) {
    this.drawn = open;
    this.element.classList.toggle("fv-drawn", open);
    document[open ? "addEventListener" : "removeEventListener"]("pointerdown", this.away);
    if (open) this.list.focus();
  }

  /** The button that opens the drawer. */
  drawerButton() {
    return h("button.fv-button.fv-drawer-button", { type: "button", onclick: () => this.draw(true) }, "Passes");
  }

  /**
   * Scrolls as little as shows an option below the title of its stage, which stays at the top.
   * @param {any} option
   */
  bringIntoView(option) {
    reveal(this.list, option, { below: option.parentElement.firstElementChild.offsetHeight });
  }

  /**
   * Options under a title for each run of one stage and method; `read` returns what an item is of.
   * @param {any[]} items
   * @param {any} read
   */
  grouped(items, read) {
    /** @type {any[]} */
    const found = [];
    for (const item of items) {
      const { stage, method } = read(item);
      const last = found.at(-1);
      if (last && last.stage === stage && last.method === method) last.items.push(item);
      else found.push({ stage, method, items: [item] });
    }
    return found.map((group) => this.group(group));
  }

  /** @param {{ stage: string, method: string, items: any[] }} options */
  group({ stage, method, items }) {
    const several = this.app.model.methods.length > 1;
    const name = several ? [h("strong", null, stage), ` ${method}`] : stage; // what is cut off is the same for many groups
    const title = h(
      "div.fv-passes-stage",
      { role: "presentation", title: this.app.model.view.stages[stage] },
      h("span.fv-clip", null, name),
      h("span.fv-num", null, items.length),
    );
    return h(
      "div",
      { role: "group", "aria-label": `${method}, ${stage}` },
      title,
      items.map((item) => /** @type {any} */ (this).option(item)),
    );
  }
}
