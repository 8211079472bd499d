/* The page of a sweep: the same as in a file, with links that open its traces here. */

import { fill, h } from "../viewer/dom.js";
import { SweepView } from "../sweep/view.js";
import { base } from "./words.js";

const AGAIN_MS = 2000;

export class SweepPage {
  /**
   * @param {Dashboard} app
   * @param {{ path: any, before: any }} route
   */
  constructor(app, { path, before }) {
    this.app = app;
    this.path = path;
    this.before = before;
    this.title = base(path) || path;
    /** @type {SweepView | null} */
    this.view = null;
    this.timer = /** @type {any} */ (0);
    this.text = ""; // the data that is shown
    this.gone = false;
    this.heading = h("h1", { tabindex: "-1" }, this.title);
    this.content = h("div.fs", null, this.heading, h("p.fv-muted", { role: "status" }, "Reading the sweep …"));
    this.element = h("main.fd-page", null, this.content);
    this.load();
  }

  /** Reads the sweep; one that runs is read every two seconds, also after the server did not answer. */
  async load() {
    let data;
    try {
      data = await this.app.fetchJson([
        "sweep/data",
        { path: this.path, ...(this.before ? { since: this.before } : {}) },
      ]);
    } catch (/** @type {any} */ error) {
      if (this.gone) return;
      if (this.view) this.again();
      else fill(this.content, this.heading, h("p.fd-error", { role: "alert" }, error.message));
      return;
    }
    if (this.gone) return;
    const text = JSON.stringify(data);
    if (!this.view) this.show(data);
    else if (text !== this.text) this.view.update(data);
    this.text = text;
    if (data.running) this.again();
  }

  again() {
    this.timer = setTimeout(() => this.load(), AGAIN_MS);
  }

  /** @param {any} data */
  show(data) {
    /** @type {(row: any) => Route} */
    const route = (row) => ({ page: "trace", path: row.trace });
    const link = (/** @type {any} */ row) => this.app.link(row.model, route(row));
    this.view = new SweepView(this.content, data, {
      link,
      open: (/** @type {any} */ row) => row.trace && this.app.go(route(row)),
    });
    this.heading = this.view.heading;
    this.title = data.name;
    this.app.retitle();
  }

  update() {}

  search() {
    /** @type {HTMLElement | null} */ (this.content.querySelector(".fs-search"))?.focus();
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.timer);
    this.view?.destroy();
  }
}
