/* The pass list: what ran, what it changed, how long it took, what it cost in speed and accuracy. */

import { fill, h } from "./dom.js";
import { PassFrame } from "./pass_frame.js";
import { counts, describe, past, payoffs } from "./pass_signs.js";

/** @type {[string, (step: ViewStep) => any][]} */
const MORE = [
  ["nodes", (/** @type {ViewStep} */ step) => step.nodes],
  ["took", (/** @type {ViewStep} */ step) => step.duration],
  ["error", (/** @type {ViewStep} */ step) => step.numerics.find((entry) => entry.error === null)?.max_abs],
  ["latency", (/** @type {ViewStep} */ step) => step.latency[0]?.text],
];

export class PassList extends PassFrame {
  /** @param {Viewer} app */
  constructor(app) {
    super(app, { label: "Passes", quiet: "Hide passes without effect", heads: heads(app.model.steps) });
    this.scale = latencyScale(app.model.steps);
    this.marks = hasMarks(app.model.steps);
  }

  /**
   * The further columns of a wide list.
   * @param {ViewStep} step
   */
  more(step) {
    return columns(this.app.model.steps).map(([name, read]) =>
      h(`span.fv-pass-more.fv-pass-more-${name}.fv-num`, null, read(step) ?? ""),
    );
  }

  /**
   * A click chooses a pass; on its number, or with Shift, it says what to compare with.
   * @param {any} event
   */
  click(event) {
    const option = event.target.closest("[data-step]");
    if (!option) return;
    const step = Number(option.dataset.step);
    const { current } = this.app;
    if (event.target.closest(".fv-pass-index")) this.app.navigate({ against: current.against === step ? null : step });
    else if (!event.shiftKey) this.choose(step);
    else if (step > (current.step ?? -1)) this.app.navigate({ step, against: current.against ?? current.step });
    else this.app.navigate({ against: step });
  }

  /** @param {any} step */
  choose(step) {
    this.app.setStep(step);
    this.draw(false);
  }

  /** Steps the list shows, in its order: method by method, each in the order torch ran them. */
  visible(state = this.app.current) {
    const text = state.passes.toLowerCase();
    const { methods, steps } = this.app.model;
    const shown = steps.filter(
      (/** @type {ViewStep} */ step) =>
        (!state.quiet || step.changed || step.before === null) &&
        (!text || `${step.name} ${step.title} ${step.stage} ${step.method}`.toLowerCase().includes(text)),
    );
    return methods.flatMap((/** @type {string} */ method) =>
      shown.filter((/** @type {ViewStep} */ step) => step.method === method),
    );
  }

  /**
   * @param {State} state
   * @param {State | null} previous
   */
  render(state, previous) {
    const rebuild = !previous || state.passes !== previous.passes || state.quiet !== previous.quiet;
    const returns = previous?.tab === "summary" && state.tab !== "summary"; // hidden until now, it could not scroll
    if (!rebuild && !returns && state.step === previous.step && state.against === previous.against) return;
    if (rebuild) this.build(state);
    this.markBase(state);
    this.options.get(previous?.step)?.setAttribute("aria-selected", "false");
    const chosen = this.options.get(state.step);
    chosen?.setAttribute("aria-selected", "true");
    if (chosen) this.bringIntoView(chosen);
    this.list.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  /**
   * Shows which pass the chosen one is compared with, and what lies between them.
   * @param {State} state
   */
  markBase({ step, against }) {
    const { model } = this.app;
    const ends = step !== null && model.comparable(against, step) ? [step, against ?? step] : [against ?? -1];
    const [first, last] = [Math.min(...ends), Math.max(...ends)];
    for (const [index, option] of this.options) {
      const between =
        against !== null &&
        index >= first &&
        index <= last &&
        model.step(index)?.method === model.step(against)?.method;
      option.classList.toggle("fv-pass-between", between);
      option.classList.toggle("fv-pass-base", index === against);
      if (index === against) option.setAttribute("aria-description", "compared from here");
      else option.removeAttribute("aria-description");
    }
  }

  /** @param {State} state */
  build(state) {
    if (this.filter.value !== state.passes) this.filter.value = state.passes;
    this.quiet.checked = state.quiet;
    const steps = this.visible(state);
    this.count.textContent = `${steps.length} of ${this.app.model.steps.length}`;
    this.options.clear();
    fill(
      this.list,
      this.grouped(steps, (/** @type {ViewStep} */ step) => step),
    );
    this.list.setAttribute("role", steps.length ? "listbox" : "group"); // a list box has options
    if (!steps.length) {
      fill(this.list, h("p.fv-empty", null, this.app.model.steps.length ? "No pass matches." : "No passes."));
    }
    const { failure } = this.app.model.view;
    if (failure) this.list.append(this.failed(failure));
  }

  /** @param {ViewStep} step */
  option(step) {
    const round =
      step.round === null ? null : h("span.fv-round", { title: `Round ${step.round} of a loop` }, `r${step.round}`);
    const option = h(
      "div.fv-pass",
      {
        role: "option",
        id: `${this.app.prefix}-pass-${step.index}`,
        class: (step.changed && !step.tidied) || step.before === null ? "" : "fv-pass-quiet",
        "aria-selected": "false",
        data: { step: step.index },
        title: describe(this.app.model, step),
      },
      h(
        "span.fv-pass-index.fv-num",
        { title: "Compare from here (c, or Shift and a click on the other pass)" },
        step.index,
      ),
      h("span.fv-pass-name", null, step.name, step.title ? h("span.fv-pass-title", null, ` ${step.title}`) : null),
      round,
      h("span.fv-spring"),
      payoffs(step),
      counts(this.app.model, step),
      this.more(step),
      this.speed(step),
      this.mark(step),
    );
    this.options.set(step.index, option);
    return option;
  }

  /** @param {ViewStep} step */
  speed(step) {
    const [latency] = step.latency;
    if (!this.scale) return null;
    if (!latency || latency.median === null) return h("span.fv-speed");
    const percent = (/** @type {number} */ ns) => `${Math.min(100, (100 * ns) / this.scale)}%`;
    const bar = h("span.fv-speed-bar", { class: `fv-${latency.verdict}`, style: { width: percent(latency.median) } });
    const spread =
      latency.high === null
        ? null
        : h("span.fv-speed-spread", {
            style: { left: percent(latency.low), width: percent(Math.min(latency.high, this.scale) - latency.low) },
          });
    return h(
      "span.fv-speed",
      {
        title: `${latency.text} (${latency.interval}), ${latency.verdict}${latency.unseen ? ` (${latency.unseen})` : ""}`,
      },
      bar,
      spread,
    );
  }

  /** @param {ViewStep} step */
  mark(step) {
    const error = past(step);
    if (!error && step.notices.length) {
      return h(
        "span.fv-pass-mark.fv-warn",
        { role: "img", "aria-label": "notice", title: step.notices.join("\n") },
        "!",
      );
    }
    if (!error) return this.marks ? h("span.fv-pass-mark") : null;
    // What the first one broke stays broken: only the first stands out.
    const isFirst = step.past_tolerance.includes("eager");
    const label = isFirst ? "the first past tolerance" : "past tolerance";
    return h(
      "span.fv-pass-mark",
      {
        class: isFirst ? "fv-pass-broke" : "fv-muted",
        role: "img",
        "aria-label": label,
        title: `Error ${error.max_abs} against eager: ${label}`,
      },
      "≠",
    );
  }

  /** @param {Failure} failure */
  failed(failure) {
    return h(
      "div.fv-pass.fv-pass-failed",
      {
        role: "option",
        "aria-disabled": "true",
        data: failure.step === null ? {} : { step: failure.step },
        title: failure.title,
      },
      h("span.fv-pass-index", { "aria-hidden": "true" }, "✕"),
      h("span.fv-pass-name", null, failure.name),
      h("span.fv-spring"),
      h("span.fv-badge.fv-bad", null, failure.sign),
    );
  }
}

/**
 * The further columns of a wide list, without those that no step has a value for.
 * @param {ViewStep[]} steps
 */
function columns(steps) {
  return MORE.filter(([, read]) => steps.some(read));
}

/**
 * The names of the columns; those without a name have their place, too, so that each name is over its own.
 * @param {ViewStep[]} steps
 */
function heads(steps) {
  const shown = columns(steps).map(([name]) => h(`span.fv-pass-more.fv-pass-more-${name}`, null, name));
  const nameless = [latencyScale(steps) ? h("span.fv-speed") : null, hasMarks(steps) ? h("span.fv-pass-mark") : null];
  return h(
    "div.fv-pass.fv-passes-heads",
    { "aria-hidden": "true" },
    h("span.fv-spring"),
    h("span.fv-counts", null, "change"),
    shown,
    nameless,
  );
}

/** @param {ViewStep[]} steps */
function hasMarks(steps) {
  return steps.some((step) => past(step) || step.notices.length);
}

/**
 * The time of a full bar: the slowest median with some room. An interval may be many times longer.
 * @param {ViewStep[]} steps
 */
function latencyScale(steps) {
  return 1.25 * Math.max(0, ...steps.map((step) => step.latency[0]?.median ?? 0));
}
