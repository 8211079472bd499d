/* The graph view: two linked panes, before and after a pass, drawn on one canvas. No dependency, no build step.
 *
 * Load the files that viewer.graph_data.SCRIPTS names, in that order, as plain scripts in a page, or joined as one ES module followed by `export default globalThis.FreezerGraph`. All of it works from file:// and
 * under the policy
 *   default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:
 * Where workers are refused, layout runs on the main thread. Text from a model reaches the page only as canvas text,
 * textContent or escaped SVG text.
 *
 *   const view = FreezerGraph.create(container, {theme, panes, worker, toolbar, wheel, words});
 *     theme "light" | "dark" | "auto" (the system's)      panes "split" | "after" | "before"
 *     worker "auto" | "never"                             toolbar true | false
 *     words {removed, added, changed}: what the legend says instead
 *     wheel "zoom" | "ctrl": whether the wheel always zooms, or only with Ctrl and else scrolls the page around the view
 *
 * Data
 *   view.setData(data)                  what viewer.graph_data.graph_data returned, parsed; throws on another format
 *   view.show({before, after})          compares the graphs after two steps of one method, by index; `before: null`
 *                                       shows one graph alone, without `before` it is the step just before. What is in
 *                                       both stays where it is. Resolves once painted.
 * Groups (modules, nested blocks; ids: "layer1.0", a second call of a module "layer1.0#2", control flow "node id/")
 *   view.expand(id), collapse(id), expandAll(), collapseAll(), expandTo(node id)     resolve once painted
 * Looking
 *   view.fit(), fitChanges()            whole graph; boxes that changed
 *   view.revealChanges()                opens what hides changes, then fitChanges()
 *   view.zoomBy(factor), view.nextChange(+1 | -1)
 *   view.select(id | null, {center})    a node or a group; with `center` it is brought to light and into the middle
 *   view.search(text)                   [{id, label, module}]: op, id, value names, module, attribute texts
 *   view.focusMatch(i)                  selects and centres a result of the last search; clearSearch() forgets it
 *   view.node(id)                       {id, status, before, after}: the node in both graphs, or null
 *   view.history(id)                    [{step, status}]: the steps that added, changed or removed it
 *   view.setMarks({id or value: {fill, label, sign}}), view.setLegend([{fill, label, sign}], title); `sign` is one letter
 *   view.setOptions({constants, panes}), view.setTheme(theme)
 *   view.state(), view.restore(state)   plain JSON: steps, expanded groups, selection, viewport, options
 *   view.toSVG() -> string, view.toPNG() -> Promise<Blob>, view.destroy()
 * Events: view.on(name, callback) returns a function that takes it off again
 *   "ready"   {boxes, edges}            after every new picture
 *   "select"  {id, kind, node, group}   kind "node" | "group" | null
 *   "hover"   {id, kind} or null
 *   "expand"  {expanded: [id, …]}
 * Keys, while focused: arrows follow edges, Enter opens and closes, n and p go to the next and previous change,
 * + - 0 zoom, Escape lets go. All others are the page's.
 */
(function (root) {
  "use strict";

  const { Camera, Controls, LayoutRunner, Model, Opener, Overview, Scene, draw, words } = root.FreezerGraph;
  const BEFORE = 1;
  const AFTER = 2;
  const CHANGES_BUDGET = 900; // boxes opened on our own account to show changes
  const ENOUGH_LEVELS = 8; // boxes that are a picture, where a pass made the graph anew
  const CALM_BUDGET = 140; // boxes opened on our own account where nothing changed
  const KEPT_SCENES = 12;

  const STYLE = `
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
.fg-legend:empty { display: none; }
.fg-legend p { display: flex; flex-wrap: wrap; gap: 2px 10px; margin: 0; padding: 1px 0; }
.fg-legend span { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; color: var(--fg-soft); }
.fg-legend i { width: 14px; height: 14px; border-radius: 4px; border: 1.5px solid; box-sizing: border-box; font: 700 11px/11px ui-sans-serif, system-ui, sans-serif;
  text-align: center; }
.fg-tip { z-index: 2; max-width: 420px; padding: 7px 10px; pointer-events: none; white-space: pre-wrap; overflow-wrap: anywhere; }
.fg-tip b { display: block; font-size: 13px; }
.fg-tip div { color: var(--fg-soft); font: 11px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.fg-tip[hidden] { display: none; }
.fg-live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;

  const ICONS = {
    out: "M4 8h8", in: "M4 8h8M8 4v8", fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
    changes: "M8 2.5v6M5 5.5h6M5 12.5h6", expand: "M8 7V2M5.5 4.5L8 2l2.5 2.5M8 9v5M5.5 11.5L8 14l2.5-2.5",
    collapse: "M8 2v5M5.5 4.5L8 7l2.5-2.5M8 14V9M5.5 11.5L8 9l2.5 2.5",
    constants: "M3 5.5h4v5H3zM9.5 8h4M7 8h2.5M11.5 6v4",
  };

  // -------------------------------------------------------------------------------------------------------- view

  class View {
    constructor(container, options) {
      this.options = { constants: false, panes: "split", theme: "auto", toolbar: true, worker: "auto", wheel: "zoom", words: {}, ...options };
      this.listeners = new Map();
      this.expanded = new Set();
      this.camera = new Camera(this);
      this.marks = {};
      this.legend = [];
      this.matches = [];
      this.selection = null;
      this.hovered = -1;
      this.scenes = new Map();
      this.runner = new LayoutRunner(this.options.worker);
      this.turn = 0;
      this._build(container);
      this._listen();
      this.overview = new Overview(this);
      this.controls = new Controls(this);
      this.setTheme(this.options.theme);
      this._resize();
    }

    // ---- page

    _build(container) {
      this.root = draw.element("div", "fg", container);
      draw.element("style", "", this.root).textContent = STYLE;
      this.canvas = draw.element("canvas", "", this.root);
      this.surface = this.canvas.getContext("2d");
      this.legendBox = draw.element("div", "fg-legend", this.root);
      this.bar = draw.element("div", "fg-bar", this.root);
      this.live = draw.element("div", "fg-live", this.root);
      this.root.tabIndex = 0;
      this.root.setAttribute("role", "application");
      this.root.setAttribute("aria-label", "Graph before and after the pass. Arrow keys follow edges, Enter opens and closes modules.");
      this.live.setAttribute("aria-live", "polite");
      this._buildBar();
    }

    _buildBar() {
      this.bar.hidden = !this.options.toolbar;
      this.bar.style.display = this.options.toolbar ? "" : "none";
      const button = (icon, title, act) => {
        const made = draw.element("button", "", this.bar);
        made.type = "button";
        made.title = title;
        made.setAttribute("aria-label", title);
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        svg.setAttribute("viewBox", "0 0 16 16");
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", ICONS[icon]);
        svg.append(path);
        made.append(svg);
        made.addEventListener("click", act);
        return made;
      };
      button("out", "Zoom out (-)", () => this.zoomBy(1 / 1.4));
      button("in", "Zoom in (+)", () => this.zoomBy(1.4));
      button("fit", "Whole graph (0)", () => this.fit());
      button("changes", "Show what changed", () => this.revealChanges());
      button("expand", "Open all modules", () => this.expandAll());
      button("collapse", "Close all modules", () => this.collapseAll());
      const title = "Show constants as boxes";
      this.constantsButton = button("constants", title, () => this.setOptions({ constants: !this.options.constants }));
    }

    _listen() {
      this.observer = new ResizeObserver(() => this._resize());
      this.observer.observe(this.root);
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      this.onScheme = () => this.setTheme(this.options.theme);
      this.dark.addEventListener("change", this.onScheme);
    }

    destroy() {
      this.gone = true;
      this.observer.disconnect();
      this.dark.removeEventListener("change", this.onScheme);
      this.runner.stop();
      this.turn++;
      cancelAnimationFrame(this.frame);
      this.camera.stop();
      this.root.remove();
      this.listeners.clear();
    }

    on(name, callback) {
      if (!this.listeners.has(name)) this.listeners.set(name, new Set());
      this.listeners.get(name).add(callback);
      return () => this.listeners.get(name)?.delete(callback);
    }

    _emit(name, detail) {
      for (const callback of this.listeners.get(name) || []) callback(detail);
    }

    setTheme(theme) {
      this.options.theme = theme;
      this.theme = theme === "auto" ? (this.dark.matches ? "dark" : "light") : theme;
      const colours = draw.THEMES[this.theme];
      const dark = this.theme === "dark";
      const variables = {
        page: colours.page, text: colours.text, soft: colours.soft, focus: colours.focus, line: colours.groupLine,
        panel: dark ? "#1a212c" : "#ffffff", hover: dark ? "#2a3444" : "#edf1f7",
      };
      for (const [name, value] of Object.entries(variables)) this.root.style.setProperty(`--fg-${name}`, value);
      this._drawLegend();
      this._redraw();
    }

    // ---- data

    setData(data) {
      this.model = new Model(data);
      this.steps = null;
      this.picture = null;
      this.camera.unseen = true;
      this.scenes.clear();
      this.expanded.clear();
      this.seenOutlines = new Set();
      this.matches = [];
      this.haystacks = new Map();
      this.selection = null;
      this._redraw();
    }

    async show({ before, after }) {
      const step = this.model.steps[after];
      if (!step) throw new Error(`graph view: there is no step ${after}, only 0 to ${this.model.steps.length - 1}`);
      const from = before === undefined ? this._stepBefore(step) : before;
      if (from !== null && (!this.model.steps[from] || this.model.steps[from].method !== step.method)) {
        throw new Error(`graph view: step ${from} is no step of ${step.method}, so it cannot be compared with step ${after}`);
      }
      if (this.steps && this.model.steps[this.steps.after].method !== step.method) this.camera.unseen = true;
      this.steps = { before: from, after };
      const shown = this.picture?.layout;
      this._openByDefault();
      await this._rebuild();
      const distant = from !== this._stepBefore(step);
      if (shown && (distant || this.picture.layout !== shown) && this.selected <= 0) this.camera.findChanges();
      this._draw();
    }

    _stepBefore(step) {
      const earlier = this.model.steps.slice(0, step.index).filter((one) => one.method === step.method);
      return earlier.length ? earlier.at(-1).index : null;
    }

    _snapshots() {
      const index = (step) => (step === null ? null : this.model.steps[step].after);
      return [index(this.steps.before), index(this.steps.after)];
    }

    _outline() {
      const [before, after] = this._snapshots();
      return this.model.outline(this.model.epochOf(before, after), this.options.constants);
    }

    /**
     * Opens groups the first time an outline is seen: those this pass changed, those its other passes change, small ones.
     *
     * Counting all passes that share the layout means that going from pass to pass moves nothing at all. Where a pass
     * made most of the graph anew, the modules alone are shown: they are what both sides have.
     */
    _openByDefault() {
      const outline = this._outline();
      if (this.seenOutlines.has(outline)) return;
      this.seenOutlines.add(outline);
      const [before, after] = this._snapshots();
      const opener = new Opener(outline, this.expanded);
      if (this.model.replaced(before, after)) return opener.openLevels(ENOUGH_LEVELS);
      opener.openFor(this.model.diff(before, after).keys(), CHANGES_BUDGET);
      const members = outline.snapshots;
      for (let at = 1; at < members.length; at++) opener.openFor(this.model.diff(members[at - 1], members[at]).keys(), CHANGES_BUDGET);
      opener.openSmall(CALM_BUDGET);
    }

    // ---- picture

    /** Makes the scene for the current steps, groups and options; `anchor` names the item to hold still on screen. */
    async _rebuild(anchor) {
      if (this.gone) return; // taken off the page while a layout was under way
      const turn = ++this.turn;
      const outline = this._outline();
      const name = [outline.snapshots, outline.constants, ...[...this.expanded].sort()].join("\n");
      let made = this.scenes.get(name);
      if (!made) {
        const scene = new Scene(outline, this.expanded, draw.measure);
        const output = this.runner.run(scene.input);
        made = { scene, layout: output instanceof Promise ? await output : output };
      }
      this.scenes.delete(name);
      this.scenes.set(name, made);
      if (this.scenes.size > KEPT_SCENES) this.scenes.delete(this.scenes.keys().next().value);
      if (turn !== this.turn) return; // a later call has taken over
      const [before, after] = this._snapshots();
      const next = new draw.Picture(made.scene, made.layout, before, after);
      next.steps = this.steps;
      if (this.picture && this.picture.layout !== next.layout) this.camera.holdStill(this.picture, next, this._held(anchor));
      this.picture = next;
      this.controls.forget();
      this.overview.forget();
      this._resolveMarks();
      this._resolveSelection();
      this._drawLegend();
      this.camera.lookFirst();
      this._redraw();
      this._emit("ready", { boxes: made.scene.items.length - 1, edges: made.scene.edges.length });
    }

    /** The item to hold still while the picture changes: the one named, or the selected one. */
    _held(anchor) {
      if (anchor !== undefined) return this.picture.scene.itemOfGroup.get(anchor);
      return this.selected > 0 ? this.selected : undefined;
    }

    _resolveMarks() {
      const { model } = this;
      this.keyMarks = new Map();
      this.groupMarks = new Map();
      const marks = Object.entries(this.marks);
      if (!marks.length || !this.picture) return;
      const values = new Map();
      for (const index of this._snapshots()) {
        if (index === null) continue;
        model.snapshot(index).producer.forEach((key, value) => key >= 0 && values.set(model.strings[value], key));
      }
      for (const [name, mark] of marks) {
        const key = model.keyOfId.get(name) ?? values.get(name);
        if (key === undefined) continue;
        this.keyMarks.set(key, mark);
        const item = this.picture.scene.ownerOfKey[key];
        if (item !== undefined && this.picture.scene.items[item].group) this.groupMarks.set(item, mark);
      }
    }

    /** The box that shows the selection: its own, the one it is a chip of, or the closed group that holds it. */
    _resolveSelection() {
      this.selected = this.selection === null || !this.picture ? -1 : this._itemOf(this.selection.id);
      this.matchItems = new Set(this.matches.map((match) => this._itemOf(match.id)).filter((item) => item > 0));
    }

    _itemOf(id) {
      const { scene } = this.picture;
      const key = this.model.keyOfId.get(id);
      if (key !== undefined) return scene.ownerOfKey[key] ?? -1;
      if (scene.itemOfGroup.has(id)) return scene.itemOfGroup.get(id);
      let group = scene.outline.groups.get(id);
      while (group && !scene.itemOfGroup.has(group.id)) group = group.parent;
      return group ? scene.itemOfGroup.get(group.id) : -1;
    }

    // ---- groups

    async _setExpanded(change, anchor) {
      change(this.expanded);
      await this._rebuild(anchor);
      this._draw();
      this._emit("expand", { expanded: [...this.expanded].sort() });
    }

    expand(id) {
      return this._setExpanded((open) => open.add(id), id);
    }

    collapse(id) {
      return this._setExpanded((open) => open.delete(id), id);
    }

    toggle(id) {
      return this.expanded.has(id) ? this.collapse(id) : this.expand(id);
    }

    expandAll() {
      return this._setExpanded((open) => this._outline().groups.forEach((group, id) => id && open.add(id)));
    }

    collapseAll() {
      return this._setExpanded((open) => open.clear());
    }

    expandTo(id) {
      const outline = this._outline();
      const key = this.model.keyOfId.get(id);
      let chain = key === undefined ? [] : outline.ancestors(key);
      if (key === undefined) for (let group = outline.groups.get(id); group; group = group.parent) chain.push(group);
      chain = chain.filter((group) => group.id !== "" && group.id !== id && !(group.node >= 0 && group.node === key));
      if (chain.every((group) => this.expanded.has(group.id))) return Promise.resolve();
      return this._setExpanded((open) => chain.forEach((group) => open.add(group.id)));
    }

    // ---- camera

    _panes() {
      // While a layout is under way, what is seen is still the picture before it.
      const steps = this.picture ? this.picture.steps : this.steps;
      if (!steps || steps.before === null) return [AFTER];
      return { split: [BEFORE, AFTER], before: [BEFORE], after: [AFTER] }[this.options.panes];
    }

    _paneWidth() {
      return this.width / this._panes().length;
    }

    _whole() {
      return { x: 0, y: 0, width: this.picture.layout.width[0], height: this.picture.layout.height[0] };
    }

    _box(item, margin = 0) {
      const { layout } = this.picture;
      return {
        x: layout.x[item] - margin, y: layout.y[item] - margin,
        width: layout.width[item] + 2 * margin, height: layout.height[item] + 2 * margin,
      };
    }

    /** Closed boxes in which something changed, top to bottom. */
    _changedItems() {
      const { scene, counts, layout } = this.picture;
      const touched = (item) => counts.added[item] || counts.removed[item] || counts.changed[item];
      return scene.items.map((_, item) => item).filter((item) => item && !scene.items[item].open && touched(item))
        .sort((a, b) => layout.y[a] - layout.y[b] || layout.x[a] - layout.x[b]);
    }

    fit() {
      if (this.picture) this.camera.frame(this._whole());
    }

    fitChanges() {
      if (this.picture) this.camera.frameChanges();
    }

    async revealChanges() {
      const [before, after] = this._snapshots();
      const opener = new Opener(this._outline(), this.expanded);
      opener.openFor(this.model.diff(before, after).keys(), Infinity);
      await this._setExpanded(() => {});
      this.fitChanges();
    }

    nextChange(direction) {
      const items = this.picture ? this._changedItems() : [];
      if (!items.length) return;
      const at = items.indexOf(this.selected);
      const next = at < 0 ? (direction > 0 ? 0 : items.length - 1) : (at + direction + items.length) % items.length;
      this._selectItem(items[next], true);
    }

    zoomBy(factor, at = { x: 0, y: 0 }) {
      this.camera.zoomBy(factor, at);
    }

    // ---- selection and search

    async select(id, { center = false } = {}) {
      if (id !== null && this.model.keyOfId.get(id) === undefined && !this._outline().groups.has(id)) {
        throw new Error(`graph view: there is no node or group ${JSON.stringify(id)}`);
      }
      this.selection = id === null ? null : { id };
      if (center && id !== null) await this.expandTo(id);
      this._resolveSelection();
      if (center && this.selected > 0) this.camera.centre(this.selected);
      this._announce();
      this._redraw();
    }

    _selectItem(item, center = false) {
      if (item <= 0) this.selection = null;
      else {
        const { group, key } = this.picture.scene.items[item];
        this.selection = { id: key >= 0 ? this.model.ids[key] : group.id };
      }
      this.selected = item;
      if (center && item > 0) this.camera.centre(item);
      this._announce();
      this._redraw();
    }

    _announce() {
      const detail = this._describe(this.selection && this.selection.id);
      this.live.textContent = detail.text;
      delete detail.text;
      this._emit("select", detail);
    }

    _describe(id) {
      if (id === null) return { id, kind: null, node: null, group: null, text: "nothing selected" };
      const node = this.node(id);
      if (node) {
        const shown = node.after || node.before;
        const type = shown.outputs.length ? `, ${words.shortType(shown.outputs[0].type)}` : "";
        const place = shown.module ? ` in ${shown.module}` : "";
        return { id, kind: "node", node, group: null, text: `${words.opName(shown.op)} ${id}${place}${type}${node.status ? `, ${node.status}` : ""}` };
      }
      const group = this._outline().groups.get(id);
      const open = this.expanded.has(id) ? "open" : "closed";
      const detail = group ? { id, label: group.label, ops: group.ops, expanded: this.expanded.has(id) } : null;
      return { id, kind: group ? "group" : "node", node: null, group: detail, text: group ? `module ${id}, ${group.ops} ops, ${open}` : id };
    }

    node(id) {
      const key = this.model.keyOfId.get(id);
      if (key === undefined || !this.steps) return null;
      const [before, after] = this._snapshots();
      const read = (index) => {
        const row = index === null ? -1 : this.model.snapshot(index).rowOf[key];
        return row < 0 ? null : this.model.node(row);
      };
      const [old, now] = [read(before), read(after)];
      if (!old && !now) return null;
      return { id, status: this.model.diff(before, after).get(key) || null, before: old, after: now };
    }

    history(id) {
      const key = this.model.keyOfId.get(id);
      if (key === undefined) return [];
      const found = [];
      const latest = new Map(); // method -> row
      for (const step of this.model.steps) {
        const row = this.model.snapshot(step.after).rowOf[key];
        const old = latest.get(step.method) ?? -1;
        latest.set(step.method, row);
        if (row === old) continue;
        const status = old < 0 ? "added" : row < 0 ? "removed" : this.model.sameNode(old, row) ? null : "changed";
        if (status) found.push({ step: step.index, status });
      }
      return found;
    }

    search(text) {
      const wanted = text.trim().toLowerCase();
      this.matches = [];
      if (wanted && this.steps) {
        const [before, after] = this._snapshots();
        const seen = new Set();
        for (const index of [after, before]) {
          if (index === null) continue;
          const snapshot = this.model.snapshot(index);
          for (const key of snapshot.order) {
            const row = snapshot.rowOf[key];
            if (seen.has(key) || this.model.isPseudo(key) || !this._haystack(row).includes(wanted)) continue;
            seen.add(key);
            const node = this.model.node(row);
            this.matches.push({ id: node.id, label: words.opName(node.op), module: node.module });
          }
        }
      }
      if (this.picture) this._resolveSelection();
      this._redraw();
      return this.matches.map((match) => ({ ...match }));
    }

    clearSearch() {
      this.search("");
    }

    _haystack(row) {
      let text = this.haystacks.get(row);
      if (text === undefined) {
        const node = this.model.node(row);
        const parts = [node.op, node.id, node.module, ...node.outputs.map((value) => value.name), ...node.attributes.map((pair) => pair.text)];
        this.haystacks.set(row, (text = parts.join("\n").toLowerCase()));
      }
      return text;
    }

    focusMatch(index) {
      const match = this.matches[index];
      return match ? this.select(match.id, { center: true }) : Promise.resolve();
    }

    setMarks(marks) {
      this.marks = marks || {};
      this._resolveMarks();
      this._redraw();
    }

    setLegend(entries, title = "") {
      this.legend = entries || [];
      this.legendTitle = title;
      this._drawLegend();
    }

    async setOptions(options) {
      const constants = this.options.constants;
      Object.assign(this.options, options);
      this.constantsButton.setAttribute("aria-pressed", String(this.options.constants));
      if (this.steps && constants !== this.options.constants) {
        this._openByDefault();
        await this._rebuild();
      }
      this._draw();
    }

    // ---- state

    state() {
      return {
        steps: this.steps, expanded: [...this.expanded].sort(), selection: this.selection && this.selection.id,
        viewport: this.camera.place(), options: { constants: this.options.constants, panes: this.options.panes },
      };
    }

    async restore(state) {
      this.camera.stop();
      Object.assign(this.options, state.options);
      this.constantsButton.setAttribute("aria-pressed", String(this.options.constants));
      this.steps = state.steps;
      this.expanded = new Set(state.expanded);
      const known = state.selection !== null && this.model.keyOfId.has(state.selection);
      this.selection = known || (state.selection !== null && this._outline().groups.has(state.selection)) ? { id: state.selection } : null;
      this.seenOutlines.add(this._outline());
      this.camera.unseen = false;
      await this._rebuild();
      this.camera.jump(state.viewport);
      this._draw();
      this._announce();
    }

    // ---- drawing

    _resize() {
      const { clientWidth: width, clientHeight: height } = this.root;
      const ratio = root.devicePixelRatio || 1;
      if (!width || !height || (width === this.width && height === this.height && ratio === this.ratio)) return;
      Object.assign(this, { width, height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.camera.lookFirst();
      this._draw();
    }

    _redraw() {
      if (!this.gone) this.frame ||= requestAnimationFrame(() => this._draw());
    }

    _draw() {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      if (!this.width || this.gone) return;
      this.surface.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      this._paint(this.surface, true);
    }

    _paint(surface, live) {
      const colours = draw.THEMES[this.theme];
      surface.beginPath();
      surface.rect(0, 0, this.width, this.height);
      surface.fillStyle = colours.page;
      surface.fill();
      if (!this.picture) return;
      const panes = this._panes();
      const width = this._paneWidth();
      this.headers = {};
      panes.forEach((side, at) => {
        const look = {
          side, alone: panes.length === 1, width, height: this.height, theme: this.theme, camera: this.camera, selected: this.selected, hovered: live ? this.hovered : -1,
          marks: this.keyMarks, groupMarks: this.groupMarks, matches: this.matchItems, headerTop: draw.PANE_HEAD,
        };
        surface.save();
        surface.translate(at * width, 0);
        surface.beginPath();
        surface.rect(0, 0, width, this.height);
        surface.clip();
        draw.paintPane(surface, this.picture, look);
        this.headers[side] = look.headers;
        this._paintTitle(surface, side, width, colours);
        surface.restore();
      });
      if (panes.length === 2) {
        surface.beginPath();
        surface.rect(width - 0.5, 0, 1, this.height);
        surface.fillStyle = colours.divider;
        surface.fill();
      }
      if (live) this.overview.paint(surface, colours);
    }

    _paintTitle(surface, side, width, colours) {
      const { steps } = this.picture;
      const step = this.model.steps[side === BEFORE ? steps.before : steps.after];
      const alone = steps.before === null;
      const word = step.label ? "" : alone ? "graph" : side === BEFORE ? "before" : "after";
      const label = `${step.label ?? step.index}  ${step.name}${step.method === "forward" ? "" : `  ·  ${step.method}`}`;
      const nodes = this.picture.scene.model.snapshot(this.picture.snapshotOf(side)).order.filter((key) => !this.model.isPseudo(key)).length;
      const { counts } = this.picture;
      const signs = alone ? [] : (side === BEFORE ? ["removed", "changed"] : ["added", "changed"]).filter((status) => counts[status][0]);
      surface.beginPath();
      surface.rect(0, 0, width, draw.PANE_HEAD - 8);
      surface.fillStyle = colours.label;
      surface.fill();
      const write = (text, x, font, colour) => {
        surface.font = font;
        surface.fillStyle = colour;
        surface.textAlign = "left";
        surface.textBaseline = "middle";
        surface.fillText(text, x, (draw.PANE_HEAD - 8) / 2);
        return x + draw.textWidth(font, text);
      };
      const { header, count } = draw.FONTS;
      let x = write(word, 14, count, colours.soft) + 8;
      const room = width - x - 90 - signs.length * 50;
      x = write(draw.shorten(header, label, room), x, header, colours.text) + 12;
      for (const status of signs) x = write(`${draw.SIGNS[status]}${counts[status][0]}`, x, header, colours[status].line) + 8;
      write(`${nodes} nodes`, x, count, colours.soft);
    }

    // ---- legend and export

    _drawLegend() {
      if (!this.legendBox) return;
      this.legendBox.replaceChildren();
      const colours = draw.THEMES[this.theme];
      const entry = (row, sign, label, fill, line) => {
        const box = draw.element("span", "", row);
        const swatch = draw.element("i", "", box);
        swatch.textContent = sign;
        Object.assign(swatch.style, { background: fill, borderColor: line, color: line });
        draw.element("span", "", box).textContent = label;
      };
      if (this.steps && this.steps.before !== null) {
        const row = draw.element("p", "", this.legendBox);
        for (const status of ["removed", "added", "changed"]) entry(row, draw.SIGNS[status], this.options.words?.[status] ?? status, colours[status].fill, colours[status].line);
      }
      if (!this.legend.length) return;
      const row = draw.element("p", "", this.legendBox);
      if (this.legendTitle) draw.element("span", "", row).textContent = this.legendTitle;
      for (const { fill, label, sign = "" } of this.legend) {
        entry(row, sign, label, fill, fill);
        row.lastChild.firstChild.style.color = colours.box;
      }
    }

    toSVG() {
      const surface = new draw.SvgSurface(this.width, this.height);
      this._paint(surface, false);
      return surface.toString();
    }

    toPNG() {
      const canvas = document.createElement("canvas");
      const ratio = Math.max(2, this.ratio);
      canvas.width = this.width * ratio;
      canvas.height = this.height * ratio;
      const surface = canvas.getContext("2d");
      surface.scale(ratio, ratio);
      this._paint(surface, false);
      return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("graph view: the picture is too large for a PNG"))), "image/png");
      });
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, {
    /** Makes a view inside `container`, which gives it its size. */
    create: (container, options = {}) => new View(container, options),
  });
})(globalThis);
