/* Links between lines of source, nodes of graphs and kernels: pure lookups in `view.by_line`. */

const QUIET = new Set(["prim::Constant", "prim::GetAttr", "get_attr"]);

export class SourceLinks {
  /**
   * @param {ByLine} byLine what became of each line, see viewer/views/source_lines.py
   */
  constructor({ files, places, sets, nodes }) {
    this.files = files;
    /** @type {Map<string, LineRow>} */
    this.rows = new Map();
    /** @type {Map<string, string[]>} */
    this.ofKernel = new Map();
    for (const { file, lines } of files) for (const row of lines) this.addRow(lineKey(file, row.line), row);
    const keys = places.map(([file, line]) => lineKey(files[file].file, line));
    const named = sets.map((set) => set.map((place) => keys[place]));
    /** @type {Map<string, Map<string, [number, string[]][]>>} by method and node: from which step on it has which lines */
    this.claims = new Map();
    /** @type {Map<string, Map<string, Set<string>>>} by method and line: nodes that ever do its work */
    this.claimants = new Map();
    for (const [method, claims] of Object.entries(nodes)) {
      const [ofNode, ofLine] = [new Map(), new Map()];
      for (const [node, since, set] of claims) {
        push(ofNode, node, [since, named[set]]);
        for (const key of named[set]) ofLine.set(key, (ofLine.get(key) ?? new Set()).add(node));
      }
      this.claims.set(method, ofNode);
      this.claimants.set(method, ofLine);
    }
  }

  /**
   * @param {string} key
   * @param {LineRow} row
   */
  addRow(key, row) {
    this.rows.set(key, row);
    for (const [program, kernel] of row.kernels) push(this.ofKernel, `${program}:${kernel}`, key);
  }

  /**
   * The lines whose work a node does in a step's graph.
   * @param {string} method
   * @param {string} node
   * @param {number} step
   * @returns {string[]}
   */
  linesOfNode(method, node, step) {
    const claims = this.claims.get(method)?.get(node) ?? [];
    return claims.findLast(([since]) => since <= step)?.[1] ?? [];
  }

  /**
   * The nodes that do the work of a line in a step's graph, in the order of the graph.
   * @param {string} method
   * @param {string} key
   * @param {{ step: number, nodes: Map<string, any> }} graph the step, and the nodes that are in its graph
   * @returns {string[]}
   */
  nodesOfLine(method, key, { step, nodes }) {
    const known = this.claimants.get(method)?.get(key);
    if (!known) return [];
    return [...nodes.keys()].filter((id) => known.has(id) && this.linesOfNode(method, id, step).includes(key));
  }

  /**
   * @param {number} program
   * @param {number} kernel
   * @returns {string[]}
   */
  linesOfKernel(program, kernel) {
    return this.ofKernel.get(`${program}:${kernel}`) ?? [];
  }

  /**
   * The kernels of a program that run a line.
   * @param {number} program
   * @param {string} key
   * @returns {number[]}
   */
  kernelsOfLine(program, key) {
    return (this.rows.get(key)?.kernels ?? []).flatMap(([of, kernel]) => (of === program ? [kernel] : []));
  }

  /**
   * The lines to begin with: those that take most of the time, or else that most passes touched, in files that are no library's.
   * @param {number} count
   * @returns {[string, LineRow][]}
   */
  foremost(count) {
    const own = this.files.filter(({ kind, missing }) => kind !== "library" && !missing);
    const rows = (own.length ? own : this.files.slice(0, 1)).flatMap(({ file, lines }) =>
      lines.map((row) => /** @type {[string, LineRow]} */ ([lineKey(file, row.line), row])),
    );
    const weight = (/** @type {LineRow} */ row) => [shareOf(row)?.share ?? 0, stepsOf(row).length];
    const sorted = rows.sort(([, one], [, other]) => {
      const [[time, passes], [otherTime, otherPasses]] = [weight(one), weight(other)];
      return otherTime - time || otherPasses - passes || one.line - other.line;
    });
    return sorted.filter(([, row]) => row.effects.length || row.times.length).slice(0, count);
  }
}

/**
 * A line by its file and number.
 * @param {string} file
 * @param {number} line
 */
export function lineKey(file, line) {
  return `${file}:${line}`;
}

/**
 * The file and the number of a key; null for what is none.
 * @param {string} key
 * @returns {{ file: string, line: number } | null}
 */
export function placeOfKey(key) {
  const match = /^(.+):(\d+)$/s.exec(key);
  return match && { file: match[1], line: Number(match[2]) };
}

/**
 * The share of a line in the time of the frozen program's kernels, or else of another's; null where it is not known.
 * @param {LineRow} row
 */
export function shareOf(row) {
  return row.times.find(({ frozen }) => frozen) ?? row.times[0] ?? null;
}

/**
 * The steps that touched a line, in order.
 * @param {LineRow} row
 * @returns {number[]}
 */
export function stepsOf(row) {
  return [...new Set(row.effects.map(({ step }) => step))];
}

/**
 * Whether a line had operators, and nothing is left of them.
 * @param {LineRow} row
 */
export function isGone(row) {
  return row.operators > 0 && !row.left.length && !row.constants.length;
}

/**
 * Of the nodes of a line or kernel those that compute something; if none does, all.
 * @param {string[]} nodes
 * @param {Map<string, any>} graph
 */
export function telling(nodes, graph) {
  const computing = nodes.filter((id) => !QUIET.has(graph.get(id)?.op ?? ""));
  return computing.length ? computing : nodes;
}

/**
 * The lines of a file that are shown: those the trace has text of, and those that nodes come from; null for a gap.
 * @param {{ first_line: number, lines: string[] }[]} runs text of the file that the trace holds
 * @param {LineRow[]} rows
 * @returns {({ line: number, text: string | null } | null)[]}
 */
export function listing(runs, rows) {
  /** @type {Map<number, string | null>} */
  const texts = new Map(rows.map(({ line }) => [line, null]));
  for (const { first_line: first, lines } of [...runs].reverse()) {
    lines.forEach((text, offset) => texts.set(first + offset, text));
  }
  const numbers = [...texts.keys()].sort((one, other) => one - other);
  return numbers.flatMap((line, at) => {
    const row = { line, text: texts.get(line) ?? null };
    return at && line !== numbers[at - 1] + 1 ? [null, row] : [row];
  });
}

/**
 * @param {Map<string, any[]>} map
 * @param {string} key
 * @param {any} value
 */
function push(map, key, value) {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}

/**
 * The file that a listing opens: the user's first one, or else the library file with most lines. Code without a file of
 * its own, such as torch's `<string>`, comes last.
 * @param {FileRow[]} files
 * @returns {FileRow | undefined}
 */
export function firstFile(files) {
  const weight = (/** @type {FileRow} */ { file, lines }) => (file.startsWith("<") ? 0 : lines.length);
  const own = files.find(({ kind }) => kind !== "library");
  return own ?? files.reduce((most, file) => (weight(file) > weight(most) ? file : most), files[0]);
}
