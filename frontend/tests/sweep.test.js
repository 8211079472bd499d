/* The rows of a sweep: filter, order, groups, charts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chartData,
  errorText,
  fileAddress,
  filterRows,
  ratioText,
  scaleOf,
  sharedFacts,
  sortRows,
  tableLines,
  usedColumns,
} from "../sweep/model.js";
import { bytesText, durationText } from "../viewer/amounts.js";

/**
 * @param {string} model
 * @param {Record<string, any>} [changes]
 */
function row(model, changes = {}) {
  return {
    model,
    options: "plain",
    backend: "torchscript",
    environment: "",
    torch: "2.13",
    status: "recorded",
    reason: "",
    notice_codes: [],
    preserved_names: [],
    latency_ratio: null,
    latency_ns: null,
    max_abs_error: null,
    bytes_before: null,
    bytes_after: null,
    frozen: null,
    preserved: null,
    near_misses: null,
    graph_breaks: null,
    notices: null,
    time_s: 1,
    ...changes,
  };
}

const names = (/** @type {any[]} */ rows) => rows.map(({ model }) => model);

test("what all rows share is a fact of the sweep, and no column", () => {
  const rows = [row("a"), row("b", { backend: "inductor" })];
  const facts = sharedFacts(rows).map(({ title, text }) => `${title}: ${text}`);
  assert.deepEqual(facts, ["Options: plain", "torch: 2.13", "Status: recorded"]);
  assert.deepEqual(
    usedColumns(rows).map(({ key }) => key),
    ["model", "backend", "time_s"],
  );
  assert.deepEqual(
    sharedFacts([row("a", { status: "failed" })])
      .map(({ key }) => key)
      .includes("status"),
    false,
  );
  assert.deepEqual(sharedFacts([]), []);
});

test("rare counts have a column only where one is not 0", () => {
  const keys = (/** @type {any[]} */ rows) => usedColumns(rows).map(({ key }) => key);
  assert.ok(!keys([row("a", { notices: 0 }), row("b", { notices: 0 })]).includes("notices"));
  assert.ok(keys([row("a", { notices: 0 }), row("b", { notices: 1 })]).includes("notices"));
});

test("a narrow scale has few ticks, whose texts do not overlap", () => {
  for (const values of [[1e-20, 1e-5], [0.2, 9], [3]]) {
    const { ticks, at } = scaleOf(values, "max_abs_error", 150, 360);
    const places = ticks.map(at);
    assert.ok(places.slice(1).every((place, index) => place - places[index] >= 50));
  }
});

test("a filter finds words anywhere in a row", () => {
  const rows = [
    row("resnet", { notice_codes: ["misfold"] }),
    row("vit", { status: "timed_out", reason: "not done after 5 s" }),
    row("swin", { preserved_names: ["head.weight"] }),
  ];
  assert.deepEqual(names(filterRows(rows, "MISFOLD", {})), ["resnet"]);
  assert.deepEqual(names(filterRows(rows, "timed out", {})), ["vit"]);
  assert.deepEqual(names(filterRows(rows, "head swin", {})), ["swin"]);
  assert.deepEqual(names(filterRows(rows, "", { status: "recorded" })), ["resnet", "swin"]);
  assert.deepEqual(names(filterRows(rows, "vit", { status: "recorded" })), []);
  assert.deepEqual(names(filterRows(rows, "", { environment: "" })), ["resnet", "vit", "swin"]);
  assert.deepEqual(names(filterRows([row("a", { environment: "old" }), row("b")], "", { environment: "" })), ["b"]);
});

test("rows without a value come last in both orders", () => {
  const rows = [row("a"), row("b", { frozen: 10 }), row("c", { frozen: 9 })];
  assert.deepEqual(names(sortRows(rows, "frozen", false)), ["c", "b", "a"]);
  assert.deepEqual(names(sortRows(rows, "frozen", true)), ["b", "c", "a"]);
  assert.deepEqual(names(sortRows([row("net10"), row("net9")], "model", false)), ["net9", "net10"]);
});

test("groups have a line before their rows", () => {
  const rows = [row("a"), row("b", { backend: "inductor" }), row("c")];
  const lines = tableLines(rows, "backend").map((line) =>
    "group" in line ? `${line.group} ${line.rows.length}` : line.row.model,
  );
  assert.deepEqual(lines, ["inductor 1", "b", "torchscript 2", "a", "c"]);
  assert.equal(tableLines(rows, "").length, 3);
});

test("a chart has a line for each model, the largest first, and leaves out what was not measured", () => {
  const rows = [
    row("small", { latency_ratio: 0.5 }),
    row("large", { latency_ratio: 0.4 }),
    row("large", { latency_ratio: 0.9, options: "inference" }),
    row("unmeasured"),
  ];
  const { variants, lines } = chartData(rows, "latency_ratio");
  assert.deepEqual(variants, ["inference · torchscript", "plain · torchscript"]);
  assert.deepEqual(
    lines.map(({ model, points }) => [model, points.map(({ value, variant }) => [value, variant])]),
    [
      [
        "large",
        [
          [0.4, 1],
          [0.9, 0],
        ],
      ],
      ["small", [[0.5, 1]]],
    ],
  );
});

test("only columns that tell something are shown", () => {
  const keys = usedColumns([row("a", { frozen: 0 })]).map(({ key }) => key);
  assert.deepEqual(keys, ["model", "frozen", "time_s"]);
});

test("figures have units", () => {
  assert.equal(bytesText(0), "0 B");
  assert.equal(bytesText(1536), "1.50 KiB");
  assert.equal(bytesText(1000 * 1024), "0.98 MiB");
  assert.equal(durationText(123.456), "123 ns");
  assert.equal(durationText(1.5e9), "1.50 s");
  assert.equal(ratioText(row("a")), "");
  assert.equal(
    ratioText(row("a", { latency_ratio: 0.8, latency_ratio_low: 0.75, latency_ratio_high: 0.85 })),
    "0.80× (0.75–0.85)",
  );
});

test("a number that is not finite, or half of an interval, is no figure", () => {
  const endless = row("a", { max_abs_error: 1.7e308, latency_ratio: 0.8, latency_ratio_low: null });
  assert.equal(errorText(endless.max_abs_error), "not finite");
  assert.equal(ratioText(endless), "0.80×");
  assert.deepEqual(chartData([endless], "max_abs_error").lines, []);
});

test("small errors use the whole width of a chart", () => {
  const { at, ticks } = scaleOf([1e-6, 4e-6], "max_abs_error", 100, 200);
  assert.equal(at(4e-6), 200);
  assert.ok(ticks.length > 2);
  assert.equal(scaleOf([0], "max_abs_error", 100, 200).at(0), 100);
});

test("the path of a trace is no scheme, query or fragment of its address", () => {
  assert.equal(fileAddress("small/traces/a-1.fztrace"), "./small/traces/a-1.fztrace");
  assert.equal(fileAddress("javascript:alert(1)/a#b?c%41"), "./javascript%3Aalert(1)/a%23b%3Fc%2541");
  assert.equal(fileAddress("/tmp/a b"), "/tmp/a%20b");
  assert.equal(fileAddress("//host/a"), "/host/a");
});
