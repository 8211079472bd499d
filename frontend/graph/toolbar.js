/* The graph view's toolbar. */

import { element } from "./element.js";

const SVG = "http://www.w3.org/2000/svg";

/** @type {Record<string, string>} */
const ICONS = {
  out: "M4 8h8",
  in: "M4 8h8M8 4v8",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  changes: "M8 2.5v6M5 5.5h6M5 12.5h6",
  expand: "M8 7V2M5.5 4.5L8 2l2.5 2.5M8 9v5M5.5 11.5L8 14l2.5-2.5",
  collapse: "M8 2v5M5.5 4.5L8 7l2.5-2.5M8 14V9M5.5 11.5L8 9l2.5 2.5",
  constants: "M3 5.5h4v5H3zM9.5 8h4M7 8h2.5M11.5 6v4",
};

export class Toolbar {
  /** @param {GraphView} view */
  constructor(view) {
    /** @type {HTMLElement} */
    this.bar = element("div", "fg-bar", view.root);
    this.bar.hidden = !view.options.toolbar;
    this.bar.style.display = view.options.toolbar ? "" : "none";
    this._button("out", "Zoom out (-)", () => view.zoomBy(1 / 1.4));
    this._button("in", "Zoom in (+)", () => view.zoomBy(1.4));
    this._button("fit", "Whole graph (0)", () => view.fit());
    this._button("changes", "Show what changed", () => view.revealChanges());
    this._button("expand", "Open all modules", () => view.groups.expandAll());
    this._button("collapse", "Close all modules", () => view.groups.collapseAll());
    this.constants = this._button("constants", "Show constants as boxes", () =>
      view.setOptions({ constants: !view.options.constants }),
    );
    this.showConstants(view.options.constants);
  }

  /**
   * @param {string} icon
   * @param {string} title
   * @param {() => unknown} act
   */
  _button(icon, title, act) {
    /** @type {HTMLButtonElement} */
    const button = element("button", "", this.bar);
    button.type = "button";
    button.title = title;
    button.setAttribute("aria-label", title);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", ICONS[icon]);
    svg.append(path);
    button.append(svg);
    button.addEventListener("click", act);
    return button;
  }

  /** @param {boolean} shown */
  showConstants(shown) {
    this.constants.setAttribute("aria-pressed", String(shown));
  }
}
