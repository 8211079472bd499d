/* The graph view's tree: the union of some snapshots as modules and blocks, whatever is open or closed.
 *
 *   Outline   who contains whom, what is a constant, what follows what
 *   Opener    which groups to open without being asked
 *
 * A pure function of the snapshots: the same ones give the same tree, whatever was shown before.
 */
(function (root) {
  "use strict";

  const { words } = root.FreezerGraph;
  const CONSTANT_OPS = new Set(["prim::Constant", "prim::ConstantMKLDNNTensor", "prim::GetAttr", "get_attr", "prim::CreateObject"]);
  const LIST_OPS = new Set(["prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"]);
  const SMALL_GROUP = 14; // ops or boxes up to which a group is opened without a reason
  const NONE = -1;

  class Outline {
    /**
     * @param {Model} model
     * @param {number[]} snapshots whose union this is
     * @param {boolean} constants whether constants are boxes of their own
     */
    constructor(model, snapshots, constants) {
      this.model = model;
      this.constants = constants;
      this.snapshots = [...new Set(snapshots)].sort((a, b) => a - b);
      this._mergeOrder();
      this._findEdges();
      this._findConstants();
      this._findPaths();
      this._buildTree();
    }

    /**
     * `order`: keys of the union; a node that came or went stands behind the node it stood behind.
     * `progress`: key -> how far into its graph it stands, from 0 to 1, whatever else is there.
     */
    _mergeOrder() {
      const size = this.model.ids.length;
      const next = new Int32Array(size + 1).fill(NONE); // next[0] is the first, next[key + 1] follows key
      const last = new Int32Array(size).fill(NONE);
      const [sums, counts] = [new Float64Array(size), new Int32Array(size)];
      this.rowsOf = []; // key -> its versions, the latest last
      this.holder = new Int32Array(size).fill(NONE);
      this.block = new Int32Array(size);
      for (const index of this.snapshots) {
        const snapshot = this.model.snapshot(index);
        let previous = NONE;
        let place = 0;
        for (const key of snapshot.order) {
          const row = snapshot.rowOf[key];
          sums[key] += place++ / snapshot.order.length;
          counts[key]++;
          if (last[key] === NONE) {
            next[key + 1] = next[previous + 1];
            next[previous + 1] = key;
            this.rowsOf[key] = [row];
          } else if (last[key] !== row) this.rowsOf[key].push(row);
          last[key] = row;
          this.holder[key] = snapshot.holder[key];
          this.block[key] = snapshot.block[key];
          previous = key;
        }
      }
      this.order = [];
      for (let key = next[0]; key !== NONE; key = next[key + 1]) this.order.push(key);
      this.progress = sums.map((sum, key) => sum / counts[key]);
      this.position = new Int32Array(size);
      this.order.forEach((key, position) => (this.position[key] = position));
    }

    /** `readers`, `inputsOf`: key -> keys, in any of the snapshots; `producers`: value (string index) -> keys. */
    _findEdges() {
      const { model } = this;
      this.producers = new Map();
      this.inputsOf = [];
      this.readers = [];
      for (const key of this.order) [this.inputsOf[key], this.readers[key]] = [[], []];
      let last = null;
      for (const index of this.snapshots) {
        const snapshot = model.snapshot(index);
        for (const key of snapshot.order) {
          const row = snapshot.rowOf[key];
          const same = last !== null && last.rowOf[key] === row;
          // A value's name may pass to another node from pass to pass, so it is looked up in each snapshot.
          for (const value of model.rows[row][2] || []) {
            const from = snapshot.producer[value];
            if (from === NONE || from === key || (same && last.producer[value] === from)) continue;
            this._connect(from, key, value);
          }
        }
        last = snapshot;
      }
      this._findBypasses();
    }

    _connect(from, key, value) {
      const makers = this.producers.get(value);
      if (makers === undefined) this.producers.set(value, [from]);
      else if (!makers.includes(from)) makers.push(from);
      if (this.inputsOf[key].includes(from)) return;
      this.inputsOf[key].push(from);
      this.readers[from].push(key);
    }

    /**
     * `bypasses`: "from/to" of edges that only stand where a node between the two does not -> that node's key.
     *
     * A folded batch norm leaves a line from the convolution to what follows. It may run right through the place the
     * batch norm had: the two are never seen together.
     */
    _findBypasses() {
      const { model } = this;
      const snapshots = this.snapshots.map((index) => model.snapshot(index));
      this.bypasses = new Map();
      for (const key of this.order) {
        if (this.rowsOf[key].length < 2) continue;
        for (const from of this.inputsOf[key]) {
          const between = this.inputsOf[key].filter((one) => this.inputsOf[one].includes(from));
          const joined = snapshots.filter((one) => one.rowOf[key] !== NONE &&
            (model.rows[one.rowOf[key]][2] || []).some((value) => one.producer[value] === from));
          const gone = between.find((one) => joined.every((snapshot) => snapshot.rowOf[one] === NONE));
          if (gone !== undefined) this.bypasses.set(`${from}/${key}`, gone);
        }
      }
    }

    /**
     * `hidden`: keys of constants that are not boxes; `home`: the box that shows one as a chip.
     *
     * The order of the union is none of execution for constants, which passes put at the top or next to their
     * reader: hence the recursion, which is as deep as lists and attributes are nested.
     */
    _findConstants() {
      this.isConstant = [];
      this.home = [];
      for (const key of this.order) this._checkConstant(key);
      this.hidden = this.constants ? [] : this.isConstant;
      for (const key of this.order) if (this.isConstant[key]) this._findHome(key);
    }

    _checkConstant(key) {
      if (this.isConstant[key] !== undefined) return this.isConstant[key];
      const { model } = this;
      const row = this.rowsOf[key].at(-1);
      const op = model.strings[model.rows[row][1]];
      const passive = CONSTANT_OPS.has(op) || LIST_OPS.has(op) || (op === "input" && this._isModule(row));
      this.isConstant[key] = passive; // so that a circle, which only a union of graphs can have, comes to an end
      if (passive) this.isConstant[key] = this.inputsOf[key].every((from) => this._checkConstant(from));
      return this.isConstant[key];
    }

    /** The first box that reads a constant, if need be through lists and attributes of attributes. */
    _findHome(key) {
      if (this.home[key] !== undefined) return this.home[key];
      this.home[key] = NONE;
      const readers = this.readers[key].slice().sort((a, b) => this.position[a] - this.position[b]);
      const homes = readers.map((reader) => (this.isConstant[reader] ? this._findHome(reader) : reader));
      this.home[key] = homes.find((home) => home !== NONE) ?? NONE;
      return this.home[key];
    }

    _isModule(row) {
      return (this.model.strings[this.model.rows[row][3][1]] || "").startsWith("__torch__");
    }

    _buildTree() {
      this.groups = new Map();
      this.parentOf = []; // key -> the group it stands in, or the group it is
      this.root = this._group({ id: "", label: "", parent: null, node: NONE });
      this.bodies = new Map();
      for (const key of this.order) {
        if (this.hidden[key]) continue;
        const [holder, block] = this._place(key);
        const name = `${holder}/${block}`;
        if (!this.bodies.has(name)) this.bodies.set(name, []);
        this.bodies.get(name).push(key);
      }
      this._fillBody(this.root, `${NONE}/0`, []);
      tidy(this.root, this);
      countOps(this.root, this.model);
    }

    /** Where a node stands; a visible constant stands with the node that reads it. */
    _place(key) {
      const at = this.isConstant[key] && this.home[key] !== NONE ? this.home[key] : key;
      return [this.holder[at], this.block[at]];
    }

    _path(key) {
      const at = this.isConstant[key] && this.home[key] !== NONE ? this.home[key] : key;
      return this.paths[at];
    }

    /**
     * `paths`: key -> module path.
     *
     * A node that a pass made has no path. It counts for the innermost module that holds what comes before it and what
     * comes after it, along the edges or else in execution order, lest it cut in two every module around it.
     */
    _findPaths() {
      const { model } = this;
      const told = (key) => model.strings[model.rows[this.rowsOf[key].at(-1)][4] || 0] || (model.isPseudo(key) ? "" : undefined);
      const own = (key) => this._calledModule(key) || told(key);
      const placed = this.order.filter((key) => !this.isConstant[key] && this.holder[key] === NONE);
      this.paths = [];
      for (const key of this.order) this.paths[key] = own(key) || "";
      const before = pathsTowards(placed, own, this.inputsOf);
      const after = pathsTowards(placed.slice().reverse(), own, this.readers);
      const inside = (keys, path) => keys.some((one) => !this.isConstant[one] && `${this.paths[one]}.`.startsWith(`${path}.`));
      for (const key of placed) {
        if (own(key) !== undefined) continue;
        this.paths[key] = inside(this.inputsOf[key], after[key]) ? after[key]
          : inside(this.readers[key], before[key]) ? before[key] : commonPath([before[key], after[key]]);
      }
      // What runs inside an If or a Loop is where that is.
      for (const key of this.order) if (this.holder[key] !== NONE && !own(key)) this.paths[key] = this.paths[this.holder[key]];
    }

    /** The module whose method a node calls: what inlining puts in its stead comes from there. */
    _calledModule(key) {
      const row = this.model.rows[this.rowsOf[key].at(-1)];
      return this.model.strings[row[1]] === "prim::CallMethod" ? this._modulePath((row[2] || [])[0]) : null;
    }

    /** Path of the module that a value is, by the attributes it was read through; null where that is not told. */
    _modulePath(value) {
      const [key] = this.producers.get(value) || [];
      if (key === undefined) return null;
      if (this.model.isPseudo(key)) return "";
      const node = this.model.node(this.rowsOf[key].at(-1));
      const owner = node.op === "prim::GetAttr" ? this._modulePath(this.model.rows[this.rowsOf[key].at(-1)][2][0]) : null;
      if (owner === null) return null;
      return [owner, words.attributeName(node)].filter(Boolean).join(".");
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
      // By progress, not by order: where a pass replaced every node, the old ones and the new ones of a module are far
      // apart in the order of the union, and still belong side by side.
      const keys = (this.bodies.get(name) || []).sort((a, b) => this.progress[a] - this.progress[b] || this.position[a] - this.position[b]);
      const paths = new Map(keys.map((key) => [key, relativePath(this._path(key), base)]));
      const counts = new Map();
      const open = [group];
      for (const key of stayInModule(keys, paths, this._bodyEdges(keys))) {
        const path = paths.get(key);
        let depth = 0;
        while (depth < path.length && depth + 1 < open.length && open[depth + 1].segment === path[depth]) depth++;
        open.length = depth + 1;
        for (; depth < path.length; depth++) {
          const parent = open[depth];
          const id = `${parent.id}${parent.id && !parent.id.endsWith("/") ? "." : ""}${path[depth]}`;
          const count = counts.get(id) || 0;
          counts.set(id, count + 1);
          const name = /^\d+$/.test(path[depth]) && parent.segment ? `${parent.segment}.${path[depth]}` : path[depth];
          const label = count ? `${name} (${count + 1})` : name;
          const child = this._group({ id: count ? `${id}#${count + 1}` : id, label, segment: path[depth], parent, node: NONE });
          parent.children.push(child);
          open.push(child);
        }
        this._addLeaf(open[depth], key, base);
      }
    }

    _addLeaf(parent, key, base) {
      const rows = this.rowsOf[key];
      const blocks = this.model.rows[rows.at(-1)][8] || [];
      if (!blocks.length) {
        parent.children.push({ leaf: key, caption: "" });
        this.parentOf[key] = parent;
        return;
      }
      const id = `${this.model.ids[key]}/`;
      const label = words.opName(this.model.strings[this.model.rows[rows.at(-1)][1]]);
      const group = this._group({ id, label, parent, node: key });
      parent.children.push(group);
      this.parentOf[key] = group;
      const inner = [...base, ...relativePath(this._path(key), base)];
      const names = blockNames(label, blocks.length);
      for (let number = 0; number < blocks.length; number++) {
        const body = blocks.length === 1 ? group
          : this._group({ id: `${id}${number}/`, label: names[number], parent: group, node: NONE, block: true });
        if (body !== group) group.children.push(body);
        this._fillBody(body, `${key}/${number}`, inner);
      }
    }

    /** Pairs of keys of one body, an edge from or to a nested block counting for the node that holds it. */
    _bodyEdges(keys) {
      const inside = new Set(keys);
      const lift = (key) => {
        let at = key;
        while (at !== NONE && at !== undefined && !inside.has(at)) at = this._place(at)[0];
        return at;
      };
      const edges = [];
      const visit = (key, top) => {
        for (const reader of this.readers[key]) {
          const to = this.hidden[reader] ? NONE : lift(reader);
          if (to !== NONE && to !== undefined && to !== top) edges.push([top, to]);
        }
      };
      for (const key of keys) visit(key, key);
      return edges;
    }

    /** The chain of groups from just below the root to the one `key` stands in (or is). */
    ancestors(key) {
      const at = this.hidden[key] ? this.home[key] : key;
      const chain = [];
      for (let group = this.parentOf[at]; group && group.parent; group = group.parent) chain.unshift(group);
      return chain;
    }
  }

  /** What is known of the modules on one side of each node: common path of its neighbours there, or the last node's. */
  function pathsTowards(keys, own, neighbours) {
    const found = [];
    let last = "";
    for (const key of keys) {
      const known = neighbours[key].map((one) => found[one]).filter((path) => path !== undefined);
      found[key] = own(key) ?? (known.length ? commonPath(known) : last);
      last = found[key];
    }
    return found;
  }

  function commonPath(paths) {
    let common = paths[0].split(".");
    for (const path of paths) {
      const segments = path.split(".");
      common = common.slice(0, common.findIndex((segment, at) => segments[at] !== segment) >>> 0);
    }
    return common.join(".");
  }

  function relativePath(path, base) {
    const segments = path ? path.split(".") : [];
    const nested = base.every((segment, index) => segments[index] === segment);
    return nested ? segments.slice(base.length) : segments;
  }

  function blockNames(label, count) {
    if (label === "If" && count === 2) return ["then", "else"];
    return Array.from({ length: count }, (_, number) => `block ${number}`);
  }

  /**
   * A valid execution order that leaves a module only when nothing more in it can run.
   *
   * Kahn's algorithm with one heap of ready nodes per module path, so that the next node comes from the deepest
   * module of the last one that has any. A circle (two versions of a graph may order nodes differently) is cut at its
   * earliest node. What no edge joins to anything (a check, say) would run first of all, and cut its module in two: it
   * waits for its module.
   */
  function stayInModule(keys, paths, edges) {
    const index = new Map(keys.map((key, at) => [key, at]));
    const waiting = new Int32Array(keys.length);
    const readers = keys.map(() => []);
    for (const [from, to] of edges) {
      readers[index.get(from)].push(index.get(to));
      waiting[index.get(to)]++;
    }
    const top = { parent: null, children: new Map(), ready: [] };
    const homes = keys.map((key) => {
      let module = top;
      for (const segment of paths.get(key)) {
        if (!module.children.has(segment)) module.children.set(segment, { parent: module, children: new Map(), ready: [] });
        module = module.children.get(segment);
      }
      return module;
    });
    const loose = keys.map((_, at) => !waiting[at] && !readers[at].length);
    homes.forEach((home, at) => {
      for (let module = home; module && !loose[at]; module = module.parent) module.joined = true;
    });
    const done = new Uint8Array(keys.length);
    const queue = (at) => {
      for (let module = homes[at]; module; module = module.parent) {
        heapPush(module.ready, at);
        if (loose[at] && module.joined) return;
      }
    };
    for (let at = 0; at < keys.length; at++) if (!waiting[at]) queue(at);
    const order = [];
    let current = top;
    let forced = 0;
    while (order.length < keys.length) {
      let at = NONE;
      for (let module = current; module && at === NONE; module = module.parent) {
        while (module.ready.length && done[module.ready[0]]) heapPop(module.ready);
        if (module.ready.length) at = module.ready[0];
      }
      if (at === NONE) {
        while (done[forced]) forced++;
        at = forced;
      }
      done[at] = 1;
      order.push(keys[at]);
      current = homes[at];
      for (const reader of readers[at]) if (--waiting[reader] === 0 && !done[reader]) queue(reader);
    }
    return order;
  }

  function heapPush(heap, value) {
    let at = heap.push(value) - 1;
    for (let up = (at - 1) >> 1; at && heap[up] > value; at = up, up = (at - 1) >> 1) heap[at] = heap[up];
    heap[at] = value;
  }

  function heapPop(heap) {
    const value = heap.pop();
    if (!heap.length) return;
    let at = 0;
    for (let down = 1; down < heap.length; down = 2 * at + 1) {
      if (down + 1 < heap.length && heap[down + 1] < heap[down]) down++;
      if (heap[down] >= value) break;
      heap[at] = heap[down];
      at = down;
    }
    heap[at] = value;
  }

  /** Takes away boxes that would hold one thing only: the name moves to what is inside. */
  function tidy(group, outline) {
    group.children.forEach((child) => child.children && tidy(child, outline));
    group.children = group.children.map((child) => {
      if (!child.children || child.block || child.node !== NONE || child.children.length !== 1) return child;
      const only = child.children[0];
      if (only.children && only.node !== NONE) return child;
      if (!only.children) {
        outline.groups.delete(child.id);
        outline.parentOf[only.leaf] = group;
        return { leaf: only.leaf, caption: [child.label, only.caption].filter(Boolean).join(".") };
      }
      outline.groups.delete(only.id);
      child.label = only.label.startsWith(`${child.segment}.`) ? only.label : `${child.label}.${only.label}`;
      child.children = only.children;
      for (const inner of child.children) {
        if (inner.children) inner.parent = child;
        else outline.parentOf[inner.leaf] = child;
      }
      return child;
    });
  }

  function countOps(group, model) {
    for (const child of group.children) {
      if (child.children) {
        countOps(child, model);
        group.ops += child.ops + (child.node !== NONE ? 1 : 0);
      } else if (!model.isPseudo(child.leaf)) group.ops++;
    }
  }

  /** Decides which groups to open, within a budget of boxes. */
  class Opener {
    constructor(outline, expanded) {
      this.outline = outline;
      this.expanded = expanded;
      this.boxes = 0;
      const count = (group) => {
        this.boxes += group.children.length;
        for (const child of group.children) if (child.children && expanded.has(child.id)) count(child);
      };
      count(outline.root);
    }

    _open(group) {
      if (this.expanded.has(group.id)) return;
      this.expanded.add(group.id);
      this.boxes += group.children.length;
    }

    /** Opens the way to each of these nodes, in order, as long as that stays within the budget. */
    openFor(keys, budget) {
      for (const key of keys) {
        const chain = this.outline.ancestors(key).filter((group) => !this.expanded.has(group.id));
        const cost = chain.reduce((sum, group) => sum + group.children.length, 0);
        if (this.boxes + cost > budget) continue;
        chain.forEach((group) => this._open(group));
      }
    }

    /** Opens whole levels, outer ones first, until there is something to see. */
    openLevels(enough) {
      const shut = (group) => group.children.flatMap((child) => (!child.children ? [] : this.expanded.has(child.id) ? shut(child) : [child]));
      while (this.boxes < enough) {
        const level = shut(this.outline.root);
        if (!level.length) return;
        level.forEach((group) => this._open(group));
      }
    }

    /** Opens small groups, outer ones first. */
    openSmall(budget) {
      let level = [this.outline.root];
      while (level.length) {
        const next = [];
        for (const group of level) {
          for (const child of group.children) {
            if (!child.children) continue;
            const small = child.block || child.ops <= SMALL_GROUP || child.children.length <= SMALL_GROUP;
            if (!this.expanded.has(child.id) && small && this.boxes + child.children.length <= budget) this._open(child);
            if (this.expanded.has(child.id)) next.push(child);
          }
        }
        level = next;
      }
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { Outline, Opener });
})(globalThis);
