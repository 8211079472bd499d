/* Kernels that Inductor generated in two traces; those that do the same work share a row. */

import { fill, h, reveal } from "./dom.js";
import { SIDES, sideSign } from "./pair.js";
import { grid } from "./grid.js";
import { ratioBar, ratioSpread } from "./ratio.js";
import { groupCounts, kernelRow } from "./side_by_side.js";

const WORDS = { same: "the same", different: "differ", "only in A": "only in A", "only in B": "only in B" };
const RUNS =
  "Taken in different runs: how many times as long something takes is stated only where that is more than noise, and more than the pace of the runs explains.";

export class ComparisonKernelsPanel {
  /** @param {TraceModel} model */
  static isFor(model) {
    return model.view.programs.length > 0;
  }

  /** @param {ComparisonApp} app */
  constructor(app) {
    // Other methods set these.
    this.key = /** @type {any} */ (undefined);
    this.pair = /** @type {any} */ (undefined);
    this.app = app;
    this.id = "kernels";
    this.label = "Kernels";
    this.pairs = app.model.comparison.programs;
    this.text = h("input.fv-input", {
      type: "search",
      placeholder: "Filter kernels ( / )",
      "aria-label": "Filter kernels",
      oninput: () => this.build(),
    });
    /** @type {ElementOf<"input">} */
    this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
    this.shown = h("span.fv-muted.fv-num", { role: "status" });
    const methods = new Set(this.pairs.map((/** @type {{ method: string }} */ { method }) => method));
    this.buttons = this.pairs.map((/** @type {any} */ pair) =>
      h(
        "button.fv-button",
        { type: "button", onclick: () => app.navigate({ program: pair.a ?? pair.b, kernel: null }) },
        methods.size > 1 ? `${pair.name}: ${pair.method}` : pair.name,
      ),
    );
    this.body = h("div.fv-beside.fv-two-kernels.fv-scroll", {
      tabindex: "0",
      role: "region",
      "aria-label": "Kernels of both traces",
    });
    const segments =
      this.buttons.length > 1 ? h("div.fv-segments", { role: "group", "aria-label": "Program" }, this.buttons) : null;
    const quiet = h("label.fv-check", null, this.quiet, "Only differences");
    this.element = h(
      "div.fv-panel-body",
      null,
      h("div.fv-bar", { role: "toolbar", "aria-label": "Kernels" }, segments, this.text, quiet, this.shown),
      this.body,
    );
  }

  focusSearch() {
    this.text.focus();
    this.text.select();
  }

  /** @param {{ program: any, kernel: any, quiet: boolean }} options */
  render({ program, kernel, quiet }) {
    const key = `${program} ${kernel} ${quiet}`;
    if (key === this.key) return;
    this.key = key;
    this.pair = this.pairs.find(({ a, b }) => a === program || b === program) ?? this.pairs[0];
    this.pairs.forEach((pair, index) => this.buttons[index].setAttribute("aria-pressed", String(pair === this.pair)));
    this.quiet.checked = quiet;
    this.build();
  }

  build() {
    const { pair } = this;
    const { groups } = pair;
    const text = this.text.value.toLowerCase();
    const rows = groups.filter(
      (/** @type {any} */ group) =>
        (!this.quiet.checked || group.difference !== "same") && (!text || this.words(group).includes(text)),
    );
    this.shown.textContent =
      rows.length === groups.length ? groupCounts(groups, WORDS) : `${rows.length} of ${groups.length} rows`;
    const table = rows.length
      ? this.table(rows)
      : h("p.fv-empty", null, text ? "No kernel matches." : "Every kernel is the same in both.");
    fill(this.body, h("div", null, this.absences(), this.whole()), table);
    const chosen = this.body.querySelector("tr.fv-chosen");
    if (chosen) reveal(this.body, /** @type {HTMLElement} */ (chosen));
  }

  /**
   * A group's kernels, what they compute and where that is, to be searched.
   * @param {any} group
   */
  words(group) {
    return this.kernels(group)
      .map(({ name, kind, computes, sources }) =>
        [
          name,
          kind,
          computes,
          ...sources.map((/** @type {any} */ source) => /** @type {ComparisonModel} */ (this.app.model).place(source)),
        ].join(" "),
      )
      .join(" ")
      .toLowerCase();
  }

  /** @param {any} group */
  kernels(group) {
    return SIDES.flatMap((side) =>
      group[side].map(
        (/** @type {any} */ kernel) =>
          /** @type {ComparisonModel} */ (this.app.model).view.programs[this.pair[side]].kernels[kernel],
      ),
    );
  }

  /** Says why a trace has no kernels. */
  absences() {
    const { comparison } = /** @type {ComparisonModel} */ (this.app.model);
    return SIDES.map((side, index) => {
      if (this.pair[side] !== null) return null;
      const why =
        comparison.without_programs[index] ?? `It holds no program “${this.pair.name}” of ${this.pair.method}.`;
      return h("p", null, sideSign(index), ` ${why} So no kernel of ${index ? "A" : "B"} below has a counterpart.`);
    });
  }

  whole() {
    const { times, ratio } = this.pair;
    const told = SIDES.map((side, index) => [index ? " " : "", sideSign(index), ` ${times[index] ?? "not timed"}`]);
    const both = SIDES.every((side) => this.pair[side] !== null);
    if (!both) return times.some(Boolean) ? h("p.fv-num", null, `All kernels together: ${times.find(Boolean)}`) : null;
    return [
      h("p.fv-num", null, "All kernels together: ", told, ratio ? [", B takes ", verdict(ratio)] : null),
      times.every(Boolean) ? h("p.fv-muted.fv-small", null, RUNS) : null,
    ];
  }

  /** @param {any[]} groups */
  table(groups) {
    const { app, pair } = this;
    const sides = SIDES.filter((side) => pair[side] !== null);
    const spread = ratioSpread(groups.map(({ ratio }) => ratio).filter(Boolean));
    const rows = groups.map((group) =>
      kernelRow(
        app,
        group.difference === "same" && !group.ratio,
        sides.map((side) => ({ program: pair[side], kernels: group[side], time: group[`${side}_time`] })),
        [this.computes(group), sides.length > 1 ? difference(group, spread) : null],
      ),
    );
    const heads = sides.map((side) =>
      h("span", null, sideSign(SIDES.indexOf(side)), ` ${app.model.comparison.names[SIDES.indexOf(side)]}`),
    );
    return grid("", [...heads, sides.length > 1 ? "B against A" : "Computes"], rows);
  }

  /**
   * The work of a group, as its kernels of one trace do it: those of the other do the same, in other pieces.
   * @param {any} group
   */
  computes(group) {
    const [side] = SIDES.filter((one) => group[one].length);
    const found = [
      ...new Set(
        this.kernels({ a: [], b: [], [side]: group[side] })
          .map(({ computes }) => computes)
          .filter(Boolean),
      ),
    ];
    return h("div.fv-muted.fv-small.fv-wrap", null, found.join("; "));
  }
}

/**
 * @param {{ difference: any, ratio: any }} options
 * @param {any} spread
 */
function difference({ difference: words, ratio }, spread) {
  const text = words === "same" ? "=" : words === "different" ? "≠ other kernels" : words;
  return [ratio ? [ratioBar(ratio, spread), h("div.fv-num", null, verdict(ratio))] : null, h("div", null, text)];
}

/** @param {{ text: any, value: number }} options */
function verdict({ text, value }) {
  return h(
    `span.fv-verdict-${value < 1 ? "faster" : "slower"}`,
    null,
    text.replace(" (", ` ${value > 2 ? "of" : "than"} A (`),
  );
}
