/* The viewer: one application for the HTML report, the dashboard and the notebook. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, fill, TraceModel, PassList, Details, DEFAULTS, toFragment, fromFragment } = FreezerViewer;
  const KEYS = [
    ["↑ ↓", "previous, next pass"],
    ["r f", "previous, next pass that changed something"],
    ["/", "search in the open tab"],
    ["1 … 8", "open a tab"],
    ["h", "hide or show passes without effect"],
    ["n p", "in the graph: next, previous change"],
    ["+ − 0", "in the graph: zoom, whole graph; the wheel zooms, dragging moves"],
    ["↵", "in the graph: open or close the chosen module"],
    ["Esc", "close details, leave a field"],
    ["?", "this sheet"],
  ];

  const fate = (name) => h("span.fv-badge.fv-fate", { class: `fv-fate-${name}` }, h("span.fv-dot"), name);
  const SIGNS = [
    [() => [h("span.fv-removed", null, "−9 "), h("span.fv-added", null, "+7 "), h("span.fv-modified", null, "~4")], "nodes that a pass removed, added, changed"],
    [() => h("span.fv-muted", null, "moved"), "the same nodes in another order"],
    [() => h("span.fv-muted", null, "module"), "the graph stayed, the module's attributes changed"],
    [() => h("span.fv-round", null, "r2"), "second round of a loop of passes"],
    [() => h("span.fv-speed", null, h("span.fv-speed-bar", { style: { width: "70%" } }), h("span.fv-speed-spread", { style: { left: "58%", width: "24%" } })), "median latency after the pass, with its 95% interval; green or red where measurably faster or slower than the first step"],
    [() => h("span.fv-bad", null, "≠"), "outputs are past torch's tolerances against eager"],
    [() => h("span.fv-warn", null, "!"), "there is a notice about the pass"],
    [() => fate("inlined"), "the value is a constant of the final graph"],
    [() => fate("folded"), "it was, and a later pass consumed that constant"],
    [() => fate("preserved"), "still an attribute of the frozen module"],
    [() => fate("dropped"), "nothing that was preserved reads it"],
    [() => h("span.fv-chip-sign", null, "weight [64]"), "in the graph: a constant or attribute that the box reads; its frame has the colour of the fate"],
    [() => h("span.fv-ghost-sign"), "in the graph: only the other side has a box here"],
  ];

  let instances = 0;

  class Viewer {
    constructor(element, { view, graph, charts = null, options = {} }) {
      this.graph = graph;
      this.options = { hash: false, loadBokeh: null, wheel: "zoom", ...options, charts };
      this.model = new TraceModel(view, graph);
      this.prefix = `fv${(instances += 1)}`; // ids must differ between viewers of one notebook
      this.listeners = new Map();
      this.current = { ...DEFAULTS, step: this.firstStep() };
      this.root = element;
      this.root.classList.add("fv");
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      this.build();
      this.listen();
      const start = this.options.hash ? fromFragment(location.hash) : options.state || {};
      this.current = this.valid({ ...this.current, ...start });
      this.render(null);
    }

    // --- what callers use

    /** Calls back on "step" (index), "select" (node id or null), "tab" (name) and "state" (the whole state). */
    on(event, callback) {
      if (!this.listeners.has(event)) this.listeners.set(event, new Set());
      this.listeners.get(event).add(callback);
      return () => this.listeners.get(event).delete(callback);
    }

    setStep(step) {
      this.navigate({ step });
    }

    select(node) {
      this.navigate({ node, attribute: null });
    }

    /** Everything that says what is shown; give it to `restore` to see the same again. */
    state() {
      return { ...this.current };
    }

    restore(state) {
      const previous = this.current;
      this.current = this.valid({ ...DEFAULTS, step: this.firstStep(), ...state });
      this.render(previous);
    }

    setTheme(theme) {
      this.root.dataset.theme = theme;
      this.render(this.current);
    }

    theme() {
      return this.root.dataset.theme || (this.dark.matches ? "dark" : "light");
    }

    destroy() {
      for (const stop of this.stops) stop();
      this.panels.get("graph").view?.destroy();
      fill(this.root);
    }

    // --- moving about

    /**
     * Shows something else.
     * @param {Object} patch the part of the state that changes
     * @param {Object} [how] `jump`: a place to come back to with the browser's back button
     */
    navigate(patch, { jump = false } = {}) {
      const previous = this.current;
      this.current = this.valid({ ...previous, ...patch });
      this.render(previous);
      if (this.options.hash) this.write(jump);
      this.announce(previous);
    }

    valid(state) {
      const { steps } = this.model;
      const step = state.step !== null && steps[state.step] ? state.step : this.firstStep();
      const tab = this.panels?.has(state.tab) ? state.tab : "graph";
      return { ...state, step, tab };
    }

    firstStep() {
      const { methods, steps, view } = this.model;
      if (view.failure && view.failure.step !== null) return view.failure.step;
      const main = steps.filter((step) => step.method === methods[0]);
      return (main.find((step) => step.changed && step.before !== null) ?? main[0])?.index ?? null;
    }

    write(jump) {
      const url = `#${toFragment(this.current)}`;
      if (jump) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    }

    announce(previous) {
      const { step, node, tab } = this.current;
      if (step !== previous.step) this.emit("step", step);
      if (node !== previous.node) this.emit("select", node);
      if (tab !== previous.tab) this.emit("tab", tab);
      this.emit("state", this.state());
    }

    emit(event, value) {
      for (const callback of this.listeners.get(event) || []) callback(value);
    }

    move(direction, changedOnly = false) {
      const shown = this.passes.visible();
      const at = shown.findIndex((step) => step.index === this.current.step);
      const rest = direction > 0 ? shown.slice(at + 1) : shown.slice(0, Math.max(at, 0)).reverse();
      const next = rest.find((step) => !changedOnly || (step.changed && step.before !== null));
      if (next) this.setStep(next.index);
    }

    // --- the page

    build() {
      this.details = new Details(this);
      this.passes = new PassList(this);
      const { GraphPanel, AttributesPanel, RewritesPanel, AliasesPanel, IrPanel, CodePanel, ChartsPanel, EnvironmentPanel } = FreezerViewer;
      const kinds = [GraphPanel, AttributesPanel, RewritesPanel, AliasesPanel, IrPanel, CodePanel, ChartsPanel, EnvironmentPanel];
      this.panels = new Map(kinds.map((Panel) => new Panel(this)).map((panel) => [panel.id, panel]));
      this.tabs = new FreezerViewer.Tabs(this, [...this.panels.values()]);
      this.summary = new FreezerViewer.PassSummary(this);
      this.toast = h("div.fv-toast", { role: "status", "aria-live": "polite" });
      this.sheet = sheet();
      const content = h("div.fv-content", null, this.tabs.panes, this.details.element);
      const main = h("main.fv-main", null, this.tabs.element, this.summary.element, content);
      const header = FreezerViewer.header(this);
      fill(this.root, header, FreezerViewer.failureBanner(this), h("div.fv-body", null, this.passes.element, main), this.sheet, this.toast);
    }

    render(previous) {
      const state = this.current;
      this.root.dataset.scheme = this.theme();
      if (!previous || state.step !== previous.step || state.passes !== previous.passes || state.quiet !== previous.quiet) this.passes.render(state, previous);
      this.summary.render(state);
      this.details.render(state);
      this.tabs.render(state, previous);
    }

    listen() {
      const target = this.options.hash ? document : this.root;
      const watch = (where, event, run) => {
        where.addEventListener(event, run);
        return () => where.removeEventListener(event, run);
      };
      this.stops = [
        watch(target, "keydown", (event) => this.key(event)),
        watch(this.dark, "change", () => this.render(this.current)),
      ];
      if (this.options.hash) this.stops.push(watch(window, "popstate", () => this.restore(fromFragment(location.hash))));
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (this.sheet.open) return;
      if (event.key === "Escape") return this.escape(event);
      if (event.target.closest?.("input:not([type=checkbox]), select, textarea, dialog")) return;
      const run = {
        ArrowUp: () => this.move(-1),
        ArrowDown: () => this.move(1),
        f: () => this.move(1, true),
        r: () => this.move(-1, true),
        h: () => this.navigate({ quiet: !this.current.quiet }),
        "/": () => this.search(),
        "?": () => this.sheet.showModal(),
      }[event.key];
      const tab = /^[1-9]$/.test(event.key) ? [...this.panels.keys()][event.key - 1] : undefined;
      if (!run && !tab) return;
      event.preventDefault();
      if (run) run();
      else this.navigate({ tab }, { jump: true });
    }

    escape(event) {
      if (event.target.matches?.("input, select")) event.target.blur();
      else if (this.current.node || this.current.attribute) this.navigate({ node: null, attribute: null });
    }

    search() {
      const panel = this.panels.get(this.current.tab);
      if (panel.focusSearch) return panel.focusSearch();
      this.navigate({ tab: "graph" });
      this.panels.get("graph").focusSearch();
    }

    // --- shared pieces

    /** A link that shows something else here, and opens the same in a new tab. */
    link(text, patch, label) {
      const href = `#${toFragment({ ...this.current, ...patch })}`;
      const follow = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        this.navigate(patch, { jump: true });
      };
      return h("a.fv-link", { href, onclick: follow, "aria-label": label }, text);
    }

    fateBadge(fate) {
      return h("span.fv-badge.fv-fate", { class: `fv-fate-${fate}` }, h("span.fv-dot"), fate);
    }

    async copy(text) {
      try {
        await navigator.clipboard.writeText(text);
        this.say("Copied");
      } catch (refused) {
        // Some browsers give no clipboard to pages from disk: show the text, ready to be copied by hand.
        window.prompt(`Copy by hand (${refused.name})`, text);
      }
    }

    say(text) {
      this.toast.textContent = text;
      this.toast.classList.add("fv-shown");
      setTimeout(() => this.toast.classList.remove("fv-shown"), 1800);
    }
  }

  function sheet() {
    const dialog = h(
      "dialog.fv-sheet",
      { "aria-label": "Keys and signs", onclick: (event) => event.target === dialog && dialog.close() },
      h(
        "div.fv-sheet-columns",
        null,
        h("section", null, h("h2", null, "Keys"), h("dl.fv-pairs", null, KEYS.map(([key, text]) => [h("dt", null, key.split(" ").map((name) => [h("kbd", null, name), " "])), h("dd", null, text)]))),
        h("section", null, h("h2", null, "Signs"), h("dl.fv-pairs", null, SIGNS.map(([sign, text]) => [h("dt", null, sign()), h("dd", null, text)]))),
      ),
      h("form", { method: "dialog" }, h("button.fv-button", null, "Close")),
    );
    return dialog;
  }

  /**
   * Shows a trace in an element.
   * @param {HTMLElement} element filled with the application; give it a size
   * @param {Object} data `view` and `graph`: what viewer.view_models and viewer.graph_data make of one trace; `charts`:
   *   what viewer.charts makes of it; `options`: `hash` keeps the state in the page's address, `state` is where to
   *   start, `loadBokeh` returns a promise of BokehJS, `wheel` is the graph's (static/graph.js): "ctrl" where the page
   *   around the viewer scrolls
   * @returns {Viewer}
   */
  FreezerViewer.mount = (element, data) => new Viewer(element, data);
})();
