/* The IR diff and the code beside the source: long texts of which only what is visible is coloured. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, fill, VirtualList } = FreezerViewer;
  const CONTEXT = 3;
  const SIGNS = { same: " ", removed: "−", added: "+" };
  const TOKENS = /(#\s.*$)|("(?:[^"\\]|\\.)*")|(%[\w./]+)|(\b\w+::\w+)|(\b\d[\d.e+-]*\b)|(\b(?:graph|return|block\d+|def|if|else|for|while|in|not|None|True|False)\b)/g;
  const KINDS = ["comment", "string", "value", "op", "number", "keyword"];

  /** Coloured pieces of one line, as nodes. */
  function coloured(text) {
    const pieces = [];
    let at = 0;
    for (const match of text.matchAll(TOKENS)) {
      if (match.index > at) pieces.push(text.slice(at, match.index));
      pieces.push(h(`span.fv-t-${KINDS[match.slice(1).findIndex((group) => group !== undefined)]}`, null, match[0]));
      at = match.index + match[0].length;
    }
    pieces.push(text.slice(at));
    return pieces;
  }

  class IrPanel {
    constructor(app) {
      this.app = app;
      this.id = "ir";
      this.label = "IR diff";
      this.rows = [];
      this.opened = new Set();
      this.fold = h("input", { type: "checkbox", onchange: () => app.navigate({ fold: this.fold.checked }) });
      this.note = h("span.fv-muted");
      this.list = new VirtualList({ rowHeight: 20, row: (index) => this.row(index), props: { class: "fv-code", role: "region", "aria-label": "Graph as text" } });
      this.element = h(
        "div.fv-panel-body",
        null,
        h("div.fv-bar", null, h("label.fv-check", null, this.fold, "Fold unchanged lines"), this.jump("↑", -1, "Previous change"), this.jump("↓", 1, "Next change"), this.note),
        this.list.element,
      );
    }

    jump(text, direction, label) {
      return h("button.fv-button", { type: "button", "aria-label": label, title: label, onclick: () => this.next(direction) }, text);
    }

    next(direction) {
      const first = Math.round(this.list.element.scrollTop / 20);
      const starts = this.rows.flatMap((row, index) => (isChange(row) && !isChange(this.rows[index - 1]) ? [Math.max(0, index - 2)] : []));
      const target = direction > 0 ? starts.find((index) => index > first) : starts.findLast((index) => index < first);
      if (target !== undefined) this.list.element.scrollTop = target * 20;
    }

    render(state, previous) {
      const fresh = this.shown !== state.step || !previous || previous.fold !== state.fold;
      this.fold.checked = state.fold;
      if (this.shown !== state.step) this.opened.clear();
      if (fresh) this.build(state);
      this.node = state.node;
      this.list.refresh();
      if (!fresh && previous?.node === state.node) return;
      const place = state.node === null ? -1 : this.rows.findLastIndex((row) => row.line?.node?.id === state.node);
      if (place >= 0) this.list.reveal(place, { middle: true });
    }

    build(state) {
      const step = this.app.model.step(state.step);
      this.all = step ? this.app.model.diff(step.index) : [];
      this.width = Math.max(2, String(this.all.length).length);
      this.refold(state);
      const changes = this.all.filter(isChange).length;
      this.note.textContent = !step ? "" : step.before === null ? "The graph as it came." : changes ? `${changes} lines changed` : "This pass changed no line.";
      this.list.update(this.rows.length, this.shown === state.step ? null : this.startAt());
      this.shown = state.step;
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
      return this.rows.reduce((most, row) => (row.line ? Math.max(most, this.app.model.lineText(row.line).length) : most), 0);
    }

    row(index) {
      const row = this.rows[index];
      if (row.skipped) return this.skip(row);
      const text = this.app.model.lineText(row.line);
      const { node } = row.line;
      const number = (value) => h("span.fv-code-number", { style: { width: `${this.width}ch` } }, value ?? "");
      const content = row.pair === undefined ? coloured(text) : emphasised(text, this.app.model.lineText(row.pair));
      return h(
        "div.fv-code-line",
        {
          class: `fv-line-${row.kind} ${node && node.id === this.node ? "fv-chosen" : ""}`,
          onclick: node && (() => getSelection().isCollapsed && this.app.navigate({ node: node.id, attribute: null })),
        },
        number(row.old),
        number(row.new),
        h("span.fv-code-sign", null, SIGNS[row.kind]),
        h("span", null, content),
      );
    }

    skip(row) {
      const open = () => {
        this.opened.add(row.start);
        this.refold(this.app.current);
        this.list.update(this.rows.length);
      };
      return h("div.fv-code-line.fv-line-skip", null, h("button.fv-linklike", { type: "button", onclick: open }, `⋯ ${row.skipped} unchanged lines`));
    }
  }

  function isChange(row) {
    return row !== undefined && (row.kind === "added" || row.kind === "removed");
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

  /** The line with the words that differ from its counterpart marked. */
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

  class CodePanel {
    constructor(app) {
      this.app = app;
      this.id = "code";
      this.label = "Code";
      this.lines = [];
      this.code = new VirtualList({
        rowHeight: 20,
        row: (index) => plainLine(index + 1, coloured(this.lines[index])),
        props: { class: "fv-code", role: "region", "aria-label": "TorchScript code" },
      });
      this.none = h("p.fv-empty", null, "torch gave no code for this pass.");
      this.source = h("div.fv-code.fv-code-plain", { tabindex: "0", role: "region", "aria-label": "Source" });
      this.element = h(
        "div.fv-panel-body.fv-split",
        null,
        h("section", null, h("h3.fv-pane-title", null, "TorchScript code after this pass"), this.code.element, this.none),
        h("section", null, h("h3.fv-pane-title", null, "Source"), this.source),
      );
    }

    render(state) {
      const step = this.app.model.step(state.step);
      if (this.shown !== state.step) this.build(step);
      this.shown = state.step;
      this.mark(step, state.node);
    }

    build(step) {
      const text = step && step.code !== null ? this.app.model.view.codes[step.code] : null;
      this.lines = text === null ? [] : text.trimEnd().split("\n");
      this.code.element.hidden = text === null;
      this.none.hidden = text !== null;
      this.code.body.style.minWidth = `${this.lines.reduce((most, line) => Math.max(most, line.length), 0) + 8}ch`;
      this.code.update(this.lines.length);
      this.places = step ? this.nodesByPlace(step) : new Map();
      const { sources } = this.app.model.view;
      fill(this.source, sources.length ? this.sourceBlocks(sources) : h("p.fv-empty", null, "The trace holds no source text."));
    }

    nodesByPlace(step) {
      const places = new Map();
      for (const node of this.app.model.graph(step.index).nodes.values()) {
        if (!node.source) continue;
        const key = `${node.source.file}:${node.source.line}`;
        if (!places.has(key)) places.set(key, []);
        places.get(key).push(node);
      }
      return places;
    }

    /** Each file once, the user's own before what is installed. */
    sourceBlocks(sources) {
      const files = new Map();
      for (const source of sources) files.set(source.file, [...(files.get(source.file) || []), source]);
      const installed = (file) => Number(/[\\/](site|dist)-packages[\\/]/.test(file));
      const names = [...files.keys()].sort((one, other) => installed(one) - installed(other));
      return names.map((name) => [
        h("h4.fv-file", null, name),
        files.get(name).map((source, index) => [index ? h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯") : null, this.sourceLines(source)]),
      ]);
    }

    sourceLines(source) {
      return source.lines.map((text, offset) => {
        const number = source.first_line + offset;
        const nodes = this.places.get(`${source.file}:${number}`) || [];
        const row = plainLine(number, coloured(text));
        row.dataset.place = `${source.file}:${number}`;
        if (nodes.length) this.makeClickable(row, nodes);
        return row;
      });
    }

    makeClickable(row, nodes) {
      const choose = () => this.app.navigate({ node: nodes[0].id, attribute: null });
      row.classList.add("fv-code-used");
      row.append(h("button.fv-linklike.fv-used", { type: "button", title: nodes.map((node) => node.op).join(", "), onclick: choose }, nodes.length === 1 ? "1 node" : `${nodes.length} nodes`));
    }

    mark(step, id) {
      for (const row of this.source.querySelectorAll(".fv-chosen")) row.classList.remove("fv-chosen");
      const node = step && id !== null ? this.app.model.graph(step.index).nodes.get(id) : null;
      if (!node?.source) return;
      const place = `${node.source.file}:${node.source.line}`;
      const row = [...this.source.querySelectorAll("[data-place]")].find((line) => line.dataset.place === place);
      row?.classList.add("fv-chosen");
      row?.scrollIntoView({ block: "center" });
    }
  }

  function plainLine(number, content) {
    return h("div.fv-code-line", null, h("span.fv-code-number", null, number), h("span", null, content));
  }

  Object.assign(FreezerViewer, { IrPanel, CodePanel });
})();
