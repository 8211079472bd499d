/* What is shown, as one flat record, and the same as text for a link. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const DEFAULTS = Object.freeze({
    step: null,
    against: null,
    tab: "graph",
    node: null,
    attribute: null,
    program: 0,
    kernel: null,
    beside: false,
    passes: "",
    quiet: false,
    constants: false,
    fates: true,
    panes: "split",
    fold: true,
    scope: "pass",
    alias: "",
    q: "",
    minor: false,
    fate: [],
    kind: "",
    reason: "",
    sort: "path",
  });

  const NUMBERS = new Set(["step", "against", "program", "kernel"]);

  /** Text for a link's fragment; what stands at its default is left out. */
  function toFragment(state) {
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
      if (!(key in DEFAULTS) || value === null || String(value) === String(DEFAULTS[key])) continue;
      words.set(key, typeof value === "boolean" ? Number(value) : value);
    }
    return words.toString();
  }

  /** The state that a fragment tells; unknown words and broken values are left out. */
  function fromFragment(fragment) {
    const state = {};
    for (const [key, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
      if (!Object.hasOwn(DEFAULTS, key)) continue;
      const value = parse(key, text);
      if (value !== undefined) state[key] = value;
    }
    return state;
  }

  function parse(key, text) {
    if (NUMBERS.has(key)) return /^\d+$/.test(text) ? Number(text) : undefined;
    if (typeof DEFAULTS[key] === "boolean") return text === "1";
    if (Array.isArray(DEFAULTS[key])) return text.split(",").filter(Boolean);
    return text;
  }

  Object.assign(FreezerViewer, { DEFAULTS, toFragment, fromFragment });
})();
