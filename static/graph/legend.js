/* The graph view's legend: what the colours of changes and marks mean. */
(function (root) {
  "use strict";

  const { drawing, element } = root.FreezerGraph;

  class Legend {
    /** @param {Object} words what changes are called, by status: other words than `removed`, `added` and `changed` */
    constructor(parent, words = {}) {
      this.box = element("div", "fg-legend", parent);
      this.words = words;
      this.entries = [];
      this.title = "";
    }

    /** @param {{fill, label, sign}[]} entries of marks */
    set(entries, title) {
      this.entries = entries;
      this.title = title;
    }

    /** @param {boolean} compares whether two graphs are shown */
    draw(colours, compares) {
      this.box.replaceChildren();
      if (compares) {
        const row = element("p", "", this.box);
        for (const status of ["removed", "added", "changed"]) {
          const { fill, line } = colours[status];
          addEntry(row, this.words[status] ?? status, { sign: drawing.SIGNS[status], fill, line, ink: line });
        }
      }
      if (!this.entries.length) return;
      const row = element("p", "", this.box);
      if (this.title) element("span", "", row).textContent = this.title;
      for (const { fill, label, sign = "" } of this.entries) addEntry(row, label, { sign, fill, line: fill, ink: colours.box });
    }
  }

  function addEntry(row, label, { sign, fill, line, ink }) {
    const box = element("span", "", row);
    const swatch = element("i", "", box);
    swatch.textContent = sign;
    Object.assign(swatch.style, { background: fill, borderColor: line, color: ink });
    element("span", "", box).textContent = label;
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { Legend });
})(globalThis);
