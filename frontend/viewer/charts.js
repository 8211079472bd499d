/* The charts, which follow the chosen pass and lead to others, and the numbers behind them. */

import { fill, h } from "./dom.js";
import { stepLabel } from "./pair.js";
import { grid } from "./grid.js";

const OUTSIDE = -10; // left of every chart
const ROOM_FOR_NAMES = 480; // px
const LEFT_OUT =
  "Nothing was measured, so this view leaves its charts out to stay small. The HTML report (freezer-ui report, or viewer.report.write_report) has those of nodes and constants; a trace recorded with measurements has all of them here.";

export class ChartsPanel {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.turn = /** @type {any} */ (undefined);
    this.shown = /** @type {any} */ (undefined);
    this.pair = /** @type {any} */ (undefined);
    this.drawn = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "charts";
    this.label = "Charts";
    /** @type {any[]} */
    this.views = [];
    this.figures = h("div.fv-charts");
    this.table = h("section.fv-measured", { tabindex: "0", "aria-label": "Numbers of this pass" });
    this.element = h("div.fv-panel-body.fv-scroll", null, this.figures, this.table);
  }

  render() {
    const theme = this.app.theme();
    if (theme !== this.shown) this.turn = this.draw(theme);
    this.shown = theme;
    this.mark();
    const { pair } = this.app;
    if (pair !== this.pair) {
      fill(this.table, pair?.chosen && pair.before ? measured(pair.before) : null, pair ? measured(pair.after) : null);
    }
    this.pair = pair;
  }

  /** @param {string} theme */
  async draw(theme) {
    const { loadBokeh } = this.app.options;
    this.drawn = [];
    const charts = await this.loaded().catch((error) => this.failed(error));
    if (charts === undefined || this.app.gone) return;
    if (!charts?.[theme]?.length || !loadBokeh) {
      fill(this.figures, h("p.fv-empty", null, charts === null ? LEFT_OUT : "There is nothing to draw in this trace."));
      return;
    }
    const figures = charts[theme]
      .filter((/** @type {{ item: any }} */ { item }) => item)
      .map((/** @type {any} */ chart) => ({ ...chart, target: h("div.fv-chart-target") }));
    const absent = charts[theme]
      .filter((/** @type {{ item: any }} */ { item }) => !item)
      .map((/** @type {any} */ chart) => h("p.fv-absent-chart", null, caption(chart)));
    fill(
      this.figures,
      figures.map((/** @type {any} */ chart) =>
        h("figure.fv-chart", null, h("figcaption", null, caption(chart)), chart.target),
      ),
      absent,
    );
    const Bokeh = await loadBokeh();
    this.clear();
    for (const { item, target } of figures) {
      if (this.app.gone) continue;
      const views = await Bokeh.embed.embed_item(
        target.clientWidth < ROOM_FOR_NAMES ? withoutNames(item) : item,
        target,
      );
      this.views.push(views);
      this.connect(views);
    }
    if (this.app.gone) this.clear();
    this.mark();
  }

  /**
   * The charts; some pages load them only now.
   * @returns {Promise<ChartData | null>}
   */
  async loaded() {
    const { charts, loadCharts } = this.app.options;
    if (charts || !loadCharts) return charts;
    fill(this.figures, h("p.fv-empty", { role: "status" }, "Loading the charts …"));
    return (this.app.options.charts = await loadCharts());
  }

  /** @param {Error} error */
  failed(error) {
    const again = () => (this.turn = this.draw(this.app.theme()));
    const retry = h("button.fv-button", { type: "button", onclick: again }, "Try again");
    fill(
      this.figures,
      h("div.fv-empty", { role: "alert" }, h("p", null, `The charts cannot be shown. ${error.message}`), retry),
    );
  }

  /** BokehJS keeps what it drew, and its observers, until it is disposed of. */
  clear() {
    for (const views of this.views.splice(0)) views.clear();
  }

  destroy() {
    this.clear();
  }

  /**
   * The chosen point of a chart is that of a step.
   * @param {any} place
   */
  choose(place) {
    this.app.setStep(Math.round(place)); // two series of one chart are a little apart
  }

  /** @param {any} views */
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
        if (tag in places && line.location !== /** @type {Record<string, any>} */ (places)[tag]) {
          line.location = /** @type {Record<string, any>} */ (places)[tag];
        }
      }
    }
  }

  /** The places of the marking lines on the charts' axis. */
  places() {
    const { pair } = this.app;
    return { chosen: pair?.after.index ?? OUTSIDE, base: pair?.chosen && pair.before ? pair.before.index : OUTSIDE };
  }
}

/**
 * A chart whose marks say the pass by its number: "15 FoldFrozenConvBatchnorm −8%" reads "15 −8%".
 * @param {any} item of Bokeh
 */
function withoutNames(item) {
  const short = (/** @type {string} */ key, /** @type {any} */ value) =>
    value?.name === "Label" && value.attributes
      ? { ...value, attributes: { ...value.attributes, text: value.attributes.text.replace(/^(\d+) \S+/, "$1") } }
      : value;
  return JSON.parse(JSON.stringify(item, short));
}

/** @param {{ title: any, note: any }} options */
function caption({ title, note }) {
  return [h("strong", null, title), " ", h("span.fv-muted", null, note)];
}

/**
 * A ratio in words; where it shows no difference, the smallest one that would have shown.
 * @param {string} words
 * @param {string | null | undefined} unseen
 */
function claim(words, unseen) {
  return unseen ? `${words} (${unseen})` : words;
}

/**
 * Every number measured on one pass.
 * @param {ViewStep} step
 */
function measured(step) {
  if (!step || !(step.latency.length || step.numerics.length)) {
    const which = step ? `Step ${stepLabel(step)}` : "Nothing";
    return h(
      "p.fv-empty",
      null,
      step && !step.executable
        ? `${which} was not measured: its graph cannot run on its own.`
        : `${which} was not measured.`,
    );
  }
  const latency = step.latency.map((entry) =>
    cells(
      entry.device,
      `${entry.text} (${entry.interval})`,
      entry.previous ?? "",
      claim(entry.change ?? "", entry.change_unseen),
      entry.ratio ?? "",
      claim(entry.verdict, entry.unseen),
      entry.first,
      entry.warmup ? `${entry.warmup_time} in ${entry.warmup}` : "none",
      entry.samples,
      entry.notes.join("; "),
    ),
  );
  return [
    latency.length
      ? grid(
          `Latency of step ${stepLabel(step)}`,
          [
            "Device",
            "Median (95%)",
            "To the pass before",
            "",
            "To the first",
            "",
            "First call",
            "Warm-up calls",
            "Samples",
            "Notes",
          ],
          latency,
        )
      : null,
    step.numerics.length ? errors(step) : null,
  ];
}

/**
 * Every input's error, and of every output.
 * @param {ViewStep} step
 */
function errors(step) {
  const several = step.numerics.some((entry) => entry.inputs.length > 1);
  const own = (/** @type {any} */ entry, /** @type {any} */ inputs) =>
    several ? [entry.reference, inputs] : [entry.reference];
  const rows = step.numerics.flatMap((entry) =>
    entry.inputs.flatMap(({ inputs, error, outputs }) =>
      error === null
        ? outputs.map((output) =>
            cells(
              ...own(entry, inputs),
              output.output,
              output.max_abs,
              output.max_rel,
              output.ulp ?? "",
              output.sqnr,
              output.nonfinite,
              output.close ? "within tolerance" : "≠ past tolerance",
            ),
          )
        : [
            h(
              "tr",
              null,
              own(entry, inputs).map((text) => h("td", null, text)),
              h("td", { colspan: 7 }, `could not be compared: ${error}`),
            ),
          ],
    ),
  );
  const heads = [
    "Against",
    ...(several ? ["Inputs"] : []),
    "Output",
    "Max abs",
    "Max rel",
    "Max ULP",
    "SQNR",
    "New non-finite",
    "torch's tolerances",
  ];
  return grid(`Numeric error of step ${stepLabel(step)}`, heads, rows);
}

/** @param {...any} texts */
function cells(...texts) {
  return h(
    "tr",
    null,
    texts.map((text) => h("td.fv-num", null, text)),
  );
}
