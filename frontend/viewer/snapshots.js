/* One graph of the graph data (viewer/views/graph_data.py) as text and by name: its lines, nodes, and who defines and reads what. */

const KEPT = 6; // graphs read at once: those of a comparison and what was shown just before

export class Snapshots {
  /**
   * @param {Model} graphs the graph data, read
   * @param {RawBody[]} snapshots its `snapshots`
   */
  constructor(graphs, snapshots) {
    this.graphs = graphs;
    this.snapshots = snapshots;
    /** @type {Map<number, GraphText>} */
    this.cache = new Map();
    /** @type {Map<number, Map<string, number>>} */
    this.rowMaps = new Map();
  }

  /**
   * The contents of a snapshot.
   * @param {number} snapshot
   * @returns {GraphText} lines in the order of
   *   `freeze_engine.trace.graph_lines` as {key, depth, node, row} or {key, depth, text}, each key once; nodes by id; the id that defines a value; the ids
   *   that read it; the values that are returned; the name of the graph's first input
   */
  graph(snapshot) {
    const known = this.cache.get(snapshot);
    if (known) return known;
    const [oldest] = this.cache.keys();
    if (this.cache.size > KEPT) this.cache.delete(oldest);
    const graph = this.read(snapshot);
    this.cache.set(snapshot, graph);
    return graph;
  }

  /** @param {number} snapshot */
  read(snapshot) {
    const [values, body, outputs] = this.snapshots[snapshot];
    /** @type {GraphText} */
    const graph = { lines: [], nodes: new Map(), makers: new Map(), readers: new Map(), yielded: new Set(), root: "" };
    graph.root = values.length ? this.graphs.strings[values[0]] : "";
    graph.lines.push({ key: "inputs", depth: 0, text: `graph(${this.typed(values)}):` });
    this.readBody(graph, body, 1);
    graph.lines.push({ key: "outputs", depth: 1, text: `return (${this.yielded(graph, outputs)})` });
    return graph;
  }

  /**
   * @param {GraphText} graph
   * @param {number} body
   * @param {number} depth
   */
  readBody(graph, body, depth) {
    for (const row of this.graphs.bodies[body]) {
      const node = this.graphs.node(row);
      graph.lines.push({ key: `%${node.id}`, depth, node, row });
      addNode(graph, node);
      (this.graphs.rows[row][8] || []).forEach(
        (/** @type {RawBlock} */ [values, inner, outputs], /** @type {any} */ number) => {
          const key = `${number} of %${node.id}`;
          graph.lines.push({ key: `inputs ${key}`, depth: depth + 1, text: `block${number}(${this.typed(values)}):` });
          this.readBody(graph, inner, depth + 2);
          graph.lines.push({ key: `outputs ${key}`, depth: depth + 2, text: `-> (${this.yielded(graph, outputs)})` });
        },
      );
    }
  }

  /** @param {number[]} values */
  typed(values) {
    const { strings } = this.graphs;
    const pairs = [];
    for (let at = 0; at < values.length; at += 2) pairs.push(`%${strings[values[at]]} : ${strings[values[at + 1]]}`);
    return pairs.join(", ");
  }

  /**
   * @param {GraphText} graph
   * @param {number[]} outputs
   */
  yielded(graph, outputs) {
    const names = outputs.map((place) => this.graphs.strings[place]);
    for (const name of names) graph.yielded.add(name);
    return names.map((name) => `%${name}`).join(", ");
  }

  /**
   * Node id → row in the graph data.
   * @param {number} snapshot
   */
  rows(snapshot) {
    if (!this.rowMaps.has(snapshot)) {
      const rows = new Map();
      const walk = (/** @type {number} */ body) => {
        for (const row of this.graphs.bodies[body]) {
          rows.set(this.graphs.strings[this.graphs.rows[row][0] || 0], row);
          for (const block of this.graphs.rows[row][8] || []) walk(block[1]);
        }
      };
      walk(this.snapshots[snapshot][1]);
      this.rowMaps.set(snapshot, rows);
    }
    return this.rowMaps.get(snapshot);
  }
}

/**
 * @param {GraphText} graph
 * @param {GraphNode} node
 */
function addNode(graph, node) {
  graph.nodes.set(node.id, node);
  for (const { name } of node.outputs) graph.makers.set(name, node.id);
  for (const name of new Set(node.inputs)) {
    if (!graph.readers.has(name)) graph.readers.set(name, []);
    graph.readers.get(name)?.push(node.id);
  }
}

/**
 * One line of a snapshot, indented.
 * @param {Line} line
 */
export function lineText(line) {
  return (line.words ??= "  ".repeat(line.depth) + (line.node ? nodeText(line.node) : line.text));
}

/**
 * One node as torch would print it; `freeze_engine.trace.node_line` says the same.
 * @param {GraphNode} node
 */
export function nodeText(node) {
  const outputs = node.outputs.map(({ name, type }) => `%${name} : ${type}`).join(", ");
  const attributes = node.attributes.map(({ name, text }) => `${name}=${text}`).join(", ");
  const inputs = node.inputs.map((name) => `%${name}`).join(", ");
  const source = node.source ? ` # ${node.source.file}:${node.source.line}:${node.source.column}` : "";
  return `${outputs}${outputs && " "}= ${node.op}${attributes && `[${attributes}]`}(${inputs})${source}`;
}

/**
 * Names of the fields in which two versions of a node differ.
 * @param {GraphNode} before
 * @param {GraphNode} after
 */
export function changedFields(before, after) {
  return ["op", "inputs", "outputs", "attributes", "constant", "module", "source"].filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
}
