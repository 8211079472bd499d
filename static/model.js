/* The graph view's data: reads what viewer/graph_data.py writes (the format is described there) and turns snapshots into
 * a tree of modules and blocks, and that tree into the boxes and edges that are to be laid out.
 *
 *   Model      the decoded message: nodes, snapshots, steps, differences
 *   Outline    the union of some snapshots as a tree: who contains whom, what is a constant, what follows what
 *   Scene      the boxes that are visible for one set of expanded groups, ready for layout.js
 *
 * Everything is a pure function of its inputs. Nodes are numbered (a *key*: index into `Model.ids`), and per-node tables
 * are typed arrays, because thirty snapshots of ten thousand nodes are looked at within one frame.
 */
(function (root) {
  "use strict";

  const FORMAT = 1;
  const CONSTANT_OPS = new Set(["prim::Constant", "prim::ConstantMKLDNNTensor", "prim::GetAttr", "get_attr", "prim::CreateObject"]);
  const LIST_OPS = new Set(["prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"]);
  const DTYPES = {
    Float: "f32", Double: "f64", Half: "f16", BFloat16: "bf16", Long: "i64", Int: "i32", Short: "i16", Char: "i8",
    Byte: "u8", Bool: "bool", QUInt8: "qu8", QInt8: "qi8", QInt32: "qi32",
    float32: "f32", float64: "f64", float16: "f16", bfloat16: "bf16", int64: "i64", int32: "i32", int16: "i16",
    int8: "i8", uint8: "u8", quint8: "qu8", qint8: "qi8", qint32: "qi32",
  };
  // An epoch is a run of steps that share one layout. A gap where a node used to be is cheap, a page of gaps is not.
  const EPOCH_GROWTH = 1.3;
  const NONE = -1;

  // ---------------------------------------------------------------------------------------------------- decoding

  class Model {
    /** @param {object} data what `viewer.graph_data.graph_data` returned; anything else raises an Error. */
    constructor(data) {
      if (!data || data.format !== FORMAT) {
        throw new Error(`graph view: cannot read format ${data && data.format}, only ${FORMAT}; make the data and the ` +
          "scripts with the same version of freezer-ui");
      }
      this.name = data.name;
      this.steps = data.steps;
      this.strings = data.strings.slice();
      this.sources = data.sources;
      this.rows = data.nodes.slice();
      this.bodies = decodeLists(data.lists);
      this.ids = [];
      this.keyOfId = new Map();
      this.keyOfRow = this.rows.map((row) => this._key(this.strings[row[0] || 0]));
      this.pseudo = new Map(); // row text -> row index of the inputs and returns, which the format has no rows for
      this.kinds = new Map(); // key -> "input" | "return", for those
      this.blocks = this.rows.map((row, index) => (row[8] || []).map(([values, body, outputs], number) =>
        this._frame(`%${this.ids[this.keyOfRow[index]]}#${number}`, values, body, outputs)));
      this.graphs = data.snapshots.map(([values, body, outputs]) => this._frame("%", values, body, outputs));
      this.nodes = [];
      this.snapshots = [];
      this.outlines = new Map();
    }

    _key(id) {
      let key = this.keyOfId.get(id);
      if (key === undefined) {
        key = this.ids.length;
        this.keyOfId.set(id, key);
        this.ids.push(id);
      }
      return key;
    }

    /** A graph or block with rows for its inputs and its return, which are drawn as nodes but are none in torch. */
    _frame(prefix, values, body, outputs) {
      const inputs = [];
      for (let at = 0; at < values.length; at += 2) {
        const id = `${prefix}${prefix.length > 1 ? "." : ""}${this.strings[values[at]]}`;
        inputs.push(this._pseudoRow("input", id, [], [values[at], values[at + 1]]));
      }
      const id = prefix.length > 1 ? prefix : "%return";
      return { inputs, body, output: outputs.length ? this._pseudoRow("return", id, outputs, []) : NONE };
    }

    _pseudoRow(kind, id, inputs, outputs) {
      const text = JSON.stringify([kind, id, inputs, outputs]);
      let row = this.pseudo.get(text);
      if (row === undefined) {
        row = this.rows.push([this.strings.push(id) - 1, this.strings.push(kind) - 1, inputs, outputs]) - 1;
        this.pseudo.set(text, row);
        this.keyOfRow.push(this._key(id));
        this.kinds.set(this.keyOfRow[row], kind);
      }
      return row;
    }

    isPseudo(key) {
      return this.kinds.has(key);
    }

    /** The decoded node of a row: strings instead of indices. */
    node(row) {
      return (this.nodes[row] ??= decodeNode(this, this.rows[row]));
    }

    snapshot(index) {
      return (this.snapshots[index] ??= new Snapshot(this, this.graphs[index]));
    }

    methods() {
      return [...new Set(this.steps.map((step) => step.method))];
    }

    /** Whether two rows of one node read the same, the nodes inside its blocks left out. */
    sameNode(first, second) {
      if (first === second) return true;
      const [a, b] = [this.rows[first], this.rows[second]];
      return Boolean(a[8] && b[8]) && shallow(a) === shallow(b);
    }

    /** Map from node key to "added", "removed" or "changed"; nodes that read the same are not in it. */
    diff(before, after) {
      const statuses = new Map();
      if (before === null || before === after) return statuses;
      const [old, now] = [this.snapshot(before), this.snapshot(after)];
      for (const key of old.order) {
        if (now.rowOf[key] === NONE) statuses.set(key, "removed");
        else if (!this.sameNode(old.rowOf[key], now.rowOf[key])) statuses.set(key, "changed");
      }
      for (const key of now.order) if (old.rowOf[key] === NONE) statuses.set(key, "added");
      return statuses;
    }

    outline(snapshots, constants) {
      const name = `${[...new Set(snapshots)].sort((a, b) => a - b)}/${constants}`;
      if (!this.outlines.has(name)) this.outlines.set(name, new Outline(this, snapshots, constants));
      return this.outlines.get(name);
    }

    /** Snapshots that share one layout with this pair: its epoch's, or only the two where it spans several. */
    epochOf(before, after) {
      this.epochs ??= this.methods().flatMap((method) => findEpochs(this, method));
      const epoch = this.epochs.find((one) => one.has(after) && (before === null || one.has(before)));
      return epoch ? [...epoch] : before === null ? [after] : [before, after];
    }
  }

  function decodeLists(lists) {
    const bodies = [];
    for (const [base, ...code] of lists) {
      const body = [];
      for (let at = 0; at < code.length; ) {
        if (code[at] < 0) {
          const end = at + 1 - code[at];
          for (at += 1; at < end; at++) body.push(code[at]);
        } else {
          for (let row = code[at], end = row + code[at + 1]; row < end; row++) body.push(bodies[base][row]);
          at += 2;
        }
      }
      bodies.push(body);
    }
    return bodies;
  }

  function shallow(row) {
    return JSON.stringify([row.slice(0, 8), row[8].map(([values, , outputs, scope]) => [values, outputs, scope])]);
  }

  function decodeNode(model, row) {
    const text = (index) => model.strings[index || 0];
    const pairs = (flat, name, other) => {
      const found = [];
      for (let at = 0; at < (flat || []).length; at += 2) found.push({ [name]: text(flat[at]), [other]: text(flat[at + 1]) });
      return found;
    };
    const source = row[6] ? model.sources[row[6] - 1] : null;
    const kept = row[7];
    return {
      id: text(row[0]),
      op: text(row[1]),
      inputs: (row[2] || []).map(text),
      outputs: pairs(row[3], "name", "type"),
      module: text(row[4]),
      attributes: pairs(row[5], "name", "text"),
      source: source && { file: text(source[0]), line: source[1], column: source[2] },
      constant: kept && {
        shape: kept[0], dtype: text(kept[1]), device: text(kept[2]), nbytes: kept[3], storage: text(kept[4]) || null,
        digest: text(kept[5]) || null, minimum: kept[6], maximum: kept[7], mean: kept[8], std: kept[9], nonfinite: kept[10],
      } || null,
    };
  }

  class Snapshot {
    constructor(model, graph) {
      const table = (size) => new Int32Array(size).fill(NONE);
      this.order = []; // keys, each node before the ones nested in it
      this.rowOf = table(model.ids.length); // key -> row
      this.holder = table(model.ids.length); // key -> key of the node whose block it stands in
      this.block = table(model.ids.length); // key -> number of that block
      this.producer = table(model.strings.length); // value (string index) -> key
      this._addFrame(model, graph, NONE, 0);
    }

    _addFrame(model, frame, holder, block) {
      for (const row of frame.inputs) this._add(model, row, holder, block);
      for (const row of model.bodies[frame.body]) {
        const key = this._add(model, row, holder, block);
        model.blocks[row].forEach((inner, number) => this._addFrame(model, inner, key, number));
      }
      if (frame.output !== NONE) this._add(model, frame.output, holder, block);
    }

    _add(model, row, holder, block) {
      const key = model.keyOfRow[row];
      this.order.push(key);
      this.rowOf[key] = row;
      this.holder[key] = holder;
      this.block[key] = block;
      const outputs = model.rows[row][3] || [];
      for (let at = 0; at < outputs.length; at += 2) this.producer[outputs[at]] = key;
      return key;
    }
  }

  /** Cuts a method's steps into runs whose snapshots together are hardly larger than the smallest pair among them. */
  function findEpochs(model, method) {
    const epochs = [];
    let epoch = null;
    for (const step of model.steps.filter((one) => one.method === method)) {
      const pair = step.before === null ? [step.after] : [step.before, step.after];
      const alone = joined(model, new Uint8Array(model.ids.length), 0, pair);
      if (epoch) {
        const grown = joined(model, epoch.seen.slice(), epoch.size, pair.filter((index) => !epoch.members.has(index)));
        const smallest = Math.min(epoch.smallest, alone.size);
        if (grown.size <= EPOCH_GROWTH * smallest) {
          pair.forEach((index) => epoch.members.add(index));
          Object.assign(epoch, grown, { smallest });
          continue;
        }
      }
      epoch = { ...alone, smallest: alone.size, members: new Set(pair) };
      epochs.push(epoch.members);
    }
    return epochs;
  }

  function joined(model, seen, size, snapshots) {
    for (const index of snapshots) {
      for (const key of model.snapshot(index).order) {
        size += 1 - seen[key];
        seen[key] = 1;
      }
    }
    return { seen, size };
  }

  // ----------------------------------------------------------------------------------------------------- outline

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
     * `bypasses`: "from/to" of edges that only stand where a node between the two does not.
     *
     * A folded batch norm leaves a line from the convolution to what follows. It may run right through the place the
     * batch norm had: the two are never seen together.
     */
    _findBypasses() {
      const { model } = this;
      const snapshots = this.snapshots.map((index) => model.snapshot(index));
      this.bypasses = new Set();
      for (const key of this.order) {
        if (this.rowsOf[key].length < 2) continue;
        for (const from of this.inputsOf[key]) {
          const between = this.inputsOf[key].filter((one) => this.inputsOf[one].includes(from));
          const joined = snapshots.filter((one) => one.rowOf[key] !== NONE &&
            (model.rows[one.rowOf[key]][2] || []).some((value) => one.producer[value] === from));
          if (between.some((one) => joined.every((snapshot) => snapshot.rowOf[one] === NONE))) this.bypasses.add(`${from}/${key}`);
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
      const own = (key) => model.strings[model.rows[this.rowsOf[key].at(-1)][4] || 0] || (model.isPseudo(key) ? "" : undefined);
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
      const label = opName(this.model.strings[this.model.rows[rows.at(-1)][1]]);
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
   * earliest node.
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
    const done = new Uint8Array(keys.length);
    const queue = (at) => {
      for (let module = homes[at]; module; module = module.parent) heapPush(module.ready, at);
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

  // ------------------------------------------------------------------------------------------------------- scene

  class Scene {
    /**
     * @param {Outline} outline
     * @param {Set<string>} expanded ids of the groups that are open
     * @param {function(Scene, number): {width: number, height: number}} measure size of item n
     */
    constructor(outline, expanded, measure) {
      this.outline = outline;
      this.model = outline.model;
      this.items = [{ group: outline.root, open: true, key: NONE, caption: "", parent: NONE }];
      this.itemOfKey = [];
      this.itemOfGroup = new Map([["", 0]]);
      this._visit(outline.root, 0, expanded);
      this._placeConstants();
      this._connect();
      const count = this.items.length;
      this.input = {
        parent: Int32Array.from(this.items, (item) => item.parent),
        group: Uint8Array.from(this.items, (item) => (item.open ? 1 : 0)),
        width: new Float32Array(count),
        height: new Float32Array(count),
        source: Int32Array.from(this.edges, (edge) => edge[0]),
        target: Int32Array.from(this.edges, (edge) => edge[1]),
        direct: Uint8Array.from(this.direct),
      };
      for (let item = 0; item < count; item++) {
        const size = measure(this, item);
        this.input.width[item] = size.width;
        this.input.height[item] = size.height;
      }
    }

    _visit(group, parent, expanded) {
      for (const child of group.children) {
        const item = this.items.length;
        if (!child.children) {
          this.items.push({ group: null, open: false, key: child.leaf, caption: child.caption, parent });
          this.itemOfKey[child.leaf] = item;
          continue;
        }
        const open = expanded.has(child.id);
        this.items.push({ group: child, open, key: child.node, caption: "", parent });
        this.itemOfGroup.set(child.id, item);
        if (child.node !== NONE) this.itemOfKey[child.node] = item;
        if (open) this._visit(child, item, expanded);
        else this._close(child, item);
      }
    }

    _close(group, item) {
      for (const child of group.children) {
        if (!child.children) this.itemOfKey[child.leaf] = item;
        else {
          if (child.node !== NONE) this.itemOfKey[child.node] = item;
          this._close(child, item);
        }
      }
    }

    /** A hidden constant counts for the box of the node that reads it; `itemOfKey` stays boxes only. */
    _placeConstants() {
      const { outline } = this;
      this.ownerOfKey = this.itemOfKey.slice();
      for (const key of outline.order) {
        if (!outline.hidden[key]) continue;
        const home = outline.home[key];
        this.ownerOfKey[key] = home === NONE ? 0 : this.itemOfKey[home];
      }
    }

    _connect() {
      const { outline } = this;
      this.edges = [];
      this.direct = [];
      this.edgeIndex = new Map();
      for (const key of outline.order) {
        if (outline.hidden[key]) continue;
        for (const reader of outline.readers[key]) {
          if (outline.hidden[reader]) continue;
          const [from, to] = [this.itemOfKey[key], this.itemOfKey[reader]];
          if (from === to) continue;
          const name = this.edgeName(from, to);
          const bypass = outline.bypasses.has(`${key}/${reader}`) && this._beside(from, to);
          if (this.edgeIndex.has(name)) {
            if (!bypass) this.direct[this.edgeIndex.get(name)] = 0;
            continue;
          }
          this.edgeIndex.set(name, this.edges.length);
          this.edges.push([from, to]);
          this.direct.push(bypass ? 1 : 0);
        }
      }
    }

    /** Whether two closed boxes stand in one group, or one right in the group around the other's. */
    _beside(from, to) {
      const [first, second] = [this.items[from], this.items[to]];
      if (first.open || second.open) return false;
      const outer = (item) => (item.parent > 0 ? this.items[item.parent].parent : 0);
      return first.parent === second.parent || outer(first) === second.parent || outer(second) === first.parent;
    }

    edgeName(from, to) {
      return from * this.items.length + to;
    }

    /** Bit sets per edge: 1 where it stands in the snapshot before, 2 in the one after. */
    edgeSides(before, after) {
      const sides = new Uint8Array(this.edges.length);
      for (const [index, bit] of [[before, 1], [after, 2]]) {
        if (index === null) continue;
        const snapshot = this.model.snapshot(index);
        for (const key of snapshot.order) {
          const to = this.itemOfKey[key];
          if (to === undefined) continue;
          for (const value of this.model.rows[snapshot.rowOf[key]][2] || []) {
            const producer = snapshot.producer[value];
            const from = producer === undefined ? undefined : this.itemOfKey[producer];
            if (from === undefined || from === to) continue;
            const edge = this.edgeIndex.get(this.edgeName(from, to));
            if (edge !== undefined) sides[edge] |= bit;
          }
        }
      }
      return sides;
    }

    /** Per item: sides it stands on, and how many nodes it holds that were added, removed, changed. */
    tally(before, after, statuses) {
      const count = this.items.length;
      const sides = new Uint8Array(count);
      const counts = { added: new Int32Array(count), removed: new Int32Array(count), changed: new Int32Array(count) };
      for (const [index, bit] of [[before, 1], [after, 2]]) {
        if (index === null) continue;
        for (const key of this.model.snapshot(index).order) {
          const item = this.itemOfKey[key];
          if (item !== undefined) sides[item] |= bit;
        }
      }
      for (let item = count - 1; item > 0; item--) sides[this.items[item].parent] |= sides[item];
      for (const [key, status] of statuses) {
        if (this.model.isPseudo(key)) continue;
        const item = this.itemOfKey[key] ?? this.ownerOfKey[key];
        // The change of an open If or Loop is its own box's, not that of what it holds.
        for (let at = item; at !== undefined && at !== NONE; at = this.items[at].parent) counts[status][at]++;
      }
      return { sides, counts };
    }
  }

  // ------------------------------------------------------------------------------------------- words for people

  function opName(op) {
    const tail = op.slice(op.lastIndexOf("::") + 1).replace(/^:/, "");
    return tail.replace(/^torch\.ops\./, "").replace(/^(aten|prims|mkldnn)\./, "");
  }

  /** `Float(1, 64, strides=…)` reads `f32[1, 64]`; what is no sized tensor stays as torch says it. */
  function shortType(type) {
    const match = /^(\w+)\(([^)]*)\)$/.exec(type.replace(/\[[^\]]*\]/g, ""));
    if (!match || !(match[1] in DTYPES)) return type.length > 40 ? `${type.slice(0, 39)}…` : type;
    const sizes = match[2].split(",").map((part) => part.trim()).filter((part) => part && !part.includes("="));
    return `${DTYPES[match[1]]}[${sizes.join(", ")}]`;
  }

  /** The last word of a value's or attribute's name: `self.conv1.weight.3` reads `weight`. */
  function shortName(name) {
    const parts = name.split(/[./]/).filter((part) => part && !/^\d+$/.test(part));
    return parts.at(-1) || name;
  }

  /** What a constant's chip says; empty for plain numbers, flags and lists, which would drown the rest. */
  function chipText(node) {
    if (node.constant) return `${shortName(node.outputs[0].name)} [${node.constant.shape.join(", ")}]`;
    const type = node.outputs.length ? node.outputs[0].type : "";
    if (node.op === "prim::GetAttr") {
      const name = ((node.attributes.find((pair) => pair.name === "name") || {}).text || "").replace(/^"(.*)"$/, "$1");
      const primitive = /^(int|bool|float|str|NoneType|Device|(int|bool|float)\[\]|.*\?)$/.test(type);
      if (primitive) return "";
      const sizes = /^\w+(\[.*\])$/.exec(shortType(type));
      return `${name || shortName(node.outputs[0].name)}${sizes ? ` ${sizes[1]}` : ""}`;
    }
    return /Tensor/.test(type) ? shortName(node.outputs[0].name) : "";
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph || {}, {
    Model, Scene, words: { opName, shortType, shortName, chipText },
  });
})(globalThis);
