/* The settings, notices and failures of two traces side by side. */

import { h } from "./dom.js";
import { SIDES, sideSign } from "./pair.js";
import { grid } from "./grid.js";
import { section } from "./section.js";

export class ComparisonEnvironmentPanel {
  /** @param {ComparisonApp} app */
  constructor(app) {
    this.app = app;
    this.id = "environment";
    this.label = "Settings";
    const { settings, failures, near_misses: misses, names, made, calls, notices, facts } = app.model.comparison;
    this.count = settings.length;
    const rows = settings.map(({ subject, name, a, b }) => line([subject, name, a ?? "absent", b ?? "absent"]));
    const traces = SIDES.map((side, index) =>
      h(
        "tr",
        null,
        h("td", null, sideSign(index)),
        h("td", null, names[index]),
        h("td.fv-num", null, made[index] || "unknown"),
        h("td.fv-mono.fv-wrap", null, calls[index] || "unknown"),
      ),
    );
    this.element = h(
      "div.fv-panel-body.fv-scroll.fv-two-settings",
      { tabindex: "0", role: "region", "aria-label": "Settings" },
      h("h2.fv-unseen", null, "Settings"), // no pass is shown above, whose name is the heading elsewhere
      grid("Traces", ["", "Model", "Made", "By"], traces),
      rows.length
        ? grid("Differences of request, inputs and environment", ["", "Name", "A", "B"], rows)
        : section("Settings", h("p.fv-muted", null, "Options, inputs and environment are the same in both.")),
      noticeTable("Notices", notices),
      noticeTable("About this environment", facts),
      failures.some(Boolean)
        ? grid(
            "How the recordings ended",
            ["A", "B"],
            [line(failures.map((/** @type {string | null} */ text) => text ?? "without an error"))],
          )
        : null,
      misses.some((side) => side.length)
        ? grid(
            "Near misses of one trace only",
            ["", "Fold", "Node", "Why not", "Evidence"],
            misses.flatMap((side, index) =>
              side.map((miss) => line([sideSign(index), miss.kind, `%${miss.node}`, miss.reason, miss.detail])),
            ),
          )
        : null,
    );
  }

  render() {}
}

/**
 * @param {string} title
 * @param {any} sides
 */
function noticeTable(title, sides) {
  if (!sides.some((/** @type {any} */ side) => side.length)) return null;
  const rows = sides.flatMap((/** @type {any} */ side, /** @type {number} */ index) =>
    side.map((/** @type {{ message: any, quoted: any }} */ { message, quoted }) =>
      h(
        "tr",
        null,
        h("td", null, sideSign(index)),
        h("td.fv-wrap", null, message, quoted && h("pre.fv-log", { tabindex: "0" }, quoted)),
      ),
    ),
  );
  return grid(title, ["", "Notice"], rows);
}

/** @param {any} texts */
function line(texts) {
  return h(
    "tr",
    null,
    texts.map((/** @type {string | null} */ text) => h("td.fv-wrap", null, text)),
  );
}
