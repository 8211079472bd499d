/* One strip of facts about the chosen pass, or about two passes held against each other. */

import { fill, h } from "./dom.js";
import { stepLabel } from "./pair.js";
import { term } from "./terms.js";

const OPERATORS_SHOWN = 3;
/** @type {Record<string, any>} */
const VERDICTS = {
  baseline: "what the others are compared with",
  faster: "faster than the first step",
  slower: "slower than the first step",
  "no measurable difference": "no measurable difference to the first step",
};
/** @type {Record<string, string>} */
const TERMS = { nodes: "node", constants: "constant", latency: "interval", "largest error": "tolerance" };
const VERDICT_NOTE = "A difference is told only where it holds among all comparisons of this trace";

export class PassSummary {
  /** @param {Viewer} app */
  constructor(app) {
    // Other methods set these.
    this.shown = /** @type {any} */ (undefined);
    this.app = app;
    this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
    this.isOpen = false;
  }

  /** A phone shows the rest of the strip on demand. */
  toggle() {
    const text = () => (this.isOpen ? "Less" : "More");
    const button = h(
      "button.fv-linklike.fv-small.fv-summary-toggle",
      {
        type: "button",
        "aria-expanded": String(this.isOpen),
        onclick: () => {
          this.isOpen = !this.isOpen;
          this.element.dataset.open = String(this.isOpen);
          button.setAttribute("aria-expanded", String(this.isOpen));
          fill(button, text());
        },
      },
      text(),
    );
    this.element.dataset.open = String(this.isOpen);
    return button;
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
        this.toggle(),
      ),
      h(
        "dl.fv-summary-facts",
        { tabindex: "0" },
        facts
          .filter((fact) => fact !== null)
          .map(([label, ...value]) =>
            h(
              "div",
              { class: label.startsWith("operators") ? "fv-summary-operators" : "" },
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
   * The way into a comparison of two passes, what stands in its way, and the way out.
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

/**
 * @param {Pair} pair
 * @returns {(Fact | null)[]}
 */
function stepFacts(pair) {
  const { after: step } = pair;
  return [
    ["nodes", step.nodes, nodeWords(pair)],
    operators(pair),
    step.duration === null ? null : ["took", step.duration],
    ["constants", ...constants(step)],
    ...step.latency.map(latency),
    ...step.latency_changes.map(({ text }) => /** @type {Fact} */ (["this pass", h("strong", null, text)])),
    numerics(step.numerics),
  ];
}

/** @param {Pair} pair */
function nodeWords(pair) {
  if (!pair.before) return null;
  if (pair.same) {
    return h(
      "span.fv-muted",
      null,
      pair.after.changed && !pair.chosen ? " unchanged; the module changed" : " unchanged",
    );
  }
  const { added, removed, changed } = pair.counts();
  const part = (/** @type {string} */ sign, /** @type {number} */ count, /** @type {string} */ kind) =>
    count ? h(`span.fv-${kind}`, null, ` ${sign}${count}`) : null;
  if (pair.after.tidied && !pair.chosen) {
    return h("span.fv-muted", null, ` only tidied up: −${removed} that nothing read`);
  }
  if (!added && !removed && !changed) return h("span.fv-muted", null, " in another order");
  return [part("−", removed, "removed"), part("+", added, "added"), part("~", changed, "modified")];
}

/**
 * @param {Pair} pair
 * @returns {Fact | null}
 */
function operators(pair) {
  const words = pair.operators().map(([op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
  if (!words.length) return null;
  const shown = words.slice(0, OPERATORS_SHOWN).join(", ");
  return [
    "operators",
    h("span.fv-clip", { title: words.join("\n") }, shown, words.length > OPERATORS_SHOWN ? ", …" : ""),
  ];
}

/**
 * @param {ViewStep} step
 * @returns {Child[]}
 */
function constants(step) {
  const still = step.constants_delta === null || step.constants_delta === "±0";
  return [step.constants, still ? null : h("span.fv-muted", null, ` ${step.constants_delta}`)];
}

/**
 * @param {Latency} entry
 * @returns {Fact}
 */
function latency(entry) {
  const ratio = entry.ratio === null ? null : `, ${entry.ratio}`;
  return [
    `latency, ${entry.device}`,
    timed(entry),
    " ",
    verdictWords(entry.verdict, VERDICTS[entry.verdict]),
    unseen(entry.unseen),
    h("span.fv-muted", null, ratio),
  ];
}

/**
 * The smallest difference that would have shown, where none did.
 * @param {string | null | undefined} words
 */
function unseen(words) {
  return words ? h("span.fv-muted", null, ` (${words})`) : null;
}

/** @param {Latency} entry */
function timed(entry) {
  return [entry.text, h("span.fv-muted", { title: "95% interval of the median" }, ` (${entry.interval})`)];
}

/**
 * @param {string} verdict
 * @param {Child} text
 */
function verdictWords(verdict, text) {
  return h("span", { title: VERDICT_NOTE, class: `fv-verdict-${verdict.split(" ")[0]}` }, text);
}

/**
 * One fact for all references: their errors, then what torch's tolerances say of them.
 * @param {Numerics[]} entries
 * @returns {Fact | null}
 */
function numerics(entries) {
  if (!entries.length) return null;
  const words = entries.map((entry, index) => [
    index ? ", " : "",
    errorWords(entry),
    entry.error === null ? against(entry) : null,
    beyond(entry),
  ]);
  const fine = entries.every((entry) => entry.error === null && entry.close);
  return ["largest error", words, fine ? h("span.fv-good", null, " within tolerance") : null];
}

/** @param {Numerics} entry */
function errorWords(entry) {
  return entry.error === null
    ? entry.max_abs
    : h("span.fv-muted", { title: entry.error }, `${entry.reference}: could not be compared`);
}

/** @param {Numerics} entry */
function against(entry) {
  return h("span.fv-muted", null, ` against ${entry.reference}`);
}

/** @param {Numerics} entry */
function beyond(entry) {
  return entry.error === null && !entry.close ? h("span.fv-bad", null, " ≠ past tolerance") : null;
}

// --- two passes

/**
 * @param {ComparedPair} pair
 * @returns {(Fact | null)[]}
 */
function comparedFacts(pair) {
  const { before, after } = pair;
  return [
    ["nodes", `${before.nodes} → ${after.nodes}`, nodeWords(pair)],
    operators(pair),
    ["constants", `${before.constants} → ${after.constants}`],
    ["attributes read", `${pair.model.reads(before.index).size} → ${pair.model.reads(after.index).size}`],
    ...after.latency.map((entry) => comparedLatency(pair, entry)),
    ...after.numerics.map((entry) => comparedError(pair, entry)),
  ];
}

/**
 * @param {ComparedPair} pair
 * @param {Latency} entry
 * @returns {Fact | null}
 */
function comparedLatency(pair, entry) {
  const old = pair.before.latency.find(({ device }) => device === entry.device);
  if (!old) return null;
  const told = pair.latencyVerdict(entry.device);
  const words = told
    ? verdictWords(told.verdict, [
        told.verdict,
        unseen(told.unseen),
        told.ratio && h("span.fv-muted", null, `, ${told.ratio}`),
      ])
    : h(
        "span.fv-muted",
        { title: "The trace holds each pass against the first one, not these two against each other" },
        "no verdict on this pair",
      );
  return [`latency, ${entry.device}`, timed(old), " → ", timed(entry), " ", words];
}

/**
 * @param {ComparedPair} pair
 * @param {Numerics} entry
 * @returns {Fact | null}
 */
function comparedError(pair, entry) {
  const old = pair.before.numerics.find(({ reference }) => reference === entry.reference);
  if (!old || old.error !== null || entry.error !== null) return null;
  return ["largest error", old.max_abs, beyond(old), " → ", entry.max_abs, against(entry), beyond(entry)];
}
