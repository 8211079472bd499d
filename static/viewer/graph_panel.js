/* The before | after graphs of the chosen pass, drawn by static/graph.js, with its toolbar. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, fill } = FreezerViewer;

  class GraphPanel {
    constructor(app) {
      this.app = app;
      this.id = "graph";
      this.label = "Graph";
      this.matches = [];
      this.canvas = h("div.fv-graph");
      this.text = h("input.fv-input", {
        type: "search",
        placeholder: "Search nodes ( / )",
        "aria-label": "Search nodes",
        oninput: () => this.search(),
        onkeydown: (event) => this.searchKey(event),
      });
      this.found = h("span.fv-muted.fv-num", { role: "status" });
      this.constants = this.toggle("constants", "Constants");
      this.fates = this.toggle("fates", "Fates");
      this.element = h(
        "div.fv-panel-body",
        null,
        h(
          "div.fv-bar",
          { role: "toolbar", "aria-label": "Graph" },
          this.text,
          this.found,
          this.button("Fit", "Fit the whole graph", () => this.view.fit()),
          this.button("Changes", "Fit what this pass changed", () => this.view.fitChanges()),
          this.button("Expand", "Expand all modules", () => this.view.expandAll()),
          this.button("Collapse", "Collapse all modules", () => this.view.collapseAll()),
          h("label.fv-check", null, this.constants, "Constants"),
          h("label.fv-check", { title: "Mark what attributes became" }, this.fates, "Fates"),
          h("span.fv-spring"),
          this.button("SVG", "Save the picture as SVG", () => this.save("svg")),
          this.button("PNG", "Save the picture as PNG", () => this.save("png")),
        ),
        this.canvas,
      );
    }

    toggle(key, label) {
      const box = h("input", { type: "checkbox", "aria-label": label, onchange: () => this.app.navigate({ [key]: box.checked }) });
      return box;
    }

    button(text, title, run) {
      return h("button.fv-button", { type: "button", title, onclick: () => this.view && run() }, text);
    }

    /** Made when first shown: drawing needs a container that has a size. */
    open() {
      this.view = FreezerGraph.create(this.canvas, { theme: this.app.theme(), panes: 2 });
      this.view.setData(this.app.graph);
      this.view.on("select", (id) => this.app.navigate({ node: nodeId(id), attribute: null }, { quietly: true }));
    }

    render(state, previous) {
      this.constants.checked = state.constants;
      this.fates.checked = state.fates;
      const step = this.app.model.step(state.step);
      if (!step) {
        fill(this.canvas, h("p.fv-empty", null, "This trace holds no graph."));
        return;
      }
      const first = !this.view;
      if (first) this.open();
      const theme = this.app.theme();
      if (theme !== this.themed) this.view.setTheme(theme);
      if (first || state.constants !== this.showsConstants) this.view.setOptions({ constants: state.constants });
      const moved = state.step !== this.step;
      if (moved) this.view.show({ before: step.before, after: step.index });
      if (moved || theme !== this.themed || state.fates !== this.showsFates) this.mark(step, state.fates);
      const held = state.node ?? null;
      if (moved || held !== this.node) this.view.select(held, { center: held !== null && !this.app.clicked });
      if (moved && this.text.value) this.search();
      Object.assign(this, { step: state.step, node: held, themed: theme, showsConstants: state.constants, showsFates: state.fates });
    }

    mark(step, wanted) {
      const marks = {};
      const shown = new Set();
      if (wanted) {
        for (const at of [step.before, step.index]) if (at !== null) this.collect(at, marks, shown);
      }
      this.view.setMarks(marks);
      const colour = (fate) => getComputedStyle(this.element).getPropertyValue(`--${fate}`).trim();
      this.view.setLegend([...shown].sort().map((fate) => ({ fill: colour(fate), label: fate })));
    }

    collect(at, marks, shown) {
      const { model } = this.app;
      const styles = getComputedStyle(this.element);
      const add = (value, row) => {
        shown.add(row.fate);
        marks[value] = { fill: styles.getPropertyValue(`--${row.fate}`).trim(), label: row.fate };
      };
      for (const [value, path] of model.reads(at)) {
        const row = model.attribute(path);
        if (row && row.kind !== "submodule") add(value, row);
      }
      const graph = model.graph(at);
      for (const [value, rows] of model.held(model.step(at).method)) if (graph.makers.has(value)) add(value, rows[0]);
    }

    focusSearch() {
      this.text.focus();
      this.text.select();
    }

    search() {
      this.matches = this.view && this.text.value ? this.view.search(this.text.value) : [];
      if (this.view && !this.text.value) this.view.search("");
      this.at = -1;
      this.say();
    }

    searchKey(event) {
      if (event.key !== "Enter" || !this.matches.length) return;
      const { length } = this.matches;
      this.at = (this.at + (event.shiftKey ? -1 : 1) + length) % length;
      this.view.focusMatch(this.at);
      this.say();
    }

    say() {
      const { length } = this.matches;
      this.found.textContent = !this.text.value ? "" : length ? `${this.at + 1 || "–"}/${length}` : "none";
    }

    async save(kind) {
      const picture = await (kind === "svg" ? this.view.toSVG() : this.view.toPNG());
      const blob = picture instanceof Blob ? picture : kind === "svg" ? new Blob([picture], { type: "image/svg+xml" }) : await decode(picture);
      const link = h("a", { href: URL.createObjectURL(blob), download: `${this.app.model.view.name || "graph"}-step-${this.step}.${kind}` });
      link.click();
      URL.revokeObjectURL(link.href);
    }
  }

  function nodeId(selected) {
    return selected === null || selected === undefined ? null : typeof selected === "object" ? selected.id ?? selected.node ?? null : selected;
  }

  function decode(dataUrl) {
    const bytes = Uint8Array.from(atob(dataUrl.split(",")[1]), (letter) => letter.charCodeAt(0));
    return new Blob([bytes], { type: "image/png" });
  }

  Object.assign(FreezerViewer, { GraphPanel });
})();
