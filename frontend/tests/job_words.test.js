import assert from "node:assert/strict";
import { test } from "node:test";

import { ENDS } from "../dashboard/job_words.js";
import { stateName, stateWords } from "../dashboard/words.js";

const FAILED = { state: "failed", conversion: null, message: "", steps: [], unmeasured: null };

test("a recording that ends before its freeze is no failed freeze", () => {
  const job = /** @type {any} */ ({ ...FAILED, died_in: "loading the model" });
  assert.deepEqual(ENDS.failed(job), ["The model cannot be loaded", "No freeze began."]);
  assert.deepEqual([stateName(job), stateWords(job)], ["not recorded", "The model cannot be loaded"]);
});

test("one that ends in a pass is", () => {
  const job = /** @type {any} */ ({ ...FAILED, died_in: "Inline" });
  assert.equal(ENDS.failed(job)[0], "The freeze failed in Inline");
  assert.equal(stateName(job), "freeze failed");
});
