/* The viewer: one application for the HTML report, the dashboard and the notebook. */

import { assemble, traceParts } from "./frame.js";
import { fill, h, toClipboard } from "./dom.js";
import { focusOf } from "./focus.js";
import { listen } from "./listening.js";
import { DEFAULTS, fromFragment, toFragment } from "./state.js";
import { validChoices, validKernel } from "./state_validity.js";
import { sizeOf } from "./room.js";
import { TraceModel } from "./trace_model.js";

let instances = 0;

export class Viewer {
  /**
   * @param {HTMLElement} element
   * @param {ViewerData} data
   */
  constructor(element, data) {
    // Other methods set these.
    this.gone = false;
    this.details = /** @type {Details} */ (/** @type {any} */ (undefined));
    this.passes = /** @type {PassesView} */ (/** @type {any} */ (undefined));
    this.panels = /** @type {Map<string, Panel>} */ (/** @type {any} */ (undefined));
    this.tabs = /** @type {Tabs} */ (/** @type {any} */ (undefined));
    this.summary = /** @type {Part} */ (/** @type {any} */ (undefined));
    this.printed = /** @type {Printed} */ (/** @type {any} */ (undefined));
    this.toast = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.sheet = /** @type {HTMLDialogElement} */ (/** @type {any} */ (undefined));
    this.copySheet = /** @type {ReturnType<typeof import("./sheet.js").copySheet>} */ (/** @type {any} */ (undefined));
    this.pair = /** @type {Pair | null} */ (null);
    this.focused = /** @type {Set<string>} */ (new Set());
    this.fading = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    const { graph, charts = null, options = {} } = data;
    this.graph = graph;
    this.options = {
      hash: false,
      keys: options.hash ? "page" : "viewer",
      loadBokeh: null,
      wheel: "zoom",
      tour: undefined,
      actions: [],
      theme: "auto",
      ...options,
      charts,
    };
    this.model = this.modelOf(data);
    this.prefix = `fv${(instances += 1)}`; // ids must differ between viewers of one notebook
    this.terms = /** @type {Terms} */ (/** @type {any} */ (undefined));
    /** @type {Map<string, Set<(detail: any) => void>>} */
    this.listeners = new Map();
    /** @type {State} */
    this.current = { ...DEFAULTS, step: this.firstStep() };
    this.root = element;
    this.root.classList.add("fv");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    /** @type {(() => void)[]} */
    this.stops = [];
    this.measure();
    if (this.options.theme !== "auto") this.root.dataset.theme = this.options.theme;
    assemble(this);
    listen(this);
    const start = this.options.hash ? fromFragment(location.hash) : options.state || {};
    this.current = this.valid({ ...this.current, ...this.opening(start) });
    this.render(null);
  }

  /** @param {ViewerData} data */
  modelOf({ view, graph }) {
    return new TraceModel(view, graph);
  }

  // --- what callers use

  /**
   * Calls back on "step" (index), "select" (node id or null), "tab" (name), "state" (the whole state) and "theme" (where the user switches it); returns what takes the callback off.
   * @param {ViewerEvent} event
   * @param {(detail: any) => void} callback
   */
  on(event, callback) {
    const callbacks = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, callbacks.add(callback));
    return () => callbacks.delete(callback);
  }

  /** @param {number} step */
  setStep(step) {
    this.navigate({ step });
  }

  /** @param {string | null} node */
  select(node) {
    this.navigate({ node, attribute: null });
  }

  /** Everything that says what is shown; give it to `restore` to see the same again. */
  state() {
    return { ...this.current };
  }

  /** @param {Partial<State>} state */
  restore(state) {
    const previous = this.current;
    this.current = this.valid({ ...DEFAULTS, step: this.firstStep(), ...state });
    this.render(previous);
  }

  /**
   * "light", "dark", or "auto": the system's.
   * @param {string} theme
   */
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

  /** Takes the viewer off the page: no listener, worker, observer or mark of it is left. */
  destroy() {
    this.gone = true;
    for (const stop of this.stops) stop();
    clearTimeout(this.fading);
    for (const panel of this.panels.values()) panel.destroy?.();
    this.listeners.clear();
    fill(this.root);
    this.root.classList.remove("fv");
    for (const name of ["theme", "scheme", "size", "tab"]) delete this.root.dataset[name];
  }

  // --- moving about

  /**
   * Shows something else.
   * @param {Partial<State>} patch the part of the state that changes
   * @param {{ jump?: boolean }} [how] `jump`: a place to come back to with the browser's back button
   */
  navigate(patch, { jump = false } = {}) {
    const previous = this.current;
    this.current = this.valid({ ...previous, ...patch });
    this.render(previous);
    if (this.options.hash) this.write(jump);
    this.announce(previous);
  }

  /**
   * The state that a view opens with: the summary, unless the address names a state; its tab is the graph by default.
   * @param {Partial<State>} start
   */
  opening(start) {
    return Object.keys(start).length ? start : { tab: "summary" };
  }

  /**
   * @param {State} state
   * @returns {State}
   */
  valid(state) {
    const { steps } = this.model;
    const step = state.step !== null && steps[state.step] ? state.step : this.firstStep();
    const tab = this.panels?.has(state.tab) ? state.tab : "graph";
    const against = state.against !== null && steps[state.against] ? state.against : null;
    return { ...state, step, against, tab, ...validChoices(this.model, state), ...validKernel(this.model, state) };
  }

  firstStep() {
    return this.model.view.first_step;
  }

  /** @param {boolean} jump */
  write(jump) {
    const url = `#${toFragment(this.current)}`;
    if (jump) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }

  /** @param {State} previous */
  announce(previous) {
    const { step, node, tab } = this.current;
    if (step !== previous.step) this.emit("step", step);
    if (node !== previous.node) this.emit("select", node);
    if (tab !== previous.tab) this.emit("tab", tab);
    // Only changes are announced, so that two viewers that follow each other come to rest.
    if (JSON.stringify(this.current) !== JSON.stringify(previous)) this.emit("state", this.state());
  }

  /**
   * @param {ViewerEvent} event
   * @param {unknown} value
   */
  emit(event, value) {
    for (const callback of this.listeners.get(event) || []) callback(value);
  }

  /** @param {number} direction */
  move(direction, changedOnly = false) {
    const shown = this.passes.visible();
    const at = shown.findIndex((/** @type {ViewStep} */ step) => step.index === this.current.step);
    const rest = direction > 0 ? shown.slice(at + 1) : shown.slice(0, Math.max(at, 0)).reverse();
    const next = rest.find((/** @type {ViewStep} */ step) => !changedOnly || (step.changed && step.before !== null));
    if (next) this.setStep(next.index);
  }

  // --- the page

  /**
   * The classes of the parts of the page.
   * @returns {ViewerParts}
   */
  parts() {
    return traceParts();
  }

  /** @param {State | null} previous */
  render(previous) {
    const state = this.current;
    this.pair = this.pairOf(state);
    this.focused = new Set(focusOf(this.model, state, this.pair));
    this.root.dataset.scheme = this.theme();
    this.root.dataset.tab = state.tab; // the summary has the page to itself
    this.passes.render(state, previous);
    this.summary.render(state, previous);
    this.details.render(state);
    this.tabs.render(state, previous);
  }

  /**
   * The chosen pass and what it is compared with; the same object while the two stay the same.
   * @param {State} state
   * @returns {Pair | null}
   */
  pairOf({ step, against }) {
    const base = this.model.baseOf(step, against);
    const known = this.pair && this.pair.after.index === step && (this.pair.before?.index ?? null) === base;
    return known ? this.pair : this.model.pair(step, against);
  }

  /** The room that there is, as a class of the style sheet. */
  measure() {
    const size = sizeOf(this.root.clientWidth);
    if (!size || this.root.dataset.size === size) return false;
    this.root.dataset.size = size;
    return true;
  }

  /** The address without its fragment: where it differs, another page is shown. */
  page() {
    return location.pathname + location.search;
  }

  /** The browser went back or forward. */
  follow() {
    const previous = this.current;
    this.restore(this.opening(fromFragment(location.hash)));
    this.announce(previous);
  }

  // --- shared pieces

  /**
   * A link that shows something else here, and opens the same in a new tab.
   * @param {Child} text
   * @param {Partial<State>} patch
   * @param {string} [label]
   */
  link(text, patch, label) {
    const href = `#${toFragment({ ...this.current, ...patch })}`;
    const follow = (/** @type {any} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.navigate(patch, { jump: true });
    };
    return h("a.fv-link", { href, onclick: follow, "aria-label": label }, text);
  }

  /** @param {string} text */
  async copy(text) {
    if (await toClipboard(text)) this.say("Copied");
    else this.copySheet.show(text);
  }

  /** @param {string} text */
  say(text) {
    clearTimeout(this.fading);
    this.toast.textContent = text;
    this.toast.classList.add("fv-shown");
    this.fading = setTimeout(() => this.toast.classList.remove("fv-shown"), Math.max(1800, 60 * text.length));
  }
}
