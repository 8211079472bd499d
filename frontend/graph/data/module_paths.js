/* The graph view's module paths: in which module each node is, also where nothing says so. */

import * as words from "./words.js";

const NONE = -1;

/**
 * Key -> module path.
 *
 * A node that a pass made has no path. It counts for the innermost module that holds what comes before it and what
 * comes after it, along the edges or else in execution order, lest it cut in two every module around it.
 * @param {Union} union
 * @param {boolean[]} isConstant
 */
export function findPaths(union, isConstant) {
  const { inputsOf, readers, holder, order } = union;
  const own = (/** @type {number} */ key) => calledModule(union, key) || toldPath(union, key);
  const placed = order.filter((key) => !isConstant[key] && holder[key] === NONE);
  /** @type {string[]} */
  const paths = [];
  for (const key of order) paths[key] = own(key) || "";
  const before = pathsTowards(placed, own, inputsOf);
  const after = pathsTowards(placed.slice().reverse(), own, readers);
  const inside = (/** @type {number[]} */ keys, /** @type {string} */ path) =>
    keys.some((one) => !isConstant[one] && `${paths[one]}.`.startsWith(`${path}.`));
  for (const key of placed) {
    if (own(key) !== undefined) continue;
    paths[key] = inside(inputsOf[key], after[key])
      ? after[key]
      : inside(readers[key], before[key])
        ? before[key]
        : commonPath([before[key], after[key]]);
  }
  // What runs inside an If or a Loop is where that is.
  for (const key of order) if (holder[key] !== NONE && !own(key)) paths[key] = paths[holder[key]];
  return paths;
}

/**
 * The path that a node itself names; undefined where it names none.
 * @param {{ model: Model, rowsOf: number[][] }} options
 * @param {number} key
 */
function toldPath({ model, rowsOf }, key) {
  return (
    model.strings[model.rows[/** @type {number} */ (rowsOf[key].at(-1))][4] || 0] ||
    (model.isPseudo(key) ? "" : undefined)
  );
}

/**
 * The module whose method a node calls: what inlining puts in its stead comes from there.
 * @param {Union} union
 * @param {number} key
 */
function calledModule(union, key) {
  return union.op(key) === "prim::CallMethod" ? modulePath(union, union.model.inputs(union.row(key))[0]) : null;
}

/**
 * Path of the module that a value is, by the attributes it was read through; null if unknown.
 * @param {Union} union
 * @param {number} value
 * @returns {string | null}
 */
function modulePath(union, value) {
  const { model } = union;
  const [key] = union.producers.get(value) || [];
  if (key === undefined) return null;
  if (model.isPseudo(key)) return "";
  const row = union.row(key);
  const owner = union.op(key) === "prim::GetAttr" ? modulePath(union, model.inputs(row)[0]) : null;
  if (owner === null) return null;
  return [owner, words.attributeName(model.node(row))].filter(Boolean).join(".");
}

/**
 * What is known of the modules on one side of each node: common path of its neighbours there, or the last node's.
 * @param {number[]} keys
 * @param {(key: number) => string | null | undefined} own
 * @param {number[][]} neighbours
 */
function pathsTowards(keys, own, neighbours) {
  /** @type {string[]} */
  const found = [];
  let last = "";
  for (const key of keys) {
    const known = neighbours[key].map((one) => found[one]).filter((path) => path !== undefined);
    found[key] = own(key) ?? (known.length ? commonPath(known) : last);
    last = found[key];
  }
  return found;
}

/** @param {string[]} paths */
function commonPath(paths) {
  let common = paths[0].split(".");
  for (const path of paths) {
    const segments = path.split(".");
    common = common.slice(0, common.findIndex((segment, at) => segments[at] !== segment) >>> 0);
  }
  return common.join(".");
}

/**
 * The segments of a path below those of `base`; all of them where it lies elsewhere.
 * @param {string} path
 * @param {string[]} base
 */
export function relativePath(path, base) {
  const segments = path ? path.split(".") : [];
  const nested = base.every((segment, index) => segments[index] === segment);
  return nested ? segments.slice(base.length) : segments;
}
