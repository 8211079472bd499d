/* The places of nodes in the source files of the model. */

export class SourcePlaces {
  /** @param {TraceModel} model */
  constructor(model) {
    this.model = model;
    /** Place of each node that only the evidence of an attribute names. @type {Map<string, SourceRef> | null} */
    this.evidence = null;
    /** By method: the place of the call of each submodule. @type {Map<string, Map<string, SourceRef>>} */
    this.called = new Map();
  }

  /**
   * The places of a node in the source, the user's own file first: [{source, called}].
   *
   * torch names the innermost place, which for a layer of torch.nn is torch's file. The method as it came still calls
   * its submodules, and the call that led to the node's module is in the user's file.
   * @param {string} method
   * @param {GraphNode} node
   */
  places(method, node) {
    const source = node.source ?? this.fromEvidence(node.id);
    const own = source ? [{ source, called: null }] : [];
    if (!node.module || (source && !isInstalled(source.file))) return own;
    const parts = node.module.split(".");
    for (let length = parts.length; length; length -= 1) {
      const called = parts.slice(0, length).join(".");
      const call = this.calls(method).get(called);
      if (call) return [{ source: call, called }, ...own];
    }
    return own;
  }

  /**
   * The source of a node as the evidence of some attribute has it; the node's graph has none.
   * @param {string} id
   */
  fromEvidence(id) {
    this.evidence ??= new Map(
      this.model.view.attributes.flatMap((/** @type {any} */ row) =>
        row.evidence.map((/** @type {Evidence} */ { node, source }) => [node, source]),
      ),
    );
    return this.evidence.get(id) ?? null;
  }

  /**
   * Path of a submodule → where the method, before anything was inlined, calls it; the first call counts.
   * @param {string} method
   */
  calls(method) {
    const known = this.called.get(method);
    if (known) return known;
    /** @type {Map<string, SourceRef>} */
    const calls = new Map();
    for (const [{ index }] of this.model.chains(method)) {
      const reads = this.model.reads(index);
      for (const { op, inputs, source } of this.model.graph(index).nodes.values()) {
        if (op !== "prim::CallMethod" || !source || isInstalled(source.file)) continue;
        const path = reads.get(/** @type {string} */ (inputs[0]));
        if (path !== undefined && !calls.has(path)) calls.set(path, source);
      }
    }
    this.called.set(method, calls);
    return calls;
  }

  /**
   * Kept source lines around a place: [{number, text}], empty where the trace has none.
   * @param {string} file
   * @param {number} line
   * @param {number} reach
   */
  around(file, line, reach) {
    const kept = this.model.view.sources.find(
      (/** @type {any} */ source) =>
        source.file === file && line >= source.first_line && line < source.first_line + source.lines.length,
    );
    if (!kept) return [];
    const first = Math.max(kept.first_line, line - reach);
    const last = Math.min(kept.first_line + kept.lines.length - 1, line + reach);
    return Array.from({ length: last - first + 1 }, (_, offset) => ({
      number: first + offset,
      text: kept.lines[first + offset - kept.first_line],
    }));
  }
}

/**
 * A source place in short: "model.py:22".
 * @param {{ file: string, line: number }} place
 */
export function placeText({ file, line }) {
  return `${file.split(/[\\/]/).pop()}:${line}`;
}

/**
 * Whether a file belongs to an installed package or to no file at all, and so is not the user's own.
 * @param {string} file
 */
export function isInstalled(file) {
  return /[\\/](site|dist)-packages[\\/]|^</.test(file);
}
