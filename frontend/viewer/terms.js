/* Terms that explain themselves: a label with a term shows its meaning while the pointer or the focus is on it. */

import { h } from "./dom.js";

/**
 * Attributes that make an element explain a term; give a label that cannot have the focus also a `tabindex`.
 * @param {Viewer} app
 * @param {string | undefined} name a term of the glossary; any other explains nothing
 * @returns {Record<string, any>}
 */
export function explains(app, name) {
  return name !== undefined && app.terms.has(name) ? { data: { term: name }, "aria-describedby": idOf(app, name) } : {};
}

/**
 * A word in a text that explains itself, reachable by keyboard.
 * @param {Viewer} app
 * @param {string} name a term of the glossary
 * @param {Child} [text] how it is written, as in the glossary by default
 */
export function term(app, name, text = name) {
  return app.terms.has(name)
    ? h("span.fv-term", { tabindex: "0", ...explains(app, name) }, text)
    : h("span", null, text);
}

/**
 * @param {Viewer} app
 * @param {string} name
 */
function idOf(app, name) {
  return `${app.prefix}-term-${name.replaceAll(" ", "-")}`;
}

/** The meanings for screen readers, and the tip that shows one of them. */
export class Terms {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.meanings = new Map(app.model.view.glossary);
    this.tip = h("div.fv-tip", { role: "tooltip", "aria-hidden": "true", hidden: true });
    this.element = h(
      "div",
      null,
      [...this.meanings].map(([name, text]) => h("span", { id: idOf(app, name), hidden: true }, text)),
      this.tip,
    );
    const follow = (/** @type {any} */ event) => {
      const label = event.target.closest?.("[data-term]");
      if (event.type === "pointerover" || label?.matches(":focus-visible")) this.show(label);
    };
    const leave = (/** @type {any} */ event) => event.target.closest?.("[data-term]") && this.hide();
    const escape = (/** @type {any} */ event) => event.key === "Escape" && !this.tip.hidden && this.stop(event);
    for (const name of ["pointerover", "focusin"]) app.root.addEventListener(name, follow);
    for (const name of ["pointerout", "focusout", "pointerdown"]) app.root.addEventListener(name, leave);
    app.root.addEventListener("keydown", escape, true);
    const resized = () => this.hide(); // its label is elsewhere then
    addEventListener("resize", resized);
    app.stops.push(() => {
      for (const name of ["pointerover", "focusin"]) app.root.removeEventListener(name, follow);
      for (const name of ["pointerout", "focusout", "pointerdown"]) app.root.removeEventListener(name, leave);
      app.root.removeEventListener("keydown", escape, true);
      removeEventListener("resize", resized);
    });
  }

  /** @param {string} name */
  has(name) {
    return this.meanings.has(name);
  }

  /** @param {HTMLElement | null | undefined} label */
  show(label) {
    const text = label && this.meanings.get(label.dataset.term ?? "");
    if (!text) return;
    this.tip.textContent = text;
    this.tip.hidden = false;
    const [outer, inner] = [this.app.root.getBoundingClientRect(), label.getBoundingClientRect()];
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const below = inner.bottom - outer.top + 6;
    const fits = below + height < outer.height;
    this.tip.style.left = `${Math.max(6, Math.min(inner.left - outer.left, outer.width - width - 6))}px`;
    this.tip.style.top = `${fits ? below : Math.max(6, inner.top - outer.top - height - 6)}px`;
  }

  hide() {
    this.tip.hidden = true;
  }

  /** @param {KeyboardEvent} event the first Esc closes the tip only */
  stop(event) {
    this.hide();
    event.stopPropagation();
  }
}
