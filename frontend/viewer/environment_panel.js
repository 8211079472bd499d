/* The tab of the environment: how the trace was made, notices, settings, baselines. */

import { h } from "./dom.js";
import { grid } from "./grid.js";
import { pairs, section } from "./section.js";
import { term } from "./terms.js";

export class EnvironmentPanel {
  /** @param {Viewer} app */
  constructor(app) {
    this.app = app;
    this.id = "environment";
    this.label = "Environment";
    const { environment } = app.model.view;
    this.element = h(
      "div.fv-panel-body.fv-scroll",
      null,
      h("h2.fv-unseen", null, "Environment"), // no pass is shown above, whose name is the heading elsewhere
      h(
        "div.fv-columns",
        null,
        section("Recorded with", environment.call ? this.call(environment.call) : h("p.fv-muted", null, "unknown")),
        this.notices(environment.notices, "Notices", "fv-warn"),
        section("Recording", pairs(environment.recording)),
        section("Machine", pairs(environment.machine)),
        environment.options.length ? section("Options", pairs(environment.options)) : null,
        section(
          "Inputs",
          environment.inputs.length
            ? pairs(environment.inputs)
            : h("p.fv-muted", null, "Recorded without inputs: nothing was measured."),
        ),
        this.notices(environment.facts, "About this environment"),
        environment.settings.length ? section("Relevant settings", pairs(environment.settings)) : null,
        environment.baselines.length
          ? section(term(app, "baseline", "Compared with"), baselines(environment.baselines))
          : null,
      ),
    );
  }

  /** @param {string} text */
  call(text) {
    return h(
      "div.fv-call",
      null,
      h("pre", { tabindex: "0" }, text),
      h("button.fv-button", { type: "button", onclick: () => this.app.copy(text) }, "Copy"),
    );
  }

  /**
   * @param {Notice[]} notices
   * @param {string} title
   */
  notices(notices, title, tone = "") {
    if (!notices.length) return null;
    const items = notices.map((notice) =>
      h(
        "li",
        null,
        h("span.fv-badge", { class: tone }, notice.code.replaceAll("_", " ")),
        " ",
        notice.message,
        notice.quoted ? h("pre.fv-log", { tabindex: "0" }, notice.quoted) : null,
        notice.step === null ? null : [" ", this.app.details.stepLink(notice.step)],
      ),
    );
    return section(title, h("ul.fv-list.fv-notices", null, items));
  }

  render() {}
}

/** @param {Baseline[]} rows */
function baselines(rows) {
  const cells = rows.map((row) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, row.name),
      h(
        "td.fv-num",
        null,
        row.latency.length
          ? row.latency.map((entry) => h("div", null, `${entry.text} (${entry.interval}) on ${entry.device}`))
          : "not measured",
      ),
      h(
        "td.fv-num",
        null,
        row.numerics.length
          ? row.numerics.map((entry) => h("div", null, entry.error ?? `${entry.max_abs} against ${entry.reference}`))
          : "not compared",
      ),
    ),
  );
  return grid("", ["Model", "Latency", "Largest error"], cells);
}
