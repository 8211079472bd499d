/* Repeated structure: layers of one structure are one group with the first of them and a group with the rest. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../graph/data/model.js";
import { openAtFirst } from "../graph/data/opener.js";
import { apartText, attributeLines } from "../viewer/repeats.js";
import { TraceModel } from "../viewer/trace_model.js";

/**
 * A message with a graph per list of layers; each layer is a linear and what else is given for it.
 * @param {string[][][]} graphs per graph, per layer: operators behind its linear
 * @param {string} [stem]
 */
function message(graphs, stem = "encoder.layer.") {
  const strings = [""];
  const text = (/** @type {string} */ one) => {
    const at = strings.indexOf(one);
    return at >= 0 ? at : strings.push(one) - 1;
  };
  /** @type {any[]} */
  const nodes = [];
  /** @type {number[][]} */
  const lists = [];
  const snapshots = graphs.map((layers) => {
    /** @type {number[]} */
    const rows = [];
    let last = "x";
    layers.forEach((ops, layer) => {
      for (const op of ["aten::linear", ...ops]) {
        const id = `${op}.${layer}`;
        const type = op === "aten::wide" ? "Float(4, 8)" : "Float(4, 4)";
        const row = [text(id), text(op), [text(last)], [text(id), text(type)], text(`${stem}${layer}.${op.slice(6)}`)];
        const at = nodes.findIndex((one) => JSON.stringify(one) === JSON.stringify(row));
        rows.push(at >= 0 ? at : nodes.push(row) - 1);
        last = id;
      }
    });
    lists.push([-1, -rows.length, ...rows]);
    return [[text("x"), text("Float(4, 4)")], lists.length - 1, [text(last)]];
  });
  const steps = graphs.map((_, index) => ({
    ...{ index, stage: "s", name: `pass ${index}`, method: "forward", changed: index > 0 },
    ...{ before: index ? index - 1 : null, after: index, names: 0 },
  }));
  return /** @type {any} */ ({
    format: 2,
    name: "m",
    strings,
    sources: [],
    nodes,
    lists,
    snapshots,
    names: [[]],
    steps,
  });
}

/** @param {string[][][]} graphs */
function outlineOf(graphs, stem = "encoder.layer.") {
  const model = new Model(message(graphs, stem));
  return model.outline([...graphs.keys()], false);
}

/**
 * Labels of the groups inside one another, as a tree of texts.
 * @param {any} group
 * @returns {any[]}
 */
function labels(group) {
  return group.children
    .filter((/** @type {any} */ child) => child.children)
    .map((/** @type {any} */ child) => {
      const inner = labels(child);
      return inner.length ? [child.label, inner] : child.label;
    });
}

const same = (/** @type {number} */ count) => Array.from({ length: count }, () => ["aten::gelu"]);

test("equal layers are one group with a count, the first of them and the rest", () => {
  const outline = outlineOf([same(5)]);
  const rest = ["layer.1", "layer.2", "layer.3", "layer.4"];
  assert.deepEqual(labels(outline.root), [["encoder.layer × 5", ["layer.0", ["layer.1–4: 4 like it", rest]]]]);
  const [holder] = outline.root.children.filter((one) => one.children);
  assert.deepEqual(
    holder.repeat.map((/** @type {Group} */ one) => one.id),
    [0, 1, 2, 3, 4].map((n) => `encoder.layer.${n}`),
  );
  assert.equal(holder.ops, 10);
});

test("two layers are too few to fold", () => {
  assert.deepEqual(labels(outlineOf([same(2)]).root), [["encoder.layer", ["layer.0", "layer.1"]]]);
});

const others = [
  { what: "another operator", layer: ["aten::relu"] },
  { what: "another shape", layer: ["aten::wide"] },
  { what: "one operator more", layer: ["aten::gelu", "aten::relu"] },
];
for (const { what, layer } of others) {
  test(`a layer with ${what} stands by itself`, () => {
    const [encoder] = labels(outlineOf([[...same(3), layer, ...same(4)]]).root);
    assert.deepEqual(
      encoder[1].map((/** @type {string} */ one) => (Array.isArray(one) ? one[0] : one)),
      ["layer.0–2 × 3", "layer.3", "layer.4–7 × 4"],
    );
  });
}

test("a layer that a pass changed otherwise than the others stands by itself, in all passes that share the layout", () => {
  const changed = same(6);
  changed[3] = [];
  const [encoder] = labels(outlineOf([same(6), changed]).root);
  assert.deepEqual(
    encoder[1].map((/** @type {string} */ one) => (Array.isArray(one) ? one[0] : one)),
    ["layer.0–2 × 3", "layer.3", "layer.4", "layer.5"],
  );
});

test("names with a number at their end count as an index", () => {
  const [found] = labels(outlineOf([same(4)], "encoder.encoder_layer_").root);
  assert.equal(found[0], "encoder × 4");
});

test("each node of the rest can be reached, and only the first is opened for what all have", () => {
  const changed = same(5).map((ops) => [...ops, "aten::relu"]);
  const outline = outlineOf([same(5), changed]);
  assert.deepEqual(outline.wayTo("aten::relu.3"), ["encoder", "encoder.layer.0×+", "encoder.layer.3"]);
  const open = new Set(["x"]);
  openAtFirst(outline, open, [0, 1]);
  assert.ok(open.has("encoder.layer.0"));
  assert.ok(![...open].some((id) => id.endsWith("×+")));
});

test("differences among members are named: fates, shapes, what one lacks, and what stands apart", () => {
  const changed = same(5);
  changed[1] = ["aten::gelu", "aten::relu"];
  const graph = message([changed]);
  const rows = [0, 2, 3, 4].map((layer) => ({
    ...{ path: `encoder.layer.${layer}.w`, kind: "parameter", counted: true, shape: "4×4", dtype: "float32" },
    fate: layer === 3 ? "preserved" : "folded",
  }));
  rows.push({ ...rows[0], path: "encoder.layer.2.b" });
  const view = { steps: graph.steps, methods: ["forward"], attributes: rows, programs: [] };
  const model = new TraceModel(/** @type {ViewData} */ (/** @type {object} */ (view)), graph);
  const { groups } = model.graphs.outline([0], false);
  const group = (/** @type {number} */ layer) => /** @type {Group} */ (groups.get(`encoder.layer.${layer}`));
  assert.deepEqual(attributeLines(model, [2, 3, 4].map(group)), [
    "w: preserved 4×4 float32 in layer.3; folded 4×4 float32 in the others",
    "b: folded 4×4 float32 in layer.2; 2 without it",
  ]);
  assert.equal(apartText(model, group(2), group(1), [0]), "+1 relu");
  assert.equal(apartText(model, group(2), group(3), [0]), "other types, wiring or passes");
});
