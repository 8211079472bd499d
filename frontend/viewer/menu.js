/* A button that opens a list of things to do. */

import { h } from "./dom.js";

/**
 * An item of a menu: what it shows, and what a press does after the menu has closed.
 * @typedef {{ content: Child, title?: string, run: () => unknown }} MenuItem
 */

/** Arrows move in the list; Esc, Tab and a press anywhere else close it. */
export class Menu {
  /**
   * @param {HTMLButtonElement} button opens and closes the list
   * @param {string} name of the list
   * @param {MenuItem[]} items
   */
  constructor(button, name, items) {
    this.button = button;
    this.items = items.map(({ content, title, run }) =>
      h(
        "button.fv-menu-item",
        { type: "button", title, role: "menuitem", tabindex: "-1", onclick: () => (this.close(), run()) },
        content,
      ),
    );
    this.list = h(
      "div.fv-menu-list",
      { role: "menu", "aria-label": name, hidden: true, onkeydown: (event) => this.key(event) },
      this.items,
    );
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => (this.list.hidden ? this.open() : this.close()));
    this.element = h("div.fv-menu", null, button, this.list);
    this.outside = (/** @type {PointerEvent} */ event) =>
      event.composedPath().includes(this.element) || this.close(false);
  }

  open() {
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", this.outside);
    this.items[0].focus();
  }

  close(focus = true) {
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", this.outside);
    if (focus) this.button.focus();
  }

  destroy() {
    document.removeEventListener("pointerdown", this.outside);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.items.findIndex((item) => event.composedPath().includes(item));
    const places = new Map([
      ["ArrowDown", at + 1],
      ["ArrowUp", at - 1],
      ["Home", 0],
      ["End", this.items.length - 1],
    ]);
    const next = places.get(event.key);
    if (event.key === "Escape") this.close();
    else if (event.key === "Tab") this.close(false);
    else if (next !== undefined) this.items.at(next % this.items.length)?.focus();
    if (event.key === "Tab" || (next === undefined && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
