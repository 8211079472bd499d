/* The actions of the page around the viewer: buttons where there is room, else a menu. */

import { h, icon } from "./dom.js";

/**
 * The actions of the page around the viewer: buttons where there is room, else a menu.
 * @param {Viewer} app
 */
export function actions(app) {
  const all = app.options.actions;
  if (!all.length) return null;
  const button = (
    /** @type {string} */ tag,
    /** @type {ViewerAction} */ action,
    /** @type {any} */ run,
    /** @type {any} */ props,
  ) =>
    h(
      tag,
      { type: "button", title: action.title, onclick: run, ...props },
      action.icon ? icon(action.icon) : null,
      action.label,
    );
  const menu = new Menu(
    all.map(
      (action) => (/** @type {() => void} */ close) =>
        button("button.fv-menu-item", action, () => (close(), app.act(action)), { role: "menuitem", tabindex: "-1" }),
    ),
  );
  app.stops.push(() => menu.destroy());
  return [
    h(
      "div.fv-actions-wide",
      null,
      all.map((action) => button("button.fv-button", action, () => app.act(action), {})),
    ),
    menu.element,
  ];
}

/** A button that opens a list of things to do; arrows move in it, Esc and a press anywhere else close it. */
class Menu {
  /** @param {any[]} items */
  constructor(items) {
    this.items = items.map((make) => make(() => this.close()));
    this.list = h(
      "div.fv-menu-list",
      { role: "menu", "aria-label": "Actions", hidden: true, onkeydown: (event) => this.key(event) },
      this.items,
    );
    this.button = h(
      "button.fv-icon",
      {
        type: "button",
        title: "Actions",
        "aria-label": "Actions",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        onclick: () => (this.list.hidden ? this.open() : this.close()),
      },
      icon("more"),
    );
    this.element = h("div.fv-menu", null, this.button, this.list);
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

  /** @param {any} event */
  key(event) {
    const at = this.items.indexOf(event.target.closest("[role=menuitem]"));
    const next = /** @type {Record<string, any>} */ ({
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: this.items.length - 1,
    })[event.key];
    if (event.key === "Escape") this.close();
    else if (event.key === "Tab") this.close(false);
    else if (next !== undefined) this.items.at(next % this.items.length).focus();
    if (event.key === "Tab" || (next === undefined && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
