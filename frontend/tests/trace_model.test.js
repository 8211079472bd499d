/* viewer/trace_model: what the views ask of a trace. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lineText } from "../viewer/snapshots.js";
import { TraceModel } from "../viewer/trace_model.js";
import { smallTrace } from "./small_trace.js";

function open() {
  const { view, graph } = smallTrace();
  return new TraceModel(view, graph);
}

test("a step is compared with the one before it, or with a chosen one of its method", () => {
  const model = open();
  assert.equal(model.baseOf(4), 2);
  assert.equal(model.baseOf(8, 2), 2);
  assert.equal(model.baseOf(8, 1), 7); // step 1 is of another method
  assert.equal(model.baseOf(8, 8), 7);
  assert.equal(model.baseOf(0), null);
  assert.equal(model.baseOf(99), null);
});

test("steps that left the graph as it was share one object", () => {
  const model = open();
  assert.equal(model.graph(6), model.graph(7));
  assert.notEqual(model.graph(7), model.graph(8));
});

test("the lines of a pair are those of both graphs", () => {
  const model = open();
  for (const step of model.steps) {
    const pair = model.pair(step.index);
    assert.ok(pair);
    const rows = pair.lines();
    const texts = (/** @type {string} */ left) =>
      rows.filter((row) => row.kind !== left).map((row) => lineText(row.line));
    assert.deepEqual(texts("removed"), model.graph(step.index).lines.map(lineText));
    const before = step.before === null ? [] : model.graph(step.before).lines.map(lineText);
    if (step.before !== null) assert.deepEqual(texts("added"), before);
  }
});

test("a value is resolved to the node that makes it", () => {
  const model = open();
  for (const node of model.graph(0).nodes.values()) {
    assert.equal(model.resolve(0, node.id), node.id);
    for (const value of node.outputs) assert.equal(model.resolve(0, value.name), node.id);
  }
  assert.equal(model.resolve(0, "no such value"), null);
});

test("reads lead from an attribute to its nodes", () => {
  const model = open();
  const [node] = model.nodesOf(2, "block.conv.weight");
  assert.equal(model.graph(2).nodes.get(node)?.op, "prim::GetAttr");
  assert.deepEqual(model.nodesOf(2, "no.such.attribute"), []);
});

test("the history of a node goes on in the executor's graph", () => {
  const { view, graph } = smallTrace();
  const last = view.steps[8]; // of the frozen graph's passes, the one that removes nodes
  last.stage = "runtime";
  const model = new TraceModel(view, graph);
  const gone = [...model.graph(last.before).nodes.keys()].filter((id) => !model.graph(last.index).nodes.has(id));
  assert.ok(gone.length > 0);
  for (const id of gone) {
    assert.deepEqual(model.history(last.method, id).at(-1), { step: last.index, what: "removed" });
  }
});
