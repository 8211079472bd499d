/* viewer/state: what is shown, as a record and as text for a link. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, fromFragment, toFragment } from "../viewer/state.js";

test("a state at its defaults needs no text", () => {
  assert.equal(toFragment(DEFAULTS), "");
  assert.deepEqual(fromFragment(""), {});
});

test("each kind of value comes back from the text", () => {
  const state = {
    step: 4,
    tab: "attributes",
    node: "a&b=c #1",
    quiet: true,
    constants: true,
    fate: ["folded", "dropped"],
  };
  assert.deepEqual(fromFragment(`#${toFragment(state)}`), state);
});

test("a flag that is on by default can be turned off", () => {
  assert.equal(toFragment({ fates: false }), "fates=0");
  assert.deepEqual(fromFragment("fates=0"), { fates: false });
});

test("unknown keys and broken values are left out", () => {
  assert.deepEqual(fromFragment("step=-1&against=1.5&program=x&kernel=&toString=1&__proto__=2&tab=code"), {
    tab: "code",
  });
  assert.equal(toFragment(/** @type {object} */ ({ step: 3, unknown: 1 })), "step=3");
});
