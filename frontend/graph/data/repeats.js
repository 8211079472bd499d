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
    /** @type {number[]} */
    this.own = []; // key -> number of what it is, without its wires
    /** @type {number[]} */
    this.versions = []; // row -> number of its text
    /** @type {Map<string, number>} */
    this.numbers = new Map(); // text -> its number
    /** @type {string[]} */
    this.held = []; // key of a constant -> what it holds
    /** @type {Map<number, string>} */
    this.kinds = new Map(); // string index of a type -> its kind
    /** @type {Map<Group, string>} */
    this.signed = new Map();
  }

  /**
   * The number that stands for a text: signatures are made of numbers, and stay short.
   * @param {string} text
   */
  number(text) {
    let number = this.numbers.get(text);
    if (number === undefined) this.numbers.set(text, (number = this.numbers.size));
    return number;
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
      if (key !== NONE) parts.push(`${this.node(key)} (${distinct(this.union.inputsOf[key].map(wire)).join(" ")})`);
      if (!child.children) continue;
      parts.push(`{ ${child.segment ?? child.label}`);
      this.write(child, parts, wire);
      parts.push("}");
    }
  }

  /**
   * The versions of a node, and in which of the graphs each stands, as one number.
   * @param {number} key
   */
  node(key) {
    let number = this.own[key];
    if (number === undefined) this.own[key] = number = this.number(this.presence(key));
    return number;
  }

  /** @param {number} key */
  presence(key) {
    // By what they say: the first of a run reads the same value in each pass, where those behind it read another's.
    const rows = this.union.rowsOf[key];
    const known = rows.length === 1 ? [this.version(rows[0])] : [...new Set(rows.map((row) => this.version(row)))];
    let text = `${known}:`;
    let last = -2;
    for (let at = 0; at < this.snapshots.length; at++) {
      const row = this.snapshots[at].rowOf[key];
      const which = row === NONE ? NONE : known.length === 1 ? 0 : known.indexOf(this.version(row));
      if (which !== last) text += ` ${at}=${which}`;
      last = which;
    }
    return text;
  }

  /** @param {number} row */
  version(row) {
    let number = this.versions[row];
    if (number === undefined) this.versions[row] = number = this.number(this.says(row));
    return number;
  }

  /**
   * What a row's node is, of its raw row: decoding all nodes takes longer than everything else here.
   * @param {number} row
   */
  says(row) {
    const { rows, strings } = this.union.model;
    const [, op, inputs = 0, outputs = 0, , attributes = 0, , kept = null] = rows[row];
    let text = `${strings[op || 0]} ${inputs ? inputs.length : 0}`;
    for (let at = 1; at < (outputs ? outputs.length : 0); at += 2) text += ` ${this.kind(outputs[at])}`;
    if (kept) return `${text} ${strings[kept[1] || 0]}[${kept[0]}]`;
    const named = isName(strings[op || 0]);
    for (let at = 1; at < (attributes ? attributes.length : 0); at += 2) {
      const one = strings[attributes[at] || 0];
      if (!named || !/\d/.test(one)) text += `,${one}`;
    }
    return text;
  }

  /** @param {number} type place of its text */
  kind(type) {
    let kind = this.kinds.get(type);
    if (kind === undefined) this.kinds.set(type, (kind = kindOf(this.union.model.strings[type || 0])));
    return kind;
  }

  /**
   * A constant by what it is, however it is called.
   * @param {number} key
   * @returns {string}
   */
  constant(key) {
    let text = this.held[key];
    if (text === undefined) this.held[key] = text = `c${this.number(this.content(key))}`;
    return text;
  }

  /** @param {number} key */
  content(key) {
    const { model, inputsOf } = this.union;
    if (model.isPseudo(key)) return "self";
    const inputs = inputsOf[key];
    const row = this.union.row(key);
    const name = model.op(row) === "prim::GetAttr" ? words.attributeName(model.node(row)) : "";
    const path = name && INDEXED.test(name) && !inputs.length ? "" : inputs.map((one) => this.constant(one)).join(" ");
    return `${this.node(key)}[${path}]`;
  }
}

/** @param {string[]} texts */
function distinct(texts) {
  return texts.length < 2 ? texts : [...new Set(texts)];
}

/**
 * A type without the numbers that torch gives classes of one name.
 * @param {string} type
 */
function kindOf(type) {
  return type.startsWith("__torch__") ? type.replace(/___torch_mangle_\d+\.?/g, "") : words.shortType(type);
}

/**
 * Whether the texts of nodes of an operator are names of attributes, which may have an index.
 * @param {string} op
 */
function isName(op) {
  return op === "prim::GetAttr" || op === "get_attr" || op === "prim::CallMethod";
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
