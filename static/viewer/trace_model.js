/* The trace as the views read it: view data (viewer/view_models) and graph data (viewer/graph_data) in one. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  class TraceModel {
    /**
     * @param {Object} view what `viewer.view_models.view_data` returned
     * @param {Object} graph what `viewer.graph_data.graph_data` returned for the same trace
     */
    constructor(view, graph) {
      this.view = view;
      this.graphs = new FreezerGraph.Model(graph);
      this.snapshots = graph.snapshots;
      this.steps = view.steps;
      this.methods = view.methods;
      this.attributes = view.attributes;
      this.attributeIndex = new Map(view.attributes.map((row, index) => [row.path, index]));
      this.cache = new Map();
      this.histories = new Map();
      this.holders = new Map();
    }

    step(index) {
      return index === null ? null : this.steps[index] || null;
    }

    attribute(path) {
      return this.attributes[this.attributeIndex.get(path)] || null;
    }

    /** The snapshot a step leaves behind, as its place in the graph data. */
    snapshot(index) {
      return this.graphs.steps[index].after;
    }

    /**
     * What is in a step's graph. Steps that left the graph as it was share one object.
     * @returns {{lines: Array, nodes: Map, makers: Map, readers: Map, yielded: Set, root: string}} lines in the order of
     *   `freeze_engine.graph_lines` as {depth, node} or {depth, text}; nodes by id; the id that defines a value; the ids
     *   that read it; the values that are returned; the name of the graph's first input
     */
    graph(index) {
      const snapshot = this.snapshot(index);
      const known = this.cache.get(snapshot);
      if (known) return known;
      if (this.cache.size > 6) this.cache.delete(this.cache.keys().next().value);
      const graph = this.read(snapshot);
      this.cache.set(snapshot, graph);
      return graph;
    }

    read(snapshot) {
      const [values, body, outputs] = this.snapshots[snapshot];
      const graph = { lines: [], nodes: new Map(), makers: new Map(), readers: new Map(), yielded: new Set(), root: "" };
      graph.root = values.length ? this.graphs.strings[values[0]] : "";
      graph.lines.push({ depth: 0, text: `graph(${this.typed(values)}):` });
      this.readBody(graph, body, 1);
      graph.lines.push({ depth: 1, text: `return (${this.yielded(graph, outputs)})` });
      return graph;
    }

    readBody(graph, body, depth) {
      for (const row of this.graphs.bodies[body]) {
        const node = this.graphs.node(row);
        graph.lines.push({ depth, node });
        addNode(graph, node);
        (this.graphs.rows[row][8] || []).forEach(([values, inner, outputs], number) => {
          graph.lines.push({ depth: depth + 1, text: `block${number}(${this.typed(values)}):` });
          this.readBody(graph, inner, depth + 2);
          graph.lines.push({ depth: depth + 2, text: `-> (${this.yielded(graph, outputs)})` });
        });
      }
    }

    typed(values) {
      const { strings } = this.graphs;
      const pairs = [];
      for (let at = 0; at < values.length; at += 2) pairs.push(`%${strings[values[at]]} : ${strings[values[at + 1]]}`);
      return pairs.join(", ");
    }

    yielded(graph, outputs) {
      const names = outputs.map((place) => this.graphs.strings[place]);
      for (const name of names) graph.yielded.add(name);
      return names.map((name) => `%${name}`).join(", ");
    }

    lineText({ depth, node, text }) {
      return "  ".repeat(depth) + (node ? nodeText(node) : text);
    }

    /** A step's text with what it kept, dropped and added: rows of {kind, line, old, new, pair}. */
    diff(index) {
      const step = this.steps[index];
      const now = this.graph(index).lines;
      if (step.before === null || step.ir === null) return now.map((line, at) => ({ kind: "same", line, old: at + 1, new: at + 1 }));
      return pairUp(diffRows(this.graph(step.before).lines, now, step.ir));
    }

    /** The id of the node that defines a value or has that id in a step, or null. */
    resolve(index, name) {
      const graph = this.graph(index);
      return graph.nodes.has(name) ? name : graph.makers.get(name) ?? null;
    }

    /** Value name → attribute path, for every attribute a step's graph reads from the module it was called on. */
    reads(index) {
      const graph = this.graph(index);
      if (graph.reads) return graph.reads;
      const reads = new Map();
      for (const node of graph.nodes.values()) {
        const owner = node.op === "prim::GetAttr" ? node.inputs[0] : undefined;
        if (owner === undefined || !(owner === graph.root || reads.has(owner))) continue;
        const name = node.attributes.find((pair) => pair.name === "name")?.text.replace(/^"|"$/g, "");
        reads.set(node.outputs[0].name, owner === graph.root ? name : `${reads.get(owner)}.${name}`);
      }
      graph.reads = reads;
      return reads;
    }

    /** Value name → attributes whose value it holds in the method's final graph (names stay the same before). */
    held(method) {
      if (!this.holders.has(method)) {
        const held = new Map();
        for (const row of this.attributes) {
          for (const location of row.locations) {
            if (location.method !== method) continue;
            if (!held.has(location.value)) held.set(location.value, []);
            held.get(location.value).push(row);
          }
        }
        this.holders.set(method, held);
      }
      return this.holders.get(method);
    }

    /** Attributes that a value of a step reads or holds. */
    attributesOf(index, value) {
      const path = this.reads(index).get(value);
      const read = path === undefined ? null : this.attribute(path);
      return read ? [read] : this.held(this.steps[index].method).get(value) || [];
    }

    /** How a node came, changed and went: [{step, what, node}] over its method's steps. */
    history(method, id) {
      if (!this.histories.has(method)) this.histories.set(method, this.buildHistory(method));
      return this.histories.get(method).get(id) || [];
    }

    buildHistory(method) {
      const events = new Map();
      let before = null;
      for (const step of this.steps.filter((one) => one.method === method)) {
        const now = this.rows(this.snapshot(step.index));
        if (before !== now) this.compare(before, now, step, events);
        before = now;
      }
      return events;
    }

    compare(before, now, step, events) {
      for (const [id, row] of now) {
        const old = before?.get(id);
        if (old === row) continue;
        if (old === undefined) note(events, id, { step: step.index, what: before ? "added" : "there from the start" });
        else {
          const fields = changedFields(this.graphs.node(old), this.graphs.node(row));
          if (fields.length) note(events, id, { step: step.index, what: `${fields.join(", ")} changed` });
        }
      }
      if (before) for (const id of before.keys()) if (!now.has(id)) note(events, id, { step: step.index, what: "removed" });
    }

    /** Node id → row in the graph data, for one snapshot. */
    rows(snapshot) {
      this.rowMaps ??= new Map();
      if (!this.rowMaps.has(snapshot)) {
        const rows = new Map();
        const walk = (body) => {
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

    /** Kept source lines around a place: [{number, text}], empty where the trace has none. */
    sourceAround(file, line, reach) {
      const kept = this.view.sources.find(
        (source) => source.file === file && line >= source.first_line && line < source.first_line + source.lines.length,
      );
      if (!kept) return [];
      const first = Math.max(kept.first_line, line - reach);
      const last = Math.min(kept.first_line + kept.lines.length - 1, line + reach);
      return Array.from({ length: last - first + 1 }, (_, offset) => ({
        number: first + offset,
        text: kept.lines[first + offset - kept.first_line],
      }));
    }

    /** A source place in short: "model.py:22". */
    place(source) {
      return `${source.file.split(/[\\/]/).pop()}:${source.line}`;
    }
  }

  /** One node as torch would print it; `freeze_engine.node_line` says the same. */
  function nodeText(node) {
    const outputs = node.outputs.map(({ name, type }) => `%${name} : ${type}`).join(", ");
    const attributes = node.attributes.map(({ name, text }) => `${name}=${text}`).join(", ");
    const inputs = node.inputs.map((name) => `%${name}`).join(", ");
    const source = node.source ? ` # ${node.source.file}:${node.source.line}:${node.source.column}` : "";
    return `${outputs}${outputs && " "}= ${node.op}${attributes && `[${attributes}]`}(${inputs})${source}`;
  }

  function diffRows(before, now, opcodes) {
    const rows = [];
    let [old, at] = [0, 0];
    for (const code of opcodes) {
      const kind = Array.isArray(code) ? "added" : code < 0 ? "removed" : "same";
      for (let count = Math.abs(Array.isArray(code) ? code[0] : code); count > 0; count -= 1) {
        const row = { kind, line: kind === "removed" ? before[old] : now[at] };
        if (kind !== "added") row.old = (old += 1);
        if (kind !== "removed") row.new = (at += 1);
        rows.push(row);
      }
    }
    return rows;
  }

  /** Tells the two lines of a node that was rewritten about each other. */
  function pairUp(rows) {
    const dropped = new Map();
    for (const row of rows) if (row.kind === "removed" && row.line.node) dropped.set(row.line.node.id, row);
    for (const row of rows) {
      const other = row.kind === "added" && row.line.node ? dropped.get(row.line.node.id) : undefined;
      if (other) [row.pair, other.pair] = [other.line, row.line];
    }
    return rows;
  }

  function addNode(graph, node) {
    graph.nodes.set(node.id, node);
    for (const { name } of node.outputs) graph.makers.set(name, node.id);
    for (const name of new Set(node.inputs)) {
      if (!graph.readers.has(name)) graph.readers.set(name, []);
      graph.readers.get(name).push(node.id);
    }
  }

  function note(events, id, event) {
    if (!events.has(id)) events.set(id, []);
    events.get(id).push(event);
  }

  /** Names of the fields in which two versions of a node differ. */
  function changedFields(before, after) {
    return ["op", "inputs", "outputs", "attributes", "constant", "module", "source"].filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    );
  }

  Object.assign(FreezerViewer, { TraceModel, changedFields, nodeText });
})();
