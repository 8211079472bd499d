/* The viewer: one application for the HTML report, the dashboard and the notebook. */

import { AttributesPanel } from "./attributes.js";
import { ChartsPanel } from "./charts.js";
import { header as makeHeader } from "./chrome.js";
import { Tabs } from "./tabs.js";
import { failureBanner, unmeasuredBanner } from "./banners.js";
import { CodePanel } from "./code.js";
import { COLOURINGS } from "./colouring.js";
import { Details } from "./details.js";
import { fill, h, toClipboard } from "./dom.js";
import { FindingsPanel } from "./findings.js";
import { GraphPanel } from "./graph_panel.js";
import { IrPanel } from "./ir.js";
import { KernelsPanel } from "./kernels.js";
import { Keyboard } from "./keyboard.js";
import { AliasesPanel } from "./aliases_panel.js";
import { EnvironmentPanel } from "./environment_panel.js";
import { RewritesPanel } from "./rewrites_panel.js";
import { PassList } from "./passes.js";
import { Printed } from "./printed.js";
import { copySheet, keySheet } from "./sheet.js";
import { DEFAULTS, fromFragment, toFragment } from "./state.js";
import { PassSummary } from "./summary.js";
import { QuantisationPanel } from "./quantisation.js";
import { SourcePanel } from "./source_panel.js";
import { SummaryPanel } from "./summary_panel.js";
import { Terms } from "./terms.js";
import { TraceModel } from "./trace_model.js";

/** @type {[string, number][]} */
const SIZES = [
  ["wide", 1800],
  ["middle", 1340],
  ["small", 1080],
  ["tight", 760],
  ["narrow", 0],
]; // px of width, at least

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
    this.copySheet = /** @type {ReturnType<typeof copySheet>} */ (/** @type {any} */ (undefined));
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
    this.build();
    this.listen();
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
    return { ...state, step, against, tab, ...this.validChoices(state), ...this.validKernel(state) };
  }

  /**
   * @param {State} state
   * @returns {Pick<State, "colour" | "line">}
   */
  validChoices({ colour, line }) {
    return {
      colour: Object.hasOwn(COLOURINGS, colour) ? colour : "change",
      line: this.model.links.rows.has(line) ? line : "",
    };
  }

  /** @param {State} state */
  validKernel({ program, kernel }) {
    const { programs } = this.model.view;
    const known = programs[program] ? program : 0;
    return { program: known, kernel: kernel !== null && programs[known]?.kernels[kernel] ? kernel : null };
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
    const panels = [
      SummaryPanel,
      GraphPanel,
      SourcePanel,
      AttributesPanel,
      RewritesPanel,
      AliasesPanel,
      IrPanel,
      CodePanel,
      KernelsPanel,
      QuantisationPanel,
      ChartsPanel,
      FindingsPanel,
      EnvironmentPanel,
    ];
    return { Details, PassList, PassSummary, panels };
  }

  build() {
    const parts = this.parts();
    this.terms = new Terms(this);
    this.details = new parts.Details(this);
    this.passes = new parts.PassList(this);
    const panels = parts.panels.filter((Panel) => Panel.isFor?.(this.model) ?? true);
    this.panels = new Map(panels.map((Panel) => new Panel(this)).map((panel) => [panel.id, panel]));
    this.tabs = new Tabs(this, [...this.panels.values()]);
    this.summary = new parts.PassSummary(this);
    this.printed = new Printed(this);
    this.toast = h("div.fv-toast", { role: "status", "aria-live": "polite" });
    this.sheet = keySheet({ ...parts.sheet, glossary: this.model.view.glossary, tour: this.options.tour });
    this.copySheet = copySheet();
    const content = h("div.fv-content", null, this.tabs.panes, this.details.element);
    const main = h("main.fv-main", null, this.tabs.element, this.summary.element, content);
    const header = makeHeader(this);
    fill(
      this.root,
      header,
      failureBanner(this),
      unmeasuredBanner(this),
      h("div.fv-body", null, this.passes.element, main),
      this.sheet,
      this.copySheet.element,
      this.terms.element,
      this.toast,
      this.printed.element,
    );
  }

  /** @param {State | null} previous */
  render(previous) {
    const state = this.current;
    this.pair = this.pairOf(state);
    this.focused = new Set(this.focusOf(state));
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

  /**
   * Ids of the nodes that every view shows as chosen: the chosen one, or those of the chosen attribute, kernel or line.
   * @param {State} state
   */
  focusOf(state) {
    const { node, attribute, kernel, line } = state;
    if (node !== null || !this.pair) return node === null ? [] : [node];
    if (attribute === null && kernel === null && line) return this.model.lineNodes(line, this.pair);
    if (attribute === null) return this.model.kernelNodes(state, this.pair);
    const { after, before } = this.pair;
    const now = this.model.nodesOf(after.index, attribute);
    return now.length || !before ? now : this.model.nodesOf(before.index, attribute);
  }

  listen() {
    const watch = (/** @type {any} */ where, /** @type {string} */ event, /** @type {any} */ run) => {
      where.addEventListener(event, run);
      this.stops.push(() => where.removeEventListener(event, run));
    };
    const keyboard = new Keyboard(this);
    watch(this.options.keys === "page" ? document : this.root, "keydown", (/** @type {PointerEvent} */ event) =>
      keyboard.hear(event),
    );
    watch(this.dark, "change", () => this.render(this.current));
    watch(window, "beforeprint", () => this.printed.fill());
    watch(window, "afterprint", () => this.printed.clear());
    const sized = new ResizeObserver(() => this.measure() && this.render(this.current));
    sized.observe(this.root);
    this.stops.push(() => sized.disconnect());
    const page = this.page();
    if (this.options.hash) watch(window, "popstate", () => page === this.page() && this.follow());
  }

  /** The room that there is, as a class of the style sheet. */
  measure() {
    const width = this.root.clientWidth;
    const [size] = /** @type {[string, number]} */ (SIZES.find(([, least]) => width >= least));
    if (width === 0 || this.root.dataset.size === size) return false;
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

  /**
   * Runs one of `options.actions`; a failure is shown, not lost.
   * @param {ViewerAction} action
   */
  async act(action) {
    try {
      await action.run(this);
    } catch (/** @type {any} */ error) {
      this.say(`${action.label}: ${error.message}`);
      throw error;
    }
  }

  /** @param {string} text */
  say(text) {
    clearTimeout(this.fading);
    this.toast.textContent = text;
    this.toast.classList.add("fv-shown");
    this.fading = setTimeout(() => this.toast.classList.remove("fv-shown"), Math.max(1800, 60 * text.length));
  }
}
