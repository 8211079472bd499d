/* Signatures of groups: two groups with one signature have the same structure. */

import * as words from "./words.js";

export const NONE = -1;

// members
export const INDEXED = /^(.*?)(\d+)$/;

/** Signs groups with texts that are equal for one structure. */
export class Signer {
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
   * The versions of a node, and in which of the graphs each is, as one number.
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
