/* The graph view's index of texts: all nodes that a query finds. */

import * as words from "./words.js";

export class TextIndex {
  /**
   * @param {Model} model
   * @param {(file: string, line: number) => string} [sourceLine] text of a line of source
   */
  constructor(model, sourceLine = () => "") {
    this.model = model;
    this.sourceLine = sourceLine;
    /** @type {NodeTexts[]} */
    this.texts = []; // by row
  }

  /**
   * `{id, label, module}` of the nodes and inputs that a query finds: by op, id, value names, module, attributes, paths of
   * attributes; by shapes and dtypes; by place and line of source.
   * @param {Query | null} query
   * @param {number[]} steps whose graphs to look in, by index
   */
  find(query, steps) {
    const { model } = this;
    const seen = new Set();
    /** @type {Match[]} */
    const found = [];
    if (!query) return found;
    for (const step of steps) {
      const snapshot = model.snapshot(model.steps[step].after);
      const names = model.namesOf(step);
      for (const key of snapshot.order) {
        const row = snapshot.rowOf[key];
        if (seen.has(key) || !this._isTold(row) || !this._has(row, names, query)) continue;
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
   * @param {Query} query
   */
  _has(row, names, query) {
    const texts = (this.texts[row] ??= this._read(row));
    const paths = this.model.pathsOf(row, names);
    return (
      query.names(texts.names) ||
      Boolean(paths && query.names(paths.join("\n"))) ||
      Boolean(texts.shapes && query.shapes?.(texts.shapes)) ||
      Boolean(texts.source && query.source?.(texts.source)) ||
      Boolean(texts.line && query.line?.(texts.line))
    );
  }

  /**
   * @param {number} row
   * @returns {NodeTexts}
   */
  _read(row) {
    const node = this.model.node(row);
    const names = [
      node.op,
      node.id,
      node.module,
      ...node.outputs.map((value) => value.name),
      ...node.attributes.map((pair) => pair.text),
    ];
    const { source, constant } = node;
    const shapes = node.outputs.map((value) => words.shortType(value.type)).filter((type) => /\[.*\]$/.test(type));
    if (constant) shapes.push(`${constant.dtype}[${constant.shape.join(", ")}]`);
    return {
      names: names.join("\n"),
      shapes: shapes.join("\n"),
      source: source ? `${source.file}:${source.line}` : "",
      line: source ? this.sourceLine(source.file, source.line).trim() : "",
    };
  }
}
