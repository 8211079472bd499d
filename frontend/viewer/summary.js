/* One strip of facts about the chosen pass, or about two passes held against each other. */

import { fill, h } from "./dom.js";
import { stepLabel } from "./pair.js";
import { stripToggle } from "./strip_toggle.js";
import { term } from "./terms.js";
import { comparedFacts, stepFacts } from "./pass_facts.js";

/** @type {Record<string, string>} */
const TERMS = { nodes: "node", constants: "constant", latency: "interval", "largest error": "tolerance" };

/** Kinds of facts that a small window shows on demand, by the first word of their labels. @type {Record<string, string>} */
const KINDS = { operators: "fv-summary-operators", latency: "fv-summary-long", largest: "fv-summary-long" };

export class PassSummary {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.app = app;
    this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
  }

  /** @param {State} state */
  render(state) {
    const key = `${state.step}:${state.against}`;
    if (this.shown === key) return;
    this.shown = key;
    const { pair } = this.app;
    if (!pair) {
      fill(
        this.element,
        h("h2", null, "This trace holds no pass."),
        h("span.fv-muted", null, "Nothing was frozen while it was recorded."),
      );
      return;
    }
    const { after: step } = pair;
    /** @type {(Fact | null)[]} */
    const facts = pair.before && pair.chosen ? comparedFacts(/** @type {ComparedPair} */ (pair)) : stepFacts(pair);
    fill(
      this.element,
      h(
        "div.fv-summary-name",
        null,
        this.app.passes.drawerButton(),
        pair.chosen ? this.names(pair) : name(step, this.app),
        this.comparing(state, pair),
        stripToggle(this.element),
      ),
      h(
        "dl.fv-summary-facts",
        { tabindex: "0" },
        facts
          .filter((fact) => fact !== null)
          .map(([label, ...value]) =>
            h(
              "div",
              { class: KINDS[label.split(/[ ,]/)[0]] ?? "" },
              h("dt", null, this.label(label)),
              h("dd.fv-num", null, value),
            ),
          ),
      ),
      pair.chosen ? null : explanation(step, this.app.model),
      step.notes.length && !pair.chosen ? h("p.fv-summary-notes", null, this.notes(step)) : null,
      step.notices.length
        ? h(
            "ul.fv-summary-notices",
            null,
            step.notices.map((text) => h("li", null, text)),
          )
        : null,
    );
  }

  /**
   * The name of a fact; a term among them explains itself.
   * @param {string} text
   */
  label(text) {
    const name = TERMS[text.split(",")[0]];
    return name ? term(this.app, name, text) : text;
  }

  /**
   * The notes on the pass: why it decided as it did, which patterns matched.
   * @param {ViewStep} step
   */
  notes(step) {
    const more = step.log.length - step.notes.length;
    const rest = more
      ? [" · ", this.app.link(`${more} more`, { tab: "rewrites", scope: "pass" }, `${more} more notes of this pass`)]
      : null;
    return [step.notes.join(" · "), rest];
  }

  /** @param {{ before: any, after: any }} options */
  names({ before, after }) {
    const one = (/** @type {ViewStep} */ step) => [h("span.fv-num.fv-muted", null, stepLabel(step)), " ", step.name];
    const backwards = after.index < before.index ? " · back in time" : "";
    return [
      h(
        "h2",
        { title: `${before.name} → ${after.name}` },
        h("span.fv-muted", null, "comparing "),
        one(before),
        " → ",
        one(after),
      ),
      h("span.fv-muted", null, `${after.method}${backwards}`),
    ];
  }

  /**
   * The way into a comparison of two passes, what is in its way, and the way out.
   * @param {State} state
   * @param {Pair} pair
   */
  comparing(state, pair) {
    const { app } = this;
    if (state.against === null) {
      const start = () => app.navigate({ against: state.step });
      return h(
        "button.fv-linklike.fv-small",
        { type: "button", title: "Then choose any other pass (c)", onclick: start },
        "Compare from here",
      );
    }
    const base = app.model.step(state.against);
    const hint =
      pair.before?.index === state.against
        ? null
        : state.against === state.step
          ? "comparing from here: choose another pass"
          : base &&
            `not compared with ${base.index} ${base.name}: that is ${base.method}, and only passes of one method can be compared`;
    const stop = () => app.navigate({ against: null });
    return [
      hint && h("span.fv-compare-hint", null, hint),
      h(
        "button.fv-button.fv-compare-stop",
        { type: "button", title: "Show each pass against the one before it again (c)", onclick: stop },
        "Stop comparing",
      ),
    ];
  }
}

/**
 * @param {ViewStep} step
 * @param {Viewer} app
 */
function name(step, app) {
  const { view } = app.model;
  const round = step.round === null ? null : [", ", term(app, "round", `round ${step.round}`)];
  return [
    h("span.fv-num.fv-muted", null, stepLabel(step)),
    h("h2", { title: step.name }, step.name),
    step.title ? h("span", null, step.title) : null,
    h("span.fv-muted", { title: view.stages[step.stage] }, step.stage, round, ` · ${step.method}`),
  ];
}

/**
 * The purpose of the pass and, where it changed nothing, the reason.
 * @param {ViewStep} step
 * @param {TraceModel} model
 */
function explanation(step, model) {
  const several = step.does.length > 1;
  const texts = model
    .passTexts(step)
    .map(([pass, does]) => h("span", null, several ? `${pass}: ${does} ` : `${does} `));
  const why = step.why_not ? h("span.fv-why-not", null, "It changed nothing here. ", step.why_not) : null;
  return texts.length ? h("p.fv-summary-does", { tabindex: "0" }, texts, why) : null;
}

// --- one pass

// --- two passes
