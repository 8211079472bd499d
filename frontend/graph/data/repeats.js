/* The graph view's repeats: siblings of one structure, such as the layers of a transformer, become one group.
 *
 * It holds the first of them and a group with the others, which is only opened where someone looks for something in it. Two
 * modules have one structure if their nodes do the same with the same kinds of values, are wired alike, and come, change and
 * go in the same passes, names apart: then whatever is seen in the first happens in all.
 */

import * as words from "./words.js";

const NONE = -1;
const LEAST = 3; // members
const INDEXED = /^(.*?)(\d+)$/;

/**
 * Puts repeats into groups of their own, inner ones first.
 * @param {ModuleTree} tree
 */
export function foldRepeats(tree) {
  const signer = new Signer(tree);
  const visit = (/** @type {Group} */ group) => {
    for (const child of group.children) if (child.children) visit(child);
    fold(tree, signer, group);
  };
  visit(tree.root);
}

/**
 * @param {ModuleTree} tree
 * @param {Signer} signer
 * @param {Group} group
 */
function fold(tree, signer, group) {
  const runs = runsOf(tree, group.children);
  if (!runs.some((run) => run.length >= LEAST)) return;
  const pieces = runs.flatMap((run) => (run.length < LEAST ? [run] : alike(signer, run)));
  const isWhole = pieces.length === 1 && group.parent !== null && group.node === NONE && !group.block;
  group.children = pieces.flatMap((piece) => {
    if (piece.length < LEAST) return piece;
    const holder = isWhole ? group : makeHolder(tree, group, piece);
    fill(tree, holder, piece);
    if (!isWhole) return [holder];
    holder.label = `${holder.label} \u00d7 ${piece.length}`;
    return holder.children;
  });
}

/**
 * Children in runs of groups whose names differ by a number that grows; each other child is a run of its own.
 *
 * A node between two of them that reads none of them, such as the call that was inlined, does not part them.
 * @param {ModuleTree} tree
 * @param {any[]} children
 */
function runsOf(tree, children) {
  /** @type {any[][]} */
  const runs = [];
  let last = null;
  for (const child of children) {
    const found = child.children && !child.block && child.node === NONE ? INDEXED.exec(child.segment ?? "") : null;
    if (last && !child.children && !readsAny(tree, child.leaf, runs[runs.length - 1])) {
      runs.splice(-1, 0, [child]);
      continue;
    }
    const now = found && { stem: found[1], index: Number(found[2]) };
    if (now && last && now.stem === last.stem && now.index > last.index) runs[runs.length - 1].push(child);
    else runs.push([child]);
    last = now;
  }
  return runs;
}

/**
 * @param {ModuleTree} tree
 * @param {number} key
 * @param {Group[]} run
 */
function readsAny({ parentOf, union }, key, run) {
  return union.inputsOf[key].some((from) => {
    for (let group = parentOf[from]; group; group = /** @type {Group} */ (group.parent)) {
      if (run.includes(group)) return true;
    }
    return false;
  });
}

/**
 * A run in pieces of one structure each.
 * @param {Signer} signer
 * @param {Group[]} run
 */
function alike(signer, run) {
  /** @type {Group[][]} */
  const pieces = [[run[0]]];
  for (let at = 1; at < run.length; at++) {
    if (signer.areAlike(run[at - 1], run[at])) pieces[pieces.length - 1].push(run[at]);
    else pieces.push([run[at]]);
  }
  return pieces;
}

/**
 * @param {ModuleTree} tree
 * @param {Group} parent
 * @param {Group[]} members
 */
function makeHolder(tree, parent, members) {
  const [first, last] = [members[0], /** @type {Group} */ (members.at(-1))];
  const end = INDEXED.exec(last.segment ?? "")?.[2];
  const label = `${first.label}\u2013${end} \u00d7 ${members.length}`;
  return tree.addGroup({ id: `${first.id}\u00d7`, label, parent, node: NONE });
}

/**
 * @param {ModuleTree} tree
 * @param {Group} holder
 * @param {Group[]} members
 */
function fill(tree, holder, members) {
  const [first, ...others] = members;
  const label = `${others[0].label}\u2013${INDEXED.exec(others.at(-1)?.segment ?? "")?.[2]}: ${others.length} like it`;
  const rest = tree.addGroup({ id: `${first.id}\u00d7+`, label, parent: holder, node: NONE });
  rest.children = others;
  rest.isRest = true;
  holder.repeat = members;
  holder.children = [first, rest];
  first.parent = holder;
  for (const other of others) other.parent = rest;
}

/** Signs groups with texts that are equal for one structure. */
class Signer {
  /** @param {ModuleTree} tree */
  constructor({ union, constants }) {
    this.union = union;
    this.constants = constants;
    this.snapshots = union.snapshots.map((index) => union.model.snapshot(index));
    /** @type {string[]} */
    this.own = []; // key -> what it is, without its wires
    /** @type {Map<Group, string>} */
    this.signed = new Map();
  }

  /**
   * Whether two groups have one structure; what differs in size or in its first node is not looked at further.
   * @param {Group} one
   * @param {Group} other
   */
  areAlike(one, other) {
    if (sizeOf(one) !== sizeOf(other)) return false;
    const [first, second] = [one, other].map((group) => this.node(firstKey(group)));
    return first === second && this.signOnce(one) === this.signOnce(other);
  }

  /** @param {Group} group */
  signOnce(group) {
    let text = this.signed.get(group);
    if (text === undefined) this.signed.set(group, (text = this.sign(group)));
    return text;
  }

  /** @param {Group} group */
  sign(group) {
    /** @type {Map<number, number>} */
    const places = new Map();
    collect(group, places);
    const wire = (/** @type {number} */ key) => {
      const place = places.get(key);
      if (place !== undefined) return `${place}`;
      if (this.constants.isConstant[key]) return this.constant(key);
      return "<"; // the first of a run reads from others than those behind it
    };
    /** @type {string[]} */
    const parts = [];
    this.write(group, parts, wire);
    return parts.join("\n");
  }

  /**
   * @param {Group} group
   * @param {string[]} parts
   * @param {(key: number) => string} wire
   */
  write(group, parts, wire) {
    for (const child of group.children) {
      const key = child.children ? child.node : child.leaf;
      if (key !== NONE) parts.push(`${this.node(key)} (${[...new Set(this.union.inputsOf[key].map(wire))].join(" ")})`);
      if (!child.children) continue;
      parts.push(`{ ${child.segment ?? child.label}`);
      this.write(child, parts, wire);
      parts.push("}");
    }
  }

  /**
   * Versions of a node, and in which of the graphs each stands.
   * @param {number} key
   */
  node(key) {
    if (this.own[key] === undefined) {
      // By what they say: the first of a run reads the same value in each pass, where those behind it read another's.
      const texts = new Map(this.union.rowsOf[key].map((row) => [row, this.version(row)]));
      const known = [...new Set(texts.values())];
      const presence = this.snapshots.map((snapshot) => known.indexOf(texts.get(snapshot.rowOf[key]) ?? ""));
      this.own[key] = `${presence}: ${known.join(" | ")}`;
    }
    return this.own[key];
  }

  /** @param {number} row */
  version(row) {
    const node = this.union.model.node(row);
    const types = node.outputs.map(({ type }) => kindOf(type));
    const texts = node.attributes.filter(({ text }) => !/\d/.test(text) || !isName(node)).map(({ text }) => text);
    const { constant } = node;
    const content = constant ? `${constant.dtype}[${constant.shape}]` : texts.join(",");
    return `${node.op} ${node.inputs.length} ${types.join(",")} ${content}`;
  }

  /**
   * A constant by what it is, however it is called.
   * @param {number} key
   * @returns {string}
   */
  constant(key) {
    if (this.union.model.isPseudo(key)) return "self";
    const inputs = this.union.inputsOf[key];
    const name = words.attributeName(this.union.model.node(this.union.row(key)));
    const path = name && INDEXED.test(name) && !inputs.length ? "" : inputs.map((one) => this.constant(one)).join(" ");
    return `${this.node(key)}[${path}]`;
  }
}

/**
 * A type without the numbers that torch gives classes of one name.
 * @param {string} type
 */
function kindOf(type) {
  return type.startsWith("__torch__") ? type.replace(/___torch_mangle_\d+\.?/g, "") : words.shortType(type);
}

/**
 * Whether a node's texts are names of attributes, which may have an index.
 * @param {GraphNode} node
 */
function isName(node) {
  return node.op === "prim::GetAttr" || node.op === "get_attr" || node.op === "prim::CallMethod";
}

/**
 * @param {Group} group
 * @returns {number}
 */
function sizeOf(group) {
  return group.children.reduce((sum, child) => sum + 1 + (child.children ? sizeOf(child) : 0), 0);
}

/**
 * The first node in a group that is not empty.
 * @param {Group} group
 * @returns {number}
 */
function firstKey(group) {
  const [child] = group.children;
  if (!child.children) return child.leaf;
  return child.node === NONE ? firstKey(child) : child.node;
}

/**
 * Keys in a group, numbered in order.
 * @param {Group} group
 * @param {Map<number, number>} places
 */
function collect(group, places) {
  for (const child of group.children) {
    const key = child.children ? child.node : child.leaf;
    if (key !== NONE) places.set(key, places.size);
    if (child.children) collect(child, places);
  }
}
