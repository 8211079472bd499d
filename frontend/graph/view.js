/* The graph view: two linked panes, before and after a pass, drawn on one canvas, without dependencies.
 *
 * `bundles/graph_view.js` has it alone, as the global `FreezerGraph`. It works from file:// and under the policy
 *   default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:
 * Where workers are refused, layout runs on the main thread. Text from a model reaches the page only as canvas text,
 * textContent or escaped SVG text.
 *
 *   const view = FreezerGraph.create(container, {theme, panes, worker, toolbar, wheel, words});
 *     theme "light" | "dark" | "auto" (the system's)      panes "split" | "after" | "before"
 *     worker "auto" | "never"                             toolbar true | false
 *     words {removed, added, changed}: what the legend says instead
 *     sourceLine (file, line) => text of that line of source, for the search
 *     wheel "zoom" | "ctrl": whether the wheel always zooms, or only with Ctrl and else scrolls the page around the view
 *
 * Data
 *   view.setData(data)                  what viewer.views.graph_data.graph_data returned, parsed; throws on another format
 *   view.show({before, after})          compares the graphs after two steps of one method, by index; `before: null`
 *                                       shows one graph alone, without `before` it is the step just before. What is in
 *                                       both stays where it is. Resolves once painted.
 * Groups (modules, nested blocks; ids: "layer1.0", a second call of a module "layer1.0#2", control flow "node id/")
 *   view.groups.expand(id), collapse(id), expandAll(), collapseAll(), expandTo(node id)     resolve once painted
 * Looking
 *   view.fit(), fitChanges()            whole graph; boxes that changed
 *   view.revealChanges()                opens what hides changes, then fitChanges()
 *   view.zoomBy(factor), view.nextChange(+1 | -1)
 *   view.select(id | null, {center})    a node or a group; with `center` it is brought to light and into the middle
 *   view.search(text, {pattern})        [{id, label, module}]: op, id, value names, module, attribute texts, paths, shapes,
 *                                       places; with `pattern`, or as /…/, a regular expression; a bad one is thrown
 *   view.firstMatch()                   index of the result to go to first: one that is in sight, if any
 *   view.focusMatch(i)                  selects and centres a result of the last search, and opens what hides it
 *   view.node(id)                       {id, status, before, after}: the node in both graphs, or null
 *   view.setMarks({id or value: {fill, label, sign}}), view.setLegend([{fill, label, sign}], title); `sign` is one letter
 *   view.setColouring(colouring | null) colours boxes by a value instead of by change: see colouring.js
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

import { Arrangements } from "./arrangements.js";
import { Camera } from "./camera.js";
import { Colours } from "./colouring.js";
import { nodeIn } from "./data/lookup.js";
import { Model } from "./data/model.js";
import { Picture } from "./drawing/picture.js";
import { THEMES } from "./drawing/theme.js";
import { element } from "./element.js";
import { Groups } from "./groups.js";
import { Keyboard } from "./keyboard.js";
import { Legend } from "./legend.js";
import { placeMarks } from "./marks.js";
import { Overview } from "./overview.js";
import { Panes } from "./panes.js";
import { Pointer } from "./pointer.js";
import { Search } from "./search.js";
import { Selection } from "./selection.js";
import { Stage } from "./stage.js";
import { STYLE } from "./style.js";
import { Toolbar } from "./toolbar.js";

const DEFAULTS = { constants: false, panes: "split", theme: "auto", toolbar: true, worker: "auto", wheel: "zoom" };
const LABEL = "Graph before and after the pass. Arrow keys follow edges, Enter opens and closes modules.";
// Names of the colours that the view's style sheet has.
const VARIABLES = {
  page: "page",
  text: "text",
  soft: "soft",
  focus: "focus",
  line: "groupLine",
  panel: "panel",
  hover: "hover",
};

export class View {
  /**
   * @param {HTMLElement} container
   * @param {any} options
   */
  constructor(container, options) {
    this.options = { ...DEFAULTS, ...options };
    this.gone = false;
    /** @type {"light" | "dark"} */
    this.theme = "light";
    /** @type {Map<string, Set<(detail: any) => void>>} */
    this.listeners = new Map();
    this.arrangements = new Arrangements(this.options.worker);
    this.turn = 0; // of making pictures: only the latest counts
    // Until there is data, and then a picture of it; what needs them is only called afterwards, or looks first.
    this.model = /** @type {Model} */ (/** @type {any} */ (null));
    this.steps = /** @type {ShownSteps} */ (/** @type {any} */ (null));
    this.picture = /** @type {Picture} */ (/** @type {any} */ (null));
    this.hovered = -1; // item under the pointer
    this.placedMarks = placeMarks({}, null);
    /** @type {Record<string, Mark>} */
    this.marks = {}; // by id of a node or name of a value
    /** @type {Colouring | null} */
    this.colouring = null;
    /** @type {Colours | null} */
    this.colours = null; // of the picture
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

  /**
   * @param {string} name
   * @param {(...given: any[]) => unknown} callback
   */
  on(name, callback) {
    if (!this.listeners.has(name)) this.listeners.set(name, new Set());
    this.listeners.get(name)?.add(callback);
    return () => this.listeners.get(name)?.delete(callback);
  }

  /**
   * @param {string} name
   * @param {any} detail
   */
  emit(name, detail) {
    for (const callback of this.listeners.get(name) || []) callback(detail);
  }

  // ---- data

  /** @param {GraphMessage} data */
  setData(data) {
    this.model = new Model(data);
    this.steps = /** @type {any} */ (null);
    this.picture = /** @type {any} */ (null);
    this.arrangements.forget();
    this.groups.forget();
    this.found.forget();
    this.selection.id = null;
    this.camera.unseen = true;
    this.stage.redraw();
  }

  /** @param {{ before: number | null | undefined, after: number }} options */
  async show({ before, after }) {
    const { steps } = this.model;
    const step = steps[after];
    if (!step) throw new Error(`graph view: there is no step ${after}, only 0 to ${steps.length - 1}`);
    const from = before === undefined ? this.model.stepBefore(step) : before;
    if (from !== null && (!steps[from] || steps[from].method !== step.method)) {
      throw new Error(
        `graph view: step ${from} is no step of ${step.method}, so it cannot be compared with step ${after}`,
      );
    }
    if (this.steps && steps[this.steps.after].method !== step.method) this.camera.unseen = true;
    this.steps = { before: from, after };
    const shown = this.picture?.layout;
    this.groups.openAtFirst();
    await this.rebuild();
    const distant = from !== this.model.stepBefore(step);
    if (shown && (distant || this.picture.layout !== shown) && this.selection.item <= 0) this.camera.findChanges();
    this.stage.draw();
  }

  /** The graphs that are compared, as indices; the first one is null where one is shown alone. */
  snapshots() {
    const { before, after } = this.steps;
    const graph = (/** @type {number | null} */ step) => (step === null ? null : this.model.steps[step].after);
    return /** @type {[number | null, number]} */ ([graph(before), graph(after)]);
  }

  outline() {
    const [before, after] = this.snapshots();
    return this.model.outline(this.model.epochOf(before, after), this.options.constants);
  }

  // ---- picture

  /**
   * Makes the picture for the current steps, groups and options; `anchor` names the group to hold still on screen.
   * @param {string} [anchor]
   */
  async rebuild(anchor) {
    if (this.gone) return; // taken off the page while a layout was under way
    const turn = ++this.turn;
    const arranging = this.arrangements.of(this.outline(), this.groups.open);
    const arranged = arranging instanceof Promise ? await arranging : arranging;
    if (turn !== this.turn || !arranged) return; // a later call has taken over
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

  /**
   * The item to hold still while the picture changes: the one named, or the selected one.
   * @param {string} [anchor]
   */
  _held(anchor) {
    if (anchor !== undefined) return this.picture.scene.itemOfGroup.get(anchor);
    return this.selection.item > 0 ? this.selection.item : undefined;
  }

  _placeMarks() {
    this.placedMarks = placeMarks(this.marks, this.picture);
  }

  _placeColours() {
    this.colours = this.colouring && this.picture ? new Colours(this.colouring, this.picture) : null;
  }

  // ---- looking

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

  /** @param {number} direction */
  nextChange(direction) {
    const items = this.picture ? this.picture.changedItems() : [];
    if (!items.length) return;
    const at = items.indexOf(this.selection.item);
    const next = at < 0 ? (direction > 0 ? 0 : items.length - 1) : (at + direction + items.length) % items.length;
    this.selection.choose(items[next], true);
  }

  /** @param {number} factor */
  zoomBy(factor, at = { x: 0, y: 0 }) {
    this.camera.zoomBy(factor, at);
  }

  /**
   * Centres the box that shows a node, where the graph is larger than what is in sight; nothing is selected or opened.
   * @param {string} id
   */
  lookAt(id) {
    const { camera, picture } = this;
    const item = picture ? picture.scene.itemOf(picture.shownAs(id)) : -1;
    if (item > 0 && !camera.fits(picture.whole, camera.zoom)) camera.centre(item);
  }

  /** @param {string | null} id */
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

  /** @param {string} id */
  node(id) {
    return this.steps ? nodeIn(this.model, this.snapshots(), id) : null;
  }

  /**
   * @param {string} text
   * @param {{ pattern?: boolean }} [how]
   */
  search(text, how) {
    return this.found.run(text, how);
  }

  firstMatch() {
    return this.found.first();
  }

  /** @param {number} index */
  focusMatch(index) {
    const match = this.found.matches[index];
    return match ? this.select(match.id, { center: true }) : Promise.resolve();
  }

  // ---- looks

  /** @param {any} theme */
  setTheme(theme) {
    this.options.theme = theme;
    this.theme = theme === "auto" ? (this.dark.matches ? "dark" : "light") : theme;
    const colours = THEMES[this.theme];
    for (const [name, colour] of Object.entries(VARIABLES)) {
      this.root.style.setProperty(`--fg-${name}`, colours[colour]);
    }
    this._drawLegend();
    this.stage.redraw();
  }

  /** @param {Record<string, Mark> | null} marks */
  setMarks(marks) {
    this.marks = marks || {};
    this._placeMarks();
    this.stage.redraw();
  }

  /** @param {Colouring | null} colouring */
  setColouring(colouring) {
    this.colouring = colouring;
    this._placeColours();
    this._drawLegend();
    this.stage.redraw();
  }

  /** @param {Mark[]} entries */
  setLegend(entries, title = "") {
    this.legend.set(entries || [], title);
    this._drawLegend();
  }

  _drawLegend() {
    this.legend.draw(THEMES[this.theme], this.steps !== null && this.steps.before !== null, this.colours);
    this.stage.resize(); // its strip may be higher or lower now
  }

  /** @param {{ constants: boolean; }} options */
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

  // ---- state

  state() {
    const { constants, panes } = this.options;
    return {
      steps: this.steps,
      expanded: this.groups.ids(),
      selection: this.selection.id,
      viewport: this.camera.place(),
      options: { constants, panes },
    };
  }

  /** @param {{ steps: ShownSteps, expanded: string[], selection: string | null, viewport: any, options: any }} options */
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
}

/** Makes a view inside `container`, which gives it its size. */
export const create = (/** @type {HTMLElement} */ container, options = {}) => new View(container, options);
