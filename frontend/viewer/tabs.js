/* The tabs of the viewer and their panels. */

import { h, reveal } from "./dom.js";
import { explains } from "./terms.js";

export class Tabs {
  /**
   * @param {Viewer} app
   * @param {any[]} panels
   */
  constructor(app, panels) {
    this.app = app;
    this.panels = panels;
    this.buttons = new Map(panels.map((panel) => [panel.id, this.button(panel)]));
    this.element = h("div.fv-tabs", { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.key(event) }, [
      ...this.buttons.values(),
    ]);
    this.panes = panels.map((panel) => {
      panel.pane = h(
        "div.fv-pane",
        {
          role: "tabpanel",
          id: `${app.prefix}-pane-${panel.id}`,
          "aria-labelledby": `${app.prefix}-tab-${panel.id}`,
          hidden: true,
        },
        panel.element,
      );
      return panel.pane;
    });
  }

  /** @param {any} panel */
  button(panel) {
    const count = panel.count ? h("span.fv-tab-count.fv-num", null, panel.count) : null;
    return h(
      "button.fv-tab",
      {
        type: "button",
        role: "tab",
        id: `${this.app.prefix}-tab-${panel.id}`,
        "aria-controls": `${this.app.prefix}-pane-${panel.id}`,
        onclick: () => this.app.navigate({ tab: panel.id }, { jump: true }),
        ...explains(this.app, panel.term),
      },
      panel.label,
      count,
    );
  }

  /** @param {any} event */
  key(event) {
    const move = /** @type {Record<string, any>} */ ({ ArrowRight: 1, ArrowLeft: -1 })[event.key];
    if (!move) return;
    event.preventDefault();
    const at = this.panels.findIndex((panel) => panel.id === this.app.current.tab);
    const next = this.panels[(at + move + this.panels.length) % this.panels.length];
    this.app.navigate({ tab: next.id });
    this.buttons.get(next.id)?.focus();
  }

  /**
   * @param {any} state
   * @param {any} previous
   */
  render(state, previous) {
    for (const panel of this.panels) {
      const chosen = panel.id === state.tab;
      const button = /** @type {HTMLElement} */ (this.buttons.get(panel.id));
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      panel.pane.hidden = !chosen;
    }
    // Only now does the shown panel have all the room: it may ask how much that is.
    const shown = this.panels.find((panel) => panel.id === state.tab);
    shown.render(state, shown.last ?? null);
    shown.last = state;
    if (previous?.tab !== state.tab) reveal(this.element, /** @type {HTMLElement} */ (this.buttons.get(state.tab)));
  }
}
