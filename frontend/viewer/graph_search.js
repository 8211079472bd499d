/* The search field of the graph: plain text or a regular expression, how many nodes it finds, and the way through them. */

import { fill, h } from "./dom.js";

const TITLE =
  "Operators, names, modules, attributes and shapes such as f32[1, 64. With .* or as /…/ it is a regular expression, " +
  "also over the lines of your source; each name is a line, so /^aten::relu$/ finds that operator only.";

export class GraphSearch {
  /** @param {() => GraphView | undefined} view the graph view, once it is there */
  constructor(view) {
    this.view = view;
    /** @type {any[]} */
    this.matches = [];
    this.at = -1; // the match that was gone to
    this.problem = "";
    /** @type {ElementOf<"input">} */
    this.text = h("input.fv-input", {
      type: "search",
      placeholder: "Search nodes ( / )",
      "aria-label": "Search nodes",
      title: TITLE,
      spellcheck: "false",
      autocapitalize: "off",
      oninput: () => this.run(),
      onkeydown: (event) => this.key(event),
    });
    this.toggle = h(
      "button.fv-button.fv-pattern",
      {
        type: "button",
        title: "Regular expression: names, operators, shapes, source",
        "aria-label": "Regular expression",
        "aria-pressed": "false",
        onclick: () => this.switchPattern(),
      },
      ".*",
    );
    this.found = h("span.fv-found.fv-num", { role: "status" });
    this.ways = h("span.fv-search-ways", { hidden: true }, [
      this.way("‹", "Previous match (Shift+Enter)", -1),
      this.way("›", "Next match (Enter)", 1),
    ]);
    this.element = h("div.fv-search", { role: "search" }, this.text, this.toggle, this.found, this.ways);
  }

  /**
   * @param {string} sign
   * @param {string} title
   * @param {number} direction
   */
  way(sign, title, direction) {
    const onclick = () => this.go(direction);
    return h("button.fv-button", { type: "button", title, "aria-label": title, onclick }, sign);
  }

  get isPattern() {
    return this.toggle.getAttribute("aria-pressed") === "true";
  }

  switchPattern() {
    this.toggle.setAttribute("aria-pressed", String(!this.isPattern));
    this.run();
    this.text.focus();
  }

  focus() {
    this.text.focus();
    this.text.select();
  }

  /** Searches anew: the text or the graphs are others. */
  run() {
    this.at = -1;
    this.problem = "";
    this.matches = [];
    try {
      this.matches = this.view()?.search(this.text.value, { pattern: this.isPattern }) ?? [];
    } catch (/** @type {any} */ error) {
      this.problem = error.message; // a pattern that is still being typed
    }
    this.say();
  }

  /** @param {any} event */
  key(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.go(event.shiftKey ? -1 : 1);
  }

  /** @param {number} direction */
  go(direction) {
    const { length } = this.matches;
    const view = this.view();
    if (!length || !view) return;
    const first = direction > 0 ? view.firstMatch() : length - 1;
    this.at = this.at < 0 ? first : (this.at + direction + length) % length;
    view.focusMatch(this.at);
    this.say();
  }

  say() {
    const { length } = this.matches;
    this.ways.hidden = length === 0;
    this.found.classList.toggle("fv-bad", this.problem !== "");
    if (this.problem) this.text.setAttribute("aria-invalid", "true");
    else this.text.removeAttribute("aria-invalid");
    fill(this.found, this.problem ? `Bad pattern: ${this.problem}` : this.count(length));
  }

  /** @param {number} length */
  count(length) {
    if (!this.text.value.trim()) return "";
    return length ? `${this.at < 0 ? "" : `${this.at + 1} of `}${length}` : "nothing found";
  }
}
