/* The viewer's keys: which of them it hears, and what each does. */

export class Keyboard {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.acts = {
      ArrowUp: () => app.move(-1),
      ArrowDown: () => app.move(1),
      f: () => app.move(1, true),
      r: () => app.move(-1, true),
      c: () => app.navigate({ against: app.current.against === null ? app.current.step : null }),
      s: () => app.panels.has("source") && app.navigate({ tab: "source" }, { jump: true }),
      h: () => app.navigate({ quiet: !app.current.quiet }),
      "/": () => this.search(),
      "?": () => app.sheet.showModal(),
    };
  }

  /** @param {any} event */
  hear(event) {
    const { app } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (app.sheet.open || app.copySheet.element.open || !app.root.getClientRects().length) return;
    // From outside a shadow root, only the path has the element that the event is about.
    const path = event.composedPath();
    const within = (/** @type {string} */ selector) =>
      path.some((/** @type {HTMLElement} */ element) => element.matches?.(selector));
    if (within("dialog, [role=menu]")) return;
    if (event.key === "Escape") return this.escape(path[0]);
    if (within("input:not([type=checkbox]), select, textarea")) return;
    // The summary shows no pass to move from: its keys scroll.
    const isIdle = app.current.tab === "summary" && !["/", "?", "s"].includes(event.key);
    const act = isIdle ? undefined : /** @type {Record<string, any>} */ (this.acts)[event.key];
    const tab = this.tab(event.key);
    if (!act && !tab) return;
    event.preventDefault();
    if (act) act();
    else app.navigate({ tab }, { jump: true });
  }

  /**
   * The tab of a digit: 0 is the summary, where there is one, and the others count from 1, without the source.
   * @param {string} key
   */
  tab(key) {
    if (!/^[0-9]$/.test(key)) return undefined;
    const tabs = [...this.app.panels.keys()].filter((id) => id !== "summary" && id !== "source");
    return key === "0" ? ["summary"].find((id) => this.app.panels.has(id)) : tabs[Number(key) - 1];
  }

  /**
   * Leaves the innermost of what one is in.
   * @param {HTMLElement} element
   */
  escape(element) {
    const { app } = this;
    if (element.matches?.("input, select")) element.blur();
    else if (app.passes.drawn) app.passes.draw(false);
    else if (app.current.node || app.current.attribute) app.navigate({ node: null, attribute: null });
    else if (app.current.kernel !== null) app.navigate({ kernel: null });
    else if (app.current.line) app.navigate({ line: "" });
    else if (app.current.against !== null) app.navigate({ against: null });
  }

  /** To the search of the tab that is shown, or else the graph's. */
  search() {
    const { app } = this;
    const panel = app.panels.get(app.current.tab);
    if (panel?.focusSearch) return panel.focusSearch();
    app.navigate({ tab: "graph" });
    app.panels.get("graph")?.focusSearch?.();
  }
}
