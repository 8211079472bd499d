/* The frame of the panels: header, failure banner, tabs. */

import { count } from "../graph/data/words.js";
import { h, icon, reveal } from "./dom.js";
import { explains } from "./terms.js";

/** @param {Viewer} app */
export function header(app) {
  return h(
    "header.fv-header",
    null,
    "heading" in app ? /** @type {any} */ (app).heading() : heading(app),
    h(
      "div.fv-actions",
      null,
      notices(app),
      actions(app),
      app.options.hash &&
        h(
          "button.fv-icon",
          {
            type: "button",
            title: "Copy a link to this view",
            "aria-label": "Copy a link to this view",
            onclick: () => app.copy(location.href),
          },
          icon("link"),
        ),
      h(
        "button.fv-icon",
        {
          type: "button",
          title: "Light or dark",
          "aria-label": "Switch between light and dark",
          onclick: () => app.switchTheme(),
        },
        icon("theme"),
      ),
      h(
        "button.fv-icon",
        { type: "button", title: "Keys (?)", "aria-label": "Show the keys", onclick: () => app.sheet.showModal() },
        icon("keys"),
      ),
    ),
  );
}

/** @param {Viewer} app */
function heading(app) {
  const { view } = app.model;
  return [
    h(
      "div.fv-title",
      null,
      h("h1", { title: view.name }, view.name || "unnamed model"),
      h("span.fv-muted", null, `${view.backend} · torch ${view.torch}`),
    ),
    h(
      "div.fv-facts",
      { tabindex: "0", role: "group", "aria-label": "In short" },
      view.overview.map((/** @type {any} */ fact) => factCell(app, fact)),
      fates(app),
    ),
  ];
}

/**
 * @param {Viewer} app
 * @param {any} fact
 */
function factCell(app, fact) {
  const value = fact.step === null ? fact.value : app.link(fact.value, { step: fact.step });
  return h(
    "div.fv-fact",
    { class: `fv-tone-${fact.tone} fv-fact-${fact.kind}`, title: `${fact.value}\n${fact.note}` },
    h("span.fv-fact-label", null, fact.label),
    h("span.fv-fact-value.fv-num", null, value),
    h("span.fv-fact-note", null, fact.note),
  );
}

/**
 * The number of weights and buffers of each fate; a press shows all.
 * @param {Viewer} app
 */
export function fates(app) {
  const { fates: counts, others } = app.model.view;
  const total = counts.reduce((/** @type {any} */ sum, /** @type {[any, any]} */ [, count]) => sum + count, 0);
  const kept = others.find(([fate]) => fate === "preserved")?.[1] ?? 0;
  if (!total && !kept) return null;
  const parts = counts.map((/** @type {[string, any]} */ [fate, count]) =>
    h("span", { class: `fv-fate-${fate}`, style: { "flex-grow": count } }),
  );
  const words = counts.map((/** @type {[string, any]} */ [fate, count]) =>
    h("span", { class: `fv-fate-${fate}` }, h("span.fv-dot"), `${count} ${fate}`),
  );
  if (kept) {
    words.push(
      h(
        "span.fv-fate-preserved",
        { title: "Submodules, flags and values that are preserved" },
        h("span.fv-dot"),
        `and ${count(kept, "other")} preserved`,
      ),
    );
  }
  return h(
    "button.fv-fact.fv-fates",
    { type: "button", title: "See all attributes", onclick: () => app.navigate({ tab: "attributes" }, { jump: true }) },
    h("span.fv-fact-label", null, `${total} parameters and buffers`),
    h("span.fv-fates-bar", { "aria-hidden": "true" }, parts),
    h("span.fv-fact-note", null, words),
  );
}

/** @param {Viewer} app */
function notices(app) {
  const found = app.model.view.environment.notices;
  if (!found.length) return null;
  const open = () => app.navigate({ tab: "environment" }, { jump: true });
  const label = found.length === 1 ? "1 notice" : `${found.length} notices`;
  return h(
    "button.fv-icon.fv-notices-button",
    {
      type: "button",
      title: `${label}\n${found.map((/** @type {any} */ notice) => notice.message).join("\n")}`,
      "aria-label": label,
      onclick: open,
    },
    h("span.fv-warn.fv-num", null, `! ${found.length}`),
  );
}

/**
 * The actions of the page around the viewer: buttons where there is room, else a menu.
 * @param {Viewer} app
 */
function actions(app) {
  const all = app.options.actions;
  if (!all.length) return null;
  const button = (
    /** @type {string} */ tag,
    /** @type {any} */ action,
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
      (/** @type {any} */ action) => (/** @type {() => void} */ close) =>
        button("button.fv-menu-item", action, () => (close(), app.act(action)), { role: "menuitem", tabindex: "-1" }),
    ),
  );
  app.stops.push(() => menu.destroy());
  return [
    h(
      "div.fv-actions-wide",
      null,
      all.map((/** @type {any} */ action) => button("button.fv-button", action, () => app.act(action), {})),
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

/** @param {Viewer} app */
export function failureBanner(app) {
  const { failure, steps } = app.model.view;
  if (!failure) return null;
  const where = [failure.stage, failure.method].filter(Boolean).join(", ");
  const last =
    failure.step === null || !steps[failure.step]
      ? null
      : app.link(failure.method ? "Show the graph just before" : "Show the last graph", {
          step: failure.step,
          tab: "graph",
        });
  return h(
    "section.fv-failure",
    { role: "alert" },
    h(
      "div.fv-failure-head",
      null,
      h("span.fv-failure-mark", { "aria-hidden": "true" }, "✕"),
      h("strong", null, failure.title),
      failure.method ? h("span", null, where) : null,
      h("span.fv-spring"),
      last,
    ),
    h("pre", { tabindex: "0" }, failure.message),
    failure.left ? h("p.fv-small", null, failure.left) : null,
    failure.log
      ? h(
          "details.fv-small",
          null,
          h("summary", null, "What was logged last"),
          h("pre.fv-log", { tabindex: "0" }, failure.log),
        )
      : null,
  );
}

/**
 * The requested measurements that failed, and why; the header only says "not measured".
 * @param {Viewer} app
 */
export function unmeasuredBanner(app) {
  const { unmeasured } = app.model.view;
  if (!unmeasured) return null;
  return h(
    "section.fv-unmeasured",
    { role: "status" },
    h("span.fv-warn", { "aria-hidden": "true" }, "! "),
    h("strong", null, `Recorded, ${unmeasured.what}: `),
    unmeasured.reason,
    ". ",
    unmeasured.remedy,
  );
}

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
