/* What a node of a step costs or is, as far as it is known: latency, error, memory and dtype. */

import { shortDtype, shortType } from "../graph/data/words.js";

const CONSTANT_OPS = /^(prim::Constant|prim::GetAttr|get_attr|prim::ConstantMKLDNNTensor)$/;

/**
 * The programs with freezing of a step's method that kernels' nodes are known of.
 * @param {TraceModel} model
 * @param {number} index
 */
export function programsOf(model, index) {
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
export function latencies(model, index) {
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
export function errors(model, index) {
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
export function memories(model, index) {
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
 * The dtype of what a node returns; where torch has none, that of the weights it reads.
 * @param {TraceModel} model
 * @param {number} index
 */
export function dtypes(model, index) {
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
 * The dtype in a tensor's type; undefined where torch has none, and for lists of numbers.
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
