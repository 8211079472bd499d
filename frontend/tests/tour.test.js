/* dashboard/tour: the stops fit what the trace has. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { stopsOf } from "../dashboard/tour.js";

const stepsOf = (/** @type {string[]} */ ...stages) =>
  stages.map((stage) => /** @type {ViewStep} */ (/** @type {unknown} */ ({ stage })));

test("a trace without passes has a tour that promises none", () => {
  const titles = stopsOf(stepsOf("input", "input")).map((stop) => stop.title);
  assert.deepEqual(titles.slice(1, 3), ["Every graph of the trace", "The graph"]);
  assert.equal(stopsOf(stepsOf("input", "freeze_module"))[1].title, "Every pass of torch");
});
