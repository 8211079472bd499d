/* The graph view's module tree: groups of nodes by module and by nested block, one inside the other. */

import { stayInModule } from "./execution_order.js";
import { findPaths, relativePath } from "./module_paths.js";
import { foldRepeats } from "./repeats.js";
import * as words from "./words.js";

const NONE = -1;

export class ModuleTree {
  /**
   * @param {Union} union
   * @param {{isConstant: boolean[], home: number[], hidden: boolean[]}} constants see `findConstants`; `hidden` are
   *   those that are no boxes
   */
  constructor(union, constants) {
    this.union = union;
    this.constants = constants;
    this.paths = findPaths(union, constants.isConstant);
    /** @type {Map<string, Group>} */
    this.groups = new Map();
    /** @type {Group[]} */
    this.parentOf = []; // key -> the group it is in, or the group it is
    this.root = this.addGroup({ id: "", label: "", parent: null, node: NONE });
    this.bodies = this._findBodies();
    this._fillBody(this.root, bodyName(NONE, 0), []);
    this._tidy(this.root);
    foldRepeats(this);
    this._countOps(this.root);
  }

  /** Name of a body -> keys of the boxes in it. */
  _findBodies() {
    const bodies = new Map();
    for (const key of this.union.order) {
      if (this.constants.hidden[key]) continue;
      const at = this._place(key);
      const name = bodyName(this.union.holder[at], this.union.block[at]);
      if (!bodies.has(name)) bodies.set(name, []);
      bodies.get(name).push(key);
    }
    return bodies;
  }

  /**
   * The node at whose place a node is shown: a constant that is a box is shown with the node that reads it.
   * @param {number} key
   */
  _place(key) {
    const { isConstant, home } = this.constants;
    return isConstant[key] && home[key] !== NONE ? home[key] : key;
  }

  /**
   * @param {number} key
   * @param {string[]} base
   */
  _path(key, base) {
    return relativePath(this.paths[this._place(key)], base);
  }

  /** @param {Pick<Group, "id" | "label" | "parent" | "node"> & Partial<Group>} fields */
  addGroup(fields) {
    /** @type {Group} */
    const group = { children: [], ops: 0, ...fields };
    this.groups.set(group.id, group);
    return group;
  }

  /**
   * Puts a body's nodes into groups by module path, relative to the module its holder is in.
   *
   * A group is a run of one valid execution order, so that groups never depend on each other in a circle: a module
   * that is called twice is two groups.
   * @param {Group} group
   * @param {string} name
   * @param {string[]} base
   */
  _fillBody(group, name, base) {
    const { progress, position } = this.union;
    // By progress, not by order: where a pass replaced every node, the old ones and the new ones of a module are far
    // apart in the order of the union, and still belong side by side.
    const keys = (this.bodies.get(name) || []).sort(
      (/** @type {number} */ a, /** @type {number} */ b) => progress[a] - progress[b] || position[a] - position[b],
    );
    const paths = new Map(keys.map((/** @type {number} */ key) => [key, this._path(key, base)]));
    const counts = new Map();
    const open = [group];
    for (const key of stayInModule(keys, paths, this._bodyEdges(keys))) {
      const path = paths.get(key);
      let depth = 0;
      while (depth < path.length && depth + 1 < open.length && open[depth + 1].segment === path[depth]) depth++;
      open.length = depth + 1;
      for (; depth < path.length; depth++) {
        const outer = depth ? path[depth - 1] : base.at(-1);
        open.push(this._addModule(open[depth], path[depth], { outer, counts }));
      }
      this._addLeaf(open[depth], key, base);
    }
  }

  /**
   * One more run of a module, inside the group of the module around it.
   * @param {Group} parent
   * @param {string} segment
   * @param {{ outer: string | undefined, counts: Map<string, number> }} options `outer`: the segment before, which a number in a list is named with
   */
  _addModule(parent, segment, { outer, counts }) {
    const id = `${parent.id}${parent.id && !parent.id.endsWith("/") ? "." : ""}${segment}`;
    const count = counts.get(id) || 0;
    counts.set(id, count + 1);
    const name = /^\d+$/.test(segment) && outer ? `${outer}.${segment}` : segment;
    const label = count ? `${name} (${count + 1})` : name;
    const child = this.addGroup({ id: count ? `${id}#${count + 1}` : id, label, segment, parent, node: NONE });
    parent.children.push(child);
    return child;
  }

  /**
   * @param {Group} parent
   * @param {number} key
   * @param {string[]} base
   */
  _addLeaf(parent, key, base) {
    const count = this.union.model.blockCount(this.union.row(key));
    if (count) return this._addHolder(parent, key, count, base);
    parent.children.push({ leaf: key, caption: "" });
    this.parentOf[key] = parent;
  }

  /**
   * A node with nested blocks: a group, and a group for each block where there are several.
   * @param {Group} parent
   * @param {number} key
   * @param {number} count
   * @param {string[]} base
   */
  _addHolder(parent, key, count, base) {
    const id = `${this.union.model.ids[key]}/`;
    const label = words.opName(this.union.op(key));
    const group = this.addGroup({ id, label, parent, node: key });
    parent.children.push(group);
    this.parentOf[key] = group;
    const inner = [...base, ...this._path(key, base)];
    const names = blockNames(label, count);
    for (let number = 0; number < count; number++) {
      const body =
        count === 1
          ? group
          : this.addGroup({ id: `${id}${number}/`, label: names[number], parent: group, node: NONE, block: true });
      if (body !== group) group.children.push(body);
      this._fillBody(body, bodyName(key, number), inner);
    }
  }

  /**
   * Pairs of keys of one body, an edge from or to a nested block counting for the node that holds it.
   * @param {number[]} keys
   */
  _bodyEdges(keys) {
    const inside = new Set(keys);
    const lift = (/** @type {number} */ key) => {
      let at = key;
      while (at !== NONE && !inside.has(at)) at = this.union.holder[this._place(at)];
      return at;
    };
    /** @type {[number, number][]} */
    const edges = [];
    for (const key of keys) {
      for (const reader of this.union.readers[key]) {
        const to = this.constants.hidden[reader] ? NONE : lift(reader);
        if (to !== NONE && to !== key) edges.push([key, to]);
      }
    }
    return edges;
  }

  /**
   * Takes away boxes that would hold one thing only: the name moves to what is inside.
   * @param {Group} group
   */
  _tidy(group) {
    group.children.forEach((child) => child.children && this._tidy(child));
    group.children = group.children.map((child) => {
      if (!child.children || child.block || child.node !== NONE || child.children.length !== 1) return child;
      const [only] = child.children;
      if (!only.children) return this._keepLeaf(group, child, only);
      return only.node === NONE ? this._keepOuter(child, only) : child;
    });
  }

  /**
   * @param {Group} group
   * @param {any} child
   * @param {any} only
   */
  _keepLeaf(group, child, only) {
    this.groups.delete(child.id);
    this.parentOf[only.leaf] = group;
    return { leaf: only.leaf, caption: [child.label, only.caption].filter(Boolean).join(".") };
  }

  /**
   * @param {any} child
   * @param {any} only
   */
  _keepOuter(child, only) {
    this.groups.delete(only.id);
    child.label = only.label.startsWith(`${child.segment}.`) ? only.label : `${child.label}.${only.label}`;
    child.children = only.children;
    for (const inner of child.children) {
      if (inner.children) inner.parent = child;
      else this.parentOf[inner.leaf] = child;
    }
    return child;
  }

  /** @param {Group} group */
  _countOps(group) {
    for (const child of group.children) {
      if (child.children) {
        this._countOps(child);
        group.ops += child.ops + (child.node !== NONE ? 1 : 0);
      } else if (!this.union.model.isPseudo(child.leaf)) group.ops++;
    }
  }
}

/**
 * @param {number} holder
 * @param {number} block
 */
function bodyName(holder, block) {
  return `${holder}/${block}`;
}

/**
 * @param {string} label
 * @param {number} count
 */
function blockNames(label, count) {
  if (label === "If" && count === 2) return ["then", "else"];
  return Array.from({ length: count }, (_, number) => `block ${number}`);
}
