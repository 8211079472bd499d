/* The state of the view as one flat record, and as text for a link. */

/**
 * @typedef {object} State
 * @property {number | null} step
 * @property {number | null} against the step to compare with; null: the one before
 * @property {string} tab
 * @property {string | null} node
 * @property {string | null} attribute
 * @property {number} program
 * @property {number | null} kernel
 * @property {string} line the chosen line of source, "file:number"; empty for none
 * @property {boolean} beside whether two programs are side by side
 * @property {string} passes filter of the pass list
 * @property {boolean} quiet whether passes without effect are hidden
 * @property {boolean} constants whether the graph shows constants as boxes
 * @property {boolean} fates whether the graph marks fates
 * @property {"split" | "before" | "after"} panes
 * @property {"change" | "latency" | "error" | "memory" | "dtype"} colour what the colour of a box in the graph says
 * @property {boolean} fold
 * @property {string} scope
 * @property {string} alias
 * @property {string} q filter of the attributes
 * @property {boolean} minor
 * @property {string[]} fate
 * @property {string} kind
 * @property {string} reason
 * @property {string} sort
 */

/** @type {Readonly<State>} */
export const DEFAULTS = Object.freeze({
  step: null,
  against: null,
  tab: "graph",
  node: null,
  attribute: null,
  program: 0,
  kernel: null,
  line: "",
  beside: false,
  passes: "",
  quiet: false,
  constants: false,
  fates: true,
  panes: "split",
  colour: "change",
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

/**
 * Text for a link's fragment; what is at its default is left out.
 * @param {Partial<State>} state
 */
export function toFragment(state) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (!isKey(key) || value === null || String(value) === String(DEFAULTS[key])) continue;
    words.set(key, String(typeof value === "boolean" ? Number(value) : value));
  }
  return words.toString();
}

/**
 * The state of a fragment; unknown words and broken values are left out.
 * @param {string} fragment
 */
export function fromFragment(fragment) {
  /** @type {Record<string, unknown>} */
  const state = {};
  for (const [key, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (!isKey(key)) continue;
    const value = parse(key, text);
    if (value !== undefined) state[key] = value;
  }
  return /** @type {Partial<State>} */ (state);
}

/**
 * @param {string} key
 * @returns {key is keyof State}
 */
function isKey(key) {
  return Object.hasOwn(DEFAULTS, key);
}

/**
 * @param {keyof State} key
 * @param {string} text
 */
function parse(key, text) {
  if (NUMBERS.has(key)) return /^\d+$/.test(text) ? Number(text) : undefined;
  if (typeof DEFAULTS[key] === "boolean") return text === "1";
  if (Array.isArray(DEFAULTS[key])) return text.split(",").filter(Boolean);
  return text;
}
