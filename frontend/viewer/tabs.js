/* The tabs of the viewer and their panels. */

import { h, reveal } from "./dom.js";
import { explains } from "./terms.js";

export class Tabs {
  /**
   * @param {Viewer} app
   * @param {Panel[]} panels
   */
  constructor(app, panels) {
    this.app = app;
    this.panels = panels;
    this.buttons = new Map(panels.map((panel) => [panel.id, this.button(panel)]));
    this.list = h("div.fv-tabs", { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.key(event) }, [
      ...this.buttons.values(),
    ]);
    this.element = h("div.fv-tabs-frame", null, this.list);
    this.list.addEventListener("scroll", () => this.fade(), { passive: true });
    const sized = new ResizeObserver(() => this.resized());
    sized.observe(this.list);
    app.stops.push(() => sized.disconnect());
    /** @type {Map<string, HTMLElement>} */
    this.paneOf = new Map(panels.map((panel) => [panel.id, this.pane(panel)]));
    this.panes = [...this.paneOf.values()];
    /** What each panel showed last. @type {Map<string, State>} */
    this.last = new Map();
  }

  /** @param {Panel} panel */
  pane(panel) {
    return h(
      "div.fv-pane",
      {
        role: "tabpanel",
        id: `${this.app.prefix}-pane-${panel.id}`,
        "aria-labelledby": `${this.app.prefix}-tab-${panel.id}`,
        hidden: true,
      },
      panel.element,
    );
  }

  /** @param {Panel} panel */
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

  /** @param {KeyboardEvent} event */
  key(event) {
    const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!move) return;
    event.preventDefault();
    const at = this.panels.findIndex((panel) => panel.id === this.app.current.tab);
    const next = this.panels[(at + move + this.panels.length) % this.panels.length];
    this.app.navigate({ tab: next.id });
    this.buttons.get(next.id)?.focus();
  }

  /**
   * @param {State} state
   * @param {State | null} previous
   */
  render(state, previous) {
    for (const [id, button] of this.buttons) {
      const chosen = id === state.tab;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
    for (const [id, pane] of this.paneOf) pane.hidden = id !== state.tab;
    // Only now does the shown panel have all the room: it may ask how much that is.
    const shown = this.panels.find((panel) => panel.id === state.tab);
    shown?.render(state, this.last.get(state.tab) ?? null);
    this.last.set(state.tab, state);
    if (previous?.tab !== state.tab) this.revealChosen();
  }

  revealChosen() {
    const button = this.buttons.get(this.app.current.tab);
    if (button) reveal(this.list, button);
  }

  resized() {
    this.revealChosen();
    this.fade();
  }

  /** On a phone the row scrolls; it fades out where there are more tabs. */
  fade() {
    const { scrollLeft, scrollWidth, clientWidth } = this.list;
    this.element.classList.toggle("fv-more-before", scrollLeft > 1);
    this.element.classList.toggle("fv-more-after", scrollLeft + clientWidth < scrollWidth - 1);
  }
}
