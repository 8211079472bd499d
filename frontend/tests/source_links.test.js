/* viewer/source_links: links between lines, nodes and kernels, by hand and on the small trace. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  firstFile,
  isGone,
  lineKey,
  listing,
  placeOfKey,
  shareOf,
  SourceLinks,
  stepsOf,
} from "../viewer/source_links.js";
import { TraceModel } from "../viewer/trace_model.js";
import { smallTrace } from "./small_trace.js";

/**
 * @param {number} line
 * @param {Partial<LineRow>} [fields]
 * @returns {LineRow}
 */
function row(line, fields = {}) {
  return { line, operators: 1, effects: [], left: [], constants: [], kernels: [], times: [], errors: [], ...fields };
}

/** @param {number} step */
const effect = (step) => ({ step, what: "removed", text: "1 operator removed", nodes: ["n"] });

const NOTES = { calls: "", rest: "", time: "", error: "" };
const FILES = /** @type {FileRow[]} */ ([
  {
    file: "/me/a.py",
    kind: "own",
    missing: "",
    lines: [
      row(3, { kernels: [[0, 1]] }),
      row(4, { effects: [effect(1), effect(1), effect(2)], kernels: [[0, 1], [1, 0]] }),
    ],
  },
  { file: "/site-packages/torch/b.py", kind: "library", missing: "", lines: [row(9, { effects: [effect(1)] })] },
]); // prettier-ignore
/** @type {ByLine} */
const BY_LINE = {
  files: FILES,
  places: [
    [0, 3],
    [0, 4],
    [1, 9],
  ],
  sets: [[0], [0, 1], [2]],
  nodes: {
    forward: [
      ["conv", 0, 0],
      ["norm", 0, 2],
      ["conv", 5, 1],
    ],
  },
  notes: NOTES,
};
const links = new SourceLinks(BY_LINE);
const nodes = new Map(["norm", "conv", "other"].map((id) => [id, {}]));

test("a node has the lines of the newest claim up to a step", () => {
  assert.deepEqual(links.linesOfNode("forward", "conv", 4), ["/me/a.py:3"]);
  assert.deepEqual(links.linesOfNode("forward", "conv", 5), ["/me/a.py:3", "/me/a.py:4"]);
  assert.deepEqual(links.linesOfNode("forward", "nothing", 5), []);
  assert.deepEqual(links.linesOfNode("describe", "conv", 5), []);
});

test("a line has the nodes of the graph that do its work at a step", () => {
  assert.deepEqual(links.nodesOfLine("forward", "/me/a.py:4", { step: 4, nodes }), []);
  assert.deepEqual(links.nodesOfLine("forward", "/me/a.py:4", { step: 5, nodes }), ["conv"]);
  assert.deepEqual(links.nodesOfLine("forward", "/me/a.py:4", { step: 5, nodes: new Map() }), []);
});

test("kernels and lines name one another, program by program", () => {
  assert.deepEqual(links.linesOfKernel(0, 1), ["/me/a.py:3", "/me/a.py:4"]);
  assert.deepEqual(links.kernelsOfLine(1, "/me/a.py:4"), [0]);
  assert.deepEqual(links.kernelsOfLine(1, "/me/a.py:3"), []);
});

test("the foremost lines are the user's own, by time and then by passes", () => {
  assert.deepEqual(
    links.foremost(5).map(([key]) => key),
    ["/me/a.py:4"],
  );
  const time = { of: "", frozen: true, share: 0.5, alone: 0.1, text: "50%" };
  const [own] = FILES;
  const timed = { ...own, lines: [row(3, { times: [time] }), ...own.lines.slice(1)] };
  const found = new SourceLinks({ ...BY_LINE, files: [timed, FILES[1]] }).foremost(5);
  assert.deepEqual(
    found.map(([key]) => key),
    ["/me/a.py:3", "/me/a.py:4"],
  );
});

test("the share of a line is that of the frozen program where there is one", () => {
  const [frozen, other] = [true, false].map((each) => ({ of: "", frozen: each, share: 1, alone: 1, text: "" }));
  assert.equal(shareOf(row(1, { times: [other, frozen] })), frozen);
  assert.equal(shareOf(row(1, { times: [other] })), other);
  assert.equal(shareOf(row(1)), null);
});

test("steps count once, and a line is gone if it had operators", () => {
  assert.deepEqual(stepsOf(FILES[0].lines[1]), [1, 2]);
  assert.equal(isGone(row(1)), true);
  assert.equal(isGone(row(1, { operators: 0 })), false);
  assert.equal(isGone(row(1, { constants: [["forward", "c"]] })), false);
});

test("a listing has the text that is kept, the lines without, and gaps", () => {
  const runs = [
    { first_line: 3, lines: ["c", "d"] },
    { first_line: 4, lines: ["another d"] },
  ];
  assert.deepEqual(listing(runs, [row(4), row(9)]), [
    { line: 3, text: "c" },
    { line: 4, text: "d" }, // the first run that has a line counts
    null,
    { line: 9, text: null },
  ]);
});

test("a key is read back, also where the path has colons", () => {
  assert.deepEqual(placeOfKey(lineKey("C:\\me\\a.py", 12)), { file: "C:\\me\\a.py", line: 12 });
  assert.equal(placeOfKey("a.py"), null);
});

test("in the small trace every node with a place is among the nodes of its line", () => {
  const { view, graph } = smallTrace();
  const model = new TraceModel(view, graph);
  let seen = 0;
  for (const step of model.steps) {
    const known = model.graph(step.index).nodes;
    for (const node of known.values()) {
      if (!node.source || node.op === "prim::Constant" || node.op === "prim::GetAttr") continue;
      const key = lineKey(node.source.file, node.source.line);
      const found = model.links.nodesOfLine(step.method, key, { step: step.index, nodes: known });
      assert.ok(found.includes(node.id), `${node.id} at step ${step.index}`);
      seen += 1;
    }
  }
  assert.ok(seen > 0);
});

test("the first file is the user's, else the library's with most lines", () => {
  /** @param {string} file @param {FileRow["kind"]} kind @param {number} count @returns {FileRow} */
  const file = (file, kind, count) => ({
    file,
    kind,
    missing: "",
    lines: Array.from({ length: count }, (_, at) => row(at)),
  });
  const builtin = file("<string>", "library", 9);
  const [small, large] = [file("/torch/a.py", "library", 1), file("/torch/b.py", "library", 3)];
  assert.equal(firstFile([builtin, small, large]), large);
  assert.equal(firstFile([builtin, large, file("/me/c.py", "own", 1)])?.file, "/me/c.py");
  assert.equal(firstFile([builtin]), builtin);
  assert.equal(firstFile([]), undefined);
});
