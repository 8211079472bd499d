/* Two steps held against each other: a pass and the one before it, or any two of one method. */

import { diffLines } from "./diff.js";
import { h } from "./dom.js";

export class Pair {
  /**
   * @param {TraceModel} model
   * @param {number|null} before index of the earlier-looking step; null: there is nothing to compare with
   * @param {number} after index of the other
   */
  constructor(model, before, after) {
    this.model = model;
    this.before = model.step(before);
    this.after = model.step(after);
  }

  /** The steps that it has, the later first. */
  steps() {
    return this.before ? [this.after, this.before] : [this.after];
  }

  /** Whether these are not just a pass and the one before it. */
  get chosen() {
    return this.before !== null && this.before.index !== this.after.before;
  }

  /** Whether both have the very same graph. */
  get same() {
    return this.before !== null && this.model.snapshot(this.before.index) === this.model.snapshot(this.after.index);
  }

  /** The numbers of nodes that were added, removed and changed. */
  counts() {
    const { graphs } = this.model;
    const counts = { added: 0, removed: 0, changed: 0 };
    if (!this.before) return counts;
    const statuses = graphs.diff(this.model.snapshot(this.before.index), this.model.snapshot(this.after.index));
    for (const [key, status] of statuses) {
      if (!graphs.isPseudo(key)) counts[status] += 1;
    }
    return counts;
  }

  /** [operator, by how many more], the largest differences first. */
  operators() {
    if (!this.before || this.same) return [];
    /** @type {Map<string, number>} */
    const deltas = new Map();
    const count = (/** @type {ViewStep} */ step, /** @type {number} */ by) => {
      for (const { op } of this.model.graph(step.index).nodes.values()) deltas.set(op, (deltas.get(op) ?? 0) + by);
    };
    count(this.before, -1);
    count(this.after, 1);
    const found = [...deltas].filter(([, delta]) => delta);
    return found.sort(([a, one], [b, other]) => Math.abs(other) - Math.abs(one) || (a < b ? -1 : 1));
  }

  /** Both texts as one: see `diffLines`. */
  lines() {
    const now = this.model.graph(this.after.index).lines;
    if (!this.before || this.same) return now.map((line, at) => ({ kind: "same", line, old: at + 1, new: at + 1 }));
    const { graphs } = this.model;
    const same = (/** @type {Line} */ one, /** @type {Line} */ other) =>
      one.depth === other.depth &&
      one.text === other.text &&
      (one.row === undefined || (other.row !== undefined && graphs.sameNode(one.row, other.row)));
    return diffLines(this.model.graph(this.before.index).lines, now, same);
  }

  /**
   * The trace's own verdict on this pair's latency on one device; null where there is none.
   *
   * Verdicts hold against the first measured step, and changes against the step they name. Anything else would be a
   * claim that the statistics did not make, however far apart two medians are.
   * @param {string} device
   */
  latencyVerdict(device) {
    const [before, after] = [this.before, this.after].map((step) =>
      step?.latency.find((entry) => entry.device === device),
    );
    if (before?.verdict === "baseline" && after) {
      return { verdict: after.verdict, ratio: after.ratio, unseen: after.unseen };
    }
    const change = this.after.latency_changes.find((one) => one.device === device && one.since === this.before?.index);
    return change ? { verdict: change.verdict, ratio: change.short } : null;
  }
}

/**
 * A short label of a step: its number and, with two traces, the trace's letter.
 * @param {ViewStep} step
 */
export function stepLabel(step) {
  return step.label ?? String(step.index);
}

/** The fields of trace A and B in the messages. */
export const SIDES = /** @type {const} */ (["a", "b"]);

/**
 * The letter of trace A (0) or B (1), in its own shape and colour.
 * @param {number} side
 */
export function sideSign(side) {
  return h("span.fv-side", { class: `fv-side-${"ab"[side]}` }, "AB"[side]);
}
