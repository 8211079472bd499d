/* The frame of the panels: header, failure banner, tabs. */

import { backendName, count } from "../graph/data/words.js";
import { h, icon } from "./dom.js";
import { actions } from "./actions_menu.js";

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
      h("span.fv-muted", null, `${backendName(view.backend)} · torch ${view.torch}`),
    ),
    h(
      "div.fv-facts",
      { tabindex: "0", role: "group", "aria-label": "In short" },
      view.overview.map((fact) => factCell(app, fact)),
      fates(app),
    ),
  ];
}

/**
 * @param {Viewer} app
 * @param {OverviewFact} fact
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
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const kept = others.find(([fate]) => fate === "preserved")?.[1] ?? 0;
  if (!total && !kept) return null;
  const parts = counts.map(([fate, count]) => h("span", { class: `fv-fate-${fate}`, style: { "flex-grow": count } }));
  const words = counts.map(([fate, count]) =>
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
      title: `${label}\n${found.map((notice) => notice.message).join("\n")}`,
      "aria-label": label,
      onclick: open,
    },
    h("span.fv-warn.fv-num", null, `! ${found.length}`),
  );
}
