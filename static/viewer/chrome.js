/* What stands around the panels: header, failure banner, tabs, the summary of the chosen pass. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, fill, icon } = FreezerViewer;
  const OPERATORS_SHOWN = 3;
  const VERDICTS = {
    baseline: "what the others are compared with",
    faster: "faster than the first step",
    slower: "slower than the first step",
    "no measurable difference": "no measurable difference to the first step",
  };

  function header(app) {
    const { view } = app.model;
    const toggle = () => app.setTheme(app.theme() === "dark" ? "light" : "dark");
    return h(
      "header.fv-header",
      null,
      h("div.fv-title", null, h("h1", { title: view.name }, view.name || "unnamed model"), h("span.fv-muted", null, `${view.backend} · torch ${view.torch}`)),
      h("div.fv-facts", null, view.overview.map((fact) => factCell(app, fact)), fates(app)),
      h(
        "div.fv-actions",
        null,
        notices(app),
        app.options.hash && h("button.fv-icon", { type: "button", title: "Copy a link to this view", "aria-label": "Copy a link to this view", onclick: () => app.copy(location.href) }, icon("link")),
        h("button.fv-icon", { type: "button", title: "Light or dark", "aria-label": "Switch between light and dark", onclick: toggle }, icon("theme")),
        h("button.fv-icon", { type: "button", title: "Keys (?)", "aria-label": "Show the keys", onclick: () => app.sheet.showModal() }, icon("keys")),
      ),
    );
  }

  function factCell(app, fact) {
    const value = fact.step === null ? fact.value : app.link(fact.value, { step: fact.step });
    return h("div.fv-fact", { class: `fv-tone-${fact.tone}`, title: fact.note }, h("span.fv-fact-label", null, fact.label), h("span.fv-fact-value.fv-num", null, value), h("span.fv-fact-note", null, fact.note));
  }

  function fates(app) {
    const counts = app.model.view.fates;
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    if (!total) return null;
    const parts = counts.map(([fate, count]) => h("span", { class: `fv-fate-${fate}`, style: { "flex-grow": count } }));
    const words = counts.map(([fate, count]) => h("span", { class: `fv-fate-${fate}` }, h("span.fv-dot"), `${count} ${fate}`));
    return h("button.fv-fact.fv-fates", { type: "button", title: "See all attributes", onclick: () => app.navigate({ tab: "attributes" }, { jump: true }) }, h("span.fv-fact-label", null, `${total} attributes`), h("span.fv-fates-bar", { "aria-hidden": "true" }, parts), h("span.fv-fact-note", null, words));
  }

  function notices(app) {
    const found = app.model.view.environment.notices;
    if (!found.length) return null;
    const open = () => app.navigate({ tab: "environment" }, { jump: true });
    const label = found.length === 1 ? "1 notice" : `${found.length} notices`;
    return h("button.fv-icon.fv-notices-button", { type: "button", title: `${label}\n${found.map((notice) => notice.message).join("\n")}`, "aria-label": label, onclick: open }, h("span.fv-warn.fv-num", null, `! ${found.length}`));
  }

  function failureBanner(app) {
    const { failure, steps } = app.model.view;
    if (!failure) return null;
    const where = [failure.stage, failure.method].filter(Boolean).join(", ");
    const last = failure.step === null || !steps[failure.step] ? null : app.link("Show the graph just before", { step: failure.step, tab: "graph" });
    return h(
      "section.fv-failure",
      { role: "alert" },
      h("div.fv-failure-head", null, h("span.fv-failure-mark", { "aria-hidden": "true" }, "✕"), h("strong", null, `The freeze failed in ${failure.name}`), h("span", null, where), h("span.fv-spring"), last),
      h("pre", { tabindex: "0" }, h("strong", null, `${failure.type}: `), failure.message),
    );
  }

  class Tabs {
    constructor(app, panels) {
      this.app = app;
      this.panels = panels;
      this.buttons = new Map(panels.map((panel) => [panel.id, this.button(panel)]));
      this.element = h("div.fv-tabs", { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.key(event) }, [...this.buttons.values()]);
      this.panes = panels.map((panel) => {
        panel.pane = h("div.fv-pane", { role: "tabpanel", id: `${app.prefix}-pane-${panel.id}`, "aria-labelledby": `${app.prefix}-tab-${panel.id}`, hidden: true }, panel.element);
        return panel.pane;
      });
    }

    button(panel) {
      const count = panel.count ? h("span.fv-tab-count.fv-num", null, panel.count) : null;
      return h("button.fv-tab", { type: "button", role: "tab", id: `${this.app.prefix}-tab-${panel.id}`, "aria-controls": `${this.app.prefix}-pane-${panel.id}`, onclick: () => this.app.navigate({ tab: panel.id }, { jump: true }) }, panel.label, count);
    }

    key(event) {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      const at = this.panels.findIndex((panel) => panel.id === this.app.current.tab);
      const next = this.panels[(at + move + this.panels.length) % this.panels.length];
      this.app.navigate({ tab: next.id });
      this.buttons.get(next.id).focus();
    }

    render(state, previous) {
      for (const panel of this.panels) {
        const chosen = panel.id === state.tab;
        const button = this.buttons.get(panel.id);
        button.setAttribute("aria-selected", String(chosen));
        button.tabIndex = chosen ? 0 : -1;
        panel.pane.hidden = !chosen;
        if (!chosen) continue;
        panel.render(state, panel.last ?? null);
        panel.last = state;
      }
      if (previous?.tab !== state.tab) this.buttons.get(state.tab).scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  /** One strip of facts about the chosen pass. */
  class PassSummary {
    constructor(app) {
      this.app = app;
      this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
    }

    render(state) {
      if (this.shown === state.step) return;
      this.shown = state.step;
      const step = this.app.model.step(state.step);
      if (!step) {
        fill(this.element, h("strong", null, "This trace holds no pass."), h("span.fv-muted", null, "Nothing was frozen while it was recorded."));
        return;
      }
      const round = step.round === null ? "" : `, round ${step.round}`;
      fill(
        this.element,
        h("div.fv-summary-name", null, h("span.fv-num.fv-muted", null, step.index), h("h2", { title: step.name }, step.name), h("span.fv-muted", null, `${step.stage}${round} · ${step.method}`)),
        h("dl.fv-summary-facts", null, facts(step).map(([label, ...value]) => h("div", null, h("dt", null, label), h("dd.fv-num", null, value)))),
        step.notices.length ? h("ul.fv-summary-notices", null, step.notices.map((text) => h("li", null, text))) : null,
      );
    }
  }

  function facts(step) {
    return [["nodes", ...nodes(step)], operators(step), step.duration === null ? null : ["took", step.duration], ["constants", ...constants(step)], ...step.latency.map(latency), ...step.latency_changes.map((text) => ["this pass", h("strong", null, text)]), numerics(step.numerics)].filter(Boolean);
  }

  function nodes(step) {
    if (step.before === null) return [step.nodes];
    if (step.ir === null) return [step.nodes, h("span.fv-muted", null, step.changed ? " unchanged; the module changed" : " unchanged")];
    const part = (sign, count, kind) => (count ? h(`span.fv-${kind}`, null, ` ${sign}${count}`) : null);
    if (!step.added && !step.removed && !step.modified) return [step.nodes, h("span.fv-muted", null, " in another order")];
    return [step.nodes, part("−", step.removed, "removed"), part("+", step.added, "added"), part("~", step.modified, "modified")];
  }

  function operators(step) {
    if (step.before === null || !step.ops.length) return null;
    const largest = step.ops.toSorted(([, one], [, other]) => Math.abs(other) - Math.abs(one));
    const words = largest.map(([op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
    const shown = words.slice(0, OPERATORS_SHOWN).join(", ");
    return ["operators", h("span.fv-clip", { title: words.join("\n") }, shown, words.length > OPERATORS_SHOWN ? ", …" : "")];
  }

  function constants(step) {
    const still = step.constants_delta === null || step.constants_delta === "±0";
    return [step.constants, still ? null : h("span.fv-muted", null, ` ${step.constants_delta}`)];
  }

  function latency(entry) {
    const ratio = entry.ratio === null ? null : `, ${entry.ratio}`;
    const title = "A difference is told only where it holds among all comparisons of this trace";
    const verdict = h("span", { title, class: `fv-verdict-${entry.verdict.split(" ")[0]}` }, VERDICTS[entry.verdict]);
    return [`latency, ${entry.device}`, entry.text, h("span.fv-muted", { title: "95% interval of the median" }, ` (${entry.interval}) `), verdict, h("span.fv-muted", null, ratio)];
  }

  /** One fact for all references: their errors, then what torch's tolerances say of them. */
  function numerics(entries) {
    if (!entries.length) return null;
    const words = entries.map((entry, index) => [index ? ", " : "", errorWords(entry)]);
    const fine = entries.every((entry) => entry.error === null && entry.close);
    return ["largest error", words, fine ? h("span.fv-good", null, " within tolerance") : null];
  }

  function errorWords(entry) {
    if (entry.error !== null) return h("span.fv-muted", { title: entry.error }, `${entry.reference}: could not be compared`);
    const against = h("span.fv-muted", null, ` against ${entry.reference}`);
    return [entry.max_abs, against, entry.close ? null : h("span.fv-bad", null, " ≠ past tolerance")];
  }

  Object.assign(FreezerViewer, { header, failureBanner, Tabs, PassSummary });
})();
