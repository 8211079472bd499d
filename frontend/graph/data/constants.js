/* The graph view's constants: which nodes only carry a value into the graph, and which box shows one as a chip.
 *
 * The order of a union is none of execution for constants, which passes put at the top or next to their reader: hence
 * the recursion, which is as deep as lists and attributes are nested.
 */

const NONE = -1;
const CONSTANT_OPS = new Set([
  "prim::Constant",
  "prim::ConstantMKLDNNTensor",
  "prim::GetAttr",
  "get_attr",
  "prim::CreateObject",
]);
const LIST_OPS = new Set(["prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"]);

/**
 * `isConstant`: key -> whether it is one; `home`: key of a constant -> key of the box it belongs to, or -1.
 * @param {Union} union
 */
export function findConstants(union) {
  /** @type {boolean[]} */
  const isConstant = [];
  for (const key of union.order) check(union, isConstant, key);
  /** @type {number[]} */
  const home = [];
  for (const key of union.order) if (isConstant[key]) findHome(union, isConstant, home, key);
  return { isConstant, home };
}

/**
 * @param {Union} union
 * @param {boolean[]} isConstant
 * @param {number} key
 * @returns {boolean}
 */
function check(union, isConstant, key) {
  if (isConstant[key] !== undefined) return isConstant[key];
  const passive = isPassive(union, key);
  isConstant[key] = passive; // so that a circle, which only a union of graphs can have, comes to an end
  if (passive) isConstant[key] = union.inputsOf[key].every((from) => check(union, isConstant, from));
  return isConstant[key];
}

/**
 * @param {Union} union
 * @param {number} key
 */
function isPassive(union, key) {
  const op = union.op(key);
  return CONSTANT_OPS.has(op) || LIST_OPS.has(op) || (op === "input" && isModule(union, key));
}

/**
 * Whether an input is a module, as TorchScript's `self` is.
 * @param {{ model: Model, rowsOf: number[][] }} options
 * @param {number} key
 */
function isModule({ model, rowsOf }, key) {
  const [, type] = model.rows[/** @type {number} */ (rowsOf[key].at(-1))][3];
  return (model.strings[type] || "").startsWith("__torch__");
}

/**
 * The first box that reads a constant, if need be through lists and attributes of attributes.
 * @param {Union} union
 * @param {boolean[]} isConstant
 * @param {number[]} home
 * @param {number} key
 * @returns {number}
 */
function findHome(union, isConstant, home, key) {
  if (home[key] !== undefined) return home[key];
  home[key] = NONE;
  const readers = union.readers[key].slice().sort((a, b) => union.position[a] - union.position[b]);
  const homes = readers.map((reader) => (isConstant[reader] ? findHome(union, isConstant, home, reader) : reader));
  home[key] = homes.find((one) => one !== NONE) ?? NONE;
  return home[key];
}
