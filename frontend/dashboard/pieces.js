/* Small pieces of the dashboard's pages: signs, buttons, fields, dialogs, lists that keep their rows. */

import { h, svg } from "../viewer/dom.js";
import { isUnmeasured, stateName, STATES } from "./words.js";

/** @type {Record<string, any>} */
const SIGNS = {
  mark: "M8 1.5v13M2.4 4.8l11.2 6.4M2.4 11.2l11.2-6.4M6.2 2.6 8 4.2l1.8-1.6M6.2 13.4 8 11.8l1.8 1.6",
  record: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3Z",
  folder: "M1.5 4h4.6l1.5 1.8h6.9V13h-13Z",
  file: "M4 1.8h5.2L12 4.6v9.6H4ZM9 1.8v3h3",
  trace: "M2.5 3.5h5M2.5 8h8M2.5 12.5h11",
  model: "M8 1.7 13.5 4.8v6.4L8 14.3l-5.5-3.1V4.8ZM2.5 4.8 8 8l5.5-3.2M8 8v6.3",
  up: "M8 13V3.5M4 7.2l4-4 4 4",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  theme: "M8 2a6 6 0 1 0 0 12ZM8 2a6 6 0 0 1 0 12",
  keys: "M1.5 4.5h13v7h-13ZM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.3h6",
  compare: "M5.5 3v10M10.5 3v10M2 5.5h3.5M2 10.5h3.5M10.5 5.5H14M10.5 10.5H14",
  arrow: "M3 8h9.5M9 4.5 12.5 8 9 11.5",
  warn: "M8 2.2 14.5 13.5h-13ZM8 6.6v3M8 11.6h.01",
};

let count = 0;

/**
 * An id that no other element of the page has.
 * @param {string} name
 */
export function unique(name) {
  return `fd-${name}-${(count += 1)}`;
}

/**
 * A small drawn sign that no font can lack.
 * @param {any} name
 */
export function sign(name) {
  const path = svg("path", { d: SIGNS[name] });
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: `fd-sign fd-sign-${name}` },
    path,
  );
}

/**
 * @param {Child} text
 * @param {((...given: any[]) => unknown) | null} onclick
 * @param {Props} [options] `kind`, `icon` and attributes
 */
export function button(text, onclick, { kind = "", icon = null, ...props } = {}) {
  return h(
    "button.fv-button.fd-button",
    { type: "button", class: kind && `fd-${kind}`, onclick, ...props },
    icon && sign(icon),
    text,
  );
}

/**
 * @param {string} name
 * @param {string} label
 * @param {(...given: any[]) => unknown} onclick
 */
export function iconButton(name, label, onclick, props = {}) {
  return h("button.fv-icon", { type: "button", title: label, "aria-label": label, onclick, ...props }, sign(name));
}

/** @param {JobMessage} job */
export function badge(job) {
  const tone = isUnmeasured(job) ? "warn" : /** @type {Record<string, any>} */ (STATES)[job.state].tone;
  return h("span.fv-badge.fd-badge", { class: `fd-tone-${tone}` }, h("span.fv-dot"), stateName(job));
}

/**
 * A bar that fills; without a total it says that work goes on.
 * @param {string} label
 */
export function progress(label) {
  const bar = h("div.fd-progress-bar");
  const element = h(
    "div.fd-progress",
    { role: "progressbar", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100 },
    bar,
  );
  const update = (/** @type {number} */ done, /** @type {number} */ total) => {
    const percent = total ? Math.min(100, Math.floor((100 * done) / total)) : null;
    element.classList.toggle("fd-unsure", percent === null);
    bar.style.width = `${percent ?? 0}%`;
    if (percent === null) element.removeAttribute("aria-valuenow");
    else element.setAttribute("aria-valuenow", String(percent));
  };
  update(0, 0);
  return { element, update };
}

/**
 * A control with its label, a word of explanation and a place for what is wrong with it.
 * @param {any} text
 * @template {HTMLElement} Control
 * @param {Control} control
 * @param {{ note?: Child, wrap?: HTMLElement }} [options]
 * @returns {{element: HTMLElement, control: Control, error: (text: string | null) => void}}
 */
export function field(text, control, { note = null, wrap = control } = {}) {
  control.id ||= unique("field");
  const wrong = h("p.fd-error", { id: unique("error"), hidden: true });
  const hint = note && h("p.fd-note", { id: unique("note") }, note);
  control.setAttribute("aria-describedby", [/** @type {any} */ (hint)?.id, wrong.id].filter(Boolean).join(" "));
  const error = (/** @type {any} */ message) => {
    wrong.hidden = !message;
    wrong.textContent = message ?? "";
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  return {
    element: h("div.fd-field", null, h("label.fd-label", { for: control.id }, text), wrap, hint, wrong),
    control,
    error,
  };
}

/**
 * @param {string} text
 * @param {boolean} checked
 * @param {(...given: any[]) => unknown} onchange
 * @param {Child} [note]
 */
export function checkbox(text, checked, onchange, note = null) {
  const input = h("input", { type: "checkbox", checked, onchange });
  return {
    input,
    element: h("label.fv-check.fd-check", null, input, h("span", null, text, note && h("span.fd-note", null, note))),
  };
}

/**
 * The placeholder of an empty list.
 * @param {string} title
 * @param {any} text
 * @param {...any} actions
 */
export function empty(title, text, ...actions) {
  return h(
    "div.fd-empty",
    null,
    h("p", null, h("strong", null, title)),
    text && h("p.fv-muted", null, text),
    actions.length ? h("p.fd-row", null, actions) : null,
  );
}

/**
 * Opens a dialog that leaves the page when it closes.
 * @param {HTMLElement} root where it belongs
 * @param {string} title also its label
 * @param {{ wide?: boolean, onclose?: () => unknown }} [options]
 * @param {...Child} children
 */
export function dialog(root, title, { wide = false, onclose = () => {} } = {}, ...children) {
  const close = iconButton("close", "Close", () => element.close(), { class: "fd-dialog-close" });
  /** @type {ElementOf<"dialog">} */
  const element = h(
    "dialog.fv-sheet.fd-dialog",
    {
      "aria-label": title,
      class: wide ? "fd-wide" : "",
      onclick: (event) => event.target === element && element.close(),
    },
    h("h2", null, title),
    close,
    children,
  );
  element.addEventListener("close", () => {
    element.remove();
    onclose();
  });
  root.append(element);
  element.showModal();
  return element;
}

/** Rows that stay the same elements while their data change, so that focus and hover survive. */
export class KeyedList {
  /**
   * @param {(item: any) => {element: HTMLElement, update: (item: any) => void}} make makes one row
   * @param {HTMLElement} element
   * @param {(item: any) => string} key
   */
  constructor(element, key, make) {
    this.element = element;
    this.key = key;
    this.make = make;
    this.rows = new Map();
  }

  /** @param {any} items */
  update(items) {
    const kept = new Map();
    for (const item of items) {
      const key = this.key(item);
      const row = this.rows.get(key) ?? this.make(item);
      row.update(item);
      kept.set(key, row);
    }
    for (const [key, row] of this.rows) if (!kept.has(key)) row.element.remove();
    this.rows = kept;
    let place = this.element.firstElementChild;
    for (const { element } of kept.values()) {
      if (element === place) place = element.nextElementSibling;
      else this.element.insertBefore(element, place);
    }
  }
}
