/* Colours for the graph: for each node of a step its known latency, error, memory and dtype.
 *
 * Parts of a node are [key, amount] pairs, see graph/colouring.js: two nodes with one key share what it stands for.
 */

import { count, shortDtype, shortType } from "../graph/data/words.js";
import { bytesText, durationText } from "./amounts.js";

const CONSTANT_OPS = /^(prim::Constant|prim::GetAttr|get_attr|prim::ConstantMKLDNNTensor)$/;

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

/**
 * The programs with freezing of a step's method that kernels' nodes are known of.
 * @param {TraceModel} model
 * @param {number} index
 */
function programsOf(model, index) {
  const { method, side } = model.steps[index];
  return model.view.programs
    .map((program, /** @type {number} */ place) => ({ ...program, place }))
    .filter(
      (program) =>
        program.method === method &&
        (program.step === null || model.steps[program.step].side === side) &&
        program.kernels.some((kernel) => kernel.nodes.length),
    );
}

/**
 * Times of kernels: of those that compute a node, or else come from it; none for a node that needs no kernel.
 * @param {TraceModel} model
 * @param {number} index
 */
function latencies(model, index) {
  /** @type {Parts} */
  const computing = new Map();
  /** @type {Parts} */
  const coming = new Map();
  for (const program of programsOf(model, index)) {
    program.kernels.forEach((kernel, /** @type {number} */ number) => {
      if (kernel.time_ns === null) return;
      const part = /** @type {[string, number]} */ ([`${program.place}/${number}`, kernel.time_ns]);
      for (const id of kernel.nodes) add(computing, id, part);
      for (const id of kernel.origins) add(coming, id, part);
    });
    if (!computing.size) continue;
    for (const [id] of program.no_kernel) if (!computing.has(id)) add(computing, id, ["no kernel", 0]);
  }
  return new Map([...coming, ...computing]);
}

/**
 * By how much the error against eager grew over the pass that a node was last changed by.
 * @param {TraceModel} model
 * @param {number} index
 */
function errors(model, index) {
  const { method } = model.steps[index];
  const chain =
    model.chains(method).find((steps) => steps.some((/** @type {ViewStep} */ step) => step.index === index)) ?? [];
  const growth = growths(chain);
  const inChain = new Set(chain.map((/** @type {ViewStep} */ step) => step.index));
  /** @type {Parts} */
  const parts = new Map();
  for (const { id } of nodesOf(model, index)) {
    const last = model.history(method, id).findLast((event) => event.step <= index && inChain.has(event.step));
    if (!last) continue;
    const grown = last.step === chain[0].index ? (growth.size ? 0 : undefined) : growth.get(last.step);
    if (grown !== undefined) parts.set(id, [[`step ${last.step}`, grown]]);
  }
  return parts;
}

/**
 * Step → by how much the error grew at the first step from there on that was compared, against the one compared before.
 * @param {ViewStep[]} chain
 */
function growths(chain) {
  /** @type {Map<number, number>} */
  const growth = new Map();
  /** @type {number[]} */
  let waiting = [];
  let before = /** @type {number | null} */ (null);
  for (const step of chain) {
    waiting.push(step.index);
    const error = step.error;
    if (error === null) continue;
    const grown = Math.max(0, error - (before ?? 0));
    for (const one of waiting) growth.set(one, grown);
    waiting = [];
    before = error;
  }
  return growth;
}

/**
 * Bytes of the weights, buffers and constants that a node reads, or is.
 * @param {TraceModel} model
 * @param {number} index
 */
function memories(model, index) {
  const held = heldBytes(model, index);
  /** @type {Parts} */
  const parts = new Map();
  for (const node of nodesOf(model, index)) {
    const names =
      CONSTANT_OPS.test(node.op) || node.op === "input" ? node.outputs.map(({ name }) => name) : node.inputs;
    const own = new Map(names.flatMap((name) => held.get(name) ?? []));
    parts.set(node.id, [...own]);
  }
  return parts;
}

/**
 * Value → what it is or holds, with its bytes.
 * @param {TraceModel} model
 * @param {number} index
 */
function heldBytes(model, index) {
  /** @type {Map<string, [string, number][]>} */
  const held = new Map();
  const rows = model.attributes.filter((row) => row.counted && row.nbytes);
  const part = (/** @type {any} */ row) => /** @type {[string, number]} */ ([row.same_as || row.path, row.nbytes]);
  for (const [value, path] of model.reads(index)) {
    const own = rows.filter((row) => row.path === path || row.path.startsWith(`${path}.`));
    if (own.length) held.set(value, own.map(part));
  }
  for (const [value] of model.named(index)) {
    const own = model.attributesOf(index, value).filter((row) => row.nbytes);
    if (own.length) held.set(value, own.map(part));
  }
  for (const { constant, outputs } of nodesOf(model, index)) {
    if (!constant) continue;
    const key = `${constant.storage ?? outputs[0].name} ${constant.digest} ${constant.nbytes}`;
    held.set(outputs[0].name, [[key, constant.nbytes]]);
  }
  return held;
}

/**
 * The dtype of what a node returns; where torch does not tell it, that of the weights it reads.
 * @param {TraceModel} model
 * @param {number} index
 */
function dtypes(model, index) {
  /** @type {Map<string, string>} */
  const known = new Map();
  for (const [value, path] of model.reads(index)) {
    const row = model.attribute(path);
    if (row?.dtype) known.set(value, shortDtype(row.dtype));
  }
  const nodes = nodesOf(model, index);
  for (const { constant, outputs } of nodes) if (constant) known.set(outputs[0].name, shortDtype(constant.dtype));
  /** @type {Parts} */
  const parts = new Map();
  for (const node of nodes) {
    const own = node.outputs.map(({ type }) => tensorDtype(type)).find(Boolean);
    const isValue = CONSTANT_OPS.test(node.op);
    const names = isValue ? node.outputs.map(({ name }) => name) : node.inputs;
    const read = names.map((name) => known.get(name)).find(Boolean);
    const dtype = own ?? read;
    if (dtype && !(isValue && !read && !own)) parts.set(node.id, [[dtype, 1]]);
  }
  return parts;
}

/**
 * The dtype in a tensor's type; undefined where torch does not tell it, and for lists of numbers.
 * @param {string} type
 */
function tensorDtype(type) {
  const found = /^(\w+)\[/.exec(shortType(type))?.[1];
  return found === undefined || /^(int|float|bool|str)$/.test(found) ? undefined : found;
}

/**
 * The nodes, inputs and returns of a step's graph.
 * @param {TraceModel} model
 * @param {number} index
 * @returns {GraphNode[]}
 */
function nodesOf(model, index) {
  const { order, rowOf } = model.graphs.snapshot(model.snapshot(index));
  return order.map((/** @type {number} */ key) => model.graphs.node(rowOf[key]));
}

/**
 * @param {Parts} parts
 * @param {string} id
 * @param {[string, number]} part
 */
function add(parts, id, part) {
  const own = parts.get(id);
  if (own) own.push(part);
  else parts.set(id, [part]);
}

/** @param {number} time in ns */
function timeText(time) {
  return time ? durationText(time) : "0";
}

/** @param {number} error */
function errorText(error) {
  return error ? error.toPrecision(2) : "0";
}
