/* The page of a folder. */

import { h } from "../viewer/dom.js";
import { FolderList } from "./files.js";
import { base } from "./words.js";

/** The traces and models of a folder. */
export class FolderPage {
  /**
   * @param {Dashboard} app
   * @param {{ path: any }} options
   */
  constructor(app, { path }) {
    this.app = app;
    this.title = base(path) || path;
    this.heading = h("h1", { tabindex: "-1" }, "Open from a folder");
    const open = (/** @type {any} */ entry) => app.attempt(() => app.openPath(entry.path));
    this.folder = new FolderList(app, {
      kinds: ["trace", "model"],
      onchoose: open,
      onfolder: (/** @type {any} */ where) => this.moved(where),
    });
    this.element = h(
      "main.fd-page",
      null,
      h(
        "div.fd-narrow-content",
        null,
        this.heading,
        h("p.fv-muted", null, "Traces open; models go to the form that records them."),
        this.folder.element,
      ),
    );
    this.folder.show(path);
  }

  /**
   * Keeps the address at the folder that is shown.
   * @param {string} path
   */
  moved(path) {
    this.title = base(path) || path;
    this.app.lastFolder = path;
    this.app.rename({ page: "folder", path });
  }

  update() {}

  search() {
    this.folder.filter.focus();
  }
}
