/* The dashboard's keys: which of them it hears, what each does, and the sheet that names them. */

import { h } from "../viewer/dom.js";
import { dialog } from "./pieces.js";
import { isLive } from "./words.js";

const KEYS = [
  ["n", "record a model"],
  ["o", "open a file"],
  ["↑ ↓", "from one example, trace or recording to the next"],
  ["↵", "open it"],
  ["/", "filter"],
  ["x", "on a recording's page: cancel it"],
  ["Space", "in the attribute tree: preserve or not; → and ← open and close"],
  ["Esc", "close a dialog; else back to the first page"],
  ["?", "this sheet; a trace has one of its own"],
];

export class Keyboard {
  /** @param {Dashboard} app */
  constructor(app) {
    this.app = app;
    this.acts = {
      n: () => app.go({ page: "record", model: "" }),
      o: () => app.openFile(),
      x: () => app.page?.job && isLive(app.page.job) && app.cancel(app.page.job.id),
      "/": () => app.page?.search?.(),
      "?": () => this.show(),
    };
  }

  show() {
    const names = (/** @type {string} */ key) => key.split(" ").map((name) => [h("kbd", null, name), " "]);
    dialog(
      this.app.layer,
      "Keys",
      {},
      h(
        "dl.fv-pairs",
        null,
        KEYS.map(([key, text]) => [h("dt", null, names(key)), h("dd", null, text)]),
      ),
    );
  }

  /** @param {any} event */
  hear(event) {
    const { app } = this;
    if (app.page?.bare || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const path = event.composedPath();
    const within = (/** @type {string} */ selector) =>
      path.some((/** @type {HTMLElement} */ element) => element.matches?.(selector));
    if (within("dialog") || app.layer.querySelector("dialog[open]")) return;
    const typing = within("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape") return typing ? path[0].blur() : app.place.shown !== "?" && app.go({ page: "home" });
    const act = typing ? undefined : /** @type {Record<string, any>} */ (this.acts)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
