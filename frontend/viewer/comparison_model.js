/* Two traces as one: the steps of both in one list, those of B after those of A (viewer/views/comparison/data.py). */

import { lineKey, SourceLinks } from "./source_links.js";
import { TraceModel } from "./trace_model.js";

export class ComparisonModel extends TraceModel {
  /**
   * @param {ViewData} view
   * @param {GraphMessage} graph
   * @param {ComparisonData} comparison
   */
  constructor(view, graph, comparison) {
    super(view, graph);
    /** The trace that attributes are read as: A (0) or B (1). */
    this.side = 0;
    this.comparison = comparison;
    this.passRows = comparison.rows;
    /** The links of A and of B. */
    this.sides = [this.links, new SourceLinks(comparison.source.b)];
    this.lineKeys = keysOf(comparison.source.files);
    this.fates = new Map(comparison.attributes.map((row) => [row.path, row]));
    /** @type {Map<number, number>} */
    this.rowOfStep = new Map();
    this.passRows.forEach((row, place) => {
      for (const step of [row.a, row.b]) if (step !== null) this.rowOfStep.set(step, place);
    });
  }

  /**
   * The two steps of one method, one of each trace, that a state shows; a link may name any such pair.
   * @param {{ step: number | null, against: number | null }} options
   */
  chosen({ step, against }) {
    const [one, other] = [this.step(step), this.step(against)];
    if (one && other && one.method === other.method && one.side === 1 && other.side === 0) return { step, against };
    return this.shown(this.rowOfStep.get(step ?? -1) ?? -1);
  }

  /** The place of the first pass whose graphs differ, or that only one trace has; -1 if there is none. */
  get firstDifference() {
    return this.passRows.findIndex((row) => row.graph === null || !row.graph.empty);
  }

  /**
   * The two steps that are shown for a row of the pass list.
   * @param {number} place
   */
  shown(place) {
    const row = this.passRows[place];
    if (!row) return { step: null, against: null };
    const [a, b] = row.shown;
    return b === null ? { step: a, against: null } : { step: b, against: a };
  }

  /**
   * The place of the row that shows two steps; -1 where they were put together by hand.
   * @param {{ step: number | null, against: number | null }} options
   */
  place({ step, against }) {
    return this.passRows.findIndex(
      ({ shown: [a, b] }, place) => this.isShown(place, step, against) && (a ?? b) !== null,
    );
  }

  /**
   * @param {number} place
   * @param {number | null} step
   * @param {null | number} against
   */
  isShown(place, step, against) {
    const shown = this.shown(place);
    return shown.step === step && shown.against === against;
  }

  /**
   * A step is compared with one of the other trace, or is shown alone, never with one of its own trace.
   * @param {number | null} index
   * @param {number | null} [against]
   * @returns {number | null}
   */
  baseOf(index, against = null) {
    const [one, other] = [this.step(index), this.step(against)];
    return one && other && one.method === other.method && one.side !== other.side ? against : null;
  }

  /**
   * An attribute as trace A has it, or as the trace has it that a step is of.
   * @param {string} path
   * @param {number | null} [at] the step
   */
  attribute(path, at = null) {
    const row = this.fates.get(path);
    if (!row) return null;
    const side = at === null ? this.side : this.step(at).side;
    return (side ? row.b : row.a) ?? row.a ?? row.b;
  }

  /**
   * Calls `look` while attributes are read as trace A (0) or B (1) has them, and returns its result.
   * @template T
   * @param {number} side
   * @param {() => T} look
   * @returns {T}
   */
  as(side, look) {
    this.side = side;
    try {
      return look();
    } finally {
      this.side = 0;
    }
  }

  /**
   * The trace that a step is of.
   * @param {number} index
   */
  sideOf(index) {
    return this.step(index).side ?? 0;
  }

  /**
   * @param {number} index
   * @param {string} value
   */
  attributesOf(index, value) {
    return this.as(this.sideOf(index), () => super.attributesOf(index, value));
  }

  /**
   * @param {number} index
   * @param {string} path
   */
  nodesOf(index, path) {
    return this.as(this.sideOf(index), () => super.nodesOf(index, path));
  }

  /** @param {string} method */
  held(method) {
    const side = this.side;
    const key = `${side} ${method}`;
    if (!this.holders.has(key)) {
      /** @type {Map<string, AttributeRow[]>} */
      const held = new Map();
      for (const row of this.comparison.attributes) {
        const fate = side ? row.b : row.a;
        for (const { value, method: holding } of fate?.locations ?? []) {
          if (fate && holding === method) held.set(value, [...(held.get(value) ?? []), fate]);
        }
      }
      this.holders.set(key, held);
    }
    return /** @type {Map<string, AttributeRow[]>} */ (this.holders.get(key));
  }

  /**
   * Each trace has a history of its own.
   * @param {string} method
   */
  chains(method) {
    const steps = this.steps.filter((/** @type {ViewStep} */ step) => step.method === method);
    return [0, 1]
      .map((side) => steps.filter((/** @type {ViewStep} */ step) => step.side === side))
      .filter((chain) => chain.length);
  }

  /**
   * Whether either trace has nodes of a line.
   * @param {string} key
   */
  hasLine(key) {
    return this.lineRows(key).some((row) => row !== null);
  }

  /**
   * What became of a line in A and in B; null where that trace has no nodes of it.
   * @param {string} key
   * @returns {(LineRow | null)[]}
   */
  lineRows(key) {
    const keys = this.lineKeys.get(key) ?? [];
    return this.sides.map((links, side) => links.rows.get(keys[side] ?? "") ?? null);
  }

  /**
   * The nodes that do the work of a line in the later of two steps, or else in the other, each by its own trace.
   * @param {string} key
   * @param {{ before: ViewStep | null, after: ViewStep }} pair
   */
  lineNodes(key, { before, after }) {
    const keys = this.lineKeys.get(key) ?? [];
    for (const step of [after, before]) {
      const own = step && keys[step.side ?? 0];
      if (!step || !own) continue;
      const { nodes } = this.graph(step.index);
      const found = this.sides[step.side ?? 0].nodesOfLine(step.method, own, { step: step.index, nodes });
      if (found.length) return found;
    }
    return [];
  }

  /**
   * The last step of a method's freeze in the trace that attributes are read as, or else in the other.
   * @param {string} method
   */
  final(method) {
    const chains = this.chains(method);
    return (chains.find(([step]) => step.side === this.side) ?? chains[0]).at(-1);
  }

  /** The last steps of the trace that attributes are read as. */
  finals() {
    const side = this.side;
    return this.methods
      .flatMap((method) => this.chains(method).flatMap((chain) => chain.at(-1) ?? []))
      .filter((step) => step.side === side);
  }
}

/**
 * The names of lines: each by its key in A, or else in B, with the keys that it has in both.
 * @param {FilePair[]} files
 * @returns {Map<string, (string | null)[]>}
 */
function keysOf(files) {
  return new Map(
    files.flatMap(({ names, lines }) =>
      lines.map((numbers) => {
        const keys = names.map((name, side) => {
          const number = numbers[side];
          return typeof number === "number" ? lineKey(name, number) : null;
        });
        return /** @type {[string, (string | null)[]]} */ ([keys[0] ?? keys[1], keys]);
      }),
    ),
  );
}
