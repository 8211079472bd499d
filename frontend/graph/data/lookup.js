/* The graph view's look-ups: one node in two graphs, and all nodes that a text is found in. */

import * as words from "./words.js";

/**
 * A node in both graphs of a pair, null where it is in neither.
 * @param {Model} model
 * @param {[number | null, number | null]} options
 * @param {string} id
 */
export function nodeIn(model, [before, after], id) {
  const key = model.keyOfId.get(id);
  if (key === undefined) return null;
  const read = (/** @type {number | null} */ index) => {
    const row = index === null ? -1 : model.snapshot(index).rowOf[key];
    return row < 0 ? null : model.node(row);
  };
  const [old, now] = [read(before), read(after)];
  if (!old && !now) return null;
  return { id, status: model.diff(before, /** @type {number} */ (after)).get(key) || null, before: old, after: now };
}

export class TextIndex {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.haystacks = new Map(); // row -> its texts
  }

  /**
   * `{id, label, module}` of the nodes and inputs that a text is found in: op, id, value names, module, attribute texts,
   * paths of attributes.
   * @param {string} text
   * @param {number[]} steps whose graphs to look in, by index
   */
  find(text, steps) {
    const { model } = this;
    const wanted = text.trim().toLowerCase();
    const seen = new Set();
    /** @type {{id: string, label: string, module: string}[]} */
    const found = [];
    if (!wanted) return found;
    for (const step of steps) {
      const snapshot = model.snapshot(model.steps[step].after);
      const names = model.namesOf(step);
      for (const key of snapshot.order) {
        const row = snapshot.rowOf[key];
        if (seen.has(key) || !this._isTold(row) || !this._has(row, names, wanted)) continue;
        seen.add(key);
        const node = model.node(row);
        found.push({ id: node.id, label: words.opName(node.op), module: node.module });
      }
    }
    return found;
  }

  /**
   * Whether a row is one to be found: a module that a graph is handed is no box, and a return has no name.
   * @param {number} row
   */
  _isTold(row) {
    const kind = this.model.kinds.get(this.model.keyOfRow[row]);
    return kind === undefined || (kind === "input" && !this.model.node(row).outputs[0].type.startsWith("__torch__"));
  }

  /**
   * @param {number} row
   * @param {Map<number, string[]>} names
   * @param {string} wanted
   */
  _has(row, names, wanted) {
    return (
      this._haystack(row).includes(wanted) ||
      Boolean(this.model.pathsOf(row, names)?.some((path) => path.toLowerCase().includes(wanted)))
    );
  }

  /** @param {number} row */
  _haystack(row) {
    let text = this.haystacks.get(row);
    if (text === undefined) {
      const node = this.model.node(row);
      const parts = [
        node.op,
        node.id,
        node.module,
        ...node.outputs.map((value) => value.name),
        ...node.attributes.map((pair) => pair.text),
      ];
      this.haystacks.set(row, (text = parts.join("\n").toLowerCase()));
    }
    return text;
  }
}
