/* The graph view's legend: what the colours of changes and marks mean. */

import { SIGNS } from "./drawing/theme.js";
import { element } from "./element.js";

export class Legend {
  /**
   * @param {any} words what changes are called, by status: other words than `removed`, `added` and `changed`
   * @param {HTMLElement} parent
   */
  constructor(parent, words = {}) {
    this.box = element("div", "fg-legend", parent);
    this.words = words;
    /** @type {Mark[]} */
    this.entries = [];
    this.title = "";
  }

  /**
   * @param {Mark[]} entries of marks
   * @param {string} title
   */
  set(entries, title) {
    this.entries = entries;
    this.title = title;
  }

  /**
   * @param {Theme} colours
   * @param {boolean} compares whether two graphs are shown
   * @param {Colours | null} values what the boxes are coloured by, instead of changes
   */
  draw(colours, compares, values) {
    this.box.replaceChildren();
    if (compares) {
      const row = element("p", "", this.box);
      for (const status of ["removed", "added", "changed"]) {
        const { fill, line } = colours[status];
        addEntry(row, this.words[status] ?? status, { sign: SIGNS[status], fill, line, ink: line });
      }
    }
    if (values) this.drawValues(values, colours);
    if (!this.entries.length) return;
    const row = element("p", "", this.box);
    if (this.title) element("span", "", row).textContent = this.title;
    for (const { fill, label, sign = "" } of this.entries) {
      addEntry(row, label, { sign, fill, line: fill, ink: colours.box });
    }
  }

  /**
   * @param {Colours} values
   * @param {Theme} theme
   */
  drawValues(values, theme) {
    const { absent, label, missing } = values.colouring;
    const row = element("p", "", this.box);
    element("span", "fg-legend-title", row).textContent = `${label}:`;
    const entries = values.entries(theme);
    entries.forEach(({ tone, label: text }, at) => {
      const entry = addEntry(row, text, { sign: "", fill: tone.fill, line: theme.line, ink: tone.text });
      entry.title = text;
      // Where there is little room, the tones in between are only shown.
      if (values.colouring.rule !== "same" && at > 0 && at < entries.length - 1) {
        entry.classList.add("fg-legend-between");
      }
    });
    if (!values.isPartial) return;
    const unknown = { sign: "", fill: theme.unknown.fill, line: theme.soft, ink: theme.soft };
    addEntry(row, absent, unknown).classList.add("fg-legend-missing");
    if (missing) element("p", "fg-legend-note", this.box).textContent = missing;
  }
}

/**
 * @param {HTMLElement} row
 * @param {string} label
 * @param {{ sign: string, fill: string, line: string, ink: string }} options
 */
function addEntry(row, label, { sign, fill, line, ink }) {
  const box = element("span", "", row);
  const swatch = element("i", "", box);
  swatch.textContent = sign;
  Object.assign(swatch.style, { background: fill, borderColor: line, color: ink });
  element("span", "", box).textContent = label;
  return box;
}
