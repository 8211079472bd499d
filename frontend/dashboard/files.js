/* Files: those of the machine that runs freezer-ui, to choose from, and those of this browser, to send there. */

import { bytesText } from "../viewer/amounts.js";
import { fill, h } from "../viewer/dom.js";
import { dialog, sign, unique } from "./pieces.js";
import { ago, base, nameText } from "./words.js";
import { uploadLine } from "./upload.js";

const SHOWN = 400;
/** @type {Record<string, any>} */
const ICONS = { folder: "folder", trace: "trace", model: "model", other: "file" };

/** A folder of the server's, one row for each file; arrows move, Enter chooses. */
export class FolderList {
  /**
   * @param {any} app the dashboard
   * @param {any} options `kinds` that can be chosen besides folders; `onchoose(entry)`; `onfolder(path)`
   */
  constructor(app, { kinds, onchoose, onfolder = () => {} }) {
    // Other methods set these.
    this.turn = /** @type {any} */ (undefined);
    this.listing = /** @type {any} */ (undefined);
    this.app = app;
    this.kinds = kinds;
    this.onchoose = onchoose;
    this.onfolder = onfolder;
    this.filter = h("input.fv-input", {
      type: "search",
      placeholder: "Filter this folder",
      "aria-label": "Filter this folder",
      oninput: () => this.render(),
    });
    this.crumbs = h("nav.fd-crumbs", { "aria-label": "Folder" });
    this.list = h("ul.fd-files", { "aria-label": "Files", onkeydown: (event) => this.key(event) });
    this.status = h("div.fd-files-status", { role: "status" });
    this.element = h(
      "div.fd-folder",
      null,
      h("div.fd-folder-bar", null, this.crumbs, this.filter),
      this.status,
      this.list,
    );
  }

  /**
   * Lists a folder; resolves to whether that went well.
   * @param {string} path
   */
  async show(path) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const slow = setTimeout(() => fill(this.status, "Reading the folder …"), 200);
    try {
      const listing = await this.app.ask({ type: "list", path });
      if (turn !== this.turn) return false;
      this.listing = listing;
    } catch (/** @type {any} */ error) {
      if (turn === this.turn) fill(this.status, h("p.fd-error", null, error.message));
      return false;
    } finally {
      clearTimeout(slow);
    }
    this.filter.value = "";
    this.render();
    this.onfolder(this.listing.path);
    return true;
  }

  render() {
    const { path, parent, entries } = this.listing;
    const text = this.filter.value.trim().toLowerCase();
    const found = entries.filter((/** @type {any} */ entry) => entry.name.toLowerCase().includes(text));
    const shown = found.slice(0, SHOWN);
    fill(this.crumbs, this.crumbButtons(path));
    const up =
      parent !== null && !text
        ? this.item({ name: "..", path: parent, kind: "folder", size_bytes: null, modified: null })
        : null;
    fill(
      this.list,
      up,
      shown.map((/** @type {any} */ entry) => this.item(entry)),
    );
    const rest = found.length - shown.length;
    const words = !entries.length
      ? "This folder is empty."
      : !found.length
        ? "Nothing here has that in its name."
        : rest
          ? `${rest} more: filter to see them.`
          : "";
    fill(this.status, words);
  }

  /** @param {string} path */
  crumbButtons(path) {
    const parts = path.split("/").filter(Boolean);
    const steps = [
      ["/", "/"],
      ...parts.map((name, /** @type {number} */ index) => [name, `/${parts.slice(0, index + 1).join("/")}`]),
    ];
    return steps.map(([name, target], index) => [
      index > 1 ? h("span.fv-muted", { "aria-hidden": "true" }, "/") : null,
      h(
        "button.fv-linklike",
        {
          type: "button",
          "aria-current": index === steps.length - 1 ? "true" : null,
          "aria-label": name === "/" ? "root folder" : null,
          onclick: () => this.show(target),
        },
        nameText(name),
      ),
    ]);
  }

  /** @param {any} entry */
  item(entry) {
    const usable = entry.kind === "folder" || this.kinds.includes(entry.kind);
    const label = entry.name === ".." ? "The folder above" : null;
    const choose = () => (entry.kind === "folder" ? this.enter(entry.path) : this.onchoose(entry));
    const about = entry.size_bytes === null ? "" : bytesText(entry.size_bytes);
    return h(
      "li",
      null,
      h(
        "button.fd-file",
        {
          type: "button",
          disabled: !usable,
          "aria-label": label,
          onclick: choose,
          title: usable ? entry.path : `${entry.path}: not to be opened here`,
        },
        sign(ICONS[entry.kind]),
        h("span.fd-file-name", null, nameText(entry.name)),
        h("span.fv-muted.fv-small.fv-num", null, about),
        h("span.fv-muted.fv-small.fd-file-when", null, modified(entry)),
      ),
    );
  }

  /** @param {string} path */
  async enter(path) {
    if (await this.show(path)) /** @type {HTMLElement | null} */ (this.list.querySelector("button:enabled"))?.focus();
  }

  /** @param {any} event */
  key(event) {
    const move = /** @type {Record<string, any>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    const buttons = [...this.list.querySelectorAll("button:enabled")];
    if (move) {
      event.preventDefault();
      event.stopPropagation();
      const at = buttons.indexOf(event.target);
      /** @type {HTMLElement[]} */ (buttons)[Math.max(0, Math.min(buttons.length - 1, at + move))]?.focus();
    } else if (event.key === "Backspace" && this.listing.parent !== null) this.enter(this.listing.parent);
  }
}

/**
 * The time comes as seconds since 1970 or as a date's text.
 * @param {any} entry
 */
function modified(entry) {
  return ago(typeof entry.modified === "number" ? entry.modified * 1000 : entry.modified);
}

/**
 * Asks for a file of the server's machine, or sends one there.
 * @param {any} app the dashboard
 * @param {any} options `title`; `kinds` that can be chosen; `note`
 * @returns {Promise<string|null>} its path there, null where none was chosen
 */
export function chooseFile(app, { title, kinds, note = null }) {
  return new Promise((resolve) => {
    /** @type {any} */
    let chosen = null;
    const done = (/** @type {string} */ path) => {
      chosen = path;
      sheet.close();
    };
    const id = unique("path");
    const path = h("input.fv-input.fd-grow", {
      id,
      value: "",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "/path/to/model.pt",
    });
    const typed = (/** @type {any} */ event) => {
      event.preventDefault();
      if (path.value.trim()) done(path.value.trim());
    };
    const form = h(
      "form.fd-row",
      { onsubmit: typed },
      h("label", { for: id }, "Path"),
      path,
      h("button.fv-button", null, "Choose"),
    );
    const folder = new FolderList(app, {
      kinds,
      onchoose: (/** @type {any} */ entry) => done(entry.path),
      onfolder: (/** @type {any} */ where) => (app.lastFolder = where),
    });
    const sheet = dialog(
      app.layer,
      title,
      { wide: true, onclose: () => resolve(chosen) },
      note && h("p.fv-muted", null, note),
      form,
      folder.element,
      uploadLine(app, done),
    );
    folder
      .show(app.lastFolder ?? app.channel.site.home)
      .then(() => /** @type {HTMLElement | null} */ (folder.list.querySelector("button:enabled"))?.focus());
  });
}

/**
 * A file's kind by its name.
 * @param {string} path
 */
export function isTrace(path) {
  return base(path).endsWith(".fztrace");
}
