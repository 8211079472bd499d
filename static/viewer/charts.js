/* The charts, which follow the chosen pass and lead to others, and the numbers behind them. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, fill, grid, stepLabel } = FreezerViewer;

  const OUTSIDE = -10; // left of every chart
  const LEFT_OUT = "Nothing was measured, so this view leaves its charts out to stay small. The HTML report (freezer-ui report, or viewer.report.write_report) has those of nodes and constants; a trace recorded with measurements has all of them here.";

  class ChartsPanel {
    constructor(app) {
      this.app = app;
      this.id = "charts";
      this.label = "Charts";
      this.views = [];
      this.figures = h("div.fv-charts");
      this.table = h("section.fv-measured");
      this.element = h("div.fv-panel-body.fv-scroll", null, this.figures, this.table);
    }

    render(state) {
      const theme = this.app.theme();
      if (theme !== this.shown) this.turn = this.draw(theme);
      this.shown = theme;
      this.mark();
      const { pair } = this.app;
      if (pair !== this.pair) fill(this.table, pair?.chosen ? measured(pair.before) : null, measured(pair?.after));
      this.pair = pair;
    }

    async draw(theme) {
      const { charts, loadBokeh } = this.app.options;
      this.drawn = [];
      if (!charts?.[theme]?.length || !loadBokeh) {
        fill(this.figures, h("p.fv-empty", null, charts === null ? LEFT_OUT : "There is nothing to draw in this trace."));
        return;
      }
      const figures = charts[theme].map((chart) => ({ ...chart, target: h("div.fv-chart-target") }));
      fill(this.figures, figures.map(({ title, note, target }) => h("figure.fv-chart", null, h("figcaption", null, h("strong", null, title), h("span.fv-muted", null, note)), target)));
      const Bokeh = await loadBokeh();
      this.clear();
      for (const { item, target } of figures) {
        if (!item || this.app.gone) continue;
        const views = await Bokeh.embed.embed_item(item, target);
        this.views.push(views);
        this.connect(views);
      }
      if (this.app.gone) this.clear();
      this.mark();
    }

    /** BokehJS keeps what it drew, and its observers, until it is told to let go. */
    clear() {
      for (const views of this.views.splice(0)) views.clear();
    }

    destroy() {
      this.clear();
    }

    /** The chosen point of a chart is that of a step. */
    choose(place) {
      this.app.setStep(place);
    }

    connect(views) {
      for (const model of [...views].map((view) => view.model).filter((one) => one.type === "Figure")) {
        this.drawn.push(model);
        for (const { data_source: source } of model.renderers) {
          source.selected.change.connect(() => {
            const [index] = source.selected.indices;
            const steps = source.get_array("step");
            if (index !== undefined && steps.length) this.choose(steps[index]);
          });
        }
      }
    }

    /** Moves the lines that mark the chosen pass and, where one was chosen, the pass it is compared with. */
    mark() {
      const places = this.places();
      for (const model of this.drawn || []) {
        for (const line of model.center) {
          const [tag] = line.tags ?? [];
          if (tag in places && line.location !== places[tag]) line.location = places[tag];
        }
      }
    }

    /** Where on the charts' axis the marking lines belong. */
    places() {
      const { pair } = this.app;
      return { chosen: pair?.after.index ?? OUTSIDE, base: pair?.chosen ? pair.before.index : OUTSIDE };
    }
  }

  /** Every number measured on one pass. */
  function measured(step) {
    if (!step || !(step.latency.length || step.numerics.length)) {
      const which = step ? `Step ${stepLabel(step)}` : "Nothing";
      return h("p.fv-empty", null, step && !step.executable ? `${which} was not measured: its graph cannot run on its own.` : `${which} was not measured.`);
    }
    const latency = step.latency.map((entry) => cells(entry.device, `${entry.text} (${entry.interval})`, entry.ratio ?? "", entry.verdict, entry.samples, entry.first, entry.warmup, entry.notes.join("; ")));
    const errors = step.numerics.flatMap((entry) =>
      entry.error === null
        ? entry.outputs.map((output) => cells(entry.reference, output.output, output.max_abs, output.max_rel, output.sqnr, output.nonfinite, output.close ? "within tolerance" : "≠ past tolerance"))
        : [h("tr", null, h("td", null, entry.reference), h("td", { colspan: 6 }, `could not be compared: ${entry.error}`))],
    );
    return [
      latency.length ? grid(`Latency of step ${stepLabel(step)}`, ["Device", "Median (95%)", "To the first step", "Verdict", "Samples", "First call", "Warm-up calls", "Notes"], latency) : null,
      errors.length ? grid(`Numeric error of step ${stepLabel(step)}`, ["Against", "Output", "Max abs", "Max rel", "SQNR", "New non-finite", "torch's tolerances"], errors) : null,
    ];
  }

  function cells(...texts) {
    return h("tr", null, texts.map((text) => h("td.fv-num", null, text)));
  }

  Object.assign(FreezerViewer, { ChartsPanel });
})();
