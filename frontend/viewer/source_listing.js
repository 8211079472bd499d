/* The listing of source files: each line with small marks of what became of it. */

import { count } from "../graph/data/words.js";
import { fill, h, listMove, reveal, selectsText } from "./dom.js";
import { coloured } from "./ir.js";
import { firstFile, isGone, lineKey, listing } from "./source_links.js";
import { errorMark, passMark, timeMark, words } from "./source_marks.js";

const PAGE = 15; // lines

export class SourceListing {
  /**
   * @param {Viewer} app
   * @param {{ files: FileRow[] }} links
   * @param {{ hover: (key: string | null) => void, pin: (key: string) => void }} acts
   */
  constructor(app, links, acts) {
    this.app = app;
    this.links = links;
    this.acts = acts;
    /** @type {Map<string, HTMLElement>} lines that are in the page */
    this.rows = new Map();
    this.made = 0; // lines; their ids differ
    this.painted = { linked: /** @type {Set<string>} */ (new Set()), chosen: /** @type {string | null} */ (null) };
    /** @type {Map<string, () => void>} by file: opens what hides it */
    this.openers = new Map();
    this.isTimed = links.files.some(({ lines }) => lines.some((row) => row.times.length));
    this.element = h("div.fv-lines", {
      onpointerover: (event) => acts.hover(keyAt(event)),
      onpointerleave: () => acts.hover(null),
      class: this.isTimed ? "" : "fv-lines-untimed",
    });
  }

  /** Makes the lines when they are first shown. */
  open() {
    if (!this.element.childElementCount) fill(this.element, this.files());
  }

  files() {
    const [shown, folded] = [[], []].map((list) => /** @type {FileRow[]} */ (list));
    const first = firstFile(this.links.files);
    for (const file of this.links.files) {
      const list = file === first || file.kind === "own" ? shown : folded;
      list.push(file);
    }
    const saved = folded.filter(({ kind }) => kind === "saved");
    const libraries = folded.filter(({ kind }) => kind === "library");
    const hasText = shown.some(({ missing }) => !missing);
    return [
      shown.map((file) => this.file(file)),
      this.group("Saved TorchScript", saved, !hasText),
      this.group("Libraries", libraries, false),
    ];
  }

  /**
   * Files behind one heading, made when it is opened.
   * @param {string} title
   * @param {FileRow[]} files
   * @param {boolean} isOpen
   */
  group(title, files, isOpen) {
    if (!files.length) return null;
    const body = h("div");
    const details = h(
      "details.fv-lines-group",
      { open: isOpen },
      h("summary", null, title, h("span.fv-muted", null, ` ${count(files.length, "file")}`)),
      body,
    );
    const open = () => {
      if (!body.childElementCount) {
        fill(
          body,
          files.map((file, index) => this.folded(file, isOpen && index === 0)),
        );
      }
    };
    details.addEventListener("toggle", open);
    if (isOpen) open();
    const show = () => {
      details.open = true;
      open();
    };
    for (const { file } of files) this.openers.set(file, show);
    return details;
  }

  /**
   * @param {FileRow} row
   * @param {boolean} isOpen
   */
  folded(row, isOpen) {
    const body = h("div");
    const details = h("details.fv-lines-folded", { open: isOpen }, h("summary", null, this.name(row)), body);
    const open = () => {
      if (body.childElementCount) return;
      fill(body, this.lines(row));
      this.paint(this.painted.linked, this.painted.chosen);
    };
    details.addEventListener("toggle", open);
    if (isOpen) open();
    const before = this.openers.get(row.file);
    this.openers.set(row.file, () => {
      before?.();
      details.open = true;
      open();
    });
    return details;
  }

  /** @param {FileRow} row */
  file(row) {
    return h(
      "section",
      null,
      h("h3.fv-lines-file", { title: row.file }, this.name(row)),
      row.missing ? h("p.fv-lines-missing", null, row.missing) : null,
      this.lines(row),
    );
  }

  /** @param {FileRow} row */
  name({ file, lines }) {
    const parts = file.split(/[\\/]/);
    const folder = parts.slice(-3, -1).join("/");
    return [
      h("strong", null, parts.at(-1)),
      h("span.fv-muted", null, folder ? ` in ${folder}` : "", `, ${count(lines.length, "line")} in the graph`),
    ];
  }

  /**
   * @param {FileRow} row
   * @returns {HTMLElement}
   */
  lines({ file, lines }) {
    const runs = this.app.model.view.sources.filter((/** @type {SourceText} */ source) => source.file === file);
    const rows = new Map(lines.map((row) => [row.line, row]));
    const list = this.list(file);
    const width = String(Math.max(0, ...listing(runs, lines).map((entry) => entry?.line ?? 0))).length;
    list.style.setProperty("--digits", `${Math.max(3, width)}ch`);
    for (const entry of listing(runs, lines)) {
      list.append(
        entry
          ? this.line(lineKey(file, entry.line), entry, rows.get(entry.line))
          : h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯"),
      );
    }
    return list;
  }

  /**
   * The list of a file's lines, still empty.
   * @param {string} file
   */
  list(file) {
    /** @type {HTMLElement} */
    const list = h("div.fv-code.fv-lines-list", {
      role: "listbox",
      tabindex: "0",
      "aria-label": `Lines of ${file.split(/[\\/]/).pop()}`,
      onkeydown: (event) => {
        this.key(event, list);
      },
      onclick: (event) => {
        const key = keyAt(event);
        if (key !== null && !selectsText(list)) this.acts.pin(key);
      },
      onblur: () => this.acts.hover(null),
    });
    return list;
  }

  /**
   * @param {string} key
   * @param {{ line: number, text: string | null }} entry
   * @param {LineRow | undefined} row
   */
  line(key, { line, text }, row) {
    const code = text === null ? h("span.fv-muted", null, "(the trace has no text of this line)") : codeOf(text);
    const element = h(
      "div.fv-line",
      {
        role: "option",
        id: `${this.app.prefix}-line-${this.made}`,
        "aria-selected": "false",
        "aria-disabled": row ? null : "true",
        "aria-label": row
          ? `Line ${line}: ${(text ?? "").trim()}. ${words(row).join(". ")}`
          : `Line ${line}: ${(text ?? "").trim()}`,
        title: row ? words(row).join("\n") : null,
        class: row ? (isGone(row) ? "fv-line-known fv-line-gone" : "fv-line-known") : "",
      },
      h("span.fv-line-number", null, line),
      this.isTimed ? timeMark(row) : null,
      passMark(row),
      errorMark(row),
      h("span.fv-line-code", { style: { "--indent": `${indentOf(text ?? "")}ch` } }, code),
    );
    this.made += 1;
    if (row) {
      element.dataset.line = key;
      this.rows.set(key, element);
    }
    return element;
  }

  /**
   * Arrow keys go through the lines that nodes come from; Enter keeps one.
   * @param {KeyboardEvent} event
   * @param {HTMLElement} list
   */
  key(event, list) {
    const known = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[data-line]")]);
    const active = list.getAttribute("aria-activedescendant");
    const at = known.findIndex(({ id, classList }) => (active ? id === active : classList.contains("fv-chosen")));
    if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      event.stopPropagation();
      return this.acts.pin(/** @type {string} */ (known[at].dataset.line));
    }
    const next = listMove(event, at, known.length, PAGE);
    if (next === null) return undefined;
    list.setAttribute("aria-activedescendant", known[next].id);
    this.acts.hover(known[next].dataset.line ?? null);
    reveal(this.element, known[next], { below: 28 });
    return undefined;
  }

  /**
   * Marks lines as linked to what is looked at, and as kept.
   * @param {Set<string>} linked
   * @param {string | null} chosen
   */
  paint(linked, chosen) {
    this.painted = { linked, chosen };
    for (const [key, row] of this.rows) {
      row.classList.toggle("fv-linked", linked.has(key));
      row.classList.toggle("fv-chosen", key === chosen);
      row.setAttribute("aria-selected", String(key === chosen));
    }
  }

  /**
   * Brings the first of some lines to light, the innermost of the user's own first.
   * @param {string[]} keys
   */
  reveal(keys) {
    const [first] = keys;
    if (first === undefined) return;
    const file = first.slice(0, first.lastIndexOf(":"));
    if (!this.rows.has(first)) {
      this.openers.get(file)?.(); // its group
      this.openers.get(file)?.(); // its own listing, which the group has made
    }
    const row = this.rows.get(first);
    if (row) reveal(this.element, row, { below: 28 });
  }
}

/** @param {HeardEvent<'pointerover'> | HeardEvent<'click'>} event */
function keyAt(event) {
  return event.target.closest?.("[data-line]")?.dataset.line ?? null;
}

/**
 * A line of code, its indent apart from its text.
 * @param {string} text
 */
export function codeOf(text) {
  const indent = indentOf(text);
  return [text.slice(0, indent), h("span.fv-line-text", null, coloured(text.slice(indent)))];
}

/** @param {string} text */
export function indentOf(text) {
  return text.length - text.trimStart().length;
}
