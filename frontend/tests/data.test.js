/* graph/data: the message of viewer/views/graph_data.py, read. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeIn } from "../graph/data/lookup.js";
import { Model } from "../graph/data/model.js";
import { Scene } from "../graph/data/scene.js";
import { makeQuery } from "../graph/data/query.js";
import { TextIndex } from "../graph/data/text_index.js";
import { stayInModule } from "../graph/data/execution_order.js";
import { opName, pathText, shortType } from "../graph/data/words.js";
import { run } from "../graph/layout/run.js";
import { smallTrace } from "./small_trace.js";

const orders = [
  { name: "a module is left when nothing in it is left", paths: ["a", "b", "a"], edges: [], order: [0, 2, 1] },
  {
    name: "nothing runs before what it waits for",
    paths: ["a", "b", "a"],
    edges: [
      [0, 1],
      [1, 2],
    ],
    order: [0, 1, 2],
  },
  { name: "inner modules stay together too", paths: ["a.x", "a", "a.x"], edges: [], order: [0, 2, 1] },
  {
    name: "a circle is cut at its earliest node",
    paths: ["", ""],
    edges: [
      [0, 1],
      [1, 0],
    ],
    order: [0, 1],
  },
  { name: "an unconnected node waits for its module", paths: ["b", "a", "b"], edges: [[1, 2]], order: [1, 2, 0] },
  { name: "no nodes have an order", paths: [], edges: [], order: [] },
];
for (const { name, paths, edges, order } of orders) {
  test(`execution order: ${name}`, () => {
    const segments = new Map(paths.map((path, key) => [key, path.split(".").filter(Boolean)]));
    assert.deepEqual(stayInModule([...paths.keys()], segments, /** @type {[number, number][]} */ (edges)), order);
  });
}

const operators = [
  ["aten::conv2d", "conv2d"],
  ["prim::If", "If"],
  ["torch.ops.aten.add.Tensor", "add.Tensor"],
  ["torch.ops.mkldnn._linear_pointwise.default", "_linear_pointwise.default"],
  ["output", "output"],
];
for (const [op, name] of operators) test(`the short name of ${op}`, () => assert.equal(opName(op), name));

const types = [
  ["Float(1, 64, strides=[64, 1], requires_grad=0, device=cpu)", "f32[1, 64]"],
  ["Float()", "f32[]"],
  ["Tensor", "Tensor"],
  [`__torch__.${"x".repeat(40)}`, `__torch__.${"x".repeat(29)}…`],
];
for (const [type, text] of types) test(`the short type ${text}`, () => assert.equal(shortType(type), text));

test("a path is cut to the part that tells it apart", () => {
  assert.equal(pathText(["layer1.0.conv.weight", "bn.weight"], "layer1"), "conv.weight +1");
});

test("a message of another format is refused", () => {
  assert.throws(() => new Model({ ...smallTrace().graph, format: 1 }), /cannot read format 1, only 2/);
});

test("two readers of one message do not disturb each other", () => {
  const { graph } = smallTrace();
  const text = JSON.stringify(graph);
  const [one, other] = [new Model(graph), new Model(graph)];
  assert.deepEqual(one.snapshot(0).order, other.snapshot(0).order);
  assert.equal(JSON.stringify(graph), text);
});

test("every node stands below what it reads, in every snapshot", () => {
  const { graph } = smallTrace();
  const model = new Model(graph);
  for (const step of model.steps) {
    const scene = new Scene(model.outline([step.after], false), new Set([""]), () => ({ width: 100, height: 40 }));
    const made = run(scene.input);
    assert.ok(scene.items.length > 1);
    const { source, target, parent } = scene.input;
    source.forEach((from, edge) => {
      if (parent[from] === parent[target[edge]]) assert.ok(made.y[from] + made.height[from] <= made.y[target[edge]]);
    });
  }
});

test("a node is looked up in both graphs of a pair", () => {
  const model = new Model(smallTrace().graph);
  const { before, after } = model.steps[8];
  const removed = [...model.diff(before, after)].find(([, status]) => status === "removed");
  assert.ok(removed);
  const found = nodeIn(model, [before, after], model.ids[removed[0]]);
  assert.equal(found?.status, "removed");
  assert.equal(found?.after, null);
  assert.equal(found?.before?.id, model.ids[removed[0]]);
  assert.equal(nodeIn(model, [before, after], "no such node"), null);
});

test("nodes are found by their operator in any case", () => {
  const model = new Model(smallTrace().graph);
  const found = new TextIndex(model).find(makeQuery(" CONV2D ", false), [...model.steps.keys()]);
  assert.ok(found.length > 0);
  assert.ok(found.every(({ label }) => label.toLowerCase().includes("conv")));
  assert.deepEqual(new TextIndex(model).find(makeQuery("  ", false), [0]), []);
});
