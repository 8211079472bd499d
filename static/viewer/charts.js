/* The charts, which follow the chosen pass and lead to others, and the numbers behind them. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, fill, grid } = FreezerViewer;

  class ChartsPanel {
    constructor(app) {
      this.app = app;
      this.id = "charts";
      this.label = "Charts";
      this.figures = h("div.fv-charts");
      this.table = h("section.fv-measured");
      this.element = h("div.fv-panel-body.fv-scroll", null, this.figures, this.table);
    }

    render(state) {
      const theme = this.app.theme();
      if (theme !== this.shown) this.turn = this.draw(theme);
      this.shown = theme;
      this.mark(state.step);
      if (state.step !== this.step) fill(this.table, measured(this.app.model.step(state.step)));
      this.step = state.step;
    }

    async draw(theme) {
      const { charts, loadBokeh } = this.app.options;
      this.drawn = [];
      if (!charts?.[theme]?.length || !loadBokeh) {
        fill(this.figures, h("p.fv-empty", null, "There is nothing to draw in this trace."));
        return;
      }
      const figures = charts[theme].map((chart) => ({ ...chart, target: h("div.fv-chart-target") }));
      fill(this.figures, figures.map(({ title, note, target }) => h("figure.fv-chart", null, h("figcaption", null, h("strong", null, title), h("span.fv-muted", null, note)), target)));
      const Bokeh = await loadBokeh();
      for (const { item, target } of figures) {
        if (!item) continue;
        const views = await Bokeh.embed.embed_item(item, target);
        this.connect(views);
      }
      this.mark(this.app.current.step);
    }

    connect(views) {
      for (const model of [...views].map((view) => view.model).filter((one) => one.type === "Figure")) {
        this.drawn.push(model);
        for (const { data_source: source } of model.renderers) {
          source.selected.change.connect(() => {
            const [index] = source.selected.indices;
            const steps = source.get_array("step");
            if (index !== undefined && steps.length) this.app.setStep(steps[index]);
          });
        }
      }
    }

    /** Moves the line that marks the chosen pass. */
    mark(step) {
      for (const model of this.drawn || []) {
        for (const line of model.center) if (line.tags?.includes("chosen")) line.location = step;
      }
    }
  }

  /** Every number measured on one pass. */
  function measured(step) {
    if (!step || !(step.latency.length || step.numerics.length)) {
      return h("p.fv-empty", null, step && !step.executable ? "This pass's graph cannot run on its own, so it was not measured." : "This pass was not measured.");
    }
    const latency = step.latency.map((entry) => cells(entry.device, `${entry.text} (${entry.interval})`, entry.ratio ?? "", entry.verdict, entry.samples, entry.first, entry.warmup, entry.notes.join("; ")));
    const errors = step.numerics.flatMap((entry) =>
      entry.error === null
        ? entry.outputs.map((output) => cells(entry.reference, output.output, output.max_abs, output.max_rel, output.sqnr, output.nonfinite, output.close ? "within tolerance" : "≠ past tolerance"))
        : [h("tr", null, h("td", null, entry.reference), h("td", { colspan: 6 }, `could not be compared: ${entry.error}`))],
    );
    return [
      latency.length ? grid(`Latency of step ${step.index}`, ["Device", "Median (95%)", "To the first step", "Verdict", "Samples", "First call", "Warm-up calls", "Notes"], latency) : null,
      errors.length ? grid(`Numeric error of step ${step.index}`, ["Against", "Output", "Max abs", "Max rel", "SQNR", "New non-finite", "torch's tolerances"], errors) : null,
    ];
  }

  function cells(...texts) {
    return h("tr", null, texts.map((text) => h("td.fv-num", null, text)));
  }

  Object.assign(FreezerViewer, { ChartsPanel });
})();
