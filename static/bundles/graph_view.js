"use strict";
(() => {
  var EPOCH_GROWTH = 1.3;
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
  var NONE = -1;
  var CONSTANT_OPS = /* @__PURE__ */ new Set(["prim::Constant", "prim::ConstantMKLDNNTensor", "prim::GetAttr", "get_attr", "prim::CreateObject"]);
  var LIST_OPS = /* @__PURE__ */ new Set(["prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"]);
  function findConstants(union) {
    const isConstant = [];
    for (const key of union.order) check(union, isConstant, key);
    const home = [];
    for (const key of union.order) if (isConstant[key]) findHome(union, isConstant, home, key);
    return { isConstant, home };
  }
  function check(union, isConstant, key) {
    if (isConstant[key] !== void 0) return isConstant[key];
    const passive = isPassive(union, key);
    isConstant[key] = passive;
    if (passive) isConstant[key] = union.inputsOf[key].every((from2) => check(union, isConstant, from2));
    return isConstant[key];
  }
  function isPassive(union, key) {
    const op = union.op(key);
    return CONSTANT_OPS.has(op) || LIST_OPS.has(op) || op === "input" && isModule(union, key);
  }
  function isModule({ model, rowsOf }, key) {
    const [, type] = model.rows[rowsOf[key].at(-1)][3];
    return (model.strings[type] || "").startsWith("__torch__");
  }
  function findHome(union, isConstant, home, key) {
    if (home[key] !== void 0) return home[key];
    home[key] = NONE;
    const readers = union.readers[key].slice().sort((a, b) => union.position[a] - union.position[b]);
    const homes = readers.map((reader) => isConstant[reader] ? findHome(union, isConstant, home, reader) : reader);
    home[key] = homes.find((one) => one !== NONE) ?? NONE;
    return home[key];
  }
  var NONE2 = -1;
  function stayInModule(keys, paths, edges) {
    const queue = new ModuleQueue(keys.map((key) => paths.get(key)), indexEdges(keys, edges));
    const order = [];
    while (order.length < keys.length) order.push(keys[queue.next()]);
    return order;
  }
  function indexEdges(keys, edges) {
    const index = new Map(keys.map((key, at) => [key, at]));
    const waiting = new Int32Array(keys.length);
    const readers = keys.map(() => []);
    for (const [from2, to] of edges) {
      readers[index.get(from2)].push(index.get(to));
      waiting[index.get(to)]++;
    }
    return { waiting, readers };
  }
  var ModuleQueue = class {
    constructor(paths, { waiting, readers }) {
      this.waiting = waiting;
      this.readers = readers;
      this.top = { parent: null, children: /* @__PURE__ */ new Map(), ready: [], joined: false };
      this.homes = paths.map((path) => path.reduce(innerModule, this.top));
      this.loose = paths.map((_, at) => !waiting[at] && !readers[at].length);
      this.homes.forEach((home, at) => {
        for (let module = home; module && !this.loose[at]; module = module.parent) {
          module.joined = true;
        }
      });
      this.done = new Uint8Array(paths.length);
      this.current = this.top;
      this.earliest = 0;
      for (let at = 0; at < paths.length; at++) if (!waiting[at]) this._queue(at);
    }
    _queue(at) {
      for (let module = this.homes[at]; module; module = module.parent) {
        heapPush(module.ready, at);
        if (this.loose[at] && module.joined) return;
      }
    }
    next() {
      let at = NONE2;
      for (let module = this.current; module && at === NONE2; module = module.parent) {
        while (module.ready.length && this.done[module.ready[0]]) heapPop(module.ready);
        if (module.ready.length) at = module.ready[0];
      }
      if (at === NONE2) {
        while (this.done[this.earliest]) this.earliest++;
        at = this.earliest;
      }
      this.done[at] = 1;
      this.current = this.homes[at];
      for (const reader of this.readers[at]) if (--this.waiting[reader] === 0 && !this.done[reader]) this._queue(reader);
      return at;
    }
  };
  function innerModule(module, segment) {
    if (!module.children.has(segment)) {
      module.children.set(segment, { parent: module, children: /* @__PURE__ */ new Map(), ready: [], joined: false });
    }
    return module.children.get(segment);
  }
  function heapPush(heap, value) {
    let at = heap.push(value) - 1;
    for (let up = at - 1 >> 1; at && heap[up] > value; at = up, up = at - 1 >> 1) heap[at] = heap[up];
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
  var DTYPES = { Float: "f32", Double: "f64", Half: "f16", BFloat16: "bf16", Long: "i64", Int: "i32", Short: "i16", Char: "i8", Byte: "u8", Bool: "bool", QUInt8: "qu8", QInt8: "qi8", QInt32: "qi32", float32: "f32", float64: "f64", float16: "f16", bfloat16: "bf16", int64: "i64", int32: "i32", int16: "i16", int8: "i8", uint8: "u8", quint8: "qu8", qint8: "qi8", qint32: "qi32" };
  function count(number, noun, several = `${noun}s`) {
    return `${number} ${number === 1 ? noun : several}`;
  }
  function opName(op) {
    const tail = op.slice(op.lastIndexOf("::") + 1).replace(/^:/, "");
    return tail.replace(/^torch\.ops\./, "").replace(/^(aten|prims|mkldnn)\./, "");
  }
  function shortType(type) {
    const match = /^(\w+)\(([^)]*)\)$/.exec(type.replace(/\[[^\]]*\]/g, ""));
    if (!match || !(match[1] in DTYPES)) return type.length > 40 ? `${type.slice(0, 39)}…` : type;
    const sizes = match[2].split(",").map((part) => part.trim()).filter((part) => part && !part.includes("="));
    return `${DTYPES[match[1]]}[${sizes.join(", ")}]`;
  }
  function shortName(name) {
    const parts = name.split(/[./]/).filter((part) => part && !/^\d+$/.test(part));
    return parts.at(-1) || name;
  }
  function attributeName(node) {
    const pair = node.op === "prim::GetAttr" && node.attributes.find((one) => one.name === "name");
    return pair ? pair.text.replace(/^"(.*)"$/, "$1") : "";
  }
  function pathText([path, ...more], frame = "") {
    const parts = (frame && path.startsWith(`${frame}.`) ? path.slice(frame.length + 1) : path).split(".");
    const words = [...parts.keys()].filter((at) => !/^\d+$/.test(parts[at]));
    return `${parts.slice(words.at(-2) ?? 0).join(".")}${more.length ? ` +${more.length}` : ""}`;
  }
  function chipText(node, known) {
    if (node.constant) return `${known || shortName(node.outputs[0].name)} [${node.constant.shape.join(", ")}]`;
    if (known) return known;
    const type = node.outputs.length ? node.outputs[0].type : "";
    if (node.op === "prim::GetAttr") {
      const name = attributeName(node);
      const primitive = /^(int|bool|float|str|NoneType|Device|(int|bool|float)\[\]|.*\?)$/.test(type);
      if (primitive) return "";
      const sizes = /^\w+(\[.*\])$/.exec(shortType(type));
      return `${name || shortName(node.outputs[0].name)}${sizes ? ` ${sizes[1]}` : ""}`;
    }
    return /Tensor/.test(type) ? shortName(node.outputs[0].name) : "";
  }
  var NONE3 = -1;
  function findPaths(union, isConstant) {
    const { inputsOf, readers, holder, order } = union;
    const own = (key) => calledModule(union, key) || toldPath(union, key);
    const placed = order.filter((key) => !isConstant[key] && holder[key] === NONE3);
    const paths = [];
    for (const key of order) paths[key] = own(key) || "";
    const before = pathsTowards(placed, own, inputsOf);
    const after = pathsTowards(placed.slice().reverse(), own, readers);
    const inside = (keys, path) => keys.some((one) => !isConstant[one] && `${paths[one]}.`.startsWith(`${path}.`));
    for (const key of placed) {
      if (own(key) !== void 0) continue;
      paths[key] = inside(inputsOf[key], after[key]) ? after[key] : inside(readers[key], before[key]) ? before[key] : commonPath([before[key], after[key]]);
    }
    for (const key of order) if (holder[key] !== NONE3 && !own(key)) paths[key] = paths[holder[key]];
    return paths;
  }
  function toldPath({ model, rowsOf }, key) {
    return model.strings[model.rows[rowsOf[key].at(-1)][4] || 0] || (model.isPseudo(key) ? "" : void 0);
  }
  function calledModule(union, key) {
    return union.op(key) === "prim::CallMethod" ? modulePath(union, union.model.inputs(union.row(key))[0]) : null;
  }
  function modulePath(union, value) {
    const { model } = union;
    const [key] = union.producers.get(value) || [];
    if (key === void 0) return null;
    if (model.isPseudo(key)) return "";
    const row = union.row(key);
    const owner = union.op(key) === "prim::GetAttr" ? modulePath(union, model.inputs(row)[0]) : null;
    if (owner === null) return null;
    return [owner, attributeName(model.node(row))].filter(Boolean).join(".");
  }
  function pathsTowards(keys, own, neighbours) {
    const found = [];
    let last = "";
    for (const key of keys) {
      const known = neighbours[key].map((one) => found[one]).filter((path) => path !== void 0);
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
  var NONE4 = -1;
  var INDEXED = /^(.*?)(\d+)$/;
  var Signer = class {
    constructor({ union, constants }) {
      this.union = union;
      this.constants = constants;
      this.snapshots = union.snapshots.map((index) => union.model.snapshot(index));
      this.own = [];
      this.versions = [];
      this.numbers = /* @__PURE__ */ new Map();
      this.held = [];
      this.kinds = /* @__PURE__ */ new Map();
      this.signed = /* @__PURE__ */ new Map();
    }
    number(text) {
      let number = this.numbers.get(text);
      if (number === void 0) this.numbers.set(text, number = this.numbers.size);
      return number;
    }
    areAlike(one, other) {
      if (sizeOf(one) !== sizeOf(other)) return false;
      const [first, second] = [one, other].map((group) => this.node(firstKey(group)));
      return first === second && this.signOnce(one) === this.signOnce(other);
    }
    signOnce(group) {
      let text = this.signed.get(group);
      if (text === void 0) this.signed.set(group, text = this.sign(group));
      return text;
    }
    sign(group) {
      const places = /* @__PURE__ */ new Map();
      collect(group, places);
      const wire = (key) => {
        const place = places.get(key);
        if (place !== void 0) return `${place}`;
        if (this.constants.isConstant[key]) return this.constant(key);
        return "<";
      };
      const parts = [];
      this.write(group, parts, wire);
      return parts.join("\n");
    }
    write(group, parts, wire) {
      for (const child of group.children) {
        const key = child.children ? child.node : child.leaf;
        if (key !== NONE4) parts.push(`${this.node(key)} (${distinct(this.union.inputsOf[key].map(wire)).join(" ")})`);
        if (!child.children) continue;
        parts.push(`{ ${child.segment ?? child.label}`);
        this.write(child, parts, wire);
        parts.push("}");
      }
    }
    node(key) {
      let number = this.own[key];
      if (number === void 0) this.own[key] = number = this.number(this.presence(key));
      return number;
    }
    presence(key) {
      const rows = this.union.rowsOf[key];
      const known = rows.length === 1 ? [this.version(rows[0])] : [...new Set(rows.map((row) => this.version(row)))];
      let text = `${known}:`;
      let last = -2;
      for (let at = 0; at < this.snapshots.length; at++) {
        const row = this.snapshots[at].rowOf[key];
        const which = row === NONE4 ? NONE4 : known.length === 1 ? 0 : known.indexOf(this.version(row));
        if (which !== last) text += ` ${at}=${which}`;
        last = which;
      }
      return text;
    }
    version(row) {
      let number = this.versions[row];
      if (number === void 0) this.versions[row] = number = this.number(this.says(row));
      return number;
    }
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
    kind(type) {
      let kind = this.kinds.get(type);
      if (kind === void 0) this.kinds.set(type, kind = kindOf(this.union.model.strings[type || 0]));
      return kind;
    }
    constant(key) {
      let text = this.held[key];
      if (text === void 0) this.held[key] = text = `c${this.number(this.content(key))}`;
      return text;
    }
    content(key) {
      const { model, inputsOf } = this.union;
      if (model.isPseudo(key)) return "self";
      const inputs = inputsOf[key];
      const row = this.union.row(key);
      const name = model.op(row) === "prim::GetAttr" ? attributeName(model.node(row)) : "";
      const path = name && INDEXED.test(name) && !inputs.length ? "" : inputs.map((one) => this.constant(one)).join(" ");
      return `${this.node(key)}[${path}]`;
    }
  };
  function distinct(texts) {
    return texts.length < 2 ? texts : [...new Set(texts)];
  }
  function kindOf(type) {
    return type.startsWith("__torch__") ? type.replace(/___torch_mangle_\d+\.?/g, "") : shortType(type);
  }
  function isName(op) {
    return op === "prim::GetAttr" || op === "get_attr" || op === "prim::CallMethod";
  }
  function sizeOf(group) {
    return group.children.reduce((sum, child) => sum + 1 + (child.children ? sizeOf(child) : 0), 0);
  }
  function firstKey(group) {
    const [child] = group.children;
    if (!child.children) return child.leaf;
    return child.node === NONE4 ? firstKey(child) : child.node;
  }
  function collect(group, places) {
    for (const child of group.children) {
      const key = child.children ? child.node : child.leaf;
      if (key !== NONE4) places.set(key, places.size);
      if (child.children) collect(child, places);
    }
  }
  var LEAST = 3;
  function foldRepeats(tree) {
    const signer = new Signer(tree);
    const visit = (group) => {
      for (const child of group.children) if (child.children) visit(child);
      fold(tree, signer, group);
    };
    visit(tree.root);
  }
  function fold(tree, signer, group) {
    const runs = runsOf(tree, group.children);
    if (!runs.some((run2) => run2.length >= LEAST)) return;
    const pieces = runs.flatMap((run2) => run2.length < LEAST ? [run2] : alike(signer, run2));
    const isWhole = pieces.length === 1 && group.parent !== null && group.node === NONE4 && !group.block;
    group.children = pieces.flatMap((piece) => {
      if (piece.length < LEAST) return piece;
      const holder = isWhole ? group : makeHolder(tree, group, piece);
      fill(tree, holder, piece);
      if (!isWhole) return [holder];
      holder.label = `${holder.label} × ${piece.length}`;
      return holder.children;
    });
  }
  function runsOf(tree, children) {
    const runs = [];
    let last = null;
    for (const child of children) {
      const found = child.children && !child.block && child.node === NONE4 ? INDEXED.exec(child.segment ?? "") : null;
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
  function readsAny({ parentOf, union }, key, run2) {
    return union.inputsOf[key].some((from2) => {
      for (let group = parentOf[from2]; group; group = group.parent) {
        if (run2.includes(group)) return true;
      }
      return false;
    });
  }
  function alike(signer, run2) {
    const pieces = [[run2[0]]];
    for (let at = 1; at < run2.length; at++) {
      if (signer.areAlike(run2[at - 1], run2[at])) pieces[pieces.length - 1].push(run2[at]);
      else pieces.push([run2[at]]);
    }
    return pieces;
  }
  function makeHolder(tree, parent, members) {
    const [first, last] = [members[0], members.at(-1)];
    const end = INDEXED.exec(last.segment ?? "")?.[2];
    const label = `${first.label}–${end} × ${members.length}`;
    return tree.addGroup({ id: `${first.id}×`, label, parent, node: NONE4 });
  }
  function fill(tree, holder, members) {
    const [first, ...others] = members;
    const label = `${others[0].label}–${INDEXED.exec(others.at(-1)?.segment ?? "")?.[2]}: ${others.length} like it`;
    const rest = tree.addGroup({ id: `${first.id}×+`, label, parent: holder, node: NONE4 });
    rest.children = others;
    rest.isRest = true;
    holder.repeat = members;
    holder.children = [first, rest];
    first.parent = holder;
    for (const other of others) other.parent = rest;
  }
  var NONE5 = -1;
  var ModuleTree = class {
    constructor(union, constants) {
      this.union = union;
      this.constants = constants;
      this.paths = findPaths(union, constants.isConstant);
      this.groups = /* @__PURE__ */ new Map();
      this.parentOf = [];
      this.root = this.addGroup({ id: "", label: "", parent: null, node: NONE5 });
      this.bodies = this._findBodies();
      this._fillBody(this.root, bodyName(NONE5, 0), []);
      this._tidy(this.root);
      foldRepeats(this);
      this._countOps(this.root);
    }
    _findBodies() {
      const bodies = /* @__PURE__ */ new Map();
      for (const key of this.union.order) {
        if (this.constants.hidden[key]) continue;
        const at = this._place(key);
        const name = bodyName(this.union.holder[at], this.union.block[at]);
        if (!bodies.has(name)) bodies.set(name, []);
        bodies.get(name).push(key);
      }
      return bodies;
    }
    _place(key) {
      const { isConstant, home } = this.constants;
      return isConstant[key] && home[key] !== NONE5 ? home[key] : key;
    }
    _path(key, base) {
      return relativePath(this.paths[this._place(key)], base);
    }
    addGroup(fields) {
      const group = { children: [], ops: 0, ...fields };
      this.groups.set(group.id, group);
      return group;
    }
    _fillBody(group, name, base) {
      const { progress, position } = this.union;
      const keys = (this.bodies.get(name) || []).sort((a, b) => progress[a] - progress[b] || position[a] - position[b]);
      const paths = new Map(keys.map((key) => [key, this._path(key, base)]));
      const counts = /* @__PURE__ */ new Map();
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
    _addModule(parent, segment, { outer, counts }) {
      const id = `${parent.id}${parent.id && !parent.id.endsWith("/") ? "." : ""}${segment}`;
      const count2 = counts.get(id) || 0;
      counts.set(id, count2 + 1);
      const name = /^\d+$/.test(segment) && outer ? `${outer}.${segment}` : segment;
      const label = count2 ? `${name} (${count2 + 1})` : name;
      const child = this.addGroup({ id: count2 ? `${id}#${count2 + 1}` : id, label, segment, parent, node: NONE5 });
      parent.children.push(child);
      return child;
    }
    _addLeaf(parent, key, base) {
      const count2 = this.union.model.blockCount(this.union.row(key));
      if (count2) return this._addHolder(parent, key, count2, base);
      parent.children.push({ leaf: key, caption: "" });
      this.parentOf[key] = parent;
    }
    _addHolder(parent, key, count2, base) {
      const id = `${this.union.model.ids[key]}/`;
      const label = opName(this.union.op(key));
      const group = this.addGroup({ id, label, parent, node: key });
      parent.children.push(group);
      this.parentOf[key] = group;
      const inner = [...base, ...this._path(key, base)];
      const names = blockNames(label, count2);
      for (let number = 0; number < count2; number++) {
        const body = count2 === 1 ? group : this.addGroup({ id: `${id}${number}/`, label: names[number], parent: group, node: NONE5, block: true });
        if (body !== group) group.children.push(body);
        this._fillBody(body, bodyName(key, number), inner);
      }
    }
    _bodyEdges(keys) {
      const inside = new Set(keys);
      const lift = (key) => {
        let at = key;
        while (at !== NONE5 && !inside.has(at)) at = this.union.holder[this._place(at)];
        return at;
      };
      const edges = [];
      for (const key of keys) {
        for (const reader of this.union.readers[key]) {
          const to = this.constants.hidden[reader] ? NONE5 : lift(reader);
          if (to !== NONE5 && to !== key) edges.push([key, to]);
        }
      }
      return edges;
    }
    _tidy(group) {
      group.children.forEach((child) => child.children && this._tidy(child));
      group.children = group.children.map((child) => {
        if (!child.children || child.block || child.node !== NONE5 || child.children.length !== 1) return child;
        const [only] = child.children;
        if (!only.children) return this._keepLeaf(group, child, only);
        return only.node === NONE5 ? this._keepOuter(child, only) : child;
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
          group.ops += child.ops + (child.node !== NONE5 ? 1 : 0);
        } else if (!this.union.model.isPseudo(child.leaf)) group.ops++;
      }
    }
  };
  function bodyName(holder, block) {
    return `${holder}/${block}`;
  }
  function blockNames(label, count2) {
    if (label === "If" && count2 === 2) return ["then", "else"];
    return Array.from({ length: count2 }, (_, number) => `block ${number}`);
  }
  var NONE6 = -1;
  var Union = class {
    constructor(model, snapshots) {
      this.model = model;
      this.snapshots = snapshots;
      this.order = [];
      this.rowsOf = [];
      this.holder = new Int32Array();
      this.block = new Int32Array();
      this.progress = new Float64Array();
      this.position = new Int32Array();
      this.producers = /* @__PURE__ */ new Map();
      this.inputsOf = [];
      this.readers = [];
      this.bypasses = /* @__PURE__ */ new Map();
      this._mergeOrder();
      this._findEdges();
      this._findBypasses();
    }
    row(key) {
      return this.rowsOf[key].at(-1);
    }
    op(key) {
      return this.model.op(this.row(key));
    }
    _mergeOrder() {
      const size = this.model.ids.length;
      const next = new Int32Array(size + 1).fill(NONE6);
      const last = new Int32Array(size).fill(NONE6);
      const [sums, counts] = [new Float64Array(size), new Int32Array(size)];
      this.holder = new Int32Array(size).fill(NONE6);
      this.block = new Int32Array(size);
      for (const index of this.snapshots) {
        const snapshot = this.model.snapshot(index);
        let previous = NONE6;
        let place = 0;
        for (const key of snapshot.order) {
          const row = snapshot.rowOf[key];
          sums[key] += place++ / snapshot.order.length;
          counts[key]++;
          if (last[key] === NONE6) {
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
      for (let key = next[0]; key !== NONE6; key = next[key + 1]) this.order.push(key);
      this.progress = sums.map((sum, key) => sum / counts[key]);
      this.position = new Int32Array(size);
      this.order.forEach((key, position) => this.position[key] = position);
    }
    _findEdges() {
      const { model } = this;
      for (const key of this.order) [this.inputsOf[key], this.readers[key]] = [[], []];
      const { start, values } = model.rowInputs;
      let last = null;
      for (const index of this.snapshots) {
        const snapshot = model.snapshot(index);
        for (const key of snapshot.order) {
          const row = snapshot.rowOf[key];
          const same2 = last !== null && last.rowOf[key] === row;
          for (let at = start[row]; at < start[row + 1]; at++) {
            const value = values[at];
            const from2 = snapshot.producer[value];
            if (from2 === NONE6 || from2 === key || same2 && last?.producer[value] === from2) continue;
            this._connect(from2, key, value);
          }
        }
        last = snapshot;
      }
    }
    _connect(from2, key, value) {
      const makers = this.producers.get(value);
      if (makers === void 0) this.producers.set(value, [from2]);
      else if (!makers.includes(from2)) makers.push(from2);
      if (this.inputsOf[key].includes(from2)) return;
      this.inputsOf[key].push(from2);
      this.readers[from2].push(key);
    }
    _findBypasses() {
      const { model } = this;
      const snapshots = this.snapshots.map((index) => model.snapshot(index));
      for (const key of this.order) {
        if (this.rowsOf[key].length < 2) continue;
        for (const from2 of this.inputsOf[key]) {
          const between2 = this.inputsOf[key].filter((one) => this.inputsOf[one].includes(from2));
          const joined2 = snapshots.filter((one) => one.rowOf[key] !== NONE6 && model.inputs(one.rowOf[key]).some((value) => one.producer[value] === from2));
          const gone = between2.find((one) => joined2.every((snapshot) => snapshot.rowOf[one] === NONE6));
          if (gone !== void 0) this.bypasses.set(`${from2}/${key}`, gone);
        }
      }
    }
  };
  var Outline = class {
    constructor(model, snapshots, constants) {
      this.model = model;
      this.constants = constants;
      this.snapshots = [...new Set(snapshots)].sort((a, b) => a - b);
      this.names = [...new Set(model.steps.filter(({ after }) => this.snapshots.includes(after)).map(({ index }) => model.namesOf(index)))];
      this.union = new Union(model, this.snapshots);
      const { isConstant, home } = findConstants(this.union);
      this.isConstant = isConstant;
      this.home = home;
      this.hidden = constants ? [] : isConstant;
      const tree = new ModuleTree(this.union, { isConstant, home, hidden: this.hidden });
      this.root = tree.root;
      this.groups = tree.groups;
      this.parentOf = tree.parentOf;
    }
    wayTo(id) {
      const key = this.model.keyOfId.get(id);
      const own = key === void 0 ? [] : this.ancestors(key);
      const chain = own.length ? own : chainTo(this.groups.get(id));
      return chain.filter((one) => one.id !== id && !(one.node >= 0 && one.node === key)).map((one) => one.id);
    }
    frameOf(key) {
      return (this.parentOf[key]?.id ?? "").replace(/#\d+/g, "");
    }
    ancestors(key) {
      return chainTo(this.parentOf[this.hidden[key] ? this.home[key] : key]);
    }
  };
  function chainTo(innermost) {
    const chain = [];
    for (let group = innermost; group && group.parent; group = group.parent) chain.unshift(group);
    return chain;
  }
  var NONE7 = -1;
  var Snapshot = class {
    constructor(model, graph) {
      const table = (size) => new Int32Array(size).fill(NONE7);
      this.order = [];
      this.rowOf = table(model.ids.length);
      this.holder = table(model.ids.length);
      this.block = new Int32Array(model.ids.length);
      this.producer = table(model.strings.length);
      this.nodes = NONE7;
      this._addFrame(model, graph, NONE7, 0);
    }
    nodeCount(model) {
      if (this.nodes === NONE7) this.nodes = this.order.filter((key) => !model.isPseudo(key)).length;
      return this.nodes;
    }
    _addFrame(model, frame, holder, block) {
      for (const row of frame.inputs) this._add(model, row, holder, block);
      for (const row of model.bodies[frame.body]) {
        const key = this._add(model, row, holder, block);
        const { blocks } = model;
        for (let number = 0; number < blocks[row].length; number++) {
          this._addFrame(model, blocks[row][number], key, number);
        }
      }
      if (frame.output !== NONE7) this._add(model, frame.output, holder, block);
    }
    _add({ keys, rowOutputs: { start, values } }, row, holder, block) {
      const key = keys[row];
      this.order.push(key);
      this.rowOf[key] = row;
      this.holder[key] = holder;
      this.block[key] = block;
      for (let at = start[row]; at < start[row + 1]; at++) this.producer[values[at]] = key;
      return key;
    }
  };
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
  function flatten(lists) {
    const start = new Int32Array(lists.length + 1);
    for (let at = 0; at < lists.length; at++) start[at + 1] = start[at] + lists[at].length;
    const values = new Int32Array(start[lists.length]);
    lists.forEach((list, at) => values.set(list, start[at]));
    return { start, values };
  }
  function evenPlaces(list) {
    return list.length === 2 ? [list[0]] : list.filter((_, at) => at % 2 === 0);
  }
  function decodeNode(model, row) {
    const text = (index) => model.strings[index || 0];
    const pairs = (flat, name, other) => {
      const found = [];
      for (let at = 0; at < (flat || []).length; at += 2) {
        found.push({ [name]: text(flat[at]), [other]: text(flat[at + 1]) });
      }
      return found;
    };
    const source = row[6] ? model.sources[row[6] - 1] : null;
    const kept = row[7];
    return { id: text(row[0]), op: text(row[1]), inputs: (row[2] || []).map(text), outputs: pairs(row[3], "name", "type"), module: text(row[4]), attributes: pairs(row[5], "name", "text"), source: source && { file: text(source[0]), line: source[1], column: source[2] }, constant: kept && { shape: kept[0], dtype: text(kept[1]), device: text(kept[2]), nbytes: kept[3], storage: text(kept[4]) || null, digest: text(kept[5]) || null, minimum: kept[6], maximum: kept[7], mean: kept[8], std: kept[9], nonfinite: kept[10], values: kept[11] ? { zeros: kept[11][0], nans: kept[11][1], counted: kept[11][2], histogram: text(kept[11][3]), first: text(kept[11][4]) } : null } || null };
  }
  var FORMAT = 2;
  var REPLACED = { share: 0.5, least: 30 };
  var Model = class {
    constructor(data) {
      if (!data || data.format !== FORMAT) {
        throw new Error(`graph view: cannot read format ${data && data.format}, only ${FORMAT}; make the data and the scripts with the same version of freezer-ui`);
      }
      this.name = data.name;
      this.steps = data.steps;
      this.strings = data.strings.slice();
      this.sources = data.sources;
      this.rows = data.nodes.slice();
      this.names = data.names.map((rows) => new Map(rows.map(([value, ...paths]) => [value, paths.map((path) => this.strings[path])])));
      this.bodies = decodeLists(data.lists);
      this.ids = [];
      this.keyOfId = /* @__PURE__ */ new Map();
      this.keyOfRow = this.rows.map((row) => this._key(this.strings[row[0] || 0]));
      this.pseudo = /* @__PURE__ */ new Map();
      this.kinds = /* @__PURE__ */ new Map();
      this.blocks = this.rows.map((row, index) => (row[8] || []).map(([values, body, outputs], number) => this._frame(`%${this.ids[this.keyOfRow[index]]}#${number}`, values, body, outputs)));
      this.graphs = data.snapshots.map(([values, body, outputs]) => this._frame("%", values, body, outputs));
      this.rowInputs = flatten(this.rows.map((row) => row[2] || []));
      this.rowOutputs = flatten(this.rows.map((row) => evenPlaces(row[3] || [])));
      this.keys = Int32Array.from(this.keyOfRow);
      this.nodes = [];
      this.snapshots = [];
      this.outlines = /* @__PURE__ */ new Map();
      this.indexOfString = null;
      this.digests = null;
      this.epochs = null;
    }
    _key(id) {
      let key = this.keyOfId.get(id);
      if (key === void 0) {
        key = this.ids.length;
        this.keyOfId.set(id, key);
        this.ids.push(id);
      }
      return key;
    }
    _frame(prefix, values, body, outputs) {
      const inputs = [];
      for (let at = 0; at < values.length; at += 2) {
        const id2 = `${prefix}${prefix.length > 1 ? "." : ""}${this.strings[values[at]]}`;
        inputs.push(this._pseudoRow("input", id2, [], [values[at], values[at + 1]]));
      }
      const id = prefix.length > 1 ? prefix : "%return";
      return { inputs, body, output: outputs.length ? this._pseudoRow("return", id, outputs, []) : NONE7 };
    }
    _pseudoRow(kind, id, inputs, outputs) {
      const text = JSON.stringify([kind, id, inputs, outputs]);
      let row = this.pseudo.get(text);
      if (row === void 0) {
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
    stringIndex(text) {
      if (!this.indexOfString) {
        const places = /* @__PURE__ */ new Map();
        this.strings.forEach((one, index) => places.has(one) || places.set(one, index));
        this.indexOfString = places;
      }
      return this.indexOfString.get(text);
    }
    op(row) {
      return this.strings[this.rows[row][1]];
    }
    constantOfDigest(digest) {
      if (!this.digests) {
        this.digests = /* @__PURE__ */ new Map();
        this.rows.forEach((row, index) => {
          const constant = row[7] ? this.node(index).constant : null;
          if (constant?.values && constant.digest) this.digests?.set(constant.digest, constant);
        });
      }
      return this.digests.get(digest);
    }
    inputs(row) {
      return this.rows[row][2] || [];
    }
    blockCount(row) {
      return this.blocks[row]?.length ?? 0;
    }
    node(row) {
      return this.nodes[row] ??= decodeNode(this, this.rows[row]);
    }
    snapshot(index) {
      return this.snapshots[index] ??= new Snapshot(this, this.graphs[index]);
    }
    pathsOf(row, names) {
      const isHolder = this.op(row) === "get_attr" || this.kinds.get(this.keyOfRow[row]) === "input";
      return isHolder && names.get(this.rows[row][3]?.[0]) || null;
    }
    namesOf(step) {
      return this.names[this.steps[step].names];
    }
    methods() {
      return [...new Set(this.steps.map((step) => step.method))];
    }
    sameNode(first, second) {
      if (first === second) return true;
      const [a, b] = [this.rows[first], this.rows[second]];
      return Boolean(a[8] && b[8]) && shallow(a) === shallow(b);
    }
    diff(before, after) {
      const statuses = /* @__PURE__ */ new Map();
      if (before === null || before === after) return statuses;
      const [old, now] = [this.snapshot(before), this.snapshot(after)];
      for (const key of old.order) {
        if (now.rowOf[key] === NONE7) statuses.set(key, "removed");
        else if (!this.sameNode(old.rowOf[key], now.rowOf[key])) statuses.set(key, "changed");
      }
      for (const key of now.order) if (old.rowOf[key] === NONE7) statuses.set(key, "added");
      return statuses;
    }
    replaced(before, after) {
      if (before === null || before === after) return false;
      const [old, now] = [this.snapshot(before), this.snapshot(after)];
      const made = now.order.filter((key) => old.rowOf[key] === NONE7).length;
      return now.order.length >= REPLACED.least && made > REPLACED.share * now.order.length;
    }
    stepBefore(step) {
      return this.steps.slice(0, step.index).findLast((one) => one.method === step.method)?.index ?? null;
    }
    outline(snapshots, constants) {
      const name = `${[...new Set(snapshots)].sort((a, b) => a - b)}/${constants}`;
      const known = this.outlines.get(name);
      if (known) return known;
      const made = new Outline(this, snapshots, constants);
      this.outlines.set(name, made);
      return made;
    }
    epochOf(before, after) {
      this.epochs ??= this.methods().flatMap((method) => findEpochs(this, method));
      const epoch = this.epochs.find((one) => one.has(after) && (before === null || one.has(before)));
      return epoch ? [...epoch] : before === null ? [after] : [before, after];
    }
  };
  var NONE8 = -1;
  var BEND = 8;
  var BEND_BUDGET = 6e4;
  var LONG_SPAN = 40;
  var MAIN = 4;
  var LONG = 2;
  var SIDE = 1;
  var NO_LINKS = { of: [], ends: [], theirShift: [], ownShift: [] };
  var Grid = class {
    constructor(count2, entering, leaving) {
      this.rows = Array.from({ length: Math.max(count2, 1) }, () => []);
      this.entering = entering;
      this.leaving = leaving;
      this.chains = /* @__PURE__ */ new Map();
      this.row = [];
      this.width = [];
      this.box = [];
      this.net = [];
      this.upper = [];
      this.lower = [];
      this.weight = [];
      this.upperShift = [];
      this.lowerShift = [];
      this.element = [];
      this.links = { up: NO_LINKS, down: NO_LINKS };
      this.x = new Float64Array();
      this.extent = 0;
      this.top = new Float64Array();
      this.depth = new Float64Array();
      this.bottom = 0;
    }
    add(row, width, box, net) {
      const element2 = this.row.push(row) - 1;
      this.width.push(width);
      this.box.push(box);
      this.net.push(net);
      this.rows[row].push(element2);
      return element2;
    }
    link(upper2, lower, weight, upperShift, lowerShift) {
      this.upper.push(upper2);
      this.lower.push(lower);
      this.weight.push(weight);
      this.upperShift.push(upperShift);
      this.lowerShift.push(lowerShift);
    }
    carrier(chain, row) {
      return Math.max(0, Math.min(row - 1 - this.row[chain[0]], chain.length - 1));
    }
  };
  function buildChains(scope, layers, tree, result) {
    const entering = scope.nets.some((net) => net.from === NONE8);
    const leaving = scope.nets.some((net) => net.exits);
    const first = entering ? 1 : 0;
    const grid = new Grid(layers.count + first + (leaving ? 1 : 0), entering, leaving);
    grid.element = scope.children.map((child, at) => grid.add(layers.layer[at] + first, result.width[child], child, null));
    scope.children.forEach((child, at) => result.layer[child] = layers.layer[at]);
    const spans = scope.nets.map((net) => spanOf(grid, net, tree));
    const bends = spans.reduce((sum, { start, end }) => sum + Math.max(0, end - start - 1), 0);
    scope.nets.forEach((net, at) => {
      const straight = bends > BEND_BUDGET && spans[at].end - spans[at].start > LONG_SPAN;
      addChain(grid, net, { ...spans[at], straight }, { scope, tree, result });
    });
    return grid;
  }
  function spanOf(grid, net, tree) {
    const rowOf2 = (child) => grid.row[grid.element[tree.place[child]]];
    const start = net.from === NONE8 ? 0 : rowOf2(net.from);
    const end = net.exits ? grid.rows.length - 1 : start;
    return { start, end: net.sinks.reduce((most, child) => Math.max(most, rowOf2(child)), end) };
  }
  function addChain(grid, net, { start, end, straight }, { scope, tree, result }) {
    const top = net.from === NONE8 ? grid.add(0, BEND, NONE8, net) : grid.element[tree.place[net.from]];
    const topShift = net.from === NONE8 ? 0 : exitShift(scope, net, result);
    const shiftOf = (element2) => element2 === top ? topShift : 0;
    const chain = [top];
    for (let row = start + 1; row < end && !straight; row++) {
      const bend = grid.add(row, BEND, NONE8, net);
      const above = chain[chain.length - 1];
      grid.link(above, bend, above === top ? SIDE : LONG, shiftOf(above), 0);
      chain.push(bend);
    }
    for (const child of net.sinks) {
      const element2 = grid.element[tree.place[child]];
      if (grid.row[element2] <= start) continue;
      const above = chain[grid.carrier(chain, grid.row[element2])];
      grid.link(above, element2, above === top ? MAIN : SIDE, shiftOf(above), entryShift(scope, net, child, result));
    }
    const port = net.exits ? grid.add(grid.rows.length - 1, BEND, NONE8, net) : NONE8;
    if (net.exits) {
      const above = chain[chain.length - 1];
      grid.link(above, port, above === top ? MAIN : LONG, shiftOf(above), 0);
    }
    grid.chains.set(net, { chain, port });
  }
  function exitShift(scope, net, result) {
    const inner = net.from === net.owner ? void 0 : scope.find(net.from, net.owner);
    return inner ? inner.exitX - result.width[net.from] / 2 - result.lean[net.from] : 0;
  }
  function entryShift(scope, net, child, result) {
    const inner = scope.find(child, net.owner);
    return inner && inner.from === NONE8 ? inner.entryX - result.width[child] / 2 + result.lean[child] : 0;
  }
  var NONE9 = -1;
  var MOST_WISHES = 200;
  function placeX(grid) {
    const x = new Float64Array(grid.row.length);
    grid.x = x;
    for (const row of grid.rows) {
      let at = 0;
      row.forEach((element2, index) => {
        at += index ? separation(grid, row[index - 1], element2) : 0;
        x[element2] = at;
      });
      for (const element2 of row) x[element2] -= at / 2;
    }
    const rounds = grid.row.length > 6e3 ? 2 : 5;
    const { up, down } = grid.links;
    for (let round = 0; round < rounds; round++) {
      for (let row = 1; row < grid.rows.length; row++) fitRow(grid, row, [up]);
      for (let row = grid.rows.length - 2; row >= 0; row--) fitRow(grid, row, [down]);
    }
    for (let row = 0; row < grid.rows.length; row++) fitRow(grid, row, [up, down]);
  }
  function separation(grid, left, right) {
    const bends = Number(grid.box[left] === NONE9) + Number(grid.box[right] === NONE9);
    return (grid.width[left] + grid.width[right]) / 2 + (bends === 2 ? 5 : bends === 1 ? 10 : 20);
  }
  function fitRow(grid, row, sides) {
    const elements = grid.rows[row];
    const offsets = new Float64Array(elements.length);
    const blocks = [];
    for (let index = 0; index < elements.length; index++) {
      const element2 = elements[index];
      if (index) offsets[index] = offsets[index - 1] + separation(grid, elements[index - 1], element2);
      let wishes = [];
      for (const side of sides) collect2(grid, side, element2, offsets[index], wishes);
      if (!wishes.length) wishes.push([grid.x[element2] - offsets[index], 0.01]);
      let start = index;
      let middle = weightedMedian(wishes);
      for (let left = blocks[blocks.length - 1]; left && left.middle > middle; left = blocks[blocks.length - 1]) {
        blocks.pop();
        wishes = merged(left.wishes, wishes);
        start = left.start;
        middle = weightedMedian(wishes);
      }
      blocks.push({ start, wishes, middle });
    }
    blocks.forEach(({ start, middle }, at) => {
      const end = at + 1 < blocks.length ? blocks[at + 1].start : elements.length;
      for (let index = start; index < end; index++) grid.x[elements[index]] = middle + offsets[index];
    });
  }
  function collect2(grid, { of: links, ends, theirShift, ownShift }, element2, offset, wishes) {
    for (const at of links[element2]) {
      wishes.push([grid.x[ends[at]] + theirShift[at] - ownShift[at] - offset, grid.weight[at]]);
    }
  }
  function merged(first, second) {
    if (first.length + second.length <= MOST_WISHES) return first.concat(second);
    let [sum, weight] = [0, 0];
    for (const wishes of [first, second]) {
      for (const [place, pull] of wishes) [sum, weight] = [sum + place * pull, weight + pull];
    }
    return [[sum / weight, weight]];
  }
  function weightedMedian(wishes) {
    if (wishes.length === 1) return wishes[0][0];
    wishes.sort((a, b) => a[0] - b[0]);
    let total = 0;
    for (const wish of wishes) total += wish[1];
    let sum = 0;
    for (let at = 0; at < wishes.length; at++) {
      sum += wishes[at][1];
      if (sum * 2 > total) return wishes[at][0];
      if (sum * 2 === total) return (wishes[at][0] + wishes[at + 1][0]) / 2;
    }
    return wishes[wishes.length - 1][0];
  }
  var NONE10 = -1;
  function assignLayers(scope, tree) {
    const count2 = scope.children.length;
    const layer = new Int32Array(count2);
    const { outs, ins } = netsByChild(scope, tree);
    for (let at = 0; at < count2; at++) pushReaders(at, layer, outs[at], tree);
    for (let at = count2 - 1; at >= 0; at--) sinkDown(at, layer, outs[at], ins[at], tree);
    for (let at = 1; at < count2; at++) if (!outs[at].length && !ins[at].length) layer[at] = layer[at - 1];
    const lowest = layer.reduce((most, one) => Math.max(most, one), 0);
    return { layer, count: count2 ? lowest + 1 : 0 };
  }
  function netsByChild(scope, tree) {
    const outs = scope.children.map(() => []);
    const ins = scope.children.map(() => []);
    for (const net of scope.nets) {
      const from2 = net.from === NONE10 ? NONE10 : tree.place[net.from];
      if (from2 !== NONE10) outs[from2].push(net);
      for (const child of net.sinks) if (tree.place[child] > from2) ins[tree.place[child]].push(net);
    }
    return { outs, ins };
  }
  function pushReaders(at, layer, outs, tree) {
    for (const net of outs) {
      for (const child of net.sinks) {
        const to = tree.place[child];
        if (to > at && layer[to] <= layer[at]) layer[to] = layer[at] + 1;
      }
    }
  }
  function sinkDown(at, layer, outs, ins, tree) {
    if (!outs.length || outs.some((net) => net.exits)) return;
    let nearest3 = Infinity;
    for (const net of outs) {
      for (const child of net.sinks) if (tree.place[child] > at) nearest3 = Math.min(nearest3, layer[tree.place[child]]);
    }
    if (nearest3 === Infinity || nearest3 - 1 <= layer[at]) return;
    const reaches = (net) => net.exits || net.sinks.some((child) => layer[tree.place[child]] >= nearest3 - 1);
    const stretched = ins.filter((net) => !reaches(net)).length;
    if (stretched < outs.length) layer[at] = nearest3 - 1;
  }
  var NONE11 = -1;
  function indexTree({ parent, group }) {
    const size = parent.length;
    const depth = new Int32Array(size);
    const children = Array.from({ length: size }, () => []);
    const place = new Int32Array(size);
    for (let box = 1; box < size; box++) {
      depth[box] = depth[parent[box]] + 1;
      place[box] = children[parent[box]].push(box) - 1;
    }
    return { parent, group, depth, children, place };
  }
  var Nets = class {
    constructor(size, edges) {
      this.size = size;
      this.byName = /* @__PURE__ */ new Map();
      this.inScope = Array.from({ length: size }, () => []);
      this.drawn = new Uint8Array(edges);
    }
    find(scope, owner) {
      return this.byName.get(scope * this.size + owner);
    }
    add(scope, owner, from2) {
      let net = this.find(scope, owner);
      if (!net) {
        net = { scope, owner, from: from2, sinks: [], known: /* @__PURE__ */ new Set(), exits: false, entryX: 0, exitX: 0 };
        this.byName.set(scope * this.size + owner, net);
        this.inScope[scope].push(net);
      }
      return net;
    }
    addSink(net, child) {
      if (net.known.has(child)) return;
      net.known.add(child);
      net.sinks.push(child);
    }
  };
  function siblingsOf(tree, first, second) {
    let [a, b] = [first, second];
    while (tree.depth[a] > tree.depth[b]) a = tree.parent[a];
    while (tree.depth[b] > tree.depth[a]) b = tree.parent[b];
    while (a !== b && tree.parent[a] !== tree.parent[b]) [a, b] = [tree.parent[a], tree.parent[b]];
    return [a, b];
  }
  function routeNets(input, tree) {
    const nets = new Nets(input.parent.length, input.source.length);
    for (let edge = 0; edge < input.source.length; edge++) {
      if (input.via[edge] !== NONE11) continue;
      const [owner, target] = [input.source[edge], input.target[edge]];
      const [a, b] = siblingsOf(tree, owner, target);
      if (a === b) continue;
      nets.drawn[edge] = 1;
      for (let at = owner; at !== a; at = tree.parent[at]) nets.add(tree.parent[at], owner, at).exits = true;
      nets.addSink(nets.add(tree.parent[a], owner, a), b);
      for (let at = target; at !== b; at = tree.parent[at]) nets.addSink(nets.add(tree.parent[at], owner, NONE11), at);
    }
    return nets;
  }
  var MOST_STALE = 3;
  function orderRows(grid) {
    const count2 = grid.row.length;
    const position = new Float64Array(count2);
    grid.links = adjacency(grid, count2);
    const { up, down } = grid.links;
    const sortDown = () => {
      for (let row = 1; row < grid.rows.length; row++) sortRow(grid, row, up, position);
    };
    const sortUp = () => {
      for (let row = grid.rows.length - 2; row >= 0; row--) sortRow(grid, row, down, position);
    };
    if (grid.entering) grid.rows[0].sort((a, b) => ownerAt(grid, a) - ownerAt(grid, b));
    grid.rows[0].forEach((element2, at) => position[element2] = at);
    sortDown();
    const limit = count2 > 6e3 ? 2 : count2 > 1500 ? 4 : 8;
    let best = grid.rows.map((row) => row.slice());
    let fewest = crossings(grid, position);
    let stale = 0;
    for (let sweep = 0; sweep < limit && fewest > 0 && stale < MOST_STALE; sweep++) {
      sortUp();
      sortDown();
      const now = crossings(grid, position);
      stale = now < fewest ? 0 : stale + 1;
      if (now < fewest) [fewest, best] = [now, grid.rows.map((row) => row.slice())];
    }
    grid.rows = best;
  }
  function ownerAt(grid, element2) {
    return grid.net[element2]?.owner ?? -1;
  }
  function adjacency(grid, count2) {
    const up = { of: Array.from({ length: count2 }, () => []), ends: grid.upper, theirShift: grid.upperShift, ownShift: grid.lowerShift };
    const down = { of: Array.from({ length: count2 }, () => []), ends: grid.lower, theirShift: grid.lowerShift, ownShift: grid.upperShift };
    for (let at = 0; at < grid.upper.length; at++) {
      if (grid.row[grid.lower[at]] !== grid.row[grid.upper[at]] + 1) continue;
      up.of[grid.lower[at]].push(at);
      down.of[grid.upper[at]].push(at);
    }
    return { up, down };
  }
  function sortRow(grid, row, { of: links, ends, theirShift }, position) {
    const elements = grid.rows[row];
    const free = elements.filter((element2) => links[element2].length);
    const wish = /* @__PURE__ */ new Map();
    for (const element2 of free) {
      let sum = 0;
      for (const at of links[element2]) sum += position[ends[at]] + 0.9 * theirShift[at] / grid.width[ends[at]];
      wish.set(element2, sum / links[element2].length);
    }
    free.sort((a, b) => wish.get(a) - wish.get(b) || position[a] - position[b]);
    let next = 0;
    grid.rows[row] = elements.map((element2) => links[element2].length ? free[next++] : element2);
    grid.rows[row].forEach((element2, at) => position[element2] = at);
  }
  function crossings(grid, position) {
    let total = 0;
    for (let row = 0; row + 1 < grid.rows.length; row++) {
      const size = grid.rows[row + 1].length;
      const tree = new Int32Array(size + 1);
      let seen = 0;
      for (const element2 of grid.rows[row]) {
        const places = grid.links.down.of[element2].map((at) => position[grid.lower[at]]).sort((a, b) => a - b);
        for (const place of places) {
          let before = 0;
          for (let at = place + 1; at > 0; at -= at & -at) before += tree[at];
          total += seen - before;
        }
        for (const place of places) {
          seen++;
          for (let at = place + 1; at <= size; at += at & -at) tree[at]++;
        }
      }
    }
    return total;
  }
  var NONE12 = -1;
  var PAD = 14;
  var HEADER = 28;
  var ROW_GAP = 26;
  var PORT_GAP = 10;
  var WIDE_GAP = 0.07;
  var MOST_GAP = 60;
  function placeY(grid, scope, result) {
    const count2 = grid.rows.length;
    const sidestep = widestSteps(grid);
    grid.top = new Float64Array(count2);
    grid.depth = new Float64Array(count2);
    let y = scope.box ? HEADER : PAD;
    for (let row = 0; row < count2; row++) {
      for (const element2 of grid.rows[row]) {
        if (grid.box[element2] !== NONE12) grid.depth[row] = Math.max(grid.depth[row], result.height[grid.box[element2]]);
      }
      grid.top[row] = y;
      const isPort = grid.entering && row === 0 || grid.leaving && row === count2 - 2;
      const least = isPort ? PORT_GAP : ROW_GAP;
      y += grid.depth[row] + (row + 1 < count2 ? least + Math.round(Math.min(MOST_GAP, WIDE_GAP * sidestep[row])) : 0);
    }
    grid.bottom = y;
  }
  function widestSteps(grid) {
    const widest = new Float64Array(grid.rows.length);
    for (let at = 0; at < grid.upper.length; at++) {
      const [upper2, lower] = [grid.upper[at], grid.lower[at]];
      const step = Math.abs(grid.x[upper2] + grid.upperShift[at] - grid.x[lower] - grid.lowerShift[at]);
      widest[grid.row[upper2]] = Math.max(widest[grid.row[upper2]], step);
    }
    return widest;
  }
  function finishScope(grid, scope, result) {
    const { box } = scope;
    const width = 2 * Math.ceil(Math.max(result.width[box], grid.extent + 2 * PAD) / 2);
    const left = (width - grid.extent) / 2;
    result.width[box] = width;
    result.height[box] = Math.max(result.height[box], grid.bottom + PAD);
    for (let element2 = 0; element2 < grid.x.length; element2++) {
      grid.x[element2] = Math.round(grid.x[element2] + left);
      const child = grid.box[element2];
      if (child === NONE12) continue;
      result.x[child] = grid.x[element2] - result.width[child] / 2;
      result.y[child] = grid.top[grid.row[element2]];
    }
    for (const [net, { chain, port }] of grid.chains) {
      if (net.from === NONE12) net.entryX = grid.x[chain[0]];
      if (net.exits) net.exitX = grid.x[port];
    }
    result.lean[box] = leanOf(scope.nets);
  }
  function leanOf(nets) {
    const [enters, leaves] = [nets.filter((net) => net.from === NONE12), nets.filter((net) => net.exits)];
    if (!enters.length || !leaves.length) return 0;
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return (mean(leaves.map((net) => net.exitX)) - mean(enters.map((net) => net.entryX))) / 2;
  }
  var NONE13 = -1;
  var SPREAD = 14;
  var BORDER = 24;
  var Pen = class {
    constructor() {
      this.x1 = [];
      this.y1 = [];
      this.x2 = [];
      this.y2 = [];
      this.owner = [];
      this.previous = [];
    }
    draw(x1, y1, x2, y2, owner, previous) {
      this.x1.push(x1);
      this.y1.push(y1);
      this.x2.push(x2);
      this.y2.push(y2);
      this.owner.push(owner);
      return this.previous.push(previous) - 1;
    }
    arrays() {
      return { x1: Float32Array.from(this.x1), y1: Float32Array.from(this.y1), x2: Float32Array.from(this.x2), y2: Float32Array.from(this.y2), owner: Int32Array.from(this.owner), previous: Int32Array.from(this.previous) };
    }
  };
  function drawSegments(input, tree, nets, scopes, result) {
    const pen = new Pen();
    const last = new Int32Array(input.source.length).fill(NONE13);
    const arrivals = spreadArrivals(tree, nets, scopes, result);
    for (const [owner, edges] of edgesBySource(input, nets.drawn)) {
      const ends = /* @__PURE__ */ new Map();
      drawNet(nets.find(tree.parent[owner], owner), NONE13, { pen, tree, nets, scopes, result, arrivals, ends });
      for (const edge of edges) last[edge] = ends.get(input.target[edge]) ?? NONE13;
    }
    drawBypasses(input, pen, last);
    return { ...pen.arrays(), last };
  }
  function edgesBySource(input, drawn) {
    const edgesOf = /* @__PURE__ */ new Map();
    for (let edge = 0; edge < drawn.length; edge++) {
      if (!drawn[edge]) continue;
      if (!edgesOf.has(input.source[edge])) edgesOf.set(input.source[edge], []);
      edgesOf.get(input.source[edge]).push(edge);
    }
    return edgesOf;
  }
  function drawBypasses(input, pen, last) {
    const size = input.parent.length;
    const edgeOf = /* @__PURE__ */ new Map();
    input.source.forEach((from2, edge) => edgeOf.set(from2 * size + input.target[edge], edge));
    input.via.forEach((via, edge) => {
      if (via === NONE13) return;
      const [owner, to] = [input.source[edge], input.target[edge]];
      const arriving = last[edgeOf.get(owner * size + via)];
      const onward = [];
      for (let at = last[edgeOf.get(via * size + to)]; at !== NONE13; at = pen.previous[at]) onward.unshift(at);
      const copy = (at, previous) => pen.draw(pen.x1[at], pen.y1[at], pen.x2[at], pen.y2[at], owner, previous);
      const reached = copy(arriving, pen.previous[arriving]);
      const through = pen.draw(pen.x2[arriving], pen.y2[arriving], pen.x1[onward[0]], pen.y1[onward[0]], owner, reached);
      last[edge] = onward.reduce((previous, at) => copy(at, previous), through);
    });
  }
  function spreadArrivals(tree, nets, scopes, result) {
    const arrivals = /* @__PURE__ */ new Map();
    for (const grid of scopes) {
      for (const [child, coming] of grid ? comingTo(grid, tree) : []) {
        coming.sort((a, b) => a[0] - b[0] || a[1].owner - b[1].owner);
        const step = coming.length > 1 ? Math.min(SPREAD, (result.width[child] - BORDER) / (coming.length - 1)) : 0;
        coming.forEach(([, net], at) => {
          const inner = nets.find(child, net.owner);
          const middle = result.x[child] + result.width[child] / 2 + Math.round((at - (coming.length - 1) / 2) * step);
          const port = inner && inner.from === NONE13 ? result.x[child] + inner.entryX : middle;
          if (!arrivals.has(net)) arrivals.set(net, /* @__PURE__ */ new Map());
          arrivals.get(net).set(child, port);
        });
      }
    }
    return arrivals;
  }
  function comingTo(grid, tree) {
    const coming = /* @__PURE__ */ new Map();
    for (const [net, { chain }] of grid.chains) {
      for (const child of net.sinks) {
        const at = chain[grid.carrier(chain, grid.row[grid.element[tree.place[child]]])];
        if (!coming.has(child)) coming.set(child, []);
        coming.get(child).push([grid.x[at], net]);
      }
    }
    return coming;
  }
  function drawNet(net, previous, context) {
    const { pen, tree, nets, scopes, result, arrivals, ends } = context;
    const grid = scopes[net.scope];
    const { chain, port } = grid.chains.get(net);
    const [left, up] = [result.x[net.scope], result.y[net.scope]];
    const rowBottom = (row) => up + grid.top[row] + grid.depth[row];
    let x = left + grid.x[chain[0]] + (net.from === NONE13 ? 0 : exitOf(net, nets, result));
    let y = net.from === NONE13 ? up : result.y[net.from] + result.height[net.from];
    const go = (toX, toY) => {
      if (toX === x && toY === y) return;
      previous = pen.draw(x, y, toX, toY, net.owner, previous);
      [x, y] = [toX, toY];
    };
    const tips = chain.map((element2, at) => {
      if (at) go(left + grid.x[element2], up + grid.top[grid.row[element2]]);
      go(x, rowBottom(grid.row[element2]));
      return [x, y, previous];
    });
    if (net.exits) {
      go(left + grid.x[port], up + grid.top[grid.row[port]]);
      go(x, up + result.height[net.scope]);
    }
    const exit = previous;
    for (const child of net.sinks) {
      [x, y, previous] = tips[grid.carrier(chain, grid.row[grid.element[tree.place[child]]])];
      go(arrivals.get(net).get(child), result.y[child]);
      ends.set(child, previous);
      const inner = nets.find(child, net.owner);
      if (inner && inner.from === NONE13) drawNet(inner, previous, context);
    }
    if (net.exits) drawNet(nets.find(tree.parent[net.scope], net.owner), exit, context);
  }
  function exitOf(net, nets, result) {
    const inner = net.from === net.owner ? void 0 : nets.find(net.from, net.owner);
    return inner ? inner.exitX - result.width[net.from] / 2 : 0;
  }
  var NONE14 = -1;
  var EMPTY_COLUMN = 48;
  function straightenChains(grid) {
    const room = roomFinder(grid);
    const loose = looseElements(grid);
    const chains = [...grid.chains.values()].map(({ chain, port }) => (port === NONE14 ? chain : [...chain, port]).filter(loose));
    for (const pass of [chains, chains.slice().reverse()]) {
      for (const chain of pass) {
        for (let start = 0; start < chain.length; ) start = straightenRun(grid, chain, start, room);
      }
    }
  }
  function roomFinder(grid) {
    const place = new Int32Array(grid.row.length);
    for (const row of grid.rows) row.forEach((element2, at) => place[element2] = at);
    return (element2) => {
      const row = grid.rows[grid.row[element2]];
      const [left, right] = [row[place[element2] - 1], row[place[element2] + 1]];
      return [left === void 0 ? -Infinity : grid.x[left] + separation(grid, left, element2), right === void 0 ? Infinity : grid.x[right] - separation(grid, element2, right)];
    };
  }
  function looseElements(grid) {
    const beside = /* @__PURE__ */ new Set();
    grid.upper.forEach((upper2, at) => {
      if (grid.box[upper2] !== NONE14) beside.add(grid.lower[at]);
      if (grid.box[grid.lower[at]] !== NONE14) beside.add(upper2);
    });
    const ends = /* @__PURE__ */ new Set([grid.entering ? 0 : NONE14, grid.leaving ? grid.rows.length - 1 : NONE14]);
    return (element2) => grid.box[element2] === NONE14 && !(ends.has(grid.row[element2]) && beside.has(element2));
  }
  function straightenRun(grid, chain, start, room) {
    let [low, high] = room(chain[start]);
    let end = start + 1;
    for (; end < chain.length; end++) {
      const [left, right] = room(chain[end]);
      if (Math.max(low, left) > Math.min(high, right)) break;
      [low, high] = [Math.max(low, left), Math.min(high, right)];
    }
    const now = chain.slice(start, end).map((element2) => grid.x[element2]).sort((a, b) => a - b);
    const wish = now[now.length >> 1];
    for (let at = start; at < end; at++) grid.x[chain[at]] = Math.min(high, Math.max(low, wish));
    return end;
  }
  function closeColumns(grid) {
    const order = Array.from(grid.x.keys()).sort((a, b) => grid.x[a] - grid.width[a] / 2 - (grid.x[b] - grid.width[b] / 2));
    let reach = null;
    let cut2 = 0;
    grid.extent = 0;
    const moved = new Float64Array(grid.x.length);
    for (const element2 of order) {
      const left = grid.x[element2] - grid.width[element2] / 2;
      if (reach === null) cut2 = left;
      else if (left - reach > EMPTY_COLUMN) cut2 += left - reach - EMPTY_COLUMN;
      reach = Math.max(reach ?? -Infinity, left + grid.width[element2]);
      moved[element2] = grid.x[element2] - cut2;
      grid.extent = Math.max(grid.extent, moved[element2] + grid.width[element2] / 2);
    }
    grid.x = moved;
  }
  function run(input) {
    const tree = indexTree(input);
    const nets = routeNets(input, tree);
    const size = input.parent.length;
    const result = { x: new Float32Array(size), y: new Float32Array(size), layer: new Int32Array(size), lean: new Float32Array(size), width: Float32Array.from(input.width), height: Float32Array.from(input.height) };
    const scopes = Array.from({ length: size }, () => null);
    for (let box = size - 1; box >= 0; box--) {
      if (input.group[box]) scopes[box] = layoutScope(box, tree, nets, result);
    }
    placeAbsolutely(input, result);
    return Object.assign(result, drawSegments(input, tree, nets, scopes, result));
  }
  function layoutScope(box, tree, nets, result) {
    const scope = { box, nets: nets.inScope[box], children: tree.children[box], find: (inner, owner) => nets.find(inner, owner) };
    const layers = assignLayers(scope, tree);
    const grid = buildChains(scope, layers, tree, result);
    orderRows(grid);
    placeX(grid);
    straightenChains(grid);
    closeColumns(grid);
    placeY(grid, scope, result);
    finishScope(grid, scope, result);
    return grid;
  }
  function placeAbsolutely(input, result) {
    for (let box = 1; box < input.parent.length; box++) {
      result.x[box] += result.x[input.parent[box]];
      result.y[box] += result.y[input.parent[box]];
    }
  }
  var NONE15 = -1;
  var SIDES = { BEFORE: 1, AFTER: 2 };
  var Scene = class {
    constructor(outline, expanded, measure) {
      this.outline = outline;
      this.model = outline.model;
      this.items = [{ group: outline.root, open: true, key: NONE15, caption: "", parent: NONE15 }];
      this.itemOfKey = [];
      this.ownerOfKey = [];
      this.edges = [];
      this.via = [];
      this.edgeIndex = /* @__PURE__ */ new Map();
      this.itemOfGroup = /* @__PURE__ */ new Map([["", 0]]);
      this._visit(outline.root, 0, expanded);
      this._placeConstants();
      this._connect();
      this.input = this._layoutInput(measure);
      this.fanOut = new Int32Array(this.items.length);
      for (let edge = 0; edge < this.edges.length; edge++) this.fanOut[this.edges[edge][0]]++;
    }
    _layoutInput(measure) {
      const sizes = this.items.map((_, item) => measure(this, item));
      return { parent: Int32Array.from(this.items, (item) => item.parent), group: Uint8Array.from(this.items, (item) => item.open ? 1 : 0), width: Float32Array.from(sizes, (size) => size.width), height: Float32Array.from(sizes, (size) => size.height), source: Int32Array.from(this.edges, (edge) => edge[0]), target: Int32Array.from(this.edges, (edge) => edge[1]), via: Int32Array.from(this.via) };
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
        if (child.node !== NONE15) this.itemOfKey[child.node] = item;
        if (open) this._visit(child, item, expanded);
        else this._close(child, item);
      }
    }
    _close(group, item) {
      for (const child of group.children) {
        if (!child.children) this.itemOfKey[child.leaf] = item;
        else {
          if (child.node !== NONE15) this.itemOfKey[child.node] = item;
          this._close(child, item);
        }
      }
    }
    _placeConstants() {
      const { hidden, home: homes, union } = this.outline;
      this.ownerOfKey = this.itemOfKey.slice();
      for (const key of union.order) {
        if (!hidden[key]) continue;
        const home = homes[key];
        this.ownerOfKey[key] = home === NONE15 ? 0 : this.itemOfKey[home];
      }
    }
    _connect() {
      const { hidden, union } = this.outline;
      for (const key of union.order) {
        if (hidden[key]) continue;
        for (const reader of union.readers[key]) if (!hidden[reader]) this._addEdge(key, reader);
      }
      const plain = (from2, to) => this.via[this.edgeIndex.get(this._edgeName(from2, to))] === NONE15;
      const usable = this.edges.map(([from2, to], edge) => {
        const via = this.via[edge];
        return via !== NONE15 && !this.items[via].open && plain(from2, via) && plain(via, to);
      });
      this.via = this.via.map((via, edge) => usable[edge] ? via : NONE15);
    }
    _addEdge(key, reader) {
      const [from2, to] = [this.itemOfKey[key], this.itemOfKey[reader]];
      if (from2 === to) return;
      const name = this._edgeName(from2, to);
      const via = this.itemOfKey[this.outline.union.bypasses.get(`${key}/${reader}`) ?? NONE15] ?? NONE15;
      if (this.edgeIndex.has(name)) {
        if (via === NONE15) this.via[this.edgeIndex.get(name)] = NONE15;
        return;
      }
      this.edgeIndex.set(name, this.edges.length);
      this.edges.push([from2, to]);
      this.via.push(via);
    }
    idOf(item) {
      const { group, key } = this.items[item];
      return key === NONE15 ? group.id : this.model.ids[key];
    }
    itemOf(id) {
      const owner = this.ownerOfKey[this.model.keyOfId.get(id) ?? NONE15];
      if (owner !== void 0) return owner;
      let group = this.outline.groups.get(id);
      while (group && !this.itemOfGroup.has(group.id)) group = group.parent;
      return group ? this.itemOfGroup.get(group.id) : NONE15;
    }
    _edgeName(from2, to) {
      return from2 * this.items.length + to;
    }
    edgeSides(before, after) {
      const sides = new Uint8Array(this.edges.length);
      const { start, values } = this.model.rowInputs;
      for (const [index, bit] of [[before, SIDES.BEFORE], [after, SIDES.AFTER]]) {
        if (index === null) continue;
        const snapshot = this.model.snapshot(index);
        for (const key of snapshot.order) {
          const to = this.itemOfKey[key];
          if (to === void 0) continue;
          const row = snapshot.rowOf[key];
          for (let at = start[row]; at < start[row + 1]; at++) {
            const producer = snapshot.producer[values[at]];
            const from2 = producer === NONE15 ? void 0 : this.itemOfKey[producer];
            if (from2 === void 0 || from2 === to) continue;
            const edge = this.edgeIndex.get(this._edgeName(from2, to));
            if (edge !== void 0) sides[edge] |= bit;
          }
        }
      }
      return sides;
    }
    tally(before, after, statuses) {
      const count2 = this.items.length;
      const sides = new Uint8Array(count2);
      const counts = { added: new Int32Array(count2), removed: new Int32Array(count2), changed: new Int32Array(count2) };
      const ops = [null, new Int32Array(count2), new Int32Array(count2)];
      for (const [index, bit] of [[before, SIDES.BEFORE], [after, SIDES.AFTER]]) {
        if (index === null) continue;
        for (const key of this.model.snapshot(index).order) {
          const item = this.itemOfKey[key];
          if (item === void 0) continue;
          sides[item] |= bit;
          if (!this.model.isPseudo(key)) ops[bit][item]++;
        }
      }
      for (let item = count2 - 1; item > 0; item--) sides[this.items[item].parent] |= sides[item];
      for (const [key, status] of statuses) {
        if (this.model.isPseudo(key)) continue;
        const item = this.itemOfKey[key] ?? this.ownerOfKey[key];
        for (let at = item; at !== void 0 && at !== NONE15; at = this.items[at].parent) counts[status][at]++;
      }
      return { sides, ops, counts };
    }
  };
  var SANS = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
  var MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
  var FONTS = { title: `600 13px ${SANS}`, caption: `12px ${SANS}`, detail: `11px ${MONO}`, chip: `10.5px ${SANS}`, header: `600 12px ${SANS}`, count: `11px ${SANS}`, sign: `700 12px ${SANS}`, mark: `700 8px ${SANS}` };
  var widths = /* @__PURE__ */ new Map();
  var ruler = null;
  function textWidth(font, text) {
    if (!widths.has(font)) widths.set(font, /* @__PURE__ */ new Map());
    const letters = widths.get(font);
    let sum = 0;
    for (const letter of text) {
      let width = letters.get(letter);
      if (width === void 0) {
        ruler ??= document.createElement("canvas").getContext("2d");
        ruler.font = font;
        width = ruler.measureText(letter).width;
        letters.set(letter, width);
      }
      sum += width;
    }
    return sum;
  }
  function shorten(font, text, width, scale = 1) {
    if (textWidth(font, text) * scale <= width) return text;
    let cut2 = text;
    while (cut2 && textWidth(font, `${cut2}…`) * scale > width) cut2 = cut2.slice(0, cut2.length > 40 ? -8 : -1);
    return cut2 ? `${cut2}…` : "";
  }
  function sized(font, px) {
    return font.replace(/[\d.]+px/, `${px.toFixed(1)}px`);
  }
  var MOST_CHIPS = 5;
  var CHIP_PAD = 5;
  var CHIP_GAP = 12;
  function contentOf(outline, row, caption, names) {
    const { model } = outline;
    const node = model.node(row);
    const key = model.keyOfRow[row];
    const pseudo = model.isPseudo(key);
    const chips = chipsOf(outline, row, names);
    const paths = model.pathsOf(row, names);
    const known = paths && pathText(paths, outline.frameOf(key));
    const [first] = node.outputs;
    const type = first ? shortType(first.type) : "";
    if (pseudo) {
      const returns = node.op === "return";
      return { title: returns ? "return" : known || first.name, caption: "", detail: returns ? "" : type, chips, pseudo };
    }
    const more = node.outputs.length > 1 ? `  ×${node.outputs.length}` : "";
    const plain = type === "Tensor" && first.name;
    const literal = outline.isConstant[key] ? chipText(node, known) || constantText(node) : "";
    return { title: opName(node.op), caption: literal || caption, detail: (plain ? `%${first.name}` : type) + more, chips, pseudo };
  }
  function chipsOf(outline, row, names) {
    const { model, hidden, union } = outline;
    const frame = outline.frameOf(model.keyOfRow[row]);
    const chips = [];
    for (const value of model.inputs(row)) {
      for (const key of union.producers.get(value) || []) {
        if (!hidden[key]) continue;
        const paths = model.pathsOf(union.row(key), names);
        const text = chipText(model.node(union.row(key)), paths && pathText(paths, frame));
        if (text && !chips.some((chip) => chip.key === key)) chips.push({ key, text, value });
      }
    }
    return chips;
  }
  function constantText(node) {
    const value = node.attributes.find((pair) => pair.name === "value" || pair.name === "name");
    return value ? value.text : "";
  }
  function chipLines(chips, width) {
    const shown = chips.slice(0, MOST_CHIPS).map((chip) => ({ ...chip, text: shorten(FONTS.chip, chip.text, width - 2 * CHIP_PAD) }));
    if (chips.length > MOST_CHIPS) shown.push({ key: -1, text: `+${chips.length - MOST_CHIPS}` });
    const lines = [];
    for (const chip of shown) {
      chip.width = textWidth(FONTS.chip, chip.text) + 2 * CHIP_PAD;
      const line = lines.at(-1);
      const x = line ? line.at(-1).x + line.at(-1).width + CHIP_GAP : 0;
      if (line && x + chip.width <= width) line.push(Object.assign(chip, { x }));
      else lines.push([Object.assign(chip, { x: 0 })]);
    }
    return lines;
  }
  var HEADER2 = 28;
  var CHIP_STEP = 18;
  var WIDEST = { box: 250, input: 320 };
  function boxSize(scene, index) {
    const item = scene.items[index];
    const { width, height } = item.group ? groupSize(item) : nodeSize(scene.outline, item);
    return { width: 2 * Math.ceil(width / 2), height: 2 * Math.ceil(height / 2) };
  }
  function groupSize({ group, open, parent }) {
    if (parent < 0) return { width: 0, height: 0 };
    const label = Math.min(240, textWidth(FONTS.header, group.label));
    return open ? { width: label + 120, height: HEADER2 + 20 } : { width: Math.max(168, label + 56), height: 48 };
  }
  function nodeSize(outline, { key, caption }) {
    const size = { width: 84, height: 28 };
    for (const content of contentsOf(outline, key, caption)) {
      const title = textWidth(FONTS.title, content.title) + (content.caption ? textWidth(FONTS.caption, content.caption) + 8 : 0);
      const lines = chipLines(content.chips, 208);
      const widest = Math.max(0, ...lines.map((line) => line.at(-1).x + line.at(-1).width));
      const wide = Math.max(title + 30, textWidth(FONTS.detail, content.detail) + 24, widest + 28);
      size.width = Math.max(size.width, Math.min(content.pseudo ? WIDEST.input : WIDEST.box, wide));
      const text = content.detail ? 42 : 28;
      size.height = Math.max(size.height, text + (lines.length ? lines.length * CHIP_STEP + 2 : 0));
    }
    return size;
  }
  function contentsOf(outline, key, caption) {
    return outline.union.rowsOf[key].flatMap((row) => outline.names.map((names) => contentOf(outline, row, caption, names)));
  }
  var WORKER_SOURCE = false ? null : '"use strict";(()=>{var I={of:[],ends:[],theirShift:[],ownShift:[]},M=class{constructor(o,n,e){this.rows=Array.from({length:Math.max(o,1)},()=>[]),this.entering=n,this.leaving=e,this.chains=new Map,this.row=[],this.width=[],this.box=[],this.net=[],this.upper=[],this.lower=[],this.weight=[],this.upperShift=[],this.lowerShift=[],this.element=[],this.links={up:I,down:I},this.x=new Float64Array,this.extent=0,this.top=new Float64Array,this.depth=new Float64Array,this.bottom=0}add(o,n,e,s){let c=this.row.push(o)-1;return this.width.push(n),this.box.push(e),this.net.push(s),this.rows[o].push(c),c}link(o,n,e,s,c){this.upper.push(o),this.lower.push(n),this.weight.push(e),this.upperShift.push(s),this.lowerShift.push(c)}carrier(o,n){return Math.max(0,Math.min(n-1-this.row[o[0]],o.length-1))}};function F(t,o,n,e){let s=t.nets.some(h=>h.from===-1),c=t.nets.some(h=>h.exits),r=s?1:0,f=new M(o.count+r+(c?1:0),s,c);f.element=t.children.map((h,l)=>f.add(o.layer[l]+r,e.width[h],h,null)),t.children.forEach((h,l)=>e.layer[h]=o.layer[l]);let a=t.nets.map(h=>J(f,h,n)),i=a.reduce((h,{start:l,end:w})=>h+Math.max(0,w-l-1),0);return t.nets.forEach((h,l)=>{let w=i>6e4&&a[l].end-a[l].start>40;Q(f,h,{...a[l],straight:w},{scope:t,tree:n,result:e})}),f}function J(t,o,n){let e=r=>t.row[t.element[n.place[r]]],s=o.from===-1?0:e(o.from),c=o.exits?t.rows.length-1:s;return{start:s,end:o.sinks.reduce((r,f)=>Math.max(r,e(f)),c)}}function Q(t,o,{start:n,end:e,straight:s},{scope:c,tree:r,result:f}){let a=o.from===-1?t.add(0,8,-1,o):t.element[r.place[o.from]],i=o.from===-1?0:V(c,o,f),h=p=>p===a?i:0,l=[a];for(let p=n+1;p<e&&!s;p++){let u=t.add(p,8,-1,o),x=l[l.length-1];t.link(x,u,x===a?1:2,h(x),0),l.push(u)}for(let p of o.sinks){let u=t.element[r.place[p]];if(t.row[u]<=n)continue;let x=l[t.carrier(l,t.row[u])];t.link(x,u,x===a?4:1,h(x),Z(c,o,p,f))}let w=o.exits?t.add(t.rows.length-1,8,-1,o):-1;if(o.exits){let p=l[l.length-1];t.link(p,w,p===a?4:2,h(p),0)}t.chains.set(o,{chain:l,port:w})}function V(t,o,n){let e=o.from===o.owner?void 0:t.find(o.from,o.owner);return e?e.exitX-n.width[o.from]/2-n.lean[o.from]:0}function Z(t,o,n,e){let s=t.find(n,o.owner);return s&&s.from===-1?s.entryX-e.width[n]/2+e.lean[n]:0}function R(t){let o=new Float64Array(t.row.length);t.x=o;for(let c of t.rows){let r=0;c.forEach((f,a)=>{r+=a?S(t,c[a-1],f):0,o[f]=r});for(let f of c)o[f]-=r/2}let n=t.row.length>6e3?2:5,{up:e,down:s}=t.links;for(let c=0;c<n;c++){for(let r=1;r<t.rows.length;r++)b(t,r,[e]);for(let r=t.rows.length-2;r>=0;r--)b(t,r,[s])}for(let c=0;c<t.rows.length;c++)b(t,c,[e,s])}function S(t,o,n){let e=+(t.box[o]===-1)+ +(t.box[n]===-1);return(t.width[o]+t.width[n])/2+(e===2?5:e===1?10:20)}function b(t,o,n){let e=t.rows[o],s=new Float64Array(e.length),c=[];for(let r=0;r<e.length;r++){let f=e[r];r&&(s[r]=s[r-1]+S(t,e[r-1],f));let a=[];for(let l of n)$(t,l,f,s[r],a);a.length||a.push([t.x[f]-s[r],.01]);let i=r,h=P(a);for(let l=c[c.length-1];l&&l.middle>h;l=c[c.length-1])c.pop(),a=g(l.wishes,a),i=l.start,h=P(a);c.push({start:i,wishes:a,middle:h})}c.forEach(({start:r,middle:f},a)=>{let i=a+1<c.length?c[a+1].start:e.length;for(let h=r;h<i;h++)t.x[e[h]]=f+s[h]})}function $(t,{of:o,ends:n,theirShift:e,ownShift:s},c,r,f){for(let a of o[c])f.push([t.x[n[a]]+e[a]-s[a]-r,t.weight[a]])}function g(t,o){if(t.length+o.length<=200)return t.concat(o);let[n,e]=[0,0];for(let s of[t,o])for(let[c,r]of s)[n,e]=[n+c*r,e+r];return[[n/e,e]]}function P(t){if(t.length===1)return t[0][0];t.sort((e,s)=>e[0]-s[0]);let o=0;for(let e of t)o+=e[1];let n=0;for(let e=0;e<t.length;e++){if(n+=t[e][1],n*2>o)return t[e][0];if(n*2===o)return(t[e][0]+t[e+1][0])/2}return t[t.length-1][0]}function _(t,o){let n=t.children.length,e=new Int32Array(n),{outs:s,ins:c}=tt(t,o);for(let f=0;f<n;f++)ot(f,e,s[f],o);for(let f=n-1;f>=0;f--)nt(f,e,s[f],c[f],o);for(let f=1;f<n;f++)!s[f].length&&!c[f].length&&(e[f]=e[f-1]);let r=e.reduce((f,a)=>Math.max(f,a),0);return{layer:e,count:n?r+1:0}}function tt(t,o){let n=t.children.map(()=>[]),e=t.children.map(()=>[]);for(let s of t.nets){let c=s.from===-1?-1:o.place[s.from];c!==-1&&n[c].push(s);for(let r of s.sinks)o.place[r]>c&&e[o.place[r]].push(s)}return{outs:n,ins:e}}function ot(t,o,n,e){for(let s of n)for(let c of s.sinks){let r=e.place[c];r>t&&o[r]<=o[t]&&(o[r]=o[t]+1)}}function nt(t,o,n,e,s){if(!n.length||n.some(a=>a.exits))return;let c=1/0;for(let a of n)for(let i of a.sinks)s.place[i]>t&&(c=Math.min(c,o[s.place[i]]));if(c===1/0||c-1<=o[t])return;let r=a=>a.exits||a.sinks.some(i=>o[s.place[i]]>=c-1);e.filter(a=>!r(a)).length<n.length&&(o[t]=c-1)}function T({parent:t,group:o}){let n=t.length,e=new Int32Array(n),s=Array.from({length:n},()=>[]),c=new Int32Array(n);for(let r=1;r<n;r++)e[r]=e[t[r]]+1,c[r]=s[t[r]].push(r)-1;return{parent:t,group:o,depth:e,children:s,place:c}}var d=class{constructor(o,n){this.size=o,this.byName=new Map,this.inScope=Array.from({length:o},()=>[]),this.drawn=new Uint8Array(n)}find(o,n){return this.byName.get(o*this.size+n)}add(o,n,e){let s=this.find(o,n);return s||(s={scope:o,owner:n,from:e,sinks:[],known:new Set,exits:!1,entryX:0,exitX:0},this.byName.set(o*this.size+n,s),this.inScope[o].push(s)),s}addSink(o,n){o.known.has(n)||(o.known.add(n),o.sinks.push(n))}};function et(t,o,n){let[e,s]=[o,n];for(;t.depth[e]>t.depth[s];)e=t.parent[e];for(;t.depth[s]>t.depth[e];)s=t.parent[s];for(;e!==s&&t.parent[e]!==t.parent[s];)[e,s]=[t.parent[e],t.parent[s]];return[e,s]}function v(t,o){let n=new d(t.parent.length,t.source.length);for(let e=0;e<t.source.length;e++){if(t.via[e]!==-1)continue;let[s,c]=[t.source[e],t.target[e]],[r,f]=et(o,s,c);if(r!==f){n.drawn[e]=1;for(let a=s;a!==r;a=o.parent[a])n.add(o.parent[a],s,a).exits=!0;n.addSink(n.add(o.parent[r],s,r),f);for(let a=c;a!==f;a=o.parent[a])n.addSink(n.add(o.parent[a],s,-1),a)}}return n}function X(t){let o=t.row.length,n=new Float64Array(o);t.links=st(t,o);let{up:e,down:s}=t.links,c=()=>{for(let l=1;l<t.rows.length;l++)G(t,l,e,n)},r=()=>{for(let l=t.rows.length-2;l>=0;l--)G(t,l,s,n)};t.entering&&t.rows[0].sort((l,w)=>B(t,l)-B(t,w)),t.rows[0].forEach((l,w)=>n[l]=w),c();let f=o>6e3?2:o>1500?4:8,a=t.rows.map(l=>l.slice()),i=L(t,n),h=0;for(let l=0;l<f&&i>0&&h<3;l++){r(),c();let w=L(t,n);h=w<i?0:h+1,w<i&&([i,a]=[w,t.rows.map(p=>p.slice())])}t.rows=a}function B(t,o){return t.net[o]?.owner??-1}function st(t,o){let n={of:Array.from({length:o},()=>[]),ends:t.upper,theirShift:t.upperShift,ownShift:t.lowerShift},e={of:Array.from({length:o},()=>[]),ends:t.lower,theirShift:t.lowerShift,ownShift:t.upperShift};for(let s=0;s<t.upper.length;s++)t.row[t.lower[s]]===t.row[t.upper[s]]+1&&(n.of[t.lower[s]].push(s),e.of[t.upper[s]].push(s));return{up:n,down:e}}function G(t,o,{of:n,ends:e,theirShift:s},c){let r=t.rows[o],f=r.filter(h=>n[h].length),a=new Map;for(let h of f){let l=0;for(let w of n[h])l+=c[e[w]]+.9*s[w]/t.width[e[w]];a.set(h,l/n[h].length)}f.sort((h,l)=>a.get(h)-a.get(l)||c[h]-c[l]);let i=0;t.rows[o]=r.map(h=>n[h].length?f[i++]:h),t.rows[o].forEach((h,l)=>c[h]=l)}function L(t,o){let n=0;for(let e=0;e+1<t.rows.length;e++){let s=t.rows[e+1].length,c=new Int32Array(s+1),r=0;for(let f of t.rows[e]){let a=t.links.down.of[f].map(i=>o[t.lower[i]]).sort((i,h)=>i-h);for(let i of a){let h=0;for(let l=i+1;l>0;l-=l&-l)h+=c[l];n+=r-h}for(let i of a){r++;for(let h=i+1;h<=s;h+=h&-h)c[h]++}}}return n}function C(t,o,n){let e=t.rows.length,s=rt(t);t.top=new Float64Array(e),t.depth=new Float64Array(e);let c=o.box?28:14;for(let r=0;r<e;r++){for(let i of t.rows[r])t.box[i]!==-1&&(t.depth[r]=Math.max(t.depth[r],n.height[t.box[i]]));t.top[r]=c;let a=t.entering&&r===0||t.leaving&&r===e-2?10:26;c+=t.depth[r]+(r+1<e?a+Math.round(Math.min(60,.07*s[r])):0)}t.bottom=c}function rt(t){let o=new Float64Array(t.rows.length);for(let n=0;n<t.upper.length;n++){let[e,s]=[t.upper[n],t.lower[n]],c=Math.abs(t.x[e]+t.upperShift[n]-t.x[s]-t.lowerShift[n]);o[t.row[e]]=Math.max(o[t.row[e]],c)}return o}function z(t,o,n){let{box:e}=o,s=2*Math.ceil(Math.max(n.width[e],t.extent+28)/2),c=(s-t.extent)/2;n.width[e]=s,n.height[e]=Math.max(n.height[e],t.bottom+14);for(let r=0;r<t.x.length;r++){t.x[r]=Math.round(t.x[r]+c);let f=t.box[r];f!==-1&&(n.x[f]=t.x[r]-n.width[f]/2,n.y[f]=t.top[t.row[r]])}for(let[r,{chain:f,port:a}]of t.chains)r.from===-1&&(r.entryX=t.x[f[0]]),r.exits&&(r.exitX=t.x[a]);n.lean[e]=ct(o.nets)}function ct(t){let[o,n]=[t.filter(s=>s.from===-1),t.filter(s=>s.exits)];if(!o.length||!n.length)return 0;let e=s=>s.reduce((c,r)=>c+r,0)/s.length;return(e(n.map(s=>s.exitX))-e(o.map(s=>s.entryX)))/2}var k=class{constructor(){this.x1=[],this.y1=[],this.x2=[],this.y2=[],this.owner=[],this.previous=[]}draw(o,n,e,s,c,r){return this.x1.push(o),this.y1.push(n),this.x2.push(e),this.y2.push(s),this.owner.push(c),this.previous.push(r)-1}arrays(){return{x1:Float32Array.from(this.x1),y1:Float32Array.from(this.y1),x2:Float32Array.from(this.x2),y2:Float32Array.from(this.y2),owner:Int32Array.from(this.owner),previous:Int32Array.from(this.previous)}}};function W(t,o,n,e,s){let c=new k,r=new Int32Array(t.source.length).fill(-1),f=at(o,n,e,s);for(let[a,i]of ft(t,n.drawn)){let h=new Map;D(n.find(o.parent[a],a),-1,{pen:c,tree:o,nets:n,scopes:e,result:s,arrivals:f,ends:h});for(let l of i)r[l]=h.get(t.target[l])??-1}return ht(t,c,r),{...c.arrays(),last:r}}function ft(t,o){let n=new Map;for(let e=0;e<o.length;e++)o[e]&&(n.has(t.source[e])||n.set(t.source[e],[]),n.get(t.source[e]).push(e));return n}function ht(t,o,n){let e=t.parent.length,s=new Map;t.source.forEach((c,r)=>s.set(c*e+t.target[r],r)),t.via.forEach((c,r)=>{if(c===-1)return;let[f,a]=[t.source[r],t.target[r]],i=n[s.get(f*e+c)],h=[];for(let u=n[s.get(c*e+a)];u!==-1;u=o.previous[u])h.unshift(u);let l=(u,x)=>o.draw(o.x1[u],o.y1[u],o.x2[u],o.y2[u],f,x),w=l(i,o.previous[i]),p=o.draw(o.x2[i],o.y2[i],o.x1[h[0]],o.y1[h[0]],f,w);n[r]=h.reduce((u,x)=>l(x,u),p)})}function at(t,o,n,e){let s=new Map;for(let c of n)for(let[r,f]of c?lt(c,t):[]){f.sort((i,h)=>i[0]-h[0]||i[1].owner-h[1].owner);let a=f.length>1?Math.min(14,(e.width[r]-24)/(f.length-1)):0;f.forEach(([,i],h)=>{let l=o.find(r,i.owner),w=e.x[r]+e.width[r]/2+Math.round((h-(f.length-1)/2)*a),p=l&&l.from===-1?e.x[r]+l.entryX:w;s.has(i)||s.set(i,new Map),s.get(i).set(r,p)})}return s}function lt(t,o){let n=new Map;for(let[e,{chain:s}]of t.chains)for(let c of e.sinks){let r=s[t.carrier(s,t.row[t.element[o.place[c]]])];n.has(c)||n.set(c,[]),n.get(c).push([t.x[r],e])}return n}function D(t,o,n){let{pen:e,tree:s,nets:c,scopes:r,result:f,arrivals:a,ends:i}=n,h=r[t.scope],{chain:l,port:w}=h.chains.get(t),[p,u]=[f.x[t.scope],f.y[t.scope]],x=m=>u+h.top[m]+h.depth[m],y=p+h.x[l[0]]+(t.from===-1?0:it(t,c,f)),O=t.from===-1?u:f.y[t.from]+f.height[t.from],A=(m,N)=>{m===y&&N===O||(o=e.draw(y,O,m,N,t.owner,o),[y,O]=[m,N])},Y=l.map((m,N)=>(N&&A(p+h.x[m],u+h.top[h.row[m]]),A(y,x(h.row[m])),[y,O,o]));t.exits&&(A(p+h.x[w],u+h.top[h.row[w]]),A(y,u+f.height[t.scope]));let q=o;for(let m of t.sinks){[y,O,o]=Y[h.carrier(l,h.row[h.element[s.place[m]]])],A(a.get(t).get(m),f.y[m]),i.set(m,o);let N=c.find(m,t.owner);N&&N.from===-1&&D(N,o,n)}t.exits&&D(c.find(s.parent[t.scope],t.owner),q,n)}function it(t,o,n){let e=t.from===t.owner?void 0:o.find(t.from,t.owner);return e?e.exitX-n.width[t.from]/2:0}var E=-1,U=48;function H(t){let o=wt(t),n=ut(t),e=[...t.chains.values()].map(({chain:s,port:c})=>(c===E?s:[...s,c]).filter(n));for(let s of[e,e.slice().reverse()])for(let c of s)for(let r=0;r<c.length;)r=pt(t,c,r,o)}function wt(t){let o=new Int32Array(t.row.length);for(let n of t.rows)n.forEach((e,s)=>o[e]=s);return n=>{let e=t.rows[t.row[n]],[s,c]=[e[o[n]-1],e[o[n]+1]];return[s===void 0?-1/0:t.x[s]+S(t,s,n),c===void 0?1/0:t.x[c]-S(t,n,c)]}}function ut(t){let o=new Set;t.upper.forEach((e,s)=>{t.box[e]!==E&&o.add(t.lower[s]),t.box[t.lower[s]]!==E&&o.add(e)});let n=new Set([t.entering?0:E,t.leaving?t.rows.length-1:E]);return e=>t.box[e]===E&&!(n.has(t.row[e])&&o.has(e))}function pt(t,o,n,e){let[s,c]=e(o[n]),r=n+1;for(;r<o.length;r++){let[i,h]=e(o[r]);if(Math.max(s,i)>Math.min(c,h))break;[s,c]=[Math.max(s,i),Math.min(c,h)]}let f=o.slice(n,r).map(i=>t.x[i]).sort((i,h)=>i-h),a=f[f.length>>1];for(let i=n;i<r;i++)t.x[o[i]]=Math.min(c,Math.max(s,a));return r}function j(t){let o=Array.from(t.x.keys()).sort((c,r)=>t.x[c]-t.width[c]/2-(t.x[r]-t.width[r]/2)),n=null,e=0;t.extent=0;let s=new Float64Array(t.x.length);for(let c of o){let r=t.x[c]-t.width[c]/2;n===null?e=r:r-n>U&&(e+=r-n-U),n=Math.max(n??-1/0,r+t.width[c]),s[c]=t.x[c]-e,t.extent=Math.max(t.extent,s[c]+t.width[c]/2)}t.x=s}function K(t){let o=T(t),n=v(t,o),e=t.parent.length,s={x:new Float32Array(e),y:new Float32Array(e),layer:new Int32Array(e),lean:new Float32Array(e),width:Float32Array.from(t.width),height:Float32Array.from(t.height)},c=Array.from({length:e},()=>null);for(let r=e-1;r>=0;r--)t.group[r]&&(c[r]=mt(r,o,n,s));return xt(t,s),Object.assign(s,W(t,o,n,c,s))}function mt(t,o,n,e){let s={box:t,nets:n.inScope[t],children:o.children[t],find:(f,a)=>n.find(f,a)},c=_(s,o),r=F(s,c,o,e);return X(r),R(r),H(r),j(r),C(r,s,e),z(r,s,e),r}function xt(t,o){for(let n=1;n<t.parent.length;n++)o.x[n]+=o.x[t.parent[n]],o.y[n]+=o.y[t.parent[n]]}globalThis.onmessage=({data:{id:t,input:o}})=>{let n=K(o);postMessage({id:t,output:n},{transfer:Object.values(n).map(e=>e.buffer)})};})();\n';
  var IN_WORKER = 500;
  var LayoutRunner = class {
    constructor(mode) {
      this.pending = /* @__PURE__ */ new Map();
      this.next = 0;
      this.worker = null;
      this.refused = mode === "never" || WORKER_SOURCE === null;
    }
    run(input) {
      this.cancel();
      if (this.refused || input.parent.length < IN_WORKER) return run(input);
      this._start();
      if (!this.worker) return run(input);
      const id = this.next++;
      return new Promise((resolve) => {
        this.pending.set(id, { input, resolve });
        this.worker?.postMessage({ id, input });
      });
    }
    _start() {
      if (this.worker) return;
      try {
        const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
        this.worker = new Worker(url);
        URL.revokeObjectURL(url);
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        this._refuse();
        return;
      }
      this.worker.onmessage = ({ data }) => {
        this.pending.get(data.id).resolve(data.output);
        this.pending.delete(data.id);
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        this._refuse();
      };
    }
    cancel() {
      if (!this.pending.size) return;
      this.stop();
      for (const { resolve } of this.pending.values()) resolve(null);
      this.pending.clear();
    }
    _refuse() {
      this.refused = true;
      this.stop();
      for (const { input, resolve } of this.pending.values()) resolve(run(input));
      this.pending.clear();
    }
    stop() {
      if (this.worker) this.worker.terminate();
      this.worker = null;
    }
  };
  var KEPT = 12;
  var Arrangements = class {
    constructor(mode) {
      this.runner = new LayoutRunner(mode);
      this.kept = /* @__PURE__ */ new Map();
      this.pending = null;
    }
    of(outline, expanded) {
      const name = [outline.snapshots, outline.constants, ...[...expanded].sort()].join("\n");
      const known = this.kept.get(name);
      if (known) {
        this.runner.cancel();
        return this._keep(name, known);
      }
      if (this.pending?.name === name) return this.pending.promise;
      const scene = new Scene(outline, expanded, boxSize);
      const layout = this.runner.run(scene.input);
      if (!(layout instanceof Promise)) return this._keep(name, { scene, layout });
      const promise = layout.then((found) => {
        if (this.pending?.promise === promise) this.pending = null;
        return found && this._keep(name, { scene, layout: found });
      });
      this.pending = { name, promise };
      return promise;
    }
    _keep(name, made) {
      this.kept.delete(name);
      this.kept.set(name, made);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
      return made;
    }
    forget() {
      this.kept.clear();
    }
    stop() {
      this.runner.stop();
    }
  };
  var PLACES_TRIED = 400;
  function firstCrowd(boxes, width, height) {
    const [least, reach] = [Math.max(0, width), Math.max(0, height)];
    const places = boxes.slice(0, PLACES_TRIED).map((box, at) => {
      let [left, right, bottom, count2] = [box.x, box.x + box.width, box.y + box.height, 1];
      for (let next = at + 1; next < boxes.length && boxes[next].y <= box.y + reach; next++) {
        const one = boxes[next];
        const [from2, to] = [Math.min(left, one.x), Math.max(right, one.x + one.width)];
        if (to - from2 > least || one.y + one.height > box.y + reach) continue;
        [left, right, bottom] = [from2, to, Math.max(bottom, one.y + one.height)];
        count2 += 1;
      }
      return { box: { x: left, y: box.y, width: right - left, height: bottom - box.y }, count: count2 };
    });
    const most = Math.max(...places.map(({ count: count2 }) => count2));
    const found = places.find(({ count: count2 }) => 3 * count2 >= most);
    return found.box;
  }
  var SQUARE_ZOOM = 0.25;
  function traceBox(job, item, radius) {
    const { x, y, width, height } = job.picture.layout;
    if (job.zoom < SQUARE_ZOOM) job.s.rect(x[item], y[item], width[item], height[item]);
    else job.s.roundRect(x[item], y[item], width[item], height[item], radius);
  }
  function ink(job, fill2, line = null, width = 1) {
    const { s } = job;
    s.fillStyle = fill2;
    s.fill();
    if (line === null) return;
    s.strokeStyle = line;
    s.lineWidth = width;
    s.stroke();
  }
  function write(job, text, x, y, { font, colour, align = "left" }) {
    const { s } = job;
    s.font = font;
    s.fillStyle = colour;
    s.textAlign = align;
    s.textBaseline = "middle";
    s.fillText(text, x, y);
  }
  function paintSign(job, { sign, colour, font, radius }, x, y) {
    job.s.beginPath();
    job.s.arc(x, y, radius, 0, 2 * Math.PI);
    ink(job, colour);
    write(job, sign, x, y + 0.5, { font, colour: job.theme.box, align: "center" });
  }
  var LETTER_ZOOM = 0.5;
  function paintLetter(job, { sign, fill: fill2 }, x, y) {
    if (sign) paintSign(job, { sign, colour: fill2, font: FONTS.mark, radius: 5.5 }, x, y);
  }
  function paintMark(job, item) {
    const { s, picture: { layout, scene }, look } = job;
    const { group, key } = scene.items[item];
    const mark = look.marks.get(key) || look.groupMarks.get(item);
    if (!mark) return;
    const width = Math.max(5, 2 / job.zoom);
    const [right, top, height] = [layout.x[item] + layout.width[item], layout.y[item], layout.height[item]];
    s.beginPath();
    if (group) s.arc(right - 12, top + 14, width, 0, 2 * Math.PI);
    else s.rect(right - width - 1, top + 5, width, height - 10);
    ink(job, mark.fill);
    if (job.zoom < LETTER_ZOOM) return;
    paintLetter(job, mark, group ? right - 14 : right - 5, group ? top + 14 : top + height / 2);
  }
  var SIGNS = { removed: "−", added: "+", changed: "~" };
  var COLOURS = { page: ["#f6f7f9", "#11151c"], divider: ["#d5dae2", "#2b3441"], group: ["rgba(71,85,120,0.038)", "rgba(148,170,220,0.055)"], groupLine: ["#ccd3de", "#323d4d"], groupText: ["#46536a", "#a5b4c9"], label: ["rgba(246,247,249,0.92)", "rgba(17,21,28,0.9)"], box: ["#ffffff", "#1c232f"], line: ["#bcc5d3", "#414e61"], text: ["#172033", "#e9eef7"], soft: ["#5f6c82", "#98a6bb"], closed: ["#e9eef7", "#232d3d"], closedLine: ["#a9b6cb", "#536480"], pill: ["#e3e8f0", "#263040"], pillLine: ["#c3ccd9", "#45546a"], edge: ["#8e9bb0", "#5f6e86"], hub: ["#c3cbd8", "#39465a"], focus: ["#2563eb", "#6ea8ff"], match: ["#7c3aed", "#b794ff"], chip: ["#eef1f6", "#2a3443"], chipText: ["#4c5a70", "#a9b7cb"], panel: ["#ffffff", "#1a212c"], hover: ["#edf1f7", "#2a3444"] };
  var CHANGES = { removed: { fill: ["#fde7eb", "#3d1925"], line: ["#c2274b", "#ff6f8f"], text: ["#86112f", "#ffc0cd"] }, added: { fill: ["#dcf1f4", "#0d3339"], line: ["#007d8c", "#4dd0e1"], text: ["#004c58", "#b5eef6"] }, changed: { fill: ["#fff2c9", "#3a2c0a"], line: ["#a67200", "#f0b92f"], text: ["#634500", "#ffe3a0"] } };
  var RAMP = [{ fill: ["#f4f6fb", "#171d28"], text: ["#2a3650", "#c3cede"] }, { fill: ["#dfe8f8", "#1e2c47"], text: ["#172033", "#e9eef7"] }, { fill: ["#b9cdf0", "#28416e"], text: ["#172033", "#e9eef7"] }, { fill: ["#86a8e2", "#355a99"], text: ["#10192b", "#ffffff"] }, { fill: ["#3d68b5", "#7ba4e0"], text: ["#ffffff", "#0d1420"] }, { fill: ["#183a78", "#c5dafa"], text: ["#ffffff", "#0d1420"] }];
  var UNKNOWN = { fill: ["#ffffff", "#161b24"], text: ["#5f6c82", "#98a6bb"] };
  var KINDS = { f64: { fill: ["#e3d4f7", "#43295f"], text: ["#2e1650", "#eadcff"] }, f32: { fill: ["#cfe3fb", "#173c66"], text: ["#0d2c50", "#d5e7ff"] }, bf16: { fill: ["#c9ede3", "#0c4a3c"], text: ["#043b2f", "#c8f5e7"] }, f16: { fill: ["#a5dbe0", "#0a545c"], text: ["#00363c", "#c9f4f8"] }, i64: { fill: ["#fbe3a8", "#5a4406"], text: ["#4a3500", "#ffe9b0"] }, quantised: { fill: ["#f9c9a6", "#6b3310"], text: ["#4f2100", "#ffdcc2"] }, bool: { fill: ["#dfe2e7", "#3a424f"], text: ["#222b3a", "#e6ebf3"] }, mixed: { fill: ["#efe6ee", "#3d3341"], text: ["#3a2b3b", "#eee0ef"] } };
  function themeOf(at) {
    const pick = (table) => Object.fromEntries(Object.entries(table).map(([name, colours]) => [name, colours[at]]));
    const changes = Object.entries(CHANGES).map(([status, table]) => [status, pick(table)]);
    const kinds = Object.entries(KINDS).map(([kind, table]) => [kind, pick(table)]);
    const values = { ramp: RAMP.map(pick), unknown: pick(UNKNOWN), kinds: Object.fromEntries(kinds) };
    return { ...pick(COLOURS), ...Object.fromEntries(changes), ...values };
  }
  var THEMES = { light: themeOf(0), dark: themeOf(1) };
  var FLAT_ZOOM = 0.35;
  var FULL_ZOOM = 0.5;
  var LINE_TITLE = 17;
  var CHIP_HEIGHT = 15;
  function paintContent(job, item) {
    const { picture, theme, look } = job;
    const { layout } = picture;
    const content = picture.content(item, look.side);
    const status = content.pseudo ? void 0 : picture.statusOf(item);
    const own = status ? theme[status] : null;
    const tone = look.colours?.tone(item, look.side, theme) ?? own;
    if (job.zoom < FULL_ZOOM) return paintFarTitle(job, item, content, tone);
    const [x, y, width] = [layout.x[item], layout.y[item], layout.width[item]];
    const place = { middle: x + width / 2, y: y + (content.detail ? 15 : 14), room: width - 16 };
    paintTitle(job, content, tone, place);
    if (content.detail) {
      const style = { font: FONTS.detail, colour: tone ? tone.text : theme.soft, align: "center" };
      write(job, shorten(FONTS.detail, content.detail, place.room), place.middle, place.y + LINE_TITLE, style);
    }
    paintChips(job, item, content.lines, y + (content.detail ? 41 : 27));
    if (own && status) {
      paintSign(job, { sign: SIGNS[status], colour: own.line, font: FONTS.sign, radius: 8 }, x + 1, y + 1);
    }
  }
  function paintTitle(job, { title, caption }, own, { middle, y, room }) {
    const colour = own ? own.text : job.theme.text;
    const full = textWidth(FONTS.title, title) + (caption ? textWidth(FONTS.caption, caption) + 7 : 0);
    if (!caption || full > room) {
      return write(job, shorten(FONTS.title, title, room), middle, y, { font: FONTS.title, colour, align: "center" });
    }
    const start = middle - full / 2;
    write(job, title, start, y, { font: FONTS.title, colour });
    const after = start + textWidth(FONTS.title, title) + 7;
    write(job, caption, after, y, { font: FONTS.caption, colour: own ? own.text : job.theme.soft });
  }
  function paintFarTitle(job, item, { title }, own) {
    const { layout } = job.picture;
    const { theme, zoom } = job;
    const [width, height] = [layout.width[item], layout.height[item]];
    const room = width - 8;
    const fitting = Math.min(10 / zoom, 26, 13 * room / textWidth(FONTS.title, title), height - 4);
    const size = Math.max(fitting, Math.min(7 / zoom, height - 4));
    if (size * zoom < 4) return;
    const text = shorten(FONTS.title, title, room, size / 13);
    const colour = !own ? theme.text : zoom < FLAT_ZOOM && own.line ? theme.box : own.text;
    write(job, text, layout.x[item] + width / 2, layout.y[item] + height / 2, { font: sized(FONTS.title, size), colour, align: "center" });
  }
  function paintChips(job, item, lines, top) {
    const { layout } = job.picture;
    lines.forEach((line, number) => {
      const end = line.at(-1);
      const start = layout.x[item] + (layout.width[item] - end.x - end.width) / 2;
      for (const chip of line) paintChip(job, chip, start + chip.x, top + number * CHIP_STEP);
    });
  }
  function paintChip(job, chip, x, y) {
    const { s, picture, theme, look } = job;
    const status = picture.statuses.get(chip.key);
    const mark = look.marks.get(chip.key);
    s.beginPath();
    s.roundRect(x, y, chip.width, CHIP_HEIGHT, 7);
    const line = mark ? mark.fill : status ? theme[status].line : null;
    ink(job, status ? theme[status].fill : theme.chip, line, mark ? 2 : 1);
    const colour = status ? theme[status].text : theme.chipText;
    write(job, chip.text, x + chip.width / 2, y + 8, { font: FONTS.chip, colour, align: "center" });
    if (mark) paintLetter(job, mark, x - 2, y + 8);
  }
  var { BEFORE } = SIDES;
  function badgesOf({ picture, look }, item) {
    const hidden = look.alone ? "" : look.side === BEFORE ? "added" : "removed";
    return ["removed", "added", "changed"].filter((status) => status !== hidden && picture.counts[status][item]).map((status) => ({ status, text: `${SIGNS[status]}${picture.counts[status][item]}` }));
  }
  function badgesWidth(badges) {
    return badges.reduce((sum, badge) => sum + textWidth(FONTS.header, badge.text) + 13, 0);
  }
  function paintBadges(job, badges, left, y) {
    const { s, theme } = job;
    let x = left;
    for (const { status, text } of badges) {
      const width = textWidth(FONTS.header, text) + 9;
      s.beginPath();
      s.roundRect(x, y - 8, width, 16, 5);
      ink(job, theme[status].fill, theme[status].line);
      write(job, text, x + width / 2, y + 0.5, { font: FONTS.header, colour: theme[status].text, align: "center" });
      x += width + 4;
    }
  }
  function paintToggle(job, x, y, closed) {
    const { s, theme } = job;
    s.beginPath();
    s.roundRect(x - 6, y - 6, 12, 12, 3);
    ink(job, theme.box, theme.closedLine);
    s.beginPath();
    s.moveTo(x - 3, y);
    s.lineTo(x + 3, y);
    if (closed) {
      s.moveTo(x, y - 3);
      s.lineTo(x, y + 3);
    }
    s.strokeStyle = theme.soft;
    s.lineWidth = 1.4;
    s.stroke();
  }
  var BARE_ZOOM = 0.2;
  var FULL_ZOOM2 = 0.5;
  function paintClosed(job, item) {
    const badges = badgesOf(job, item);
    if (job.zoom >= FULL_ZOOM2) return paintNear(job, item, badges);
    if (badges.length) paintBand(job, item, badges[0]);
    if (job.zoom >= BARE_ZOOM) paintFarName(job, item);
  }
  function paintNear(job, item, badges) {
    const { picture, theme } = job;
    const { x, y, width } = picture.box(item);
    const { group } = picture.scene.items[item];
    const tone = job.look.colours?.tone(item, job.look.side, theme);
    const colour = tone ? tone.text : theme.text;
    paintToggle(job, x + 15, y + 16, true);
    write(job, shorten(FONTS.header, group.label, width - 38), x + 28, y + 16, { font: FONTS.header, colour });
    const worth = job.look.colours?.text(item, job.look.side);
    const ops = `${count(picture.opsOf(item, job.look.side), "op")}${worth ? `  ·  ${worth}` : ""}`;
    const last = x + width - 4 - badgesWidth(badges);
    const after = x + 36 + textWidth(FONTS.count, ops);
    const fits = !badges.length || after <= last;
    if (fits) write(job, ops, x + 28, y + 34, { font: FONTS.count, colour: tone ? colour : theme.soft });
    paintBadges(job, badges, Math.min(fits ? after : x + 28, last), y + 34);
  }
  function paintBand(job, item, { status }) {
    const { x, y, width, height } = job.picture.box(item);
    job.s.beginPath();
    job.s.rect(x, y, Math.max(width * 0.06, 4 / job.zoom), height);
    ink(job, job.theme[status].line);
  }
  function paintFarName(job, item) {
    const { picture, theme, zoom } = job;
    const { x, y, width, height } = picture.box(item);
    const scale = Math.min(10.5 / zoom, 22) / 12;
    const text = shorten(FONTS.header, picture.scene.items[item].group.label, width - 8, scale);
    write(job, text, x + width / 2, y + height / 2, { font: sized(FONTS.header, 12 * scale), colour: job.look.colours?.tone(item, job.look.side, theme)?.text ?? theme.text, align: "center" });
  }
  var BARE_ZOOM2 = 0.2;
  var LINE_ZOOM = 0.08;
  function paintBoxes(job) {
    const { picture } = job;
    for (const [style, items] of binByStyle(job)) {
      if (typeof style === "string") paintShapes(job, style, items);
      else paintTones(job, style, items);
    }
    for (const item of job.boxes) {
      if (picture.scene.items[item].group) paintClosed(job, item);
      else if (job.zoom >= BARE_ZOOM2) paintContent(job, item);
      paintMark(job, item);
    }
  }
  function binByStyle(job) {
    const bins = /* @__PURE__ */ new Map();
    for (const item of job.boxes) {
      const style = styleOf(job, item);
      if (!bins.has(style)) bins.set(style, []);
      bins.get(style).push(item);
    }
    return bins;
  }
  function styleOf({ picture, look, theme }, item) {
    const tone = look.colours?.tone(item, look.side, theme);
    if (tone) return tone;
    const status = picture.statusOf(item);
    const { group, key } = picture.scene.items[item];
    if (group && !status) return "closed";
    if (!group && picture.scene.model.isPseudo(key)) return "pill";
    return status || "box";
  }
  function paintTones(job, tone, items) {
    const { s, theme, zoom } = job;
    const isUnknown = tone === theme.unknown;
    if (zoom > 0.3) {
      paintStack(job, items.filter((item) => job.picture.scene.items[item].group));
    }
    s.beginPath();
    for (const item of items) traceBox(job, item, 7);
    if (isUnknown) s.setLineDash([4 / Math.min(1, zoom), 3 / Math.min(1, zoom)]);
    ink(job, tone.fill, zoom > LINE_ZOOM ? theme.line : null, Math.min(3, 1 / Math.min(1, zoom)));
    if (isUnknown) s.setLineDash([]);
  }
  function paintShapes(job, style, items) {
    const { s, picture, theme, zoom } = job;
    const plain = { closed: [theme.closed, theme.closedLine], pill: [theme.pill, theme.pillLine], box: [theme.box, theme.line] }[style];
    const [fill2, line] = plain ?? [theme[style].fill, theme[style].line];
    if (style === "closed" && zoom > 0.3) paintStack(job, items);
    s.beginPath();
    for (const item of items) traceBox(job, item, style === "pill" ? Math.min(14, picture.layout.height[item] / 2) : 7);
    if (plain) return ink(job, fill2, zoom > LINE_ZOOM ? line : null, Math.min(3, 1 / Math.min(1, zoom)));
    const far = zoom < FLAT_ZOOM;
    ink(job, far ? line : fill2, line, Math.max(1.6, far ? 2 / zoom : 0));
  }
  function paintStack(job, items) {
    const { s, theme, picture: { layout } } = job;
    s.beginPath();
    for (const item of items) {
      s.roundRect(layout.x[item] + 4, layout.y[item] + 4, layout.width[item] - 1, layout.height[item] - 1, 7);
    }
    ink(job, theme.pill, theme.closedLine);
  }
  var ROW = 400;
  var TALL = 24;
  var RowIndex = class {
    constructor(count2, top, bottom) {
      this.count = count2;
      this.tall = [];
      this.rows = [];
      for (let at = 0; at < count2; at++) {
        const [first, last] = [rowOf(top(at)), rowOf(bottom(at))];
        if (last - first > TALL) this.tall.push(at);
        else for (let row = first; row <= last; row++) (this.rows[row] ??= []).push(at);
      }
      this.seen = new Uint32Array(count2);
      this.turn = 0;
    }
    between(top, bottom) {
      const [first, last] = [rowOf(top), Math.min(rowOf(bottom), this.rows.length - 1)];
      const found = this.tall.slice();
      this.turn++;
      for (let row = first; row <= last; row++) {
        for (const at of this.rows[row] ?? []) {
          if (this.seen[at] === this.turn) continue;
          this.seen[at] = this.turn;
          found.push(at);
        }
      }
      return found.sort((a, b) => a - b);
    }
  };
  function rowOf(y) {
    return Math.max(0, Math.floor(y / ROW));
  }
  function indexOf(layout) {
    let known = indices.get(layout);
    if (!known) {
      const { x1, y1, y2, y, height } = layout;
      known = { segments: new RowIndex(x1.length, (at) => Math.min(y1[at], y2[at]), (at) => Math.max(y1[at], y2[at])), items: new RowIndex(y.length, (at) => y[at], (at) => y[at] + height[at]) };
      indices.set(layout, known);
    }
    return known;
  }
  var indices = /* @__PURE__ */ new WeakMap();
  var { AFTER, BEFORE: BEFORE2 } = SIDES;
  var HUB = 12;
  var BOTH = BEFORE2 | AFTER;
  var STRAIGHT_ZOOM = 0.3;
  var ARROW_ZOOM = 0.5;
  var ARROW = 3.6;
  function paintEdges(job) {
    const { look, zoom, theme } = job;
    const bins = binSegments(job);
    const own = look.side === BEFORE2 ? "removed" : "added";
    const thin = 1.4 / Math.max(0.5, Math.min(1, zoom));
    paintSegments(job, bins.hub, theme.hub, thin);
    paintSegments(job, bins.edge, theme.edge, thin);
    paintSegments(job, bins.own, theme[own].line, thin * 1.3);
    paintSegments(job, bins.hover, theme.focus, thin * 1.3);
    paintSegments(job, bins.near, theme.focus, thin * 1.7);
    job.s.lineWidth = 1;
  }
  function binSegments({ picture, look, view }) {
    const { layout, segmentSides, fanOut } = picture;
    const near = look.selected > 0 ? picture.segmentsOf(look.selected) : /* @__PURE__ */ new Set();
    const hover = look.hovered > 0 ? picture.segmentsOf(look.hovered) : /* @__PURE__ */ new Set();
    const bins = { hub: [], edge: [], own: [], hover: [], near: [] };
    for (const at of indexOf(layout).segments.between(view.top, view.bottom)) {
      if (!(segmentSides[at] & look.side)) continue;
      const [x1, x2] = [layout.x1[at], layout.x2[at]];
      if (layout.y1[at] > view.bottom || layout.y2[at] < view.top) continue;
      if (x1 < view.left && x2 < view.left || x1 > view.right && x2 > view.right) continue;
      const bin = near.has(at) ? "near" : hover.has(at) ? "hover" : segmentSides[at] !== BOTH && picture.before !== null ? "own" : fanOut[layout.owner[at]] > HUB ? "hub" : "edge";
      bins[bin].push(at);
    }
    return bins;
  }
  function paintSegments(job, segments, colour, width) {
    if (!segments.length) return;
    const { s, zoom, picture: { layout } } = job;
    const drawn = /* @__PURE__ */ new Set();
    s.beginPath();
    for (const at of segments) {
      const [x1, y1, x2, y2] = [layout.x1[at], layout.y1[at], layout.x2[at], layout.y2[at]];
      const through = throughSight(job, at);
      if (through !== null) {
        if (drawn.has(through)) continue;
        drawn.add(through);
      }
      s.moveTo(x1, y1);
      const bend = bendOf(y1, y2);
      if (x1 === x2 || zoom < STRAIGHT_ZOOM) s.lineTo(x2, y2);
      else s.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
    }
    s.strokeStyle = colour;
    s.lineWidth = width;
    s.stroke();
    if (zoom >= ARROW_ZOOM) paintArrows(job, segments, colour);
  }
  var bendOf = (y1, y2) => Math.min(60, Math.abs(y2 - y1) * 0.55);
  function throughSight({ zoom, picture: { layout }, view }, at) {
    const [x1, x2] = [layout.x1[at], layout.x2[at]];
    if (Math.min(x1, x2) > view.left || Math.max(x1, x2) < view.right) return null;
    let key = 0;
    for (const x of [view.left, (view.left + view.right) / 2, view.right]) {
      const y = (heightAt(layout, at, x, zoom < STRAIGHT_ZOOM) - view.top) * zoom;
      key = key * 2 ** 16 + 2 ** 15 + Math.round(Math.max(-1e4, Math.min(1e4, 2 * y)));
    }
    return key;
  }
  function heightAt(layout, at, x, straight) {
    const [y1, y2] = [layout.y1[at], layout.y2[at]];
    const share = (x - layout.x1[at]) / (layout.x2[at] - layout.x1[at]);
    if (straight) return y1 + share * (y2 - y1);
    const t = 0.5 - Math.sin(Math.asin(1 - 2 * share) / 3);
    const [u, bend] = [1 - t, bendOf(y1, y2)];
    return u ** 3 * y1 + 3 * u * u * t * (y1 + bend) + 3 * u * t * t * (y2 - bend) + t ** 3 * y2;
  }
  function paintArrows(job, segments, colour) {
    const { s, picture, view } = job;
    const { arrows, layout } = picture;
    s.beginPath();
    for (const at of segments) {
      if (!arrows[at]) continue;
      const [x, y] = [layout.x2[at], layout.y2[at]];
      if (x < view.left - ARROW || x > view.right + ARROW) continue;
      s.moveTo(x, y);
      s.lineTo(x - ARROW, y - 6.5);
      s.lineTo(x + ARROW, y - 6.5);
    }
    ink(job, colour);
  }
  var INSET = 6;
  var GAP = 6;
  function paintAreas(job) {
    const { s, theme, zoom } = job;
    for (const item of job.groups) {
      const status = job.picture.statusOf(item);
      s.beginPath();
      traceBox(job, item, 10);
      ink(job, theme.group, status ? theme[status].line : theme.groupLine, (status ? 2 : 1) / Math.min(1, zoom));
    }
    if (zoom < 0.2 || !job.ghosts.length) return;
    s.beginPath();
    for (const item of job.ghosts) traceBox(job, item, 7);
    s.strokeStyle = theme.groupLine;
    s.lineWidth = 1;
    s.setLineDash([4, 4]);
    s.stroke();
    s.setLineDash([]);
  }
  function paintHeaders(job) {
    const scale = headerScale(job.zoom);
    const headers = placeHeaders(job, scale);
    const taken = [];
    const { picture } = job;
    for (const header of headers) {
      if (!header.label || taken.some((other) => overlaps(other, header))) continue;
      taken.push(header);
    }
    for (const header of taken) {
      const next = taken.find((other) => picture.scene.items[other.item].parent === header.item && other.y === header.y);
      paintHeader(job, header, { scale, end: next?.x });
    }
    return headers;
  }
  function placeHeaders(job, scale) {
    const headers = [];
    for (const item of job.groups) {
      const header = placeHeader(job, item, headers, scale);
      if (header) headers.push(header);
    }
    return headers;
  }
  function headerScale(zoom) {
    const far = Math.min(1, Math.max(0, (0.6 - zoom) / 0.2));
    return 1 + far * (Math.max(1, Math.min(5, 0.8 / zoom)) - 1);
  }
  function placeHeader(job, item, headers, scale) {
    const { picture, look, view, zoom } = job;
    const { group, parent } = picture.scene.items[item];
    const box = picture.box(item);
    if (box.width * zoom < 34 || box.height * zoom < 16) return null;
    const height = HEADER2 * scale;
    const above = headers.find((header) => header.item === parent);
    const top = view.top + look.headerTop / zoom;
    const status = picture.statusOf(item);
    const label = shorten(FONTS.header, (status ? `${SIGNS[status]} ` : "") + group.label, box.width - 34 * scale, scale);
    const width = textWidth(FONTS.header, label) * scale + 26 * scale;
    const x = Math.max(box.x + INSET, Math.min(view.left + INSET / zoom, box.x + box.width - width - INSET));
    const after = above ? Math.max(x, above.x + above.width + GAP * scale) : x;
    const right = Math.min(view.right, box.x + box.width - INSET);
    if (above && above.y === top && box.y <= top && after + width <= right) {
      return { item, label, x: after, y: Math.min(top, box.y + box.height - height - INSET), width, height };
    }
    const least = above ? above.y + height : top;
    const y = Math.max(box.y, Math.min(least, box.y + box.height - height - INSET));
    return { item, label, x, y, width, height };
  }
  function overlaps(a, b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height * 0.8 && b.y < a.y + a.height * 0.8;
  }
  function paintHeader(job, { item, label, x, y, width }, { scale, end = Infinity }) {
    const { s, theme, picture } = job;
    const status = picture.statusOf(item);
    s.save();
    s.translate(x, y + 3 * scale);
    s.scale(scale, scale);
    s.beginPath();
    s.roundRect(0, 2, width / scale, 19, 5);
    ink(job, status ? theme[status].fill : theme.label);
    paintToggle(job, 10, 11.5, false);
    write(job, label, 21, 12, { font: FONTS.header, colour: status ? theme[status].text : theme.groupText });
    const box = picture.box(item);
    const room = (Math.min(end, box.x + box.width) - x - width) / scale - INSET;
    const badges = badgesOf(job, item);
    if (badgesWidth(badges) <= room && scale < 1.5) paintBadges(job, badges, width / scale + 6, 12);
    s.restore();
  }
  function paintPane(surface, picture, look) {
    const { camera, width, height } = look;
    const { zoom } = camera;
    const view = { left: camera.x - width / 2 / zoom, top: camera.y - height / 2 / zoom, right: camera.x + width / 2 / zoom, bottom: camera.y + height / 2 / zoom };
    const job = { s: surface, picture, look, view, zoom, theme: THEMES[look.theme], ...itemsInSight(picture, look, view) };
    surface.save();
    surface.translate(width / 2, height / 2);
    surface.scale(zoom, zoom);
    surface.translate(-camera.x, -camera.y);
    paintAreas(job);
    paintEdges(job);
    paintBoxes(job);
    const headers = paintHeaders(job);
    paintFrames(job);
    surface.restore();
    return headers;
  }
  function itemsInSight(picture, look, view) {
    const { layout, scene, sides } = picture;
    const [groups, boxes, ghosts] = [[], [], []];
    for (const item of indexOf(layout).items.between(view.top, view.bottom)) {
      if (!item) continue;
      const [x, y] = [layout.x[item], layout.y[item]];
      if (x > view.right || y > view.bottom || x + layout.width[item] < view.left || y + layout.height[item] < view.top) {
        continue;
      }
      if (!(sides[item] & look.side)) {
        if (sides[item] && sides[scene.items[item].parent] & look.side && !picture.replaced) ghosts.push(item);
      } else (scene.items[item].open ? groups : boxes).push(item);
    }
    return { groups, boxes, ghosts };
  }
  function paintFrames(job) {
    const { look, theme, zoom } = job;
    for (const item of look.matches) paintFrame(job, item, { colour: theme.match, width: 2, gap: 3 / Math.min(1, zoom) });
    paintFrame(job, look.hovered, { colour: theme.focus, width: 1, gap: 2 });
    paintFrame(job, look.selected, { colour: theme.focus, width: 2.5, gap: 4 });
  }
  function paintFrame({ s, picture, zoom }, item, { colour, width, gap }) {
    if (item <= 0 || !picture.sides[item]) return;
    const box = picture.box(item, gap);
    s.beginPath();
    s.roundRect(box.x, box.y, box.width, box.height, 9);
    s.strokeStyle = colour;
    s.lineWidth = width / Math.min(1, zoom);
    s.stroke();
  }
  var { AFTER: AFTER2, BEFORE: BEFORE3 } = SIDES;
  var PANE_HEAD = 40;
  var PANE_FOOT = 88;
  var TITLE = PANE_HEAD - 8;
  var Panes = class {
    constructor(view) {
      this.view = view;
      this.headers = {};
    }
    sides() {
      const steps = this.view.picture ? this.view.picture.steps : this.view.steps;
      if (!steps || steps.before === null) return [AFTER2];
      return { split: [BEFORE3, AFTER2], before: [BEFORE3], after: [AFTER2] }[this.view.options.panes];
    }
    width() {
      return (this.view.stage.width - this.view.overview.strip()) / this.sides().length;
    }
    room() {
      return { width: this.width() - 40, height: this.view.stage.height - PANE_HEAD - PANE_FOOT };
    }
    isInSight(item) {
      const { camera, picture } = this.view;
      const { width, height } = this.room();
      const box = picture.box(item);
      const across = Math.abs(box.x + box.width / 2 - camera.x) * camera.zoom <= width / 2;
      const along = Math.abs(box.y + box.height / 2 - camera.y) * camera.zoom <= height / 2;
      return across && along && this.sides().some((side) => picture.sides[item] & side);
    }
    locate(event) {
      const { camera, stage: { canvas, height } } = this.view;
      const bounds = canvas.getBoundingClientRect();
      const sides = this.sides();
      const width = this.width();
      const x = event.clientX - bounds.left;
      const pane = Math.min(sides.length - 1, Math.max(0, Math.floor(x / width)));
      const offset = { x: x - (pane + 0.5) * width, y: event.clientY - bounds.top - height / 2 };
      const isBeside = x > width * sides.length;
      return { side: sides[pane], offset, x: isBeside ? Infinity : camera.x + offset.x / camera.zoom, y: camera.y + offset.y / camera.zoom };
    }
    paint(surface, live) {
      const { view } = this;
      const colours = THEMES[view.theme];
      fillRect(surface, { x: 0, width: view.stage.width, height: view.stage.height }, colours.page);
      if (!view.picture) return;
      const sides = this.sides();
      const width = this.width();
      this.headers = {};
      sides.forEach((side, at) => {
        surface.save();
        surface.translate(at * width, 0);
        surface.beginPath();
        surface.rect(0, 0, width, view.stage.height);
        surface.clip();
        this.headers[side] = paintPane(surface, view.picture, this._look(side, live));
        this._paintTitle(surface, side, colours);
        surface.restore();
      });
      if (sides.length === 2) fillRect(surface, { x: width - 0.5, width: 1, height: view.stage.height }, colours.divider);
      if (live) view.overview.paint(surface, colours);
    }
    _look(side, live) {
      const { view } = this;
      return { side, alone: this.sides().length === 1, width: this.width(), height: view.stage.height, theme: view.theme, camera: view.camera, selected: view.selection.item, hovered: live ? view.hovered : -1, marks: view.placedMarks.ofKey, groupMarks: view.placedMarks.ofItem, matches: view.found.items, colours: view.colours, headerTop: PANE_HEAD };
    }
    _paintTitle(surface, side, colours) {
      const { picture } = this.view;
      const width = this.width();
      fillRect(surface, { x: 0, width, height: TITLE }, colours.page);
      const { word, label, nodes, changes } = titleOf(picture, side);
      const write2 = (text, x2, font, colour) => {
        surface.font = font;
        surface.fillStyle = colour;
        surface.textAlign = "left";
        surface.textBaseline = "middle";
        surface.fillText(text, x2, TITLE / 2);
        return x2 + textWidth(font, text);
      };
      const { header, count: count2 } = FONTS;
      let x = write2(word, 14, count2, colours.soft) + 8;
      const room = width - x - 90 - changes.length * 50;
      x = write2(shorten(header, label, room), x, header, colours.text) + 12;
      for (const { status, text } of changes) x = write2(text, x, header, colours[status].line) + 8;
      write2(`${nodes} nodes`, x, count2, colours.soft);
    }
  };
  function titleOf(picture, side) {
    const { counts, scene: { model }, steps } = picture;
    const alone = steps.before === null;
    const step = model.steps[side === BEFORE3 ? steps.before : steps.after];
    const statuses = alone ? [] : [side === BEFORE3 ? "removed" : "added", "changed"].filter((status) => counts[status][0]);
    return { word: step.label ? "" : alone ? "graph" : side === BEFORE3 ? "before" : "after", label: `${step.label ?? step.index}  ${step.name}${step.method === "forward" ? "" : `  ·  ${step.method}`}`, nodes: model.snapshot(picture.snapshotOf(side)).nodeCount(model), changes: statuses.map((status) => ({ status, text: `${SIGNS[status]}${counts[status][0]}` })) };
  }
  function fillRect(surface, { x, width, height }, colour) {
    surface.beginPath();
    surface.rect(x, 0, width, height);
    surface.fillStyle = colour;
    surface.fill();
  }
  function commonShift(moves, middle, room) {
    if (!moves.length) return null;
    const seen = moves.filter(({ from: from2 }) => isSeen(from2, middle, room));
    const counted = seen.length ? seen : [nearest(moves, (one) => one.from, middle)];
    return { x: median(counted.map(({ from: from2, to }) => to.x - from2.x)), y: median(counted.map(({ from: from2, to }) => to.y - from2.y)) };
  }
  function withBoxInSight(places, middle, room) {
    if (!places.length || places.some((place) => isSeen(place, middle, room))) return middle;
    return nearest(places, (one) => one, middle);
  }
  function isSeen(place, middle, room) {
    return Math.abs(place.x - middle.x) < room.width / 2 && Math.abs(place.y - middle.y) < room.height / 2;
  }
  function nearest(all, placeOf2, middle) {
    const distance = (one) => Math.hypot(placeOf2(one).x - middle.x, placeOf2(one).y - middle.y);
    return all.reduce((best, one) => distance(one) < distance(best) ? one : best);
  }
  function median(numbers) {
    const sorted = numbers.toSorted((one, other) => one - other);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
  var [LEAST_ZOOM, MOST_ZOOM] = [4e-3, 4];
  var TOP_ZOOM = 0.6;
  var CHANGE_ZOOM = 0.85;
  var CROWD_MARGIN = 60;
  var GLIDE_MS = 180;
  var EDGE = 12;
  var Camera = class {
    constructor(view) {
      this.view = view;
      this.x = 0;
      this.y = 0;
      this.zoom = 1;
      this.gliding = 0;
      this.unseen = true;
    }
    place() {
      const { x, y, zoom } = this.gliding ? this.target : this;
      return { x, y, zoom };
    }
    jump(place) {
      this.stop();
      Object.assign(this, place);
      this.view.stage.redraw();
    }
    pan(dx, dy) {
      this.x += dx;
      this.y += dy;
      this._keepInSight();
      this.view.stage.redraw();
    }
    zoomBy(factor, at) {
      this.stop();
      const zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.zoom * factor));
      this.x += at.x / this.zoom - at.x / zoom;
      this.y += at.y / this.zoom - at.y / zoom;
      this.zoom = zoom;
      this._keepInSight();
      this.view.stage.redraw();
    }
    _keepInSight() {
      if (!this.view.picture) return;
      const whole = this.view.picture.whole;
      this.x = Math.min(whole.width, Math.max(0, this.x));
      this.y = Math.min(whole.height, Math.max(0, this.y));
    }
    frame(box, { least = LEAST_ZOOM, most = 1.15, jump = false } = {}) {
      const { width, height } = this.view.panes.room();
      const room = { width: Math.max(60, width), height: Math.max(60, height) };
      const zoom = Math.min(most, Math.max(least, Math.min(room.width / box.width, room.height / box.height)));
      const y = box.height * zoom > room.height ? box.y + room.height / 2 / zoom : Math.max(box.y + box.height / 2, Math.min(room.height / 2 / zoom, this.view.picture.whole.height / 2));
      this._glide({ x: box.x + box.width / 2, y: y + (PANE_FOOT - PANE_HEAD) / 4 / zoom, zoom }, jump);
    }
    centre(item) {
      const box = this.view.picture.box(item);
      const zoom = Math.max(this.zoom, 0.7);
      if (this.view.picture.scene.items[item].open) this.frame(this.view.picture.box(item, 20), { least: 0.3 });
      else this._glide({ x: box.x + box.width / 2, y: this._withoutGap(box.y + box.height / 2, zoom), zoom });
    }
    _withoutGap(y, zoom) {
      const least = (this.view.stage.height / 2 - PANE_HEAD - 12) / zoom;
      const most = this.view.picture.whole.height - (this.view.stage.height / 2 - PANE_FOOT) / zoom;
      return least < most ? Math.min(most, Math.max(least, y)) : y;
    }
    _glide(target, jump) {
      if (jump || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.jump(target);
      this.stop();
      const from2 = this.place();
      const start = performance.now();
      const move = (now) => {
        const part = Math.min(1, Math.max(0, (now - start) / GLIDE_MS));
        const eased = 1 - (1 - part) ** 3;
        this.zoom = from2.zoom * (target.zoom / from2.zoom) ** eased;
        this.x = from2.x + (target.x - from2.x) * eased;
        this.y = from2.y + (target.y - from2.y) * eased;
        this.view.stage.draw();
        this.gliding = part < 1 ? requestAnimationFrame(move) : 0;
      };
      this.target = target;
      this.gliding = requestAnimationFrame(move);
    }
    stop() {
      cancelAnimationFrame(this.gliding);
      this.gliding = 0;
    }
    fits(box, zoom) {
      const { width, height } = this.view.panes.room();
      return box.width * zoom <= width && box.height * zoom <= height;
    }
    lookFirst() {
      const { view } = this;
      if (!this.unseen || !view.stage.width || !view.picture) return;
      this.unseen = false;
      const changes = this._changes();
      const whole = view.picture.whole;
      if (this.fits(whole, view.picture.replaced ? 0.35 : 0.6)) this.frame(whole, { jump: true });
      else if (changes && this.fits(changes.all, 0.4)) this.frame(changes.all, { most: 1, jump: true });
      else if (changes) this.frame(changes.first, { most: CHANGE_ZOOM, jump: true });
      else this.frame(this._top(whole), { least: TOP_ZOOM, most: 1, jump: true });
    }
    findChanges() {
      const changes = this._changes();
      if (changes && !this.view.picture.changedItems().some((item) => this._sees(this.view.picture.box(item)))) {
        this.frame(changes.first, { most: CHANGE_ZOOM, jump: true });
      }
    }
    keepSelected(room) {
      const { picture, selection } = this.view;
      if (this.gliding || !picture || selection.item <= 0 || picture.scene.items[selection.item].open) return;
      const box = picture.box(selection.item);
      if (!this._sees(box, room)) return;
      const reach = (size, shown, edge) => Math.max(0, (shown / 2 - edge) / this.zoom - size / 2);
      const { panes, stage } = this.view;
      this.x = nearest2(this.x, box.x + box.width / 2, reach(box.width, panes.width(), EDGE));
      this.y = nearest2(this.y, box.y + box.height / 2, reach(box.height, stage.height, PANE_HEAD));
    }
    _sees(box, { width, height } = { width: this.view.panes.width(), height: this.view.stage.height }) {
      const across = Math.abs(box.x + box.width / 2 - this.x) * this.zoom;
      const down = Math.abs(box.y + box.height / 2 - this.y) * this.zoom;
      return across < width / 2 && down < height / 2;
    }
    _top(whole) {
      const { picture } = this.view;
      const { layout } = picture;
      const width = this.view.panes.room().width / TOP_ZOOM;
      const middle = (item) => layout.x[item] + layout.width[item] / 2;
      const off = (item) => Math.abs(middle(item) - whole.width / 2);
      const [first] = picture.closedItems().sort((one, other) => layout.y[one] - layout.y[other] || off(one) - off(other));
      if (whole.width <= width || first === void 0) return whole;
      return { ...whole, x: middle(first) - width / 2, width };
    }
    frameChanges() {
      const changes = this._changes();
      if (changes) this.frame(changes.all);
    }
    _changes() {
      const items = this.view.picture.changedItems();
      if (!items.length) return null;
      const boxes = items.map((item) => this.view.picture.box(item, 24));
      const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
      const right = Math.max(...boxes.map((box) => box.x + box.width));
      const bottom = Math.max(...boxes.map((box) => box.y + box.height));
      const room = this.view.panes.room();
      const [wide, high] = [room.width / CHANGE_ZOOM, room.height / CHANGE_ZOOM];
      const crowd = firstCrowd(boxes, wide - CROWD_MARGIN, high - CROWD_MARGIN);
      const beside = Math.min(160, Math.max(0, (wide - crowd.width) / 2));
      const around = Math.min(360, Math.max(0, high - crowd.height));
      return { all: { x, y, width: right - x, height: bottom - y }, first: { x: crowd.x - beside, y: crowd.y - around / 3, width: crowd.width + 2 * beside, height: crowd.height + around } };
    }
    holdStill(old, next, held) {
      const { panes, stage } = this.view;
      const room = { width: panes.width() / this.zoom, height: stage.height / this.zoom };
      const kept = held === void 0 ? [] : movesBetween(old, next, [held]);
      const moves = kept.length ? kept : movesBetween(old, next, old.closedItems());
      const drawn = moves.filter((one) => one.drawn);
      const shift = commonShift(drawn.length ? drawn : moves, this, room);
      const middle = { x: this.x + (shift?.x ?? 0), y: this.y + (shift?.y ?? 0) };
      const boxes = kept.length ? [] : next.closedItems().filter((item) => next.sides[item]);
      this.stop();
      Object.assign(this, withBoxInSight(boxes.map((item) => placeOf(next, item)), middle, room));
    }
  };
  function placeOf({ layout }, item) {
    return { x: layout.x[item] + layout.width[item] / 2, y: layout.y[item] };
  }
  function movesBetween(old, next, items) {
    return items.flatMap((item) => {
      const { key, group } = old.scene.items[item];
      const other = group ? next.scene.itemOfGroup.get(group.id) : next.scene.itemOfKey[key];
      if (other === void 0) return [];
      const drawn = !!(old.sides[item] && next.sides[other]) && !next.scene.items[other].open;
      return [{ from: placeOf(old, item), to: placeOf(next, other), drawn }];
    });
  }
  function nearest2(here, middle, reach) {
    return Math.min(middle + reach, Math.max(middle - reach, here));
  }
  var SHARES = [0.03, 0.1, 0.25, 0.5];
  var MIXED = "mixed";
  var Colours = class {
    constructor(colouring, picture) {
      this.colouring = colouring;
      this.picture = picture;
      this.values = [];
      for (const side of [SIDES.BEFORE, SIDES.AFTER]) this.values[side] = valuesOf(colouring, picture, side);
      const all = [SIDES.BEFORE, SIDES.AFTER].flatMap((side) => [...this.values[side].values()]);
      this.most = Math.max(0, ...all.map(({ amount }) => Number.isFinite(amount) ? amount : 0));
      this.keys = [...new Set(all.map(({ key }) => key))].sort();
      this.isPartial = picture.closedItems().some((item) => isMissing(this, picture, item));
    }
    of(item, side) {
      return this.values[side].get(item);
    }
    text(item, side) {
      const value = this.of(item, side);
      if (!value) return "";
      return this.colouring.rule === "same" ? value.text : this.colouring.text(value.amount);
    }
    tone(item, side, theme) {
      const value = this.of(item, side);
      if (!value) return isEnd(this.picture, item) ? void 0 : theme.unknown;
      return this.colouring.rule === "same" ? keyTone(theme, value.key) : theme.ramp[this.level(value.amount)];
    }
    level(amount) {
      if (!(amount > 0)) return Number.isNaN(amount) ? SHARES.length + 1 : 0;
      return 1 + SHARES.filter((share) => amount >= share * this.most).length;
    }
    entries(theme) {
      const { rule, text } = this.colouring;
      if (rule === "same") return this.keys.map((key) => ({ tone: keyTone(theme, key), label: key }));
      if (!this.values.some((side) => side.size)) return [];
      const starts = [0, ...SHARES].map((share) => share * this.most);
      const ranges = starts.map((start, at) => {
        const end = starts[at + 1];
        return at === 0 ? `to ${text(end)}` : end === void 0 ? `${text(start)} to ${text(this.most)}` : text(start);
      });
      const labels = this.most > 0 ? [text(0), ...ranges.slice(0, 1), ...ranges.slice(1).map(from)] : [text(0)];
      return labels.map((label, level) => ({ tone: theme.ramp[level], label }));
    }
  };
  function from(text, at, all) {
    return at === all.length - 1 ? text : `from ${text}`;
  }
  function isEnd(picture, item) {
    const { group, key } = picture.scene.items[item];
    return !group && picture.scene.model.isPseudo(key);
  }
  function isMissing(colours, picture, item) {
    if (isEnd(picture, item)) return false;
    return [SIDES.BEFORE, SIDES.AFTER].some((side) => picture.sides[item] & side && !colours.of(item, side));
  }
  function keyTone(theme, key) {
    return theme.kinds[key] ?? theme.kinds[family(key)] ?? theme.kinds[MIXED];
  }
  function family(key) {
    if (/^q|^u?int\d+x|^bits/.test(key)) return "quantised";
    if (/^(i|u)\d+|^u?int/.test(key)) return "i64";
    if (/^f8|^float8/.test(key)) return "f16";
    return MIXED;
  }
  function valuesOf({ parts, rule }, picture, side) {
    const index = picture.snapshotOf(side);
    const given = side === SIDES.BEFORE ? parts.before : parts.after;
    const found = /* @__PURE__ */ new Map();
    if (index === null || !given) return /* @__PURE__ */ new Map();
    const { model, outline, ownerOfKey } = picture.scene;
    for (const key of model.snapshot(index).order) {
      const own = given.get(model.ids[key]);
      const item = ownerOfKey[key];
      if (!own || item === void 0 || item <= 0) continue;
      if (rule === "same" && outline.hidden[key]) continue;
      const held = found.get(item) ?? /* @__PURE__ */ new Map();
      if (!found.has(item)) found.set(item, held);
      for (const [name, amount] of own) held.set(name, amount);
    }
    return new Map([...found].map(([item, held]) => [item, together(held, rule)]));
  }
  function together(held, rule) {
    const amounts = [...held.values()];
    const names = [...held.keys()].sort();
    const amount = rule === "sum" ? amounts.reduce((sum, one) => sum + one, 0) : Math.max(0, ...amounts);
    const key = names.length === 1 ? names[0] : MIXED;
    return { amount, key, text: names.length === 1 ? key : `${MIXED}: ${names.join(", ")}` };
  }
  function nodeIn(model, [before, after], id) {
    const key = model.keyOfId.get(id);
    if (key === void 0) return null;
    const read = (index) => {
      const row = index === null ? -1 : model.snapshot(index).rowOf[key];
      return row < 0 ? null : model.node(row);
    };
    const [old, now] = [read(before), read(after)];
    if (!old && !now) return null;
    return { id, status: model.diff(before, after).get(key) || null, before: old, after: now };
  }
  var { BEFORE: BEFORE4 } = SIDES;
  var Picture = class {
    constructor({ scene, layout }, steps, [before, after]) {
      this.scene = scene;
      this.layout = layout;
      this.steps = steps;
      this.before = before;
      this.after = after;
      this.statuses = scene.model.diff(before, after);
      this.replaced = scene.model.replaced(before, after);
      const { sides, ops, counts } = scene.tally(before, after, this.statuses);
      this.sides = sides;
      this.ops = ops;
      this.counts = counts;
      this.segmentSides = this._segmentSides(scene.edgeSides(before, after));
      this.fanOut = scene.fanOut;
      this._arrows = null;
      this.contents = [/* @__PURE__ */ new Map(), /* @__PURE__ */ new Map(), /* @__PURE__ */ new Map()];
    }
    _segmentSides(edges) {
      const { last, previous: before } = this.layout;
      const sides = new Uint8Array(this.layout.x1.length);
      for (let edge = 0; edge < last.length; edge++) if (last[edge] >= 0) sides[last[edge]] |= edges[edge];
      for (let segment = sides.length - 1; segment >= 0; segment--) {
        const previous = before[segment];
        if (previous >= 0) sides[previous] |= sides[segment];
      }
      return sides;
    }
    get arrows() {
      if (this._arrows) return this._arrows;
      const { last } = this.layout;
      const { edges, items } = this.scene;
      const arrows = new Uint8Array(this.layout.x1.length);
      for (let edge = 0; edge < last.length; edge++) {
        if (last[edge] >= 0 && !items[edges[edge][1]].open) arrows[last[edge]] = 1;
      }
      this._arrows = arrows;
      return arrows;
    }
    snapshotOf(side) {
      return side === BEFORE4 ? this.before : this.after;
    }
    namesOn(side) {
      return this.scene.model.namesOf(side === BEFORE4 ? this.steps.before : this.steps.after);
    }
    opsOf(item, side) {
      return this.ops[side][item];
    }
    statusOf(item) {
      const { key } = this.scene.items[item];
      return key < 0 ? void 0 : this.statuses.get(key);
    }
    content(item, side) {
      const cache = this.contents[side];
      if (!cache.has(item)) {
        const { key, caption } = this.scene.items[item];
        const snapshot = this.scene.model.snapshot(this.snapshotOf(side));
        const content = contentOf(this.scene.outline, snapshot.rowOf[key], caption, this.namesOn(side));
        const chips = content.chips.filter((chip) => snapshot.producer[chip.value] === chip.key);
        cache.set(item, { ...content, lines: chipLines(chips, this.layout.width[item] - 16) });
      }
      return cache.get(item);
    }
    shownAs(id) {
      const { model, outline } = this.scene;
      const key = model.keyOfId.get(id);
      if (key === void 0 || !outline.hidden[key]) return id;
      const readers = [this.after, this.before].filter((index) => index !== null).map((index) => this._boxReading(model.snapshot(index), key));
      return model.ids[readers.find((one) => one !== void 0) ?? -1] ?? id;
    }
    _boxReading(snapshot, key) {
      const { model, outline: { hidden, union } } = this.scene;
      for (const reader of union.readers[key]) {
        const row = snapshot.rowOf[reader];
        if (row < 0 || !model.inputs(row).some((value) => snapshot.producer[value] === key)) {
          continue;
        }
        const box = hidden[reader] ? this._boxReading(snapshot, reader) : reader;
        if (box !== void 0) return box;
      }
      return void 0;
    }
    box(item, margin = 0) {
      const { x, y, width, height } = this.layout;
      return { x: x[item] - margin, y: y[item] - margin, width: width[item] + 2 * margin, height: height[item] + 2 * margin };
    }
    get whole() {
      return { x: 0, y: 0, width: this.layout.width[0], height: this.layout.height[0] };
    }
    closedItems() {
      const { items } = this.scene;
      return [...items.keys()].filter((item) => item && !items[item].open);
    }
    changedItems() {
      const { counts, layout } = this;
      return this.closedItems().filter((item) => counts.added[item] || counts.removed[item] || counts.changed[item]).sort((a, b) => layout.y[a] - layout.y[b] || layout.x[a] - layout.x[b]);
    }
    segmentsOf(item) {
      const found = /* @__PURE__ */ new Set();
      this.scene.edges.forEach(([from2, to], edge) => {
        if (from2 !== item && to !== item) return;
        for (let at = this.layout.last[edge]; at >= 0 && !found.has(at); at = this.layout.previous[at]) found.add(at);
      });
      return found;
    }
    itemAt({ x, y, side }) {
      const { layout, scene } = this;
      for (let item = scene.items.length - 1; item > 0; item--) {
        if (!(this.sides[item] & side)) continue;
        const [left, top] = [layout.x[item], layout.y[item]];
        if (x >= left && y >= top && x <= left + layout.width[item] && y <= top + layout.height[item]) return item;
      }
      return -1;
    }
  };
  function element(name, className, parent) {
    const made = document.createElement(name);
    made.className = className;
    parent.append(made);
    return made;
  }
  var SMALL_GROUP = 14;
  var CHANGES_BUDGET = 900;
  var ENOUGH_LEVELS = 8;
  var CALM_BUDGET = 140;
  var Opener = class {
    constructor(outline, expanded) {
      this.outline = outline;
      this.expanded = expanded;
      this.boxes = 0;
      const count2 = (group) => {
        this.boxes += group.children.length;
        for (const child of group.children) if (child.children && expanded.has(child.id)) count2(child);
      };
      count2(outline.root);
    }
    _open(group) {
      if (this.expanded.has(group.id)) return;
      this.expanded.add(group.id);
      this.boxes += group.children.length;
    }
    openFor(keys, budget) {
      for (const key of keys) {
        const chain = this.outline.ancestors(key).filter((group) => !this.expanded.has(group.id));
        if (chain.some((group) => group.isRest)) continue;
        const cost = chain.reduce((sum, group) => sum + group.children.length, 0);
        if (this.boxes + cost > budget) continue;
        chain.forEach((group) => this._open(group));
      }
    }
    openLevels(enough) {
      const shut = (group) => group.children.flatMap((child) => !child.children || child.isRest || child.repeat ? [] : this.expanded.has(child.id) ? shut(child) : [child]);
      while (this.boxes < enough) {
        const level = shut(this.outline.root);
        if (!level.length) return;
        level.forEach((group) => this._open(group));
      }
    }
    openSmall(budget) {
      let level = [this.outline.root];
      while (level.length) {
        const next = [];
        for (const group of level) {
          for (const child of group.children) {
            if (!child.children || child.isRest || child.repeat) continue;
            const small = child.block || child.ops <= SMALL_GROUP || child.children.length <= SMALL_GROUP;
            if (!this.expanded.has(child.id) && small && this.boxes + child.children.length <= budget) this._open(child);
            if (this.expanded.has(child.id)) next.push(child);
          }
        }
        level = next;
      }
    }
  };
  function openAtFirst(outline, expanded, sides) {
    const [before, after] = sides;
    const { model, snapshots } = outline;
    const opener = new Opener(outline, expanded);
    if (model.replaced(before, after)) return opener.openLevels(ENOUGH_LEVELS);
    opener.openFor(model.diff(before, after).keys(), CHANGES_BUDGET);
    for (let at = 1; at < snapshots.length; at++) {
      opener.openFor(model.diff(snapshots[at - 1], snapshots[at]).keys(), CHANGES_BUDGET);
    }
    opener.openSmall(CALM_BUDGET);
  }
  function openChanges(outline, expanded, sides) {
    const [before, after] = sides;
    new Opener(outline, expanded).openFor(outline.model.diff(before, after).keys(), Infinity);
  }
  var Groups = class {
    constructor(view) {
      this.view = view;
      this.open = /* @__PURE__ */ new Set();
      this.seen = /* @__PURE__ */ new Set();
    }
    forget() {
      this.open = /* @__PURE__ */ new Set();
      this.seen = /* @__PURE__ */ new Set();
    }
    openAtFirst() {
      const outline = this.view.outline();
      if (this.seen.has(outline)) return;
      this.seen.add(outline);
      openAtFirst(outline, this.open, this.view.snapshots());
    }
    restore(ids) {
      this.open = new Set(ids);
      this.seen.add(this.view.outline());
    }
    ids() {
      return [...this.open].sort();
    }
    async _change(change, anchor) {
      change(this.open);
      await this.view.rebuild(anchor);
      this.view.stage.draw();
      this.view.emit("expand", { expanded: this.ids() });
    }
    expand(id) {
      return this._change((open) => open.add(id), id);
    }
    collapse(id) {
      return this._change((open) => open.delete(id), id);
    }
    toggle(id) {
      return this.open.has(id) ? this.collapse(id) : this.expand(id);
    }
    expandAll() {
      return this._change((open) => this.view.outline().groups.forEach((group, id) => id && open.add(id)));
    }
    collapseAll() {
      return this._change((open) => open.clear());
    }
    expandTo(id) {
      const way = this.view.outline().wayTo(id);
      if (way.every((group) => this.open.has(group))) return Promise.resolve();
      return this._change((open) => way.forEach((group) => open.add(group)));
    }
    reveal() {
      return this._change((open) => openChanges(this.view.outline(), open, this.view.snapshots()));
    }
  };
  var Keyboard = class {
    constructor(view) {
      this.view = view;
      this.acts = { ArrowDown: () => this._step(1), ArrowUp: () => this._step(-1), ArrowLeft: () => this._sideways(-1), ArrowRight: () => this._sideways(1), Enter: () => this._toggleSelected(), "+": () => view.zoomBy(1.4), "=": () => view.zoomBy(1.4), "-": () => view.zoomBy(1 / 1.4), 0: () => view.fit(), n: () => view.nextChange(1), p: () => view.nextChange(-1), Escape: () => view.selection.choose(-1) };
      view.root.addEventListener("keydown", (event) => this._onKey(event));
    }
    _onKey(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target !== this.view.root || !this.view.picture) return;
      const act = this.acts[event.key];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    }
    _choose(items, { x, y }) {
      const { picture, selection } = this.view;
      let [nearest3, least] = [-1, Infinity];
      for (const item of items) {
        const box = picture.box(item);
        const distance = Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
        if (distance < least) [nearest3, least] = [item, distance];
      }
      if (nearest3 > 0) selection.choose(nearest3, true);
    }
    _start() {
      const { camera, picture } = this.view;
      this._choose(picture.closedItems().filter((item) => picture.sides[item]), camera);
    }
    _step(direction) {
      const { picture, selection: { item: here } } = this.view;
      if (here <= 0) return this._start();
      const { scene, sides } = picture;
      const at = direction > 0 ? 0 : 1;
      const next = scene.edges.filter((edge) => edge[at] === here && sides[edge[1 - at]]).map((edge) => edge[1 - at]);
      const inside = scene.items[here].open ? this._childrenOf(here) : [];
      const box = picture.box(here);
      this._choose(next.length ? next : inside, { x: box.x + box.width / 2, y: box.y + (direction > 0 ? box.height : 0) });
    }
    _sideways(direction) {
      const { picture, selection: { item: here } } = this.view;
      if (here <= 0) return this._start();
      const own = picture.box(here);
      const beside = this._childrenOf(picture.scene.items[here].parent).filter((item) => {
        const box = picture.box(item);
        const overlaps2 = box.y < own.y + own.height && own.y < box.y + box.height;
        return item !== here && overlaps2 && Math.sign(box.x - own.x) === direction;
      });
      this._choose(beside, { x: own.x + own.width / 2, y: own.y + own.height / 2 });
    }
    _childrenOf(parent) {
      const { scene: { items }, sides } = this.view.picture;
      return [...items.keys()].filter((item) => items[item].parent === parent && sides[item]);
    }
    async _toggleSelected() {
      const { picture: { scene }, selection } = this.view;
      if (selection.item <= 0) return;
      const { group, parent } = scene.items[selection.item];
      if (group) return this.view.groups.toggle(group.id);
      const around = scene.items[parent].group;
      if (!around || !around.id) return;
      selection.id = scene.idOf(parent);
      await this.view.groups.collapse(around.id);
      selection.announce();
    }
  };
  var Legend = class {
    constructor(parent, words = {}) {
      this.box = element("div", "fg-legend", parent);
      this.words = words;
      this.entries = [];
      this.title = "";
    }
    set(entries, title) {
      this.entries = entries;
      this.title = title;
    }
    draw(colours, compares, values) {
      this.box.replaceChildren();
      if (compares) {
        const row2 = element("p", "", this.box);
        for (const status of ["removed", "added", "changed"]) {
          const { fill: fill2, line } = colours[status];
          addEntry(row2, this.words[status] ?? status, { sign: SIGNS[status], fill: fill2, line, ink: line });
        }
      }
      if (values) this.drawValues(values, colours);
      if (!this.entries.length) return;
      const row = element("p", "", this.box);
      if (this.title) element("span", "", row).textContent = this.title;
      for (const { fill: fill2, label, sign = "" } of this.entries) {
        addEntry(row, label, { sign, fill: fill2, line: fill2, ink: colours.box });
      }
    }
    drawValues(values, theme) {
      const { absent, label, missing } = values.colouring;
      const row = element("p", "", this.box);
      element("span", "fg-legend-title", row).textContent = `${label}:`;
      const entries = values.entries(theme);
      entries.forEach(({ tone, label: text }, at) => {
        const entry = addEntry(row, text, { sign: "", fill: tone.fill, line: theme.line, ink: tone.text });
        entry.title = text;
        if (values.colouring.rule !== "same" && at > 0 && at < entries.length - 1) {
          entry.classList.add("fg-legend-between");
        }
      });
      if (!values.isPartial) return;
      const unknown = { sign: "", fill: theme.unknown.fill, line: theme.soft, ink: theme.soft };
      addEntry(row, absent, unknown).classList.add("fg-legend-missing");
      if (missing) element("p", "fg-legend-note", this.box).textContent = missing;
    }
  };
  function addEntry(row, label, { sign, fill: fill2, line, ink: ink2 }) {
    const box = element("span", "", row);
    const swatch = element("i", "", box);
    swatch.textContent = sign;
    Object.assign(swatch.style, { background: fill2, borderColor: line, color: ink2 });
    element("span", "", box).textContent = label;
    return box;
  }
  function placeMarks(marks, picture) {
    const placed = { ofKey: /* @__PURE__ */ new Map(), ofItem: /* @__PURE__ */ new Map() };
    const named = Object.entries(marks);
    if (!named.length || !picture) return placed;
    const { model, items, ownerOfKey } = picture.scene;
    const makers = makersOf(picture);
    for (const [name, mark] of named) {
      const key = model.keyOfId.get(name) ?? makers.get(name);
      if (key === void 0) continue;
      placed.ofKey.set(key, mark);
      const item = ownerOfKey[key];
      if (item !== void 0 && items[item].group) placed.ofItem.set(item, mark);
    }
    return placed;
  }
  function makersOf({ scene: { model }, before, after }) {
    const makers = /* @__PURE__ */ new Map();
    for (const index of [before, after]) {
      if (index === null) continue;
      model.snapshot(index).producer.forEach((key, value) => key >= 0 && makers.set(model.strings[value], key));
    }
    return makers;
  }
  var MOST = { width: 110, height: 230, share: 0.4, breadth: 0.13 };
  var LEAST2 = { width: 46, height: 60 };
  var ASIDE = 10;
  var SMALL = { width: 420, height: 300 };
  var Overview = class {
    constructor(view) {
      this.view = view;
      this.image = null;
      this.ground = null;
      this.map = null;
    }
    forget() {
      this.image = null;
    }
    paint(surface, colours) {
      this.map = this._place();
      if (!this.map) return;
      const { left, top, width, height } = this.map;
      if (this.image?.theme !== this.view.theme) this.image = { canvas: this._render(colours), theme: this.view.theme };
      surface.save();
      surface.drawImage(this.image.canvas, left, top, width, height);
      this._paintSight(surface, colours);
      surface.restore();
    }
    _paintSight(surface, colours) {
      const { left, top, width, height, scale } = this.map;
      const { camera, panes } = this.view;
      const seen = { width: panes.width() / camera.zoom, height: this.view.stage.height / camera.zoom };
      const x1 = Math.max(0, (camera.x - seen.width / 2) * scale.x);
      const y1 = Math.max(0, (camera.y - seen.height / 2) * scale.y);
      const x2 = Math.min(width, (camera.x + seen.width / 2) * scale.x);
      const y2 = Math.min(height, (camera.y + seen.height / 2) * scale.y);
      surface.strokeStyle = colours.focus;
      surface.lineWidth = 1.5;
      surface.strokeRect(left + x1, top + y1, Math.max(4, x2 - x1), Math.max(4, y2 - y1));
    }
    strip() {
      const size = this._size();
      return size ? size.width + 2 * ASIDE : 0;
    }
    _size() {
      const { picture, stage } = this.view;
      if (!picture || stage.width < SMALL.width || stage.height < SMALL.height) return null;
      const { whole } = picture;
      if (whole.height <= stage.height && whole.width <= stage.width / 2) return null;
      const ratio = Math.min(Math.min(MOST.width, stage.width * MOST.breadth) / whole.width, Math.min(MOST.height, stage.height * MOST.share) / whole.height);
      return { width: Math.max(LEAST2.width, whole.width * ratio), height: Math.max(LEAST2.height, whole.height * ratio) };
    }
    _place() {
      const size = this._size();
      if (!size) return null;
      const { whole } = this.view.picture;
      const left = this.view.stage.width - size.width - ASIDE;
      return { ...size, left, top: PANE_HEAD + 4, scale: { x: size.width / whole.width, y: size.height / whole.height } };
    }
    _render(colours) {
      const { canvas, surface } = this._canvas();
      const { picture, theme } = this.view;
      const { layout } = picture;
      const { width, height } = this.map;
      let ground = this.ground;
      if (ground?.layout !== layout || ground.theme !== theme || ground.width !== width || ground.height !== height) {
        this.ground = ground = { canvas: this._renderGround(colours), theme, layout, width, height };
      }
      surface.drawImage(ground.canvas, 0, 0, width, height);
      const changed = picture.changedItems();
      for (const status of ["changed", "removed", "added"]) {
        const items = changed.filter((item) => picture.counts[status][item]);
        this._fill(surface, items, colours[status].line, 2.5);
      }
      return canvas;
    }
    _renderGround(colours) {
      const { canvas, surface } = this._canvas();
      const { width, height } = this.map;
      surface.fillStyle = colours.page;
      surface.strokeStyle = colours.groupLine;
      surface.beginPath();
      surface.roundRect(0.5, 0.5, width - 1, height - 1, 4);
      surface.fill();
      surface.stroke();
      this._fill(surface, this.view.picture.closedItems(), colours.hub, 0.6);
      return canvas;
    }
    _canvas() {
      const { ratio } = this.view.stage;
      const canvas = document.createElement("canvas");
      canvas.width = Math.ceil(this.map.width * ratio);
      canvas.height = Math.ceil(this.map.height * ratio);
      const surface = canvas.getContext("2d");
      surface.scale(ratio, ratio);
      return { canvas, surface };
    }
    _fill(surface, items, colour, least) {
      const { width, height, scale } = this.map;
      const { layout } = this.view.picture;
      const spots = 2 * this.view.stage.ratio;
      const across = Math.ceil(width * spots) + 1;
      const taken = new Uint8Array(across * (Math.ceil(height * spots) + 1));
      surface.fillStyle = colour;
      for (const item of items) {
        const [w, h] = [Math.max(least, layout.width[item] * scale.x), Math.max(least, layout.height[item] * scale.y)];
        const [x, y] = [Math.min(width - w, layout.x[item] * scale.x), Math.min(height - h, layout.y[item] * scale.y)];
        const spot = Math.max(0, Math.floor(y * spots)) * across + Math.max(0, Math.floor(x * spots));
        if (taken[spot] && w <= 2 * least && h <= 2 * least) continue;
        taken[spot] = 1;
        surface.fillRect(x, y, w, h);
      }
    }
    at(event, outside = false) {
      if (!this.map) return null;
      const bounds = this.view.stage.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - bounds.left - this.map.left, event.clientY - bounds.top - this.map.top];
      const within = x >= 0 && y >= 0 && x <= this.map.width && y <= this.map.height;
      if (!within && !outside) return null;
      const { whole } = this.view.picture;
      return { x: Math.max(0, Math.min(whole.width, x / this.map.scale.x)), y: Math.max(0, Math.min(whole.height, y / this.map.scale.y)) };
    }
  };
  var SLOP = 6;
  var TOGGLE_ZOOM = 0.5;
  function itemUnder(picture, headers, place) {
    return headers.find((header) => holds(header, place))?.item ?? picture.itemAt(place);
  }
  function holds({ x, y, width, height }, place) {
    return place.x >= x && place.x <= x + width && place.y >= y && place.y <= y + height;
  }
  function onToggle(picture, headers, place, { item, zoom }) {
    const { group, open } = picture.scene.items[item];
    if (!group || zoom < TOGGLE_ZOOM) return false;
    const middle = open ? toggleOfHeader(headers, item) : toggleOfBox(picture, item);
    return middle !== null && Math.abs(place.x - middle.x) <= 6 + SLOP && Math.abs(place.y - middle.y) <= 6 + SLOP;
  }
  function toggleOfHeader(headers, item) {
    const header = headers.find((one) => one.item === item);
    return header ? { x: header.x + 10, y: header.y + 14 } : null;
  }
  function toggleOfBox({ layout }, item) {
    return { x: layout.x[item] + 15, y: layout.y[item] + 16 };
  }
  var MOST_INPUTS = 12;
  var MOST_ATTRIBUTES = 6;
  var MOST_LETTERS = 200;
  var Tooltip = class {
    constructor(view) {
      this.view = view;
      this.box = element("div", "fg-tip", view.root);
      this.box.hidden = true;
    }
    hide() {
      this.box.hidden = true;
    }
    show(item, side) {
      const [title, ...lines] = linesOf(this.view, item, side);
      const { colours } = this.view;
      if (colours) lines.push(`${colours.colouring.label}: ${colours.text(item, side) || colours.colouring.absent}`);
      this.box.replaceChildren();
      element("b", "", this.box).textContent = title;
      for (const line of lines) element("div", "", this.box).textContent = line;
      this.box.hidden = false;
    }
    place(event) {
      if (this.box.hidden) return;
      const { view } = this;
      const bounds = view.root.getBoundingClientRect();
      const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
      const { offsetWidth: width, offsetHeight: height } = this.box;
      this.box.style.left = `${Math.max(4, x + 16 + width > view.stage.width ? x - width - 12 : x + 16)}px`;
      this.box.style.top = `${Math.max(4, Math.min(view.stage.height - height - 6, y + 14))}px`;
    }
  };
  function linesOf({ picture, placedMarks }, item, side) {
    return picture.scene.items[item].group ? groupLines(picture, item, side) : nodeLines(picture, item, side, placedMarks);
  }
  function groupLines(picture, item, side) {
    const { counts, scene } = picture;
    const { group } = scene.items[item];
    const changes = ["removed", "added", "changed"].filter((status) => counts[status][item]).map((status) => `${SIGNS[status]}${counts[status][item]} ${status}`);
    const ops = count(picture.opsOf(item, side), "op");
    return [group.label, ...group.repeat ? [`${group.repeat.length} modules of one structure; it opens to the first of them`] : [], `${group.id}  ·  ${ops}`, ...changes.length ? [changes.join("   ")] : [], "double click to open"];
  }
  function nodeLines(picture, item, side, marks) {
    const { model } = picture.scene;
    const { key } = picture.scene.items[item];
    const snapshot = model.snapshot(picture.snapshotOf(side));
    const node = model.node(snapshot.rowOf[key]);
    const status = model.isPseudo(key) ? void 0 : picture.statusOf(item);
    const names = picture.namesOn(side);
    const lines = [node.op + (status ? `   ${SIGNS[status]} ${status}` : "")];
    for (const value of node.outputs) lines.push(cut(`%${value.name} : ${value.type}`));
    lines.push(...model.pathsOf(snapshot.rowOf[key], names) ?? []);
    for (const name of node.inputs.slice(0, MOST_INPUTS)) {
      lines.push(cut(`← ${valueText(model, snapshot, names, name)}`));
    }
    if (node.inputs.length > MOST_INPUTS) lines.push(`← ${node.inputs.length - MOST_INPUTS} more`);
    for (const pair of node.attributes.slice(0, MOST_ATTRIBUTES)) lines.push(cut(`${pair.name} = ${pair.text}`));
    if (node.module) lines.push(`in ${node.module}`);
    if (node.source) lines.push(`${node.source.file}:${node.source.line}`);
    const mark = marks.ofKey.get(key);
    if (mark && mark.label) lines.push(mark.label);
    return lines;
  }
  function valueText(model, snapshot, names, name) {
    const producer = snapshot.producer[model.stringIndex(name) ?? -1];
    if (producer === void 0 || producer < 0) return `%${name}`;
    const node = model.node(snapshot.rowOf[producer]);
    if (node.op === "prim::Constant" && !node.constant) {
      const value = node.attributes.find((pair) => pair.name === "value");
      if (value) return value.text;
      if (!node.attributes.length) return "None";
    }
    const output = node.outputs.find((one) => one.name === name);
    const paths = model.pathsOf(snapshot.rowOf[producer], names);
    return `%${name}${output ? ` : ${shortType(output.type)}` : ""}${paths ? `   ${paths.join(", ")}` : ""}`;
  }
  function cut(text) {
    return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text;
  }
  var STILL = 4;
  var [LINE_PX, PAGE_PX] = [16, 400];
  var Pointer = class {
    constructor(view) {
      this.view = view;
      this.moved = 0;
      this.inOverview = false;
      this.pressed = /* @__PURE__ */ new Map();
      this.tooltip = new Tooltip(view);
      const on = (name, act, options = {}) => view.stage.canvas.addEventListener(name, act, options);
      on("wheel", (event) => this._onWheel(event), { passive: false });
      on("pointerdown", (event) => this._onDown(event));
      on("pointermove", (event) => this._onMove(event));
      on("pointerup", (event) => this._onUp(event));
      on("pointercancel", (event) => this._onUp(event));
      on("pointerleave", () => this._leave());
      on("dblclick", (event) => this._onDouble(event));
    }
    forget() {
      this.view.hovered = -1;
      this.tooltip.hide();
    }
    _itemAt(place) {
      const { panes, picture } = this.view;
      return picture ? itemUnder(picture, panes.headers[place.side] ?? [], place) : -1;
    }
    _onToggle(place, item) {
      const { camera, panes, picture } = this.view;
      return onToggle(picture, panes.headers[place.side] ?? [], place, { item, zoom: camera.zoom });
    }
    _onWheel(event) {
      if (this.view.options.wheel === "ctrl" && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? LINE_PX : event.deltaMode === 2 ? PAGE_PX : 1;
      const speed = event.ctrlKey ? 0.01 : 16e-4;
      const turned = Math.max(-300, Math.min(300, event.deltaY * unit));
      this.view.zoomBy(Math.exp(-turned * speed), this.view.panes.locate(event).offset);
    }
    _onDown(event) {
      if (event.button > 0) return;
      const { camera, overview, stage: { canvas } } = this.view;
      this.view.root.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      this.pressed.set(event.pointerId, event);
      this.moved = 0;
      camera.stop();
      const point = overview.at(event);
      this.inOverview = point !== null;
      if (point) camera.jump(point);
    }
    _onMove(event) {
      const { overview, panes } = this.view;
      const last = this.pressed.get(event.pointerId);
      if (!last) {
        return this._hover(overview.at(event) ? -1 : this._itemAt(panes.locate(event)), event);
      }
      this.pressed.set(event.pointerId, event);
      const point = this.inOverview && overview.at(event, true);
      if (point) return this.view.camera.jump(point);
      const other = [...this.pressed.values()].find((one) => one.pointerId !== event.pointerId);
      if (other) this._pinch(last, event, other);
      else this._drag(last, event);
    }
    _pinch(last, event, other) {
      const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      this.view.zoomBy(distance(event) / Math.max(1, distance(last)), this.view.panes.locate(event).offset);
    }
    _drag(last, event) {
      const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
      this.moved += Math.abs(dx) + Math.abs(dy);
      if (this.moved < STILL) return;
      this.view.root.classList.add("fg-drag");
      this._hover(-1);
      const { camera } = this.view;
      camera.pan(-dx / camera.zoom, -dy / camera.zoom);
    }
    _onUp(event) {
      const known = this.pressed.delete(event.pointerId);
      this.view.root.classList.remove("fg-drag");
      if (!known || event.type === "pointercancel" || this.moved >= STILL || this.inOverview || !this.view.picture) {
        return;
      }
      const place = this.view.panes.locate(event);
      const item = this._itemAt(place);
      if (item > 0 && this._onToggle(place, item)) this.view.groups.toggle(this.view.picture.scene.items[item].group.id);
      else this.view.selection.choose(item);
    }
    _onDouble(event) {
      if (!this.view.picture) return;
      const place = this.view.panes.locate(event);
      const item = this._itemAt(place);
      const group = item > 0 && this.view.picture.scene.items[item].group;
      if (group && !this._onToggle(place, item)) this.view.groups.toggle(group.id);
    }
    _leave() {
      this._hover(-1);
    }
    _hover(item, event) {
      if (item !== this.view.hovered) this._enter(item, event);
      if (event) this.tooltip.place(event);
    }
    _enter(item, event) {
      const { view } = this;
      view.hovered = item;
      const shown = item > 0 ? view.picture.scene.items[item] : null;
      view.emit("hover", shown && { id: view.picture.scene.idOf(item), kind: shown.group ? "group" : "node" });
      const closed = shown !== null && !shown.open;
      view.stage.canvas.style.cursor = closed ? "pointer" : "";
      if (closed) this.tooltip.show(item, view.panes.locate(event).side);
      else this.tooltip.hide();
      view.stage.redraw();
    }
  };
  var MOST_LETTERS2 = 500;
  var WORD = /\w/;
  var SPACE = /\s/;
  var DIGIT = /\d/;
  var SETS = { d: (letter) => DIGIT.test(letter), D: (letter) => !DIGIT.test(letter), w: (letter) => WORD.test(letter), W: (letter) => !WORD.test(letter), s: (letter) => SPACE.test(letter), S: (letter) => !SPACE.test(letter) };
  var CONTROLS = { t: "	", n: "\n", r: "\r", f: "\f", v: "\v", 0: "\0" };
  var REFUSED = { "?=": "lookahead (?=…)", "?!": "negative lookahead (?!…)", "?<=": "lookbehind (?<=…)", "?<!": "negative lookbehind (?<!…)" };
  var PatternError = class extends Error {
  };
  function isLineEnd(letter) {
    return letter === "\n" || letter === "\r" || letter === "\u2028" || letter === "\u2029";
  }
  function isWord(letter) {
    return WORD.test(letter);
  }
  function parsePattern(text) {
    if (text.length > MOST_LETTERS2) throw new PatternError(`longer than ${MOST_LETTERS2} characters`);
    checkSyntax(text);
    return new Parser(text).options();
  }
  function checkSyntax(text) {
    try {
      new RegExp(text, "im");
    } catch (error) {
      const reason = String(error.message).split(": ").at(-1) ?? "";
      throw new PatternError(`${reason[0].toLowerCase()}${reason.slice(1)}`);
    }
  }
  var Parser = class {
    constructor(text) {
      this.text = text;
      this.at = 0;
    }
    options() {
      const options = [this.sequence()];
      while (this.take("|")) options.push(this.sequence());
      return options.length === 1 ? options[0] : { options };
    }
    sequence() {
      const items = [];
      while (this.at < this.text.length && !"|)".includes(this.text[this.at])) items.push(this.repeated(this.atom()));
      return { items };
    }
    repeated(item) {
      const counts = this.counts();
      if (!counts) return item;
      this.take("?");
      return { item, ...counts };
    }
    counts() {
      if (this.take("*")) return { min: 0, max: Infinity };
      if (this.take("+")) return { min: 1, max: Infinity };
      if (this.take("?")) return { min: 0, max: 1 };
      const found = this.match(/\{(\d+)(,?)(\d*)\}/y);
      if (!found) return null;
      const min = Number(found[1]);
      return { min, max: !found[2] ? min : found[3] ? Number(found[3]) : Infinity };
    }
    atom() {
      const letter = this.text[this.at++];
      if (letter === "(") return this.group();
      if (letter === "[") return this.letters();
      if (letter === ".") return { set: (one) => !isLineEnd(one) };
      if (letter === "^" || letter === "$") return { at: letter };
      if (letter !== "\\") return { set: same(letter) };
      if (this.take("b")) return { at: "b" };
      if (this.take("B")) return { at: "B" };
      return { set: this.escaped() };
    }
    group() {
      const start = this.match(/\?(<?[=!]|:|<[^>=!]*>|)/y)?.[0];
      if (start && start in REFUSED) throw new PatternError(`${REFUSED[start]} is not supported in this search`);
      if (start === "?") throw new PatternError("this kind of group (?…) is not supported in this search");
      const inside = this.options();
      this.take(")");
      return inside;
    }
    letters() {
      const isOther = this.take("^");
      const tests = [];
      while (!this.take("]")) {
        const first = this.member();
        const isRange = typeof first === "string" && this.match(/-(?!\])/y);
        const last = isRange ? this.member() : null;
        if (typeof first === "string" && typeof last === "string") tests.push(between(first, last));
        else {
          tests.push(typeof first === "string" ? same(first) : first);
          if (isRange) tests.push(same("-"), typeof last === "string" ? same(last) : last);
        }
      }
      const has = (letter) => tests.some((test) => test(letter));
      return { set: isOther ? (letter) => !has(letter) : has };
    }
    member() {
      const letter = this.text[this.at++];
      if (letter !== "\\") return letter;
      if (this.take("b")) return "\b";
      const next = this.text[this.at];
      if (!(next in SETS)) return this.escapedLetter();
      this.at++;
      return SETS[next];
    }
    escaped() {
      const next = this.text[this.at];
      if (/[1-9k]/.test(next)) throw new PatternError(`the backreference \\${next} is not supported in this search`);
      if (!(next in SETS)) return same(this.escapedLetter());
      this.at++;
      return SETS[next];
    }
    escapedLetter() {
      const code = this.match(/x([0-9a-f]{2})|u([0-9a-f]{4})/iy);
      if (code) return String.fromCharCode(parseInt(code[1] ?? code[2], 16));
      const letter = this.text[this.at++];
      return CONTROLS[letter] ?? letter;
    }
    take(letter) {
      const found = this.text[this.at] === letter;
      if (found) this.at++;
      return found;
    }
    match(start) {
      start.lastIndex = this.at;
      const found = start.exec(this.text);
      if (found) this.at += found[0].length;
      return found;
    }
  };
  function upper(letter) {
    const found = letter.toUpperCase();
    return found.length === 1 && !(letter > "" && found <= "") ? found : letter;
  }
  function same(letter) {
    const wanted = upper(letter);
    return (one) => upper(one) === wanted;
  }
  function between(first, last) {
    const holds3 = (letter) => letter >= first && letter <= last;
    return (letter) => holds3(letter) || holds3(upper(letter)) || holds3(letter.toLowerCase());
  }
  var MOST_STATES = 600;
  var MOST_KEPT = 3e3;
  var MOST_WORK = 2e6;
  var FOUND = -1;
  function compilePattern(text) {
    const matcher = new Matcher(parsePattern(text));
    return (one) => matcher.isIn(one);
  }
  var Matcher = class {
    constructor(tree) {
      this.states = [{}];
      this.start = this.build(tree, 0);
      this.work = 0;
      this.indexOf = /* @__PURE__ */ new Map();
      this.kept = [];
      this.first = this.keep([], "");
    }
    forget() {
      this.indexOf.clear();
      this.kept.length = 0;
      this.first = this.keep([], "");
    }
    add(state) {
      if (this.states.length >= MOST_STATES) throw new PatternError("repeats too much: use * or + or smaller counts");
      return this.states.push(state) - 1;
    }
    build(tree, next) {
      if (tree.set) return this.add({ set: tree.set, next });
      if (tree.at) return this.add({ at: tree.at, next });
      if (tree.items) {
        return tree.items.reduceRight((to, item) => this.build(item, to), next);
      }
      if (tree.options) return this.add({ fork: tree.options.map((one) => this.build(one, next)) });
      let from2 = next;
      if (tree.max === Infinity) {
        from2 = this.add({ fork: [] });
        this.states[from2].fork = [this.build(tree.item, from2), next];
      } else {
        for (let n = tree.min; n < tree.max; n++) from2 = this.add({ fork: [this.build(tree.item, from2), next] });
      }
      for (let n = 0; n < tree.min; n++) from2 = this.build(tree.item, from2);
      return from2;
    }
    isIn(text) {
      let at = this.first;
      for (let place = 0; place <= text.length; place++) {
        const letter = text[place] ?? "";
        at = this.kept[at].next.get(letter) ?? this.go(at, letter);
        if (at === FOUND) return true;
      }
      return false;
    }
    go(from2, letter) {
      const { core, before, next } = this.kept[from2];
      const reached = this.reached(core, before, letter);
      if (reached.has(0)) {
        next.set(letter, FOUND);
        return FOUND;
      }
      const after = /* @__PURE__ */ new Set();
      for (const index of reached) {
        const state = this.states[index];
        if (letter && state.set?.(letter)) after.add(state.next);
      }
      if (this.kept.length >= MOST_KEPT) {
        this.forget();
        return this.keep([...after], letter);
      }
      const to = this.keep([...after], letter);
      next.set(letter, to);
      return to;
    }
    reached(core, before, letter) {
      const found = /* @__PURE__ */ new Set([...core, this.start]);
      for (const index of found) {
        const { fork, at, next } = this.states[index];
        if (fork) fork.forEach((one) => found.add(one));
        else if (at && holds2(at, before, letter)) found.add(next);
      }
      this.work += found.size;
      if (this.work > MOST_WORK) throw new PatternError("takes too long in this graph: make it simpler");
      return found;
    }
    keep(core, letter) {
      const before = !letter || isLineEnd(letter) ? "" : isWord(letter) ? "w" : "-";
      const name = `${before}${core.sort((a, b) => a - b)}`;
      let index = this.indexOf.get(name);
      if (index === void 0) {
        index = this.kept.push({ core, before, next: /* @__PURE__ */ new Map() }) - 1;
        this.indexOf.set(name, index);
      }
      return index;
    }
  };
  function holds2(at, before, letter) {
    if (at === "^") return before === "";
    if (at === "$") return letter === "" || isLineEnd(letter);
    const isBorder = before === "w" !== (letter !== "" && isWord(letter));
    return at === "b" ? isBorder : !isBorder;
  }
  var MOST_LETTERS3 = 4e3;
  function makeQuery(text, isPattern) {
    const trimmed = text.trim();
    const slashed = /^\/(.+)\/i?$/.exec(trimmed);
    if (isPattern || slashed) {
      const pattern = slashed ? slashed[1] : trimmed;
      if (!pattern) return null;
      const compiled = compilePattern(pattern);
      const test2 = (one) => compiled(one.slice(0, MOST_LETTERS3));
      return { names: test2, shapes: test2, source: test2, line: test2 };
    }
    const wanted = trimmed.toLowerCase();
    if (!wanted) return null;
    const test = (one) => one.toLowerCase().includes(wanted);
    return { names: test, shapes: /^[\d.%]+$/.test(wanted) ? null : test, source: /\.py\b|:\d/.test(wanted) ? test : null, line: null };
  }
  var TextIndex = class {
    constructor(model, sourceLine = () => "") {
      this.model = model;
      this.sourceLine = sourceLine;
      this.texts = [];
    }
    find(query, steps) {
      const { model } = this;
      const seen = /* @__PURE__ */ new Set();
      const found = [];
      if (!query) return found;
      for (const step of steps) {
        const snapshot = model.snapshot(model.steps[step].after);
        const names = model.namesOf(step);
        for (const key of snapshot.order) {
          const row = snapshot.rowOf[key];
          if (seen.has(key) || !this._isTold(row) || !this._has(row, names, query)) continue;
          seen.add(key);
          const node = model.node(row);
          found.push({ id: node.id, label: opName(node.op), module: node.module });
        }
      }
      return found;
    }
    _isTold(row) {
      const kind = this.model.kinds.get(this.model.keyOfRow[row]);
      return kind === void 0 || kind === "input" && !this.model.node(row).outputs[0].type.startsWith("__torch__");
    }
    _has(row, names, query) {
      const texts = this.texts[row] ??= this._read(row);
      const paths = this.model.pathsOf(row, names);
      return query.names(texts.names) || Boolean(paths && query.names(paths.join("\n"))) || Boolean(texts.shapes && query.shapes?.(texts.shapes)) || Boolean(texts.source && query.source?.(texts.source)) || Boolean(texts.line && query.line?.(texts.line));
    }
    _read(row) {
      const node = this.model.node(row);
      const names = [node.op, node.id, node.module, ...node.outputs.map((value) => value.name), ...node.attributes.map((pair) => pair.text)];
      const { source, constant } = node;
      const shapes = node.outputs.map((value) => shortType(value.type)).filter((type) => /\[.*\]$/.test(type));
      if (constant) shapes.push(`${constant.dtype}[${constant.shape.join(", ")}]`);
      return { names: names.join("\n"), shapes: shapes.join("\n"), source: source ? `${source.file}:${source.line}` : "", line: source ? this.sourceLine(source.file, source.line).trim() : "" };
    }
  };
  var Search = class {
    constructor(view) {
      this.view = view;
      this.texts = null;
      this.matches = [];
      this.items = /* @__PURE__ */ new Set();
    }
    forget() {
      this.texts = null;
      this.matches = [];
      this.items = /* @__PURE__ */ new Set();
    }
    run(text, { pattern = false } = {}) {
      const { model, options, steps } = this.view;
      this.texts ??= model && new TextIndex(model, options.sourceLine);
      const shown = steps ? [steps.after, steps.before].filter((index) => index !== null) : [];
      this.matches = [];
      try {
        const query = makeQuery(text, pattern);
        this.matches = this.texts ? this.texts.find(query, shown) : [];
      } finally {
        this.resolve();
        this.view.stage.redraw();
      }
      return this.matches.map((match) => ({ ...match }));
    }
    resolve() {
      const { picture } = this.view;
      const items = picture ? this.matches.map((match) => this._itemOf(match)) : [];
      this.items = new Set(items.filter((item) => item > 0));
    }
    first() {
      const { picture, panes } = this.view;
      if (!picture) return 0;
      const boxes = this.matches.map((match) => {
        const item = this._itemOf(match);
        return item > 0 && !(picture.scene.items[item].group && picture.scene.idOf(item) !== match.id) ? item : -1;
      });
      const inSight = boxes.findIndex((item) => item > 0 && panes.isInSight(item));
      return Math.max(0, inSight >= 0 ? inSight : boxes.findIndex((item) => item > 0));
    }
    _itemOf(match) {
      const { picture } = this.view;
      return picture.scene.itemOf(picture.shownAs(match.id));
    }
  };
  var NOTHING = { id: null, kind: null, node: null, group: null };
  var Selection = class {
    constructor(view) {
      this.view = view;
      this.id = null;
      this.item = -1;
      this.live = element("div", "fg-live", view.root);
      this.live.setAttribute("aria-live", "polite");
    }
    choose(item, center = false) {
      const { camera, picture } = this.view;
      this.id = item > 0 ? picture.scene.idOf(item) : null;
      this.item = item;
      if (center && item > 0) camera.centre(item);
      this.announce();
      this.view.stage.redraw();
    }
    resolve() {
      const { picture } = this.view;
      this.item = this.id === null || !picture ? -1 : picture.scene.itemOf(picture.shownAs(this.id));
    }
    announce() {
      const { text, detail } = this._describe();
      this.live.textContent = text;
      this.view.emit("select", detail);
    }
    _describe() {
      const { id, view } = this;
      if (id === null) return { detail: { ...NOTHING }, text: "nothing selected" };
      const node = view.node(id);
      if (node) return { detail: { id, kind: "node", node, group: null }, text: nodeText(node) };
      const group = view.outline().groups.get(id);
      if (!group) return { detail: { id, kind: "node", node: null, group: null }, text: id };
      const expanded = view.groups.open.has(id);
      const detail = { id, kind: "group", node: null, group: { id, label: group.label, ops: group.ops, expanded } };
      return { detail, text: `module ${id}, ${count(group.ops, "op")}, ${expanded ? "open" : "closed"}` };
    }
  };
  function nodeText({ id, status, before, after }) {
    const shown = after || before;
    const type = shown.outputs.length ? `, ${shortType(shown.outputs[0].type)}` : "";
    const place = shown.module ? ` in ${shown.module}` : "";
    return `${opName(shown.op)} ${id}${place}${type}${status ? `, ${status}` : ""}`;
  }
  var SvgSurface = class {
    constructor(width, height) {
      this.width = width;
      this.height = height;
      this.out = [];
      this.path = [];
      this.stack = [];
      this.clips = 0;
      this.fillStyle = "#000";
      this.strokeStyle = "#000";
      this.lineWidth = 1;
      this.font = "";
      this.textAlign = "left";
      this.textBaseline = "middle";
      this.at = { x: 0, y: 0, scale: 1, groups: 0 };
      this.dash = [];
    }
    save() {
      this.stack.push({ ...this.at });
      this.at.groups = 0;
    }
    restore() {
      this.out.push("</g>".repeat(this.at.groups));
      this.at = this.stack.pop() ?? this.at;
    }
    translate(x, y) {
      this.at.x += x * this.at.scale;
      this.at.y += y * this.at.scale;
    }
    scale(factor) {
      this.at.scale *= factor;
    }
    setLineDash(dash) {
      this.dash = dash;
    }
    beginPath() {
      this.path = [];
    }
    moveTo(x, y) {
      this.path.push(`M${this._point(x, y)}`);
    }
    lineTo(x, y) {
      this.path.push(`L${this._point(x, y)}`);
    }
    bezierCurveTo(a, b, c, d, e, f) {
      this.path.push(`C${this._point(a, b)} ${this._point(c, d)} ${this._point(e, f)}`);
    }
    rect(x, y, width, height) {
      this.roundRect(x, y, width, height, 0);
    }
    roundRect(x, y, width, height, radius) {
      const r = Math.max(0, Math.min(radius, width / 2, height / 2));
      const size = this._number(r * this.at.scale);
      const arc = (toX, toY) => r ? `A${size} ${size} 0 0 1 ${this._point(toX, toY)}` : "";
      this.path.push(`M${this._point(x + r, y)}L${this._point(x + width - r, y)}${arc(x + width, y + r)}L${this._point(x + width, y + height - r)}${arc(x + width - r, y + height)}L${this._point(x + r, y + height)}${arc(x, y + height - r)}L${this._point(x, y + r)}${arc(x + r, y)}Z`);
    }
    arc(x, y, radius) {
      this.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius);
    }
    clip() {
      const id = `clip${++this.clips}`;
      this.out.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
      this.at.groups++;
    }
    fill() {
      if (this.path.length) this.out.push(`<path d="${this.path.join("")}" fill="${escapeXml(this.fillStyle)}"/>`);
    }
    stroke() {
      if (!this.path.length) return;
      const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map((part) => this._number(part * this.at.scale)).join(" ")}"` : "";
      const width = this._number(this.lineWidth * this.at.scale);
      this.out.push(`<path d="${this.path.join("")}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${width}"${dash}/>`);
    }
    fillText(text, x, y) {
      const [, weight, size, family2] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
      const [left, top] = this._point(x, y).split(" ");
      this.out.push(`<text x="${left}" y="${top}" dominant-baseline="central" text-anchor="${anchor}" fill="${escapeXml(this.fillStyle)}" font-family="${escapeXml(family2)}" font-size="${this._number(Number(size) * this.at.scale)}"${weight ? ` font-weight="${weight}"` : ""}>${escapeXml(text)}</text>`);
    }
    toString() {
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">${this.out.join("")}</svg>`;
    }
    _number(value) {
      return String(Math.round(value * 100) / 100);
    }
    _point(x, y) {
      return `${this._number(this.at.x + x * this.at.scale)} ${this._number(this.at.y + y * this.at.scale)}`;
    }
  };
  function escapeXml(text) {
    const legal = String(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "�");
    return legal.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  }
  var LOW = 240;
  var NARROW = 560;
  var ASIDE2 = 20;
  var LEAST_RATIO = 2;
  var Stage = class {
    constructor(view) {
      this.view = view;
      this.canvas = element("canvas", "", view.root);
      this.surface = this.canvas.getContext("2d");
      this.width = 0;
      this.height = 0;
      this.ratio = 1;
      this.frame = 0;
      this.observer = new ResizeObserver(() => this.resize());
      this.observer.observe(view.root);
    }
    resize() {
      const { clientWidth: width, clientHeight } = this.view.root;
      const height = clientHeight - this._strip(width, clientHeight);
      const ratio = globalThis.devicePixelRatio || 1;
      this.view.root.classList.toggle("fg-low", height < LOW);
      if (!width || !height || width === this.width && height === this.height && ratio === this.ratio) return;
      const before = { width: this.view.panes.width(), height: this.height };
      Object.assign(this, { width, height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
      this.view.camera.lookFirst();
      this.view.camera.keepSelected(before);
      this.draw();
    }
    _strip(width, height) {
      const { legend, toolbar } = this.view;
      if (width >= NARROW || !legend || !toolbar) return 0;
      this.view.root.classList.remove("fg-low");
      const strip = Math.max(legend.box.offsetHeight, toolbar.bar?.offsetHeight ?? 0);
      return strip && height - strip - ASIDE2 >= LOW ? strip + ASIDE2 : 0;
    }
    redraw() {
      if (!this.view.gone) this.frame ||= requestAnimationFrame(() => this.draw());
    }
    draw() {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      if (!this.width || this.view.gone) return;
      this.surface.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      this.view.panes.paint(this.surface, true);
    }
    stop() {
      this.observer.disconnect();
      cancelAnimationFrame(this.frame);
    }
    toSVG() {
      const surface = new SvgSurface(this.width, this.height);
      this.view.panes.paint(surface, false);
      return surface.toString();
    }
    toPNG() {
      const canvas = document.createElement("canvas");
      const ratio = Math.max(LEAST_RATIO, this.ratio);
      canvas.width = this.width * ratio;
      canvas.height = this.height * ratio;
      const surface = canvas.getContext("2d");
      surface.scale(ratio, ratio);
      this.view.panes.paint(surface, false);
      return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error("graph view: the picture is too large for a PNG")), "image/png");
      });
    }
  };
  var STYLE = `
.fg { position: relative; width: 100%; height: 100%; min-height: 160px; overflow: hidden; outline: none; user-select: none;
  -webkit-user-select: none; touch-action: none; font: 12px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif;
  color: var(--fg-text); background: var(--fg-page); }
.fg canvas { position: absolute; inset: 0; width: 100%; height: 100%; display: block; cursor: grab; }
.fg.fg-drag canvas { cursor: grabbing; }
.fg:focus-visible::after { content: ""; position: absolute; inset: 0; border: 2px solid var(--fg-focus); pointer-events: none; }
.fg-bar, .fg-legend, .fg-tip { position: absolute; background: var(--fg-panel); border: 1px solid var(--fg-line); border-radius: 8px;
  box-shadow: 0 2px 8px rgba(10, 15, 30, 0.12); }
.fg-bar { right: 10px; bottom: 10px; display: flex; padding: 3px; gap: 1px; }
.fg-bar button { all: unset; box-sizing: border-box; width: 28px; height: 26px; display: grid; place-items: center; border-radius: 5px;
  color: var(--fg-soft); cursor: pointer; }
.fg-bar button:hover { background: var(--fg-hover); color: var(--fg-text); }
.fg-bar button:focus-visible { outline: 2px solid var(--fg-focus); }
.fg-bar button[aria-pressed="true"] { background: var(--fg-hover); color: var(--fg-focus); }
.fg-bar svg { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
.fg-legend { left: 10px; bottom: 10px; padding: 4px 9px; max-width: min(46%, 100% - 236px); pointer-events: none; font-size: 11px; }
.fg-low .fg-legend, .fg-legend:empty { display: none; }
.fg-legend p { display: flex; flex-wrap: wrap; gap: 2px 10px; margin: 0; padding: 1px 0; }
.fg-legend span { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; color: var(--fg-soft); }
.fg-legend .fg-legend-title { color: var(--fg-text); }
.fg-legend .fg-legend-missing i { border-style: dashed; }
@media (max-width: 640px) { .fg-legend .fg-legend-between span { display: none; } }
.fg-legend .fg-legend-note { display: block; color: var(--fg-soft); max-width: 46em; }
.fg-legend i { width: 14px; height: 14px; border-radius: 4px; border: 1.5px solid; box-sizing: border-box; font: 700 11px/11px ui-sans-serif, system-ui, sans-serif;
  text-align: center; }
.fg-tip { z-index: 2; max-width: 420px; padding: 7px 10px; pointer-events: none; white-space: pre-wrap; overflow-wrap: anywhere; }
.fg-tip b { display: block; font-size: 13px; }
.fg-tip div { color: var(--fg-soft); font: 11px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.fg-tip[hidden] { display: none; }
.fg-live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;
  var SVG = "http://www.w3.org/2000/svg";
  var ICONS = { out: "M4 8h8", in: "M4 8h8M8 4v8", fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10", changes: "M8 2.5v6M5 5.5h6M5 12.5h6", expand: "M8 7V2M5.5 4.5L8 2l2.5 2.5M8 9v5M5.5 11.5L8 14l2.5-2.5", collapse: "M8 2v5M5.5 4.5L8 7l2.5-2.5M8 14V9M5.5 11.5L8 9l2.5 2.5", constants: "M3 5.5h4v5H3zM9.5 8h4M7 8h2.5M11.5 6v4" };
  var Toolbar = class {
    constructor(view) {
      this.bar = element("div", "fg-bar", view.root);
      this.bar.hidden = !view.options.toolbar;
      this.bar.style.display = view.options.toolbar ? "" : "none";
      this._button("out", "Zoom out (-)", () => view.zoomBy(1 / 1.4));
      this._button("in", "Zoom in (+)", () => view.zoomBy(1.4));
      this._button("fit", "Whole graph (0)", () => view.fit());
      this._button("changes", "Show what changed", () => view.revealChanges());
      this._button("expand", "Open all modules", () => view.groups.expandAll());
      this._button("collapse", "Close all modules", () => view.groups.collapseAll());
      this.constants = this._button("constants", "Show constants as boxes", () => view.setOptions({ constants: !view.options.constants }));
      this.showConstants(view.options.constants);
    }
    _button(icon, title, act) {
      const button = element("button", "", this.bar);
      button.type = "button";
      button.title = title;
      button.setAttribute("aria-label", title);
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 16 16");
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", ICONS[icon]);
      svg.append(path);
      button.append(svg);
      button.addEventListener("click", act);
      return button;
    }
    showConstants(shown) {
      this.constants.setAttribute("aria-pressed", String(shown));
    }
  };
  var DEFAULTS = { constants: false, panes: "split", theme: "auto", toolbar: true, worker: "auto", wheel: "zoom" };
  var LABEL = "Graph before and after the pass. Arrow keys follow edges, Enter opens and closes modules.";
  var VARIABLES = { page: "page", text: "text", soft: "soft", focus: "focus", line: "groupLine", panel: "panel", hover: "hover" };
  var View = class {
    constructor(container, options) {
      this.options = { ...DEFAULTS, ...options };
      this.gone = false;
      this.theme = "light";
      this.listeners = /* @__PURE__ */ new Map();
      this.arrangements = new Arrangements(this.options.worker);
      this.turn = 0;
      this.model = null;
      this.steps = null;
      this.picture = null;
      this.hovered = -1;
      this.placedMarks = placeMarks({}, null);
      this.marks = {};
      this.colouring = null;
      this.colours = null;
      this.root = element("div", "fg", container);
      this.root.tabIndex = 0;
      this.root.setAttribute("role", "application");
      this.root.setAttribute("aria-label", LABEL);
      element("style", "", this.root).textContent = STYLE;
      this.camera = new Camera(this);
      this.panes = new Panes(this);
      this.stage = new Stage(this);
      this.legend = new Legend(this.root, this.options.words);
      this.toolbar = new Toolbar(this);
      this.groups = new Groups(this);
      this.found = new Search(this);
      this.selection = new Selection(this);
      this.overview = new Overview(this);
      this.pointer = new Pointer(this);
      this.keyboard = new Keyboard(this);
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      this.onScheme = () => this.setTheme(this.options.theme);
      this.dark.addEventListener("change", this.onScheme);
      this.setTheme(this.options.theme);
      this.stage.resize();
    }
    destroy() {
      this.gone = true;
      this.turn++;
      this.stage.stop();
      this.camera.stop();
      this.arrangements.stop();
      this.dark.removeEventListener("change", this.onScheme);
      this.root.remove();
      this.listeners.clear();
    }
    on(name, callback) {
      if (!this.listeners.has(name)) this.listeners.set(name, /* @__PURE__ */ new Set());
      this.listeners.get(name)?.add(callback);
      return () => this.listeners.get(name)?.delete(callback);
    }
    emit(name, detail) {
      for (const callback of this.listeners.get(name) || []) callback(detail);
    }
    setData(data) {
      this.model = new Model(data);
      this.steps = null;
      this.picture = null;
      this.arrangements.forget();
      this.groups.forget();
      this.found.forget();
      this.selection.id = null;
      this.camera.unseen = true;
      this.stage.redraw();
    }
    async show({ before, after }) {
      const { steps } = this.model;
      const step = steps[after];
      if (!step) throw new Error(`graph view: there is no step ${after}, only 0 to ${steps.length - 1}`);
      const from2 = before === void 0 ? this.model.stepBefore(step) : before;
      if (from2 !== null && (!steps[from2] || steps[from2].method !== step.method)) {
        throw new Error(`graph view: step ${from2} is no step of ${step.method}, so it cannot be compared with step ${after}`);
      }
      if (this.steps && steps[this.steps.after].method !== step.method) this.camera.unseen = true;
      this.steps = { before: from2, after };
      const shown = this.picture?.layout;
      this.groups.openAtFirst();
      await this.rebuild();
      const distant = from2 !== this.model.stepBefore(step);
      if (shown && (distant || this.picture.layout !== shown) && this.selection.item <= 0) this.camera.findChanges();
      this.stage.draw();
    }
    snapshots() {
      const { before, after } = this.steps;
      const graph = (step) => step === null ? null : this.model.steps[step].after;
      return [graph(before), graph(after)];
    }
    outline() {
      const [before, after] = this.snapshots();
      return this.model.outline(this.model.epochOf(before, after), this.options.constants);
    }
    async rebuild(anchor) {
      if (this.gone) return;
      const turn = ++this.turn;
      const arranging = this.arrangements.of(this.outline(), this.groups.open);
      const arranged = arranging instanceof Promise ? await arranging : arranging;
      if (turn !== this.turn || !arranged) return;
      const next = new Picture(arranged, this.steps, this.snapshots());
      if (this.picture && this.picture.layout !== next.layout) {
        this.camera.holdStill(this.picture, next, this._held(anchor));
      }
      this.picture = next;
      this.pointer.forget();
      this.overview.forget();
      this._placeMarks();
      this._placeColours();
      this.selection.resolve();
      this.found.resolve();
      this._drawLegend();
      this.camera.lookFirst();
      this.stage.redraw();
      this.emit("ready", { boxes: next.scene.items.length - 1, edges: next.scene.edges.length });
    }
    _held(anchor) {
      if (anchor !== void 0) return this.picture.scene.itemOfGroup.get(anchor);
      return this.selection.item > 0 ? this.selection.item : void 0;
    }
    _placeMarks() {
      this.placedMarks = placeMarks(this.marks, this.picture);
    }
    _placeColours() {
      this.colours = this.colouring && this.picture ? new Colours(this.colouring, this.picture) : null;
    }
    async revealChanges() {
      await this.groups.reveal();
      this.fitChanges();
    }
    fit() {
      if (this.picture) this.camera.frame(this.picture.whole);
    }
    fitChanges() {
      if (this.picture) this.camera.frameChanges();
    }
    nextChange(direction) {
      const items = this.picture ? this.picture.changedItems() : [];
      if (!items.length) return;
      const at = items.indexOf(this.selection.item);
      const next = at < 0 ? direction > 0 ? 0 : items.length - 1 : (at + direction + items.length) % items.length;
      this.selection.choose(items[next], true);
    }
    zoomBy(factor, at = { x: 0, y: 0 }) {
      this.camera.zoomBy(factor, at);
    }
    lookAt(id) {
      const { camera, picture } = this;
      const item = picture ? picture.scene.itemOf(picture.shownAs(id)) : -1;
      if (item > 0 && !camera.fits(picture.whole, camera.zoom)) camera.centre(item);
    }
    async select(id, { center = false } = {}) {
      if (id !== null && !this.model.keyOfId.has(id) && !this.outline().groups.has(id)) {
        throw new Error(`graph view: there is no node or group ${JSON.stringify(id)}`);
      }
      this.selection.id = id;
      if (center && id !== null) await this.groups.expandTo(this.picture?.shownAs(id) ?? id);
      this.selection.resolve();
      if (center && this.selection.item > 0) this.camera.centre(this.selection.item);
      this.selection.announce();
      this.stage.redraw();
    }
    node(id) {
      return this.steps ? nodeIn(this.model, this.snapshots(), id) : null;
    }
    search(text, how) {
      return this.found.run(text, how);
    }
    firstMatch() {
      return this.found.first();
    }
    focusMatch(index) {
      const match = this.found.matches[index];
      return match ? this.select(match.id, { center: true }) : Promise.resolve();
    }
    setTheme(theme) {
      this.options.theme = theme;
      this.theme = theme === "auto" ? this.dark.matches ? "dark" : "light" : theme;
      const colours = THEMES[this.theme];
      for (const [name, colour] of Object.entries(VARIABLES)) {
        this.root.style.setProperty(`--fg-${name}`, colours[colour]);
      }
      this._drawLegend();
      this.stage.redraw();
    }
    setMarks(marks) {
      this.marks = marks || {};
      this._placeMarks();
      this.stage.redraw();
    }
    setColouring(colouring) {
      this.colouring = colouring;
      this._placeColours();
      this._drawLegend();
      this.stage.redraw();
    }
    setLegend(entries, title = "") {
      this.legend.set(entries || [], title);
      this._drawLegend();
    }
    _drawLegend() {
      this.legend.draw(THEMES[this.theme], this.steps !== null && this.steps.before !== null, this.colours);
      this.stage.resize();
    }
    async setOptions(options) {
      const { constants } = this.options;
      Object.assign(this.options, options);
      this.toolbar.showConstants(this.options.constants);
      if (this.steps && constants !== this.options.constants) {
        this.groups.openAtFirst();
        await this.rebuild();
      }
      this.stage.draw();
    }
    state() {
      const { constants, panes } = this.options;
      return { steps: this.steps, expanded: this.groups.ids(), selection: this.selection.id, viewport: this.camera.place(), options: { constants, panes } };
    }
    async restore({ steps, expanded, selection, viewport, options }) {
      this.camera.stop();
      Object.assign(this.options, options);
      this.toolbar.showConstants(this.options.constants);
      this.steps = steps;
      this.groups.restore(expanded);
      const known = selection !== null && (this.model.keyOfId.has(selection) || this.outline().groups.has(selection));
      this.selection.id = known ? selection : null;
      this.camera.unseen = false;
      await this.rebuild();
      this.camera.jump(viewport);
      this.stage.draw();
      this.selection.announce();
    }
    toSVG() {
      return this.stage.toSVG();
    }
    toPNG() {
      return this.stage.toPNG();
    }
  };
  var create = (container, options = {}) => new View(container, options);
  globalThis.FreezerGraph = { create, Model, runLayout: run };
})();
