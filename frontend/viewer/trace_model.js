/* The trace as the views read it: view data (viewer/views) and graph data (viewer/views/graph_data) in one. */

import { nodeIn } from "../graph/data/lookup.js";
import { Model } from "../graph/data/model.js";
import { NodeHistories } from "./node_histories.js";
import { Pair } from "./pair.js";
import { Snapshots } from "./snapshots.js";
import { SourceLinks } from "./source_links.js";
import { SourcePlaces } from "./source_places.js";

export class TraceModel {
  /**
   * @param {ViewData} view what `viewer.views.view_data` returned
   * @param {GraphMessage} graph what `viewer.views.graph_data.graph_data` returned for the same trace
   */
  constructor(view, graph) {
    this.view = view;
    this.graphs = new Model(graph);
    this.texts = new Snapshots(this.graphs, graph.snapshots);
    this.steps = view.steps;
    this.methods = view.methods;
    this.attributes = view.attributes;
    this.attributeIndex = new Map(view.attributes.map((row, index) => [row.path, index]));
    this.links = new SourceLinks(
      view.by_line ?? { files: [], places: [], sets: [], nodes: {}, notes: { calls: "", time: "", error: "" } },
    );
    this.histories = new NodeHistories(this);
    this.sources = new SourcePlaces(this);
    /** @type {Map<string, Map<string, AttributeRow[]>>} */
    this.holders = new Map();
    /** @type {Map<string, Parts>} */
    this.coloured = new Map(); // see colouring.js
  }

  /**
   * The step of an index; null for null and, as a link may name any number, where there is none.
   * @template {number | null} Index
   * @param {Index} index
   * @returns {Index extends number ? ViewStep : ViewStep | null}
   */
  step(index) {
    const step = index === null ? null : this.steps[index] || null;
    return /** @type {Index extends number ? ViewStep : ViewStep | null} */ (step);
  }

  /**
   * The names of the passes of a step, with what they do.
   * @param {ViewStep} step
   */
  passTexts(step) {
    return step.does.map((place) => this.view.pass_texts[place]);
  }

  /**
   * @param {string} path
   * @returns {AttributeRow | null}
   */
  attribute(path) {
    return this.attributes[this.attributeIndex.get(path) ?? -1] || null;
  }

  /**
   * The snapshot a step leaves behind, as its place in the graph data.
   * @param {number} index
   */
  snapshot(index) {
    return this.graphs.steps[index].after;
  }

  /**
   * The contents of a step's graph: see `Snapshots.graph`. Steps that left the graph as it was share one object.
   * @param {number} index
   */
  graph(index) {
    return this.texts.graph(this.snapshot(index));
  }

  /**
   * Steps of a method that follow one another, one list for each recording of it.
   * @param {string} method
   */
  chains(method) {
    return [this.steps.filter((step) => step.method === method)];
  }

  /**
   * The step that a step is compared with.
   * @param {number|null} index the step
   * @param {number|null} against the step that was chosen to compare with; null: none
   * @returns {number|null} the step just before, unless another one was chosen that can be compared
   */
  baseOf(index, against = null) {
    const step = this.step(index);
    if (step === null) return null;
    return this.comparable(against, index) ? against : step.before;
  }

  /**
   * Whether two different steps can be held against each other: those of one method.
   * @param {number | null} one
   * @param {number | null} other
   */
  comparable(one, other) {
    const [first, second] = [this.step(one), this.step(other)];
    return first !== null && second !== null && first !== second && first.method === second.method;
  }

  /**
   * A step and what it is compared with.
   * @template {number | null} Index
   * @param {Index} index
   * @param {number | null} [against]
   * @returns {Index extends number ? Pair : Pair | null} null where there is no such step
   */
  pair(index, against = null) {
    const pair = index === null || !this.step(index) ? null : new Pair(this, this.baseOf(index, against), index);
    return /** @type {Index extends number ? Pair : Pair | null} */ (pair);
  }

  /**
   * The id of the node that defines a value or has that id in a step, or null.
   * @param {number} index
   * @param {string} name
   */
  resolve(index, name) {
    const graph = this.graph(index);
    return graph.nodes.has(name) ? name : (graph.makers.get(name) ?? null);
  }

  /**
   * The input or return of a graph or block in the graphs of a pair, by its id: {node, at}, null where there is none.
   * @param {Pair} pair
   * @param {string} id
   */
  end(pair, id) {
    const snapshots = [pair.before, pair.after].map((step) => step && this.snapshot(step.index));
    const found = this.graphs.isPseudo(this.graphs.keyOfId.get(id) ?? -1)
      ? nodeIn(this.graphs, /** @type {[number | null, number | null]} */ (snapshots), id)
      : null;
    return (
      found && { node: found.after ?? found.before, at: (found.after || !pair.before ? pair.after : pair.before).index }
    );
  }

  /**
   * Value name → attribute path, for every attribute a step's graph reads from the module it was called on.
   * @param {number} index
   */
  reads(index) {
    const graph = this.graph(index);
    if (graph.reads) return graph.reads;
    /** @type {Map<string, string>} */
    const reads = new Map();
    for (const node of graph.nodes.values()) {
      const owner = node.op === "prim::GetAttr" ? node.inputs[0] : undefined;
      if (owner === undefined || !(owner === graph.root || reads.has(owner))) continue;
      const name = node.attributes.find((pair) => pair.name === "name")?.text.replace(/^"|"$/g, "") ?? "";
      reads.set(node.outputs[0].name, owner === graph.root ? name : `${reads.get(owner)}.${name}`);
    }
    graph.reads = reads;
    return reads;
  }

  /**
   * Value name → attributes whose value it holds: in the method's final graph (names stay the same before), and in the
   * graphs until a later pass folded it, where torch names the constant after the attribute.
   * @param {string} method
   */
  held(method) {
    if (!this.holders.has(method)) {
      /** @type {Map<string, AttributeRow[]>} */
      const held = new Map();
      for (const row of this.attributes) {
        for (const location of row.locations) {
          if (location.method !== method) continue;
          if (!held.has(location.value)) held.set(location.value, []);
          held.get(location.value)?.push(row);
        }
      }
      for (const row of this.attributes) {
        if (row.fate === "folded" && !held.has(`self.${row.path}`)) held.set(`self.${row.path}`, [row]);
      }
      this.holders.set(method, held);
    }
    return /** @type {Map<string, AttributeRow[]>} */ (this.holders.get(method));
  }

  /**
   * Value name → paths of the attributes that an input or constant called so is or holds, in a step of Inductor.
   * @param {number} index
   */
  named(index) {
    const names = this.graphs.namesOf(index);
    return new Map([...names].map(([value, paths]) => [this.graphs.strings[value], paths]));
  }

  /**
   * Attributes that a value of a step is, reads or holds.
   * @param {number} index
   * @param {string} value
   */
  attributesOf(index, value) {
    const path = this.reads(index).get(value);
    const read = path === undefined ? null : this.attribute(path);
    if (read) return [read];
    const named = (this.named(index).get(value) ?? []).flatMap((one) => this.attribute(one) ?? []);
    return named.length ? named : (this.held(this.steps[index].method).get(value) ?? []);
  }

  /**
   * The id of what an input or constant of a step is drawn as, by the name of its value; undefined where there is none.
   * @param {number} index
   * @param {string} value
   */
  holder(index, value) {
    const maker = this.graph(index).makers.get(value);
    if (maker !== undefined) return maker;
    const key = this.graphs.keyOfId.get(`%${value}`);
    return this.graphs.snapshot(this.snapshot(index)).rowOf[key ?? -1] >= 0 ? `%${value}` : undefined;
  }

  /**
   * Ids of the nodes and inputs of a step that are or read an attribute or hold its value.
   * @param {number} index
   * @param {string} path
   */
  nodesOf(index, path) {
    const row = this.attribute(path);
    if (row === null) return [];
    const reading = [...this.reads(index)].filter(([, read]) => read === path).map(([value]) => value);
    const holding = row.locations
      .filter(({ method }) => method === this.steps[index].method)
      .map(({ value }) => value)
      .filter((value) => this.attributesOf(index, value).some((one) => one.path === path)); // the name may be another's here
    const folded = row.fate === "folded" ? [`self.${path}`] : [];
    const named = [...this.named(index)].filter(([, paths]) => paths.includes(path)).map(([value]) => value);
    return [
      ...new Set([...reading, ...holding, ...folded, ...named].flatMap((value) => this.holder(index, value) ?? [])),
    ];
  }

  /**
   * Ids of the nodes in either graph of a pair that the chosen kernel computes, or else comes from.
   * @param {Pick<State, "program" | "kernel">} state
   * @param {Pair} pair
   */
  kernelNodes({ program, kernel }, pair) {
    const chosen = kernel === null ? undefined : this.view.programs[program]?.kernels[kernel];
    if (!chosen || pair.after.method !== this.view.programs[program].method) return [];
    const graphs = pair.steps().map(({ index }) => this.graph(index).nodes);
    const there = (/** @type {string[]} */ ids) => ids.filter((id) => graphs.some((nodes) => nodes.has(id)));
    const computed = there(chosen.nodes);
    return computed.length ? computed : there(chosen.origins);
  }

  /**
   * Ids of the nodes that do the work of a line after a pass, or else before it.
   * @param {string} key
   * @param {Pair} pair
   * @returns {string[]}
   */
  lineNodes(key, { before, after }) {
    for (const step of [after, before]) {
      if (!step) continue;
      const nodes = this.links.nodesOfLine(step.method, key, {
        step: step.index,
        nodes: this.graph(step.index).nodes,
      });
      if (nodes.length) return nodes;
    }
    return [];
  }

  /** @param {string} key */
  hasLine(key) {
    return this.links.rows.has(key);
  }

  /**
   * The reads of a remaining attribute in the last graphs: {method, step, value, node} each.
   * @param {string} path
   */
  readers(path) {
    return this.finals().flatMap(({ method, index }) =>
      [...this.reads(index)]
        .filter(([, read]) => read === path)
        .map(([value]) => ({ method, step: index, value, node: this.graph(index).makers.get(value) })),
    );
  }

  /**
   * The places of an attribute's value at the end: constants that hold it, or nodes that read the remaining attribute.
   * @param {AttributeRow} row
   */
  homes(row) {
    return row.locations.length ? row.locations : this.readers(row.path);
  }

  /** The last step of every method. */
  finals() {
    return this.methods.map((method) => /** @type {ViewStep} */ (this.final(method)));
  }

  /**
   * The last step of a method's freeze; the executor's graph after it is no part of that.
   * @param {string} method
   */
  final(method) {
    return this.chains(method)[0]
      .filter((step) => step.stage !== "runtime")
      .at(-1);
  }

  /**
   * The passes of a method that made, changed or removed a node, in order.
   * @param {string} method
   * @param {string} id
   */
  history(method, id) {
    return this.histories.of(method, id);
  }

  /**
   * The places of a node in the source, the user's own file first.
   * @param {string} method
   * @param {GraphNode} node
   */
  places(method, node) {
    return this.sources.places(method, node);
  }

  /**
   * Kept source lines around a place: [{number, text}], empty where the trace has none.
   * @param {string} file
   * @param {number} line
   * @param {number} reach lines before and after it
   */
  sourceAround(file, line, reach) {
    return this.sources.around(file, line, reach);
  }
}
