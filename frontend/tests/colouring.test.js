/* The colours of values in the graph: what a node is worth, what a closed group is, and in which tone. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Colours } from "../graph/colouring.js";
import { Scene } from "../graph/data/scene.js";
import { THEMES } from "../graph/drawing/theme.js";
import { COLOURINGS, colouringOf, partsOf, valuesOfNode } from "../viewer/colouring.js";
import { TraceModel } from "../viewer/trace_model.js";
import { smallTrace } from "./small_trace.js";

function open() {
  const { view, graph } = smallTrace();
  return new TraceModel(view, graph);
}

/**
 * What a picture of a step's graph tells the colours, with some groups open.
 * @param {TraceModel} model
 * @param {number} index
 * @param {string[]} groups
 */
function pictureOf(model, index, groups) {
  const after = model.snapshot(index);
  const scene = new Scene(model.graphs.outline([after], false), new Set(groups), () => ({ width: 10, height: 10 }));
  const { sides } = scene.tally(null, after, new Map());
  const closedItems = () => [...scene.items.keys()].filter((item) => item && !scene.items[item].open);
  const snapshotOf = (/** @type {number} */ side) => (side === 1 ? null : after);
  return /** @type {any} */ ({ scene, sides, closedItems, snapshotOf });
}

test("a group has each part of its nodes once", () => {
  const model = open();
  const picture = pictureOf(model, 8, []);
  const nodes = picture.scene.model
    .snapshot(model.snapshot(8))
    .order.map((/** @type {number} */ key) => model.graphs.ids[key]);
  const parts = new Map(nodes.map((/** @type {string} */ id) => [id, [["shared", 100]]]));
  const colouring = { ...COLOURINGS.memory, parts: { before: null, after: /** @type {Parts} */ (parts) }, missing: "" };
  const colours = new Colours(colouring, picture);
  const groups = picture.closedItems().filter((/** @type {number} */ item) => picture.scene.items[item].group);
  assert.ok(groups.length > 0);
  for (const item of groups) assert.equal(colours.text(item, 2), "100 B");
  assert.equal(colours.isPartial, false);
});

test("the largest value has the last tone, nothing the first, and the unknown one of its own", () => {
  const model = open();
  const picture = pictureOf(model, 8, [...model.graphs.outline([model.snapshot(8)], false).groups.keys()]);
  const { scene } = picture;
  const boxes = picture.closedItems().filter((/** @type {number} */ item) => {
    const { key, group } = scene.items[item];
    return !group && !scene.model.isPseudo(key);
  });
  const ids = boxes.map((/** @type {number} */ item) => scene.idOf(item));
  const parts = new Map([
    [ids[0], [["a", 100]]],
    [ids[1], [["b", 0]]],
    [ids[2], [["c", 12]]],
  ]);
  const colouring = {
    ...COLOURINGS.error,
    parts: { before: null, after: /** @type {Parts} */ (parts) },
    missing: "do this",
  };
  const colours = new Colours(colouring, picture);
  const theme = THEMES.light;
  const tones = boxes.slice(0, 4).map((/** @type {number} */ item) => colours.tone(item, 2, theme));
  assert.deepEqual(tones, [theme.ramp[5], theme.ramp[0], theme.ramp[3], theme.unknown]);
  assert.equal(colours.isPartial, true);
  assert.deepEqual(
    colours.entries(theme).map(({ label }) => label),
    ["0", "to 3.0", "from 3.0", "from 10", "from 25", "50 to 1.0e+2"],
  );
});

test("weights and constants are counted with the nodes that read them", () => {
  const model = open();
  const final = model.finals()[0].index;
  const parts = partsOf(model, final, "memory");
  const graph = model.graph(final);
  let weighed = 0;
  for (const [id, own] of parts) {
    const node = graph.nodes.get(id);
    if (!own.length || !node || node.constant || node.op === "prim::GetAttr") continue;
    weighed++;
    assert.ok(own.every(([, bytes]) => bytes > 0));
  }
  assert.ok(weighed > 0);
});

test("an error is that of the pass that changed a node last", () => {
  const model = open();
  const chain = model.chains("forward")[0];
  chain.forEach(
    (/** @type {ViewStep} */ step, /** @type {number} */ at) => (step.error = at === chain.length - 1 ? 0.5 : 0),
  );
  const parts = partsOf(model, chain.slice(-1)[0].index, "error");
  const last = chain.slice(-1)[0].index;
  for (const [id, [[, error]]] of parts) {
    const event = model.history("forward", id).findLast(({ step }) => step <= last);
    assert.equal(error, event?.step === last ? 0.5 : 0, id);
  }
  assert.ok(parts.size > 0);
});

test("nothing is made up where nothing was measured", () => {
  const model = open();
  for (const step of model.steps) step.error = null;
  const pair = model.pair(model.finals()[0].index);
  assert.equal(colouringOf(model, pair, "error")?.parts.after.size, 0);
  assert.match(colouringOf(model, pair, "error")?.missing ?? "", /record with inputs/);
  assert.equal(colouringOf(model, pair, "change"), null);
  assert.equal(colouringOf(model, pair, "no such thing"), null);
  assert.equal(colouringOf(model, pair, "toString"), null); // a link may say anything
});

test("the dtype of a box is that of its result, whatever numbers it reads", () => {
  const model = open();
  const final = model.finals()[0].index;
  const picture = pictureOf(model, final, [...model.graphs.outline([model.snapshot(final)], false).groups.keys()]);
  const colouring = {
    ...COLOURINGS.dtype,
    parts: { before: null, after: partsOf(model, final, "dtype") },
    missing: "",
  };
  const colours = new Colours(colouring, picture);
  const found = picture.closedItems().map((/** @type {number} */ item) => colours.text(item, 2));
  assert.ok(found.includes("f32"));
  assert.ok(!found.some((/** @type {string} */ text) => /mixed|\bint\b|float/.test(text)), found.join());
});

test("kinds of numbers are named in words", () => {
  const model = open();
  const final = model.finals()[0].index;
  const [id] = [...partsOf(model, final, "dtype").keys()];
  const rows = new Map(/** @type {[string, string][]} */ (valuesOfNode(model, final, id)));
  assert.match(rows.get("dtype") ?? "", /^(f|i|u|b)/);
});

/** @param {string} colour */
function luminance(colour) {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

for (const [name, theme] of Object.entries(THEMES)) {
  test(`texts can be read on every tone of the ${name} theme, and tones differ in lightness`, () => {
    const tones = [...theme.ramp, theme.unknown, ...Object.values(theme.kinds)];
    for (const { fill, text } of tones) {
      const [one, other] = [luminance(fill), luminance(text)].sort((a, b) => b - a);
      assert.ok((one + 0.05) / (other + 0.05) >= 4.5, `${fill} ${text}`);
    }
    const lights = theme.ramp.map((/** @type {Tone} */ tone) => luminance(tone.fill));
    const sign = name === "light" ? -1 : 1;
    lights
      .slice(1)
      .forEach((/** @type {number} */ light, /** @type {number} */ at) => assert.ok(sign * (light - lights[at]) > 0));
  });
}
