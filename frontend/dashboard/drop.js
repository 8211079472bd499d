/* Files dropped on the dashboard: a hint while one is dragged over it, then the upload. */

import { h } from "../viewer/dom.js";
import { uploadInto } from "./upload.js";
import { dialog, sign } from "./pieces.js";
import { nameText } from "./words.js";

export class Drop {
  /** @param {Dashboard} app */
  constructor(app) {
    this.app = app;
    const note = h("span.fv-muted", null, "It is copied to the machine that runs freezer-ui.");
    this.element = h(
      "div.fd-drop",
      { hidden: true },
      h("p", null, sign("up"), h("strong", null, "Drop a model or a trace"), note),
    );
  }

  /** @param {(name: string, run: (event: any) => void) => void} watch adds a listener for one event to the dashboard */
  listen(watch) {
    for (const event of ["dragenter", "dragover"]) watch(event, (dragged) => this.dragged(dragged));
    watch("dragleave", (event) => event.relatedTarget === null && (this.element.hidden = true));
    watch("drop", (event) => this.dropped(event));
  }

  /** @param {any} event */
  dragged(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.element.hidden = false;
  }

  /** @param {any} event */
  dropped(event) {
    this.element.hidden = true;
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    const place = h("div.fd-upload");
    const sheet = dialog(this.app.layer, `Upload ${nameText(file.name)}`, {}, place);
    uploadInto(this.app, place, file, (path) => {
      sheet.close();
      this.app.attempt(() => this.app.openPath(path));
    });
  }
}
