/* The graph's search: regular expressions that cannot hang, and what of a node a query looks at. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../graph/data/model.js";
import { compilePattern } from "../graph/data/pattern.js";
import { makeQuery } from "../graph/data/query.js";
import { TextIndex } from "../graph/data/text_index.js";
import { smallTrace } from "./small_trace.js";

/** The same numbers in every run. */
function numbers(/** @type {number} */ seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 16) % below;
  };
}

const LETTERS = ["a", "b", "B", "_", "1", ".", " ", "\n", ":", "é"];
const ATOMS = [
  ...["a", "b", "B", "1", ":", ".", "\\.", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "^", "$", "\\n"],
  ...["[ab]", "[^a]", "[a-c1]", "[^\\w]", "[\\d-]", "[]", "[^]", "\\x41", "\\u0062", "[\\]b]", "[A-C]"],
];
const COUNTS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}?", "{2,}", "{,2}"];

/**
 * @param {(below: number) => number} random
 * @param {number} depth
 * @returns {string}
 */
function randomPattern(random, depth) {
  const items = Array.from({ length: 1 + random(3) }, () => {
    const group = depth && random(3) === 0;
    const atom = group
      ? `(${["", "?:", "?<name>"][random(2)]}${randomPattern(random, depth - 1)})`
      : ATOMS[random(ATOMS.length)];
    return atom + (/^(\^|\$|\\b|\\B)$/i.test(atom) ? "" : COUNTS[random(COUNTS.length)]);
  });
  return items.join("") + (random(5) === 0 ? `|${randomPattern(random, 0)}` : "");
}

test("patterns find what JavaScript's regular expressions find", () => {
  const random = numbers(7);
  let found = 0;
  for (let n = 0; n < 1500; n++) {
    const pattern = randomPattern(random, 2);
    const [ours, theirs] = [compilePattern(pattern), new RegExp(pattern, "im")];
    for (let m = 0; m < 8; m++) {
      const text = Array.from({ length: random(9) }, () => LETTERS[random(LETTERS.length)]).join("");
      assert.equal(ours(text), theirs.test(text), `/${pattern}/ in ${JSON.stringify(text)}`);
      found += Number(ours(text));
    }
  }
  assert.ok(found > 1000 && found < 11000);
});

for (const pattern of ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*a){12}$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"]) {
  test(`/${pattern}/ takes no longer than a text is long`, () => {
    const finds = compilePattern(pattern);
    assert.equal(finds(`${"a".repeat(5000)}!`), new RegExp(pattern, "im").test("aaaaaaaaaaaa!"));
    assert.equal(finds(`${"x".repeat(5000)}!`), false);
  });
}

const bad = [
  ["conv(", /unterminated group/],
  ["[a", /unterminated character class|missing terminating/],
  ["*", /nothing to repeat/],
  ["(?=a)", /lookahead/],
  ["(?<!a)b", /negative lookbehind/],
  ["(a)\\1", /backreference/],
  ["((a{1,100}){1,100}){1,100}", /repeats too much/],
  ["a".repeat(501), /longer than 500/],
];
for (const [pattern, message] of bad) {
  test(`the pattern ${String(pattern).slice(0, 30)} is refused with its reason`, () => {
    assert.throws(() => compilePattern(String(pattern)), { message });
  });
}

test("a pattern that needs too much work is given up, not waited for", () => {
  const random = numbers(3);
  const text = Array.from({ length: 4000 }, () => "ab"[random(2)]).join("");
  const finds = compilePattern("a.{250}c|b.{240}d");
  assert.throws(() => {
    for (let n = 0; n < 1000; n++) finds(text);
  }, /takes too long/);
});

const model = new Model(smallTrace().graph);
const steps = [...model.steps.keys()];
/**
 * @param {string} text
 * @param {boolean} [isPattern]
 */
function ops(text, isPattern = false) {
  const line = (/** @type {string} */ file, /** @type {number} */ number) => `${file} has line ${number} here`;
  const found = new TextIndex(model, line).find(makeQuery(text, isPattern), steps);
  return found.map(({ label }) => label);
}

test("plain text is no pattern, and slashes make one", () => {
  assert.deepEqual(ops("con.2d"), []);
  assert.deepEqual(new Set(ops("con.2d", true)), new Set(["conv2d"]));
  assert.deepEqual(ops("/con.2d/"), ops("con.2d", true));
  assert.deepEqual(ops("/con.2d/i"), ops("con.2d", true));
  assert.deepEqual(ops("", true), []);
});

test("each name is a line: ^ and $ are its ends", () => {
  assert.ok(ops("conv", true).length > ops("^aten::conv2d$", true).length);
  assert.deepEqual(new Set(ops("^aten::conv2d$", true)), new Set(["conv2d"]));
  assert.deepEqual(ops("^conv2d$", true), []);
});

test("shapes and lines of source are found", () => {
  assert.ok(ops("has line \\d+ here", true).length > 0);
  assert.deepEqual(ops("has line"), []); // plain text looks for nodes, not for lines that several share
  assert.ok(ops("\\.py:\\d+$", true).length > 0);
  assert.deepEqual(ops(".py:"), ops("\\.py:", true));
  const shaped = model.steps.flatMap(({ after }) => {
    const { order, rowOf } = model.snapshot(after);
    return order.filter((key) => !model.isPseudo(key) && model.node(rowOf[key]).constant).map((key) => model.ids[key]);
  });
  assert.ok(shaped.length > 0);
  const found = new TextIndex(model).find(makeQuery("float32\\[.*\\]", true), steps).map(({ id }) => id);
  for (const id of shaped) assert.ok(found.includes(id), id);
  assert.deepEqual(
    new TextIndex(model).find(makeQuery("float32[", false), steps).map(({ id }) => id),
    found,
  );
});
