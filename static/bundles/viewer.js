"use strict";
(() => {
  var DEFAULTS = Object.freeze({ step: null, against: null, tab: "graph", node: null, attribute: null, program: 0, kernel: null, line: "", beside: false, passes: "", quiet: false, constants: false, fates: true, panes: "split", colour: "change", fold: true, scope: "pass", alias: "", q: "", minor: false, fate: [], kind: "", reason: "", sort: "path" });
  var NUMBERS = /* @__PURE__ */ new Set(["step", "against", "program", "kernel"]);
  function toFragment(state) {
    const words4 = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
      if (!isKey(key) || value === null || String(value) === String(DEFAULTS[key])) continue;
      words4.set(key, String(typeof value === "boolean" ? Number(value) : value));
    }
    return words4.toString();
  }
  function fromFragment(fragment) {
    const state = {};
    for (const [key, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
      if (!isKey(key)) continue;
      const value = parse(key, text);
      if (value !== void 0) state[key] = value;
    }
    return state;
  }
  function isKey(key) {
    return Object.hasOwn(DEFAULTS, key);
  }
  function parse(key, text) {
    if (NUMBERS.has(key)) return /^\d+$/.test(text) ? Number(text) : void 0;
    if (typeof DEFAULTS[key] === "boolean") return text === "1";
    if (Array.isArray(DEFAULTS[key])) return text.split(",").filter(Boolean);
    return text;
  }
  var PROTOCOL = 1;
  var joinPage = (viewer, id) => {
    followTheme(viewer);
    if (id) exchange(viewer, id);
  };
  function followTheme(viewer) {
    const body = bodyAround();
    if (!body) return;
    const follow = () => viewer.setTheme(themeOf(body));
    follow();
    const watch = new MutationObserver(follow);
    watch.observe(body, { attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  }
  function bodyAround() {
    try {
      return window.parent.document.body;
    } catch (refused) {
      if (refused.name !== "SecurityError") throw refused;
      return null;
    }
  }
  function themeOf(body) {
    const { jpThemeLight, vscodeThemeKind } = body.dataset;
    if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
    if (vscodeThemeKind) return vscodeThemeKind.endsWith("light") ? "light" : "dark";
    return "auto";
  }
  function exchange(viewer, id) {
    const post = (type, parts) => window.parent.postMessage({ freezer: PROTOCOL, id, type, ...parts }, "*");
    const ready = () => post("ready", { state: viewer.state(), theme: viewer.theme() });
    const commands = { hello: ready, navigate: ({ patch }) => viewer.navigate(clean(patch)), restore: ({ state }) => {
      const before = JSON.stringify(viewer.state());
      viewer.restore(clean(state));
      if (JSON.stringify(viewer.state()) !== before) post("state", { state: viewer.state() });
    }, theme: ({ theme }) => viewer.setTheme(theme) };
    window.addEventListener("message", ({ data, source }) => {
      if (source !== window.parent || data?.freezer !== PROTOCOL || data.id !== id) return;
      if (Object.hasOwn(commands, data.type)) commands[data.type](data);
    });
    viewer.on("state", (state) => post("state", { state }));
    viewer.on("theme", (theme) => post("theme", { theme }));
    ready();
  }
  function clean(state) {
    const cleared = Object.fromEntries(Object.entries(state).filter(([key, value]) => value === null && key in DEFAULTS));
    return { ...cleared, ...fromFragment(toFragment(state)) };
  }
  function diffLines(before, after, same2) {
    const places = new Map(before.map((line3, at) => [line3.key, at]));
    const common = after.flatMap((line3, at) => {
      const old2 = places.get(line3.key);
      return old2 !== void 0 && same2(before[old2], line3) ? [[old2, at]] : [];
    });
    const kept = increasing(common.map(([old2]) => old2)).map((at) => common[at]);
    const rows = [];
    let [old, now] = [0, 0];
    for (const [nextOld, nextNow] of [...kept, [before.length, after.length]]) {
      for (; old < nextOld; old += 1) rows.push({ kind: "removed", line: before[old], old: old + 1 });
      for (; now < nextNow; now += 1) rows.push({ kind: "added", line: after[now], new: now + 1 });
      if (old < before.length && now < after.length) {
        rows.push({ kind: "same", line: after[now], old: old += 1, new: now += 1 });
      }
    }
    return pairUp(rows, same2);
  }
  function pairUp(rows, same2) {
    const dropped = new Map(rows.filter((row) => row.kind === "removed").map((row) => [row.line.key, row]));
    for (const row of rows) {
      const other = row.kind === "added" ? dropped.get(row.line.key) : void 0;
      if (other === void 0) continue;
      [row.pair, other.pair] = [other.line, row.line];
      row.moved = other.moved = same2(row.line, other.line);
    }
    return rows;
  }
  function increasing(numbers) {
    const ends = [];
    const previous = new Array(numbers.length);
    numbers.forEach((number2, at) => {
      let [low, high] = [0, ends.length];
      while (low < high) {
        const middle = low + high >> 1;
        if (numbers[ends[middle]] < number2) low = middle + 1;
        else high = middle;
      }
      previous[at] = low ? ends[low - 1] : -1;
      ends[low] = at;
    });
    const run2 = [];
    for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]) run2.push(at);
    return run2.reverse();
  }
  function textLines(text) {
    const seen = /* @__PURE__ */ new Map();
    return text.trimEnd().split("\n").map((words4) => {
      const times2 = seen.get(words4) ?? 0;
      seen.set(words4, times2 + 1);
      return { key: `${times2}:${words4}`, text: words4 };
    });
  }
  var DTYPES = { Float: "f32", Double: "f64", Half: "f16", BFloat16: "bf16", Long: "i64", Int: "i32", Short: "i16", Char: "i8", Byte: "u8", Bool: "bool", QUInt8: "qu8", QInt8: "qi8", QInt32: "qi32", float32: "f32", float64: "f64", float16: "f16", bfloat16: "bf16", int64: "i64", int32: "i32", int16: "i16", int8: "i8", uint8: "u8", quint8: "qu8", qint8: "qi8", qint32: "qi32" };
  var BACKENDS = { torchscript: "TorchScript", inductor: "Inductor", aotinductor: "AOTInductor" };
  function backendName(id) {
    return BACKENDS[id] ?? id;
  }
  function count(number2, noun, several = `${noun}s`) {
    return `${number2} ${number2 === 1 ? noun : several}`;
  }
  function opName(op) {
    const tail = op.slice(op.lastIndexOf("::") + 1).replace(/^:/, "");
    return tail.replace(/^torch\.ops\./, "").replace(/^(aten|prims|mkldnn)\./, "");
  }
  function shortDtype(dtype) {
    return DTYPES[dtype] ?? dtype;
  }
  function shortType(type) {
    const match = /^(\w+)\(([^)]*)\)$/.exec(type.replace(/\[[^\]]*\]/g, ""));
    if (!match || !(match[1] in DTYPES)) return type.length > 40 ? `${type.slice(0, 39)}…` : type;
    const sizes = match[2].split(",").map((part3) => part3.trim()).filter((part3) => part3 && !part3.includes("="));
    return `${DTYPES[match[1]]}[${sizes.join(", ")}]`;
  }
  function shortName(name2) {
    const parts = name2.split(/[./]/).filter((part3) => part3 && !/^\d+$/.test(part3));
    return parts.at(-1) || name2;
  }
  function attributeName(node) {
    const pair = node.op === "prim::GetAttr" && node.attributes.find((one) => one.name === "name");
    return pair ? pair.text.replace(/^"(.*)"$/, "$1") : "";
  }
  function pathText([path, ...more], frame = "") {
    const parts = (frame && path.startsWith(`${frame}.`) ? path.slice(frame.length + 1) : path).split(".");
    const words4 = [...parts.keys()].filter((at) => !/^\d+$/.test(parts[at]));
    return `${parts.slice(words4.at(-2) ?? 0).join(".")}${more.length ? ` +${more.length}` : ""}`;
  }
  function chipText(node, known) {
    if (node.constant) return `${known || shortName(node.outputs[0].name)} [${node.constant.shape.join(", ")}]`;
    if (known) return known;
    const type = node.outputs.length ? node.outputs[0].type : "";
    if (node.op === "prim::GetAttr") {
      const name2 = attributeName(node);
      const primitive = /^(int|bool|float|str|NoneType|Device|(int|bool|float)\[\]|.*\?)$/.test(type);
      if (primitive) return "";
      const sizes = /^\w+(\[.*\])$/.exec(shortType(type));
      return `${name2 || shortName(node.outputs[0].name)}${sizes ? ` ${sizes[1]}` : ""}`;
    }
    return /Tensor/.test(type) ? shortName(node.outputs[0].name) : "";
  }
  function h(tag, props, ...children) {
    const [name2, ...classes] = tag.split(".");
    const element3 = document.createElement(name2);
    if (classes.length) element3.className = classes.join(" ");
    for (const [key, value] of Object.entries(props || {})) setProperty(element3, key, value);
    append(element3, children);
    return element3;
  }
  function setProperty(element3, key, value) {
    if (value === null || value === void 0 || value === false) return;
    if (key.startsWith("on")) element3.addEventListener(key.slice(2), value);
    else if (key === "class") element3.classList.add(...value.split(" ").filter(Boolean));
    else if (key === "data") Object.assign(element3.dataset, value);
    else if (key === "style") for (const [name2, text] of Object.entries(value)) element3.style.setProperty(name2, text);
    else element3.setAttribute(key, value === true ? "" : value);
  }
  function append(element3, children) {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === void 0 || child === false) continue;
      element3.append(child instanceof Node ? child : String(child));
    }
  }
  function fill(element3, ...children) {
    element3.replaceChildren();
    append(element3, children);
    return element3;
  }
  function svg(tag, props, ...children) {
    const element3 = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(props)) element3.setAttribute(key, String(value));
    element3.append(...children);
    return element3;
  }
  var ICONS = { link: "M6.5 9.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 1 0-4.2-4.2L8 3.8M9.5 6.5a3 3 0 0 0-4.2 0L2.7 9.1a3 3 0 1 0 4.2 4.2L8 12.2", theme: "M8 2a6 6 0 1 0 0 12ZM8 2a6 6 0 0 1 0 12", keys: "M1.5 4.5h13v7h-13ZM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.3h6", close: "M4 4l8 8M12 4l-8 8", more: "M3.5 8h.01M8 8h.01M12.5 8h.01", save: "M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11", code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5", page: "M4 1.5h5.5L12.5 4.5v10h-8.5zM9.5 1.5v3h3" };
  function icon(name2) {
    const path = svg("path", { d: ICONS[name2] ?? name2, ...name2 === "theme" ? { class: "fv-icon-half" } : {} });
    return svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, path);
  }
  var VirtualList = class {
    constructor({ rowHeight, row, props, narrow = null }) {
      this.range = void 0;
      this.heights = { wide: rowHeight, narrow };
      this.rowHeight = rowHeight;
      this.row = row;
      this.rows = /* @__PURE__ */ new Map();
      this.count = 0;
      this.body = h("div.fv-virtual-body", { role: "presentation" });
      this.element = h("div.fv-virtual", { tabindex: "0", ...props }, this.body);
      this.element.addEventListener("scroll", () => this.paint(), { passive: true });
      this.observer = new ResizeObserver(() => this.fit());
      this.observer.observe(this.element);
    }
    fit() {
      const { wide: wide2, narrow } = this.heights;
      const rowHeight = narrow && this.element.offsetWidth && this.element.offsetWidth < narrow.below ? narrow.rowHeight : wide2;
      if (rowHeight === this.rowHeight) return this.paint();
      const first = this.element.scrollTop / this.rowHeight;
      this.rowHeight = rowHeight;
      this.update(this.count, first * rowHeight);
    }
    update(count2, top = null) {
      this.count = count2;
      this.range = null;
      this.body.style.height = `${count2 * this.rowHeight}px`;
      if (top !== null) this.element.scrollTop = top;
      this.paint();
    }
    paint() {
      const { scrollTop, clientHeight } = this.element;
      const first = Math.max(0, Math.floor(scrollTop / this.rowHeight) - 10);
      const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.rowHeight) + 10);
      const range = `${first}:${last}`;
      if (range === this.range) return;
      const known = this.range === null ? /* @__PURE__ */ new Map() : this.rows;
      this.range = range;
      this.rows = /* @__PURE__ */ new Map();
      const kept = [];
      for (let index = first; index < last; index += 1) {
        const row = known.get(index) ?? this.row(index);
        row.style.top = `${index * this.rowHeight}px`;
        this.rows.set(index, row);
        kept.push(row);
      }
      const stays = new Set(kept);
      for (const child of [...this.body.children]) if (!stays.has(child)) child.remove();
      let next = null;
      for (const row of kept.reverse()) {
        if (row.parentNode !== this.body || row.nextSibling !== next) this.body.insertBefore(row, next);
        next = row;
      }
    }
    destroy() {
      this.observer.disconnect();
    }
    refresh() {
      this.range = null;
      this.paint();
    }
    reveal(index, { middle = false } = {}) {
      const { scrollTop, clientHeight } = this.element;
      const top = index * this.rowHeight;
      const hidden = top < scrollTop || top + this.rowHeight > scrollTop + clientHeight;
      if (!hidden) return;
      const centred = top - (clientHeight - this.rowHeight) / 2;
      const nearest3 = top < scrollTop ? top : top + this.rowHeight - clientHeight;
      this.element.scrollTop = middle ? centred : nearest3;
      this.paint();
    }
  };
  function reveal(box, element3, { middle = false, below = 0 } = {}) {
    const [outer, inner] = [box.getBoundingClientRect(), element3.getBoundingClientRect()];
    for (const [start, end, scroll] of [["top", "bottom", "scrollTop"], ["left", "right", "scrollLeft"]]) {
      const before = inner[start] - outer[start] - (start === "top" ? below : 0);
      const after = inner[end] - outer[end];
      if (middle && scroll === "scrollTop") box[scroll] += (before + after) / 2;
      else if (before < 0) box[scroll] += before;
      else if (after > 0) box[scroll] += Math.min(after, before);
    }
  }
  function listMove(event, at, count2, page2) {
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: page2, PageUp: -page2, Home: -Infinity, End: Infinity }[event.key];
    if (move === void 0 || !count2) return null;
    event.preventDefault();
    event.stopPropagation();
    return Math.max(0, Math.min(count2 - 1, at + move));
  }
  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (refused) {
      if (!(refused instanceof DOMException || refused instanceof TypeError)) throw refused;
      return false;
    }
  }
  function selectsText(element3) {
    const selection = element3.getRootNode().getSelection?.() ?? getSelection();
    return !selection.isCollapsed;
  }
  var CARDS_FROM = 3;
  function grid(caption2, heads2, rows) {
    const cells2 = heads2.map((head) => head === "" ? h("td") : h("th", { scope: "col" }, head));
    for (const row of rows) label(row, cells2);
    return h("table.fv-grid", { class: heads2.length >= CARDS_FROM ? "fv-grid-cards" : "" }, h("caption", null, caption2), h("thead", null, h("tr", null, cells2)), h("tbody", null, rows));
  }
  function label(row, heads2) {
    if (row.cells.length !== heads2.length) return;
    heads2.forEach((head, column) => {
      const isName2 = column > 0 && !head.querySelector(".fv-ratio-axis");
      if (head.textContent && isName2) row.cells[column].dataset.label = head.textContent;
    });
  }
  var SourcePlaces = class {
    constructor(model) {
      this.model = model;
      this.evidence = null;
      this.called = /* @__PURE__ */ new Map();
    }
    places(method, node) {
      const source = node.source ?? this.fromEvidence(node.id);
      const own = source ? [{ source, called: null }] : [];
      if (!node.module || source && !isInstalled(source.file)) return own;
      const parts = node.module.split(".");
      for (let length = parts.length; length; length -= 1) {
        const called = parts.slice(0, length).join(".");
        const call = this.calls(method).get(called);
        if (call) return [{ source: call, called }, ...own];
      }
      return own;
    }
    fromEvidence(id) {
      this.evidence ??= new Map(this.model.view.attributes.flatMap((row) => row.evidence.map(({ node, source }) => [node, source])));
      return this.evidence.get(id) ?? null;
    }
    calls(method) {
      const known = this.called.get(method);
      if (known) return known;
      const calls = /* @__PURE__ */ new Map();
      for (const [{ index }] of this.model.chains(method)) {
        const reads = this.model.reads(index);
        for (const { op, inputs, source } of this.model.graph(index).nodes.values()) {
          if (op !== "prim::CallMethod" || !source || isInstalled(source.file)) continue;
          const path = reads.get(inputs[0]);
          if (path !== void 0 && !calls.has(path)) calls.set(path, source);
        }
      }
      this.called.set(method, calls);
      return calls;
    }
    around(file, line3, reach) {
      const kept = this.model.view.sources.find((source) => source.file === file && line3 >= source.first_line && line3 < source.first_line + source.lines.length);
      if (!kept) return [];
      const first = Math.max(kept.first_line, line3 - reach);
      const last = Math.min(kept.first_line + kept.lines.length - 1, line3 + reach);
      return Array.from({ length: last - first + 1 }, (_, offset) => ({ number: first + offset, text: kept.lines[first + offset - kept.first_line] }));
    }
  };
  function placeText({ file, line: line3 }) {
    return `${file.split(/[\\/]/).pop()}:${line3}`;
  }
  function isInstalled(file) {
    return /[\\/](site|dist)-packages[\\/]|^</.test(file);
  }
  function explains(app, name2) {
    return name2 !== void 0 && app.terms.has(name2) ? { data: { term: name2 }, "aria-describedby": idOf(app, name2) } : {};
  }
  function term(app, name2, text = name2) {
    return app.terms.has(name2) ? h("span.fv-term", { tabindex: "0", ...explains(app, name2) }, text) : h("span", null, text);
  }
  function idOf(app, name2) {
    return `${app.prefix}-term-${name2.replaceAll(" ", "-")}`;
  }
  var Terms = class {
    constructor(app) {
      this.app = app;
      this.meanings = new Map(app.model.view.glossary);
      this.tip = h("div.fv-tip", { role: "tooltip", "aria-hidden": "true", hidden: true });
      this.element = h("div", null, [...this.meanings].map(([name2, text]) => h("span", { id: idOf(app, name2), hidden: true }, text)), this.tip);
      const follow = (event) => {
        const label2 = event.target.closest?.("[data-term]");
        if (event.type === "pointerover" || label2?.matches(":focus-visible")) this.show(label2);
      };
      const leave = (event) => event.target.closest?.("[data-term]") && this.hide();
      const escape = (event) => event.key === "Escape" && !this.tip.hidden && this.stop(event);
      for (const name2 of ["pointerover", "focusin"]) app.root.addEventListener(name2, follow);
      for (const name2 of ["pointerout", "focusout", "pointerdown"]) app.root.addEventListener(name2, leave);
      app.root.addEventListener("keydown", escape, true);
      const resized = () => this.hide();
      addEventListener("resize", resized);
      app.stops.push(() => {
        for (const name2 of ["pointerover", "focusin"]) app.root.removeEventListener(name2, follow);
        for (const name2 of ["pointerout", "focusout", "pointerdown"]) app.root.removeEventListener(name2, leave);
        app.root.removeEventListener("keydown", escape, true);
        removeEventListener("resize", resized);
      });
    }
    has(name2) {
      return this.meanings.has(name2);
    }
    show(label2) {
      const text = label2 && this.meanings.get(label2.dataset.term ?? "");
      if (!text) return;
      this.tip.textContent = text;
      this.tip.hidden = false;
      const [outer, inner] = [this.app.root.getBoundingClientRect(), label2.getBoundingClientRect()];
      const { offsetWidth: width, offsetHeight: height } = this.tip;
      const below = inner.bottom - outer.top + 6;
      const fits = below + height < outer.height;
      this.tip.style.left = `${Math.max(6, Math.min(inner.left - outer.left, outer.width - width - 6))}px`;
      this.tip.style.top = `${fits ? below : Math.max(6, inner.top - outer.top - height - 6)}px`;
    }
    hide() {
      this.tip.hidden = true;
    }
    stop(event) {
      this.hide();
      event.stopPropagation();
    }
  };
  var AliasesPanel = class {
    static isFor({ steps, view }) {
      return view.backend === "torchscript" || steps.some((step) => step.aliases !== null);
    }
    constructor(app) {
      this.shown = void 0;
      this.step = void 0;
      this.app = app;
      this.id = "aliases";
      this.term = "alias set";
      this.label = "Aliases & writes";
      this.entries = [];
      this.text = h("input.fv-input", { type: "search", placeholder: "Filter values", "aria-label": "Filter alias sets", oninput: () => app.navigate({ alias: this.text.value }) });
      this.note = h("span.fv-muted", { role: "status" });
      this.writes = h("div.fv-writes");
      this.list = new VirtualList({ rowHeight: 28, narrow: { below: 641, rowHeight: 52 }, row: (index) => this.row(index), props: { role: "rowgroup" } });
      this.table = h("div.fv-table.fv-aliases", { role: "table", "aria-label": "Alias sets" }, h("div.fv-table-row.fv-table-head", { role: "row" }, ["Value", "Relation", "Targets"].map((text) => h("div", { role: "columnheader" }, text))), this.list.element);
      this.bar = h("div.fv-bar", null, this.text, this.note);
      this.element = h("div.fv-panel-body", null, this.bar, this.writes, this.table);
    }
    focusSearch() {
      this.text.focus();
      this.text.select();
    }
    stepOf(state) {
      return this.app.model.step(state.step);
    }
    render(state) {
      const key = JSON.stringify([this.stepOf(state)?.index, state.alias]);
      if (key !== this.shown) this.build(state);
      this.shown = key;
      this.mark();
    }
    mark() {
      const { focused } = this.app;
      for (const row of this.writes.querySelectorAll("[data-node]")) {
        row.classList.toggle("fv-chosen", focused.has(row.dataset.node ?? ""));
      }
      this.list.refresh();
      const place2 = this.table.hidden ? -1 : this.entries.findIndex(([value]) => this.isChosen(value));
      if (place2 >= 0) this.list.reveal(place2, { middle: true });
    }
    isChosen(value) {
      return this.app.focused.has(this.app.model.graph(this.step.index).makers.get(value) ?? "");
    }
    build(state) {
      const step = this.stepOf(state);
      const aliases = step && step.aliases !== null ? this.app.model.view.aliases[step.aliases] : null;
      this.text.value = state.alias;
      for (const part3 of [this.bar, this.table]) part3.hidden = !aliases;
      if (!aliases) return this.missing();
      this.step = step;
      const text = state.alias.toLowerCase();
      this.entries = aliases.entries.filter(([value, , targets]) => !text || `${value} ${targets.join(" ")}`.toLowerCase().includes(text));
      this.note.textContent = `${this.entries.length} of ${aliases.entries.length} relations, ${count(aliases.writes.length, "write")}`;
      fill(this.writes, this.written(aliases.writes, text));
      this.list.update(this.entries.length, 0);
    }
    destroy() {
      this.list.destroy();
    }
    missing() {
      const kept = this.app.model.steps.filter((step) => step.aliases !== null);
      this.note.textContent = "";
      const where = kept.map((step) => h("li", null, this.app.details.stepLink(step.index, { tab: "aliases" }), h("span.fv-muted", null, ` ${step.method}`)));
      fill(this.writes, h("p.fv-empty", null, "No alias analysis was recorded for this pass.", kept.length ? " It was for:" : ""), h("ul.fv-list.fv-centred", null, where));
    }
    written(writes, text) {
      const shown = writes.filter((write2) => !text || `${write2.op} ${write2.targets.join(" ")}`.toLowerCase().includes(text));
      if (!shown.length) {
        return h("p.fv-empty", null, writes.length ? "No write matches." : "No node writes memory in this graph.");
      }
      const rows = shown.map((write2) => h("tr", { data: { node: write2.node } }, h("td", null, this.app.link(write2.op, { node: write2.node, attribute: null, tab: "graph" })), h("td", null, this.values(write2.targets)), h("td.fv-mono", null, write2.source ? placeText(write2.source) : "")));
      return grid(`Writes (${rows.length})`, ["Node", "May write", "Source"], rows);
    }
    values(names) {
      return names.map((name2, at) => [at ? ", " : "", this.value(name2)]);
    }
    value(name2) {
      const maker = this.app.model.graph(this.step.index).makers.get(name2);
      if (maker !== void 0) return this.app.link(`%${name2}`, { node: maker, attribute: null });
      return name2.startsWith("WILDCARD") ? h("code.fv-wildcard", null, term(this.app, "wildcard", name2)) : h("code", null, `%${name2}`);
    }
    row(index) {
      const [value, relation, targets] = this.entries[index];
      const maker = this.app.model.graph(this.step.index).makers.get(value);
      const choose = (event) => event.target.closest("a") || maker === void 0 || this.app.navigate({ node: maker, attribute: null });
      return h("div.fv-table-row", { role: "row", class: this.isChosen(value) ? "fv-chosen" : "", onclick: choose }, h("div.fv-clip", { role: "cell" }, this.value(value)), h("div.fv-muted", { role: "cell" }, relation), h("div.fv-clip", { role: "cell", title: targets.join(", ") }, this.values(targets)));
    }
  };
  var MINOR_TITLE = "Attributes that are neither parameters nor buffers and were not preserved: submodules, flags, values";
  function filterField(app, placeholder) {
    const field = h("input.fv-input", { type: "search", placeholder, "aria-label": "Filter attributes", oninput: () => app.navigate({ q: field.value }) });
    return field;
  }
  function attributeList(panel) {
    return new VirtualList({ rowHeight: 30, narrow: { below: 641, rowHeight: 76 }, row: (index) => panel.row(index), props: { role: "rowgroup", "aria-label": "Attributes", onkeydown: (event) => panel.key(event) } });
  }
  function detailsTitle(text, mark) {
    return h("h2.fv-details-title", null, h("span.fv-wrap", null, text), typeof mark === "string" ? h("span.fv-muted.fv-wrap", null, mark) : mark);
  }
  function section(name2, ...children) {
    return h("section.fv-section", null, h("h3", null, name2), children);
  }
  function pairs(rows) {
    return h("dl.fv-pairs", null, rows.map(([name2, text]) => [h("dt", null, name2), h("dd.fv-wrap", null, text)]));
  }
  var KEYS = [["↑ ↓", "previous, next pass"], ["r f", "previous, next pass that changed something"], ["c", "compare from the chosen pass on; again, or Esc: with the pass before, as usual"], ["/", "search in the open tab"], ["0 … 9", "open a tab; 0 is the summary"], ["s", "the source; there ↑ ↓ go through its lines, ↵ keeps one"], ["h", "hide or show passes without effect"], ["n p", "in the graph: next, previous change"], ["+ − 0", "in the graph: zoom, whole graph; the wheel zooms, dragging moves"], ["↵", "in the graph: open or close the chosen module"], ["Esc", "leave a field, close details, end the comparison"], ["?", "this sheet"]];
  var PASS_SIGNS = [[() => [h("span.fv-removed", null, "−9 "), h("span.fv-added", null, "+7 "), h("span.fv-modified", null, "~4")], "nodes that a pass removed, added, changed"], [() => h("span.fv-muted", null, "−2 unread"), "the pass only tidied up: it removed nodes that nothing read"], [() => h("span.fv-muted", null, "moved"), "the same nodes in another order"], [() => h("span.fv-muted", null, "module"), "the graph stayed, the module's attributes changed"], [() => h("span.fv-round", null, "r2"), "second round of a loop of passes"], [() => [h("span.fv-payoff.fv-payoff-faster", null, "▼ −12%"), " ", h("span.fv-payoff.fv-payoff-slower", null, "▲ +10%")], "the pass saved, or cost, measurable time against the pass before"], [() => h("span.fv-speed", null, h("span.fv-speed-bar", { style: { width: "70%" } }), h("span.fv-speed-spread", { style: { left: "58%", width: "24%" } })), "median latency after the pass, with its 95% interval; teal or red where the difference from the first step is measurable"], [() => [h("span.fv-pass-broke", null, "≠"), " ", h("span.fv-muted", null, "≠")], "outputs are past torch's tolerances against eager: the first pass that made them so, those after it"], [() => h("span.fv-warn", null, "!"), "there is a notice about the pass"]];
  var OTHER_SIGNS = [[() => fateBadge("inlined"), "the value is a constant of the final graph"], [() => fateBadge("folded"), "it was, and a later pass consumed that constant"], [() => fateBadge("preserved"), "still an attribute of the frozen module, or an input of the compiled graph"], [() => fateBadge("dropped"), "no kept code reads it"], [() => h("span.fv-chip-sign", null, "weight [64]"), "in the graph: a constant or attribute that the box reads; its frame has the colour of the fate"], [() => h("span.fv-ghost-sign"), "in the graph: only the other side has a box here"]];
  function fateBadge(fate2, props = {}) {
    return h("span.fv-badge.fv-fate", { class: `fv-fate-${fate2}`, ...props }, h("span.fv-dot"), fate2);
  }
  function dialog(label2, ...children) {
    const element3 = h("dialog.fv-sheet", { "aria-label": label2, onclick: (event) => event.target === element3 && element3.close() }, children, h("form", { method: "dialog" }, h("button.fv-button", null, "Close")));
    return element3;
  }
  function keySheet({ keys: otherKeys = {}, passSigns = PASS_SIGNS, glossary = [], tour } = {}) {
    const keys = KEYS.map(([key, text]) => [h("dt", null, key.split(" ").map((name2) => [h("kbd", null, name2), " "])), h("dd", null, otherKeys[key] ?? text)]);
    const signs = [...passSigns, ...OTHER_SIGNS].map(([sign, text]) => [h("dt", null, sign()), h("dd", null, text)]);
    const columns2 = h("div.fv-sheet-columns", null, h("section", null, h("h2", null, "Keys"), h("dl.fv-pairs", null, keys)), h("section", null, h("h2", null, "Signs"), h("dl.fv-pairs", null, signs)), glossary.length ? h("section.fv-glossary", null, h("h2", null, "Glossary"), pairs(glossary)) : null);
    const start = tour && h("button.fv-button.fv-sheet-tour", { type: "button", onclick: () => begin() }, "Take the tour");
    const element3 = dialog("Keys and signs", start, columns2);
    const begin = () => {
      element3.close();
      tour?.();
    };
    return element3;
  }
  function copySheet() {
    const text = h("textarea.fv-copy-text", { readonly: true, rows: 6, "aria-label": "Text to copy" });
    const element3 = dialog("Copy by hand", h("h2", null, "Copy by hand"), h("p.fv-muted", null, "This page may not use the clipboard: press Ctrl+C, or ⌘C."), text);
    const show = (words4) => {
      text.value = words4;
      element3.showModal();
      text.select();
    };
    return { element: element3, show };
  }
  var FATES = ["inlined", "folded", "preserved", "dropped"];
  var COLUMNS = [{ key: "path", label: "Attribute", order: (row) => row.path }, { key: "kind", label: "Kind", order: (row) => row.kind }, { key: "shape", label: "Shape, type", order: (row) => `${row.shape} ${row.dtype ?? row.type}` }, { key: "bytes", label: "Size", order: (row) => row.nbytes }, { key: "fate", label: "Fate", order: (row) => FATES.indexOf(row.fate) }, { key: "why", label: "Why", order: (row) => row.reason ?? "" }, { key: "home", label: "Now", order: (row) => row.locations[0]?.value ?? "" }];
  var LETTER_PX = 7.3;
  var AttributesPanel = class {
    constructor(app) {
      this.chosen = void 0;
      this.linked = void 0;
      this.query = void 0;
      this.app = app;
      this.id = "attributes";
      this.label = "Attributes";
      this.count = app.model.attributes.filter((row) => row.counted).length;
      this.rows = [];
      this.text = filterField(app, "Filter by path or type");
      this.fates = new Map(FATES.filter((fate2) => app.model.attributes.some((row) => row.fate === fate2)).map((fate2) => [fate2, this.fateButton(fate2)]));
      this.kind = this.select("kind", "All kinds", (row) => row.kind);
      this.reason = this.select("reason", "All reasons", (row) => row.reason);
      this.shown = h("span.fv-muted.fv-num", { role: "status" });
      this.minor = h("input", { type: "checkbox", onchange: () => app.navigate({ minor: this.minor.checked }) });
      const minor = app.model.attributes.filter((row) => row.minor).length;
      this.minorLabel = h("label.fv-check", { title: MINOR_TITLE, hidden: !minor }, this.minor, `Others (${minor})`);
      this.header = h("div.fv-table-row.fv-table-head", { role: "row" }, COLUMNS.map((column) => this.head(column)));
      this.list = attributeList(this);
      this.table = h("div.fv-table.fv-attributes", { role: "table", "aria-label": "Fates of attributes" }, this.header, this.list.element);
      const paths = app.model.attributes.filter((row) => !row.minor);
      const longest = paths.reduce((most, { path }) => Math.max(most, path.length), 0);
      this.table.style.setProperty("--path", `${(longest + 1) * LETTER_PX}px`);
      this.empty = h("p.fv-empty");
      this.element = h("div.fv-panel-body", null, h("div.fv-bar", null, this.text, h("div.fv-chips", { role: "group", "aria-label": "Fates" }, [...this.fates.values()]), this.kind, this.reason, this.minorLabel, this.shown), this.table, this.empty);
    }
    fateButton(fate2) {
      const toggle = () => {
        const chosen = new Set(this.app.current.fate);
        if (!chosen.delete(fate2)) chosen.add(fate2);
        this.app.navigate({ fate: FATES.filter((name2) => chosen.has(name2)) });
      };
      return h("button.fv-chip", { type: "button", class: `fv-fate-${fate2}`, "aria-pressed": "false", onclick: toggle, ...explains(this.app, fate2) }, h("span.fv-dot"), fate2, h("span.fv-num"));
    }
    select(key, all, read2) {
      const names = [...new Set(this.app.model.attributes.map(read2).filter(Boolean))].sort();
      const element3 = h("select.fv-input", { "aria-label": all, onchange: () => this.app.navigate({ [key]: element3.value }) }, h("option", { value: "" }, all), names.map((name2) => h("option", { value: name2 }, name2)));
      element3.hidden = names.length < 2;
      return element3;
    }
    head(column) {
      const sort = () => {
        const [key, down] = parseSort(this.app.current.sort);
        this.app.navigate({ sort: key === column.key && !down ? `-${column.key}` : column.key });
      };
      return h("div", { role: "columnheader", data: { key: column.key } }, h("button.fv-sort", { type: "button", onclick: sort, ...explains(this.app, column.key) }, column.label, h("span.fv-sort-mark", { "aria-hidden": "true" })));
    }
    focusSearch() {
      this.text.focus();
      this.text.select();
    }
    render(state) {
      const named2 = this.app.model.attribute(state.attribute)?.minor ? state.attribute : null;
      const query = JSON.stringify([state.q, state.fate, state.kind, state.reason, state.sort, state.minor, named2]);
      this.chosen = state.attribute;
      this.linked = new Set(state.attribute === null ? this.linkedTo(state.node) : []);
      if (query !== this.query) this.filter(state);
      this.query = query;
      this.list.refresh();
      const place2 = this.rows.findIndex((row) => row.path === state.attribute || this.linked.has(row.path));
      if (place2 >= 0) this.list.reveal(place2, { middle: true });
    }
    linkedTo(node) {
      const { model, pair } = this.app;
      if (node === null) return [];
      for (const step of pair?.steps() ?? []) {
        const found = model.graph(step.index).nodes.get(node);
        if (found) {
          return found.outputs.flatMap(({ name: name2 }) => model.attributesOf(step.index, name2)).map((row) => row.path);
        }
      }
      return [];
    }
    destroy() {
      this.list.destroy();
    }
    filter(state) {
      if (this.text.value !== state.q) this.text.value = state.q;
      this.kind.value = state.kind;
      this.reason.value = state.reason;
      this.minor.checked = state.minor;
      const text = state.q.toLowerCase();
      const all = this.app.model.attributes.filter((row) => state.minor || state.kind === "submodule" || !row.minor || row.path === state.attribute);
      for (const [fate2, button] of this.fates) {
        button.setAttribute("aria-pressed", String(state.fate.includes(fate2)));
        const found = all.filter((row) => row.fate === fate2);
        const count2 = found.length;
        button.lastChild.textContent = countWords(found);
        button.hidden = !count2 && !state.fate.includes(fate2);
      }
      this.rows = all.filter((row) => (!state.fate.length || state.fate.includes(row.fate)) && (!state.kind || row.kind === state.kind) && (!state.reason || row.reason === state.reason) && (!text || `${row.path} ${row.type}`.toLowerCase().includes(text)));
      this.sort(state.sort);
      this.shown.textContent = `${countWords(this.rows)} of ${this.count} parameters and buffers`;
      const hidden = all.length < this.app.model.attributes.length ? " Submodules, flags and values are left out." : "";
      this.empty.textContent = this.app.model.attributes.length ? `No attribute matches these filters.${hidden}` : "This trace says nothing about attributes.";
      this.empty.hidden = this.rows.length > 0;
      this.table.hidden = !this.rows.length;
      this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
      this.list.update(this.rows.length, 0);
    }
    sort(text) {
      const [key, down] = parseSort(text);
      const { order } = COLUMNS.find((column) => column.key === key) || COLUMNS[0];
      const sign = down ? -1 : 1;
      this.rows.sort((one, other) => sign * compare(order(one), order(other)) || compare(one.path, other.path));
      for (const cell of this.header.children) {
        const mine = cell.dataset.key === key;
        cell.setAttribute("aria-sort", mine ? down ? "descending" : "ascending" : "none");
        cell.querySelector(".fv-sort-mark").textContent = mine ? down ? "↓" : "↑" : "";
      }
    }
    row(index) {
      const row = this.rows[index];
      return h("div.fv-table-row", { role: "row", "aria-rowindex": index + 2, class: row.path === this.chosen ? "fv-chosen" : this.linked.has(row.path) ? "fv-linked" : "", data: { path: row.path }, onclick: (event) => event.target.closest("a") || this.app.navigate({ attribute: row.path, node: null }) }, h("div.fv-mono.fv-clip.fv-clip-start", { role: "cell", title: row.path }, h("bdi", null, row.path)), h("div.fv-muted", { role: "cell" }, row.kind), h("div.fv-clip", { role: "cell", title: row.type }, row.shape ? `${row.shape} ${row.dtype ?? ""}` : row.type), h("div.fv-num", { role: "cell" }, row.bytes), h("div", { role: "cell" }, fateBadge(row.fate)), h("div.fv-clip", { role: "cell", title: row.why }, this.why(row)), h("div.fv-clip", { role: "cell" }, this.home(row)));
    }
    why(row) {
      const { details } = this.app;
      if (row.fate === "folded" && row.step !== null) {
        return ["folded in step ", details.stepLink(row.step, { tab: "rewrites" })];
      }
      if (row.fate !== "preserved") return row.why;
      const write2 = row.evidence.find((evidence) => evidence.node !== null && evidence.step !== null);
      if (!write2) return row.reason;
      const text = `${write2.op ?? "node"}${write2.source ? ` ${placeText(write2.source)}` : ""}`;
      const patch = { step: write2.step, node: write2.node, attribute: null, tab: "graph" };
      return [row.reason, " · ", this.app.link(text, patch, `${text} keeps ${row.path}`)];
    }
    home(row) {
      const [first, ...others] = this.app.model.homes(row);
      if (!first) return h("span.fv-muted", null, row.fate === "folded" ? "computed away" : "removed");
      const more = others.length ? h("span.fv-muted", { title: others.map(({ value }) => `%${value}`).join(", ") }, ` +${others.length}`) : null;
      return [h("span.fv-muted", null, row.fate === "preserved" ? "read as " : "constant "), this.app.details.locationLink(first), more];
    }
    key(event) {
      const next = listMove(event, this.rows.findIndex((row) => row.path === this.chosen), this.rows.length, 15);
      if (next !== null) this.app.navigate({ attribute: this.rows[next].path, node: null });
    }
  };
  function countWords(rows) {
    const counted = rows.filter((row) => row.counted).length;
    const others = rows.length - counted;
    const words4 = count(others, "other");
    return !others ? `${counted}` : counted ? `${counted} + ${words4}` : words4;
  }
  function parseSort(text) {
    return text.startsWith("-") ? [text.slice(1), true] : [text, false];
  }
  var NAMES = new Intl.Collator("en", { numeric: true });
  function compare(one, other) {
    if (typeof one === "string" && typeof other === "string") return NAMES.compare(one, other);
    return one < other ? -1 : one > other ? 1 : 0;
  }
  function failureBanner(app) {
    const { failure, steps } = app.model.view;
    if (!failure) return null;
    const where = [failure.stage, failure.method].filter(Boolean).join(", ");
    const last = failure.step === null || !steps[failure.step] ? null : app.link(failure.method ? "Show the graph just before" : "Show the last graph", { step: failure.step, tab: "graph" });
    return h("section.fv-failure", { role: "alert" }, h("div.fv-failure-head", null, h("span.fv-failure-mark", { "aria-hidden": "true" }, "✕"), h("strong", null, failure.title), failure.method ? h("span", null, where) : null, h("span.fv-spring"), last), h("pre", { tabindex: "0" }, failure.message), failure.left ? h("p.fv-small", null, failure.left) : null, failure.log ? h("details.fv-small", null, h("summary", null, "What was logged last"), h("pre.fv-log", { tabindex: "0" }, failure.log)) : null);
  }
  function unmeasuredBanner(app) {
    const { unmeasured } = app.model.view;
    if (!unmeasured) return null;
    return h("section.fv-unmeasured", { role: "status" }, h("span.fv-warn", { "aria-hidden": "true" }, "! "), h("strong", null, `Recorded, ${unmeasured.what}: `), unmeasured.reason, ". ", unmeasured.remedy);
  }
  var Pair = class {
    constructor(model, before, after) {
      this.model = model;
      this.before = model.step(before);
      this.after = model.step(after);
    }
    steps() {
      return this.before ? [this.after, this.before] : [this.after];
    }
    get chosen() {
      return this.before !== null && this.before.index !== this.after.before;
    }
    get same() {
      return this.before !== null && this.model.snapshot(this.before.index) === this.model.snapshot(this.after.index);
    }
    counts() {
      const { graphs } = this.model;
      const counts3 = { added: 0, removed: 0, changed: 0 };
      if (!this.before) return counts3;
      const statuses = graphs.diff(this.model.snapshot(this.before.index), this.model.snapshot(this.after.index));
      for (const [key, status] of statuses) {
        if (!graphs.isPseudo(key)) counts3[status] += 1;
      }
      return counts3;
    }
    operators() {
      if (!this.before || this.same) return [];
      const deltas = /* @__PURE__ */ new Map();
      const count2 = (step, by) => {
        for (const { op } of this.model.graph(step.index).nodes.values()) deltas.set(op, (deltas.get(op) ?? 0) + by);
      };
      count2(this.before, -1);
      count2(this.after, 1);
      const found = [...deltas].filter(([, delta]) => delta);
      return found.sort(([a, one], [b, other]) => Math.abs(other) - Math.abs(one) || (a < b ? -1 : 1));
    }
    lines() {
      const now = this.model.graph(this.after.index).lines;
      if (!this.before || this.same) return now.map((line3, at) => ({ kind: "same", line: line3, old: at + 1, new: at + 1 }));
      const { graphs } = this.model;
      const same2 = (one, other) => one.depth === other.depth && one.text === other.text && (one.row === void 0 || other.row !== void 0 && graphs.sameNode(one.row, other.row));
      return diffLines(this.model.graph(this.before.index).lines, now, same2);
    }
    latencyVerdict(device) {
      const [before, after] = [this.before, this.after].map((step) => step?.latency.find((entry) => entry.device === device));
      if (before?.verdict === "baseline" && after) {
        return { verdict: after.verdict, ratio: after.ratio, unseen: after.unseen };
      }
      const change = this.after.latency_changes.find((one) => one.device === device && one.since === this.before?.index);
      return change ? { verdict: change.verdict, ratio: change.short } : null;
    }
  };
  function stepLabel(step) {
    return step.label ?? String(step.index);
  }
  var SIDES = ["a", "b"];
  function sideSign(side) {
    return h("span.fv-side", { class: `fv-side-${"ab"[side]}` }, "AB"[side]);
  }
  var OUTSIDE = -10;
  var ROOM_FOR_NAMES = 480;
  var LEFT_OUT = "Nothing was measured, so this view leaves its charts out to stay small. The HTML report (freezer-ui report, or viewer.report.write_report) has those of nodes and constants; a trace recorded with measurements has all of them here.";
  var ChartsPanel = class {
    constructor(app) {
      this.turn = void 0;
      this.shown = void 0;
      this.pair = void 0;
      this.drawn = void 0;
      this.app = app;
      this.id = "charts";
      this.label = "Charts";
      this.views = [];
      this.figures = h("div.fv-charts");
      this.table = h("section.fv-measured", { tabindex: "0", "aria-label": "Numbers of this pass" });
      this.element = h("div.fv-panel-body.fv-scroll", null, this.figures, this.table);
    }
    render() {
      const theme = this.app.theme();
      if (theme !== this.shown) this.turn = this.draw(theme);
      this.shown = theme;
      this.mark();
      const { pair } = this.app;
      if (pair !== this.pair) {
        fill(this.table, pair?.chosen && pair.before ? measured(pair.before) : null, pair ? measured(pair.after) : null);
      }
      this.pair = pair;
    }
    async draw(theme) {
      const { loadBokeh } = this.app.options;
      this.drawn = [];
      const charts = await this.loaded().catch((error2) => this.failed(error2));
      if (charts === void 0 || this.app.gone) return;
      if (!charts?.[theme]?.length || !loadBokeh) {
        fill(this.figures, h("p.fv-empty", null, charts === null ? LEFT_OUT : "There is nothing to draw in this trace."));
        return;
      }
      const figures = charts[theme].filter(({ item }) => item).map((chart) => ({ ...chart, target: h("div.fv-chart-target") }));
      const absent2 = charts[theme].filter(({ item }) => !item).map((chart) => h("p.fv-absent-chart", null, caption(chart)));
      fill(this.figures, figures.map((chart) => h("figure.fv-chart", null, h("figcaption", null, caption(chart)), chart.target)), absent2);
      const Bokeh = await loadBokeh();
      this.clear();
      for (const { item, target } of figures) {
        if (this.app.gone) continue;
        const views = await Bokeh.embed.embed_item(target.clientWidth < ROOM_FOR_NAMES ? withoutNames(item) : item, target);
        this.views.push(views);
        this.connect(views);
      }
      if (this.app.gone) this.clear();
      this.mark();
    }
    async loaded() {
      const { charts, loadCharts } = this.app.options;
      if (charts || !loadCharts) return charts;
      fill(this.figures, h("p.fv-empty", { role: "status" }, "Loading the charts …"));
      return this.app.options.charts = await loadCharts();
    }
    failed(error2) {
      const again = () => this.turn = this.draw(this.app.theme());
      const retry = h("button.fv-button", { type: "button", onclick: again }, "Try again");
      fill(this.figures, h("div.fv-empty", { role: "alert" }, h("p", null, `The charts cannot be shown. ${error2.message}`), retry));
    }
    clear() {
      for (const views of this.views.splice(0)) views.clear();
    }
    destroy() {
      this.clear();
    }
    choose(place2) {
      this.app.setStep(Math.round(place2));
    }
    connect(views) {
      for (const model of [...views].map((view) => view.model).filter((one) => one.type === "Figure")) {
        this.drawn.push(model);
        for (const { data_source: source } of model.renderers) {
          source.selected.change.connect(() => {
            const [index] = source.selected.indices;
            const steps = source.get_array("step");
            if (index !== void 0 && steps.length) this.choose(steps[index]);
          });
        }
      }
    }
    mark() {
      const places = this.places();
      for (const model of this.drawn || []) {
        for (const line3 of model.center) {
          const [tag] = line3.tags ?? [];
          if (tag in places && line3.location !== places[tag]) {
            line3.location = places[tag];
          }
        }
      }
    }
    places() {
      const { pair } = this.app;
      return { chosen: pair?.after.index ?? OUTSIDE, base: pair?.chosen && pair.before ? pair.before.index : OUTSIDE };
    }
  };
  function withoutNames(item) {
    const short = (key, value) => value?.name === "Label" && value.attributes ? { ...value, attributes: { ...value.attributes, text: value.attributes.text.replace(/^(\d+) \S+/, "$1") } } : value;
    return JSON.parse(JSON.stringify(item, short));
  }
  function caption({ title, note: note3 }) {
    return [h("strong", null, title), " ", h("span.fv-muted", null, note3)];
  }
  function claim(words4, unseen2) {
    return unseen2 ? `${words4} (${unseen2})` : words4;
  }
  function measured(step) {
    if (!step || !(step.latency.length || step.numerics.length)) {
      const which = step ? `Step ${stepLabel(step)}` : "Nothing";
      return h("p.fv-empty", null, step && !step.executable ? `${which} was not measured: its graph cannot run on its own.` : `${which} was not measured.`);
    }
    const latency3 = step.latency.map((entry) => cells(entry.device, `${entry.text} (${entry.interval})`, entry.previous ?? "", claim(entry.change ?? "", entry.change_unseen), entry.ratio ?? "", claim(entry.verdict, entry.unseen), entry.first, entry.warmup ? `${entry.warmup_time} in ${entry.warmup}` : "none", entry.samples, entry.notes.join("; ")));
    return [latency3.length ? grid(`Latency of step ${stepLabel(step)}`, ["Device", "Median (95%)", "To the pass before", "", "To the first", "", "First call", "Warm-up calls", "Samples", "Notes"], latency3) : null, step.numerics.length ? errors(step) : null];
  }
  function errors(step) {
    const several = step.numerics.some((entry) => entry.inputs.length > 1);
    const own = (entry, inputs) => several ? [entry.reference, inputs] : [entry.reference];
    const rows = step.numerics.flatMap((entry) => entry.inputs.flatMap(({ inputs, error: error2, outputs }) => error2 === null ? outputs.map((output) => cells(...own(entry, inputs), output.output, output.max_abs, output.max_rel, output.ulp ?? "", output.sqnr, output.nonfinite, output.close ? "within tolerance" : "≠ past tolerance")) : [h("tr", null, own(entry, inputs).map((text) => h("td", null, text)), h("td", { colspan: 7 }, `could not be compared: ${error2}`))]));
    const heads2 = ["Against", ...several ? ["Inputs"] : [], "Output", "Max abs", "Max rel", "Max ULP", "SQNR", "New non-finite", "torch's tolerances"];
    return grid(`Numeric error of step ${stepLabel(step)}`, heads2, rows);
  }
  function cells(...texts) {
    return h("tr", null, texts.map((text) => h("td.fv-num", null, text)));
  }
  var Menu = class {
    constructor(button, name2, items) {
      this.button = button;
      this.items = items.map(({ content: content2, title, run: run2 }) => h("button.fv-menu-item", { type: "button", title, role: "menuitem", tabindex: "-1", onclick: () => (this.close(), run2()) }, content2));
      this.list = h("div.fv-menu-list", { role: "menu", "aria-label": name2, hidden: true, onkeydown: (event) => this.key(event) }, this.items);
      button.setAttribute("aria-haspopup", "menu");
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => this.list.hidden ? this.open() : this.close());
      this.element = h("div.fv-menu", null, button, this.list);
      this.outside = (event) => event.composedPath().includes(this.element) || this.close(false);
    }
    open() {
      this.list.hidden = false;
      this.button.setAttribute("aria-expanded", "true");
      document.addEventListener("pointerdown", this.outside);
      this.items[0].focus();
    }
    close(focus = true) {
      this.list.hidden = true;
      this.button.setAttribute("aria-expanded", "false");
      document.removeEventListener("pointerdown", this.outside);
      if (focus) this.button.focus();
    }
    destroy() {
      document.removeEventListener("pointerdown", this.outside);
    }
    key(event) {
      const at = this.items.findIndex((item) => event.composedPath().includes(item));
      const places = /* @__PURE__ */ new Map([["ArrowDown", at + 1], ["ArrowUp", at - 1], ["Home", 0], ["End", this.items.length - 1]]);
      const next = places.get(event.key);
      if (event.key === "Escape") this.close();
      else if (event.key === "Tab") this.close(false);
      else if (next !== void 0) this.items.at(next % this.items.length)?.focus();
      if (event.key === "Tab" || next === void 0 && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
    }
  };
  function actions(app) {
    const all = app.options.actions;
    if (!all.length) return null;
    const more = h("button.fv-icon", { type: "button", title: "Actions", "aria-label": "Actions" }, icon("more"));
    const items = all.map((action) => ({ content: face(action), title: action.title, run: () => act(app, action) }));
    const menu = new Menu(more, "Actions", items);
    app.stops.push(() => menu.destroy());
    const buttons = all.map((action) => h("button.fv-button", { type: "button", title: action.title, onclick: () => act(app, action) }, face(action)));
    return [h("div.fv-actions-wide", null, buttons), menu.element];
  }
  async function act(app, action) {
    try {
      await action.run(app);
    } catch (error2) {
      app.say(`${action.label}: ${error2 instanceof Error ? error2.message : error2}`);
      throw error2;
    }
  }
  function face(action) {
    return [action.icon ? icon(action.icon) : null, action.label];
  }
  function header(app) {
    return h("header.fv-header", null, "heading" in app ? app.heading() : heading(app), h("div.fv-actions", null, notices(app), actions(app), app.options.hash && h("button.fv-icon", { type: "button", title: "Copy a link to this view", "aria-label": "Copy a link to this view", onclick: () => app.copy(location.href) }, icon("link")), h("button.fv-icon", { type: "button", title: "Light or dark", "aria-label": "Switch between light and dark", onclick: () => app.switchTheme() }, icon("theme")), h("button.fv-icon", { type: "button", title: "Keys (?)", "aria-label": "Show the keys", onclick: () => app.sheet.showModal() }, icon("keys"))));
  }
  function heading(app) {
    const { view } = app.model;
    return [h("div.fv-title", null, h("h1", { title: view.name }, view.name || "unnamed model"), h("span.fv-muted", null, `${backendName(view.backend)} · torch ${view.torch}`)), h("div.fv-facts", { tabindex: "0", role: "group", "aria-label": "In short" }, view.overview.map((fact3) => factCell(app, fact3)), fates(app))];
  }
  function factCell(app, fact3) {
    const value = fact3.step === null ? fact3.value : app.link(fact3.value, { step: fact3.step });
    return h("div.fv-fact", { class: `fv-tone-${fact3.tone} fv-fact-${fact3.kind}`, title: `${fact3.value}
${fact3.note}` }, h("span.fv-fact-label", null, fact3.label), h("span.fv-fact-value.fv-num", null, value), h("span.fv-fact-note", null, fact3.note));
  }
  function fates(app) {
    const { fates: counts3, others } = app.model.view;
    const total = counts3.reduce((sum, [, count2]) => sum + count2, 0);
    const kept = others.find(([fate2]) => fate2 === "preserved")?.[1] ?? 0;
    if (!total && !kept) return null;
    const parts = counts3.map(([fate2, count2]) => h("span", { class: `fv-fate-${fate2}`, style: { "flex-grow": count2 } }));
    const words4 = counts3.map(([fate2, count2]) => h("span", { class: `fv-fate-${fate2}` }, h("span.fv-dot"), `${count2} ${fate2}`));
    if (kept) {
      words4.push(h("span.fv-fate-preserved", { title: "Submodules, flags and values that are preserved" }, h("span.fv-dot"), `and ${count(kept, "other")} preserved`));
    }
    return h("button.fv-fact.fv-fates", { type: "button", title: "See all attributes", onclick: () => app.navigate({ tab: "attributes" }, { jump: true }) }, h("span.fv-fact-label", null, `${total} parameters and buffers`), h("span.fv-fates-bar", { "aria-hidden": "true" }, parts), h("span.fv-fact-note", null, words4));
  }
  function notices(app) {
    const found = app.model.view.environment.notices;
    if (!found.length) return null;
    const open = () => app.navigate({ tab: "environment" }, { jump: true });
    const label2 = found.length === 1 ? "1 notice" : `${found.length} notices`;
    return h("button.fv-icon.fv-notices-button", { type: "button", title: `${label2}
${found.map((notice) => notice.message).join("\n")}`, "aria-label": label2, onclick: open }, h("span.fv-warn.fv-num", null, `! ${found.length}`));
  }
  var KEPT = 6;
  var Snapshots = class {
    constructor(graphs, snapshots) {
      this.graphs = graphs;
      this.snapshots = snapshots;
      this.cache = /* @__PURE__ */ new Map();
      this.rowMaps = /* @__PURE__ */ new Map();
    }
    graph(snapshot) {
      const known = this.cache.get(snapshot);
      if (known) return known;
      const [oldest] = this.cache.keys();
      if (this.cache.size > KEPT) this.cache.delete(oldest);
      const graph = this.read(snapshot);
      this.cache.set(snapshot, graph);
      return graph;
    }
    read(snapshot) {
      const [values, body, outputs] = this.snapshots[snapshot];
      const graph = { lines: [], nodes: /* @__PURE__ */ new Map(), makers: /* @__PURE__ */ new Map(), readers: /* @__PURE__ */ new Map(), yielded: /* @__PURE__ */ new Set(), root: "" };
      graph.root = values.length ? this.graphs.strings[values[0]] : "";
      graph.lines.push({ key: "inputs", depth: 0, text: `graph(${this.typed(values)}):` });
      this.readBody(graph, body, 1);
      graph.lines.push({ key: "outputs", depth: 1, text: `return (${this.yielded(graph, outputs)})` });
      return graph;
    }
    readBody(graph, body, depth) {
      for (const row of this.graphs.bodies[body]) {
        const node = this.graphs.node(row);
        graph.lines.push({ key: `%${node.id}`, depth, node, row });
        addNode(graph, node);
        (this.graphs.rows[row][8] || []).forEach(([values, inner, outputs], number2) => {
          const key = `${number2} of %${node.id}`;
          graph.lines.push({ key: `inputs ${key}`, depth: depth + 1, text: `block${number2}(${this.typed(values)}):` });
          this.readBody(graph, inner, depth + 2);
          graph.lines.push({ key: `outputs ${key}`, depth: depth + 2, text: `-> (${this.yielded(graph, outputs)})` });
        });
      }
    }
    typed(values) {
      const { strings } = this.graphs;
      const pairs2 = [];
      for (let at = 0; at < values.length; at += 2) pairs2.push(`%${strings[values[at]]} : ${strings[values[at + 1]]}`);
      return pairs2.join(", ");
    }
    yielded(graph, outputs) {
      const names = outputs.map((place2) => this.graphs.strings[place2]);
      for (const name2 of names) graph.yielded.add(name2);
      return names.map((name2) => `%${name2}`).join(", ");
    }
    rows(snapshot) {
      if (!this.rowMaps.has(snapshot)) {
        const rows = /* @__PURE__ */ new Map();
        const walk = (body) => {
          for (const row of this.graphs.bodies[body]) {
            rows.set(this.graphs.strings[this.graphs.rows[row][0] || 0], row);
            for (const block of this.graphs.rows[row][8] || []) walk(block[1]);
          }
        };
        walk(this.snapshots[snapshot][1]);
        this.rowMaps.set(snapshot, rows);
      }
      return this.rowMaps.get(snapshot);
    }
  };
  function addNode(graph, node) {
    graph.nodes.set(node.id, node);
    for (const { name: name2 } of node.outputs) graph.makers.set(name2, node.id);
    for (const name2 of new Set(node.inputs)) {
      if (!graph.readers.has(name2)) graph.readers.set(name2, []);
      graph.readers.get(name2)?.push(node.id);
    }
  }
  function lineText(line3) {
    return line3.words ??= "  ".repeat(line3.depth) + (line3.node ? nodeText(line3.node) : line3.text);
  }
  function nodeText(node) {
    const outputs = node.outputs.map(({ name: name2, type }) => `%${name2} : ${type}`).join(", ");
    const attributes = node.attributes.map(({ name: name2, text }) => `${name2}=${text}`).join(", ");
    const inputs = node.inputs.map((name2) => `%${name2}`).join(", ");
    const source = node.source ? ` # ${node.source.file}:${node.source.line}:${node.source.column}` : "";
    return `${outputs}${outputs && " "}= ${node.op}${attributes && `[${attributes}]`}(${inputs})${source}`;
  }
  function changedFields(before, after) {
    return ["op", "inputs", "outputs", "attributes", "constant", "module", "source"].filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  }
  var CONTEXT = 3;
  var SIGNS = { same: " ", removed: "−", added: "+" };
  var TOKENS = /(#\s.*$)|("(?:[^"\\]|\\.)*")|(%[\w./]+)|(\b\w+::\w+)|(\b\d[\d.e+-]*\b)|(\b(?:graph|return|block\d+|def|if|else|for|while|in|not|None|True|False)\b)/g;
  var KINDS = ["comment", "string", "value", "op", "number", "keyword"];
  function coloured(text) {
    const pieces = [];
    let at = 0;
    for (const match of text.matchAll(TOKENS)) {
      if (match.index > at) pieces.push(text.slice(at, match.index));
      pieces.push(h(`span.fv-t-${KINDS[match.slice(1).findIndex((group) => group !== void 0)]}`, null, match[0]));
      at = match.index + match[0].length;
    }
    pieces.push(text.slice(at));
    return pieces;
  }
  var IrPanel = class {
    constructor(app) {
      this.all = void 0;
      this.width = void 0;
      this.pair = void 0;
      this.app = app;
      this.id = "ir";
      this.label = "IR diff";
      this.rows = [];
      this.opened = /* @__PURE__ */ new Set();
      this.fold = h("input", { type: "checkbox", onchange: () => app.navigate({ fold: this.fold.checked }) });
      this.note = h("span.fv-muted");
      this.list = new VirtualList({ rowHeight: 20, row: (index) => this.row(index), props: { class: "fv-code", role: "region", "aria-label": "Graph as text" } });
      this.element = h("div.fv-panel-body", null, h("div.fv-bar", null, h("label.fv-check", null, this.fold, "Fold unchanged lines"), this.jump("↑", -1, "Previous change"), this.jump("↓", 1, "Next change"), this.note), this.list.element);
    }
    jump(text, direction, label2) {
      return h("button.fv-button", { type: "button", "aria-label": label2, title: label2, onclick: () => this.next(direction) }, text);
    }
    next(direction) {
      const first = Math.round(this.list.element.scrollTop / 20);
      const starts = this.rows.flatMap((row, index) => isChange(row) && !isChange(this.rows[index - 1]) ? [Math.max(0, index - 2)] : []);
      const target = direction > 0 ? starts.find((index) => index > first) : starts.findLast((index) => index < first);
      if (target !== void 0) this.list.element.scrollTop = target * 20;
    }
    render(state, previous) {
      const fresh = this.pair !== this.app.pair || !previous || previous.fold !== state.fold;
      this.fold.checked = state.fold;
      if (this.pair !== this.app.pair) this.opened.clear();
      if (fresh) this.build(state);
      this.list.refresh();
      if (!fresh && previous?.node === state.node && previous.attribute === state.attribute) return;
      const place2 = this.rows.findLastIndex((row) => this.app.focused.has(row.line?.node?.id));
      if (place2 >= 0) this.list.reveal(place2, { middle: true });
    }
    build(state) {
      const { pair } = this.app;
      const kept = this.pair === pair;
      this.all = kept ? this.all : pair ? pair.lines() : [];
      this.width = Math.max(2, String(this.all.length).length);
      this.refold(state);
      const changes = this.all.filter(isChange).length;
      this.note.textContent = !pair ? "" : note(pair, changes);
      this.list.update(this.rows.length, kept ? null : this.startAt());
      this.pair = pair;
    }
    destroy() {
      this.list.destroy();
    }
    startAt() {
      const first = this.rows.findIndex(isChange);
      return first < 0 ? 0 : Math.max(0, first - CONTEXT) * 20;
    }
    refold(state) {
      const changed = this.all.some(isChange);
      this.rows = state.fold && changed ? folded(this.all, this.opened) : this.all;
      this.list.body.style.minWidth = `${this.longest() + this.width * 2 + 8}ch`;
    }
    longest() {
      return this.rows.reduce((most, row) => row.line ? Math.max(most, lineText(row.line).length) : most, 0);
    }
    row(index) {
      const row = this.rows[index];
      if (row.skipped) return this.skip(row);
      const { node } = row.line;
      const element3 = diffRow(row, lineText, this.width);
      if (!node) return element3;
      element3.classList.toggle("fv-chosen", this.app.focused.has(node.id));
      element3.addEventListener("click", () => selectsText(element3) || this.app.navigate({ node: node.id, attribute: null }));
      return element3;
    }
    skip(row) {
      const open = () => {
        this.opened.add(row.start);
        this.refold(this.app.current);
        this.list.update(this.rows.length);
      };
      return h("div.fv-code-line.fv-line-skip", null, h("button.fv-linklike", { type: "button", onclick: open }, `⋯ ${row.skipped} unchanged lines`));
    }
  };
  function note({ before, after, chosen }, changes) {
    if (!before) return "The graph as it came.";
    if (chosen) {
      return changes ? `${changes} lines differ between ${stepLabel(before)} and ${stepLabel(after)}` : `${stepLabel(before)} and ${stepLabel(after)} read the same.`;
    }
    return changes ? `${changes} lines changed` : "This pass changed no line.";
  }
  function isChange(row) {
    return row !== void 0 && (row.kind === "added" || row.kind === "removed");
  }
  function folded(all, opened) {
    const rows = [];
    for (let start = 0; start < all.length; ) {
      let end = start;
      while (end < all.length && !isChange(all[end])) end += 1;
      if (end > start) rows.push(...foldedRun(all, start, end, opened));
      if (end < all.length) rows.push(all[end]);
      start = Math.max(end, start) + 1;
    }
    return rows;
  }
  function foldedRun(all, start, end, opened) {
    const head = start === 0 ? 0 : CONTEXT;
    const tail = end === all.length ? 0 : CONTEXT;
    const skipped = end - start - head - tail;
    if (skipped < 3 || opened.has(start)) return all.slice(start, end);
    return [...all.slice(start, start + head), { kind: "skip", skipped, start }, ...all.slice(end - tail, end)];
  }
  function diffRow(row, text, width) {
    const number2 = (value) => h("span.fv-code-number", { style: { width: `${width}ch` } }, value ?? "");
    const content2 = row.pair === void 0 || row.moved ? coloured(text(row.line)) : emphasised(text(row.line), text(row.pair));
    const props = { class: `fv-line-${row.kind} ${row.moved ? "fv-line-moved" : ""}`, title: row.moved ? "The same line in another place" : null };
    return h("div.fv-code-line", props, number2(row.old), number2(row.new), h("span.fv-code-sign", null, SIGNS[row.kind]), h("span", null, content2));
  }
  function emphasised(text, other) {
    const inWord = (at) => at > 0 && at < text.length && /[\w.]/.test(text[at]) && /[%\w.]/.test(text[at - 1]);
    const room = Math.min(text.length, other.length);
    let head = 0;
    while (head < room && text[head] === other[head]) head += 1;
    let tail = 0;
    while (tail < room - head && text.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
    let end = text.length - tail;
    while (inWord(head)) head -= 1;
    while (inWord(end)) end += 1;
    return [coloured(text.slice(0, head)), h("mark", null, text.slice(head, end)), coloured(text.slice(end))];
  }
  var CodePanel = class {
    constructor(app) {
      this.pair = void 0;
      this.compared = void 0;
      this.places = void 0;
      this.app = app;
      this.id = "code";
      this.label = "Code";
      this.lines = [];
      this.code = new VirtualList({ rowHeight: 20, row: (index) => this.line(index), props: { class: "fv-code", role: "region", "aria-label": "Code of the pass" } });
      this.title = h("h3.fv-pane-title");
      this.none = h("p.fv-empty");
      this.source = h("div.fv-code.fv-code-plain", { tabindex: "0", role: "region", "aria-label": "Source" });
      this.element = h("div.fv-panel-body.fv-split", null, h("section", null, this.title, this.code.element, this.none), h("section", { hidden: !app.model.view.sources.length }, h("h3.fv-pane-title", null, "Source"), this.source));
    }
    render() {
      const { pair } = this.app;
      if (this.pair !== pair) this.build(pair);
      this.pair = pair;
      if (pair) this.mark(pair);
    }
    destroy() {
      this.code.destroy();
    }
    build(pair) {
      const step = pair?.after;
      const code = (one) => one && one.code !== null ? textLines(this.app.model.view.codes[one.code]) : null;
      const base = pair?.chosen ? pair.before : null;
      const [before, after] = [code(base), code(step)];
      this.compared = before !== null && after !== null;
      this.lines = before && after ? diffLines(before, after, () => true) : after ?? [];
      const untold = base && after && !before ? ` (torch gave none for ${stepLabel(base)})` : "";
      this.title.textContent = this.compared && base && step ? `Code of ${stepLabel(base)} and ${stepLabel(step)}` : `Code after this pass${untold}`;
      this.code.element.hidden = after === null;
      this.none.hidden = after !== null;
      if (after === null) fill(this.none, this.nothing(step));
      const longest = this.lines.reduce((most, row) => Math.max(most, (row.line ?? row).text.length), 0);
      this.code.body.style.minWidth = `${longest + 16}ch`;
      this.code.update(this.lines.length);
      this.places = step ? this.nodesByPlace(step) : /* @__PURE__ */ new Map();
      fill(this.source, this.sourceBlocks(this.app.model.view.sources));
    }
    nothing(step) {
      const other = step && this.app.model.steps.findLast(({ method, code }) => method === step.method && code !== null);
      return ["torch gave no code for this pass", other ? [", but for ", this.app.details.stepLink(other.index, { tab: "code" })] : null, "."];
    }
    line(index) {
      const row = this.lines[index];
      return this.compared ? diffRow(row, (line3) => line3.text, 3) : plainLine(index + 1, coloured(row.text));
    }
    nodesByPlace(step) {
      const places = /* @__PURE__ */ new Map();
      for (const node of this.app.model.graph(step.index).nodes.values()) {
        if (!node.source) continue;
        const key = `${node.source.file}:${node.source.line}`;
        if (!places.has(key)) places.set(key, []);
        places.get(key).push(node);
      }
      return places;
    }
    sourceBlocks(sources) {
      const files = /* @__PURE__ */ new Map();
      for (const source of sources) files.set(source.file, [...files.get(source.file) || [], source]);
      const names = [...files.keys()].sort((one, other) => Number(isSaved(one)) - Number(isSaved(other)) || Number(isInstalled(one)) - Number(isInstalled(other)));
      return names.map((name2) => [h("h4.fv-file", null, name2, isSaved(name2) ? h("span.fv-muted", null, " · TorchScript that was saved with the model") : null), files.get(name2).map((source, index) => [index ? h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯") : null, this.sourceLines(source)])]);
    }
    sourceLines(source) {
      return source.lines.map((text, offset) => {
        const number2 = source.first_line + offset;
        const nodes2 = this.places.get(`${source.file}:${number2}`) || [];
        const row = plainLine(number2, coloured(text));
        row.dataset.place = `${source.file}:${number2}`;
        if (nodes2.length) this.makeClickable(row, nodes2);
        return row;
      });
    }
    makeClickable(row, nodes2) {
      const choose = () => this.app.navigate({ node: nodes2[0].id, attribute: null });
      row.classList.add("fv-code-used");
      row.append(h("button.fv-linklike.fv-used", { type: "button", title: nodes2.map((node) => node.op).join(", "), onclick: choose }, nodes2.length === 1 ? "1 node" : `${nodes2.length} nodes`));
    }
    mark(pair) {
      for (const row of this.source.querySelectorAll(".fv-chosen")) {
        row.classList.remove("fv-chosen");
      }
      const { focused, model } = this.app;
      const graphs = pair.steps().map(({ index }) => model.graph(index));
      const nodes2 = [...focused].flatMap((id) => graphs.find((graph) => graph.nodes.has(id))?.nodes.get(id) ?? []);
      const places = nodes2.flatMap((one) => model.places(pair.after.method, one)).map(({ source }) => `${source.file}:${source.line}`);
      const rows = [...this.source.querySelectorAll("[data-place]")];
      for (const place2 of places.reverse()) {
        const row = rows.find((line3) => line3.dataset.place === place2);
        if (!row) continue;
        row.classList.add("fv-chosen");
        reveal(this.source, row, { middle: true });
      }
    }
  };
  function isSaved(name2) {
    return name2.startsWith("code/__torch__");
  }
  function plainLine(number2, content2) {
    return h("div.fv-code-line", null, h("span.fv-code-number", null, number2), h("span", null, content2));
  }
  var BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
  var TIME_UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  function bytesText(nbytes) {
    let [size, unit] = [nbytes, 0];
    while (size >= 999.5 && unit < BYTE_UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
    return `${unit ? threeDigits(size) : nbytes} ${BYTE_UNITS[unit]}`;
  }
  function durationText(ns) {
    const [unit, scale] = TIME_UNITS.find(([, least]) => ns >= least) ?? ["ns", 1];
    return `${threeDigits(ns / scale)} ${unit}`;
  }
  function percentText(share) {
    return share > 0 && share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`;
  }
  function partText(part3, whole) {
    const percent = 100 * part3 / whole;
    return percent > 0 && percent < 0.1 ? "less than 0.1%" : `${Number(percent.toPrecision(3))}%`;
  }
  function threeDigits(number2) {
    return number2.toFixed(number2 >= 99.95 ? 0 : number2 >= 9.995 ? 1 : 2);
  }
  var LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  var SIZE = { width: 160, height: 44 };
  function valuesOf(constant, range = null) {
    if (!constant?.values) return null;
    return h("div.fv-values", null, constant.values.histogram ? histogram(constant, range ?? endsOf([constant])) : null, pairs(valueRows(constant)));
  }
  function valueRows(constant) {
    const { zeros, nans, first } = constant.values;
    const count2 = constant.shape.reduce((product, size) => product * size, 1);
    const infinite = constant.nonfinite - nans;
    const rows = [["zeros", zeros ? `${zeros.toLocaleString("en")} of ${count2.toLocaleString("en")} (${partText(zeros, count2)})` : "none"], ["NaN", nans ? nans.toLocaleString("en") : null], ["infinite", infinite ? infinite.toLocaleString("en") : null], ["first", first ? `${first}${count2 > first.split(", ").length ? ", …" : ""}` : null]];
    return rows.filter(([, text]) => text !== null);
  }
  function endsOf(constants2) {
    return [Math.min(...constants2.map((one) => one.minimum)), Math.max(...constants2.map((one) => one.maximum))];
  }
  function histogram(constant, [low, high]) {
    const { histogram: bars2, counted } = constant.values;
    const text = `From ${number(constant.minimum)} to ${number(constant.maximum)}, mean ${number(constant.mean)}, of ${counted.toLocaleString("en")} numbers`;
    const picture = svg("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", "aria-label": text, class: "fv-histogram" }, svg("title", {}, text));
    const place2 = (value) => high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) * SIZE.width : SIZE.width / 2;
    const [start, end] = constant.maximum > constant.minimum ? [constant.minimum, constant.maximum].map(place2) : [place2(low) - 2, place2(low) + 2];
    const width = Math.max(1, (end - start) / bars2.length);
    [...bars2].forEach((letter, at) => {
      const height = LEVELS.indexOf(letter) / (LEVELS.length - 1) * (SIZE.height - 3);
      if (height <= 0) return;
      const x = start + (end - start) * at / bars2.length;
      const shown = Math.max(1, height);
      picture.append(svg("rect", { x, y: SIZE.height - 1 - shown, width, height: shown, class: "fv-histogram-bar" }));
    });
    picture.append(svg("line", { x1: 0, x2: SIZE.width, y1: SIZE.height - 0.5, y2: SIZE.height - 0.5, class: "fv-histogram-axis" }));
    if (low < 0 && high > 0) {
      picture.append(svg("line", { x1: place2(0), x2: place2(0), y1: 0, y2: SIZE.height, class: "fv-histogram-zero" }));
    }
    return h("figure.fv-histogram-figure", null, picture, h("figcaption.fv-num.fv-muted.fv-small", null, h("span", null, number(low)), h("span", null, number(high))));
  }
  function number(value) {
    return value === null ? "?" : String(Number(value.toPrecision(3)));
  }
  function compared(sides) {
    const known = sides.filter(([, constant]) => constant?.values);
    if (!known.length) return null;
    const finite = known.map(([, constant]) => constant).filter((constant) => constant.minimum !== null);
    const range = finite.length ? endsOf(finite) : null;
    return h("div.fv-values-sides", null, known.map(([title, constant]) => h("div", null, h("h4.fv-subtitle.fv-wrap", null, title), valuesOf(constant, range))));
  }
  function constantOf(model, index, value) {
    const maker = model.graph(index).makers.get(value);
    const constant = maker === void 0 ? null : model.graph(index).nodes.get(maker)?.constant;
    if (constant) return constant;
    const [row] = model.attributesOf(index, value);
    return row ? tensorOf(model, row) : null;
  }
  function tensorOf(model, row) {
    if (row.tensor) return row.tensor;
    return row.digest ? model.graphs.constantOfDigest(row.digest) ?? null : null;
  }
  function readConstants(model, pair, before, after) {
    const old = before && pair.before ? read(model, pair.before.index, before) : [];
    const now = after ? read(model, pair.after.index, after) : [];
    const blocks = [];
    for (let at = 0; at < Math.max(old.length, now.length); at++) {
      const [first, second] = [old[at], now[at]];
      const isSame = first && second && first.constant?.digest === second.constant?.digest;
      const sides = isSame || !first ? [second] : [first, second];
      const titled = sides.flatMap((side) => {
        if (!side) return [];
        const when = isSame || !first || !second ? "" : side === first ? "before: " : "after: ";
        return [[`${when}%${side.name}`, side.constant]];
      });
      const block = compared(titled);
      if (block) blocks.push(block);
    }
    return blocks.length ? section("Values of the constants it reads", blocks) : null;
  }
  function read(model, index, node) {
    return node.inputs.map((name2) => {
      const constant = constantOf(model, index, name2);
      return constant?.values ? { name: name2, constant } : null;
    });
  }
  var AttributeDetails = class {
    constructor(details) {
      this.details = details;
      this.app = details.app;
    }
    of(path) {
      const row = this.app.model.attribute(path);
      if (!row) return [detailsTitle("Attribute", path), h("p.fv-muted", null, "The trace has no such attribute.")];
      return [detailsTitle(path, fateBadge(row.fate, { tabindex: "0", ...explains(this.app, row.fate) })), h("p", null, row.why), row.advice ? h("p.fv-advice", null, h("strong", null, "What you can do "), row.advice) : null, section("What it was", pairs([["kind", row.kind], ["type", row.type], ["shape", row.shape], ["dtype", row.dtype], ["size", row.bytes]].filter((pair) => pair[1]))), row.same_as ? section("The same tensor as", this.details.attributeLink(row.same_as)) : null, this.values(row), this.locations(row), this.inThisPass(row), row.step === null ? null : section("Decided in", this.details.stepLink(row.step)), row.evidence.map((evidence, index) => this.evidence(evidence, index)), row.evidence.length ? null : section("Evidence", h("p.fv-muted", null, "None recorded."))];
    }
    values(row) {
      const { model } = this.app;
      const tensor = tensorOf(model, row);
      const now = row.locations.filter(({ step }) => step !== null).map(({ value, step }) => [`now: %${value}`, constantOf(model, step, value)]).filter(([, constant]) => constant?.values && constant.digest !== row.digest);
      const block = compared([[now.length ? "before freezing" : "", tensor], ...now]);
      return block && section("Values", block);
    }
    locations(row) {
      const items = this.app.model.homes(row).map((location2) => h("li", null, this.details.locationLink(location2), h("span.fv-muted", null, ` in ${location2.method}`)));
      return items.length ? section(row.fate === "preserved" ? "Where it is read now" : "Its value is now in", h("ul.fv-list", null, items)) : null;
    }
    inThisPass({ path }) {
      const { focused, model, pair } = this.app;
      if (!pair || !focused.size) return null;
      const at = !pair.before || model.nodesOf(pair.after.index, path).length ? pair.after.index : pair.before.index;
      return section(`In the graph of step ${stepLabel(model.step(at))}`, h("ul.fv-list", null, [...focused].map((id) => h("li", null, this.details.nodeLink(id, at)))));
    }
    evidence(evidence, index) {
      const jump = evidence.node === null || evidence.step === null ? null : this.writeLink(evidence);
      const chain = evidence.chain.map((link) => h("li", null, this.chainLink(evidence, link), link.source ? h("span.fv-muted", null, ` ${placeText(link.source)}`) : null));
      return section(index ? "More evidence" : "Evidence", h("p.fv-wrap", null, evidence.fact), jump, evidence.source ? this.details.sourceLines(evidence.source) : null, chain.length ? [h("h4.fv-subtitle", null, "From the write back to the attribute"), h("ol.fv-list.fv-chain", null, chain)] : null);
    }
    writeLink(evidence) {
      const what = evidence.op || "node";
      const where = evidence.source ? ` at ${placeText(evidence.source)}` : "";
      return this.app.link(`Go to ${what}${where}`, { step: evidence.step, node: evidence.node, attribute: null, tab: "graph" });
    }
    chainLink(evidence, link) {
      const text = `%${link.value} = ${link.op}`;
      return evidence.step === null ? h("code", null, text) : this.app.link(text, { step: evidence.step, node: link.node, attribute: null, tab: "graph" });
    }
  };
  var CONSTANT_OPS = /^(prim::Constant|prim::GetAttr|get_attr|prim::ConstantMKLDNNTensor)$/;
  function programsOf(model, index) {
    const { method, side } = model.steps[index];
    return model.view.programs.map((program, place2) => ({ ...program, place: place2 })).filter((program) => program.method === method && (program.step === null || model.steps[program.step].side === side) && program.kernels.some((kernel) => kernel.nodes.length));
  }
  function latencies(model, index) {
    const computing = /* @__PURE__ */ new Map();
    const coming = /* @__PURE__ */ new Map();
    for (const program of programsOf(model, index)) {
      program.kernels.forEach((kernel, number2) => {
        if (kernel.time_ns === null) return;
        const part3 = [`${program.place}/${number2}`, kernel.time_ns];
        for (const id of kernel.nodes) add(computing, id, part3);
        for (const id of kernel.origins) add(coming, id, part3);
      });
      if (!computing.size) continue;
      for (const [id] of program.no_kernel) if (!computing.has(id)) add(computing, id, ["no kernel", 0]);
    }
    return new Map([...coming, ...computing]);
  }
  function errors2(model, index) {
    const { method } = model.steps[index];
    const chain = model.chains(method).find((steps) => steps.some((step) => step.index === index)) ?? [];
    const growth = growths(chain);
    const inChain = new Set(chain.map((step) => step.index));
    const parts = /* @__PURE__ */ new Map();
    for (const { id } of nodesOf(model, index)) {
      const last = model.history(method, id).findLast((event) => event.step <= index && inChain.has(event.step));
      if (!last) continue;
      const grown = last.step === chain[0].index ? growth.size ? 0 : void 0 : growth.get(last.step);
      if (grown !== void 0) parts.set(id, [[`step ${last.step}`, grown]]);
    }
    return parts;
  }
  function growths(chain) {
    const growth = /* @__PURE__ */ new Map();
    let waiting = [];
    let before = null;
    for (const step of chain) {
      waiting.push(step.index);
      const error2 = step.error;
      if (error2 === null) continue;
      const grown = Math.max(0, error2 - (before ?? 0));
      for (const one of waiting) growth.set(one, grown);
      waiting = [];
      before = error2;
    }
    return growth;
  }
  function memories(model, index) {
    const held = heldBytes(model, index);
    const parts = /* @__PURE__ */ new Map();
    for (const node of nodesOf(model, index)) {
      const names = CONSTANT_OPS.test(node.op) || node.op === "input" ? node.outputs.map(({ name: name2 }) => name2) : node.inputs;
      const own = new Map(names.flatMap((name2) => held.get(name2) ?? []));
      parts.set(node.id, [...own]);
    }
    return parts;
  }
  function heldBytes(model, index) {
    const held = /* @__PURE__ */ new Map();
    const rows = model.attributes.filter((row) => row.counted && row.nbytes);
    const part3 = (row) => [row.same_as || row.path, row.nbytes];
    for (const [value, path] of model.reads(index)) {
      const own = rows.filter((row) => row.path === path || row.path.startsWith(`${path}.`));
      if (own.length) held.set(value, own.map(part3));
    }
    for (const [value] of model.named(index)) {
      const own = model.attributesOf(index, value).filter((row) => row.nbytes);
      if (own.length) held.set(value, own.map(part3));
    }
    for (const { constant, outputs } of nodesOf(model, index)) {
      if (!constant) continue;
      const key = `${constant.storage ?? outputs[0].name} ${constant.digest} ${constant.nbytes}`;
      held.set(outputs[0].name, [[key, constant.nbytes]]);
    }
    return held;
  }
  function dtypes(model, index) {
    const known = /* @__PURE__ */ new Map();
    for (const [value, path] of model.reads(index)) {
      const row = model.attribute(path);
      if (row?.dtype) known.set(value, shortDtype(row.dtype));
    }
    const nodes2 = nodesOf(model, index);
    for (const { constant, outputs } of nodes2) if (constant) known.set(outputs[0].name, shortDtype(constant.dtype));
    const parts = /* @__PURE__ */ new Map();
    for (const node of nodes2) {
      const own = node.outputs.map(({ type }) => tensorDtype(type)).find(Boolean);
      const isValue = CONSTANT_OPS.test(node.op);
      const names = isValue ? node.outputs.map(({ name: name2 }) => name2) : node.inputs;
      const read2 = names.map((name2) => known.get(name2)).find(Boolean);
      const dtype = own ?? read2;
      if (dtype && !(isValue && !read2 && !own)) parts.set(node.id, [[dtype, 1]]);
    }
    return parts;
  }
  function tensorDtype(type) {
    const found = /^(\w+)\[/.exec(shortType(type))?.[1];
    return found === void 0 || /^(int|float|bool|str)$/.test(found) ? void 0 : found;
  }
  function nodesOf(model, index) {
    const { order, rowOf: rowOf2 } = model.graphs.snapshot(model.snapshot(index));
    return order.map((key) => model.graphs.node(rowOf2[key]));
  }
  function add(parts, id, part3) {
    const own = parts.get(id);
    if (own) own.push(part3);
    else parts.set(id, [part3]);
  }
  var COLOURINGS = { latency: { label: "latency", rule: "sum", absent: "not measured", text: timeText }, error: { label: "error added", rule: "max", absent: "not measured", text: errorText }, memory: { label: "memory (weights read)", rule: "sum", absent: "not measured", text: bytesText }, dtype: { label: "dtype", rule: "same", absent: "not known", text: String } };
  var COLOUR_CHOICES = [["change", "change"], ["latency", "latency"], ["error", "error"], ["memory", "memory"], ["dtype", "dtype"]];
  function partsOf(model, index, kind) {
    const name2 = `${index}/${kind}`;
    let parts = model.coloured.get(name2);
    if (!parts) model.coloured.set(name2, parts = MAKERS[kind](model, index));
    return parts;
  }
  var MAKERS = { latency: latencies, error: errors2, memory: memories, dtype: dtypes };
  function colouringOf(model, pair, kind) {
    if (!Object.hasOwn(COLOURINGS, kind)) return null;
    const before = pair.before ? partsOf(model, pair.before.index, kind) : null;
    const after = partsOf(model, pair.after.index, kind);
    return { ...COLOURINGS[kind], parts: { before, after }, missing: missingText(model, pair.after.index, kind) };
  }
  function valuesOfNode(model, index, id) {
    return Object.entries(COLOURINGS).flatMap(([kind, { label: label2, rule, text }]) => {
      const parts = partsOf(model, index, kind).get(id);
      if (!parts?.length) return [];
      const amounts = parts.map(([, amount2]) => amount2);
      if (rule === "same") return [[label2, parts.map(([key]) => key).join(", ")]];
      const amount = rule === "sum" ? amounts.reduce((sum, one) => sum + one, 0) : Math.max(...amounts);
      return [[label2, text(amount) + shared(model, index, kind, parts)]];
    });
  }
  function shared(model, index, kind, parts) {
    if (kind !== "latency") return "";
    const keys = new Set(parts.map(([key]) => key));
    const others = [...partsOf(model, index, kind).values()].filter((own) => own.some(([key]) => keys.has(key))).length - 1;
    return others > 0 ? `, in kernels that compute ${count(others, "more node")}` : "";
  }
  function missingText(model, index, kind) {
    if (kind === "dtype") return "torch gives no type for these values; a traced model and Inductor have them.";
    if (kind === "error") {
      return "No pass from there on was compared with eager: record with inputs, without --no-numerics.";
    }
    if (kind === "memory") return "";
    if (programsOf(model, index).length) {
      return latencies(model, index).size ? "No kernel that was timed computes these." : "No kernel was timed: record with latencies.";
    }
    return "TorchScript is timed pass by pass, see Charts; --backend inductor times each kernel.";
  }
  function timeText(time) {
    return time ? durationText(time) : "0";
  }
  function errorText(error2) {
    return error2 ? error2.toPrecision(2) : "0";
  }
  function kernelsOf(programs, method, id) {
    return programs.flatMap(({ kernels: kernels2, method: own }, program) => {
      if (own !== method) return [];
      const by = (field) => kernels2.flatMap((each, kernel) => each[field].includes(id) ? [{ program, kernel }] : []);
      const computing = by("nodes");
      return computing.length ? computing : by("origins");
    });
  }
  function noKernel(programs, method, id) {
    const pairs2 = programs.flatMap((program) => program.method === method ? program.no_kernel : []);
    return pairs2.find(([node]) => node === id)?.[1] ?? null;
  }
  function nodeKernels(details, method, id) {
    const { programs } = details.app.model.view;
    const rows = kernelsOf(programs, method, id).map(({ program, kernel }) => h("li", null, details.link(programs[program].kernels[kernel].name, { tab: "kernels", program, kernel, node: null, attribute: null }), programs.length > 1 ? h("span.fv-muted", null, ` ${programs[program].name}`) : null));
    if (rows.length) return section(rows.length === 1 ? "Kernel" : "Kernels", h("ul.fv-list", null, rows));
    const why = noKernel(programs, method, id);
    return why === null ? null : section("Kernel", h("p.fv-muted", null, `none: ${why}`));
  }
  function nodeHistory(details, method, id) {
    const events = details.app.model.history(method, id);
    const rows = events.map((event) => h("li", null, details.stepLink(event.step, { node: id }), " ", h("span.fv-muted", null, event.what)));
    return section(term(details.app, "lineage", "History"), rows.length ? h("ol.fv-list", null, rows) : h("p.fv-muted", null, "It was never in this method's graph."));
  }
  function nodeRewrites(details, method, id) {
    const found = details.app.model.steps.filter((step) => step.method === method).flatMap((step) => step.rewrites.map((rewrite) => ({ step, rewrite }))).filter(({ rewrite }) => rewrite.consumed.includes(id) || rewrite.produced.includes(id));
    const rows = found.map(({ step, rewrite }) => h("li", null, rewrite.produced.includes(id) ? "made by " : "consumed by ", h("strong", null, rewrite.kind), " in ", details.stepLink(step.index, { tab: "rewrites" })));
    return rows.length ? section("Rewrites", h("ul.fv-list", null, rows)) : null;
  }
  var SOURCE_REACH = 4;
  var DetailsLinks = class {
    constructor(app) {
      this.app = app;
    }
    link(text, patch, label2) {
      return this.app.link(text, patch, label2);
    }
    nodeLink(id, step = this.app.current.step) {
      return this.link(`%${id}`, { node: id, attribute: null, ...this.visibleIn(step) });
    }
    visibleIn(step) {
      const { pair } = this.app;
      return pair && (step === pair.after.index || step === pair.before?.index) ? {} : { step };
    }
    valueLink(at, name2) {
      const { model } = this.app;
      const maker = model.graph(at).makers.get(name2);
      if (maker === void 0) return this.inputLink(at, `%${name2}`);
      const { op } = model.graph(at).nodes.get(maker);
      const [path] = op === "get_attr" ? model.named(at).get(name2) ?? [] : [];
      return [this.link(`%${name2}`, { node: maker, attribute: null, ...this.visibleIn(at) }), h("span.fv-muted.fv-wrap", null, ` ${path ?? op}`)];
    }
    inputLink(at, id) {
      const isOutermost = this.app.model.graphs.keyOfId.has(id);
      const name2 = isOutermost ? this.link(id, { node: id, attribute: null, ...this.visibleIn(at) }) : h("code", null, id);
      const [path] = isOutermost ? this.app.model.named(at).get(id.slice(1)) ?? [] : [];
      return [name2, h("span.fv-muted.fv-wrap", null, isOutermost ? ` ${path ?? "input"}` : " input of a block")];
    }
    attributeLink(path) {
      return this.link(path, { attribute: path, node: null, tab: "attributes" });
    }
    stepLink(index, patch = {}) {
      const step = this.app.model.step(index);
      return this.link(step ? `${stepLabel(step)} ${step.name}` : `${index} unknown step`, { step: index, ...patch });
    }
    locationLink(location2) {
      const text = `%${location2.value}`;
      if (location2.step === null || location2.node === null) return h("code", null, text);
      return this.link(text, { step: location2.step, node: location2.node, attribute: null, tab: "graph" });
    }
    source(method, node) {
      const places = this.app.model.places(method, node);
      const blocks = places.map(({ source, called }) => [called === null ? null : h("p.fv-small.fv-muted", null, "where ", h("code", null, called), " is called"), this.sourceLines(source)]);
      if (places.length === 1 && isInstalled(places[0].source.file)) {
        blocks.push(h("p.fv-muted.fv-small", null, "torch recorded no place in a file of yours."));
      }
      return places.length ? section("Source", blocks) : null;
    }
    sourceLines(place2) {
      const { model } = this.app;
      const lines = model.sourceAround(place2.file, place2.line, SOURCE_REACH);
      const where = h("div.fv-small.fv-wrap", { title: place2.file }, this.link(`${shortPath(place2.file)}:${place2.line}`, { tab: "code" }));
      if (!lines.length) return [where, h("p.fv-muted.fv-small", null, "The trace holds no text of this file.")];
      const rows = lines.map(({ number: number2, text }) => h("div.fv-source-line", { class: number2 === place2.line ? "fv-source-here" : "" }, h("span.fv-source-number", null, number2), h("span", null, text)));
      return [where, h("div.fv-source", { tabindex: "0", role: "region", "aria-label": `Source around line ${place2.line}` }, rows)];
    }
  };
  function shortPath(file) {
    const parts = file.split(/[\\/]/);
    return parts.length > 4 ? `…/${parts.slice(-3).join("/")}` : file;
  }
  function kernelDetails(app, program, index) {
    const { details, model } = app;
    const kernel = program.kernels[index];
    const at = program.step;
    const link = (id, step) => {
      const op = model.graph(step).nodes.get(id)?.op;
      return h("li", null, op === void 0 ? h("code", null, `%${id}`) : [app.link(`%${id}`, { step, node: id, attribute: null, tab: "graph" }), h("span.fv-muted", null, ` ${op}`)]);
    };
    const chain = model.chains(program.method).find(([step]) => step.side === program.side);
    const first = at === null ? null : chain?.[0].index ?? null;
    return [detailsTitle(kernel.name, h("span.fv-badge", null, kernel.kind)), h("p.fv-muted", null, `call ${index + 1} of ${program.kernels.length}, ${program.name}`), kernel.time ? section("Time in one run", h("p.fv-num", null, kernel.time)) : null, kernel.nodes.length && at !== null ? section("Computes", h("p", null, app.link("Show in the graph", { step: at, tab: "graph", panes: "after" })), h("ul.fv-list", null, kernel.nodes.map((id) => link(id, at)))) : null, kernel.origins.length && first !== null ? section("Comes from, in the graph as it came", h("ul.fv-list", null, kernel.origins.map((id) => link(id, first)))) : null, kernel.sources.length ? section("Source", ordered(kernel.sources).map((source) => details.sourceLines(source))) : null];
  }
  function ordered(sources) {
    return [...sources].sort((one, other) => Number(isInstalled(one.file)) - Number(isInstalled(other.file)));
  }
  var SHOWN = 8;
  function repeatDetails(details, group, outline) {
    const holder = holderOf(group);
    if (!holder?.repeat) return null;
    const members = holder.repeat;
    const at = members.indexOf(group);
    const link = (one, text = one.label) => details.link(text, { node: one.id, attribute: null, tab: "graph" });
    const names = members.map((one) => h("li", null, one === group ? h("strong", null, one.label) : link(one)));
    return [detailsTitle(group.label, at < 0 ? "repeated module" : `module, ${at + 1} of ${members.length} alike`), at < 0 ? null : stepper(members, at, link), section(`${members.length} modules of one structure`, h("p.fv-muted.fv-small", null, "The same operators, types and wiring; each pass changed them in the same way."), h("ul.fv-list.fv-columns", null, names)), differences(details, members, apart(outline, holder), link)];
  }
  function holderOf(group) {
    if (group.repeat) return group;
    const around2 = group.isRest || group.parent?.repeat?.includes(group) ? group.parent : group.parent?.parent;
    return around2?.repeat?.includes(group) || group.isRest ? around2 : null;
  }
  function stepper(members, at, link) {
    const [before, after] = [members[at - 1], members[at + 1]];
    return h("p.fv-stepper", null, before ? link(before, `‹ ${before.label}`) : null, after ? link(after, `${after.label} ›`) : null);
  }
  function apart(outline, holder) {
    const [first, ...others] = holder.repeat;
    const stem = first.id.replace(/\d+$/, "");
    return [...outline.groups.values()].filter((one) => one.id.startsWith(stem) && /^\d+$/.test(one.id.slice(stem.length)) && one !== first && !others.includes(one));
  }
  function differences(details, members, others, link) {
    const { model, pair } = details.app;
    const shownSteps = pair?.steps().map(({ index }) => index) ?? [];
    const lines = attributeLines(model, members).map((text) => h("li.fv-wrap", null, text));
    for (const other of others) {
      lines.push(h("li.fv-wrap", null, link(other), ` differs: ${apartText(model, members[0], other, shownSteps)}`));
    }
    const shown = lines.slice(0, SHOWN);
    if (lines.length > SHOWN) shown.push(h("li.fv-muted", null, `and ${lines.length - SHOWN} more`));
    return section("What differs among them", lines.length ? h("ul.fv-list", null, shown) : h("p.fv-muted", null, "Only the numbers in their weights."));
  }
  function attributeLines(model, members) {
    const found = /* @__PURE__ */ new Map();
    for (const member of members) {
      const path = `${member.id.replace(/#\d+/g, "")}.`;
      for (const row of model.attributes) {
        if (!row.path.startsWith(path) || row.kind === "submodule" || !row.counted) continue;
        const own = row.path.slice(path.length);
        const kinds = found.get(own) ?? /* @__PURE__ */ new Map();
        found.set(own, kinds);
        const text = [row.fate, row.shape, row.dtype].filter(Boolean).join(" ");
        kinds.set(text, [...kinds.get(text) ?? [], member.label]);
      }
    }
    return [...found].flatMap(([own, kinds]) => {
      const told = [...kinds].sort((a, b) => a[1].length - b[1].length);
      const missing = members.length - told.reduce((sum, [, labels]) => sum + labels.length, 0);
      if (told.length === 1 && !missing) return [];
      const parts = told.map(([text, labels], at) => at === told.length - 1 && told.length > 1 ? `${text} in the others` : `${text} in ${labels.join(", ")}`);
      return [`${own}: ${parts.join("; ")}${missing ? `; ${missing} without it` : ""}`];
    });
  }
  function apartText(model, member, other, steps) {
    for (const step of steps) {
      const [usual, own] = [operators(model, member, step), operators(model, other, step)];
      const parts = [.../* @__PURE__ */ new Set([...usual.keys(), ...own.keys()])].flatMap((op) => {
        const more = (own.get(op) ?? 0) - (usual.get(op) ?? 0);
        return more ? [`${more > 0 ? "+" : "−"}${Math.abs(more)} ${op}`] : [];
      });
      if (parts.length) return parts.join(", ");
    }
    return "other types, wiring or passes";
  }
  function operators({ graphs, steps }, group, step) {
    const { rowOf: rowOf2 } = graphs.snapshot(graphs.steps[steps[step].index].after);
    const counts3 = /* @__PURE__ */ new Map();
    const visit = (one) => {
      for (const child of one.children) {
        const key = child.children ? child.node : child.leaf;
        const row = key < 0 || graphs.isPseudo(key) ? -1 : rowOf2[key];
        const name2 = row < 0 ? "" : opName(graphs.op(row));
        if (name2) counts3.set(name2, (counts3.get(name2) ?? 0) + 1);
        if (child.children) visit(child);
      }
    };
    visit(group);
    return counts3;
  }
  var QUIET = /* @__PURE__ */ new Set(["prim::Constant", "prim::GetAttr", "get_attr"]);
  var SourceLinks = class {
    constructor({ files, places, sets, nodes: nodes2 }) {
      this.files = files;
      this.rows = /* @__PURE__ */ new Map();
      this.ofKernel = /* @__PURE__ */ new Map();
      for (const { file, lines } of files) for (const row of lines) this.addRow(lineKey(file, row.line), row);
      const keys = places.map(([file, line3]) => lineKey(files[file].file, line3));
      const named2 = sets.map((set) => set.map((place2) => keys[place2]));
      this.claims = /* @__PURE__ */ new Map();
      this.claimants = /* @__PURE__ */ new Map();
      for (const [method, claims] of Object.entries(nodes2)) {
        const [ofNode, ofLine] = [/* @__PURE__ */ new Map(), /* @__PURE__ */ new Map()];
        for (const [node, since, set] of claims) {
          push(ofNode, node, [since, named2[set]]);
          for (const key of named2[set]) ofLine.set(key, (ofLine.get(key) ?? /* @__PURE__ */ new Set()).add(node));
        }
        this.claims.set(method, ofNode);
        this.claimants.set(method, ofLine);
      }
    }
    addRow(key, row) {
      this.rows.set(key, row);
      for (const [program, kernel] of row.kernels) push(this.ofKernel, `${program}:${kernel}`, key);
    }
    linesOfNode(method, node, step) {
      const claims = this.claims.get(method)?.get(node) ?? [];
      return claims.findLast(([since]) => since <= step)?.[1] ?? [];
    }
    nodesOfLine(method, key, { step, nodes: nodes2 }) {
      const known = this.claimants.get(method)?.get(key);
      if (!known) return [];
      return [...nodes2.keys()].filter((id) => known.has(id) && this.linesOfNode(method, id, step).includes(key));
    }
    linesOfKernel(program, kernel) {
      return this.ofKernel.get(`${program}:${kernel}`) ?? [];
    }
    kernelsOfLine(program, key) {
      return (this.rows.get(key)?.kernels ?? []).flatMap(([of, kernel]) => of === program ? [kernel] : []);
    }
    foremost(count2) {
      const own = this.files.filter(({ kind, missing }) => kind !== "library" && !missing);
      const rows = (own.length ? own : this.files.slice(0, 1)).flatMap(({ file, lines }) => lines.map((row) => [lineKey(file, row.line), row]));
      const weight = (row) => [shareOf(row)?.share ?? 0, stepsOf(row).length];
      const sorted = rows.sort(([, one], [, other]) => {
        const [[time, passes3], [otherTime, otherPasses]] = [weight(one), weight(other)];
        return otherTime - time || otherPasses - passes3 || one.line - other.line;
      });
      return sorted.filter(([, row]) => row.effects.length || row.times.length).slice(0, count2);
    }
  };
  function lineKey(file, line3) {
    return `${file}:${line3}`;
  }
  function placeOfKey(key) {
    const match = /^(.+):(\d+)$/s.exec(key);
    return match && { file: match[1], line: Number(match[2]) };
  }
  function shareOf(row) {
    return row.times.find(({ frozen }) => frozen) ?? row.times[0] ?? null;
  }
  function stepsOf(row) {
    return [...new Set(row.effects.map(({ step }) => step))];
  }
  function isGone(row) {
    return row.operators > 0 && !row.left.length && !row.constants.length;
  }
  function telling(nodes2, graph) {
    const computing = nodes2.filter((id) => !QUIET.has(graph.get(id)?.op ?? ""));
    return computing.length ? computing : nodes2;
  }
  function listing(runs, rows) {
    const texts = new Map(rows.map(({ line: line3 }) => [line3, null]));
    for (const { first_line: first, lines } of [...runs].reverse()) {
      lines.forEach((text, offset) => texts.set(first + offset, text));
    }
    const numbers = [...texts.keys()].sort((one, other) => one - other);
    return numbers.flatMap((line3, at) => {
      const row = { line: line3, text: texts.get(line3) ?? null };
      return at && line3 !== numbers[at - 1] + 1 ? [null, row] : [row];
    });
  }
  function push(map, key, value) {
    const found = map.get(key);
    if (found) found.push(value);
    else map.set(key, [value]);
  }
  function firstFile(files) {
    const weight = ({ file, lines }) => file.startsWith("<") ? 0 : lines.length;
    const own = files.find(({ kind }) => kind !== "library");
    return own ?? files.reduce((most, file) => weight(file) > weight(most) ? file : most, files[0]);
  }
  function timeMark(row) {
    const time = row && shareOf(row);
    if (!time) return h("span.fv-line-time");
    return h("span.fv-line-time", null, h("span.fv-line-bar", { "aria-hidden": "true" }, h("span.fv-line-bar-all", { style: { width: `${100 * time.share}%` } }), h("span.fv-line-bar-alone", { style: { width: `${100 * time.alone}%` } })), h("span.fv-num", null, percentText(time.share)));
  }
  function passMark(row) {
    const passes3 = row ? stepsOf(row).length : 0;
    return h("span.fv-line-passes.fv-num", null, passes3 || null);
  }
  function errorMark(row) {
    return h("span.fv-line-error", null, row?.errors.length ? "≈" : "");
  }
  function words(row) {
    const passes3 = stepsOf(row).length;
    const time = shareOf(row);
    return [passes3 ? `${count(passes3, "pass", "passes")} touched it` : "no pass touched it", left(row), time ? time.text : null, ...row.errors.map(({ text }) => text)].filter(Boolean);
  }
  function left({ operators: operators4, left: nodes2, constants: constants2 }) {
    if (!operators4 && !nodes2.length && !constants2.length) return "it computes nothing by itself";
    const held = constants2.length ? ` and ${count(constants2.length, "constant")}` : "";
    if (!nodes2.length && !held) return `nothing is left of its ${count(operators4, "operator")}`;
    return `${count(nodes2.length, "operator")}${held} left of ${operators4}`;
  }
  var MOST_NODES = 8;
  function lineFacts(app, key, row) {
    const place2 = placeOfKey(key);
    const text = app.model.sourceAround(place2.file, place2.line, 0)[0]?.text;
    return [h("h3.fv-line-title", { title: place2.file }, placeText(place2)), text ? h("p.fv-mono.fv-wrap", null, text.trim()) : null, ...lineSections(app, row, { notes: app.model.view.by_line.notes })];
  }
  function lineSections(app, row, { notes, at = {} }) {
    return [section("Passes that touched it", passes(app, row, at)), section("In the last graph", h("p", null, sentence(left(row))), nodes(app, row, at)), section("Time", ...times(row, notes)), section("Error", ...errors3(app, row, { notes, at }))];
  }
  function passes(app, row, at) {
    if (!row.effects.length) return h("p.fv-muted", null, "None: no pass changed it.");
    const items = stepsOf(row).map((step) => h("li", null, app.details.stepLink(step, at), row.effects.filter((effect2) => effect2.step === step).map(({ text }) => h("div.fv-muted.fv-small", null, text))));
    return h("ol.fv-list.fv-line-effects", null, items);
  }
  function nodes(app, row, at) {
    const shown = [...row.left, ...row.constants].slice(0, MOST_NODES);
    const items = shown.map(([method, id]) => {
      const step = app.model.final(method).index;
      const op = app.model.graph(step).nodes.get(id)?.op;
      return h("li", null, app.link(`%${id}`, { step, node: id, attribute: null, kernel: null, ...at }), h("span.fv-muted", null, ` ${op}`));
    });
    const more = row.left.length + row.constants.length - shown.length;
    return h("ul.fv-list.fv-small", null, items, more ? h("li.fv-muted", null, `and ${more} more`) : null);
  }
  function times(row, notes) {
    if (!row.times.length) {
      const why = row.kernels.length ? "Its kernels were not timed." : "Nothing that was timed runs it.";
      return [h("p.fv-muted", null, notes.time || why)];
    }
    const several = row.times.length > 1;
    return row.times.map(({ of, text }) => h("p", null, several ? h("span.fv-muted", null, `${of}: `) : null, text));
  }
  function errors3(app, row, { notes, at }) {
    if (row.errors.length) {
      return row.errors.map(({ step, text }) => h("p", null, app.details.stepLink(step, at), h("span.fv-muted", null, ` ${text}`)));
    }
    return [h("p.fv-muted", null, notes.error || "No pass that touched it made the error grow.")];
  }
  function openingFacts(app, foremost, pin) {
    const items = foremost.map(([key, row]) => {
      const place2 = placeOfKey(key);
      const time = shareOf(row);
      return h("li", null, h("button.fv-linklike", { type: "button", onclick: () => pin(key) }, placeText(place2)), h("span.fv-muted", null, ` ${time ? `${percentText(time.share)} of the time` : count(row.effects.length, "effect")}`));
    });
    const timed2 = foremost.some(([, row]) => shareOf(row));
    return [h("p", null, "Hover a line, a node or a kernel to see what belongs to it; a click keeps it. Arrow keys go through lines, Enter keeps one."), items.length ? section(timed2 ? "Lines that take most time" : "Lines that passes did most to", h("ol.fv-list", null, items), timed2 ? h("p.fv-muted.fv-small", null, "Lines overlap: each has the time of what it calls, and of operators or kernels that it shares with others.") : null) : null, ...Object.values(app.model.view.by_line.notes).filter(Boolean).map((note3) => h("p.fv-muted.fv-small", null, note3))];
  }
  function sentence(text) {
    return `${text[0].toUpperCase()}${text.slice(1)}.`;
  }
  var Details = class extends DetailsLinks {
    constructor(app) {
      super(app);
      this.words = { added: "added", removed: "removed", changed: "changed" };
      this.body = h("div.fv-details-body");
      this.element = h("aside.fv-details", { "aria-label": "Details" }, h("button.fv-icon.fv-details-close", { type: "button", "aria-label": "Close details", title: "Close (Esc)", onclick: () => app.navigate({ node: null, attribute: null, kernel: null, line: "" }) }, icon("close")), this.body);
    }
    render(state) {
      const content2 = state.attribute ? this.attribute(state.attribute) : state.node ? this.node(state.node) : this.kernel(state) ?? this.line(state);
      this.element.hidden = content2 === null;
      if (content2) fill(this.body, content2);
    }
    kernel({ program, kernel }) {
      return kernel === null ? null : kernelDetails(this.app, this.app.model.view.programs[program], kernel);
    }
    line({ line: line3 }) {
      const row = this.app.model.links.rows.get(line3);
      return row ? lineFacts(this.app, line3, row) : null;
    }
    node(id) {
      const { model } = this.app;
      const { pair } = this.app;
      if (!pair) return null;
      const step = pair.after;
      const before = pair.before && model.graph(pair.before.index).nodes.get(id);
      const after = model.graph(step.index).nodes.get(id);
      const node = after || before;
      if (!node) return this.end(pair, id) ?? this.absent(id, step);
      const at = after || !pair.before ? step.index : pair.before.index;
      return [detailsTitle(node.op, this.fate(pair, before, after)), h("p.fv-mono.fv-wrap.fv-muted", null, `%${id}`), this.origin(at, node), before && after && before !== after ? this.changes(before, after) : null, this.values(at, node), this.worth(at, id), this.texts(node), this.constant(node), readConstants(model, pair, before, after), nodeKernels(this, step.method, id), this.source(step.method, node), nodeHistory(this, step.method, id), nodeRewrites(this, step.method, id)];
    }
    end(pair, id) {
      const found = this.app.model.end(pair, id);
      if (!found) return null;
      const { node, at } = found;
      const [output] = node.outputs;
      const nested = id === `%${output?.name ?? "return"}` ? "" : " of a nested block";
      return [detailsTitle(output ? `%${output.name}` : "return", `${output ? "input" : ""}${nested}`), this.origin(at, node), this.values(at, node)];
    }
    fate(pair, before, after) {
      const { words: words4 } = this;
      if (!pair.before || before === after) return null;
      if (!before) return h("span.fv-badge.fv-added", null, `+ ${words4.added}`);
      if (!after) return h("span.fv-badge.fv-removed", null, `− ${words4.removed}`);
      return changedFields(before, after).length ? h("span.fv-badge.fv-modified", null, `~ ${words4.changed}`) : null;
    }
    absent(id, step) {
      const { model } = this.app;
      const graph = this.app.panels.get("graph");
      const outline = graph?.view?.outline();
      const group = outline?.groups.get(id);
      const repeated = group && repeatDetails(this, group, outline);
      if (repeated) return repeated;
      const events = model.history(step.method, id);
      if (events.length) {
        return [detailsTitle("Node", `%${id}`), h("p.fv-muted", null, "It is in neither graph shown."), nodeHistory(this, step.method, id)];
      }
      const path = id.replace(/#\d+$/, "");
      const inside = model.attributes.filter((row) => row.path.startsWith(`${path}.`));
      if (!inside.length) return [detailsTitle(id)];
      return [detailsTitle(path, "module"), section("Attributes", this.link(`See its ${inside.length} attributes`, { tab: "attributes", q: `${path}.`, fate: [], kind: "", reason: "" }))];
    }
    origin(at, node) {
      const rows = node.outputs.flatMap(({ name: name2 }) => this.app.model.attributesOf(at, name2));
      const links2 = rows.map((row) => h("li", null, this.attributeLink(row.path), " ", fateBadge(row.fate)));
      const how = { "prim::GetAttr": "Reads attribute", input: "Is attribute" }[node.op] ?? "Holds attribute";
      return links2.length ? section(how, h("ul.fv-list", null, links2)) : null;
    }
    changes(before, after) {
      const { pair } = this.app;
      const fields = changedFields(before, after).filter((field) => field !== "source");
      if (!fields.length) return null;
      return section(pair?.chosen && pair.before ? `Changed between ${stepLabel(pair.before)} and ${stepLabel(pair.after)}` : "Changed in this pass", h("p.fv-mono.fv-wrap.fv-small", null, h("span.fv-removed", null, "− ", nodeText({ ...before, source: null }))), h("p.fv-mono.fv-wrap.fv-small", null, h("span.fv-added", null, "+ ", nodeText({ ...after, source: null }))));
    }
    values(at, node) {
      const { model } = this.app;
      const graph = model.graph(at);
      const inputs = node.inputs.map((name2) => h("li", null, this.valueLink(at, name2)));
      const outputs = node.outputs.map(({ name: name2, type }) => h("li", null, h("code", null, `%${name2}`), h("div.fv-type", null, type), this.users(at, graph, name2)));
      return [outputs.length ? section("Defines", h("ul.fv-list", null, outputs)) : null, inputs.length ? section("Reads", h("ul.fv-list", null, inputs)) : null];
    }
    users(at, graph, name2) {
      const readers = graph.readers.get(name2) || [];
      if (graph.yielded.has(name2)) {
        return h("div.fv-small", null, h("span.fv-muted", null, "returned", readers.length ? ", and read by " : ""), spaced(readers.map((id) => this.nodeLink(id, at))));
      }
      if (!readers.length) return h("div.fv-muted.fv-small", null, "read by no node");
      return h("div.fv-small", null, h("span.fv-muted", null, "read by "), spaced(readers.map((id) => this.nodeLink(id, at))));
    }
    texts(node) {
      const rows = node.attributes.map(({ name: name2, text }) => [name2, text]);
      if (node.module) rows.push(["module", node.module]);
      return rows.length ? section("Attributes", pairs(rows)) : null;
    }
    worth(at, id) {
      const rows = valuesOfNode(this.app.model, at, id);
      return rows.length ? section("Measured and known", pairs(rows)) : null;
    }
    constant(node) {
      return node.constant ? section("Constant", pairs(constantRows(node.constant)), valuesOf(node.constant)) : null;
    }
    attribute(path) {
      return new AttributeDetails(this).of(path);
    }
  };
  function constantRows(kept) {
    const numbers = ["minimum", "maximum", "mean", "std"].filter((name2) => kept[name2] !== null);
    const rows = [["shape", kept.shape.join("×") || "scalar"], ["dtype", kept.dtype], ["device", kept.device], ["size", bytesText(kept.nbytes)], ...numbers.map((name2) => [name2, kept[name2].toPrecision(4)]), ["not finite", kept.nonfinite || null], ["digest", kept.digest], ["storage", kept.storage]];
    return rows.filter(([, text]) => text !== null);
  }
  function spaced(nodes2) {
    return nodes2.flatMap((node, index) => index ? [" ", node] : [node]);
  }
  var EnvironmentPanel = class {
    constructor(app) {
      this.app = app;
      this.id = "environment";
      this.label = "Environment";
      const { environment } = app.model.view;
      this.element = h("div.fv-panel-body.fv-scroll", null, h("h2.fv-unseen", null, "Environment"), h("div.fv-columns", null, section("Recorded with", environment.call ? this.call(environment.call) : h("p.fv-muted", null, "unknown")), this.notices(environment.notices, "Notices", "fv-warn"), section("Recording", pairs(environment.recording)), section("Machine", pairs(environment.machine)), environment.options.length ? section("Options", pairs(environment.options)) : null, section("Inputs", environment.inputs.length ? pairs(environment.inputs) : h("p.fv-muted", null, "Recorded without inputs: nothing was measured.")), this.notices(environment.facts, "About this environment"), environment.settings.length ? section("Relevant settings", pairs(environment.settings)) : null, environment.baselines.length ? section(term(app, "baseline", "Compared with"), baselines(environment.baselines)) : null));
    }
    call(text) {
      return h("div.fv-call", null, h("pre", { tabindex: "0" }, text), h("button.fv-button", { type: "button", onclick: () => this.app.copy(text) }, "Copy"));
    }
    notices(notices2, title, tone = "") {
      if (!notices2.length) return null;
      const items = notices2.map((notice) => h("li", null, h("span.fv-badge", { class: tone }, notice.code.replaceAll("_", " ")), " ", notice.message, notice.quoted ? h("pre.fv-log", { tabindex: "0" }, notice.quoted) : null, notice.step === null ? null : [" ", this.app.details.stepLink(notice.step)]));
      return section(title, h("ul.fv-list.fv-notices", null, items));
    }
    render() {
    }
  };
  function baselines(rows) {
    const cells2 = rows.map((row) => h("tr", null, h("th", { scope: "row" }, row.name), h("td.fv-num", null, row.latency.length ? row.latency.map((entry) => h("div", null, `${entry.text} (${entry.interval}) on ${entry.device}`)) : "not measured"), h("td.fv-num", null, row.numerics.length ? row.numerics.map((entry) => h("div", null, entry.error ?? `${entry.max_abs} against ${entry.reference}`)) : "not compared")));
    return grid("", ["Model", "Latency", "Largest error"], cells2);
  }
  var LEAST_SPREAD = 0.05;
  function ratioSpread(ratios) {
    const far2 = ratios.flatMap(({ low, value, high }) => [low, value, high]).filter((one) => one > 0).map((one) => Math.abs(Math.log(one)));
    return Math.max(LEAST_SPREAD, ...far2) * 1.08;
  }
  function ratioAxis(spread) {
    const end = (at) => {
      const percent = Math.round((Math.exp(at) - 1) * 100);
      return percent > 100 ? `${Math.exp(at).toFixed(1)}×` : `${percent < 0 ? "−" : "+"}${Math.abs(percent)}%`;
    };
    return h("span.fv-ratio-axis.fv-num", null, h("span", null, end(-spread)), h("span", null, "same"), h("span", null, end(spread)));
  }
  function ratioBar({ low, value, high, text, verdict: verdict2 }, spread) {
    if (!(value > 0)) return null;
    const place2 = (one) => 50 + 50 * Math.max(-spread, Math.min(spread, Math.log(one))) / spread;
    const [start, end] = [low > 0 ? place2(low) : 0, high === null ? 100 : place2(high)];
    const word = verdict2 ?? (value < 1 ? "faster" : "slower");
    return h("span.fv-ratio", { role: "img", "aria-label": `${text}, ${word}`, class: `fv-ratio-${word.split(" ")[0]}` }, h("span.fv-ratio-bar", { style: { left: `${Math.min(50, place2(value))}%`, width: `${Math.abs(place2(value) - 50)}%` } }), h("span.fv-ratio-span", { style: { left: `${start}%`, width: `${end - start}%` } }), h("span.fv-ratio-point", { style: { left: `${place2(value)}%` } }));
  }
  function measuringNotes(notes) {
    if (!notes.length) return null;
    return h("div.fv-measuring-notes", null, h("p.fv-muted.fv-small", null, "About this measurement:"), h("ul.fv-list.fv-small", null, notes.map(line)));
  }
  function line(note3) {
    const [, subject, rest] = note3.match(/^([a-z]+(?: [a-z]+)?): (.*)$/su) ?? [null, "", note3];
    return h("li", null, subject ? h("strong", null, `${subject}: `) : null, rest);
  }
  var TIDIED = () => h("span.fv-muted", { title: "It removed nodes that nothing read, and nothing else" }, " only tidied up");
  function judged(error2, close) {
    if (error2 === null) return h("span.fv-muted", null, "not compared");
    return [error2, close === false ? h("span.fv-bad", null, " ≠") : null];
  }
  function part(name2, ...children) {
    const element3 = section(name2, children);
    element3.classList.add("fv-finding");
    return element3;
  }
  function wide(name2, ...children) {
    const element3 = part(name2, children);
    element3.classList.add("fv-finding-wide");
    return element3;
  }
  var DUPLICATES_SHOWN = 6;
  var NAMES_SHOWN = 8;
  function memoryPart(panel) {
    const { duplicates, duplicates_between: between2, memory } = panel.found;
    if (!memory.length && !duplicates.length && !between2.length) return null;
    const facts2 = memory.map((row) => [h("dt", null, row.label), h("dd", null, h("span.fv-num", { class: `fv-${row.tone}` }, row.value), row.note ? h("span.fv-muted.fv-wrap", null, `, ${row.note}`) : null, row.step === null ? null : h("div", null, "since ", panel.pass(row.step)))]);
    const rows = duplicates.slice(0, DUPLICATES_SHOWN).map((row) => h("tr", { data: { step: row.step } }, h("td", null, panel.pass(row.step)), h("td.fv-num", null, row.bytes), h("td", null, row.kind, h("div.fv-muted.fv-small.fv-wrap", null, someOf(row.names)))));
    const smaller = duplicates.length - rows.length;
    const ended = between2.slice(0, DUPLICATES_SHOWN).map((row) => betweenRow(panel, row));
    const more = between2.length - ended.length;
    const frame = rows.length || ended.length ? wide : part;
    return frame("Memory", facts2.length ? h("dl.fv-pairs", null, facts2) : null, rows.length ? grid("Held more than once in the final graph", ["Since", "Bytes", "Constants"], rows) : null, smaller ? h("p.fv-muted", null, `… and ${smaller} smaller ones`) : null, ended.length ? grid("Held more than once for a while", ["From", "Until", "Bytes", "Constants"], ended) : null, more ? h("p.fv-muted", null, `… and ${more} more`) : null);
  }
  function betweenRow(panel, { step, until, bytes, names }) {
    return h("tr", { data: { step } }, h("td", null, panel.pass(step)), h("td", null, panel.pass(until)), h("td.fv-num", null, bytes), h("td", null, h("div.fv-muted.fv-small.fv-wrap", null, someOf(names))));
  }
  function someOf(names) {
    const more = names.length - NAMES_SHOWN;
    return names.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
  }
  function ablationPart(panel) {
    const { ablation } = panel.found;
    if (!ablation.length) return null;
    const spread = ratioSpread(ablation.flatMap((row) => row.latency));
    const rows = ablation.map((row) => h("tr", null, h("td", null, named(panel, row)), row.error === null ? contribution(row, spread) : h("td", { colspan: 4 }, h("span.fv-muted", null, "could not be measured: "), row.error)));
    const note3 = h("p.fv-muted.fv-small", null, "The whole freeze against the freeze with this pass left out, in every round: below 1, the pass pays off.");
    return wide(term(panel.app, "ablation", "What each pass does on its own"), note3, grid("", ["Pass", ratioAxis(spread), "Time with it, against without", "Error with it", "Error without"], rows));
  }
  function named(panel, { name: name2, steps, stage, tidied }) {
    return [steps.length ? panel.app.link(name2, { step: steps[0] }) : name2, tidied ? TIDIED() : null, h("div.fv-muted.fv-small", null, stage)];
  }
  function contribution(row, spread) {
    const times2 = (each) => row.latency.map((one) => h("div.fv-ratio-line", null, each(one)));
    return [h("td", null, times2((one) => ratioBar(one, spread))), h("td.fv-num", null, row.latency.length ? times2((one) => [one.text, h("span.fv-muted", null, row.latency.length > 1 ? ` ${one.device}` : ""), one.verdict === "no measurable difference" ? h("span.fv-muted", null, ` not measurable (${one.unseen})`) : null]) : h("span.fv-muted", null, "not measured")), h("td.fv-num", null, judged(row.with, row.close_with)), h("td.fv-num", null, judged(row.without, row.close_without))];
  }
  var SIGNS2 = { passed: "✓", "as meant": "•", failed: "✕", unknown: "?" };
  var TONES = { passed: "good", "as meant": "muted", failed: "bad", unknown: "warn" };
  var FindingsPanel = class {
    constructor(app) {
      this.app = app;
      this.id = "findings";
      this.label = "Findings";
      this.found = app.model.view.findings;
      this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Findings" });
    }
    render() {
      if (!this.element.childElementCount) fill(this.element, h("div.fv-findings", null, this.parts()));
      const { step } = this.app.current;
      for (const row of this.element.querySelectorAll("[data-step]")) {
        row.classList.toggle("fv-chosen", Number(row.dataset.step) === step);
      }
    }
    parts() {
      const parts = [this.paidOff(), this.movedTheNumbers(), this.checks(), memoryPart(this), ablationPart(this), this.absent()].filter(Boolean);
      return parts.length ? parts : h("p.fv-empty", null, "This trace holds no pass, so there is nothing to find.");
    }
    paidOff() {
      const { losses, payoffs: payoffs2, whole } = this.found;
      if (!whole.length) return null;
      const spread = ratioSpread(payoffs2);
      const severalDevices = new Set(whole.map(({ device }) => device)).size > 1;
      const rows = payoffs2.map((row) => h("tr", { data: { step: row.step } }, h("td", null, this.pass(row.step)), h("td", null, ratioBar(row, spread)), h("td.fv-num", null, row.text), severalDevices ? h("td.fv-muted", null, row.device) : null));
      return wide("What made it faster", rows.length ? grid("", ["Pass", ratioAxis(spread), "Time against the pass before", ...severalDevices ? ["Device"] : []], rows) : h("p", null, `No single pass changed the latency measurably${this.found.unseen ? ` (${this.found.unseen})` : ""}.`), whole.map((row) => this.together(row, whole.length > 1)), losses.map((row) => h("p", null, h("strong.fv-bad", null, "Freezing lost: "), `compiled with freezing takes ${row.text}, against compiled without it, on ${row.device}`)));
    }
    together(row, several) {
      const of = several ? ` (${row.method}, ${row.device})` : ` on ${row.device}`;
      const words4 = row.verdict === "faster" || row.verdict === "slower" ? h(`strong.fv-verdict-${row.verdict}`, null, row.words) : [h("strong", null, term(this.app, "measurable difference", row.verdict)), ` (${row.unseen})`];
      return [h("p", null, `All passes together${of}: `, words4), row.beside ? h("p.fv-muted.fv-small", null, row.beside) : null, measuringNotes(row.notes)];
    }
    movedTheNumbers() {
      const { errors: errors4 } = this.found;
      if (!errors4.length) return null;
      return wide("What changed the results", errors4.map((method) => this.errorsOf(method, errors4.length > 1)));
    }
    errorsOf({ method, present, total, added }, several) {
      const rows = added.map((row) => h("tr", { data: { step: row.step } }, h("td", null, this.pass(row.step), this.app.model.step(row.step)?.before === null ? h("span.fv-muted", null, " the graph as it came") : null), h("td.fv-num", null, row.from, " → ", h("strong", null, row.to), row.span ? h("div.fv-muted.fv-small", null, `${row.span} over the inputs`) : null), h("td", null, row.close ? h("span.fv-good", null, "within tolerance") : h("span.fv-bad", null, row.first_past ? "≠ the first past tolerance" : "≠ past tolerance"), row.close || row.worst === null ? null : h("div.fv-muted.fv-small", null, `worst with the inputs: ${row.worst}`))));
      const before = present === null ? null : h("p", null, "Against float64: ", h("strong.fv-num", null, present), " before freezing (eager)", total === null ? null : [", ", h("strong.fv-num", null, total), " after all passes"]);
      return [several ? h("h4.fv-block-title", null, method) : null, rows.length ? grid("", ["Added by", "Largest error against eager", "torch's tolerances"], rows) : h("p", null, "No pass moved the outputs away from eager's."), before];
    }
    checks() {
      const { checks } = this.found;
      if (!checks.length) return null;
      const items = checks.map((check2) => {
        const head = [h(`span.fv-check-sign.fv-${TONES[check2.verdict]}`, { role: "img", "aria-label": check2.verdict, title: check2.verdict }, SIGNS2[check2.verdict]), h("strong", null, check2.name), h("span.fv-wrap", null, check2.message)];
        if (!check2.details.length) return h("div.fv-check-row", null, head);
        return h("details.fv-check-more", { open: check2.verdict === "failed" }, h("summary.fv-check-row", null, head), h("ul.fv-list.fv-check-details", null, check2.details.map((line3) => h("li", null, line3))));
      });
      return part("Checks of the frozen module", h("div.fv-checks", null, items));
    }
    absent() {
      const { absent: absent2 } = this.found;
      if (!absent2.length) return null;
      return wide("Not recorded", h("dl.fv-pairs.fv-absent", null, absent2.map(([what, how]) => [h("dt", null, what), h("dd", null, how)])));
    }
    pass(index) {
      const { round, tidied, title } = this.app.model.step(index);
      return [this.app.details.stepLink(index), title ? h("span.fv-muted", null, ` ${title}`) : null, round === null ? null : h("span.fv-muted", null, ` round ${round}`), tidied ? TIDIED() : null];
    }
  };
  var NONE = -1;
  var SIDES2 = { BEFORE: 1, AFTER: 2 };
  var Scene = class {
    constructor(outline, expanded, measure) {
      this.outline = outline;
      this.model = outline.model;
      this.items = [{ group: outline.root, open: true, key: NONE, caption: "", parent: NONE }];
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
    _placeConstants() {
      const { hidden, home: homes, union } = this.outline;
      this.ownerOfKey = this.itemOfKey.slice();
      for (const key of union.order) {
        if (!hidden[key]) continue;
        const home = homes[key];
        this.ownerOfKey[key] = home === NONE ? 0 : this.itemOfKey[home];
      }
    }
    _connect() {
      const { hidden, union } = this.outline;
      for (const key of union.order) {
        if (hidden[key]) continue;
        for (const reader of union.readers[key]) if (!hidden[reader]) this._addEdge(key, reader);
      }
      const plain = (from2, to) => this.via[this.edgeIndex.get(this._edgeName(from2, to))] === NONE;
      const usable = this.edges.map(([from2, to], edge) => {
        const via = this.via[edge];
        return via !== NONE && !this.items[via].open && plain(from2, via) && plain(via, to);
      });
      this.via = this.via.map((via, edge) => usable[edge] ? via : NONE);
    }
    _addEdge(key, reader) {
      const [from2, to] = [this.itemOfKey[key], this.itemOfKey[reader]];
      if (from2 === to) return;
      const name2 = this._edgeName(from2, to);
      const via = this.itemOfKey[this.outline.union.bypasses.get(`${key}/${reader}`) ?? NONE] ?? NONE;
      if (this.edgeIndex.has(name2)) {
        if (via === NONE) this.via[this.edgeIndex.get(name2)] = NONE;
        return;
      }
      this.edgeIndex.set(name2, this.edges.length);
      this.edges.push([from2, to]);
      this.via.push(via);
    }
    idOf(item) {
      const { group, key } = this.items[item];
      return key === NONE ? group.id : this.model.ids[key];
    }
    itemOf(id) {
      const owner = this.ownerOfKey[this.model.keyOfId.get(id) ?? NONE];
      if (owner !== void 0) return owner;
      let group = this.outline.groups.get(id);
      while (group && !this.itemOfGroup.has(group.id)) group = group.parent;
      return group ? this.itemOfGroup.get(group.id) : NONE;
    }
    _edgeName(from2, to) {
      return from2 * this.items.length + to;
    }
    edgeSides(before, after) {
      const sides = new Uint8Array(this.edges.length);
      const { start, values } = this.model.rowInputs;
      for (const [index, bit] of [[before, SIDES2.BEFORE], [after, SIDES2.AFTER]]) {
        if (index === null) continue;
        const snapshot = this.model.snapshot(index);
        for (const key of snapshot.order) {
          const to = this.itemOfKey[key];
          if (to === void 0) continue;
          const row = snapshot.rowOf[key];
          for (let at = start[row]; at < start[row + 1]; at++) {
            const producer = snapshot.producer[values[at]];
            const from2 = producer === NONE ? void 0 : this.itemOfKey[producer];
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
      const counts3 = { added: new Int32Array(count2), removed: new Int32Array(count2), changed: new Int32Array(count2) };
      const ops = [null, new Int32Array(count2), new Int32Array(count2)];
      for (const [index, bit] of [[before, SIDES2.BEFORE], [after, SIDES2.AFTER]]) {
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
        for (let at = item; at !== void 0 && at !== NONE; at = this.items[at].parent) counts3[status][at]++;
      }
      return { sides, ops, counts: counts3 };
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
  function contentOf(outline, row, caption2, names) {
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
    return { title: opName(node.op), caption: literal || caption2, detail: (plain ? `%${first.name}` : type) + more, chips, pseudo };
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
      const line3 = lines.at(-1);
      const x = line3 ? line3.at(-1).x + line3.at(-1).width + CHIP_GAP : 0;
      if (line3 && x + chip.width <= width) line3.push(Object.assign(chip, { x }));
      else lines.push([Object.assign(chip, { x: 0 })]);
    }
    return lines;
  }
  var HEADER = 28;
  var CHIP_STEP = 18;
  var WIDEST = { box: 250, input: 320 };
  function boxSize(scene, index) {
    const item = scene.items[index];
    const { width, height } = item.group ? groupSize(item) : nodeSize(scene.outline, item);
    return { width: 2 * Math.ceil(width / 2), height: 2 * Math.ceil(height / 2) };
  }
  function groupSize({ group, open, parent }) {
    if (parent < 0) return { width: 0, height: 0 };
    const label2 = Math.min(240, textWidth(FONTS.header, group.label));
    return open ? { width: label2 + 120, height: HEADER + 20 } : { width: Math.max(168, label2 + 56), height: 48 };
  }
  function nodeSize(outline, { key, caption: caption2 }) {
    const size = { width: 84, height: 28 };
    for (const content2 of contentsOf(outline, key, caption2)) {
      const title = textWidth(FONTS.title, content2.title) + (content2.caption ? textWidth(FONTS.caption, content2.caption) + 8 : 0);
      const lines = chipLines(content2.chips, 208);
      const widest = Math.max(0, ...lines.map((line3) => line3.at(-1).x + line3.at(-1).width));
      const wide2 = Math.max(title + 30, textWidth(FONTS.detail, content2.detail) + 24, widest + 28);
      size.width = Math.max(size.width, Math.min(content2.pseudo ? WIDEST.input : WIDEST.box, wide2));
      const text = content2.detail ? 42 : 28;
      size.height = Math.max(size.height, text + (lines.length ? lines.length * CHIP_STEP + 2 : 0));
    }
    return size;
  }
  function contentsOf(outline, key, caption2) {
    return outline.union.rowsOf[key].flatMap((row) => outline.names.map((names) => contentOf(outline, row, caption2, names)));
  }
  var NONE2 = -1;
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
      const element3 = this.row.push(row) - 1;
      this.width.push(width);
      this.box.push(box);
      this.net.push(net);
      this.rows[row].push(element3);
      return element3;
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
    const entering = scope.nets.some((net) => net.from === NONE2);
    const leaving = scope.nets.some((net) => net.exits);
    const first = entering ? 1 : 0;
    const grid2 = new Grid(layers.count + first + (leaving ? 1 : 0), entering, leaving);
    grid2.element = scope.children.map((child, at) => grid2.add(layers.layer[at] + first, result.width[child], child, null));
    scope.children.forEach((child, at) => result.layer[child] = layers.layer[at]);
    const spans = scope.nets.map((net) => spanOf(grid2, net, tree));
    const bends = spans.reduce((sum, { start, end }) => sum + Math.max(0, end - start - 1), 0);
    scope.nets.forEach((net, at) => {
      const straight = bends > BEND_BUDGET && spans[at].end - spans[at].start > LONG_SPAN;
      addChain(grid2, net, { ...spans[at], straight }, { scope, tree, result });
    });
    return grid2;
  }
  function spanOf(grid2, net, tree) {
    const rowOf2 = (child) => grid2.row[grid2.element[tree.place[child]]];
    const start = net.from === NONE2 ? 0 : rowOf2(net.from);
    const end = net.exits ? grid2.rows.length - 1 : start;
    return { start, end: net.sinks.reduce((most, child) => Math.max(most, rowOf2(child)), end) };
  }
  function addChain(grid2, net, { start, end, straight }, { scope, tree, result }) {
    const top = net.from === NONE2 ? grid2.add(0, BEND, NONE2, net) : grid2.element[tree.place[net.from]];
    const topShift = net.from === NONE2 ? 0 : exitShift(scope, net, result);
    const shiftOf = (element3) => element3 === top ? topShift : 0;
    const chain = [top];
    for (let row = start + 1; row < end && !straight; row++) {
      const bend = grid2.add(row, BEND, NONE2, net);
      const above = chain[chain.length - 1];
      grid2.link(above, bend, above === top ? SIDE : LONG, shiftOf(above), 0);
      chain.push(bend);
    }
    for (const child of net.sinks) {
      const element3 = grid2.element[tree.place[child]];
      if (grid2.row[element3] <= start) continue;
      const above = chain[grid2.carrier(chain, grid2.row[element3])];
      grid2.link(above, element3, above === top ? MAIN : SIDE, shiftOf(above), entryShift(scope, net, child, result));
    }
    const port = net.exits ? grid2.add(grid2.rows.length - 1, BEND, NONE2, net) : NONE2;
    if (net.exits) {
      const above = chain[chain.length - 1];
      grid2.link(above, port, above === top ? MAIN : LONG, shiftOf(above), 0);
    }
    grid2.chains.set(net, { chain, port });
  }
  function exitShift(scope, net, result) {
    const inner = net.from === net.owner ? void 0 : scope.find(net.from, net.owner);
    return inner ? inner.exitX - result.width[net.from] / 2 - result.lean[net.from] : 0;
  }
  function entryShift(scope, net, child, result) {
    const inner = scope.find(child, net.owner);
    return inner && inner.from === NONE2 ? inner.entryX - result.width[child] / 2 + result.lean[child] : 0;
  }
  var NONE3 = -1;
  var MOST_WISHES = 200;
  function placeX(grid2) {
    const x = new Float64Array(grid2.row.length);
    grid2.x = x;
    for (const row of grid2.rows) {
      let at = 0;
      row.forEach((element3, index) => {
        at += index ? separation(grid2, row[index - 1], element3) : 0;
        x[element3] = at;
      });
      for (const element3 of row) x[element3] -= at / 2;
    }
    const rounds = grid2.row.length > 6e3 ? 2 : 5;
    const { up, down } = grid2.links;
    for (let round = 0; round < rounds; round++) {
      for (let row = 1; row < grid2.rows.length; row++) fitRow(grid2, row, [up]);
      for (let row = grid2.rows.length - 2; row >= 0; row--) fitRow(grid2, row, [down]);
    }
    for (let row = 0; row < grid2.rows.length; row++) fitRow(grid2, row, [up, down]);
  }
  function separation(grid2, left2, right) {
    const bends = Number(grid2.box[left2] === NONE3) + Number(grid2.box[right] === NONE3);
    return (grid2.width[left2] + grid2.width[right]) / 2 + (bends === 2 ? 5 : bends === 1 ? 10 : 20);
  }
  function fitRow(grid2, row, sides) {
    const elements = grid2.rows[row];
    const offsets = new Float64Array(elements.length);
    const blocks = [];
    for (let index = 0; index < elements.length; index++) {
      const element3 = elements[index];
      if (index) offsets[index] = offsets[index - 1] + separation(grid2, elements[index - 1], element3);
      let wishes = [];
      for (const side of sides) collect(grid2, side, element3, offsets[index], wishes);
      if (!wishes.length) wishes.push([grid2.x[element3] - offsets[index], 0.01]);
      let start = index;
      let middle = weightedMedian(wishes);
      for (let left2 = blocks[blocks.length - 1]; left2 && left2.middle > middle; left2 = blocks[blocks.length - 1]) {
        blocks.pop();
        wishes = merged(left2.wishes, wishes);
        start = left2.start;
        middle = weightedMedian(wishes);
      }
      blocks.push({ start, wishes, middle });
    }
    blocks.forEach(({ start, middle }, at) => {
      const end = at + 1 < blocks.length ? blocks[at + 1].start : elements.length;
      for (let index = start; index < end; index++) grid2.x[elements[index]] = middle + offsets[index];
    });
  }
  function collect(grid2, { of: links2, ends, theirShift, ownShift }, element3, offset, wishes) {
    for (const at of links2[element3]) {
      wishes.push([grid2.x[ends[at]] + theirShift[at] - ownShift[at] - offset, grid2.weight[at]]);
    }
  }
  function merged(first, second) {
    if (first.length + second.length <= MOST_WISHES) return first.concat(second);
    let [sum, weight] = [0, 0];
    for (const wishes of [first, second]) {
      for (const [place2, pull] of wishes) [sum, weight] = [sum + place2 * pull, weight + pull];
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
  var NONE4 = -1;
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
      const from2 = net.from === NONE4 ? NONE4 : tree.place[net.from];
      if (from2 !== NONE4) outs[from2].push(net);
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
  var NONE5 = -1;
  function indexTree({ parent, group }) {
    const size = parent.length;
    const depth = new Int32Array(size);
    const children = Array.from({ length: size }, () => []);
    const place2 = new Int32Array(size);
    for (let box = 1; box < size; box++) {
      depth[box] = depth[parent[box]] + 1;
      place2[box] = children[parent[box]].push(box) - 1;
    }
    return { parent, group, depth, children, place: place2 };
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
      if (input.via[edge] !== NONE5) continue;
      const [owner, target] = [input.source[edge], input.target[edge]];
      const [a, b] = siblingsOf(tree, owner, target);
      if (a === b) continue;
      nets.drawn[edge] = 1;
      for (let at = owner; at !== a; at = tree.parent[at]) nets.add(tree.parent[at], owner, at).exits = true;
      nets.addSink(nets.add(tree.parent[a], owner, a), b);
      for (let at = target; at !== b; at = tree.parent[at]) nets.addSink(nets.add(tree.parent[at], owner, NONE5), at);
    }
    return nets;
  }
  var MOST_STALE = 3;
  function orderRows(grid2) {
    const count2 = grid2.row.length;
    const position = new Float64Array(count2);
    grid2.links = adjacency(grid2, count2);
    const { up, down } = grid2.links;
    const sortDown = () => {
      for (let row = 1; row < grid2.rows.length; row++) sortRow(grid2, row, up, position);
    };
    const sortUp = () => {
      for (let row = grid2.rows.length - 2; row >= 0; row--) sortRow(grid2, row, down, position);
    };
    if (grid2.entering) grid2.rows[0].sort((a, b) => ownerAt(grid2, a) - ownerAt(grid2, b));
    grid2.rows[0].forEach((element3, at) => position[element3] = at);
    sortDown();
    const limit = count2 > 6e3 ? 2 : count2 > 1500 ? 4 : 8;
    let best = grid2.rows.map((row) => row.slice());
    let fewest = crossings(grid2, position);
    let stale = 0;
    for (let sweep = 0; sweep < limit && fewest > 0 && stale < MOST_STALE; sweep++) {
      sortUp();
      sortDown();
      const now = crossings(grid2, position);
      stale = now < fewest ? 0 : stale + 1;
      if (now < fewest) [fewest, best] = [now, grid2.rows.map((row) => row.slice())];
    }
    grid2.rows = best;
  }
  function ownerAt(grid2, element3) {
    return grid2.net[element3]?.owner ?? -1;
  }
  function adjacency(grid2, count2) {
    const up = { of: Array.from({ length: count2 }, () => []), ends: grid2.upper, theirShift: grid2.upperShift, ownShift: grid2.lowerShift };
    const down = { of: Array.from({ length: count2 }, () => []), ends: grid2.lower, theirShift: grid2.lowerShift, ownShift: grid2.upperShift };
    for (let at = 0; at < grid2.upper.length; at++) {
      if (grid2.row[grid2.lower[at]] !== grid2.row[grid2.upper[at]] + 1) continue;
      up.of[grid2.lower[at]].push(at);
      down.of[grid2.upper[at]].push(at);
    }
    return { up, down };
  }
  function sortRow(grid2, row, { of: links2, ends, theirShift }, position) {
    const elements = grid2.rows[row];
    const free = elements.filter((element3) => links2[element3].length);
    const wish = /* @__PURE__ */ new Map();
    for (const element3 of free) {
      let sum = 0;
      for (const at of links2[element3]) sum += position[ends[at]] + 0.9 * theirShift[at] / grid2.width[ends[at]];
      wish.set(element3, sum / links2[element3].length);
    }
    free.sort((a, b) => wish.get(a) - wish.get(b) || position[a] - position[b]);
    let next = 0;
    grid2.rows[row] = elements.map((element3) => links2[element3].length ? free[next++] : element3);
    grid2.rows[row].forEach((element3, at) => position[element3] = at);
  }
  function crossings(grid2, position) {
    let total = 0;
    for (let row = 0; row + 1 < grid2.rows.length; row++) {
      const size = grid2.rows[row + 1].length;
      const tree = new Int32Array(size + 1);
      let seen = 0;
      for (const element3 of grid2.rows[row]) {
        const places = grid2.links.down.of[element3].map((at) => position[grid2.lower[at]]).sort((a, b) => a - b);
        for (const place2 of places) {
          let before = 0;
          for (let at = place2 + 1; at > 0; at -= at & -at) before += tree[at];
          total += seen - before;
        }
        for (const place2 of places) {
          seen++;
          for (let at = place2 + 1; at <= size; at += at & -at) tree[at]++;
        }
      }
    }
    return total;
  }
  var NONE6 = -1;
  var PAD = 14;
  var HEADER2 = 28;
  var ROW_GAP = 26;
  var PORT_GAP = 10;
  var WIDE_GAP = 0.07;
  var MOST_GAP = 60;
  function placeY(grid2, scope, result) {
    const count2 = grid2.rows.length;
    const sidestep = widestSteps(grid2);
    grid2.top = new Float64Array(count2);
    grid2.depth = new Float64Array(count2);
    let y = scope.box ? HEADER2 : PAD;
    for (let row = 0; row < count2; row++) {
      for (const element3 of grid2.rows[row]) {
        if (grid2.box[element3] !== NONE6) grid2.depth[row] = Math.max(grid2.depth[row], result.height[grid2.box[element3]]);
      }
      grid2.top[row] = y;
      const isPort = grid2.entering && row === 0 || grid2.leaving && row === count2 - 2;
      const least = isPort ? PORT_GAP : ROW_GAP;
      y += grid2.depth[row] + (row + 1 < count2 ? least + Math.round(Math.min(MOST_GAP, WIDE_GAP * sidestep[row])) : 0);
    }
    grid2.bottom = y;
  }
  function widestSteps(grid2) {
    const widest = new Float64Array(grid2.rows.length);
    for (let at = 0; at < grid2.upper.length; at++) {
      const [upper2, lower] = [grid2.upper[at], grid2.lower[at]];
      const step = Math.abs(grid2.x[upper2] + grid2.upperShift[at] - grid2.x[lower] - grid2.lowerShift[at]);
      widest[grid2.row[upper2]] = Math.max(widest[grid2.row[upper2]], step);
    }
    return widest;
  }
  function finishScope(grid2, scope, result) {
    const { box } = scope;
    const width = 2 * Math.ceil(Math.max(result.width[box], grid2.extent + 2 * PAD) / 2);
    const left2 = (width - grid2.extent) / 2;
    result.width[box] = width;
    result.height[box] = Math.max(result.height[box], grid2.bottom + PAD);
    for (let element3 = 0; element3 < grid2.x.length; element3++) {
      grid2.x[element3] = Math.round(grid2.x[element3] + left2);
      const child = grid2.box[element3];
      if (child === NONE6) continue;
      result.x[child] = grid2.x[element3] - result.width[child] / 2;
      result.y[child] = grid2.top[grid2.row[element3]];
    }
    for (const [net, { chain, port }] of grid2.chains) {
      if (net.from === NONE6) net.entryX = grid2.x[chain[0]];
      if (net.exits) net.exitX = grid2.x[port];
    }
    result.lean[box] = leanOf(scope.nets);
  }
  function leanOf(nets) {
    const [enters, leaves] = [nets.filter((net) => net.from === NONE6), nets.filter((net) => net.exits)];
    if (!enters.length || !leaves.length) return 0;
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return (mean(leaves.map((net) => net.exitX)) - mean(enters.map((net) => net.entryX))) / 2;
  }
  var NONE7 = -1;
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
    const last = new Int32Array(input.source.length).fill(NONE7);
    const arrivals = spreadArrivals(tree, nets, scopes, result);
    for (const [owner, edges] of edgesBySource(input, nets.drawn)) {
      const ends = /* @__PURE__ */ new Map();
      drawNet(nets.find(tree.parent[owner], owner), NONE7, { pen, tree, nets, scopes, result, arrivals, ends });
      for (const edge of edges) last[edge] = ends.get(input.target[edge]) ?? NONE7;
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
      if (via === NONE7) return;
      const [owner, to] = [input.source[edge], input.target[edge]];
      const arriving = last[edgeOf.get(owner * size + via)];
      const onward = [];
      for (let at = last[edgeOf.get(via * size + to)]; at !== NONE7; at = pen.previous[at]) onward.unshift(at);
      const copy = (at, previous) => pen.draw(pen.x1[at], pen.y1[at], pen.x2[at], pen.y2[at], owner, previous);
      const reached = copy(arriving, pen.previous[arriving]);
      const through = pen.draw(pen.x2[arriving], pen.y2[arriving], pen.x1[onward[0]], pen.y1[onward[0]], owner, reached);
      last[edge] = onward.reduce((previous, at) => copy(at, previous), through);
    });
  }
  function spreadArrivals(tree, nets, scopes, result) {
    const arrivals = /* @__PURE__ */ new Map();
    for (const grid2 of scopes) {
      for (const [child, coming] of grid2 ? comingTo(grid2, tree) : []) {
        coming.sort((a, b) => a[0] - b[0] || a[1].owner - b[1].owner);
        const step = coming.length > 1 ? Math.min(SPREAD, (result.width[child] - BORDER) / (coming.length - 1)) : 0;
        coming.forEach(([, net], at) => {
          const inner = nets.find(child, net.owner);
          const middle = result.x[child] + result.width[child] / 2 + Math.round((at - (coming.length - 1) / 2) * step);
          const port = inner && inner.from === NONE7 ? result.x[child] + inner.entryX : middle;
          if (!arrivals.has(net)) arrivals.set(net, /* @__PURE__ */ new Map());
          arrivals.get(net).set(child, port);
        });
      }
    }
    return arrivals;
  }
  function comingTo(grid2, tree) {
    const coming = /* @__PURE__ */ new Map();
    for (const [net, { chain }] of grid2.chains) {
      for (const child of net.sinks) {
        const at = chain[grid2.carrier(chain, grid2.row[grid2.element[tree.place[child]]])];
        if (!coming.has(child)) coming.set(child, []);
        coming.get(child).push([grid2.x[at], net]);
      }
    }
    return coming;
  }
  function drawNet(net, previous, context) {
    const { pen, tree, nets, scopes, result, arrivals, ends } = context;
    const grid2 = scopes[net.scope];
    const { chain, port } = grid2.chains.get(net);
    const [left2, up] = [result.x[net.scope], result.y[net.scope]];
    const rowBottom = (row) => up + grid2.top[row] + grid2.depth[row];
    let x = left2 + grid2.x[chain[0]] + (net.from === NONE7 ? 0 : exitOf(net, nets, result));
    let y = net.from === NONE7 ? up : result.y[net.from] + result.height[net.from];
    const go = (toX, toY) => {
      if (toX === x && toY === y) return;
      previous = pen.draw(x, y, toX, toY, net.owner, previous);
      [x, y] = [toX, toY];
    };
    const tips = chain.map((element3, at) => {
      if (at) go(left2 + grid2.x[element3], up + grid2.top[grid2.row[element3]]);
      go(x, rowBottom(grid2.row[element3]));
      return [x, y, previous];
    });
    if (net.exits) {
      go(left2 + grid2.x[port], up + grid2.top[grid2.row[port]]);
      go(x, up + result.height[net.scope]);
    }
    const exit = previous;
    for (const child of net.sinks) {
      [x, y, previous] = tips[grid2.carrier(chain, grid2.row[grid2.element[tree.place[child]]])];
      go(arrivals.get(net).get(child), result.y[child]);
      ends.set(child, previous);
      const inner = nets.find(child, net.owner);
      if (inner && inner.from === NONE7) drawNet(inner, previous, context);
    }
    if (net.exits) drawNet(nets.find(tree.parent[net.scope], net.owner), exit, context);
  }
  function exitOf(net, nets, result) {
    const inner = net.from === net.owner ? void 0 : nets.find(net.from, net.owner);
    return inner ? inner.exitX - result.width[net.from] / 2 : 0;
  }
  var NONE8 = -1;
  var EMPTY_COLUMN = 48;
  function straightenChains(grid2) {
    const room = roomFinder(grid2);
    const loose = looseElements(grid2);
    const chains = [...grid2.chains.values()].map(({ chain, port }) => (port === NONE8 ? chain : [...chain, port]).filter(loose));
    for (const pass2 of [chains, chains.slice().reverse()]) {
      for (const chain of pass2) {
        for (let start = 0; start < chain.length; ) start = straightenRun(grid2, chain, start, room);
      }
    }
  }
  function roomFinder(grid2) {
    const place2 = new Int32Array(grid2.row.length);
    for (const row of grid2.rows) row.forEach((element3, at) => place2[element3] = at);
    return (element3) => {
      const row = grid2.rows[grid2.row[element3]];
      const [left2, right] = [row[place2[element3] - 1], row[place2[element3] + 1]];
      return [left2 === void 0 ? -Infinity : grid2.x[left2] + separation(grid2, left2, element3), right === void 0 ? Infinity : grid2.x[right] - separation(grid2, element3, right)];
    };
  }
  function looseElements(grid2) {
    const beside = /* @__PURE__ */ new Set();
    grid2.upper.forEach((upper2, at) => {
      if (grid2.box[upper2] !== NONE8) beside.add(grid2.lower[at]);
      if (grid2.box[grid2.lower[at]] !== NONE8) beside.add(upper2);
    });
    const ends = /* @__PURE__ */ new Set([grid2.entering ? 0 : NONE8, grid2.leaving ? grid2.rows.length - 1 : NONE8]);
    return (element3) => grid2.box[element3] === NONE8 && !(ends.has(grid2.row[element3]) && beside.has(element3));
  }
  function straightenRun(grid2, chain, start, room) {
    let [low, high] = room(chain[start]);
    let end = start + 1;
    for (; end < chain.length; end++) {
      const [left2, right] = room(chain[end]);
      if (Math.max(low, left2) > Math.min(high, right)) break;
      [low, high] = [Math.max(low, left2), Math.min(high, right)];
    }
    const now = chain.slice(start, end).map((element3) => grid2.x[element3]).sort((a, b) => a - b);
    const wish = now[now.length >> 1];
    for (let at = start; at < end; at++) grid2.x[chain[at]] = Math.min(high, Math.max(low, wish));
    return end;
  }
  function closeColumns(grid2) {
    const order = Array.from(grid2.x.keys()).sort((a, b) => grid2.x[a] - grid2.width[a] / 2 - (grid2.x[b] - grid2.width[b] / 2));
    let reach = null;
    let cut2 = 0;
    grid2.extent = 0;
    const moved = new Float64Array(grid2.x.length);
    for (const element3 of order) {
      const left2 = grid2.x[element3] - grid2.width[element3] / 2;
      if (reach === null) cut2 = left2;
      else if (left2 - reach > EMPTY_COLUMN) cut2 += left2 - reach - EMPTY_COLUMN;
      reach = Math.max(reach ?? -Infinity, left2 + grid2.width[element3]);
      moved[element3] = grid2.x[element3] - cut2;
      grid2.extent = Math.max(grid2.extent, moved[element3] + grid2.width[element3] / 2);
    }
    grid2.x = moved;
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
    const grid2 = buildChains(scope, layers, tree, result);
    orderRows(grid2);
    placeX(grid2);
    straightenChains(grid2);
    closeColumns(grid2);
    placeY(grid2, scope, result);
    finishScope(grid2, scope, result);
    return grid2;
  }
  function placeAbsolutely(input, result) {
    for (let box = 1; box < input.parent.length; box++) {
      result.x[box] += result.x[input.parent[box]];
      result.y[box] += result.y[input.parent[box]];
    }
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
      } catch (error2) {
        if (!(error2 instanceof DOMException)) throw error2;
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
  var KEPT2 = 12;
  var Arrangements = class {
    constructor(mode) {
      this.runner = new LayoutRunner(mode);
      this.kept = /* @__PURE__ */ new Map();
      this.pending = null;
    }
    of(outline, expanded) {
      const name2 = [outline.snapshots, outline.constants, ...[...expanded].sort()].join("\n");
      const known = this.kept.get(name2);
      if (known) {
        this.runner.cancel();
        return this._keep(name2, known);
      }
      if (this.pending?.name === name2) return this.pending.promise;
      const scene = new Scene(outline, expanded, boxSize);
      const layout = this.runner.run(scene.input);
      if (!(layout instanceof Promise)) return this._keep(name2, { scene, layout });
      const promise = layout.then((found) => {
        if (this.pending?.promise === promise) this.pending = null;
        return found && this._keep(name2, { scene, layout: found });
      });
      this.pending = { name: name2, promise };
      return promise;
    }
    _keep(name2, made) {
      this.kept.delete(name2);
      this.kept.set(name2, made);
      if (this.kept.size > KEPT2) this.kept.delete(this.kept.keys().next().value);
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
      let [left2, right, bottom, count2] = [box.x, box.x + box.width, box.y + box.height, 1];
      for (let next = at + 1; next < boxes.length && boxes[next].y <= box.y + reach; next++) {
        const one = boxes[next];
        const [from2, to] = [Math.min(left2, one.x), Math.max(right, one.x + one.width)];
        if (to - from2 > least || one.y + one.height > box.y + reach) continue;
        [left2, right, bottom] = [from2, to, Math.max(bottom, one.y + one.height)];
        count2 += 1;
      }
      return { box: { x: left2, y: box.y, width: right - left2, height: bottom - box.y }, count: count2 };
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
  function ink(job, fill3, line3 = null, width = 1) {
    const { s } = job;
    s.fillStyle = fill3;
    s.fill();
    if (line3 === null) return;
    s.strokeStyle = line3;
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
  function paintLetter(job, { sign, fill: fill3 }, x, y) {
    if (sign) paintSign(job, { sign, colour: fill3, font: FONTS.mark, radius: 5.5 }, x, y);
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
  var SIGNS3 = { removed: "−", added: "+", changed: "~" };
  var COLOURS = { page: ["#f6f7f9", "#11151c"], divider: ["#d5dae2", "#2b3441"], group: ["rgba(71,85,120,0.038)", "rgba(148,170,220,0.055)"], groupLine: ["#ccd3de", "#323d4d"], groupText: ["#46536a", "#a5b4c9"], label: ["rgba(246,247,249,0.92)", "rgba(17,21,28,0.9)"], box: ["#ffffff", "#1c232f"], line: ["#bcc5d3", "#414e61"], text: ["#172033", "#e9eef7"], soft: ["#5f6c82", "#98a6bb"], closed: ["#e9eef7", "#232d3d"], closedLine: ["#a9b6cb", "#536480"], pill: ["#e3e8f0", "#263040"], pillLine: ["#c3ccd9", "#45546a"], edge: ["#8e9bb0", "#5f6e86"], hub: ["#c3cbd8", "#39465a"], focus: ["#2563eb", "#6ea8ff"], match: ["#7c3aed", "#b794ff"], chip: ["#eef1f6", "#2a3443"], chipText: ["#4c5a70", "#a9b7cb"], panel: ["#ffffff", "#1a212c"], hover: ["#edf1f7", "#2a3444"] };
  var CHANGES = { removed: { fill: ["#fde7eb", "#3d1925"], line: ["#c2274b", "#ff6f8f"], text: ["#86112f", "#ffc0cd"] }, added: { fill: ["#dcf1f4", "#0d3339"], line: ["#007d8c", "#4dd0e1"], text: ["#004c58", "#b5eef6"] }, changed: { fill: ["#fff2c9", "#3a2c0a"], line: ["#a67200", "#f0b92f"], text: ["#634500", "#ffe3a0"] } };
  var RAMP = [{ fill: ["#f4f6fb", "#171d28"], text: ["#2a3650", "#c3cede"] }, { fill: ["#dfe8f8", "#1e2c47"], text: ["#172033", "#e9eef7"] }, { fill: ["#b9cdf0", "#28416e"], text: ["#172033", "#e9eef7"] }, { fill: ["#86a8e2", "#355a99"], text: ["#10192b", "#ffffff"] }, { fill: ["#3d68b5", "#7ba4e0"], text: ["#ffffff", "#0d1420"] }, { fill: ["#183a78", "#c5dafa"], text: ["#ffffff", "#0d1420"] }];
  var UNKNOWN = { fill: ["#ffffff", "#161b24"], text: ["#5f6c82", "#98a6bb"] };
  var KINDS2 = { f64: { fill: ["#e3d4f7", "#43295f"], text: ["#2e1650", "#eadcff"] }, f32: { fill: ["#cfe3fb", "#173c66"], text: ["#0d2c50", "#d5e7ff"] }, bf16: { fill: ["#c9ede3", "#0c4a3c"], text: ["#043b2f", "#c8f5e7"] }, f16: { fill: ["#a5dbe0", "#0a545c"], text: ["#00363c", "#c9f4f8"] }, i64: { fill: ["#fbe3a8", "#5a4406"], text: ["#4a3500", "#ffe9b0"] }, quantised: { fill: ["#f9c9a6", "#6b3310"], text: ["#4f2100", "#ffdcc2"] }, bool: { fill: ["#dfe2e7", "#3a424f"], text: ["#222b3a", "#e6ebf3"] }, mixed: { fill: ["#efe6ee", "#3d3341"], text: ["#3a2b3b", "#eee0ef"] } };
  function themeOf2(at) {
    const pick = (table) => Object.fromEntries(Object.entries(table).map(([name2, colours]) => [name2, colours[at]]));
    const changes = Object.entries(CHANGES).map(([status, table]) => [status, pick(table)]);
    const kinds = Object.entries(KINDS2).map(([kind, table]) => [kind, pick(table)]);
    const values = { ramp: RAMP.map(pick), unknown: pick(UNKNOWN), kinds: Object.fromEntries(kinds) };
    return { ...pick(COLOURS), ...Object.fromEntries(changes), ...values };
  }
  var THEMES = { light: themeOf2(0), dark: themeOf2(1) };
  var FLAT_ZOOM = 0.35;
  var FULL_ZOOM = 0.5;
  var LINE_TITLE = 17;
  var CHIP_HEIGHT = 15;
  function paintContent(job, item) {
    const { picture, theme, look } = job;
    const { layout } = picture;
    const content2 = picture.content(item, look.side);
    const status = content2.pseudo ? void 0 : picture.statusOf(item);
    const own = status ? theme[status] : null;
    const tone = look.colours?.tone(item, look.side, theme) ?? own;
    if (job.zoom < FULL_ZOOM) return paintFarTitle(job, item, content2, tone);
    const [x, y, width] = [layout.x[item], layout.y[item], layout.width[item]];
    const place2 = { middle: x + width / 2, y: y + (content2.detail ? 15 : 14), room: width - 16 };
    paintTitle(job, content2, tone, place2);
    if (content2.detail) {
      const style = { font: FONTS.detail, colour: tone ? tone.text : theme.soft, align: "center" };
      write(job, shorten(FONTS.detail, content2.detail, place2.room), place2.middle, place2.y + LINE_TITLE, style);
    }
    paintChips(job, item, content2.lines, y + (content2.detail ? 41 : 27));
    if (own && status) {
      paintSign(job, { sign: SIGNS3[status], colour: own.line, font: FONTS.sign, radius: 8 }, x + 1, y + 1);
    }
  }
  function paintTitle(job, { title, caption: caption2 }, own, { middle, y, room }) {
    const colour = own ? own.text : job.theme.text;
    const full = textWidth(FONTS.title, title) + (caption2 ? textWidth(FONTS.caption, caption2) + 7 : 0);
    if (!caption2 || full > room) {
      return write(job, shorten(FONTS.title, title, room), middle, y, { font: FONTS.title, colour, align: "center" });
    }
    const start = middle - full / 2;
    write(job, title, start, y, { font: FONTS.title, colour });
    const after = start + textWidth(FONTS.title, title) + 7;
    write(job, caption2, after, y, { font: FONTS.caption, colour: own ? own.text : job.theme.soft });
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
    lines.forEach((line3, number2) => {
      const end = line3.at(-1);
      const start = layout.x[item] + (layout.width[item] - end.x - end.width) / 2;
      for (const chip of line3) paintChip(job, chip, start + chip.x, top + number2 * CHIP_STEP);
    });
  }
  function paintChip(job, chip, x, y) {
    const { s, picture, theme, look } = job;
    const status = picture.statuses.get(chip.key);
    const mark = look.marks.get(chip.key);
    s.beginPath();
    s.roundRect(x, y, chip.width, CHIP_HEIGHT, 7);
    const line3 = mark ? mark.fill : status ? theme[status].line : null;
    ink(job, status ? theme[status].fill : theme.chip, line3, mark ? 2 : 1);
    const colour = status ? theme[status].text : theme.chipText;
    write(job, chip.text, x + chip.width / 2, y + 8, { font: FONTS.chip, colour, align: "center" });
    if (mark) paintLetter(job, mark, x - 2, y + 8);
  }
  var { BEFORE } = SIDES2;
  function badgesOf({ picture, look }, item) {
    const hidden = look.alone ? "" : look.side === BEFORE ? "added" : "removed";
    return ["removed", "added", "changed"].filter((status) => status !== hidden && picture.counts[status][item]).map((status) => ({ status, text: `${SIGNS3[status]}${picture.counts[status][item]}` }));
  }
  function badgesWidth(badges) {
    return badges.reduce((sum, badge) => sum + textWidth(FONTS.header, badge.text) + 13, 0);
  }
  function paintBadges(job, badges, left2, y) {
    const { s, theme } = job;
    let x = left2;
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
    const [fill3, line3] = plain ?? [theme[style].fill, theme[style].line];
    if (style === "closed" && zoom > 0.3) paintStack(job, items);
    s.beginPath();
    for (const item of items) traceBox(job, item, style === "pill" ? Math.min(14, picture.layout.height[item] / 2) : 7);
    if (plain) return ink(job, fill3, zoom > LINE_ZOOM ? line3 : null, Math.min(3, 1 / Math.min(1, zoom)));
    const far2 = zoom < FLAT_ZOOM;
    ink(job, far2 ? line3 : fill3, line3, Math.max(1.6, far2 ? 2 / zoom : 0));
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
  var { AFTER, BEFORE: BEFORE2 } = SIDES2;
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
    for (const header2 of headers) {
      if (!header2.label || taken.some((other) => overlaps(other, header2))) continue;
      taken.push(header2);
    }
    for (const header2 of taken) {
      const next = taken.find((other) => picture.scene.items[other.item].parent === header2.item && other.y === header2.y);
      paintHeader(job, header2, { scale, end: next?.x });
    }
    return headers;
  }
  function placeHeaders(job, scale) {
    const headers = [];
    for (const item of job.groups) {
      const header2 = placeHeader(job, item, headers, scale);
      if (header2) headers.push(header2);
    }
    return headers;
  }
  function headerScale(zoom) {
    const far2 = Math.min(1, Math.max(0, (0.6 - zoom) / 0.2));
    return 1 + far2 * (Math.max(1, Math.min(5, 0.8 / zoom)) - 1);
  }
  function placeHeader(job, item, headers, scale) {
    const { picture, look, view, zoom } = job;
    const { group, parent } = picture.scene.items[item];
    const box = picture.box(item);
    if (box.width * zoom < 34 || box.height * zoom < 16) return null;
    const height = HEADER * scale;
    const above = headers.find((header2) => header2.item === parent);
    const top = view.top + look.headerTop / zoom;
    const status = picture.statusOf(item);
    const label2 = shorten(FONTS.header, (status ? `${SIGNS3[status]} ` : "") + group.label, box.width - 34 * scale, scale);
    const width = textWidth(FONTS.header, label2) * scale + 26 * scale;
    const x = Math.max(box.x + INSET, Math.min(view.left + INSET / zoom, box.x + box.width - width - INSET));
    const after = above ? Math.max(x, above.x + above.width + GAP * scale) : x;
    const right = Math.min(view.right, box.x + box.width - INSET);
    if (above && above.y === top && box.y <= top && after + width <= right) {
      return { item, label: label2, x: after, y: Math.min(top, box.y + box.height - height - INSET), width, height };
    }
    const least = above ? above.y + height : top;
    const y = Math.max(box.y, Math.min(least, box.y + box.height - height - INSET));
    return { item, label: label2, x, y, width, height };
  }
  function overlaps(a, b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height * 0.8 && b.y < a.y + a.height * 0.8;
  }
  function paintHeader(job, { item, label: label2, x, y, width }, { scale, end = Infinity }) {
    const { s, theme, picture } = job;
    const status = picture.statusOf(item);
    s.save();
    s.translate(x, y + 3 * scale);
    s.scale(scale, scale);
    s.beginPath();
    s.roundRect(0, 2, width / scale, 19, 5);
    ink(job, status ? theme[status].fill : theme.label);
    paintToggle(job, 10, 11.5, false);
    write(job, label2, 21, 12, { font: FONTS.header, colour: status ? theme[status].text : theme.groupText });
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
  var { AFTER: AFTER2, BEFORE: BEFORE3 } = SIDES2;
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
      const { word, label: label2, nodes: nodes2, changes } = titleOf(picture, side);
      const write2 = (text, x2, font, colour) => {
        surface.font = font;
        surface.fillStyle = colour;
        surface.textAlign = "left";
        surface.textBaseline = "middle";
        surface.fillText(text, x2, TITLE / 2);
        return x2 + textWidth(font, text);
      };
      const { header: header2, count: count2 } = FONTS;
      let x = write2(word, 14, count2, colours.soft) + 8;
      const room = width - x - 90 - changes.length * 50;
      x = write2(shorten(header2, label2, room), x, header2, colours.text) + 12;
      for (const { status, text } of changes) x = write2(text, x, header2, colours[status].line) + 8;
      write2(`${nodes2} nodes`, x, count2, colours.soft);
    }
  };
  function titleOf(picture, side) {
    const { counts: counts3, scene: { model }, steps } = picture;
    const alone = steps.before === null;
    const step = model.steps[side === BEFORE3 ? steps.before : steps.after];
    const statuses = alone ? [] : [side === BEFORE3 ? "removed" : "added", "changed"].filter((status) => counts3[status][0]);
    return { word: step.label ? "" : alone ? "graph" : side === BEFORE3 ? "before" : "after", label: `${step.label ?? step.index}  ${step.name}${step.method === "forward" ? "" : `  ·  ${step.method}`}`, nodes: model.snapshot(picture.snapshotOf(side)).nodeCount(model), changes: statuses.map((status) => ({ status, text: `${SIGNS3[status]}${counts3[status][0]}` })) };
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
    if (!places.length || places.some((place2) => isSeen(place2, middle, room))) return middle;
    return nearest(places, (one) => one, middle);
  }
  function isSeen(place2, middle, room) {
    return Math.abs(place2.x - middle.x) < room.width / 2 && Math.abs(place2.y - middle.y) < room.height / 2;
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
    jump(place2) {
      this.stop();
      Object.assign(this, place2);
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
        const part3 = Math.min(1, Math.max(0, (now - start) / GLIDE_MS));
        const eased = 1 - (1 - part3) ** 3;
        this.zoom = from2.zoom * (target.zoom / from2.zoom) ** eased;
        this.x = from2.x + (target.x - from2.x) * eased;
        this.y = from2.y + (target.y - from2.y) * eased;
        this.view.stage.draw();
        this.gliding = part3 < 1 ? requestAnimationFrame(move) : 0;
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
      const [wide2, high] = [room.width / CHANGE_ZOOM, room.height / CHANGE_ZOOM];
      const crowd = firstCrowd(boxes, wide2 - CROWD_MARGIN, high - CROWD_MARGIN);
      const beside = Math.min(160, Math.max(0, (wide2 - crowd.width) / 2));
      const around2 = Math.min(360, Math.max(0, high - crowd.height));
      return { all: { x, y, width: right - x, height: bottom - y }, first: { x: crowd.x - beside, y: crowd.y - around2 / 3, width: crowd.width + 2 * beside, height: crowd.height + around2 } };
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
      for (const side of [SIDES2.BEFORE, SIDES2.AFTER]) this.values[side] = valuesOf2(colouring, picture, side);
      const all = [SIDES2.BEFORE, SIDES2.AFTER].flatMap((side) => [...this.values[side].values()]);
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
      return labels.map((label2, level) => ({ tone: theme.ramp[level], label: label2 }));
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
    return [SIDES2.BEFORE, SIDES2.AFTER].some((side) => picture.sides[item] & side && !colours.of(item, side));
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
  function valuesOf2({ parts, rule }, picture, side) {
    const index = picture.snapshotOf(side);
    const given = side === SIDES2.BEFORE ? parts.before : parts.after;
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
      for (const [name2, amount] of own) held.set(name2, amount);
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
    const read2 = (index) => {
      const row = index === null ? -1 : model.snapshot(index).rowOf[key];
      return row < 0 ? null : model.node(row);
    };
    const [old, now] = [read2(before), read2(after)];
    if (!old && !now) return null;
    return { id, status: model.diff(before, after).get(key) || null, before: old, after: now };
  }
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
  var NONE9 = -1;
  var CONSTANT_OPS2 = /* @__PURE__ */ new Set(["prim::Constant", "prim::ConstantMKLDNNTensor", "prim::GetAttr", "get_attr", "prim::CreateObject"]);
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
    return CONSTANT_OPS2.has(op) || LIST_OPS.has(op) || op === "input" && isModule(union, key);
  }
  function isModule({ model, rowsOf }, key) {
    const [, type] = model.rows[rowsOf[key].at(-1)][3];
    return (model.strings[type] || "").startsWith("__torch__");
  }
  function findHome(union, isConstant, home, key) {
    if (home[key] !== void 0) return home[key];
    home[key] = NONE9;
    const readers = union.readers[key].slice().sort((a, b) => union.position[a] - union.position[b]);
    const homes = readers.map((reader) => isConstant[reader] ? findHome(union, isConstant, home, reader) : reader);
    home[key] = homes.find((one) => one !== NONE9) ?? NONE9;
    return home[key];
  }
  var NONE10 = -1;
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
      let at = NONE10;
      for (let module = this.current; module && at === NONE10; module = module.parent) {
        while (module.ready.length && this.done[module.ready[0]]) heapPop(module.ready);
        if (module.ready.length) at = module.ready[0];
      }
      if (at === NONE10) {
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
  var NONE11 = -1;
  function findPaths(union, isConstant) {
    const { inputsOf, readers, holder, order } = union;
    const own = (key) => calledModule(union, key) || toldPath(union, key);
    const placed = order.filter((key) => !isConstant[key] && holder[key] === NONE11);
    const paths = [];
    for (const key of order) paths[key] = own(key) || "";
    const before = pathsTowards(placed, own, inputsOf);
    const after = pathsTowards(placed.slice().reverse(), own, readers);
    const inside = (keys, path) => keys.some((one) => !isConstant[one] && `${paths[one]}.`.startsWith(`${path}.`));
    for (const key of placed) {
      if (own(key) !== void 0) continue;
      paths[key] = inside(inputsOf[key], after[key]) ? after[key] : inside(readers[key], before[key]) ? before[key] : commonPath([before[key], after[key]]);
    }
    for (const key of order) if (holder[key] !== NONE11 && !own(key)) paths[key] = paths[holder[key]];
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
  var NONE12 = -1;
  var INDEXED = /^(.*?)(\d+)$/;
  var Signer = class {
    constructor({ union, constants: constants2 }) {
      this.union = union;
      this.constants = constants2;
      this.snapshots = union.snapshots.map((index) => union.model.snapshot(index));
      this.own = [];
      this.versions = [];
      this.numbers = /* @__PURE__ */ new Map();
      this.held = [];
      this.kinds = /* @__PURE__ */ new Map();
      this.signed = /* @__PURE__ */ new Map();
    }
    number(text) {
      let number2 = this.numbers.get(text);
      if (number2 === void 0) this.numbers.set(text, number2 = this.numbers.size);
      return number2;
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
      collect2(group, places);
      const wire = (key) => {
        const place2 = places.get(key);
        if (place2 !== void 0) return `${place2}`;
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
        if (key !== NONE12) parts.push(`${this.node(key)} (${distinct(this.union.inputsOf[key].map(wire)).join(" ")})`);
        if (!child.children) continue;
        parts.push(`{ ${child.segment ?? child.label}`);
        this.write(child, parts, wire);
        parts.push("}");
      }
    }
    node(key) {
      let number2 = this.own[key];
      if (number2 === void 0) this.own[key] = number2 = this.number(this.presence(key));
      return number2;
    }
    presence(key) {
      const rows = this.union.rowsOf[key];
      const known = rows.length === 1 ? [this.version(rows[0])] : [...new Set(rows.map((row) => this.version(row)))];
      let text = `${known}:`;
      let last = -2;
      for (let at = 0; at < this.snapshots.length; at++) {
        const row = this.snapshots[at].rowOf[key];
        const which = row === NONE12 ? NONE12 : known.length === 1 ? 0 : known.indexOf(this.version(row));
        if (which !== last) text += ` ${at}=${which}`;
        last = which;
      }
      return text;
    }
    version(row) {
      let number2 = this.versions[row];
      if (number2 === void 0) this.versions[row] = number2 = this.number(this.says(row));
      return number2;
    }
    says(row) {
      const { rows, strings } = this.union.model;
      const [, op, inputs = 0, outputs = 0, , attributes = 0, , kept = null] = rows[row];
      let text = `${strings[op || 0]} ${inputs ? inputs.length : 0}`;
      for (let at = 1; at < (outputs ? outputs.length : 0); at += 2) text += ` ${this.kind(outputs[at])}`;
      if (kept) return `${text} ${strings[kept[1] || 0]}[${kept[0]}]`;
      const named2 = isName(strings[op || 0]);
      for (let at = 1; at < (attributes ? attributes.length : 0); at += 2) {
        const one = strings[attributes[at] || 0];
        if (!named2 || !/\d/.test(one)) text += `,${one}`;
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
      const name2 = model.op(row) === "prim::GetAttr" ? attributeName(model.node(row)) : "";
      const path = name2 && INDEXED.test(name2) && !inputs.length ? "" : inputs.map((one) => this.constant(one)).join(" ");
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
    return child.node === NONE12 ? firstKey(child) : child.node;
  }
  function collect2(group, places) {
    for (const child of group.children) {
      const key = child.children ? child.node : child.leaf;
      if (key !== NONE12) places.set(key, places.size);
      if (child.children) collect2(child, places);
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
    const isWhole = pieces.length === 1 && group.parent !== null && group.node === NONE12 && !group.block;
    group.children = pieces.flatMap((piece) => {
      if (piece.length < LEAST) return piece;
      const holder = isWhole ? group : makeHolder(tree, group, piece);
      fill2(tree, holder, piece);
      if (!isWhole) return [holder];
      holder.label = `${holder.label} × ${piece.length}`;
      return holder.children;
    });
  }
  function runsOf(tree, children) {
    const runs = [];
    let last = null;
    for (const child of children) {
      const found = child.children && !child.block && child.node === NONE12 ? INDEXED.exec(child.segment ?? "") : null;
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
    const label2 = `${first.label}–${end} × ${members.length}`;
    return tree.addGroup({ id: `${first.id}×`, label: label2, parent, node: NONE12 });
  }
  function fill2(tree, holder, members) {
    const [first, ...others] = members;
    const label2 = `${others[0].label}–${INDEXED.exec(others.at(-1)?.segment ?? "")?.[2]}: ${others.length} like it`;
    const rest = tree.addGroup({ id: `${first.id}×+`, label: label2, parent: holder, node: NONE12 });
    rest.children = others;
    rest.isRest = true;
    holder.repeat = members;
    holder.children = [first, rest];
    first.parent = holder;
    for (const other of others) other.parent = rest;
  }
  var NONE13 = -1;
  var ModuleTree = class {
    constructor(union, constants2) {
      this.union = union;
      this.constants = constants2;
      this.paths = findPaths(union, constants2.isConstant);
      this.groups = /* @__PURE__ */ new Map();
      this.parentOf = [];
      this.root = this.addGroup({ id: "", label: "", parent: null, node: NONE13 });
      this.bodies = this._findBodies();
      this._fillBody(this.root, bodyName(NONE13, 0), []);
      this._tidy(this.root);
      foldRepeats(this);
      this._countOps(this.root);
    }
    _findBodies() {
      const bodies = /* @__PURE__ */ new Map();
      for (const key of this.union.order) {
        if (this.constants.hidden[key]) continue;
        const at = this._place(key);
        const name2 = bodyName(this.union.holder[at], this.union.block[at]);
        if (!bodies.has(name2)) bodies.set(name2, []);
        bodies.get(name2).push(key);
      }
      return bodies;
    }
    _place(key) {
      const { isConstant, home } = this.constants;
      return isConstant[key] && home[key] !== NONE13 ? home[key] : key;
    }
    _path(key, base) {
      return relativePath(this.paths[this._place(key)], base);
    }
    addGroup(fields) {
      const group = { children: [], ops: 0, ...fields };
      this.groups.set(group.id, group);
      return group;
    }
    _fillBody(group, name2, base) {
      const { progress, position } = this.union;
      const keys = (this.bodies.get(name2) || []).sort((a, b) => progress[a] - progress[b] || position[a] - position[b]);
      const paths = new Map(keys.map((key) => [key, this._path(key, base)]));
      const counts3 = /* @__PURE__ */ new Map();
      const open = [group];
      for (const key of stayInModule(keys, paths, this._bodyEdges(keys))) {
        const path = paths.get(key);
        let depth = 0;
        while (depth < path.length && depth + 1 < open.length && open[depth + 1].segment === path[depth]) depth++;
        open.length = depth + 1;
        for (; depth < path.length; depth++) {
          const outer = depth ? path[depth - 1] : base.at(-1);
          open.push(this._addModule(open[depth], path[depth], { outer, counts: counts3 }));
        }
        this._addLeaf(open[depth], key, base);
      }
    }
    _addModule(parent, segment, { outer, counts: counts3 }) {
      const id = `${parent.id}${parent.id && !parent.id.endsWith("/") ? "." : ""}${segment}`;
      const count2 = counts3.get(id) || 0;
      counts3.set(id, count2 + 1);
      const name2 = /^\d+$/.test(segment) && outer ? `${outer}.${segment}` : segment;
      const label2 = count2 ? `${name2} (${count2 + 1})` : name2;
      const child = this.addGroup({ id: count2 ? `${id}#${count2 + 1}` : id, label: label2, segment, parent, node: NONE13 });
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
      const label2 = opName(this.union.op(key));
      const group = this.addGroup({ id, label: label2, parent, node: key });
      parent.children.push(group);
      this.parentOf[key] = group;
      const inner = [...base, ...this._path(key, base)];
      const names = blockNames(label2, count2);
      for (let number2 = 0; number2 < count2; number2++) {
        const body = count2 === 1 ? group : this.addGroup({ id: `${id}${number2}/`, label: names[number2], parent: group, node: NONE13, block: true });
        if (body !== group) group.children.push(body);
        this._fillBody(body, bodyName(key, number2), inner);
      }
    }
    _bodyEdges(keys) {
      const inside = new Set(keys);
      const lift = (key) => {
        let at = key;
        while (at !== NONE13 && !inside.has(at)) at = this.union.holder[this._place(at)];
        return at;
      };
      const edges = [];
      for (const key of keys) {
        for (const reader of this.union.readers[key]) {
          const to = this.constants.hidden[reader] ? NONE13 : lift(reader);
          if (to !== NONE13 && to !== key) edges.push([key, to]);
        }
      }
      return edges;
    }
    _tidy(group) {
      group.children.forEach((child) => child.children && this._tidy(child));
      group.children = group.children.map((child) => {
        if (!child.children || child.block || child.node !== NONE13 || child.children.length !== 1) return child;
        const [only2] = child.children;
        if (!only2.children) return this._keepLeaf(group, child, only2);
        return only2.node === NONE13 ? this._keepOuter(child, only2) : child;
      });
    }
    _keepLeaf(group, child, only2) {
      this.groups.delete(child.id);
      this.parentOf[only2.leaf] = group;
      return { leaf: only2.leaf, caption: [child.label, only2.caption].filter(Boolean).join(".") };
    }
    _keepOuter(child, only2) {
      this.groups.delete(only2.id);
      child.label = only2.label.startsWith(`${child.segment}.`) ? only2.label : `${child.label}.${only2.label}`;
      child.children = only2.children;
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
          group.ops += child.ops + (child.node !== NONE13 ? 1 : 0);
        } else if (!this.union.model.isPseudo(child.leaf)) group.ops++;
      }
    }
  };
  function bodyName(holder, block) {
    return `${holder}/${block}`;
  }
  function blockNames(label2, count2) {
    if (label2 === "If" && count2 === 2) return ["then", "else"];
    return Array.from({ length: count2 }, (_, number2) => `block ${number2}`);
  }
  var NONE14 = -1;
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
      const next = new Int32Array(size + 1).fill(NONE14);
      const last = new Int32Array(size).fill(NONE14);
      const [sums, counts3] = [new Float64Array(size), new Int32Array(size)];
      this.holder = new Int32Array(size).fill(NONE14);
      this.block = new Int32Array(size);
      for (const index of this.snapshots) {
        const snapshot = this.model.snapshot(index);
        let previous = NONE14;
        let place2 = 0;
        for (const key of snapshot.order) {
          const row = snapshot.rowOf[key];
          sums[key] += place2++ / snapshot.order.length;
          counts3[key]++;
          if (last[key] === NONE14) {
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
      for (let key = next[0]; key !== NONE14; key = next[key + 1]) this.order.push(key);
      this.progress = sums.map((sum, key) => sum / counts3[key]);
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
            if (from2 === NONE14 || from2 === key || same2 && last?.producer[value] === from2) continue;
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
          const joined2 = snapshots.filter((one) => one.rowOf[key] !== NONE14 && model.inputs(one.rowOf[key]).some((value) => one.producer[value] === from2));
          const gone = between2.find((one) => joined2.every((snapshot) => snapshot.rowOf[one] === NONE14));
          if (gone !== void 0) this.bypasses.set(`${from2}/${key}`, gone);
        }
      }
    }
  };
  var Outline = class {
    constructor(model, snapshots, constants2) {
      this.model = model;
      this.constants = constants2;
      this.snapshots = [...new Set(snapshots)].sort((a, b) => a - b);
      this.names = [...new Set(model.steps.filter(({ after }) => this.snapshots.includes(after)).map(({ index }) => model.namesOf(index)))];
      this.union = new Union(model, this.snapshots);
      const { isConstant, home } = findConstants(this.union);
      this.isConstant = isConstant;
      this.home = home;
      this.hidden = constants2 ? [] : isConstant;
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
  var NONE15 = -1;
  var Snapshot = class {
    constructor(model, graph) {
      const table = (size) => new Int32Array(size).fill(NONE15);
      this.order = [];
      this.rowOf = table(model.ids.length);
      this.holder = table(model.ids.length);
      this.block = new Int32Array(model.ids.length);
      this.producer = table(model.strings.length);
      this.nodes = NONE15;
      this._addFrame(model, graph, NONE15, 0);
    }
    nodeCount(model) {
      if (this.nodes === NONE15) this.nodes = this.order.filter((key) => !model.isPseudo(key)).length;
      return this.nodes;
    }
    _addFrame(model, frame, holder, block) {
      for (const row of frame.inputs) this._add(model, row, holder, block);
      for (const row of model.bodies[frame.body]) {
        const key = this._add(model, row, holder, block);
        const { blocks } = model;
        for (let number2 = 0; number2 < blocks[row].length; number2++) {
          this._addFrame(model, blocks[row][number2], key, number2);
        }
      }
      if (frame.output !== NONE15) this._add(model, frame.output, holder, block);
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
    const pairs2 = (flat, name2, other) => {
      const found = [];
      for (let at = 0; at < (flat || []).length; at += 2) {
        found.push({ [name2]: text(flat[at]), [other]: text(flat[at + 1]) });
      }
      return found;
    };
    const source = row[6] ? model.sources[row[6] - 1] : null;
    const kept = row[7];
    return { id: text(row[0]), op: text(row[1]), inputs: (row[2] || []).map(text), outputs: pairs2(row[3], "name", "type"), module: text(row[4]), attributes: pairs2(row[5], "name", "text"), source: source && { file: text(source[0]), line: source[1], column: source[2] }, constant: kept && { shape: kept[0], dtype: text(kept[1]), device: text(kept[2]), nbytes: kept[3], storage: text(kept[4]) || null, digest: text(kept[5]) || null, minimum: kept[6], maximum: kept[7], mean: kept[8], std: kept[9], nonfinite: kept[10], values: kept[11] ? { zeros: kept[11][0], nans: kept[11][1], counted: kept[11][2], histogram: text(kept[11][3]), first: text(kept[11][4]) } : null } || null };
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
      this.blocks = this.rows.map((row, index) => (row[8] || []).map(([values, body, outputs], number2) => this._frame(`%${this.ids[this.keyOfRow[index]]}#${number2}`, values, body, outputs)));
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
      return { inputs, body, output: outputs.length ? this._pseudoRow("return", id, outputs, []) : NONE15 };
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
        if (now.rowOf[key] === NONE15) statuses.set(key, "removed");
        else if (!this.sameNode(old.rowOf[key], now.rowOf[key])) statuses.set(key, "changed");
      }
      for (const key of now.order) if (old.rowOf[key] === NONE15) statuses.set(key, "added");
      return statuses;
    }
    replaced(before, after) {
      if (before === null || before === after) return false;
      const [old, now] = [this.snapshot(before), this.snapshot(after)];
      const made = now.order.filter((key) => old.rowOf[key] === NONE15).length;
      return now.order.length >= REPLACED.least && made > REPLACED.share * now.order.length;
    }
    stepBefore(step) {
      return this.steps.slice(0, step.index).findLast((one) => one.method === step.method)?.index ?? null;
    }
    outline(snapshots, constants2) {
      const name2 = `${[...new Set(snapshots)].sort((a, b) => a - b)}/${constants2}`;
      const known = this.outlines.get(name2);
      if (known) return known;
      const made = new Outline(this, snapshots, constants2);
      this.outlines.set(name2, made);
      return made;
    }
    epochOf(before, after) {
      this.epochs ??= this.methods().flatMap((method) => findEpochs(this, method));
      const epoch = this.epochs.find((one) => one.has(after) && (before === null || one.has(before)));
      return epoch ? [...epoch] : before === null ? [after] : [before, after];
    }
  };
  var { BEFORE: BEFORE4 } = SIDES2;
  var Picture = class {
    constructor({ scene, layout }, steps, [before, after]) {
      this.scene = scene;
      this.layout = layout;
      this.steps = steps;
      this.before = before;
      this.after = after;
      this.statuses = scene.model.diff(before, after);
      this.replaced = scene.model.replaced(before, after);
      const { sides, ops, counts: counts3 } = scene.tally(before, after, this.statuses);
      this.sides = sides;
      this.ops = ops;
      this.counts = counts3;
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
        const { key, caption: caption2 } = this.scene.items[item];
        const snapshot = this.scene.model.snapshot(this.snapshotOf(side));
        const content2 = contentOf(this.scene.outline, snapshot.rowOf[key], caption2, this.namesOn(side));
        const chips = content2.chips.filter((chip) => snapshot.producer[chip.value] === chip.key);
        cache.set(item, { ...content2, lines: chipLines(chips, this.layout.width[item] - 16) });
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
      const { counts: counts3, layout } = this;
      return this.closedItems().filter((item) => counts3.added[item] || counts3.removed[item] || counts3.changed[item]).sort((a, b) => layout.y[a] - layout.y[b] || layout.x[a] - layout.x[b]);
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
        const [left2, top] = [layout.x[item], layout.y[item]];
        if (x >= left2 && y >= top && x <= left2 + layout.width[item] && y <= top + layout.height[item]) return item;
      }
      return -1;
    }
  };
  function element(name2, className, parent) {
    const made = document.createElement(name2);
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
      const act2 = this.acts[event.key];
      if (!act2) return;
      event.preventDefault();
      event.stopPropagation();
      act2();
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
      const around2 = scene.items[parent].group;
      if (!around2 || !around2.id) return;
      selection.id = scene.idOf(parent);
      await this.view.groups.collapse(around2.id);
      selection.announce();
    }
  };
  var Legend = class {
    constructor(parent, words4 = {}) {
      this.box = element("div", "fg-legend", parent);
      this.words = words4;
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
          const { fill: fill3, line: line3 } = colours[status];
          addEntry(row2, this.words[status] ?? status, { sign: SIGNS3[status], fill: fill3, line: line3, ink: line3 });
        }
      }
      if (values) this.drawValues(values, colours);
      if (!this.entries.length) return;
      const row = element("p", "", this.box);
      if (this.title) element("span", "", row).textContent = this.title;
      for (const { fill: fill3, label: label2, sign = "" } of this.entries) {
        addEntry(row, label2, { sign, fill: fill3, line: fill3, ink: colours.box });
      }
    }
    drawValues(values, theme) {
      const { absent: absent2, label: label2, missing } = values.colouring;
      const row = element("p", "", this.box);
      element("span", "fg-legend-title", row).textContent = `${label2}:`;
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
      addEntry(row, absent2, unknown).classList.add("fg-legend-missing");
      if (missing) element("p", "fg-legend-note", this.box).textContent = missing;
    }
  };
  function addEntry(row, label2, { sign, fill: fill3, line: line3, ink: ink2 }) {
    const box = element("span", "", row);
    const swatch = element("i", "", box);
    swatch.textContent = sign;
    Object.assign(swatch.style, { background: fill3, borderColor: line3, color: ink2 });
    element("span", "", box).textContent = label2;
    return box;
  }
  function placeMarks(marks2, picture) {
    const placed = { ofKey: /* @__PURE__ */ new Map(), ofItem: /* @__PURE__ */ new Map() };
    const named2 = Object.entries(marks2);
    if (!named2.length || !picture) return placed;
    const { model, items, ownerOfKey } = picture.scene;
    const makers = makersOf(picture);
    for (const [name2, mark] of named2) {
      const key = model.keyOfId.get(name2) ?? makers.get(name2);
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
      const { left: left2, top, width, height } = this.map;
      if (this.image?.theme !== this.view.theme) this.image = { canvas: this._render(colours), theme: this.view.theme };
      surface.save();
      surface.drawImage(this.image.canvas, left2, top, width, height);
      this._paintSight(surface, colours);
      surface.restore();
    }
    _paintSight(surface, colours) {
      const { left: left2, top, width, height, scale } = this.map;
      const { camera, panes } = this.view;
      const seen = { width: panes.width() / camera.zoom, height: this.view.stage.height / camera.zoom };
      const x1 = Math.max(0, (camera.x - seen.width / 2) * scale.x);
      const y1 = Math.max(0, (camera.y - seen.height / 2) * scale.y);
      const x2 = Math.min(width, (camera.x + seen.width / 2) * scale.x);
      const y2 = Math.min(height, (camera.y + seen.height / 2) * scale.y);
      surface.strokeStyle = colours.focus;
      surface.lineWidth = 1.5;
      surface.strokeRect(left2 + x1, top + y1, Math.max(4, x2 - x1), Math.max(4, y2 - y1));
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
      const left2 = this.view.stage.width - size.width - ASIDE;
      return { ...size, left: left2, top: PANE_HEAD + 4, scale: { x: size.width / whole.width, y: size.height / whole.height } };
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
        const [w, h2] = [Math.max(least, layout.width[item] * scale.x), Math.max(least, layout.height[item] * scale.y)];
        const [x, y] = [Math.min(width - w, layout.x[item] * scale.x), Math.min(height - h2, layout.y[item] * scale.y)];
        const spot = Math.max(0, Math.floor(y * spots)) * across + Math.max(0, Math.floor(x * spots));
        if (taken[spot] && w <= 2 * least && h2 <= 2 * least) continue;
        taken[spot] = 1;
        surface.fillRect(x, y, w, h2);
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
  function itemUnder(picture, headers, place2) {
    return headers.find((header2) => holds(header2, place2))?.item ?? picture.itemAt(place2);
  }
  function holds({ x, y, width, height }, place2) {
    return place2.x >= x && place2.x <= x + width && place2.y >= y && place2.y <= y + height;
  }
  function onToggle(picture, headers, place2, { item, zoom }) {
    const { group, open } = picture.scene.items[item];
    if (!group || zoom < TOGGLE_ZOOM) return false;
    const middle = open ? toggleOfHeader(headers, item) : toggleOfBox(picture, item);
    return middle !== null && Math.abs(place2.x - middle.x) <= 6 + SLOP && Math.abs(place2.y - middle.y) <= 6 + SLOP;
  }
  function toggleOfHeader(headers, item) {
    const header2 = headers.find((one) => one.item === item);
    return header2 ? { x: header2.x + 10, y: header2.y + 14 } : null;
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
      for (const line3 of lines) element("div", "", this.box).textContent = line3;
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
    const { counts: counts3, scene } = picture;
    const { group } = scene.items[item];
    const changes = ["removed", "added", "changed"].filter((status) => counts3[status][item]).map((status) => `${SIGNS3[status]}${counts3[status][item]} ${status}`);
    const ops = count(picture.opsOf(item, side), "op");
    return [group.label, ...group.repeat ? [`${group.repeat.length} modules of one structure; it opens to the first of them`] : [], `${group.id}  ·  ${ops}`, ...changes.length ? [changes.join("   ")] : [], "double click to open"];
  }
  function nodeLines(picture, item, side, marks2) {
    const { model } = picture.scene;
    const { key } = picture.scene.items[item];
    const snapshot = model.snapshot(picture.snapshotOf(side));
    const node = model.node(snapshot.rowOf[key]);
    const status = model.isPseudo(key) ? void 0 : picture.statusOf(item);
    const names = picture.namesOn(side);
    const lines = [node.op + (status ? `   ${SIGNS3[status]} ${status}` : "")];
    for (const value of node.outputs) lines.push(cut(`%${value.name} : ${value.type}`));
    lines.push(...model.pathsOf(snapshot.rowOf[key], names) ?? []);
    for (const name2 of node.inputs.slice(0, MOST_INPUTS)) {
      lines.push(cut(`← ${valueText(model, snapshot, names, name2)}`));
    }
    if (node.inputs.length > MOST_INPUTS) lines.push(`← ${node.inputs.length - MOST_INPUTS} more`);
    for (const pair of node.attributes.slice(0, MOST_ATTRIBUTES)) lines.push(cut(`${pair.name} = ${pair.text}`));
    if (node.module) lines.push(`in ${node.module}`);
    if (node.source) lines.push(`${node.source.file}:${node.source.line}`);
    const mark = marks2.ofKey.get(key);
    if (mark && mark.label) lines.push(mark.label);
    return lines;
  }
  function valueText(model, snapshot, names, name2) {
    const producer = snapshot.producer[model.stringIndex(name2) ?? -1];
    if (producer === void 0 || producer < 0) return `%${name2}`;
    const node = model.node(snapshot.rowOf[producer]);
    if (node.op === "prim::Constant" && !node.constant) {
      const value = node.attributes.find((pair) => pair.name === "value");
      if (value) return value.text;
      if (!node.attributes.length) return "None";
    }
    const output = node.outputs.find((one) => one.name === name2);
    const paths = model.pathsOf(snapshot.rowOf[producer], names);
    return `%${name2}${output ? ` : ${shortType(output.type)}` : ""}${paths ? `   ${paths.join(", ")}` : ""}`;
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
      const on = (name2, act2, options = {}) => view.stage.canvas.addEventListener(name2, act2, options);
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
    _itemAt(place2) {
      const { panes, picture } = this.view;
      return picture ? itemUnder(picture, panes.headers[place2.side] ?? [], place2) : -1;
    }
    _onToggle(place2, item) {
      const { camera, panes, picture } = this.view;
      return onToggle(picture, panes.headers[place2.side] ?? [], place2, { item, zoom: camera.zoom });
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
      const place2 = this.view.panes.locate(event);
      const item = this._itemAt(place2);
      if (item > 0 && this._onToggle(place2, item)) this.view.groups.toggle(this.view.picture.scene.items[item].group.id);
      else this.view.selection.choose(item);
    }
    _onDouble(event) {
      if (!this.view.picture) return;
      const place2 = this.view.panes.locate(event);
      const item = this._itemAt(place2);
      const group = item > 0 && this.view.picture.scene.items[item].group;
      if (group && !this._onToggle(place2, item)) this.view.groups.toggle(group.id);
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
    } catch (error2) {
      const reason = String(error2.message).split(": ").at(-1) ?? "";
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
      const counts3 = this.counts();
      if (!counts3) return item;
      this.take("?");
      return { item, ...counts3 };
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
      for (let place2 = 0; place2 <= text.length; place2++) {
        const letter = text[place2] ?? "";
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
      const name2 = `${before}${core.sort((a, b) => a - b)}`;
      let index = this.indexOf.get(name2);
      if (index === void 0) {
        index = this.kept.push({ core, before, next: /* @__PURE__ */ new Map() }) - 1;
        this.indexOf.set(name2, index);
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
      if (node) return { detail: { id, kind: "node", node, group: null }, text: nodeText2(node) };
      const group = view.outline().groups.get(id);
      if (!group) return { detail: { id, kind: "node", node: null, group: null }, text: id };
      const expanded = view.groups.open.has(id);
      const detail = { id, kind: "group", node: null, group: { id, label: group.label, ops: group.ops, expanded } };
      return { detail, text: `module ${id}, ${count(group.ops, "op")}, ${expanded ? "open" : "closed"}` };
    }
  };
  function nodeText2({ id, status, before, after }) {
    const shown = after || before;
    const type = shown.outputs.length ? `, ${shortType(shown.outputs[0].type)}` : "";
    const place2 = shown.module ? ` in ${shown.module}` : "";
    return `${opName(shown.op)} ${id}${place2}${type}${status ? `, ${status}` : ""}`;
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
      const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map((part3) => this._number(part3 * this.at.scale)).join(" ")}"` : "";
      const width = this._number(this.lineWidth * this.at.scale);
      this.out.push(`<path d="${this.path.join("")}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${width}"${dash}/>`);
    }
    fillText(text, x, y) {
      const [, weight, size, family2] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
      const [left2, top] = this._point(x, y).split(" ");
      this.out.push(`<text x="${left2}" y="${top}" dominant-baseline="central" text-anchor="${anchor}" fill="${escapeXml(this.fillStyle)}" font-family="${escapeXml(family2)}" font-size="${this._number(Number(size) * this.at.scale)}"${weight ? ` font-weight="${weight}"` : ""}>${escapeXml(text)}</text>`);
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
      const { legend: legend2, toolbar } = this.view;
      if (width >= NARROW || !legend2 || !toolbar) return 0;
      this.view.root.classList.remove("fg-low");
      const strip = Math.max(legend2.box.offsetHeight, toolbar.bar?.offsetHeight ?? 0);
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
  var ICONS2 = { out: "M4 8h8", in: "M4 8h8M8 4v8", fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10", changes: "M8 2.5v6M5 5.5h6M5 12.5h6", expand: "M8 7V2M5.5 4.5L8 2l2.5 2.5M8 9v5M5.5 11.5L8 14l2.5-2.5", collapse: "M8 2v5M5.5 4.5L8 7l2.5-2.5M8 14V9M5.5 11.5L8 9l2.5 2.5", constants: "M3 5.5h4v5H3zM9.5 8h4M7 8h2.5M11.5 6v4" };
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
    _button(icon2, title, act2) {
      const button = element("button", "", this.bar);
      button.type = "button";
      button.title = title;
      button.setAttribute("aria-label", title);
      const svg2 = document.createElementNS(SVG, "svg");
      svg2.setAttribute("viewBox", "0 0 16 16");
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", ICONS2[icon2]);
      svg2.append(path);
      button.append(svg2);
      button.addEventListener("click", act2);
      return button;
    }
    showConstants(shown) {
      this.constants.setAttribute("aria-pressed", String(shown));
    }
  };
  var DEFAULTS2 = { constants: false, panes: "split", theme: "auto", toolbar: true, worker: "auto", wheel: "zoom" };
  var LABEL = "Graph before and after the pass. Arrow keys follow edges, Enter opens and closes modules.";
  var VARIABLES = { page: "page", text: "text", soft: "soft", focus: "focus", line: "groupLine", panel: "panel", hover: "hover" };
  var View = class {
    constructor(container, options) {
      this.options = { ...DEFAULTS2, ...options };
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
    on(name2, callback) {
      if (!this.listeners.has(name2)) this.listeners.set(name2, /* @__PURE__ */ new Set());
      this.listeners.get(name2)?.add(callback);
      return () => this.listeners.get(name2)?.delete(callback);
    }
    emit(name2, detail) {
      for (const callback of this.listeners.get(name2) || []) callback(detail);
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
      for (const [name2, colour] of Object.entries(VARIABLES)) {
        this.root.style.setProperty(`--fg-${name2}`, colours[colour]);
      }
      this._drawLegend();
      this.stage.redraw();
    }
    setMarks(marks2) {
      this.marks = marks2 || {};
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
      const { constants: constants2 } = this.options;
      Object.assign(this.options, options);
      this.toolbar.showConstants(this.options.constants);
      if (this.steps && constants2 !== this.options.constants) {
        this.groups.openAtFirst();
        await this.rebuild();
      }
      this.stage.draw();
    }
    state() {
      const { constants: constants2, panes } = this.options;
      return { steps: this.steps, expanded: this.groups.ids(), selection: this.selection.id, viewport: this.camera.place(), options: { constants: constants2, panes } };
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
  var TITLE2 = "Operators, names, modules, attributes and shapes such as f32[1, 64. With .* or as /…/ it is a regular expression, also over the lines of your source; each name is a line, so /^aten::relu$/ finds that operator only.";
  var GraphSearch = class {
    constructor(view) {
      this.view = view;
      this.matches = [];
      this.at = -1;
      this.problem = "";
      this.text = h("input.fv-input", { type: "search", placeholder: "Search nodes ( / )", "aria-label": "Search nodes", title: TITLE2, spellcheck: "false", autocapitalize: "off", oninput: () => this.run(), onkeydown: (event) => this.key(event) });
      this.toggle = h("button.fv-button.fv-pattern", { type: "button", title: "Regular expression: names, operators, shapes, source", "aria-label": "Regular expression", "aria-pressed": "false", onclick: () => this.switchPattern() }, ".*");
      this.found = h("span.fv-found.fv-num", { role: "status" });
      this.ways = h("span.fv-search-ways", { hidden: true }, [this.way("‹", "Previous match (Shift+Enter)", -1), this.way("›", "Next match (Enter)", 1)]);
      this.element = h("div.fv-search", { role: "search" }, this.text, this.toggle, this.found, this.ways);
    }
    way(sign, title, direction) {
      const onclick = () => this.go(direction);
      return h("button.fv-button", { type: "button", title, "aria-label": title, onclick }, sign);
    }
    get isPattern() {
      return this.toggle.getAttribute("aria-pressed") === "true";
    }
    switchPattern() {
      this.toggle.setAttribute("aria-pressed", String(!this.isPattern));
      this.run();
      this.text.focus();
    }
    focus() {
      this.text.focus();
      this.text.select();
    }
    run() {
      this.at = -1;
      this.problem = "";
      this.matches = [];
      try {
        this.matches = this.view()?.search(this.text.value, { pattern: this.isPattern }) ?? [];
      } catch (error2) {
        this.problem = error2.message;
      }
      this.say();
    }
    key(event) {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.go(event.shiftKey ? -1 : 1);
    }
    go(direction) {
      const { length } = this.matches;
      const view = this.view();
      if (!length || !view) return;
      const first = direction > 0 ? view.firstMatch() : length - 1;
      this.at = this.at < 0 ? first : (this.at + direction + length) % length;
      view.focusMatch(this.at);
      this.say();
    }
    say() {
      const { length } = this.matches;
      this.ways.hidden = length === 0;
      this.found.classList.toggle("fv-bad", this.problem !== "");
      if (this.problem) this.text.setAttribute("aria-invalid", "true");
      else this.text.removeAttribute("aria-invalid");
      fill(this.found, this.problem ? `Bad pattern: ${this.problem}` : this.count(length));
    }
    count(length) {
      if (!this.text.value.trim()) return "";
      return length ? `${this.at < 0 ? "" : `${this.at + 1} of `}${length}` : "nothing found";
    }
  };
  var NARROW2 = 620;
  var GraphPanel = class {
    constructor(app) {
      this.view = void 0;
      this.wanted = null;
      this.busy = false;
      this.app = app;
      this.id = "graph";
      this.label = "Graph";
      this.search = new GraphSearch(() => this.view);
      this.shown = {};
      this.turn = Promise.resolve();
      this.canvas = h("div.fv-graph");
      const sized2 = new ResizeObserver(() => this.fit());
      sized2.observe(this.canvas);
      app.stops.push(() => sized2.disconnect());
      this.fates = h("input", { type: "checkbox", onchange: () => app.navigate({ fates: this.fates.checked }) });
      this.panes = h("select.fv-input", { "aria-label": "Which graphs", onchange: () => app.navigate({ panes: this.panes.value }) }, [["split", "Before | after"], ["before", "Before"], ["after", "After"]].map(([value, text]) => h("option", { value, data: { text } }, text)));
      this.colour = h("select.fv-input", { "aria-label": "Colour by", onchange: () => app.navigate({ colour: this.colour.value }) }, COLOUR_CHOICES.map(([value, text]) => h("option", { value }, text)));
      this.element = h("div.fv-panel-body", null, h("div.fv-bar.fv-graph-bar", { role: "toolbar", "aria-label": "Graph" }, this.search.element, this.button("←", "Previous node that changed", () => this.view.nextChange(-1)), this.button("→", "Next node that changed", () => this.view.nextChange(1)), this.panes, h("label.fv-check", { title: "What the colour of a box shows" }, "Colour by", this.colour), h("label.fv-check", { title: "Mark what reads or holds attributes by their fate" }, this.fates, h("span", null, h("span.fv-mark-word", null, "Mark "), "fates")), h("span.fv-spring"), this.saving()), this.canvas);
    }
    button(text, title, run2) {
      return h("button.fv-button", { type: "button", title, "aria-label": title, onclick: () => this.view && run2() }, text);
    }
    saving() {
      const title = "Save the graph as a picture";
      const button = h("button.fv-button", { type: "button", title, "aria-label": title }, "Save…");
      const item = (kind, run2) => ({ content: `Save the picture as ${kind}`, run: () => this.view && run2() });
      const menu = new Menu(button, "Save", [item("SVG", () => this.save("svg", new Blob([this.view.toSVG()], { type: "image/svg+xml" }))), item("PNG", async () => this.save("png", await this.view.toPNG()))]);
      this.app.stops.push(() => menu.destroy());
      return menu.element;
    }
    fit() {
      const { current } = this.app;
      if (this.view && this.canvas.clientWidth && this.panesFor(current) !== this.panes.value) this.render(current);
    }
    sayRoom() {
      const both = this.panes.options[0];
      const isNarrow = this.canvas.clientWidth < NARROW2;
      both.disabled = isNarrow;
      both.textContent = isNarrow ? `${both.dataset.text} (needs a wider window)` : both.dataset.text ?? "";
    }
    open() {
      this.view = create(this.canvas, { theme: this.app.theme(), panes: this.panesFor(this.app.current), wheel: this.app.options.wheel, words: this.words, sourceLine: (file, line3) => this.app.model.sourceAround(file, line3, 0)[0]?.text ?? "" });
      this.view.setData(this.app.graph);
      this.view.on("select", ({ id }) => this.chosen(id));
      this.view.on("ready", () => this.followConstants());
    }
    chosen(id) {
      if (this.busy || id === this.app.current.node) return;
      this.shown.node = id;
      this.app.navigate({ node: id, attribute: null });
    }
    followConstants() {
      const { constants: constants2 } = this.view.state().options;
      if (this.busy || constants2 === this.app.current.constants) return;
      this.shown.constants = constants2;
      this.app.navigate({ constants: constants2 });
    }
    destroy() {
      this.view?.destroy();
    }
    panesFor(state) {
      return state.panes === "split" && this.canvas.clientWidth < NARROW2 ? "after" : state.panes;
    }
    render(state) {
      this.fates.checked = state.fates;
      this.panes.value = this.panesFor(state);
      this.colour.value = state.colour;
      this.sayRoom();
      const { pair } = this.app;
      if (!pair) {
        fill(this.canvas, h("p.fv-empty", null, "This trace holds no graph."));
        return;
      }
      if (!this.view) this.open();
      this.wanted = state;
      this.turn = this.turn.catch(() => void 0).then(() => {
        if (state === this.wanted && !this.app.gone) return this.follow(state, pair);
        return void 0;
      });
    }
    async follow(state, pair) {
      const { shown, view } = this;
      const theme = this.app.theme();
      const panes = this.panesFor(state);
      const [node = null] = this.app.focused;
      this.busy = true;
      try {
        if (theme !== shown.theme) view.setTheme(theme);
        if (state.constants !== shown.constants || panes !== shown.panes) {
          await view.setOptions({ constants: state.constants, panes });
        }
        const moved = pair !== shown.pair;
        if (moved) await view.show({ before: pair.before?.index ?? null, after: pair.after.index });
        if (moved && !shown.pair && node === null) this.lookAtChange(pair);
        const { program, kernel } = state;
        if (moved || theme !== shown.theme || state.fates !== shown.fates || program !== shown.program || kernel !== shown.kernel || state.line !== shown.line || state.line && node !== shown.node) {
          this.mark(pair, state);
        }
        if (moved || state.colour !== shown.colour) {
          view.setColouring(this.colouring(pair, state.colour));
        }
        if (node !== shown.node) await this.select(node);
        if (moved) this.search.run();
      } finally {
        this.busy = false;
      }
      this.shown = { theme, panes, pair, constants: state.constants, fates: state.fates, colour: state.colour, program: state.program, kernel: state.kernel, line: state.line, node };
    }
    lookAtChange(pair) {
      const passes3 = this.app.model.view.summary?.passes ?? [];
      const row = passes3.find((one) => one.step === pair.after.index);
      if (row?.node && !pair.chosen) this.view.lookAt(row.node);
    }
    colouring(pair, kind) {
      return colouringOf(this.app.model, pair, kind);
    }
    async select(id) {
      try {
        await this.view.select(id, { center: id !== null });
      } catch (error2) {
        this.app.say(error2.message);
      }
    }
    mark(pair, { fates: wanted, program, kernel, line: line3, node, attribute }) {
      const styles = getComputedStyle(this.element);
      if (line3 && kernel === null && node === null && attribute === null) {
        return this.markLine(line3, pair, styles.getPropertyValue("--accent").trim());
      }
      if (kernel !== null) {
        return this.markKernel(this.app.model.view.programs[program].kernels[kernel], pair, styles.getPropertyValue("--accent").trim());
      }
      const marks2 = {};
      const fates2 = /* @__PURE__ */ new Map();
      const add2 = (value, { fate: fate2 }) => {
        if (!fates2.has(fate2)) fates2.set(fate2, styles.getPropertyValue(`--${fate2}`).trim());
        marks2[value] = { fill: fates2.get(fate2), label: fate2, sign: fate2[0].toUpperCase() };
      };
      for (const { index } of wanted ? pair.steps().reverse() : []) this.eachAttribute(index, add2);
      this.view.setMarks(marks2);
      this.view.setLegend([...fates2].sort().map(([label2, fill3]) => ({ fill: fill3, label: label2, sign: label2[0].toUpperCase() })), "attributes:");
    }
    markKernel({ name: name2 }, pair, fill3) {
      const mark = { fill: fill3, label: "kernel", sign: "K" };
      const nodes2 = this.app.model.kernelNodes(this.app.current, pair);
      this.view.setMarks(Object.fromEntries(nodes2.map((id) => [id, mark])));
      this.view.setLegend([{ ...mark, label: name2 }], "kernel:");
    }
    markLine(line3, pair, fill3) {
      const mark = { fill: fill3, label: `line ${line3.slice(line3.lastIndexOf(":") + 1)}`, sign: "L" };
      const { model } = this.app;
      const nodes2 = telling(model.lineNodes(line3, pair), model.graph(pair.after.index).nodes);
      this.view.setMarks(Object.fromEntries(nodes2.map((id) => [id, mark])));
      this.view.setLegend([mark], "source:");
    }
    eachAttribute(at, add2) {
      const { model } = this.app;
      for (const [value, path] of model.reads(at)) {
        const row = model.attribute(path);
        if (row && row.kind !== "submodule") add2(value, row);
      }
      const holding = [...model.held(model.step(at).method).keys(), ...model.named(at).keys()];
      for (const value of new Set(holding)) {
        const [row] = model.attributesOf(at, value);
        const id = model.holder(at, value);
        if (row && id !== void 0) add2(id, row);
      }
    }
    focusSearch() {
      this.search.focus();
    }
    save(kind, blob) {
      const link = h("a", { href: URL.createObjectURL(blob), download: `${this.app.model.view.name || "graph"}-step-${this.app.current.step}.${kind}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1e3);
    }
  };
  var WORDS = { same: "the same", different: "differ", "only with freezing": "only with freezing", "only without freezing": "only without" };
  function sideBySide(app, comparison) {
    return [h("p", null, counts(app, comparison)), kernels(app, comparison), passes2(comparison)];
  }
  function counts(app, { frozen, unfrozen, groups }) {
    const { programs } = app.model.view;
    return `${programs[frozen].kernels.length} kernels with freezing, ${programs[unfrozen].kernels.length} without; by the work they do: ${groupCounts(groups, WORDS)}.`;
  }
  function groupCounts(groups, words4) {
    return Object.entries(words4).map(([difference3, text]) => [groups.filter((group) => group.difference === difference3).length, text]).filter(([count2]) => count2).map(([count2, text]) => `${count2} ${text}`).join(", ");
  }
  function kernels(app, { frozen, unfrozen, groups }) {
    const rows = groups.map((group) => {
      const lost = group.lost && group.unfrozen.length > 0;
      return kernelRow(app, group.difference === "same", [{ program: frozen, kernels: group.frozen, time: group.frozen_time, lost }, { program: unfrozen, kernels: group.unfrozen, time: group.unfrozen_time }], [group.difference === "same" ? "=" : group.difference, lost ? h("div.fv-bad", null, "takes longer with freezing") : null]);
    });
    return grid("", ["With freezing", "Without", ""], rows);
  }
  function kernelRow(app, same2, sides, last) {
    const { program, kernel } = app.current;
    const chosen = kernel !== null && sides.some((side) => side.program === program && side.kernels.includes(kernel));
    const cells2 = sides.map((side) => h("td", null, links(app, side), side.time ? h("div.fv-num.fv-kernels-time", { class: side.lost ? "fv-bad" : "" }, side.time) : null));
    return h("tr", { class: `${chosen ? "fv-chosen" : ""} ${same2 ? "fv-row-same" : ""}` }, cells2, h("td", null, last));
  }
  function links(app, { program, kernels: places }) {
    const { kernels: kernels2 } = app.model.view.programs[program] ?? { kernels: [] };
    return places.map((kernel) => h("div.fv-mono", null, app.link(kernels2[kernel].name, { program, kernel, node: null, attribute: null })));
  }
  function passes2({ passes: passes3 }) {
    if (!passes3.length) return null;
    const rows = passes3.map(([stage, name2, frozen, unfrozen]) => h("tr", null, h("td", null, name2, h("div.fv-muted.fv-small", null, stage)), h("td", null, frozen), h("td", null, unfrozen)));
    return grid("Passes with an effect in one of the two only", ["Pass", "With freezing", "Without"], rows);
  }
  var KernelsPanel = class {
    static isFor(model) {
      return model.view.programs.length > 0;
    }
    constructor(app) {
      this.chosen = void 0;
      this.place = void 0;
      this.program = void 0;
      this.lines = void 0;
      this.slowest = void 0;
      this.app = app;
      this.id = "kernels";
      this.term = "kernel";
      this.label = "Kernels";
      this.programs = app.model.view.programs;
      this.rows = [];
      this.text = h("input.fv-input", { type: "search", placeholder: "Filter kernels ( / )", "aria-label": "Filter kernels", oninput: () => this.filter() });
      this.shown = h("span.fv-muted.fv-num", { role: "status" });
      this.comparisons = app.model.view.comparisons;
      this.buttons = this.programs.map((program, index) => h("button.fv-button", { type: "button", onclick: () => app.navigate({ program: index, kernel: null, beside: false }) }, this.title(program)));
      this.besideButton = h("button.fv-button", { type: "button", onclick: () => app.navigate({ beside: true }) }, "Side by side");
      this.both = h("div.fv-beside.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Both programs" });
      this.list = new VirtualList({ rowHeight: 46, row: (index) => this.row(index), props: { class: "fv-kernels", role: "listbox", "aria-label": "Kernels in call order", onkeydown: (event) => this.key(event) } });
      this.rest = h("div.fv-kernels-rest");
      this.code = new VirtualList({ rowHeight: 20, row: (index) => this.line(index), props: { class: "fv-code", role: "region", "aria-label": "Generated code" } });
      this.none = h("p.fv-empty", null, "The generated code was not kept.");
      this.one = h("div.fv-split.fv-kernels-split", null, h("section.fv-kernels-side", null, this.list.element, this.rest), h("section", null, h("h3.fv-pane-title", null, "Generated code"), this.code.element, this.none));
      const segments = [...this.buttons, ...this.comparisons.length ? [this.besideButton] : []];
      this.element = h("div.fv-panel-body", null, h("div.fv-bar", { role: "toolbar", "aria-label": "Kernels" }, segments.length > 1 ? h("div.fv-segments", { role: "group", "aria-label": "Program" }, segments) : null, this.text, this.shown), this.one, this.both);
    }
    title({ name: name2, method }) {
      return this.app.model.methods.length > 1 && this.programs.some((other) => other.method !== method) ? `${name2}: ${method}` : name2;
    }
    render(state) {
      const beside = state.beside && this.comparisons.length > 0;
      this.buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(!beside && index === state.program)));
      this.besideButton.setAttribute("aria-pressed", String(beside));
      for (const element3 of [this.one, this.text, this.shown]) element3.hidden = beside;
      this.both.hidden = !beside;
      if (beside) return fill(this.both, this.compared(state));
      if (state.program !== this.place) this.build(state.program);
      const fresh = this.chosen !== state.kernel;
      this.chosen = state.kernel;
      this.list.refresh();
      this.code.refresh();
      if (fresh && this.chosen !== null) this.bringIntoView();
    }
    compared({ program }) {
      const own = this.comparisons.find(({ frozen, unfrozen }) => program === frozen || program === unfrozen);
      return sideBySide(this.app, own ?? this.comparisons[0]);
    }
    build(place2) {
      this.place = place2;
      this.chosen = null;
      this.program = this.programs[place2];
      const { code, kernels: kernels2 } = this.program;
      this.lines = code === null ? [] : code.split("\n");
      this.code.element.hidden = code === null;
      this.none.hidden = code !== null;
      this.code.body.style.minWidth = `${this.lines.reduce((most, line3) => Math.max(most, line3.length), 0) + 8}ch`;
      this.slowest = Math.max(0, ...kernels2.map(({ time_ns }) => time_ns ?? 0));
      this.code.update(this.lines.length, 0);
      fill(this.rest, this.withoutKernel(), this.passes());
      this.filter();
    }
    filter() {
      const text = this.text.value.toLowerCase();
      const words4 = ({ name: name2, kind, ops, sources }) => [name2, kind, ...ops, ...sources.map((source) => placeText(source))].join(" ").toLowerCase();
      const { kernels: kernels2, time } = this.program;
      this.rows = kernels2.flatMap((kernel, index) => !text || words4(kernel).includes(text) ? [index] : []);
      const many = count(kernels2.length, "kernel");
      this.shown.textContent = `${this.rows.length === kernels2.length ? many : `${this.rows.length} of ${many}`}${time ? `, ${time} in all` : ""}`;
      this.list.update(this.rows.length);
    }
    focusSearch() {
      this.text.focus();
      this.text.select();
    }
    destroy() {
      this.list.destroy();
      this.code.destroy();
    }
    choose(kernel) {
      this.app.navigate({ kernel: kernel === this.chosen ? null : kernel, node: null, attribute: null });
    }
    bringIntoView() {
      const row = this.rows.indexOf(this.chosen);
      if (row >= 0) this.list.reveal(row, { middle: true });
      const { call, definition } = this.program.kernels[this.chosen];
      const line3 = definition ? definition[0] : call;
      if (line3 !== null) this.code.reveal(line3, { middle: definition === null });
      if (definition && line3 !== null) this.code.element.scrollTop = Math.max(0, line3 - 2) * this.code.rowHeight;
    }
    row(place2) {
      const index = this.rows[place2];
      const kernel = this.program.kernels[index];
      const linked = kernel.nodes.some((id) => this.app.focused.has(id));
      return h("div.fv-kernel", { role: "option", id: this.optionId(index), "aria-selected": String(index === this.chosen), class: index === this.chosen ? "fv-chosen" : linked ? "fv-linked" : "", title: [kernel.name, kernel.ops.join(", "), kernel.time].filter(Boolean).join("\n"), onclick: (event) => selectsText(event.currentTarget) || this.choose(index) }, h("span.fv-muted.fv-num.fv-kernel-place", null, index + 1), h("span.fv-mono.fv-clip", null, kernel.name), h("span.fv-kernel-time.fv-num", null, kernel.time ? [h("span.fv-kernel-bar", { "aria-hidden": "true", style: { width: `${100 * kernel.time_ns / this.slowest}%` } }), kernel.short_time] : null), h("span.fv-badge.fv-kernel-kind", null, kernel.kind), h("span.fv-muted.fv-small.fv-clip", null, [this.origin(kernel), kernel.computes || "no node of the graph"].filter(Boolean).join(" · ")));
    }
    optionId(index) {
      return `${this.app.prefix}-kernel-${index}`;
    }
    origin({ sources }) {
      const source = sources.find(({ file }) => !isInstalled(file)) ?? sources[0];
      return source ? placeText(source) : null;
    }
    key(event) {
      const place2 = listMove(event, this.rows.indexOf(this.chosen), this.rows.length, 10);
      if (place2 === null) return;
      const next = this.rows[place2];
      this.app.navigate({ kernel: next, node: null, attribute: null });
      this.list.element.setAttribute("aria-activedescendant", this.optionId(next));
    }
    line(index) {
      const kernel = this.chosen === null ? null : this.program.kernels[this.chosen];
      const [first, last] = kernel?.definition ?? [-1, -1];
      const here = kernel !== null && (index === kernel.call || index >= first && index <= last);
      return h("div.fv-code-line", { class: here ? "fv-chosen" : "" }, h("span.fv-code-number", null, index + 1), h("span", null, coloured(this.lines[index])));
    }
    withoutKernel() {
      const { no_kernel: pairs2, step } = this.program;
      if (!pairs2.length) return null;
      const whys = /* @__PURE__ */ new Map();
      for (const [id, why] of pairs2) whys.set(why, [...whys.get(why) ?? [], id]);
      const items = [...whys].map(([why, ids]) => h("li", null, h("div", null, why), h("div.fv-small", null, ids.map((id) => [this.app.link(`%${id}`, { step, node: id, attribute: null, tab: "graph" }), " "]))));
      return h("details", null, h("summary", null, `${pairs2.length} ${pairs2.length === 1 ? "node needs" : "nodes need"} no kernel`), h("ul.fv-list", null, items));
    }
    passes() {
      const { passes: passes3 } = this.program;
      if (!passes3.length) return null;
      const changed = passes3.filter(([, , , change]) => change);
      const rows = changed.map(([stage, name2, nodes2]) => h("tr", null, h("td", null, name2), h("td.fv-muted", null, stage), h("td.fv-num", null, nodes2)));
      return h("details", null, h("summary", null, `${passes3.length} passes made it, ${changed.length} changed something`), grid("", ["Pass", "Stage", "Nodes after it"], rows));
    }
  };
  var PassFrame = class {
    constructor(app, { label: label2, quiet, heads: heads2 }) {
      this.drawn = false;
      this.app = app;
      this.options = /* @__PURE__ */ new Map();
      this.filter = h("input.fv-input", { type: "search", placeholder: "Filter passes", "aria-label": "Filter passes by name", oninput: () => app.navigate({ passes: this.filter.value }) });
      this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
      this.count = h("span.fv-muted.fv-num");
      this.list = h("div.fv-passes-list", { role: "listbox", tabindex: "0", "aria-label": label2, onclick: (event) => this.click(event) });
      this.element = h("aside.fv-passes", { "aria-label": "Passes" }, h("div.fv-passes-bar", null, this.filter), h("div.fv-passes-bar", null, h("label.fv-check", null, this.quiet, quiet), this.count), heads2, this.list);
      this.away = (event) => event.composedPath().includes(this.element) || this.draw(false);
      app.stops.push(() => this.draw(false));
    }
    draw(open) {
      this.drawn = open;
      this.element.classList.toggle("fv-drawn", open);
      document[open ? "addEventListener" : "removeEventListener"]("pointerdown", this.away);
      if (open) this.list.focus();
    }
    drawerButton() {
      return h("button.fv-button.fv-drawer-button", { type: "button", onclick: () => this.draw(true) }, "Passes");
    }
    bringIntoView(option) {
      reveal(this.list, option, { below: option.parentElement.firstElementChild.offsetHeight });
    }
    grouped(items, read2) {
      const found = [];
      for (const item of items) {
        const { stage, method } = read2(item);
        const last = found.at(-1);
        if (last && last.stage === stage && last.method === method) last.items.push(item);
        else found.push({ stage, method, items: [item] });
      }
      return found.map((group) => this.group(group));
    }
    group({ stage, method, items }) {
      const several = this.app.model.methods.length > 1;
      const name2 = several ? [h("strong", null, stage), ` ${method}`] : stage;
      const title = h("div.fv-passes-stage", { role: "presentation", title: this.app.model.view.stages[stage] }, h("span.fv-clip", null, name2), h("span.fv-num", null, items.length));
      return h("div", { role: "group", "aria-label": `${method}, ${stage}` }, title, items.map((item) => this.option(item)));
    }
  };
  function counts2(model, step) {
    if (!step.changed || step.before === null) return null;
    if (step.tidied) return h("span.fv-counts.fv-num.fv-muted", null, `−${step.removed} unread`);
    const part3 = (sign, count2, kind) => count2 ? h(`span.fv-${kind}`, null, `${sign}${count2}`) : null;
    const parts = [part3("−", step.removed, "removed"), part3("+", step.added, "added")];
    const rest = part3("~", step.modified, "modified") ?? h("span.fv-muted", null, model.pair(step.index).same ? "module" : "moved");
    return h("span.fv-counts.fv-num", null, parts.some(Boolean) ? parts : rest);
  }
  function payoffs(step) {
    const [most] = [...step.latency_changes].sort((one, other) => far(other) - far(one));
    if (!most) return null;
    const title = step.latency_changes.map((change) => `measurable: ${change.text}`).join("\n");
    return h("span.fv-payoff.fv-num", { class: `fv-payoff-${most.verdict}`, role: "img", "aria-label": `measurably ${most.verdict}, ${most.short}`, title }, most.verdict === "faster" ? "▼ " : "▲ ", most.short);
  }
  function far({ ratio }) {
    return Math.abs(Math.log(ratio));
  }
  function past(step) {
    return step.numerics.find((entry) => entry.reference === "eager" && entry.error === null && !entry.close);
  }
  function describe(model, step) {
    const effect2 = !step.changed ? "changed nothing" : step.before !== null && model.pair(step.index).same ? "changed the module, not this graph" : step.tidied ? `only tidied up: ${step.removed} removed that nothing read` : `${step.removed} removed, ${step.added} added, ${step.modified} changed`;
    const facts2 = [`${step.name} (${step.stage}, ${step.method})`, step.before === null ? `${step.nodes} nodes` : effect2, step.duration, ...step.latency_changes.map(({ verdict: verdict2, text }) => `${verdict2}: ${text}`)].filter(Boolean).join(" · ");
    const does = model.passTexts(step).map(([, text]) => text);
    return [facts2, ...does, step.why_not].filter(Boolean).join("\n");
  }
  var MORE = [["nodes", (step) => step.nodes], ["took", (step) => step.duration], ["error", (step) => step.numerics.find((entry) => entry.error === null)?.max_abs], ["latency", (step) => step.latency[0]?.text]];
  var PassList = class extends PassFrame {
    constructor(app) {
      super(app, { label: "Passes", quiet: "Hide passes without effect", heads: heads(app.model.steps) });
      this.scale = latencyScale(app.model.steps);
      this.marks = hasMarks(app.model.steps);
    }
    more(step) {
      return columns(this.app.model.steps).map(([name2, read2]) => h(`span.fv-pass-more.fv-pass-more-${name2}.fv-num`, null, read2(step) ?? ""));
    }
    click(event) {
      const option = event.target.closest("[data-step]");
      if (!option) return;
      const step = Number(option.dataset.step);
      const { current } = this.app;
      if (event.target.closest(".fv-pass-index")) this.app.navigate({ against: current.against === step ? null : step });
      else if (!event.shiftKey) this.choose(step);
      else if (step > (current.step ?? -1)) this.app.navigate({ step, against: current.against ?? current.step });
      else this.app.navigate({ against: step });
    }
    choose(step) {
      this.app.setStep(step);
      this.draw(false);
    }
    visible(state = this.app.current) {
      const text = state.passes.toLowerCase();
      const { methods, steps } = this.app.model;
      const shown = steps.filter((step) => (!state.quiet || step.changed || step.before === null) && (!text || `${step.name} ${step.title} ${step.stage} ${step.method}`.toLowerCase().includes(text)));
      return methods.flatMap((method) => shown.filter((step) => step.method === method));
    }
    render(state, previous) {
      const rebuild = !previous || state.passes !== previous.passes || state.quiet !== previous.quiet;
      const returns = previous?.tab === "summary" && state.tab !== "summary";
      if (!rebuild && !returns && state.step === previous.step && state.against === previous.against) return;
      if (rebuild) this.build(state);
      this.markBase(state);
      this.options.get(previous?.step)?.setAttribute("aria-selected", "false");
      const chosen = this.options.get(state.step);
      chosen?.setAttribute("aria-selected", "true");
      if (chosen) this.bringIntoView(chosen);
      this.list.setAttribute("aria-activedescendant", chosen?.id ?? "");
    }
    markBase({ step, against: against2 }) {
      const { model } = this.app;
      const ends = step !== null && model.comparable(against2, step) ? [step, against2 ?? step] : [against2 ?? -1];
      const [first, last] = [Math.min(...ends), Math.max(...ends)];
      for (const [index, option] of this.options) {
        const between2 = against2 !== null && index >= first && index <= last && model.step(index)?.method === model.step(against2)?.method;
        option.classList.toggle("fv-pass-between", between2);
        option.classList.toggle("fv-pass-base", index === against2);
        if (index === against2) option.setAttribute("aria-description", "compared from here");
        else option.removeAttribute("aria-description");
      }
    }
    build(state) {
      if (this.filter.value !== state.passes) this.filter.value = state.passes;
      this.quiet.checked = state.quiet;
      const steps = this.visible(state);
      this.count.textContent = `${steps.length} of ${this.app.model.steps.length}`;
      this.options.clear();
      fill(this.list, this.grouped(steps, (step) => step));
      this.list.setAttribute("role", steps.length ? "listbox" : "group");
      if (!steps.length) {
        fill(this.list, h("p.fv-empty", null, this.app.model.steps.length ? "No pass matches." : "No passes."));
      }
      const { failure } = this.app.model.view;
      if (failure) this.list.append(this.failed(failure));
    }
    option(step) {
      const round = step.round === null ? null : h("span.fv-round", { title: `Round ${step.round} of a loop` }, `r${step.round}`);
      const option = h("div.fv-pass", { role: "option", id: `${this.app.prefix}-pass-${step.index}`, class: step.changed && !step.tidied || step.before === null ? "" : "fv-pass-quiet", "aria-selected": "false", data: { step: step.index }, title: describe(this.app.model, step) }, h("span.fv-pass-index.fv-num", { title: "Compare from here (c, or Shift and a click on the other pass)" }, step.index), h("span.fv-pass-name", null, step.name, step.title ? h("span.fv-pass-title", null, ` ${step.title}`) : null), round, h("span.fv-spring"), payoffs(step), counts2(this.app.model, step), this.more(step), this.speed(step), this.mark(step));
      this.options.set(step.index, option);
      return option;
    }
    speed(step) {
      const [latency3] = step.latency;
      if (!this.scale) return null;
      if (!latency3 || latency3.median === null) return h("span.fv-speed");
      const percent = (ns) => `${Math.min(100, 100 * ns / this.scale)}%`;
      const bar2 = h("span.fv-speed-bar", { class: `fv-${latency3.verdict}`, style: { width: percent(latency3.median) } });
      const spread = latency3.high === null ? null : h("span.fv-speed-spread", { style: { left: percent(latency3.low), width: percent(Math.min(latency3.high, this.scale) - latency3.low) } });
      return h("span.fv-speed", { title: `${latency3.text} (${latency3.interval}), ${latency3.verdict}${latency3.unseen ? ` (${latency3.unseen})` : ""}` }, bar2, spread);
    }
    mark(step) {
      const error2 = past(step);
      if (!error2 && step.notices.length) {
        return h("span.fv-pass-mark.fv-warn", { role: "img", "aria-label": "notice", title: step.notices.join("\n") }, "!");
      }
      if (!error2) return this.marks ? h("span.fv-pass-mark") : null;
      const isFirst = step.past_tolerance.includes("eager");
      const label2 = isFirst ? "the first past tolerance" : "past tolerance";
      return h("span.fv-pass-mark", { class: isFirst ? "fv-pass-broke" : "fv-muted", role: "img", "aria-label": label2, title: `Error ${error2.max_abs} against eager: ${label2}` }, "≠");
    }
    failed(failure) {
      return h("div.fv-pass.fv-pass-failed", { role: "option", "aria-disabled": "true", data: failure.step === null ? {} : { step: failure.step }, title: failure.title }, h("span.fv-pass-index", { "aria-hidden": "true" }, "✕"), h("span.fv-pass-name", null, failure.name), h("span.fv-spring"), h("span.fv-badge.fv-bad", null, failure.sign));
    }
  };
  function columns(steps) {
    return MORE.filter(([, read2]) => steps.some(read2));
  }
  function heads(steps) {
    const shown = columns(steps).map(([name2]) => h(`span.fv-pass-more.fv-pass-more-${name2}`, null, name2));
    const nameless = [latencyScale(steps) ? h("span.fv-speed") : null, hasMarks(steps) ? h("span.fv-pass-mark") : null];
    return h("div.fv-pass.fv-passes-heads", { "aria-hidden": "true" }, h("span.fv-spring"), h("span.fv-counts", null, "change"), shown, nameless);
  }
  function hasMarks(steps) {
    return steps.some((step) => past(step) || step.notices.length);
  }
  function latencyScale(steps) {
    return 1.25 * Math.max(0, ...steps.map((step) => step.latency[0]?.median ?? 0));
  }
  var SVG2 = "http://www.w3.org/2000/svg";
  var SIZE2 = { width: 680, height: 120, foot: 16 };
  function bars(title, values) {
    const known = values.filter(({ value }) => value !== null && Number.isFinite(value));
    if (known.length < 2) return null;
    const largest = known.reduce((one, other) => Number(other.value) > Number(one.value) ? other : one);
    const most = Number(largest.value);
    if (!most) return figure(title, `${largest.text} at every step`, null);
    const slot = SIZE2.width / values.length;
    const every = Math.ceil(values.length / 30);
    const drawn = element2("svg", { viewBox: `0 0 ${SIZE2.width} ${SIZE2.height + SIZE2.foot}`, role: "img" });
    values.forEach(({ step, value }, at) => {
      const height = SIZE2.height * (Number.isFinite(value) ? Number(value) : 0) / most;
      const place2 = { x: at * slot, y: SIZE2.height - height, width: Math.max(1, slot * 0.8), height };
      drawn.append(element2("rect", { ...place2, class: "fv-bar-kept" }));
      if (at % every) return;
      const number2 = element2("text", { x: at * slot + slot * 0.4, y: SIZE2.height + 12, "text-anchor": "middle" });
      number2.textContent = String(step);
      drawn.append(number2);
    });
    const words4 = `largest ${largest.text}, step ${largest.step}; at the end ${known.at(-1)?.text}`;
    return figure(title, words4, drawn);
  }
  function figure(title, words4, drawn) {
    const caption2 = h("figcaption", null, h("strong", null, title), h("span.fv-muted", null, ` ${words4}`));
    return h("figure.fv-print-chart", null, caption2, drawn);
  }
  function element2(name2, attributes) {
    const made = document.createElementNS(SVG2, name2);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  }
  var ComparisonAttributesPanel = class {
    constructor(app) {
      this.query = void 0;
      this.chosen = void 0;
      this.app = app;
      this.id = "attributes";
      this.label = "Attributes";
      this.all = app.model.comparison.attributes;
      this.count = this.all.filter((row) => row.counted && row.fields.length).length;
      this.rows = [];
      this.text = filterField(app, "Filter by path");
      this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
      this.minor = h("input", { type: "checkbox", onchange: () => app.navigate({ minor: this.minor.checked }) });
      this.shown = h("span.fv-muted.fv-num", { role: "status" });
      const head = ["Attribute", "Shape, type", "A", "B", "What differs"].map((text) => h("div", { role: "columnheader" }, text));
      this.list = attributeList(this);
      this.table = h("div.fv-table.fv-two-fates", { role: "table", "aria-label": "Fates of attributes in both traces" }, h("div.fv-table-row.fv-table-head", { role: "row" }, head), this.list.element);
      this.empty = h("p.fv-empty");
      const checks = [h("label.fv-check", null, this.quiet, "Only differences"), h("label.fv-check", { title: MINOR_TITLE }, this.minor, "Others")];
      this.element = h("div.fv-panel-body", null, h("div.fv-bar", null, this.text, checks, this.shown), this.table, this.empty);
    }
    focusSearch() {
      this.text.focus();
      this.text.select();
    }
    render(state) {
      const query = JSON.stringify([state.q, state.quiet, state.minor]);
      if (query !== this.query) this.filter(state);
      this.query = query;
      this.chosen = state.attribute;
      this.list.refresh();
      const place2 = this.rows.findIndex((row) => row.path === state.attribute);
      if (place2 >= 0) this.list.reveal(place2, { middle: true });
    }
    filter(state) {
      if (this.text.value !== state.q) this.text.value = state.q;
      this.quiet.checked = state.quiet;
      this.minor.checked = state.minor;
      const text = state.q.toLowerCase();
      this.rows = this.all.filter((row) => (state.minor || !row.minor) && (!state.quiet || row.fields.length) && (!text || row.path.toLowerCase().includes(text)));
      this.shown.textContent = `${countWords(this.rows)} of ${this.all.filter((row) => row.counted).length} parameters and buffers`;
      this.empty.textContent = !this.all.length ? "Neither trace says anything about attributes." : state.quiet && !state.q ? "Every attribute met the same fate in both." : "No attribute matches.";
      this.empty.hidden = this.rows.length > 0;
      this.table.hidden = !this.rows.length;
      this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
      this.list.update(this.rows.length, 0);
    }
    destroy() {
      this.list.destroy();
    }
    row(index) {
      const row = this.rows[index];
      return h("div.fv-table-row", { role: "row", "aria-rowindex": index + 2, class: `${row.path === this.chosen ? "fv-chosen" : ""} ${row.fields.length ? "" : "fv-row-same"}`, data: { path: row.path }, onclick: (event) => event.target.closest("a") || this.app.navigate({ attribute: row.path, node: null }) }, h("div.fv-mono.fv-clip.fv-clip-start", { role: "cell", title: row.path }, h("bdi", null, row.path)), h("div.fv-clip", { role: "cell", title: row.type }, row.shape ? `${row.shape} ${row.dtype ?? ""}` : row.type), SIDES.map((side) => h("div.fv-clip", { role: "cell" }, row[side] ? [fateBadge(row[side].fate), row[side].reason ? ` ${row[side].reason}` : null] : h("span.fv-muted", null, "absent"))), h("div.fv-clip", { role: "cell" }, fateDifferences(row) || h("span.fv-muted", null, "=")));
    }
    key(event) {
      const next = listMove(event, this.rows.findIndex((row) => row.path === this.chosen), this.rows.length, 15);
      if (next !== null) this.app.navigate({ attribute: this.rows[next].path, node: null });
    }
  };
  function fateDifferences(row) {
    if (!row.fields.length) return "";
    if (!row.a || !row.b) return `only in ${row.a ? "A" : "B"}`;
    const said = row.fields.includes("fate") ? row.fields.filter((field) => field !== "step" && field !== "locations") : row.fields;
    return said.map((field) => ({ step: "decided by another pass", locations: "another constant holds it" })[field] ?? `another ${field}`).join(", ");
  }
  function printedTable(heads2, rows) {
    return h("table.fv-grid", null, heads2.length ? h("thead", null, h("tr", null, heads2.map((head) => h("th", { scope: "col" }, head)))) : null, h("tbody", null, rows.map((cells2) => h("tr", null, cells2.map((cell) => h("td", null, cell ?? ""))))));
  }
  function comparisonPages({ comparison }, summary) {
    const { names, made, attributes, rows, settings } = comparison;
    const title = h("header", null, h("h1", null, "Two recordings side by side"), names.map((name2, side) => h("p", null, sideSign(side), ` ${name2}`, h("span.fv-muted", null, ` ${made[side] ?? ""}`))));
    return [title, summary, page("Attributes that differ", ["Attribute", "Shape", "A", "B", "What differs"], attributes.filter((row) => row.fields.length && !row.minor).map((row) => [row.path, row.shape, ...SIDES.map((side) => fate(row[side])), fateDifferences(row)])), page("Passes that made a difference of their own", ["Pass", "Nodes", "Time, A | B", "Other error, A | B"], rows.filter(({ differs, carried }) => differs && !carried).map(pass)), page("Settings that differ", ["", "Name", "A", "B"], settings.map(({ subject, name: name2, a, b }) => [subject, name2, a ?? "absent", b ?? "absent"]))].filter((part3) => part3 !== null);
  }
  function page(title, heads2, rows) {
    if (!rows.length) return null;
    return h("section.fv-print-part", null, h("h2", null, title), printedTable(heads2, rows));
  }
  function fate(row) {
    return row ? [row.fate, row.reason].filter(Boolean).join(", ") : "absent";
  }
  function pass(row) {
    const { graph } = row;
    const nodes2 = graph === null ? `only in ${row.a === null ? "B" : "A"}` : graph.empty ? "the same" : `−${graph.removed} +${graph.added} ~${graph.changed}`;
    const both = ({ a, b }) => `${a ?? "–"} | ${b ?? "–"}`;
    return [`${row.name}${row.round === null ? "" : `, round ${row.round}`} · ${row.method}`, nodes2, row.latency.map(both).join(", "), row.errors.filter(({ differs }) => differs).map((error2) => `${error2.reference}: ${both(error2)}`).join(", ")];
  }
  var Printed = class {
    constructor(app) {
      this.app = app;
      this.element = h("div.fv-print", { "aria-hidden": "true" });
    }
    fill() {
      const summary = this.app.panels.get("summary")?.content?.();
      if (!summary) return;
      if ("comparison" in this.app.model) {
        const pages = comparisonPages(this.app.model, summary);
        return this.element.replaceChildren(...pages);
      }
      this.element.replaceChildren(...[this.title(), summary, this.fates(), this.charts(), ...this.passes()].filter((part3) => part3 !== null));
    }
    clear() {
      this.element.replaceChildren();
    }
    title() {
      const { view } = this.app.model;
      return h("header", null, h("h1", null, view.name || "unnamed model"), h("p.fv-muted", null, `${backendName(view.backend)} · torch ${view.torch}`));
    }
    fates() {
      const { attributes } = this.app.model.view;
      const shown = attributes.filter((row) => !row.minor);
      const isKept = (row) => row.fate === "preserved";
      const rows = [...shown.filter(isKept), ...shown.filter((row) => !isKept(row))];
      if (!rows.length) return null;
      return h("section.fv-print-page", null, h("h2", null, "What became of the weights"), printedTable(["Attribute", "Shape", "Size", "Fate", "Why"], rows.map((row) => [row.path, row.shape, row.bytes, row.fate, row.why])));
    }
    charts() {
      const { steps } = this.app.model.view;
      if (!steps.length) return null;
      const device = steps.flatMap((step) => step.latency).at(0)?.device;
      const errorOf = (step) => step.numerics.find((entry) => entry.reference === "eager")?.max_abs ?? null;
      const charts = [bars("Operations after each step", steps.map((step) => ({ step: step.index, value: step.nodes, text: String(step.nodes) }))), bars(`Time per call${device ? ` on ${device}` : ""}`, steps.map((step) => ({ step: step.index, value: step.latency[0]?.median ?? null, text: step.latency[0]?.text ?? "" }))), bars("Largest error against eager", steps.map((step) => ({ step: step.index, value: errorOf(step) === null ? null : Number(errorOf(step)), text: errorOf(step) ?? "" })))].filter((chart) => chart !== null);
      return h("section.fv-print-page", null, h("h2", null, "Per step"), charts);
    }
    passes() {
      const { steps } = this.app.model.view;
      const changed = steps.filter((step) => step.changed && step.before !== null);
      return changed.map((step, at) => h("section", { class: at ? "fv-print-pass" : "fv-print-page fv-print-pass" }, at ? null : h("h2", null, "The passes that changed something"), h("h3", null, `${step.index} ${step.name}`, h("span.fv-muted", null, ` ${step.stage}${step.round === null ? "" : `, round ${step.round}`} · ${step.method}`)), printedTable([], this.facts(step).filter(([, text]) => text))));
    }
    facts(step) {
      const counts3 = `${step.nodes}: −${step.removed} +${step.added} ~${step.modified}`;
      const operators4 = this.app.model.pair(step.index, null).operators().map(([op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
      const kinds = /* @__PURE__ */ new Map();
      for (const { kind } of step.rewrites) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      return [["operations", counts3], ["operators", operators4.join(", ")], ["folds", [...kinds].map(([kind, count2]) => `${count2} × ${kind.replaceAll("_", " ")}`).join(", ")], ["constants", step.constants_delta === null ? step.constants : `${step.constants} (${step.constants_delta})`], ["took", step.duration ?? ""], ...step.latency.map((entry) => [`time, ${entry.device}`, `${entry.text} (${entry.interval}), ${entry.verdict}`]), ...step.numerics.map((entry) => [`error, ${entry.reference}`, entry.error ?? `${entry.max_abs}${entry.close ? "" : ", past tolerance"}`]), ["notices", step.notices.join(" ")]];
    }
  };
  var QuantisationPanel = class {
    static isFor({ view }) {
      return Boolean(view.quantisation);
    }
    constructor(app) {
      this.app = app;
      this.id = "quantisation";
      this.label = "Quantisation";
      this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Quantisation" });
    }
    render() {
      if (this.element.childElementCount) return;
      const { sentence: sentence2, error: error2, has_errors, layers, left: left2 } = this.app.model.view.quantisation;
      fill(this.element, h("div.fv-quantisation", null, h("p", null, sentence2), h("div", null, grid("Layers", has_errors ? [...HEADS, ERRORS] : HEADS, layers.flatMap((layer) => this.layer(layer, has_errors)))), h("p.fv-muted.fv-small", null, error2), left2.length ? this.left(left2) : null));
    }
    layer(layer, hasErrors) {
      const { step, node, patterns } = layer;
      const where = this.app.link(layer.name, { step, node, tab: "graph" }, `${layer.name} in the graph`);
      const undone = layer.undone_by === null ? null : [" ", this.app.details.stepLink(layer.undone_by)];
      const outcome = h("span", { class: `fv-${layer.tone}`, title: layer.meaning }, undone ? "undone by" : layer.outcome);
      const cells2 = [h("td", null, where, h("div.fv-muted.fv-small.fv-wrap", null, [layer.op, layer.method].filter(Boolean).join(", "))), h("td", null, outcome, undone, h("div.fv-muted.fv-small.fv-wrap", null, layer.meaning)), h("td", null, layer.weight, h("div.fv-muted.fv-small.fv-wrap", null, layer.weights.join(", "))), h("td", null, layer.activation), h("td", null, layer.kernel), h("td.fv-num", null, layer.bytes), h("td.fv-num", null, layer.is_quantised ? layer.rounding : "–"), ...hasErrors ? [h("td.fv-num", null, layer.errors[0], h("div", null, layer.errors[1]))] : []];
      const row = h("tr", null, cells2);
      if (!patterns.length) return [row];
      const items = patterns.map((pattern) => this.pattern(pattern));
      return [row, h("tr.fv-quantisation-patterns", null, h("td", { colspan: HEADS.length + Number(hasErrors) }, h("ul.fv-list", null, items)))];
    }
    pattern({ name: name2, group, step, matched, why }) {
      const sign = h(`span.fv-check-sign.fv-${matched ? "good" : "warn"}`, { role: "img", "aria-label": matched ? "matched" : "did not match" }, matched ? "✓" : "✕");
      const place2 = step === null ? group : this.app.link(group, { step }, `${group}, step ${step}`);
      return h("li", null, sign, " ", name2, h("span.fv-muted", null, " in "), place2, why ? h("div.fv-muted", null, why) : null);
    }
    left(left2) {
      const rows = left2.map(({ node, op, step, why }) => h("tr", null, h("td", null, this.app.link(`%${node}`, { step, node, tab: "graph" }, `%${node} in the graph`)), h("td", null, op), h("td", null, why)));
      return h("div", null, grid("Conversions that the last graph still computes", ["Node", "Operator", "Why"], rows));
    }
  };
  var ERRORS = "Error against the float model";
  var HEADS = ["Layer", "Computes on", "Weight", "Activation", "Operator", "Bytes of the weight", "Rounding per element"];
  var RewritesPanel = class {
    constructor(app) {
      this.shown = void 0;
      this.app = app;
      this.id = "rewrites";
      this.term = "rewrite";
      this.label = "Rewrites";
      this.count = app.model.steps.reduce((sum, step) => sum + step.rewrites.length, 0);
      this.misses = app.model.steps.reduce((sum, step) => sum + step.near_misses.length, 0);
      this.scopes = new Map([["pass", "This pass"], ["all", "All passes"]].map(([scope, text]) => [scope, this.scopeButton(scope, text)]));
      this.body = h("div.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Rewrites and near misses" });
      this.element = h("div.fv-panel-body", null, h("div.fv-bar", null, h("div.fv-segments", { role: "group", "aria-label": "Scope" }, [...this.scopes.values()])), this.body);
    }
    scopeButton(scope, text) {
      return h("button.fv-button", { type: "button", onclick: () => this.app.navigate({ scope }) }, text);
    }
    render(state) {
      for (const [scope, button] of this.scopes) button.setAttribute("aria-pressed", String(scope === state.scope));
      const key = `${state.scope}:${state.scope === "pass" ? state.step : ""}`;
      if (key !== this.shown) this.build(state);
      this.shown = key;
      for (const cell of this.body.querySelectorAll("[data-node]")) {
        cell.classList.toggle("fv-chosen-node", this.app.focused.has(cell.dataset.node ?? ""));
      }
    }
    build(state) {
      const { model } = this.app;
      const steps = state.scope === "all" ? model.steps : [model.step(state.step)];
      const blocks = steps.flatMap((step) => (step && this.block(step)) ?? []);
      fill(this.body, blocks.length ? blocks : this.nothing(state));
    }
    nothing(state) {
      if (!this.count && !this.misses) return h("p.fv-empty", null, "No rewrite and no near miss in this trace.");
      const everywhere = h("button.fv-linklike", { type: "button", onclick: () => this.app.navigate({ scope: "all" }) }, "See all passes");
      return h("p.fv-empty", null, "This pass folded and fused nothing. ", state.scope === "pass" ? everywhere : null);
    }
    block(step) {
      if (!step.rewrites.length && !step.near_misses.length && !(this.app.current.scope === "pass" && step.log.length)) {
        return null;
      }
      return h("section.fv-block", null, h("h3.fv-block-title", null, this.app.details.stepLink(step.index), h("span.fv-muted", null, ` ${step.method}`)), step.rewrites.length ? this.rewrites(step) : null, step.near_misses.length ? this.missGrid([term(this.app, "near miss", "Near misses"), ` (${step.near_misses.length})`], step) : null, this.app.current.scope === "pass" ? log(step.log) : null);
    }
    rewrites(step) {
      const rows = step.rewrites.map((rewrite) => h("tr", null, h("td", null, h("strong", null, rewrite.kind)), h("td", null, this.nodes(rewrite.consumed, step.before ?? step.index, step.index)), h("td", null, this.nodes(rewrite.produced, step.index, step.index)), h("td", null, rewrite.attributes.map((path) => h("div", null, this.app.details.attributeLink(path)))), h("td.fv-mono", null, rewrite.modules.map((path) => h("div", null, path)))));
      return grid([term(this.app, "rewrite", "Rewrites"), ` (${rows.length})`], ["Kind", "Consumed", "Produced", "Values from", "Modules"], rows);
    }
    nodes(ids, at, step) {
      const { model } = this.app;
      return ids.map((id) => {
        const op = model.graph(at).nodes.get(id)?.op;
        return h("div", { data: { node: id } }, this.app.link(`%${id}`, { step, node: id, attribute: null, tab: "graph" }), op && op !== "prim::Constant" ? h("span.fv-muted", null, ` ${op}`) : null);
      });
    }
    missGrid(caption2, step) {
      const rows = step.near_misses.map((miss) => h("tr", null, h("td", null, h("strong", null, miss.kind)), h("td", null, this.nodes([miss.node, miss.neighbour], step.index, step.index)), h("td", null, h("span.fv-badge", null, miss.reason)), h("td", null, miss.detail, miss.advice ? h("div.fv-advice", null, miss.advice) : null, miss.saves ? h("div.fv-muted", null, miss.saves) : null)));
      return grid(caption2, ["Fold", "Nodes", "Why not", "Evidence"], rows);
    }
  };
  function log(lines) {
    return lines.length ? section("Torch's log of this pass", h("pre.fv-log", { tabindex: "0" }, lines.join("\n"))) : null;
  }
  var SourceGraph = class {
    constructor(app, acts) {
      this.view = void 0;
      this.wanted = void 0;
      this.busy = false;
      this.app = app;
      this.acts = acts;
      this.shown = {};
      this.turn = Promise.resolve();
      this.element = h("div.fv-graph");
    }
    open() {
      this.view = create(this.element, { theme: this.app.theme(), panes: "after", wheel: this.app.options.wheel });
      this.view.setData(this.app.graph);
      this.view.on("hover", (on) => this.acts.hover(on?.kind === "node" ? on.id : null));
      this.view.on("select", ({ id }) => this.busy || this.acts.choose(id));
    }
    destroy() {
      this.view?.destroy();
    }
    follow(wanted) {
      if (wanted.step === null) return;
      if (!this.view) this.open();
      this.wanted = wanted;
      this.turn = this.turn.catch(() => void 0).then(() => wanted === this.wanted && !this.app.gone ? this.show(wanted) : void 0);
    }
    async show({ step, node, constants: constants2 }) {
      const { shown, view } = this;
      const theme = this.app.theme();
      this.busy = true;
      try {
        if (theme !== shown.theme) view.setTheme(theme);
        if (constants2 !== shown.constants) await view.setOptions({ constants: constants2 });
        if (step !== shown.step) await view.show({ before: null, after: step });
        if (node !== shown.node || node !== null && step !== shown.step) await this.select(node);
      } finally {
        this.busy = false;
      }
      this.shown = { theme, constants: constants2, step, node };
    }
    async select(node) {
      try {
        await this.view.select(node, { center: node !== null });
      } catch (error2) {
        this.app.say(error2.message);
      }
    }
    mark(nodes2, label2, sign) {
      if (!this.view) return;
      const fill3 = getComputedStyle(this.element).getPropertyValue("--accent").trim();
      const mark = { fill: fill3, label: label2, sign };
      this.view.setMarks(Object.fromEntries(nodes2.map((id) => [id, mark])));
      this.view.setLegend(nodes2.length ? [mark] : []);
    }
  };
  var PAGE = 15;
  var SourceListing = class {
    constructor(app, links2, acts) {
      this.app = app;
      this.links = links2;
      this.acts = acts;
      this.rows = /* @__PURE__ */ new Map();
      this.made = 0;
      this.painted = { linked: /* @__PURE__ */ new Set(), chosen: null };
      this.openers = /* @__PURE__ */ new Map();
      this.isTimed = links2.files.some(({ lines }) => lines.some((row) => row.times.length));
      this.element = h("div.fv-lines", { onpointerover: (event) => acts.hover(keyAt(event)), onpointerleave: () => acts.hover(null), class: this.isTimed ? "" : "fv-lines-untimed" });
    }
    open() {
      if (!this.element.childElementCount) fill(this.element, this.files());
    }
    files() {
      const [shown, folded2] = [[], []].map((list) => list);
      const first = firstFile(this.links.files);
      for (const file of this.links.files) {
        const list = file === first || file.kind === "own" ? shown : folded2;
        list.push(file);
      }
      const saved = folded2.filter(({ kind }) => kind === "saved");
      const libraries = folded2.filter(({ kind }) => kind === "library");
      const hasText = shown.some(({ missing }) => !missing);
      return [shown.map((file) => this.file(file)), this.group("Saved TorchScript", saved, !hasText), this.group("Libraries", libraries, false)];
    }
    group(title, files, isOpen) {
      if (!files.length) return null;
      const body = h("div");
      const details = h("details.fv-lines-group", { open: isOpen }, h("summary", null, title, h("span.fv-muted", null, ` ${count(files.length, "file")}`)), body);
      const open = () => {
        if (!body.childElementCount) {
          fill(body, files.map((file, index) => this.folded(file, isOpen && index === 0)));
        }
      };
      details.addEventListener("toggle", open);
      if (isOpen) open();
      const show = () => {
        details.open = true;
        open();
      };
      for (const { file } of files) this.openers.set(file, show);
      return details;
    }
    folded(row, isOpen) {
      const body = h("div");
      const details = h("details.fv-lines-folded", { open: isOpen }, h("summary", null, this.name(row)), body);
      const open = () => {
        if (body.childElementCount) return;
        fill(body, this.lines(row));
        this.paint(this.painted.linked, this.painted.chosen);
      };
      details.addEventListener("toggle", open);
      if (isOpen) open();
      const before = this.openers.get(row.file);
      this.openers.set(row.file, () => {
        before?.();
        details.open = true;
        open();
      });
      return details;
    }
    file(row) {
      return h("section", null, h("h3.fv-lines-file", { title: row.file }, this.name(row)), row.missing ? h("p.fv-lines-missing", null, row.missing) : null, this.lines(row));
    }
    name({ file, lines }) {
      const parts = file.split(/[\\/]/);
      const folder = parts.slice(-3, -1).join("/");
      return [h("strong", null, parts.at(-1)), h("span.fv-muted", null, folder ? ` in ${folder}` : "", `, ${count(lines.length, "line")} in the graph`)];
    }
    lines({ file, lines }) {
      const runs = this.app.model.view.sources.filter((source) => source.file === file);
      const rows = new Map(lines.map((row) => [row.line, row]));
      const list = this.list(file);
      const width = String(Math.max(0, ...listing(runs, lines).map((entry) => entry?.line ?? 0))).length;
      list.style.setProperty("--digits", `${Math.max(3, width)}ch`);
      for (const entry of listing(runs, lines)) {
        list.append(entry ? this.line(lineKey(file, entry.line), entry, rows.get(entry.line)) : h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯"));
      }
      return list;
    }
    list(file) {
      const list = h("div.fv-code.fv-lines-list", { role: "listbox", tabindex: "0", "aria-label": `Lines of ${file.split(/[\\/]/).pop()}`, onkeydown: (event) => {
        this.key(event, list);
      }, onclick: (event) => {
        const key = keyAt(event);
        if (key !== null && !selectsText(list)) this.acts.pin(key);
      }, onblur: () => this.acts.hover(null) });
      return list;
    }
    line(key, { line: line3, text }, row) {
      const code = text === null ? h("span.fv-muted", null, "(the trace has no text of this line)") : codeOf(text);
      const element3 = h("div.fv-line", { role: "option", id: `${this.app.prefix}-line-${this.made}`, "aria-selected": "false", "aria-disabled": row ? null : "true", "aria-label": row ? `Line ${line3}: ${(text ?? "").trim()}. ${words(row).join(". ")}` : `Line ${line3}: ${(text ?? "").trim()}`, title: row ? words(row).join("\n") : null, class: row ? isGone(row) ? "fv-line-known fv-line-gone" : "fv-line-known" : "" }, h("span.fv-line-number", null, line3), this.isTimed ? timeMark(row) : null, passMark(row), errorMark(row), h("span.fv-line-code", { style: { "--indent": `${indentOf(text ?? "")}ch` } }, code));
      this.made += 1;
      if (row) {
        element3.dataset.line = key;
        this.rows.set(key, element3);
      }
      return element3;
    }
    key(event, list) {
      const known = [...list.querySelectorAll("[data-line]")];
      const active = list.getAttribute("aria-activedescendant");
      const at = known.findIndex(({ id, classList }) => active ? id === active : classList.contains("fv-chosen"));
      if ((event.key === "Enter" || event.key === " ") && at >= 0) {
        event.preventDefault();
        event.stopPropagation();
        return this.acts.pin(known[at].dataset.line);
      }
      const next = listMove(event, at, known.length, PAGE);
      if (next === null) return void 0;
      list.setAttribute("aria-activedescendant", known[next].id);
      this.acts.hover(known[next].dataset.line ?? null);
      reveal(this.element, known[next], { below: 28 });
      return void 0;
    }
    paint(linked, chosen) {
      this.painted = { linked, chosen };
      for (const [key, row] of this.rows) {
        row.classList.toggle("fv-linked", linked.has(key));
        row.classList.toggle("fv-chosen", key === chosen);
        row.setAttribute("aria-selected", String(key === chosen));
      }
    }
    reveal(keys) {
      const [first] = keys;
      if (first === void 0) return;
      const file = first.slice(0, first.lastIndexOf(":"));
      if (!this.rows.has(first)) {
        this.openers.get(file)?.();
        this.openers.get(file)?.();
      }
      const row = this.rows.get(first);
      if (row) reveal(this.element, row, { below: 28 });
    }
  };
  function keyAt(event) {
    return event.target.closest?.("[data-line]")?.dataset.line ?? null;
  }
  function codeOf(text) {
    const indent = indentOf(text);
    return [text.slice(0, indent), h("span.fv-line-text", null, coloured(text.slice(indent)))];
  }
  function indentOf(text) {
    return text.length - text.trimStart().length;
  }
  var FOREMOST = 5;
  var SourcePanel = class {
    static isFor(model) {
      return Boolean(model.view.by_line?.files.length);
    }
    constructor(app) {
      this.app = app;
      this.id = "source";
      this.label = "Source";
      this.links = app.model.links;
      this.hovered = null;
      this.shownKernels = /* @__PURE__ */ new Set();
      this.kept = "";
      this.listing = new SourceListing(app, this.links, { hover: (key) => this.hover(key === null ? null : { kind: "line", id: key }), pin: (key) => this.pin({ line: key === app.current.line ? "" : key }) });
      this.graph = new SourceGraph(app, { hover: (id) => this.hover(id === null ? null : { kind: "node", id }), choose: (id) => id === app.current.node || this.pin({ node: id }) });
      this.facts = h("div.fv-line-facts", { "aria-live": "polite" });
      this.program = h("select.fv-input", { "aria-label": "Program", onchange: () => app.navigate({ program: Number(this.program.value), kernel: null }) }, app.model.view.programs.map((program, index) => h("option", { value: index }, app.model.methods.length > 1 ? `${program.name}: ${program.method}` : program.name)));
      this.kernels = new VirtualList({ rowHeight: 26, row: (index) => this.kernelRow(index), props: { class: "fv-kernels fv-line-kernels", role: "listbox", "aria-label": "Kernels", onpointerover: (event) => this.hoverKernel(event), onpointerleave: () => this.hover(null), onkeydown: (event) => this.kernelKey(event) } });
      const { programs } = app.model.view;
      this.element = h("div.fv-panel-body.fv-trio", { class: programs.length ? "" : "fv-trio-no-kernels" }, h("section.fv-trio-source", { "aria-label": "Source" }, this.legend(), this.listing.element), h("section.fv-trio-graph", { "aria-label": "Graph after the chosen pass" }, this.graph.element), h("section.fv-trio-facts", { "aria-label": "Line and kernels" }, this.facts, programs.length ? h("div.fv-trio-kernels", null, h("div.fv-bar", null, h("h3", null, "Kernels"), this.program), this.kernels.element) : null));
    }
    legend() {
      const { isTimed } = this.listing;
      return h("div.fv-bar.fv-lines-legend.fv-muted.fv-small", null, isTimed ? h("span", { title: "Share of the time of all kernels; the solid part is in kernels of this line only" }, h("span.fv-line-bar", { "aria-hidden": "true" }, h("span.fv-line-bar-all"), h("span.fv-line-bar-alone")), " time") : null, h("span", { title: "How many passes touched the line" }, h("span.fv-line-passes.fv-num", null, "3"), " passes"), h("span", { title: "A pass that touched the line made the numeric error grow" }, h("span.fv-line-error", null, "≈"), " error grew"), h("span", { title: "Nothing of the line is left in the last graph" }, h("span.fv-line-gone-sign", null, "gone"), " nothing left"));
    }
    destroy() {
      this.graph.destroy();
      this.kernels.destroy();
    }
    hover(look) {
      if (look?.kind === this.hovered?.kind && look?.id === this.hovered?.id) return;
      this.hovered = look;
      this.paint();
    }
    hoverKernel(event) {
      const row = event.target.closest("[data-kernel]");
      this.hover(row ? { kind: "kernel", id: Number(row.dataset.kernel) } : null);
    }
    pin(patch) {
      this.app.navigate({ line: "", node: null, attribute: null, kernel: null, ...patch });
    }
    keptLook() {
      const { node, kernel, line: line3 } = this.app.current;
      if (node !== null) return { kind: "node", id: node };
      if (kernel !== null) return { kind: "kernel", id: kernel };
      return line3 ? { kind: "line", id: line3 } : null;
    }
    linked(look) {
      const { model, pair, current } = this.app;
      if (!look || !pair) return { lines: [], nodes: [], kernels: [] };
      const { index: step, method } = pair.after;
      if (look.kind === "line") {
        const nodes2 = model.lineNodes(look.id, pair);
        return { lines: [look.id], nodes: nodes2, kernels: this.links.kernelsOfLine(current.program, look.id) };
      }
      if (look.kind === "kernel") {
        const nodes2 = model.kernelNodes({ program: current.program, kernel: look.id }, pair);
        return { lines: this.links.linesOfKernel(current.program, look.id), nodes: nodes2, kernels: [look.id] };
      }
      const kernels2 = kernelsOf(model.view.programs, method, look.id).flatMap(({ program, kernel }) => program === current.program ? [kernel] : []);
      return { lines: this.links.linesOfNode(method, look.id, step), nodes: [look.id], kernels: kernels2 };
    }
    render(state) {
      this.listing.open();
      const kept = this.keptLook();
      const { nodes: nodes2, lines, kernels: kernels2 } = this.linked(kept);
      const step = this.app.pair?.after.index ?? null;
      const graph = step === null ? null : this.app.model.graph(step).nodes;
      const [foremost = null] = graph ? telling(nodes2, graph) : [];
      this.graph.follow({ step, node: kept?.kind === "node" ? kept.id : foremost, constants: state.constants });
      this.program.value = String(state.program);
      this.kernels.update(this.app.model.view.programs[state.program]?.kernels.length ?? 0);
      this.paint();
      const key = JSON.stringify([kept, state.program]);
      if (key === this.kept) return;
      this.kept = key;
      if (kept?.kind !== "line" || !this.listing.rows.has(kept.id)) this.listing.reveal(byNearness(this.links, lines));
      else this.listing.reveal([kept.id]);
      if (kernels2.length) this.kernels.reveal(kernels2[0], { middle: true });
      this.paint();
    }
    paint() {
      const kept = this.keptLook();
      const look = this.hovered ?? kept;
      const { lines, nodes: nodes2, kernels: kernels2 } = this.linked(look);
      this.shownKernels = new Set(kernels2);
      this.listing.paint(new Set(lines), kept?.kind === "line" ? kept.id : null);
      const graph = this.app.pair ? this.app.model.graph(this.app.pair.after.index).nodes : /* @__PURE__ */ new Map();
      this.graph.mark(look?.kind === "node" ? [] : telling(nodes2, graph), this.labelOf(look), look?.kind === "kernel" ? "K" : "L");
      this.kernels.refresh();
      const key = look?.kind === "line" ? look.id : byNearness(this.links, lines)[0];
      const row = key === void 0 ? void 0 : this.links.rows.get(key);
      fill(this.facts, row ? lineFacts(this.app, key, row) : openingFacts(this.app, this.links.foremost(FOREMOST), (line3) => this.pin({ line: line3 })));
    }
    labelOf(look) {
      if (look?.kind === "line") return `line ${look.id.slice(look.id.lastIndexOf(":") + 1)}`;
      return look?.kind === "kernel" ? "kernel" : "";
    }
    kernelRow(index) {
      const { program, kernel: chosen } = this.app.current;
      const { kernels: kernels2 } = this.app.model.view.programs[program];
      const kernel = kernels2[index];
      const slowest = Math.max(1, ...kernels2.map((each) => each.time_ns ?? 0));
      return h("div.fv-line-kernel", { role: "option", id: `${this.app.prefix}-side-kernel-${index}`, "aria-selected": String(index === chosen), data: { kernel: index }, class: index === chosen ? "fv-chosen" : this.shownKernels.has(index) ? "fv-linked" : "", title: [kernel.name, kernel.computes, kernel.time].filter(Boolean).join("\n"), onclick: (event) => selectsText(event.currentTarget) || this.pin({ kernel: index === chosen ? null : index }) }, h("span.fv-muted.fv-num", null, index + 1), h("span.fv-mono.fv-clip", null, kernel.name.replace(/^torch\.ops\.|\.default$/g, "")), h("span.fv-num", null, kernel.short_time ?? ""), kernel.time_ns ? h("span.fv-kernel-bar", { "aria-hidden": "true", style: { width: `${100 * kernel.time_ns / slowest}%` } }) : null);
    }
    kernelKey(event) {
      const { program, kernel } = this.app.current;
      const { kernels: kernels2 } = this.app.model.view.programs[program];
      const next = listMove(event, kernel ?? -1, kernels2.length, 10);
      if (next === null) return;
      this.pin({ kernel: next });
      this.kernels.element.setAttribute("aria-activedescendant", `${this.app.prefix}-side-kernel-${next}`);
    }
  };
  function byNearness(links2, lines) {
    const kinds = new Map(links2.files.map(({ file, kind, missing }) => [file, missing ? 1 : kind === "own" ? 0 : kind === "saved" ? 2 : 3]));
    const rank = (key) => kinds.get(key.slice(0, key.lastIndexOf(":"))) ?? 9;
    const breadth = (key) => links2.rows.get(key)?.operators ?? 0;
    return [...lines].sort((one, other) => rank(one) - rank(other) || breadth(one) - breadth(other));
  }
  function stripToggle(strip) {
    const isOpen = () => strip.dataset.open === "true";
    const button = h("button.fv-linklike.fv-small.fv-summary-toggle", { type: "button", onclick: () => {
      strip.dataset.open = String(!isOpen());
      show();
    } });
    const show = () => {
      button.setAttribute("aria-expanded", String(isOpen()));
      fill(button, isOpen() ? "Less" : "More");
    };
    strip.dataset.open ??= "false";
    show();
    return button;
  }
  var OPERATORS_SHOWN = 3;
  var VERDICTS = { baseline: "what the others are compared with", faster: "faster than the first step", slower: "slower than the first step", "no measurable difference": "no measurable difference to the first step" };
  var VERDICT_NOTE = "A difference is stated only where it holds among all comparisons of this trace";
  function stepFacts(pair) {
    const { after: step } = pair;
    return [["nodes", step.nodes, nodeWords(pair)], operators2(pair), step.duration === null ? null : ["took", step.duration], ["constants", ...constants(step)], ...step.latency.map(latency), ...step.latency_changes.map(({ text }) => ["this pass", h("strong", null, text)]), numerics(step.numerics)];
  }
  function nodeWords(pair) {
    if (!pair.before) return null;
    if (pair.same) {
      return h("span.fv-muted", null, pair.after.changed && !pair.chosen ? " unchanged; the module changed" : " unchanged");
    }
    const { added, removed, changed } = pair.counts();
    const part3 = (sign, count2, kind) => count2 ? h(`span.fv-${kind}`, null, ` ${sign}${count2}`) : null;
    if (pair.after.tidied && !pair.chosen) {
      return h("span.fv-muted", null, ` only tidied up: −${removed} that nothing read`);
    }
    if (!added && !removed && !changed) return h("span.fv-muted", null, " in another order");
    return [part3("−", removed, "removed"), part3("+", added, "added"), part3("~", changed, "modified")];
  }
  function operators2(pair) {
    const words4 = pair.operators().map(([op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
    if (!words4.length) return null;
    const shown = words4.slice(0, OPERATORS_SHOWN).join(", ");
    return ["operators", h("span.fv-clip", { title: words4.join("\n") }, shown, words4.length > OPERATORS_SHOWN ? ", …" : "")];
  }
  function constants(step) {
    const still = step.constants_delta === null || step.constants_delta === "±0";
    return [step.constants, still ? null : h("span.fv-muted", null, ` ${step.constants_delta}`)];
  }
  function latency(entry) {
    const ratio = entry.ratio === null ? null : `, ${entry.ratio}`;
    return [`latency, ${entry.device}`, timed(entry), " ", verdictWords(entry.verdict, VERDICTS[entry.verdict]), unseen(entry.unseen), h("span.fv-muted", null, ratio)];
  }
  function unseen(words4) {
    return words4 ? h("span.fv-muted", null, ` (${words4})`) : null;
  }
  function timed(entry) {
    return [entry.text, h("span.fv-muted", { title: "95% interval of the median" }, ` (${entry.interval})`)];
  }
  function verdictWords(verdict2, text) {
    return h("span", { title: VERDICT_NOTE, class: `fv-verdict-${verdict2.split(" ")[0]}` }, text);
  }
  function numerics(entries) {
    if (!entries.length) return null;
    const words4 = entries.map((entry, index) => [index ? ", " : "", errorWords(entry), entry.error === null ? against(entry) : null, beyond(entry)]);
    const fine = entries.every((entry) => entry.error === null && entry.close);
    return ["largest error", words4, fine ? h("span.fv-good", null, " within tolerance") : null];
  }
  function errorWords(entry) {
    return entry.error === null ? entry.max_abs : h("span.fv-muted", { title: entry.error }, `${entry.reference}: could not be compared`);
  }
  function against(entry) {
    return h("span.fv-muted", null, ` against ${entry.reference}`);
  }
  function beyond(entry) {
    return entry.error === null && !entry.close ? h("span.fv-bad", null, " ≠ past tolerance") : null;
  }
  function comparedFacts(pair) {
    const { before, after } = pair;
    return [["nodes", `${before.nodes} → ${after.nodes}`, nodeWords(pair)], operators2(pair), ["constants", `${before.constants} → ${after.constants}`], ["attributes read", `${pair.model.reads(before.index).size} → ${pair.model.reads(after.index).size}`], ...after.latency.map((entry) => comparedLatency(pair, entry)), ...after.numerics.map((entry) => comparedError(pair, entry))];
  }
  function comparedLatency(pair, entry) {
    const old = pair.before.latency.find(({ device }) => device === entry.device);
    if (!old) return null;
    const told = pair.latencyVerdict(entry.device);
    const words4 = told ? verdictWords(told.verdict, [told.verdict, unseen(told.unseen), told.ratio && h("span.fv-muted", null, `, ${told.ratio}`)]) : h("span.fv-muted", { title: "The trace holds each pass against the first one, not these two against each other" }, "no verdict on this pair");
    return [`latency, ${entry.device}`, timed(old), " → ", timed(entry), " ", words4];
  }
  function comparedError(pair, entry) {
    const old = pair.before.numerics.find(({ reference }) => reference === entry.reference);
    if (!old || old.error !== null || entry.error !== null) return null;
    return ["largest error", old.max_abs, beyond(old), " → ", entry.max_abs, against(entry), beyond(entry)];
  }
  var TERMS = { nodes: "node", constants: "constant", latency: "interval", "largest error": "tolerance" };
  var KINDS3 = { operators: "fv-summary-operators", latency: "fv-summary-long", largest: "fv-summary-long" };
  var PassSummary = class {
    constructor(app) {
      this.shown = void 0;
      this.app = app;
      this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
    }
    render(state) {
      const key = `${state.step}:${state.against}`;
      if (this.shown === key) return;
      this.shown = key;
      const { pair } = this.app;
      if (!pair) {
        fill(this.element, h("h2", null, "This trace holds no pass."), h("span.fv-muted", null, "Nothing was frozen while it was recorded."));
        return;
      }
      const { after: step } = pair;
      const facts2 = pair.before && pair.chosen ? comparedFacts(pair) : stepFacts(pair);
      fill(this.element, h("div.fv-summary-name", null, this.app.passes.drawerButton(), pair.chosen ? this.names(pair) : name(step, this.app), this.comparing(state, pair), stripToggle(this.element)), h("dl.fv-summary-facts", { tabindex: "0" }, facts2.filter((fact3) => fact3 !== null).map(([label2, ...value]) => h("div", { class: KINDS3[label2.split(/[ ,]/)[0]] ?? "" }, h("dt", null, this.label(label2)), h("dd.fv-num", null, value)))), pair.chosen ? null : explanation(step, this.app.model), step.notes.length && !pair.chosen ? h("p.fv-summary-notes", null, this.notes(step)) : null, step.notices.length ? h("ul.fv-summary-notices", null, step.notices.map((text) => h("li", null, text))) : null);
    }
    label(text) {
      const name2 = TERMS[text.split(",")[0]];
      return name2 ? term(this.app, name2, text) : text;
    }
    notes(step) {
      const more = step.log.length - step.notes.length;
      const rest = more ? [" · ", this.app.link(`${more} more`, { tab: "rewrites", scope: "pass" }, `${more} more notes of this pass`)] : null;
      return [step.notes.join(" · "), rest];
    }
    names({ before, after }) {
      const one = (step) => [h("span.fv-num.fv-muted", null, stepLabel(step)), " ", step.name];
      const backwards = after.index < before.index ? " · back in time" : "";
      return [h("h2", { title: `${before.name} → ${after.name}` }, h("span.fv-muted", null, "comparing "), one(before), " → ", one(after)), h("span.fv-muted", null, `${after.method}${backwards}`)];
    }
    comparing(state, pair) {
      const { app } = this;
      if (state.against === null) {
        const start = () => app.navigate({ against: state.step });
        return h("button.fv-linklike.fv-small", { type: "button", title: "Then choose any other pass (c)", onclick: start }, "Compare from here");
      }
      const base = app.model.step(state.against);
      const hint = pair.before?.index === state.against ? null : state.against === state.step ? "comparing from here: choose another pass" : base && `not compared with ${base.index} ${base.name}: that is ${base.method}, and only passes of one method can be compared`;
      const stop = () => app.navigate({ against: null });
      return [hint && h("span.fv-compare-hint", null, hint), h("button.fv-button.fv-compare-stop", { type: "button", title: "Show each pass against the one before it again (c)", onclick: stop }, "Stop comparing")];
    }
  };
  function name(step, app) {
    const { view } = app.model;
    const round = step.round === null ? null : [", ", term(app, "round", `round ${step.round}`)];
    return [h("span.fv-num.fv-muted", null, stepLabel(step)), h("h2", { title: step.name }, step.name), step.title ? h("span", null, step.title) : null, h("span.fv-muted", { title: view.stages[step.stage] }, step.stage, round, ` · ${step.method}`)];
  }
  function explanation(step, model) {
    const several = step.does.length > 1;
    const texts = model.passTexts(step).map(([pass2, does]) => h("span", null, several ? `${pass2}: ${does} ` : `${does} `));
    const why = step.why_not ? h("span.fv-why-not", null, "It changed nothing here. ", step.why_not) : null;
    return texts.length ? h("p.fv-summary-does", { tabindex: "0" }, texts, why) : null;
  }
  var BAR = { width: 96, height: 8 };
  var SVG3 = "http://www.w3.org/2000/svg";
  var SummaryPanel = class {
    constructor(app) {
      this.app = app;
      this.id = "summary";
      this.label = "Summary";
      this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Summary" });
    }
    render() {
      if (!this.element.childElementCount) fill(this.element, this.content());
    }
    content() {
      const { summary } = this.app.model.view;
      return h("div.fv-answer", null, h("p.fv-answer-sentence", null, summary.sentence), fates(this.app), this.actions(summary.actions), this.passes(summary), this.further(), h("p.fv-answer-about.fv-muted", null, summary.about));
    }
    actions(actions2) {
      if (!actions2.length) {
        if (!this.app.model.steps.length || this.app.model.view.failure) return null;
        return h("p.fv-answer-calm.fv-muted", null, "Nothing here needs a change.");
      }
      return h("section.fv-answer-part", null, h("h2", null, "What would help"), h("ol.fv-cards", null, actions2.map((action, at) => this.card(action, at + 1))));
    }
    card(action, number2) {
      const place2 = this.place(action);
      return h("li.fv-card", { class: action.aim === "correct" || action.aim === "finish" ? "fv-card-urgent" : "" }, h("h3", null, h("span.fv-card-number", { "aria-hidden": "true" }, number2), action.title), h("p.fv-card-fix", null, action.fix), h("p.fv-card-gain", null, action.gain), h("p.fv-card-evidence.fv-muted", null, action.evidence), place2 && h("p.fv-card-place", null, this.app.link(place2.label, place2.patch, `${place2.label}: ${action.title}`)));
    }
    place({ attribute, node, step }) {
      if (attribute !== null) return { label: "See the attribute", patch: { tab: "attributes", attribute, node: null } };
      if (step === null) return null;
      const patch = { tab: "graph", step, against: null, attribute: null, node };
      return { label: node === null ? `See step ${step}` : "See the node", patch };
    }
    passes({ passes: passes3, main_step: main }) {
      if (!passes3.length) return null;
      const most = { nodes: Math.max(1, ...passes3.flatMap(({ nodes: nodes2 }) => nodes2)), constants: Math.max(1, ...passes3.flatMap(({ constants: constants2 }) => constants2 ?? [])) };
      const columns2 = [["Operations", true], ["Constants", passes3.some((row) => row.constants_text !== null)], ["Time", passes3.some((row) => row.times.length)], ["Error", passes3.some((row) => row.error_text !== null)]].filter(([, moved]) => moved);
      const names = columns2.map(([name2]) => name2);
      return h("section.fv-answer-part", null, h("h2", null, "The passes that mattered"), h("div.fv-moves", { style: { "--columns": names.length } }, h("div.fv-moves-head.fv-muted", { "aria-hidden": "true" }, h("span", null, "Pass"), names.map((name2) => h("span", null, name2))), h("ol.fv-moves-list", null, passes3.map((row) => h("li", null, this.row(row, { most, names, isMain: row.step === main }))))), this.tidying(new Set(passes3.map(({ step }) => step))));
    }
    tidying(listed) {
      const { model } = this.app;
      const steps = model.steps.filter((step) => step.tidied && !listed.has(step.index));
      if (!steps.length) return null;
      const removed = steps.reduce((sum, step) => sum + step.removed, 0);
      const [first] = steps;
      const passes3 = steps.length === 1 ? "a pass that only tidied up" : `${steps.length} passes that only tidied up`;
      const what = `removed ${count(removed, "operation")} that nothing read`;
      const patch = { tab: "graph", step: first.index, against: null, attribute: null, node: null };
      return h("p.fv-muted.fv-moves-rest", null, "Left out: ", this.app.link(passes3, patch), `, which ${what}.`);
    }
    row(row, { most, names, isMain }) {
      const { title } = this.app.model.step(row.step);
      const name2 = [row.name, title, row.round === null ? "" : `round ${row.round}`].filter(Boolean).join(", ");
      const several = this.app.model.methods.length > 1;
      const cells2 = { Operations: [bar(row.nodes, most.nodes), h("span.fv-num", null, row.nodes_text)], Constants: row.constants_text && [row.constants && bar(row.constants, most.constants), h("span.fv-num", null, row.constants_text)], Time: row.times.map((time) => h("span", { class: `fv-verdict-${time.verdict}` }, time.text)), Error: row.error_text && [h("span.fv-num", { class: row.past_tolerance ? "fv-bad" : "" }, row.error_text), row.past_tolerance ? h("span.fv-bad", null, " past tolerance") : null] };
      const patch = { tab: "graph", step: row.step, against: null, attribute: null, node: row.node };
      const link = this.app.link([h("span.fv-move-name", null, h("span.fv-num.fv-muted", null, `${row.step} `), h("strong", null, row.name), title ? h("span.fv-move-title", null, ` ${title}`) : null, row.round === null ? null : h("span.fv-round", null, ` round ${row.round}`), several ? h("span.fv-muted", null, ` ${row.method}`) : null, isMain ? h("span.fv-badge.fv-move-main", null, "mattered most") : null), names.map((column) => h("span.fv-move-cell", { data: { label: column } }, cells2[column] ?? null))], patch, words2(row, name2));
      link.classList.add("fv-move");
      if (isMain) link.classList.add("fv-move-chosen");
      return link;
    }
    further() {
      const { app } = this;
      const places = [["graph", "The graph, pass by pass"], ["attributes", "What became of the weights"], ["charts", "Time, error and memory per pass"], ["findings", "All findings"]].filter(([tab]) => app.panels.has(tab));
      return h("nav.fv-answer-further", { "aria-label": "Further" }, places.map(([tab, text]) => app.link(text, { tab })));
    }
  };
  function words2(row, name2) {
    return [`Step ${row.step}, ${name2}`, `operations ${row.nodes_text}`, row.constants_text && `constants ${row.constants_text}`, ...row.times.map((time) => time.text), row.error_text && `error ${row.error_text}${row.past_tolerance ? ", past tolerance" : ""}`].filter(Boolean).join("; ");
  }
  function bar([before, after], most) {
    const px = (size) => size ? Math.max(1, BAR.width * size / most) : 0;
    const svg2 = document.createElementNS(SVG3, "svg");
    const attributes = { viewBox: `0 0 ${BAR.width} ${BAR.height}`, ...BAR, class: "fv-move-bar", preserveAspectRatio: "none", "aria-hidden": "true" };
    for (const [key, value] of Object.entries(attributes)) svg2.setAttribute(key, String(value));
    const kept = Math.min(before, after);
    svg2.append(part2(0, px(kept), "fv-bar-kept"));
    if (before !== after) {
      const end = px(Math.max(before, after));
      svg2.append(part2(px(kept), Math.max(1, end - px(kept)), after > before ? "fv-bar-added" : "fv-bar-removed"));
    }
    return svg2;
  }
  function part2(x, width, kind) {
    const rect = document.createElementNS(SVG3, "rect");
    for (const [key, value] of Object.entries({ x, y: 0, width, height: BAR.height, class: kind })) {
      rect.setAttribute(key, String(value));
    }
    return rect;
  }
  var Tabs = class {
    constructor(app, panels) {
      this.app = app;
      this.panels = panels;
      this.buttons = new Map(panels.map((panel) => [panel.id, this.button(panel)]));
      this.list = h("div.fv-tabs", { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.key(event) }, [...this.buttons.values()]);
      this.element = h("div.fv-tabs-frame", null, this.list);
      this.list.addEventListener("scroll", () => this.fade(), { passive: true });
      const sized2 = new ResizeObserver(() => this.resized());
      sized2.observe(this.list);
      app.stops.push(() => sized2.disconnect());
      this.paneOf = new Map(panels.map((panel) => [panel.id, this.pane(panel)]));
      this.panes = [...this.paneOf.values()];
      this.last = /* @__PURE__ */ new Map();
    }
    pane(panel) {
      return h("div.fv-pane", { role: "tabpanel", id: `${this.app.prefix}-pane-${panel.id}`, "aria-labelledby": `${this.app.prefix}-tab-${panel.id}`, hidden: true }, panel.element);
    }
    button(panel) {
      const count2 = panel.count ? h("span.fv-tab-count.fv-num", null, panel.count) : null;
      return h("button.fv-tab", { type: "button", role: "tab", id: `${this.app.prefix}-tab-${panel.id}`, "aria-controls": `${this.app.prefix}-pane-${panel.id}`, onclick: () => this.app.navigate({ tab: panel.id }, { jump: true }), ...explains(this.app, panel.term) }, panel.label, count2);
    }
    key(event) {
      const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (!move) return;
      event.preventDefault();
      const at = this.panels.findIndex((panel) => panel.id === this.app.current.tab);
      const next = this.panels[(at + move + this.panels.length) % this.panels.length];
      this.app.navigate({ tab: next.id });
      this.buttons.get(next.id)?.focus();
    }
    render(state, previous) {
      for (const [id, button] of this.buttons) {
        const chosen = id === state.tab;
        button.setAttribute("aria-selected", String(chosen));
        button.tabIndex = chosen ? 0 : -1;
      }
      for (const [id, pane] of this.paneOf) pane.hidden = id !== state.tab;
      const shown = this.panels.find((panel) => panel.id === state.tab);
      shown?.render(state, this.last.get(state.tab) ?? null);
      this.last.set(state.tab, state);
      if (previous?.tab !== state.tab) this.revealChosen();
    }
    revealChosen() {
      const button = this.buttons.get(this.app.current.tab);
      if (button) reveal(this.list, button);
    }
    resized() {
      this.revealChosen();
      this.fade();
    }
    fade() {
      const { scrollLeft, scrollWidth, clientWidth } = this.list;
      this.element.classList.toggle("fv-more-before", scrollLeft > 1);
      this.element.classList.toggle("fv-more-after", scrollLeft + clientWidth < scrollWidth - 1);
    }
  };
  function traceParts() {
    const panels = [SummaryPanel, GraphPanel, SourcePanel, AttributesPanel, RewritesPanel, AliasesPanel, IrPanel, CodePanel, KernelsPanel, QuantisationPanel, ChartsPanel, FindingsPanel, EnvironmentPanel];
    return { Details, PassList, PassSummary, panels };
  }
  function assemble(app) {
    const parts = app.parts();
    app.terms = new Terms(app);
    app.details = new parts.Details(app);
    app.passes = new parts.PassList(app);
    const panels = parts.panels.filter((Panel) => Panel.isFor?.(app.model) ?? true);
    app.panels = new Map(panels.map((Panel) => new Panel(app)).map((panel) => [panel.id, panel]));
    app.tabs = new Tabs(app, [...app.panels.values()]);
    app.summary = new parts.PassSummary(app);
    app.printed = new Printed(app);
    app.toast = h("div.fv-toast", { role: "status", "aria-live": "polite" });
    app.sheet = keySheet({ ...parts.sheet, glossary: app.model.view.glossary, tour: app.options.tour });
    app.copySheet = copySheet();
    const content2 = h("div.fv-content", null, app.tabs.panes, app.details.element);
    const main = h("main.fv-main", null, app.tabs.element, app.summary.element, content2);
    fill(app.root, header(app), failureBanner(app), unmeasuredBanner(app), h("div.fv-body", null, app.passes.element, main), app.sheet, app.copySheet.element, app.terms.element, app.toast, app.printed.element);
  }
  function focusOf(model, state, pair) {
    const { node, attribute, kernel, line: line3 } = state;
    if (node !== null || !pair) return node === null ? [] : [node];
    if (attribute === null && kernel === null && line3) return model.lineNodes(line3, pair);
    if (attribute === null) return model.kernelNodes(state, pair);
    const { after, before } = pair;
    const now = model.nodesOf(after.index, attribute);
    return now.length || !before ? now : model.nodesOf(before.index, attribute);
  }
  var Keyboard2 = class {
    constructor(app) {
      this.app = app;
      this.acts = { ArrowUp: () => app.move(-1), ArrowDown: () => app.move(1), f: () => app.move(1, true), r: () => app.move(-1, true), c: () => app.navigate({ against: app.current.against === null ? app.current.step : null }), s: () => app.panels.has("source") && app.navigate({ tab: "source" }, { jump: true }), h: () => app.navigate({ quiet: !app.current.quiet }), "/": () => this.search(), "?": () => app.sheet.showModal() };
    }
    hear(event) {
      const { app } = this;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (app.sheet.open || app.copySheet.element.open || !app.root.getClientRects().length) return;
      const path = event.composedPath();
      const within = (selector) => path.some((element3) => element3.matches?.(selector));
      if (within("dialog, [role=menu]")) return;
      if (event.key === "Escape") return this.escape(path[0]);
      if (within("input:not([type=checkbox]), select, textarea")) return;
      const isIdle = app.current.tab === "summary" && !["/", "?", "s"].includes(event.key);
      const act2 = isIdle ? void 0 : this.acts[event.key];
      const tab = this.tab(event.key);
      if (!act2 && !tab) return;
      event.preventDefault();
      if (act2) act2();
      else app.navigate({ tab }, { jump: true });
    }
    tab(key) {
      if (!/^[0-9]$/.test(key)) return void 0;
      const tabs = [...this.app.panels.keys()].filter((id) => id !== "summary" && id !== "source");
      return key === "0" ? ["summary"].find((id) => this.app.panels.has(id)) : tabs[Number(key) - 1];
    }
    escape(element3) {
      const { app } = this;
      if (element3.matches?.("input, select")) element3.blur();
      else if (app.passes.drawn) app.passes.draw(false);
      else if (app.current.node || app.current.attribute) app.navigate({ node: null, attribute: null });
      else if (app.current.kernel !== null) app.navigate({ kernel: null });
      else if (app.current.line) app.navigate({ line: "" });
      else if (app.current.against !== null) app.navigate({ against: null });
    }
    search() {
      const { app } = this;
      const panel = app.panels.get(app.current.tab);
      if (panel?.focusSearch) return panel.focusSearch();
      app.navigate({ tab: "graph" });
      app.panels.get("graph")?.focusSearch?.();
    }
  };
  function listen(app) {
    const watch = (where, event, run2) => {
      where.addEventListener(event, run2);
      app.stops.push(() => where.removeEventListener(event, run2));
    };
    const keyboard = new Keyboard2(app);
    watch(app.options.keys === "page" ? document : app.root, "keydown", (event) => keyboard.hear(event));
    watch(app.dark, "change", () => app.render(app.current));
    watch(window, "beforeprint", () => app.printed.fill());
    watch(window, "afterprint", () => app.printed.clear());
    const sized2 = new ResizeObserver(() => app.measure() && app.render(app.current));
    sized2.observe(app.root);
    app.stops.push(() => sized2.disconnect());
    const page2 = app.page();
    if (app.options.hash) watch(window, "popstate", () => page2 === app.page() && app.follow());
  }
  function validChoices(model, { colour, line: line3 }) {
    return { colour: Object.hasOwn(COLOURINGS, colour) ? colour : "change", line: model.hasLine(line3) ? line3 : "" };
  }
  function validKernel(model, { program, kernel }) {
    const { programs } = model.view;
    const known = programs[program] ? program : 0;
    return { program: known, kernel: kernel !== null && programs[known]?.kernels[kernel] ? kernel : null };
  }
  var SIZES = [["wide", 1800], ["middle", 1340], ["small", 1080], ["tight", 760], ["narrow", 1]];
  function sizeOf2(width) {
    return SIZES.find(([, least]) => width >= least)?.[0];
  }
  var NodeHistories = class {
    constructor(model) {
      this.model = model;
      this.found = /* @__PURE__ */ new Map();
    }
    of(method, id) {
      const found = this.found.get(method) ?? this.build(method);
      this.found.set(method, found);
      return found.get(id) ?? [];
    }
    build(method) {
      const events = /* @__PURE__ */ new Map();
      for (const steps of this.model.chains(method)) {
        let before = null;
        for (const step of steps) {
          const now = this.model.texts.rows(this.model.snapshot(step.index));
          if (before !== now) this.compare(before, now, step, events);
          before = now;
        }
      }
      return events;
    }
    compare(before, now, step, events) {
      for (const [id, row] of now) {
        const old = before?.get(id);
        if (old === row) continue;
        if (old === void 0) note2(events, id, { step: step.index, what: before ? "added" : "there from the start" });
        else {
          const fields = changedFields(this.model.graphs.node(old), this.model.graphs.node(row));
          if (fields.length) note2(events, id, { step: step.index, what: `${fields.join(", ")} changed` });
        }
      }
      if (before) {
        for (const id of before.keys()) if (!now.has(id)) note2(events, id, { step: step.index, what: "removed" });
      }
    }
  };
  function note2(events, id, event) {
    const known = events.get(id);
    if (known) known.push(event);
    else events.set(id, [event]);
  }
  var TraceModel = class {
    constructor(view, graph) {
      this.view = view;
      this.graphs = new Model(graph);
      this.texts = new Snapshots(this.graphs, graph.snapshots);
      this.steps = view.steps;
      this.methods = view.methods;
      this.attributes = view.attributes;
      this.attributeIndex = new Map(view.attributes.map((row, index) => [row.path, index]));
      this.links = new SourceLinks(view.by_line ?? { files: [], places: [], sets: [], nodes: {}, notes: { calls: "", time: "", error: "" } });
      this.histories = new NodeHistories(this);
      this.sources = new SourcePlaces(this);
      this.holders = /* @__PURE__ */ new Map();
      this.coloured = /* @__PURE__ */ new Map();
    }
    step(index) {
      const step = index === null ? null : this.steps[index] || null;
      return step;
    }
    passTexts(step) {
      return step.does.map((place2) => this.view.pass_texts[place2]);
    }
    attribute(path) {
      return this.attributes[this.attributeIndex.get(path) ?? -1] || null;
    }
    snapshot(index) {
      return this.graphs.steps[index].after;
    }
    graph(index) {
      return this.texts.graph(this.snapshot(index));
    }
    chains(method) {
      return [this.steps.filter((step) => step.method === method)];
    }
    baseOf(index, against2 = null) {
      const step = this.step(index);
      if (step === null) return null;
      return this.comparable(against2, index) ? against2 : step.before;
    }
    comparable(one, other) {
      const [first, second] = [this.step(one), this.step(other)];
      return first !== null && second !== null && first !== second && first.method === second.method;
    }
    pair(index, against2 = null) {
      const pair = index === null || !this.step(index) ? null : new Pair(this, this.baseOf(index, against2), index);
      return pair;
    }
    resolve(index, name2) {
      const graph = this.graph(index);
      return graph.nodes.has(name2) ? name2 : graph.makers.get(name2) ?? null;
    }
    end(pair, id) {
      const snapshots = [pair.before, pair.after].map((step) => step && this.snapshot(step.index));
      const found = this.graphs.isPseudo(this.graphs.keyOfId.get(id) ?? -1) ? nodeIn(this.graphs, snapshots, id) : null;
      return found && { node: found.after ?? found.before, at: (found.after || !pair.before ? pair.after : pair.before).index };
    }
    reads(index) {
      const graph = this.graph(index);
      if (graph.reads) return graph.reads;
      const reads = /* @__PURE__ */ new Map();
      for (const node of graph.nodes.values()) {
        const owner = node.op === "prim::GetAttr" ? node.inputs[0] : void 0;
        if (owner === void 0 || !(owner === graph.root || reads.has(owner))) continue;
        const name2 = node.attributes.find((pair) => pair.name === "name")?.text.replace(/^"|"$/g, "") ?? "";
        reads.set(node.outputs[0].name, owner === graph.root ? name2 : `${reads.get(owner)}.${name2}`);
      }
      graph.reads = reads;
      return reads;
    }
    held(method) {
      if (!this.holders.has(method)) {
        const held = /* @__PURE__ */ new Map();
        for (const row of this.attributes) {
          for (const location2 of row.locations) {
            if (location2.method !== method) continue;
            if (!held.has(location2.value)) held.set(location2.value, []);
            held.get(location2.value)?.push(row);
          }
        }
        for (const row of this.attributes) {
          if (row.fate === "folded" && !held.has(`self.${row.path}`)) held.set(`self.${row.path}`, [row]);
        }
        this.holders.set(method, held);
      }
      return this.holders.get(method);
    }
    named(index) {
      const names = this.graphs.namesOf(index);
      return new Map([...names].map(([value, paths]) => [this.graphs.strings[value], paths]));
    }
    attributesOf(index, value) {
      const path = this.reads(index).get(value);
      const read2 = path === void 0 ? null : this.attribute(path);
      if (read2) return [read2];
      const named2 = (this.named(index).get(value) ?? []).flatMap((one) => this.attribute(one) ?? []);
      return named2.length ? named2 : this.held(this.steps[index].method).get(value) ?? [];
    }
    holder(index, value) {
      const maker = this.graph(index).makers.get(value);
      if (maker !== void 0) return maker;
      const key = this.graphs.keyOfId.get(`%${value}`);
      return this.graphs.snapshot(this.snapshot(index)).rowOf[key ?? -1] >= 0 ? `%${value}` : void 0;
    }
    nodesOf(index, path) {
      const row = this.attribute(path);
      if (row === null) return [];
      const reading = [...this.reads(index)].filter(([, read2]) => read2 === path).map(([value]) => value);
      const holding = row.locations.filter(({ method }) => method === this.steps[index].method).map(({ value }) => value).filter((value) => this.attributesOf(index, value).some((one) => one.path === path));
      const folded2 = row.fate === "folded" ? [`self.${path}`] : [];
      const named2 = [...this.named(index)].filter(([, paths]) => paths.includes(path)).map(([value]) => value);
      return [...new Set([...reading, ...holding, ...folded2, ...named2].flatMap((value) => this.holder(index, value) ?? []))];
    }
    kernelNodes({ program, kernel }, pair) {
      const chosen = kernel === null ? void 0 : this.view.programs[program]?.kernels[kernel];
      if (!chosen || pair.after.method !== this.view.programs[program].method) return [];
      const graphs = pair.steps().map(({ index }) => this.graph(index).nodes);
      const there = (ids) => ids.filter((id) => graphs.some((nodes2) => nodes2.has(id)));
      const computed = there(chosen.nodes);
      return computed.length ? computed : there(chosen.origins);
    }
    lineNodes(key, { before, after }) {
      for (const step of [after, before]) {
        if (!step) continue;
        const nodes2 = this.links.nodesOfLine(step.method, key, { step: step.index, nodes: this.graph(step.index).nodes });
        if (nodes2.length) return nodes2;
      }
      return [];
    }
    hasLine(key) {
      return this.links.rows.has(key);
    }
    readers(path) {
      return this.finals().flatMap(({ method, index }) => [...this.reads(index)].filter(([, read2]) => read2 === path).map(([value]) => ({ method, step: index, value, node: this.graph(index).makers.get(value) })));
    }
    homes(row) {
      return row.locations.length ? row.locations : this.readers(row.path);
    }
    finals() {
      return this.methods.map((method) => this.final(method));
    }
    final(method) {
      return this.chains(method)[0].filter((step) => step.stage !== "runtime").at(-1);
    }
    history(method, id) {
      return this.histories.of(method, id);
    }
    places(method, node) {
      return this.sources.places(method, node);
    }
    sourceAround(file, line3, reach) {
      return this.sources.around(file, line3, reach);
    }
  };
  var instances = 0;
  var Viewer = class {
    constructor(element3, data) {
      this.gone = false;
      this.details = void 0;
      this.passes = void 0;
      this.panels = void 0;
      this.tabs = void 0;
      this.summary = void 0;
      this.printed = void 0;
      this.toast = void 0;
      this.sheet = void 0;
      this.copySheet = void 0;
      this.pair = null;
      this.focused = /* @__PURE__ */ new Set();
      this.fading = void 0;
      const { graph, charts = null, options = {} } = data;
      this.graph = graph;
      this.options = { hash: false, keys: options.hash ? "page" : "viewer", loadBokeh: null, wheel: "zoom", tour: void 0, actions: [], theme: "auto", ...options, charts };
      this.model = this.modelOf(data);
      this.prefix = `fv${instances += 1}`;
      this.terms = void 0;
      this.listeners = /* @__PURE__ */ new Map();
      this.current = { ...DEFAULTS, step: this.firstStep() };
      this.root = element3;
      this.root.classList.add("fv");
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      this.stops = [];
      this.measure();
      if (this.options.theme !== "auto") this.root.dataset.theme = this.options.theme;
      assemble(this);
      listen(this);
      const start = this.options.hash ? fromFragment(location.hash) : options.state || {};
      this.current = this.valid({ ...this.current, ...this.opening(start) });
      this.render(null);
    }
    modelOf({ view, graph }) {
      return new TraceModel(view, graph);
    }
    on(event, callback) {
      const callbacks = this.listeners.get(event) ?? /* @__PURE__ */ new Set();
      this.listeners.set(event, callbacks.add(callback));
      return () => callbacks.delete(callback);
    }
    setStep(step) {
      this.navigate({ step });
    }
    select(node) {
      this.navigate({ node, attribute: null });
    }
    state() {
      return { ...this.current };
    }
    restore(state) {
      const previous = this.current;
      this.current = this.valid({ ...DEFAULTS, step: this.firstStep(), ...state });
      this.render(previous);
    }
    setTheme(theme) {
      if (theme === "auto") delete this.root.dataset.theme;
      else this.root.dataset.theme = theme;
      this.render(this.current);
    }
    switchTheme() {
      this.setTheme(this.theme() === "dark" ? "light" : "dark");
      this.emit("theme", this.theme());
    }
    theme() {
      return this.root.dataset.theme || (this.dark.matches ? "dark" : "light");
    }
    destroy() {
      this.gone = true;
      for (const stop of this.stops) stop();
      clearTimeout(this.fading);
      for (const panel of this.panels.values()) panel.destroy?.();
      this.listeners.clear();
      fill(this.root);
      this.root.classList.remove("fv");
      for (const name2 of ["theme", "scheme", "size", "tab"]) delete this.root.dataset[name2];
    }
    navigate(patch, { jump = false } = {}) {
      const previous = this.current;
      this.current = this.valid({ ...previous, ...patch });
      this.render(previous);
      if (this.options.hash) this.write(jump);
      this.announce(previous);
    }
    opening(start) {
      return Object.keys(start).length ? start : { tab: "summary" };
    }
    valid(state) {
      const { steps } = this.model;
      const step = state.step !== null && steps[state.step] ? state.step : this.firstStep();
      const tab = this.panels?.has(state.tab) ? state.tab : "graph";
      const against2 = state.against !== null && steps[state.against] ? state.against : null;
      return { ...state, step, against: against2, tab, ...validChoices(this.model, state), ...validKernel(this.model, state) };
    }
    firstStep() {
      return this.model.view.first_step;
    }
    write(jump) {
      const url = `#${toFragment(this.current)}`;
      if (jump) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    }
    announce(previous) {
      const { step, node, tab } = this.current;
      if (step !== previous.step) this.emit("step", step);
      if (node !== previous.node) this.emit("select", node);
      if (tab !== previous.tab) this.emit("tab", tab);
      if (JSON.stringify(this.current) !== JSON.stringify(previous)) this.emit("state", this.state());
    }
    emit(event, value) {
      for (const callback of this.listeners.get(event) || []) callback(value);
    }
    move(direction, changedOnly = false) {
      const shown = this.passes.visible();
      const at = shown.findIndex((step) => step.index === this.current.step);
      const rest = direction > 0 ? shown.slice(at + 1) : shown.slice(0, Math.max(at, 0)).reverse();
      const next = rest.find((step) => !changedOnly || step.changed && step.before !== null);
      if (next) this.setStep(next.index);
    }
    parts() {
      return traceParts();
    }
    render(previous) {
      const state = this.current;
      this.pair = this.pairOf(state);
      this.focused = new Set(focusOf(this.model, state, this.pair));
      this.root.dataset.scheme = this.theme();
      this.root.dataset.tab = state.tab;
      this.passes.render(state, previous);
      this.summary.render(state, previous);
      this.details.render(state);
      this.tabs.render(state, previous);
    }
    pairOf({ step, against: against2 }) {
      const base = this.model.baseOf(step, against2);
      const known = this.pair && this.pair.after.index === step && (this.pair.before?.index ?? null) === base;
      return known ? this.pair : this.model.pair(step, against2);
    }
    measure() {
      const size = sizeOf2(this.root.clientWidth);
      if (!size || this.root.dataset.size === size) return false;
      this.root.dataset.size = size;
      return true;
    }
    page() {
      return location.pathname + location.search;
    }
    follow() {
      const previous = this.current;
      this.restore(this.opening(fromFragment(location.hash)));
      this.announce(previous);
    }
    link(text, patch, label2) {
      const href = `#${toFragment({ ...this.current, ...patch })}`;
      const follow = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        this.navigate(patch, { jump: true });
      };
      return h("a.fv-link", { href, onclick: follow, "aria-label": label2 }, text);
    }
    async copy(text) {
      if (await toClipboard(text)) this.say("Copied");
      else this.copySheet.show(text);
    }
    say(text) {
      clearTimeout(this.fading);
      this.toast.textContent = text;
      this.toast.classList.add("fv-shown");
      this.fading = setTimeout(() => this.toast.classList.remove("fv-shown"), Math.max(1800, 60 * text.length));
    }
  };
  var ComparisonFindingsPanel = class {
    constructor(app) {
      this.app = app;
      this.id = "findings";
      this.label = "Findings";
      this.sections = app.model.comparison.findings;
      this.count = this.sections.filter(({ differs }) => differs).length;
      this.element = h("div.fv-panel-body.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Findings of both traces" });
    }
    render({ step, against: against2 }) {
      if (!this.element.childElementCount) {
        fill(this.element, h("div.fv-findings.fv-two-findings", null, this.summary(), this.sections.map((one) => this.part(one))));
      }
      for (const row of this.element.querySelectorAll("[data-steps]")) {
        const own = (row.dataset.steps ?? "").split(" ").map(Number);
        row.classList.toggle("fv-chosen", own.includes(step) || against2 !== null && own.includes(against2));
      }
    }
    summary() {
      if (!this.sections.length) return h("p.fv-empty", null, "Neither trace holds a pass, so there is nothing to find.");
      const names = this.sections.filter(({ differs }) => differs).map(({ title }) => title);
      return h("p.fv-finding-wide", null, names.length ? ["They differ in: ", h("strong", null, names.join(", ")), "."] : "Nothing that was found differs by more than noise.");
    }
    part({ title, note: note3, none, differs, rows }) {
      const spread = ratioSpread(rows.flatMap(({ a, b }) => [a?.ratio, b?.ratio].filter(Boolean)));
      const lines = rows.map((row) => this.row(row, none, spread));
      const sign = differs ? h("span.fv-badge.fv-modified", null, "≠ differs") : h("span.fv-badge", null, "= no difference");
      const element3 = section(title, note3 ? h("p.fv-muted.fv-small", null, note3) : null, grid("", ["", heading2(this.app, 0), heading2(this.app, 1)], lines));
      element3.classList.add("fv-finding", "fv-finding-wide");
      element3.querySelector("h3")?.append(" ", sign);
      return element3;
    }
    row({ name: name2, where, steps, differs, a, b }, none, spread) {
      const known = steps.filter((step) => step !== null);
      const what = known.length ? this.app.link(name2, { step: known[known.length - 1] }) : name2;
      const sign = differs ? h("span.fv-pair-new", { role: "img", "aria-label": "differs", title: "The two traces differ" }, "≠ ") : null;
      return h("tr", { class: differs ? "" : "fv-row-same", data: known.length ? { steps: known.join(" ") } : {} }, h("th.fv-wrap", { scope: "row" }, sign, what, where ? h("div.fv-muted.fv-small", null, where) : null), [a, b].map((cell) => h("td", null, cell ? content(cell, spread) : h("span.fv-muted", null, none))));
    }
  };
  function heading2(app, side) {
    return [sideSign(side), " ", h("span", null, app.model.comparison.names[side])];
  }
  function content({ text, note: note3, tone, details, ratio }, spread) {
    return [ratio ? ratioBar(ratio, spread) : null, h("div.fv-num", { class: `fv-${tone}` }, text), note3 ? h("div.fv-muted.fv-small.fv-wrap", null, note3) : null, details.length ? h("details.fv-small", null, h("summary", null, "more"), h("ul.fv-list", null, details.map((line3) => h("li.fv-wrap", null, line3)))) : null];
  }
  var WORDS2 = { same: "the same", different: "differ", "only in A": "only in A", "only in B": "only in B" };
  var RUNS = "Taken in different runs: how many times as long something takes is stated only where that is more than noise, and more than the pace of the runs explains.";
  var ComparisonKernelsPanel = class {
    static isFor(model) {
      return model.view.programs.length > 0;
    }
    constructor(app) {
      this.key = void 0;
      this.pair = void 0;
      this.app = app;
      this.id = "kernels";
      this.label = "Kernels";
      this.pairs = app.model.comparison.programs;
      this.text = h("input.fv-input", { type: "search", placeholder: "Filter kernels ( / )", "aria-label": "Filter kernels", oninput: () => this.build() });
      this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
      this.shown = h("span.fv-muted.fv-num", { role: "status" });
      const methods = new Set(this.pairs.map(({ method }) => method));
      this.buttons = this.pairs.map((pair) => h("button.fv-button", { type: "button", onclick: () => app.navigate({ program: pair.a ?? pair.b, kernel: null }) }, methods.size > 1 ? `${pair.name}: ${pair.method}` : pair.name));
      this.body = h("div.fv-beside.fv-two-kernels.fv-scroll", { tabindex: "0", role: "region", "aria-label": "Kernels of both traces" });
      const segments = this.buttons.length > 1 ? h("div.fv-segments", { role: "group", "aria-label": "Program" }, this.buttons) : null;
      const quiet = h("label.fv-check", null, this.quiet, "Only differences");
      this.element = h("div.fv-panel-body", null, h("div.fv-bar", { role: "toolbar", "aria-label": "Kernels" }, segments, this.text, quiet, this.shown), this.body);
    }
    focusSearch() {
      this.text.focus();
      this.text.select();
    }
    render({ program, kernel, quiet }) {
      const key = `${program} ${kernel} ${quiet}`;
      if (key === this.key) return;
      this.key = key;
      this.pair = this.pairs.find(({ a, b }) => a === program || b === program) ?? this.pairs[0];
      this.pairs.forEach((pair, index) => this.buttons[index].setAttribute("aria-pressed", String(pair === this.pair)));
      this.quiet.checked = quiet;
      this.build();
    }
    build() {
      const { pair } = this;
      const { groups } = pair;
      const text = this.text.value.toLowerCase();
      const rows = groups.filter((group) => (!this.quiet.checked || group.difference !== "same") && (!text || this.words(group).includes(text)));
      this.shown.textContent = rows.length === groups.length ? groupCounts(groups, WORDS2) : `${rows.length} of ${groups.length} rows`;
      const table = rows.length ? this.table(rows) : h("p.fv-empty", null, text ? "No kernel matches." : "Every kernel is the same in both.");
      fill(this.body, h("div", null, this.absences(), this.whole()), table);
      const chosen = this.body.querySelector("tr.fv-chosen");
      if (chosen) reveal(this.body, chosen);
    }
    words(group) {
      return this.kernels(group).map(({ name: name2, kind, computes, sources }) => [name2, kind, computes, ...sources.map((source) => this.app.model.place(source))].join(" ")).join(" ").toLowerCase();
    }
    kernels(group) {
      return SIDES.flatMap((side) => group[side].map((kernel) => this.app.model.view.programs[this.pair[side]].kernels[kernel]));
    }
    absences() {
      const { comparison } = this.app.model;
      return SIDES.map((side, index) => {
        if (this.pair[side] !== null) return null;
        const why = comparison.without_programs[index] ?? `It holds no program “${this.pair.name}” of ${this.pair.method}.`;
        return h("p", null, sideSign(index), ` ${why} So no kernel of ${index ? "A" : "B"} below has a counterpart.`);
      });
    }
    whole() {
      const { times: times2, ratio } = this.pair;
      const told = SIDES.map((side, index) => [index ? " " : "", sideSign(index), ` ${times2[index] ?? "not timed"}`]);
      const both = SIDES.every((side) => this.pair[side] !== null);
      if (!both) return times2.some(Boolean) ? h("p.fv-num", null, `All kernels together: ${times2.find(Boolean)}`) : null;
      return [h("p.fv-num", null, "All kernels together: ", told, ratio ? [", B takes ", verdict(ratio)] : null), times2.every(Boolean) ? h("p.fv-muted.fv-small", null, RUNS) : null];
    }
    table(groups) {
      const { app, pair } = this;
      const sides = SIDES.filter((side) => pair[side] !== null);
      const spread = ratioSpread(groups.map(({ ratio }) => ratio).filter(Boolean));
      const rows = groups.map((group) => kernelRow(app, group.difference === "same" && !group.ratio, sides.map((side) => ({ program: pair[side], kernels: group[side], time: group[`${side}_time`] })), [this.computes(group), sides.length > 1 ? difference(group, spread) : null]));
      const heads2 = sides.map((side) => h("span", null, sideSign(SIDES.indexOf(side)), ` ${app.model.comparison.names[SIDES.indexOf(side)]}`));
      return grid("", [...heads2, sides.length > 1 ? "B against A" : "Computes"], rows);
    }
    computes(group) {
      const [side] = SIDES.filter((one) => group[one].length);
      const found = [...new Set(this.kernels({ a: [], b: [], [side]: group[side] }).map(({ computes }) => computes).filter(Boolean))];
      return h("div.fv-muted.fv-small.fv-wrap", null, found.join("; "));
    }
  };
  function difference({ difference: words4, ratio }, spread) {
    const text = words4 === "same" ? "=" : words4 === "different" ? "≠ other kernels" : words4;
    return [ratio ? [ratioBar(ratio, spread), h("div.fv-num", null, verdict(ratio))] : null, h("div", null, text)];
  }
  function verdict({ text, value }) {
    return h(`span.fv-verdict-${value < 1 ? "faster" : "slower"}`, null, text.replace(" (", ` ${value > 2 ? "of" : "than"} A (`));
  }
  var ComparisonModel = class extends TraceModel {
    constructor(view, graph, comparison) {
      super(view, graph);
      this.side = 0;
      this.comparison = comparison;
      this.passRows = comparison.rows;
      this.sides = [this.links, new SourceLinks(comparison.source.b)];
      this.lineKeys = keysOf(comparison.source.files);
      this.fates = new Map(comparison.attributes.map((row) => [row.path, row]));
      this.rowOfStep = /* @__PURE__ */ new Map();
      this.passRows.forEach((row, place2) => {
        for (const step of [row.a, row.b]) if (step !== null) this.rowOfStep.set(step, place2);
      });
    }
    chosen({ step, against: against2 }) {
      const [one, other] = [this.step(step), this.step(against2)];
      if (one && other && one.method === other.method && one.side === 1 && other.side === 0) return { step, against: against2 };
      return this.shown(this.rowOfStep.get(step ?? -1) ?? -1);
    }
    get firstDifference() {
      return this.passRows.findIndex((row) => row.graph === null || !row.graph.empty);
    }
    shown(place2) {
      const row = this.passRows[place2];
      if (!row) return { step: null, against: null };
      const [a, b] = row.shown;
      return b === null ? { step: a, against: null } : { step: b, against: a };
    }
    place({ step, against: against2 }) {
      return this.passRows.findIndex(({ shown: [a, b] }, place2) => this.isShown(place2, step, against2) && (a ?? b) !== null);
    }
    isShown(place2, step, against2) {
      const shown = this.shown(place2);
      return shown.step === step && shown.against === against2;
    }
    baseOf(index, against2 = null) {
      const [one, other] = [this.step(index), this.step(against2)];
      return one && other && one.method === other.method && one.side !== other.side ? against2 : null;
    }
    attribute(path, at = null) {
      const row = this.fates.get(path);
      if (!row) return null;
      const side = at === null ? this.side : this.step(at).side;
      return (side ? row.b : row.a) ?? row.a ?? row.b;
    }
    as(side, look) {
      this.side = side;
      try {
        return look();
      } finally {
        this.side = 0;
      }
    }
    sideOf(index) {
      return this.step(index).side ?? 0;
    }
    attributesOf(index, value) {
      return this.as(this.sideOf(index), () => super.attributesOf(index, value));
    }
    nodesOf(index, path) {
      return this.as(this.sideOf(index), () => super.nodesOf(index, path));
    }
    held(method) {
      const side = this.side;
      const key = `${side} ${method}`;
      if (!this.holders.has(key)) {
        const held = /* @__PURE__ */ new Map();
        for (const row of this.comparison.attributes) {
          const fate2 = side ? row.b : row.a;
          for (const { value, method: holding } of fate2?.locations ?? []) {
            if (fate2 && holding === method) held.set(value, [...held.get(value) ?? [], fate2]);
          }
        }
        this.holders.set(key, held);
      }
      return this.holders.get(key);
    }
    chains(method) {
      const steps = this.steps.filter((step) => step.method === method);
      return [0, 1].map((side) => steps.filter((step) => step.side === side)).filter((chain) => chain.length);
    }
    hasLine(key) {
      return this.lineRows(key).some((row) => row !== null);
    }
    lineRows(key) {
      const keys = this.lineKeys.get(key) ?? [];
      return this.sides.map((links2, side) => links2.rows.get(keys[side] ?? "") ?? null);
    }
    lineNodes(key, { before, after }) {
      const keys = this.lineKeys.get(key) ?? [];
      for (const step of [after, before]) {
        const own = step && keys[step.side ?? 0];
        if (!step || !own) continue;
        const { nodes: nodes2 } = this.graph(step.index);
        const found = this.sides[step.side ?? 0].nodesOfLine(step.method, own, { step: step.index, nodes: nodes2 });
        if (found.length) return found;
      }
      return [];
    }
    final(method) {
      const chains = this.chains(method);
      return (chains.find(([step]) => step.side === this.side) ?? chains[0]).at(-1);
    }
    finals() {
      const side = this.side;
      return this.methods.flatMap((method) => this.chains(method).flatMap((chain) => chain.at(-1) ?? [])).filter((step) => step.side === side);
    }
  };
  function keysOf(files) {
    return new Map(files.flatMap(({ names, lines }) => lines.map((numbers) => {
      const keys = names.map((name2, side) => {
        const number2 = numbers[side];
        return typeof number2 === "number" ? lineKey(name2, number2) : null;
      });
      return [keys[0] ?? keys[1], keys];
    })));
  }
  var WORDS3 = { removed: "only in A", added: "only in B", changed: "different" };
  var ComparisonGraphPanel = class extends GraphPanel {
    constructor(app) {
      super(app);
      this.words = WORDS3;
      for (const [value, text] of [["split", "A | B"], ["before", "A"], ["after", "B"]]) {
        this.panes.querySelector(`option[value="${value}"]`).textContent = text;
      }
    }
    eachAttribute(at, add2) {
      const { model } = this.app;
      const told = (value, row) => {
        const { a, b } = model.fates.get(row.path);
        add2(value, a && b && a.fate !== b.fate ? { fate: "varies" } : row);
      };
      model.as(model.sideOf(at), () => super.eachAttribute(at, told));
    }
  };
  var ComparisonDetails = class extends Details {
    constructor(app) {
      super(app);
      this.words = WORDS3;
    }
    attribute(path) {
      const { model } = this.app;
      const row = model.fates.get(path);
      if (!row) return super.attribute(path);
      return SIDES.map((side, index) => [h("div.fv-side-head", null, sideSign(index), ` ${model.comparison.names[index]}`), row[side] ? model.as(index, () => super.attribute(path)) : h("p.fv-muted", null, "This trace has no such attribute.")]);
    }
  };
  var ComparisonRewritesPanel = class extends RewritesPanel {
    build(state) {
      const { model, pair } = this.app;
      const steps = state.scope === "all" ? model.steps : pair?.steps().reverse() ?? [];
      const blocks = steps.map((step) => this.block(step)).filter(Boolean);
      fill(this.body, blocks.length ? blocks : this.nothing(state));
    }
    render(state) {
      if (this.against !== state.against) this.shown = null;
      this.against = state.against;
      super.render(state);
    }
  };
  var SideAliasesPanel = class extends AliasesPanel {
    constructor(app, side) {
      super(app);
      this.side = side;
      this.element.prepend(h("div.fv-side-head", null, sideSign(side), ` ${app.model.comparison.names[side]}`));
    }
    stepOf() {
      const { pair } = this.app;
      return [pair?.before, pair?.after].find((step) => step?.side === this.side) ?? null;
    }
  };
  var ComparisonAliasesPanel = class {
    constructor(app) {
      this.id = "aliases";
      this.label = "Aliases & writes";
      this.sides = [0, 1].map((side) => new SideAliasesPanel(app, side));
      this.element = h("div.fv-panel-body.fv-split", null, this.sides.map((panel) => h("section", null, panel.element)));
    }
    focusSearch() {
      this.sides[0].focusSearch();
    }
    render(state) {
      for (const panel of this.sides) panel.render(state);
    }
    destroy() {
      for (const panel of this.sides) panel.destroy();
    }
  };
  var ComparisonChartsPanel = class extends ChartsPanel {
    choose(place2) {
      this.app.navigate(this.app.model.shown(Math.round(place2)));
    }
    places() {
      const { chosen, base } = super.places();
      const { model } = this.app;
      const place2 = (step) => model.rowOfStep.get(step) ?? -10;
      return { chosen: place2(chosen), base: place2(base) };
    }
  };
  var ComparisonEnvironmentPanel = class {
    constructor(app) {
      this.app = app;
      this.id = "environment";
      this.label = "Settings";
      const { settings, failures, near_misses: misses, names, made, calls, notices: notices2, facts: facts2 } = app.model.comparison;
      this.count = settings.length;
      const rows = settings.map(({ subject, name: name2, a, b }) => line2([subject, name2, a ?? "absent", b ?? "absent"]));
      const traces = SIDES.map((side, index) => h("tr", null, h("td", null, sideSign(index)), h("td", null, names[index]), h("td.fv-num", null, made[index] || "unknown"), h("td.fv-mono.fv-wrap", null, calls[index] || "unknown")));
      this.element = h("div.fv-panel-body.fv-scroll.fv-two-settings", { tabindex: "0", role: "region", "aria-label": "Settings" }, h("h2.fv-unseen", null, "Settings"), grid("Traces", ["", "Model", "Made", "By"], traces), rows.length ? grid("Differences of request, inputs and environment", ["", "Name", "A", "B"], rows) : section("Settings", h("p.fv-muted", null, "Options, inputs and environment are the same in both.")), noticeTable("Notices", notices2), noticeTable("About this environment", facts2), failures.some(Boolean) ? grid("How the recordings ended", ["A", "B"], [line2(failures.map((text) => text ?? "without an error"))]) : null, misses.some((side) => side.length) ? grid("Near misses of one trace only", ["", "Fold", "Node", "Why not", "Evidence"], misses.flatMap((side, index) => side.map((miss) => line2([sideSign(index), miss.kind, `%${miss.node}`, miss.reason, miss.detail])))) : null);
    }
    render() {
    }
  };
  function noticeTable(title, sides) {
    if (!sides.some((side) => side.length)) return null;
    const rows = sides.flatMap((side, index) => side.map(({ message, quoted }) => h("tr", null, h("td", null, sideSign(index)), h("td.fv-wrap", null, message, quoted && h("pre.fv-log", { tabindex: "0" }, quoted)))));
    return grid(title, ["", "Notice"], rows);
  }
  function line2(texts) {
    return h("tr", null, texts.map((text) => h("td.fv-wrap", null, text)));
  }
  var ComparisonPassList = class extends PassFrame {
    constructor(app) {
      super(app, { label: "Passes of both traces", quiet: "Only differences" });
    }
    click(event) {
      const option = event.target.closest("[data-row]");
      if (!option) return;
      const place2 = Number(option.dataset.row);
      const row = this.app.model.passRows[place2];
      const side = event.target.closest("[data-side]")?.dataset.side;
      const { step, against: against2 } = this.app.current;
      const alone = side === "a" && row.a !== null ? { step, against: row.a } : side === "b" && row.b !== null ? { step: row.b, against: against2 } : null;
      this.app.navigate(alone ?? this.app.model.shown(place2));
      this.draw(false);
    }
    visible(state = this.app.current) {
      const text = state.passes.toLowerCase();
      const { passRows } = this.app.model;
      return [...passRows.keys()].filter((place2) => {
        const row = passRows[place2];
        return (!state.quiet || row.differs) && (!text || `${row.name} ${row.stage} ${row.method}`.toLowerCase().includes(text));
      });
    }
    render(state, previous) {
      const rebuild = !previous || state.passes !== previous.passes || state.quiet !== previous.quiet;
      if (rebuild) this.build(state);
      const place2 = this.app.model.place(state);
      for (const [at, option] of this.options) option.setAttribute("aria-selected", String(at === place2));
      for (const cell of this.list.querySelectorAll("[data-step]")) {
        const step = Number(cell.dataset.step);
        cell.classList.toggle("fv-pair-chosen", place2 < 0 && (step === state.step || step === state.against));
      }
      const chosen = this.options.get(place2);
      if (chosen) this.bringIntoView(chosen);
      this.list.setAttribute("aria-activedescendant", chosen?.id ?? "");
    }
    build(state) {
      if (this.filter.value !== state.passes) this.filter.value = state.passes;
      this.quiet.checked = state.quiet;
      const places = this.visible(state);
      const { passRows } = this.app.model;
      this.count.textContent = `${places.length} of ${passRows.length}`;
      this.options.clear();
      fill(this.list, this.grouped(places, (place2) => passRows[place2]));
      this.list.setAttribute("role", places.length ? "listbox" : "group");
      if (!places.length) {
        fill(this.list, h("p.fv-empty", null, passRows.length ? state.passes ? "No pass matches." : "No pass differs." : "No passes."));
      }
    }
    option(place2) {
      const row = this.app.model.passRows[place2];
      const option = h("div.fv-pass.fv-pair", { role: "option", id: `${this.app.prefix}-row-${place2}`, class: row.differs ? "" : "fv-pass-quiet", "aria-selected": "false", data: { row: place2 }, title: words3(row) }, this.number("a", row.a), this.number("b", row.b), h("span.fv-pass-name", null, row.name), row.round === null ? null : h("span.fv-round", { title: `Round ${row.round} of a loop` }, `r${row.round}`), h("span.fv-spring"), difference2(row));
      this.options.set(place2, option);
      return option;
    }
    number(side, index) {
      const name2 = side.toUpperCase();
      if (index === null) return h("span.fv-pair-number.fv-pair-none", { title: `${name2} has no such pass` }, "–");
      const own = stepLabel(this.app.model.step(index)).slice(2);
      return h("span.fv-pair-number.fv-num", { class: `fv-side-${side}`, data: { side, step: index }, title: `Show ${name2} ${own} against what is shown of the other trace` }, own);
    }
  };
  function difference2(row) {
    if (row.graph === null) {
      return h("span.fv-badge", { class: `fv-side-${row.a === null ? "b" : "a"}` }, `only ${row.a === null ? "B" : "A"}`);
    }
    if (!row.differs) return h("span.fv-muted", { title: "The same in both" }, "=");
    if (row.graph.empty) return h("span.fv-badge.fv-bad", { title: words3(row) }, "≠ numbers");
    const part3 = (sign, count2, kind) => count2 ? h(`span.fv-${kind}`, null, `${sign}${count2}`) : null;
    const parts = [part3("−", row.graph.removed, "removed"), part3("+", row.graph.added, "added"), part3("~", row.graph.changed, "modified")];
    const shown = parts.some(Boolean) ? parts : h("span.fv-muted", null, "moved");
    return [row.carried ? h("span.fv-muted", { title: "The same difference as after the pass before" }, "″") : h("span.fv-pair-new", { title: "This pass made a difference of its own" }, "≠"), h("span.fv-counts.fv-num", null, shown)];
  }
  function words3(row) {
    const { graph } = row;
    const what = graph === null ? `only in ${row.a === null ? "B" : "A"}` : graph.empty ? "the same graph in both" : `only in A: ${graph.removed} nodes, only in B: ${graph.added}, different: ${graph.changed}, elsewhere: ${graph.moved}${row.carried ? " (as after the pass before)" : ""}`;
    const errors4 = row.errors.filter((error2) => error2.differs).map((error2) => `error against ${error2.reference}: A ${error2.a}, B ${error2.b}`);
    return [`${row.name} (${row.stage}, ${row.method})`, what, ...errors4].join(" · ");
  }
  var ComparisonSummary = class {
    constructor(app) {
      this.shown = void 0;
      this.app = app;
      this.element = h("section.fv-summary", { "aria-label": "Chosen pass", "aria-live": "polite" });
    }
    render() {
      const { pair } = this.app;
      if (this.shown === pair) return;
      this.shown = pair;
      if (!pair) {
        fill(this.element, h("h2", null, "Neither trace holds a pass."));
        return;
      }
      const row = this.app.model.passRows[this.app.model.place(this.app.current)];
      fill(this.element, h("div.fv-summary-name", null, this.app.passes.drawerButton(), this.names(pair), stripToggle(this.element)), row && row.graph === null ? h("span.fv-compare-hint", null, absent(row)) : null, h("dl.fv-summary-facts", { tabindex: "0" }, facts(pair).filter(Boolean).map(([label2, ...value]) => h("div", null, h("dt", null, label2), h("dd.fv-num", null, value)))), this.sentences(pair));
    }
    sentences({ before, after }) {
      const steps = [before, after].filter(Boolean);
      const model = this.app.model;
      const texts = new Map(steps.flatMap((step) => model.passTexts(step)));
      const reasons = steps.filter((step) => step.why_not).map((step) => ({ side: step.side, why: step.why_not, text: `It changed nothing in ${"AB"[step.side]}. ${step.why_not} ` }));
      const [one, other] = reasons;
      const told = other && one.why === other.why ? [`It changed nothing in A and B. ${one.why}`] : reasons.map(({ text }) => text);
      if (!texts.size) return null;
      return h("p.fv-summary-does", { tabindex: "0" }, [...texts].map(([pass2, does]) => h("span", null, texts.size > 1 ? `${pass2}: ${does} ` : `${does} `)), told.length ? h("span.fv-why-not", null, told) : null);
    }
    names({ before, after }) {
      const one = (step) => [h("span.fv-side", { class: `fv-side-${step.side ? "b" : "a"}` }, stepLabel(step)), " ", step.name];
      const where = `${after.stage}${after.round === null ? "" : `, round ${after.round}`} · ${after.method}`;
      const same2 = before && before.name === after.name;
      const title = !before ? one(after) : same2 ? [h("span.fv-side.fv-side-a", null, stepLabel(before)), " ", one(after)] : [one(before), " ↔ ", one(after)];
      return [h("h2", null, title), h("span.fv-muted", null, where)];
    }
  };
  function absent(row) {
    const [name2, other] = row.a === null ? ["B", "A"] : ["A", "B"];
    return row.shown.includes(null) ? `only ${name2} has this method` : `only ${name2} runs this pass; ${other} is shown as it is at that moment`;
  }
  function facts({ before, after, model }) {
    if (!before) {
      return [["nodes", after.nodes], ["constants", after.constants]];
    }
    const pair = new Pair(model, before.index, after.index);
    return [["nodes", `${before.nodes} | ${after.nodes}`, nodeWords2(pair)], operators3(pair), ["constants", `${before.constants} | ${after.constants}`], ...devices(before, after).map((device) => latency2(before, after, device)), ...after.numerics.map((entry) => error(before, entry))];
  }
  function nodeWords2(pair) {
    const { added, removed, changed } = pair.counts();
    if (!added && !removed && !changed) {
      return h("span.fv-muted", null, pair.same ? " the same graph" : " in another order");
    }
    const part3 = (sign, count2, kind, title) => count2 ? h(`span.fv-${kind}`, { title }, ` ${sign}${count2}`) : null;
    return [part3("−", removed, "removed", "only in A"), part3("+", added, "added", "only in B"), part3("~", changed, "modified", "in both, and different")];
  }
  function operators3(pair) {
    const all = pair.operators().map(([op, delta]) => `${delta < 0 ? "−" : "+"}${Math.abs(delta)} ${op}`);
    return all.length ? ["operators in B", h("span.fv-clip", { title: all.join("\n") }, all.slice(0, 3).join(", "), all.length > 3 ? ", …" : "")] : null;
  }
  function devices(before, after) {
    return [...new Set([...before.latency, ...after.latency].map(({ device }) => device))];
  }
  function latency2(before, after, device) {
    const text = (step) => {
      const entry = step.latency.find((one) => one.device === device);
      return entry ? [entry.text, h("span.fv-muted", null, ` (${entry.interval})`)] : "not measured";
    };
    return [`latency, ${device}`, text(before), " | ", text(after), h("span.fv-muted", { title: "The machine may have been faster or busier in one of them: a difference of these two is no verdict" }, " taken in different runs")];
  }
  function error(before, entry) {
    const old = before.numerics.find(({ reference }) => reference === entry.reference);
    if (!old || old.error !== null || entry.error !== null) return null;
    const past2 = (one) => one.close ? null : h("span.fv-bad", null, " ≠ past tolerance");
    return [`largest error against ${entry.reference}`, old.max_abs, past2(old), " | ", entry.max_abs, past2(entry)];
  }
  var FOREMOST2 = 12;
  var CONTEXT2 = 2;
  var ComparisonSourcePanel = class {
    static isFor(model) {
      return model.comparison.source.files.length > 0;
    }
    constructor(app) {
      this.app = app;
      this.id = "source";
      this.label = "Source";
      this.pairs = app.model.comparison.source.files;
      this.differing = this.pairs.flatMap((file) => file.lines.filter(([, , , differences2]) => differences2.length).map((pair) => [keyOf(file, pair), pair]));
      this.count = ownFirst(this.pairs, this.differing).length;
      this.hovered = null;
      this.kept = "";
      this.listing = new PairedListing(app, { hover: (key) => this.hover(key), pin: (key) => app.navigate({ line: key === app.current.line ? "" : key, node: null, attribute: null }) });
      this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
      this.facts = h("div.fv-line-facts", { "aria-live": "polite" });
      this.element = h("div.fv-panel-body.fv-duo", null, h("section.fv-duo-source", { "aria-label": "Source of both traces" }, h("div.fv-bar.fv-lines-legend", null, h("label.fv-check", null, this.quiet, "Only differences"), legend()), this.listing.element), h("section.fv-duo-facts", { "aria-label": "Line in both traces" }, this.facts));
    }
    hover(key) {
      if (key === this.hovered) return;
      this.hovered = key;
      this.paint();
    }
    render(state) {
      this.quiet.checked = state.quiet;
      this.listing.show(state.quiet);
      if (state.line !== this.kept && state.line) this.listing.reveal([state.line]);
      this.kept = state.line;
      this.paint();
    }
    paint() {
      const kept = this.app.current.line || null;
      const key = this.hovered ?? kept;
      this.listing.paint(new Set(key ? [key] : []), kept);
      fill(this.facts, key === null ? this.opening() : this.line(key));
    }
    opening() {
      const shown = ownFirst(this.pairs, this.differing);
      const items = shown.slice(0, FOREMOST2).map(([key, [, , , differences2]]) => h("li", null, h("button.fv-linklike", { type: "button", onclick: () => this.app.navigate({ line: key }) }, place(key)), h("span.fv-muted", null, ` ${differences2.join(", ")}`)));
      const more = shown.length - items.length;
      return [h("p", null, "Hover a line to see what became of it in both; a click keeps it. Arrow keys go through lines."), items.length ? section("Lines that differ", h("ol.fv-list", null, items, more ? h("li.fv-muted", null, `and ${more} more`) : null)) : h("p.fv-muted", null, "Every line of your files has the same outcome in both."), h("p.fv-muted.fv-small", null, "Times are of two runs: they are shown, and make no difference.")];
    }
    line(key) {
      const { model } = this.app;
      const rows = model.lineRows(key);
      const [, , text, differences2] = this.listing.pairs.get(key) ?? [null, null, null, []];
      const sides = SIDES.map((_, side) => {
        const row = rows[side];
        const { notes } = side ? model.comparison.source.b : model.view.by_line;
        return h("section.fv-duo-side", null, h("div.fv-side-head", null, sideSign(side), ` ${model.comparison.names[side]}`), row ? model.as(side, () => lineSections(this.app, row, { notes, at: { tab: "graph" } })) : h("p.fv-muted", null, "No node of this trace comes from it."));
      });
      return [h("h3.fv-line-title", { title: placeOfKey(key)?.file }, place(key)), text ? h("p.fv-mono.fv-wrap", null, text.trim()) : null, h("p", null, differences2.length ? ["Differs: ", h("strong", null, differences2.join(", ")), "."] : "The same in both."), h("div.fv-duo-sides", null, sides)];
    }
  };
  var PairedListing = class extends SourceListing {
    constructor(app, acts) {
      const files = app.model.comparison.source.files.map((pair) => paired(app.model, pair));
      super(app, { files }, acts);
      this.isQuiet = null;
      this.pairs = /* @__PURE__ */ new Map();
      for (const { pair } of files) for (const line3 of pair.lines) this.pairs.set(keyOf(pair, line3), line3);
    }
    show(isQuiet) {
      if (isQuiet === this.isQuiet) return;
      this.isQuiet = isQuiet;
      this.rows.clear();
      this.openers.clear();
      fill(this.element, this.files());
    }
    name({ file, pair }) {
      const differ = pair.lines.filter(([, , , differences2]) => differences2.length).length;
      const folder = file.split(/[\\/]/).slice(-3, -1).join("/");
      const edited = pair.edited ? ", edited between A and B" : "";
      return [h("strong", null, file.split(/[\\/]/).at(-1)), h("span.fv-muted", null, `${folder ? ` in ${folder}` : ""}, ${differ ? count(differ, "line") : "no line"} of it ${differ > 1 ? "differ" : "differs"}${edited}`)];
    }
    lines({ file, pair }) {
      const shown = this.isQuiet ? around(pair.lines) : pair.lines;
      if (!shown.length) return h("p.fv-lines-missing.fv-muted", null, "No line differs.");
      const list = this.list(file);
      const largest = Math.max(...pair.lines.map(([a, b]) => Math.max(a ?? 0, b ?? 0)));
      list.style.setProperty("--digits", `${Math.max(3, String(largest).length)}ch`);
      shown.forEach((line3, at) => {
        if (at && !follows(shown[at - 1], line3)) list.append(h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯"));
        list.append(this.pairLine(pair, line3));
      });
      return list;
    }
    pairLine(pair, line3) {
      const [a, b, text, differences2] = line3;
      const key = keyOf(pair, line3);
      const rows = this.app.model.lineRows(key);
      const isKnown = rows.some(Boolean);
      const told = isKnown ? [differences2.length ? `Differs: ${differences2.join(", ")}` : "The same in both", ...rows.map((row, side) => `${"AB"[side]}: ${row ? words(row).join("; ") : "no node comes from it"}`)] : [];
      const number2 = a === null ? `B ${b}` : b === null ? `A ${a}` : a === b ? a : `A ${a}, B ${b}`;
      const spoken = [`Line ${number2}: ${(text ?? "").trim()}`, ...told].join(". ");
      const element3 = h("div.fv-line", { role: "option", id: `${this.app.prefix}-line-${this.made}`, "aria-selected": "false", "aria-disabled": isKnown ? null : "true", "aria-label": spoken, title: told.length ? told.join("\n") : null, class: `${isKnown ? "fv-line-known" : ""} ${a === null ? "fv-line-only-b" : b === null ? "fv-line-only-a" : ""}` }, h("span.fv-line-number", null, a), pair.edited ? h("span.fv-line-number", null, b) : null, rows.map((row, side) => marks(row, side)), h("span.fv-line-differs.fv-pair-new", null, differences2.length ? "≠" : ""), h("span.fv-line-code", { style: { "--indent": `${indentOf(text ?? "")}ch` } }, text === null ? h("span.fv-muted", null, "(neither trace has the text of this line)") : codeOf(text)));
      this.made += 1;
      if (isKnown) {
        element3.dataset.line = key;
        this.rows.set(key, element3);
      }
      return element3;
    }
  };
  function paired(model, pair) {
    const lines = pair.lines.flatMap((line3) => model.lineRows(keyOf(pair, line3)).filter((row) => row !== null).slice(0, 1));
    return { file: pair.names[0], kind: pair.kind, missing: pair.missing, lines, pair };
  }
  function keyOf({ names }, [a, b]) {
    return a === null ? lineKey(names[1], b) : lineKey(names[0], a);
  }
  function ownFirst(files, lines) {
    const own = new Set(files.filter(({ kind }) => kind === "own").flatMap(({ names }) => names));
    const found = lines.filter(([key]) => own.has(placeOfKey(key).file));
    return own.size ? found : lines;
  }
  function place(key) {
    return placeText(placeOfKey(key));
  }
  function around(lines) {
    const near = new Set(lines.flatMap(([, , , differences2], at) => differences2.length ? Array.from({ length: 2 * CONTEXT2 + 1 }, (_, offset) => at + offset - CONTEXT2) : []));
    return lines.filter((_, at) => near.has(at));
  }
  function follows([a, b], [nextA, nextB]) {
    const isNext = (one, next) => one === null || next === null || next === one + 1;
    return isNext(a, nextA) && isNext(b, nextB);
  }
  function marks(row, side) {
    const time = row && shareOf(row);
    return h("span.fv-line-side", { class: `fv-line-side-${SIDES[side]}` }, h("span.fv-line-share.fv-num", null, time ? percentText(time.share) : ""), passMark(row ?? void 0), errorMark(row ?? void 0));
  }
  function legend() {
    return [...SIDES.map((_, side) => h("span.fv-muted.fv-small", { title: "Share of the time, and how many passes touched the line" }, sideSign(side), " % of its time, ", h("span.fv-line-passes.fv-num", null, "3"), " passes")), h("span.fv-muted.fv-small", { title: "The outcome of the line is another one in B: passes, what is left, kernels or the error it brought" }, h("span.fv-pair-new", null, "≠"), " differs")];
  }
  var TABS = { ending: ["environment"], weights: ["attributes"], bytes: ["charts", "attributes"], time: ["findings", "charts"], error: ["findings", "charts"], checks: ["findings"], passes: ["graph"], settings: ["environment"] };
  var TITLES = { ending: "How it ended", weights: "Weights and buffers", bytes: "Bytes", time: "Time", error: "Outputs", checks: "Checks", passes: "Passes", settings: "Settings" };
  var ComparisonSummaryPanel = class extends SummaryPanel {
    content() {
      const { comparison } = this.app.model;
      const { about, changes, sentences } = comparison.summary;
      const { folds } = comparison;
      return h("div.fv-answer", null, sentences.map((sentence2, side) => h("p.fv-answer-sentence.fv-answer-side", null, sideSign(side), " ", sentence2)), h("section.fv-answer-part", null, h("h2", null, "What changed from A to B"), this.changes(changes)), folds.length ? h("section.fv-answer-part", null, h("h2", null, "What torch.compile and AOTInductor fold"), h("ul.fv-list", null, folds.map((line3) => h("li", null, line3)))) : null, h("p.fv-answer-about.fv-muted", null, about));
    }
    changes(changes) {
      if (!changes.length) {
        return h("p.fv-answer-calm.fv-muted", null, "Nothing changed but times within their intervals.");
      }
      const subjects = [...new Set(changes.map(({ subject }) => subject))];
      return h("dl.fv-answer-changes", null, subjects.map((subject) => h("div", null, h("dt", null, this.title(subject)), changes.filter((one) => one.subject === subject).map(({ text }) => h("dd", null, text)))));
    }
    title(subject) {
      const tab = TABS[subject].find((id) => this.app.panels.has(id));
      return tab ? this.app.link(TITLES[subject], { tab }) : TITLES[subject];
    }
  };
  var KEYS2 = { "r f": "previous, next pass that makes a difference of its own", c: "from any two steps back to those of one pass", h: "leave only what differs, in the passes and the attributes", Esc: "leave a field, close details" };
  var PASS_SIGNS2 = [[() => [h("span.fv-side.fv-side-a", null, "A"), " ", h("span.fv-side.fv-side-b", null, "B")], "the first trace, the second one; a number of either shows that step alone against the other's"], [() => [h("span.fv-removed", null, "−9 "), h("span.fv-added", null, "+7 "), h("span.fv-modified", null, "~4")], "nodes only in A, only in B, in both and different"], [() => h("span.fv-pair-new", null, "≠"), "after this pass the two differ in another way than before"], [() => h("span.fv-muted", null, "″"), "they differ as after the pass before"], [() => h("span.fv-muted", null, "="), "they are the same"]];
  var ComparisonViewer = class extends Viewer {
    modelOf({ view, graph, comparison }) {
      return new ComparisonModel(view, graph, comparison);
    }
    parts() {
      const panels = [ComparisonSummaryPanel, ComparisonGraphPanel, ComparisonSourcePanel, ComparisonAttributesPanel, ComparisonRewritesPanel, ComparisonAliasesPanel, IrPanel, CodePanel, ComparisonKernelsPanel, ComparisonChartsPanel, ComparisonFindingsPanel, ComparisonEnvironmentPanel];
      return { Details: ComparisonDetails, PassList: ComparisonPassList, PassSummary: ComparisonSummary, panels, sheet: { keys: KEYS2, passSigns: PASS_SIGNS2 } };
    }
    heading() {
      const { comparison, passRows, view } = this.model;
      const different = passRows.filter((row) => row.differs);
      const fates2 = comparison.attributes.filter((row) => row.fields.some((field) => ["fate", "reason", "only in one"].includes(field)));
      const first = this.model.firstDifference;
      const title = comparison.names.map((name2, index) => h("span.fv-two-name", { title: name2 }, sideSign(index), " ", name2));
      return [h("div.fv-title", null, h("h1.fv-two-names", { title: view.name }, title), h("span.fv-muted", null, comparison.empty ? "the same in both, times left out" : "two traces side by side")), h("div.fv-facts", { tabindex: "0", role: "group", "aria-label": "In short" }, fact("passes that differ", `${different.length} of ${passRows.length}`, "by graph or by verdict"), first < 0 ? fact("first difference", "none", "all graphs are the same") : fact("first difference", this.link(passRows[first].name, this.model.shown(first)), passRows[first].method), fact("parameters and buffers", fates2.length ? this.link(`${countWords(fates2)} met another fate`, { tab: "attributes" }) : "the same fates", `of ${comparison.attributes.filter((row) => row.counted).length}`), fact("settings", comparison.settings.length ? this.link(`${comparison.settings.length} differ`, { tab: "environment" }) : "the same", comparison.settings.slice(0, 2).map(({ subject, name: name2 }) => /^\d+$/.test(name2) ? `${subject} ${name2}` : name2).join(", ")))];
    }
    navigate(patch, how) {
      const named2 = "step" in patch && !("against" in patch) ? { ...patch, against: null } : patch;
      super.navigate(named2, how);
    }
    valid(state) {
      const { model } = this;
      const pair = model.step(state.step) ? model.chosen(state) : model.shown(Math.max(model.firstDifference, 0));
      const tab = this.panels?.has(state.tab) ? state.tab : "graph";
      return { ...state, ...pair, tab, ...validChoices(model, state), ...validKernel(model, state) };
    }
    firstStep() {
      return null;
    }
    move(direction, differing = false) {
      const { model, passes: passes3 } = this;
      const shown = passes3.visible();
      const here = model.place(this.current);
      const rest = direction > 0 ? shown.filter((place2) => place2 > here) : shown.filter((place2) => place2 < here).reverse();
      const next = rest.find((place2) => !differing || model.passRows[place2].differs && !model.passRows[place2].carried);
      if (next !== void 0) this.navigate(model.shown(next));
    }
  };
  function fact(label2, value, note3) {
    return h("div.fv-fact", null, h("span.fv-fact-label", null, label2), h("span.fv-fact-value", null, value), h("span.fv-fact-note", null, note3));
  }
  var MODULES_SHOWN = 3;
  var PairsPanel = class {
    constructor(app) {
      this.app = app;
      this.id = "pairs";
      this.label = "Side by side";
      const { pairs: pairs2 } = app.model.comparison;
      this.count = pairs2.length;
      const heads2 = ["Purpose", ...app.model.backends.map((backend, index) => h("span", null, sideSign(index), ` ${backend}`)), "Why these two"];
      this.element = h("div.fv-panel-body.fv-scroll.fv-across", null, h("p.fv-muted", null, "Passes and operators differ, so the passes are paired by their purpose. A pass opens with what it did to its own graph."), grid("What each did for one purpose", heads2, pairs2.map((pair) => this.row(pair))));
    }
    render() {
    }
    row(pair) {
      const sides = SIDES.map((side) => h("td", null, this.side(pair[side])));
      return h("tr", { class: pair.effect ? "" : "fv-row-same" }, h("th", { scope: "row" }, pair.purpose), sides, h("td.fv-wrap.fv-muted", null, pair.why));
    }
    side(side) {
      if (!side.passes.length) return h("span.fv-muted", null, side.instead || "no pass for it");
      const passes3 = side.passes.map(({ name: name2, count: count2, step }) => h("div", null, this.app.link(name2, { step, against: null, tab: "graph", node: null, attribute: null }), count2 > 1 ? h("span.fv-muted.fv-num", null, ` ×${count2}`) : null));
      return [passes3, h("div.fv-num", null, effect(side)), only(side.only)];
    }
  };
  function effect({ changed, removed, added, rewrites }) {
    if (!changed) return h("span.fv-muted", null, "changed nothing");
    const nodes2 = [removed ? h("span.fv-removed", { title: "nodes taken out" }, `−${removed} `) : null, added ? h("span.fv-added", { title: "nodes put in" }, `+${added} `) : null];
    const kinds = rewrites.map(([kind, count2]) => `${count2} ${kind}`).join(", ");
    return [nodes2, kinds ? h("span", null, kinds) : removed || added ? "nodes" : h("span.fv-muted", null, "changed nodes in place")];
  }
  function only(modules) {
    if (!modules.length) return null;
    const more = modules.length > MODULES_SHOWN ? ` and ${modules.length - MODULES_SHOWN} more` : "";
    return h("div.fv-small", { title: modules.join("\n") }, "only here: ", h("span.fv-mono", null, modules.slice(0, MODULES_SHOWN).join(", ")), more);
  }
  var STEPLESS = ["pairs", "source", "attributes", "kernels", "findings", "environment"];
  var CrossBackendModel = class extends ComparisonModel {
    comparable(one, other) {
      return super.comparable(one, other) && this.step(one)?.side === this.step(other)?.side;
    }
    baseOf(index, against2 = null) {
      const step = this.step(index);
      if (step === null) return null;
      return this.comparable(against2, index) ? against2 : step.before;
    }
    get backends() {
      return this.comparison.backends.map((backend) => backendName(backend));
    }
  };
  var CrossBackendViewer = class extends ComparisonViewer {
    modelOf({ view, graph, comparison }) {
      return new CrossBackendModel(view, graph, comparison);
    }
    parts() {
      const panels = [ComparisonSummaryPanel, PairsPanel, CrossBackendGraphPanel, ComparisonSourcePanel, ComparisonAttributesPanel, RewritesPanel, AliasesPanel, IrPanel, CodePanel, ComparisonKernelsPanel, ComparisonFindingsPanel, ComparisonEnvironmentPanel];
      return { Details: CrossBackendDetails, PassList: CrossBackendPassList, PassSummary: CrossBackendSummary, panels, sheet: {} };
    }
    heading() {
      const { comparison } = this.model;
      const { pairs: pairs2, attributes, names } = comparison;
      const fates2 = attributes.filter((row) => row.fields.some((field) => ["fate", "only in one"].includes(field)));
      const both = pairs2.filter(({ a, b }) => a.changed && b.changed);
      const title = names.map((name2, index) => h("span.fv-two-name", { title: name2 }, sideSign(index), ` ${name2}`));
      return [h("div.fv-title", null, h("h1.fv-two-names", { title: names.join(" ↔ ") }, title), h("span.fv-muted", null, "two backends side by side")), h("div.fv-facts", { tabindex: "0", role: "group", "aria-label": "In short" }, fact2("done by both", this.link(`${both.length} of ${pairs2.length}`, { tab: "pairs" }), "purposes of passes"), fact2("parameters and buffers", fates2.length ? this.link(`${countWords(fates2)} met another fate`, { tab: "attributes", quiet: true }) : "the same fates", `of ${attributes.filter((row) => row.counted).length}`))];
    }
    valid(state) {
      const { model } = this;
      const known = model.step(state.step) !== null;
      const tab = !this.panels?.has(state.tab) || !known && state.tab === "graph" ? "pairs" : state.tab;
      const against2 = model.comparable(state.against, state.step) ? state.against : null;
      return { ...state, tab, step: known ? state.step : null, against: against2, ...validChoices(model, state), ...validKernel(model, state) };
    }
    navigate(patch, how) {
      const needs = patch.tab !== void 0 && !STEPLESS.includes(patch.tab);
      const first = this.model.steps.find((step2) => step2.changed && step2.before !== null);
      const step = needs && this.current.step === null && first ? { step: first.index } : {};
      Viewer.prototype.navigate.call(this, { ...step, ...patch }, how);
    }
    move(direction, changedOnly = false) {
      Viewer.prototype.move.call(this, direction, changedOnly);
    }
  };
  var CrossBackendPassList = class extends PassList {
    group(group) {
      const element3 = super.group(group);
      element3.querySelector(".fv-passes-stage > .fv-clip")?.prepend(sideSign(group.items[0].side), " ");
      return element3;
    }
    option(step) {
      const option = super.option(step);
      option.querySelector(".fv-pass-index").textContent = stepLabel(step).slice(2);
      return option;
    }
  };
  var CrossBackendSummary = class extends PassSummary {
    render(state) {
      if (this.app.pair) {
        super.render(state);
        return;
      }
      this.shown = null;
      fill(this.element, h("div.fv-summary-name", null, this.app.passes.drawerButton(), h("strong", null, "No pass is chosen")), h("span.fv-muted", null, "Choose one from either trace to see what it did."));
    }
  };
  var CrossBackendGraphPanel = class extends GraphPanel {
    eachAttribute(at, add2) {
      const { model } = this.app;
      model.as(model.sideOf(at), () => super.eachAttribute(at, add2));
    }
  };
  var CrossBackendDetails = class extends ComparisonDetails {
    constructor(app) {
      super(app);
      this.words = { added: "added", removed: "removed", changed: "changed" };
    }
  };
  function fact2(label2, value, note3) {
    return h("div.fv-fact", null, h("span.fv-fact-label", null, label2), h("span.fv-fact-value", null, value), h("span.fv-fact-note", null, note3));
  }
  function mount(element3, data) {
    const Kind = !data.comparison ? Viewer : data.comparison.pairs.length ? CrossBackendViewer : ComparisonViewer;
    return new Kind(element3, data);
  }
  globalThis.FreezerViewer = { mount, joinPage, DEFAULTS, TraceModel, Pair, lineText, increasing };
})();
