/* Facts about the chosen pass, or about two passes held against each other. */

import { h } from "./dom.js";

const OPERATORS_SHOWN = 3;

/** @type {Record<string, any>} */
const VERDICTS = {
  baseline: "what the others are compared with",
  faster: "faster than the first step",
  slower: "slower than the first step",
  "no measurable difference": "no measurable difference to the first step",
};

const VERDICT_NOTE = "A difference is stated only where it holds among all comparisons of this trace";

/**
 * @param {Pair} pair
 * @returns {(Fact | null)[]}
 */
export function stepFacts(pair) {
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

/**
 * @param {ComparedPair} pair
 * @returns {(Fact | null)[]}
 */
export function comparedFacts(pair) {
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
