/* The passes of two traces side by side, and what differs after the chosen one. */

import { fill, h } from "./dom.js";
import { Pair, stepLabel } from "./pair.js";
import { PassFrame } from "./pass_frame.js";

export class ComparisonPassList extends PassFrame {
  /** @param {ComparisonApp} app */
  constructor(app) {
    super(app, { label: "Passes of both traces", quiet: "Only differences" });
  }

  /**
   * A click chooses both traces' step; on a number, that trace's step alone, against what the other one shows.
   * @param {any} event
   */
  click(event) {
    const option = event.target.closest("[data-row]");
    if (!option) return;
    const place = Number(option.dataset.row);
    const row = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).passRows[place];
    const side = event.target.closest("[data-side]")?.dataset.side;
    const { step, against } = this.app.current;
    const alone =
      side === "a" && row.a !== null
        ? { step, against: row.a }
        : side === "b" && row.b !== null
          ? { step: row.b, against }
          : null;
    this.app.navigate(alone ?? /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).shown(place));
    this.draw(false);
  }

  /** Places of the rows that are shown, method by method. */
  visible(state = this.app.current) {
    const text = state.passes.toLowerCase();
    const { passRows } = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model));
    return [...passRows.keys()].filter((place) => {
      const row = passRows[place];
      return (
        (!state.quiet || row.differs) &&
        (!text || `${row.name} ${row.stage} ${row.method}`.toLowerCase().includes(text))
      );
    });
  }

  /**
   * @param {any} state
   * @param {any} previous
   */
  render(state, previous) {
    const rebuild = !previous || state.passes !== previous.passes || state.quiet !== previous.quiet;
    if (rebuild) this.build(state);
    const place = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).place(state);
    for (const [at, option] of this.options) option.setAttribute("aria-selected", String(at === place));
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll("[data-step]"))) {
      const step = Number(cell.dataset.step);
      cell.classList.toggle("fv-pair-chosen", place < 0 && (step === state.step || step === state.against));
    }
    const chosen = this.options.get(place);
    if (chosen) this.bringIntoView(chosen);
    this.list.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  /** @param {any} state */
  build(state) {
    if (this.filter.value !== state.passes) this.filter.value = state.passes;
    this.quiet.checked = state.quiet;
    const places = this.visible(state);
    const { passRows } = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model));
    this.count.textContent = `${places.length} of ${passRows.length}`;
    this.options.clear();
    fill(
      this.list,
      this.grouped(places, (/** @type {any} */ place) => passRows[place]),
    );
    if (!places.length) {
      fill(
        this.list,
        h(
          "p.fv-empty",
          null,
          passRows.length ? (state.passes ? "No pass matches." : "No pass differs.") : "No passes.",
        ),
      );
    }
  }

  /** @param {any} place */
  option(place) {
    const row = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).passRows[place];
    const option = h(
      "div.fv-pass.fv-pair",
      {
        role: "option",
        id: `${this.app.prefix}-row-${place}`,
        class: row.differs ? "" : "fv-pass-quiet",
        "aria-selected": "false",
        data: { row: place },
        title: words(row),
      },
      this.number("a", row.a),
      this.number("b", row.b),
      h("span.fv-pass-name", null, row.name),
      row.round === null ? null : h("span.fv-round", { title: `Round ${row.round} of a loop` }, `r${row.round}`),
      h("span.fv-spring"),
      difference(row),
    );
    this.options.set(place, option);
    return option;
  }

  /**
   * @param {"a" | "b"} side
   * @param {number | null} index
   */
  number(side, index) {
    const name = side.toUpperCase();
    if (index === null) return h("span.fv-pair-number.fv-pair-none", { title: `${name} has no such pass` }, "–");
    const own = stepLabel(this.app.model.step(index)).slice(2);
    return h(
      "span.fv-pair-number.fv-num",
      {
        class: `fv-side-${side}`,
        data: { side, step: index },
        title: `Show ${name} ${own} against what is shown of the other trace`,
      },
      own,
    );
  }
}

/** @param {any} row */
function difference(row) {
  if (row.graph === null) {
    return h("span.fv-badge", { class: `fv-side-${row.a === null ? "b" : "a"}` }, `only ${row.a === null ? "B" : "A"}`);
  }
  if (!row.differs) return h("span.fv-muted", { title: "The same in both" }, "=");
  if (row.graph.empty) return h("span.fv-badge.fv-bad", { title: words(row) }, "≠ numbers");
  const part = (/** @type {string} */ sign, /** @type {any} */ count, /** @type {string} */ kind) =>
    count ? h(`span.fv-${kind}`, null, `${sign}${count}`) : null;
  const parts = [
    part("−", row.graph.removed, "removed"),
    part("+", row.graph.added, "added"),
    part("~", row.graph.changed, "modified"),
  ];
  const shown = parts.some(Boolean) ? parts : h("span.fv-muted", null, "moved");
  return [
    row.carried
      ? h("span.fv-muted", { title: "The same difference as after the pass before" }, "″")
      : h("span.fv-pair-new", { title: "This pass made a difference of its own" }, "≠"),
    h("span.fv-counts.fv-num", null, shown),
  ];
}

/** @param {any} row */
function words(row) {
  const { graph } = row;
  const what =
    graph === null
      ? `only in ${row.a === null ? "B" : "A"}`
      : graph.empty
        ? "the same graph in both"
        : `only in A: ${graph.removed} nodes, only in B: ${graph.added}, different: ${graph.changed}, elsewhere: ${graph.moved}${row.carried ? " (as after the pass before)" : ""}`;
  const errors = row.errors
    .filter((/** @type {any} */ error) => error.differs)
    .map((/** @type {any} */ error) => `error against ${error.reference}: A ${error.a}, B ${error.b}`);
  return [`${row.name} (${row.stage}, ${row.method})`, what, ...errors].join(" · ");
}

export class ComparisonSummary {
  /** @param {ComparisonApp} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.app = app;
    this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
  }

  render() {
    const { pair } = /** @type {ComparisonApp} */ (this.app);
    if (this.shown === pair) return;
    this.shown = pair;
    if (!pair) {
      fill(this.element, h("h2", null, "Neither trace holds a pass."));
      return;
    }
    const row = /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).passRows[
      /** @type {ComparisonModel} */ (/** @type {any} */ (this.app.model)).place(this.app.current)
    ];
    fill(
      this.element,
      h("div.fv-summary-name", null, this.app.passes.drawerButton(), this.names(pair)),
      row && row.graph === null ? h("span.fv-compare-hint", null, absent(row)) : null,
      h(
        "dl.fv-summary-facts",
        { tabindex: "0" },
        facts(pair)
          .filter(Boolean)
          .map(([label, ...value]) => h("div", null, h("dt", null, label), h("dd.fv-num", null, value))),
      ),
      this.sentences(pair),
    );
  }

  /**
   * The purpose of the pass and, for each trace in which it changed nothing, the reason.
   * @param {{ before: any, after: any }} options
   */
  sentences({ before, after }) {
    const steps = [before, after].filter(Boolean);
    const model = this.app.model;
    const texts = new Map(steps.flatMap((step) => model.passTexts(step)));
    const reasons = steps
      .filter((step) => step.why_not)
      .map((step) => ({
        side: step.side,
        why: step.why_not,
        text: `It changed nothing in ${"AB"[step.side]}. ${step.why_not} `,
      }));
    const [one, other] = reasons;
    const told =
      other && one.why === other.why ? [`It changed nothing in A and B. ${one.why}`] : reasons.map(({ text }) => text);
    if (!texts.size) return null;
    return h(
      "p.fv-summary-does",
      { tabindex: "0" },
      [...texts].map(([pass, does]) => h("span", null, texts.size > 1 ? `${pass}: ${does} ` : `${does} `)),
      told.length ? h("span.fv-why-not", null, told) : null,
    );
  }

  /** @param {{ before: any, after: any }} options */
  names({ before, after }) {
    const one = (/** @type {ViewStep} */ step) => [
      h("span.fv-side", { class: `fv-side-${step.side ? "b" : "a"}` }, stepLabel(step)),
      " ",
      step.name,
    ];
    const where = `${after.stage}${after.round === null ? "" : `, round ${after.round}`} · ${after.method}`;
    const same = before && before.name === after.name;
    const title = !before
      ? one(after)
      : same
        ? [h("span.fv-side.fv-side-a", null, stepLabel(before)), " ", one(after)]
        : [one(before), " ↔ ", one(after)];
    return [h("h2", null, title), h("span.fv-muted", null, where)];
  }
}

/** @param {any} row */
function absent(row) {
  const [name, other] = row.a === null ? ["B", "A"] : ["A", "B"];
  return row.shown.includes(null)
    ? `only ${name} has this method`
    : `only ${name} runs this pass; ${other} is shown as it is at that moment`;
}

/** @param {{ before: any, after: any, model: TraceModel }} options */
function facts({ before, after, model }) {
  if (!before) {
    return [
      ["nodes", after.nodes],
      ["constants", after.constants],
    ];
  }
  const pair = new Pair(model, before.index, after.index);
  return [
    ["nodes", `${before.nodes} | ${after.nodes}`, nodeWords(pair)],
    operators(pair),
    ["constants", `${before.constants} | ${after.constants}`],
    ...devices(before, after).map((device) => latency(before, after, device)),
    ...after.numerics.map((/** @type {any} */ entry) => error(before, entry)),
  ];
}

/** @param {any} pair */
function nodeWords(pair) {
  const { added, removed, changed } = pair.counts();
  if (!added && !removed && !changed) {
    return h("span.fv-muted", null, pair.same ? " the same graph" : " in another order");
  }
  const part = (
    /** @type {string} */ sign,
    /** @type {any} */ count,
    /** @type {string} */ kind,
    /** @type {string} */ title,
  ) => (count ? h(`span.fv-${kind}`, { title }, ` ${sign}${count}`) : null);
  return [
    part("−", removed, "removed", "only in A"),
    part("+", added, "added", "only in B"),
    part("~", changed, "modified", "in both, and different"),
  ];
}

/** @param {any} pair */
function operators(pair) {
  const all = pair
    .operators()
    .map((/** @type {[string, number]} */ [op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
  return all.length
    ? [
        "operators in B",
        h("span.fv-clip", { title: all.join("\n") }, all.slice(0, 3).join(", "), all.length > 3 ? ", …" : ""),
      ]
    : null;
}

/**
 * @param {any} before
 * @param {any} after
 */
function devices(before, after) {
  return [...new Set([...before.latency, ...after.latency].map(({ device }) => device))];
}

/**
 * The two were measured in different runs: no verdict is drawn from them.
 * @param {any} before
 * @param {any} after
 * @param {string} device
 */
function latency(before, after, device) {
  const text = (/** @type {ViewStep} */ step) => {
    const entry = step.latency.find((/** @type {any} */ one) => one.device === device);
    return entry ? [entry.text, h("span.fv-muted", null, ` (${entry.interval})`)] : "not measured";
  };
  return [
    `latency, ${device}`,
    text(before),
    " | ",
    text(after),
    h(
      "span.fv-muted",
      { title: "The machine may have been faster or busier in one of them: a difference of these two is no verdict" },
      " taken in different runs",
    ),
  ];
}

/**
 * @param {any} before
 * @param {any} entry
 */
function error(before, entry) {
  const old = before.numerics.find(
    (/** @type {{ reference: string }} */ { reference }) => reference === entry.reference,
  );
  if (!old || old.error !== null || entry.error !== null) return null;
  const past = (/** @type {any} */ one) => (one.close ? null : h("span.fv-bad", null, " ≠ past tolerance"));
  return [`largest error against ${entry.reference}`, old.max_abs, past(old), " | ", entry.max_abs, past(entry)];
}
