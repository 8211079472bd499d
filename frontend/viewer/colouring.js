/* Colours for the graph: for each node of a step its known latency, error, memory and dtype.
 *
 * Parts of a node are [key, amount] pairs, see graph/colouring.js: two nodes with one key share what it stands for.
 */

import { count } from "../graph/data/words.js";
import { bytesText, durationText } from "./amounts.js";
import { dtypes, errors, latencies, memories, programsOf } from "./node_quantities.js";

/** @type {Record<string, { label: string, rule: "sum" | "max" | "same", absent: string, text: (amount: number) => string }>} */
export const COLOURINGS = {
  latency: { label: "latency", rule: "sum", absent: "not measured", text: timeText },
  error: { label: "error added", rule: "max", absent: "not measured", text: errorText },
  memory: { label: "memory (weights read)", rule: "sum", absent: "not measured", text: bytesText },
  dtype: { label: "dtype", rule: "same", absent: "not known", text: String },
};

/** The options of the choice, with their labels. */
export const COLOUR_CHOICES = [
  ["change", "change"],
  ["latency", "latency"],
  ["error", "error"],
  ["memory", "memory"],
  ["dtype", "dtype"],
];

/**
 * @param {TraceModel} model
 * @param {number} index of a step
 * @param {string} kind
 * @returns {Parts}
 */
export function partsOf(model, index, kind) {
  const name = `${index}/${kind}`;
  let parts = model.coloured.get(name);
  if (!parts) model.coloured.set(name, (parts = MAKERS[kind](model, index)));
  return parts;
}

/** @type {Record<string, (model: TraceModel, index: number) => Parts>} */
const MAKERS = { latency: latencies, error: errors, memory: memories, dtype: dtypes };

/**
 * The colouring of a pair of graphs; null where they are coloured by change.
 * @param {TraceModel} model
 * @param {Pair} pair
 * @param {string} kind
 * @returns {Colouring | null}
 */
export function colouringOf(model, pair, kind) {
  if (!Object.hasOwn(COLOURINGS, kind)) return null;
  const before = pair.before ? partsOf(model, pair.before.index, kind) : null;
  const after = partsOf(model, pair.after.index, kind);
  return { ...COLOURINGS[kind], parts: { before, after }, missing: missingText(model, pair.after.index, kind) };
}

/**
 * The known values of a node in words: [[what, value], …].
 * @param {TraceModel} model
 * @param {number} index of a step
 * @param {string} id
 */
export function valuesOfNode(model, index, id) {
  return Object.entries(COLOURINGS).flatMap(([kind, { label, rule, text }]) => {
    const parts = partsOf(model, index, kind).get(id);
    if (!parts?.length) return [];
    const amounts = parts.map(([, amount]) => amount);
    if (rule === "same") return [[label, parts.map(([key]) => key).join(", ")]];
    const amount = rule === "sum" ? amounts.reduce((sum, one) => sum + one, 0) : Math.max(...amounts);
    return [[label, text(amount) + shared(model, index, kind, parts)]];
  });
}

/**
 * A kernel's time is that of all nodes that it computes.
 * @param {TraceModel} model
 * @param {number} index
 * @param {string} kind
 * @param {[string, number][]} parts
 */
function shared(model, index, kind, parts) {
  if (kind !== "latency") return "";
  const keys = new Set(parts.map(([key]) => key));
  const others =
    [...partsOf(model, index, kind).values()].filter((own) => own.some(([key]) => keys.has(key))).length - 1;
  return others > 0 ? `, in kernels that compute ${count(others, "more node")}` : "";
}

/**
 * The advice where some nodes have no value.
 * @param {TraceModel} model
 * @param {number} index
 * @param {string} kind
 */
function missingText(model, index, kind) {
  if (kind === "dtype") return "torch gives no type for these values; a traced model and Inductor have them.";
  if (kind === "error") {
    return "No pass from there on was compared with eager: record with inputs, without --no-numerics.";
  }
  if (kind === "memory") return "";
  if (programsOf(model, index).length) {
    return latencies(model, index).size
      ? "No kernel that was timed computes these."
      : "No kernel was timed: record with latencies.";
  }
  return "TorchScript is timed pass by pass, see Charts; --backend inductor times each kernel.";
}

/** @param {number} time in ns */
function timeText(time) {
  return time ? durationText(time) : "0";
}

/** @param {number} error */
function errorText(error) {
  return error ? error.toPrecision(2) : "0";
}
