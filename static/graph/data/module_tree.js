/* The graph view's module tree: groups of nodes by module and by nested block, one inside the other. */
(function (root) {
  "use strict";

  const { findPaths, relativePath, stayInModule, words } = root.FreezerGraph;
  const NONE = -1;

  class ModuleTree {
    /**
     * @param {Union} union
     * @param {{isConstant: boolean[], home: number[], hidden: boolean[]}} constants see `findConstants`; `hidden` are
     *   those that are no boxes
     */
    constructor(union, constants) {
      this.union = union;
      this.constants = constants;
      this.paths = findPaths(union, constants.isConstant);
      this.groups = new Map();
      this.parentOf = []; // key -> the group it stands in, or the group it is
      this.root = this._group({ id: "", label: "", parent: null, node: NONE });
      this.bodies = this._findBodies();
      this._fillBody(this.root, bodyName(NONE, 0), []);
      this._tidy(this.root);
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

    /** The node that stands where a node is shown: a constant that is a box stands with the node that reads it. */
    _place(key) {
      const { isConstant, home } = this.constants;
      return isConstant[key] && home[key] !== NONE ? home[key] : key;
    }

    _path(key, base) {
      return relativePath(this.paths[this._place(key)], base);
    }

    _group(fields) {
      const group = { children: [], ops: 0, ...fields };
      this.groups.set(group.id, group);
      return group;
    }

    /**
     * Puts a body's nodes into groups by module path, relative to the module its holder stands in.
     *
     * A group is a run of one valid execution order, so that groups never depend on each other in a circle: a module
     * that is called twice is two groups.
     */
    _fillBody(group, name, base) {
      const { progress, position } = this.union;
      // By progress, not by order: where a pass replaced every node, the old ones and the new ones of a module are far
      // apart in the order of the union, and still belong side by side.
      const keys = (this.bodies.get(name) || []).sort((a, b) => progress[a] - progress[b] || position[a] - position[b]);
      const paths = new Map(keys.map((key) => [key, this._path(key, base)]));
      const counts = new Map();
      const open = [group];
      for (const key of stayInModule(keys, paths, this._bodyEdges(keys))) {
        const path = paths.get(key);
        let depth = 0;
        while (depth < path.length && depth + 1 < open.length && open[depth + 1].segment === path[depth]) depth++;
        open.length = depth + 1;
        for (; depth < path.length; depth++) open.push(this._addModule(open[depth], path[depth], counts));
        this._addLeaf(open[depth], key, base);
      }
    }

    /** One more run of a module, inside the group of the module around it. */
    _addModule(parent, segment, counts) {
      const id = `${parent.id}${parent.id && !parent.id.endsWith("/") ? "." : ""}${segment}`;
      const count = counts.get(id) || 0;
      counts.set(id, count + 1);
      const name = /^\d+$/.test(segment) && parent.segment ? `${parent.segment}.${segment}` : segment;
      const label = count ? `${name} (${count + 1})` : name;
      const child = this._group({ id: count ? `${id}#${count + 1}` : id, label, segment, parent, node: NONE });
      parent.children.push(child);
      return child;
    }

    _addLeaf(parent, key, base) {
      const count = this.union.model.blockCount(this.union.row(key));
      if (count) return this._addHolder(parent, key, count, base);
      parent.children.push({ leaf: key, caption: "" });
      this.parentOf[key] = parent;
    }

    /** A node with nested blocks: a group, and a group for each block where there are several. */
    _addHolder(parent, key, count, base) {
      const id = `${this.union.model.ids[key]}/`;
      const label = words.opName(this.union.op(key));
      const group = this._group({ id, label, parent, node: key });
      parent.children.push(group);
      this.parentOf[key] = group;
      const inner = [...base, ...this._path(key, base)];
      const names = blockNames(label, count);
      for (let number = 0; number < count; number++) {
        const body = count === 1 ? group
          : this._group({ id: `${id}${number}/`, label: names[number], parent: group, node: NONE, block: true });
        if (body !== group) group.children.push(body);
        this._fillBody(body, bodyName(key, number), inner);
      }
    }

    /** Pairs of keys of one body, an edge from or to a nested block counting for the node that holds it. */
    _bodyEdges(keys) {
      const inside = new Set(keys);
      const lift = (key) => {
        let at = key;
        while (at !== NONE && !inside.has(at)) at = this.union.holder[this._place(at)];
        return at;
      };
      const edges = [];
      for (const key of keys) {
        for (const reader of this.union.readers[key]) {
          const to = this.constants.hidden[reader] ? NONE : lift(reader);
          if (to !== NONE && to !== key) edges.push([key, to]);
        }
      }
      return edges;
    }

    /** Takes away boxes that would hold one thing only: the name moves to what is inside. */
    _tidy(group) {
      group.children.forEach((child) => child.children && this._tidy(child));
      group.children = group.children.map((child) => {
        if (!child.children || child.block || child.node !== NONE || child.children.length !== 1) return child;
        const [only] = child.children;
        if (!only.children) return this._keepLeaf(group, child, only);
        return only.node === NONE ? this._keepOuter(child, only) : child;
      });
    }

    _keepLeaf(group, child, only) {
      this.groups.delete(child.id);
      this.parentOf[only.leaf] = group;
      return { leaf: only.leaf, caption: [child.label, only.caption].filter(Boolean).join(".") };
    }

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

    _countOps(group) {
      for (const child of group.children) {
        if (child.children) {
          this._countOps(child);
          group.ops += child.ops + (child.node !== NONE ? 1 : 0);
        } else if (!this.union.model.isPseudo(child.leaf)) group.ops++;
      }
    }
  }

  function bodyName(holder, block) {
    return `${holder}/${block}`;
  }

  function blockNames(label, count) {
    if (label === "If" && count === 2) return ["then", "else"];
    return Array.from({ length: count }, (_, number) => `block ${number}`);
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { ModuleTree });
})(globalThis);
