/* Short signs of a pass in the list: its changes of nodes and latency, its error, and its title. */

import { h } from "./dom.js";

/**
 * @param {TraceModel} model
 * @param {ViewStep} step
 */
export function counts(model, step) {
  if (!step.changed || step.before === null) return null;
  if (step.tidied) return h("span.fv-counts.fv-num.fv-muted", null, `−${step.removed} unread`);
  const part = (/** @type {string} */ sign, /** @type {number} */ count, /** @type {string} */ kind) =>
    count ? h(`span.fv-${kind}`, null, `${sign}${count}`) : null;
  const parts = [part("−", step.removed, "removed"), part("+", step.added, "added")];
  const rest =
    part("~", step.modified, "modified") ?? h("span.fv-muted", null, model.pair(step.index).same ? "module" : "moved");
  return h("span.fv-counts.fv-num", null, parts.some(Boolean) ? parts : rest);
}

/**
 * By how much the pass changed the latency, where that is measurable; of several devices the largest change.
 * @param {ViewStep} step
 */
export function payoffs(step) {
  const [most] = [...step.latency_changes].sort((one, other) => far(other) - far(one));
  if (!most) return null;
  const title = step.latency_changes.map((change) => `measurable: ${change.text}`).join("\n");
  return h(
    "span.fv-payoff.fv-num",
    {
      class: `fv-payoff-${most.verdict}`,
      role: "img",
      "aria-label": `measurably ${most.verdict}, ${most.short}`,
      title,
    },
    most.verdict === "faster" ? "▼ " : "▲ ",
    most.short,
  );
}

/** @param {LatencyChange} options */
function far({ ratio }) {
  return Math.abs(Math.log(ratio));
}

/**
 * The error against eager, where it is past torch's tolerances.
 * @param {ViewStep} step
 */
export function past(step) {
  return step.numerics.find((entry) => entry.reference === "eager" && entry.error === null && !entry.close);
}

/**
 * @param {TraceModel} model
 * @param {ViewStep} step
 */
export function describe(model, step) {
  const effect = !step.changed
    ? "changed nothing"
    : step.before !== null && model.pair(step.index).same
      ? "changed the module, not this graph"
      : step.tidied
        ? `only tidied up: ${step.removed} removed that nothing read`
        : `${step.removed} removed, ${step.added} added, ${step.modified} changed`;
  const facts = [
    `${step.name} (${step.stage}, ${step.method})`,
    step.before === null ? `${step.nodes} nodes` : effect,
    step.duration,
    ...step.latency_changes.map(({ verdict, text }) => `${verdict}: ${text}`),
  ]
    .filter(Boolean)
    .join(" · ");
  const does = model.passTexts(step).map(([, text]) => text);
  return [facts, ...does, step.why_not].filter(Boolean).join("\n");
}
