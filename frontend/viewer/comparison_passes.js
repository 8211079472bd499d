/* The passes of two traces side by side, and what differs after the chosen one. */

import { fill, h } from "./dom.js";
import { stepLabel } from "./pair.js";
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
    const row = /** @type {ComparisonModel} */ (this.app.model).passRows[place];
    const side = event.target.closest("[data-side]")?.dataset.side;
    const { step, against } = this.app.current;
    const alone =
      side === "a" && row.a !== null
        ? { step, against: row.a }
        : side === "b" && row.b !== null
          ? { step: row.b, against }
          : null;
    this.app.navigate(alone ?? /** @type {ComparisonModel} */ (this.app.model).shown(place));
    this.draw(false);
  }

  /** Places of the rows that are shown, method by method. */
  visible(state = this.app.current) {
    const text = state.passes.toLowerCase();
    const { passRows } = /** @type {ComparisonModel} */ (this.app.model);
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
    const place = /** @type {ComparisonModel} */ (this.app.model).place(state);
    for (const [at, option] of this.options) option.setAttribute("aria-selected", String(at === place));
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll("[data-step]"))) {
      const step = Number(cell.dataset.step);
      cell.classList.toggle("fv-pair-chosen", place < 0 && (step === state.step || step === state.against));
    }
    const chosen = this.options.get(place);
    if (chosen) this.bringIntoView(chosen);
    this.list.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  /** @param {State} state */
  build(state) {
    if (this.filter.value !== state.passes) this.filter.value = state.passes;
    this.quiet.checked = state.quiet;
    const places = this.visible(state);
    const { passRows } = /** @type {ComparisonModel} */ (this.app.model);
    this.count.textContent = `${places.length} of ${passRows.length}`;
    this.options.clear();
    fill(
      this.list,
      this.grouped(places, (/** @type {number} */ place) => passRows[place]),
    );
    this.list.setAttribute("role", places.length ? "listbox" : "group"); // a list box has options
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
