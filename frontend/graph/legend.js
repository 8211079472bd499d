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
   * @param {boolean} compares whether two graphs are shown
   * @param {Theme} colours
   */
  draw(colours, compares) {
    this.box.replaceChildren();
    if (compares) {
      const row = element("p", "", this.box);
      for (const status of ["removed", "added", "changed"]) {
        const { fill, line } = colours[status];
        addEntry(row, this.words[status] ?? status, { sign: SIGNS[status], fill, line, ink: line });
      }
    }
    if (!this.entries.length) return;
    const row = element("p", "", this.box);
    if (this.title) element("span", "", row).textContent = this.title;
    for (const { fill, label, sign = "" } of this.entries) {
      addEntry(row, label, { sign, fill, line: fill, ink: colours.box });
    }
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
}
