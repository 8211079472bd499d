/* The first page: what this is, recordings, recent traces, examples. And a folder's page. */

import { count } from "../graph/data/words.js";
import { fill, h, svg } from "../viewer/dom.js";
import { FolderList } from "./files.js";
import { badge, button, empty, iconButton, KeyedList, progress, sign } from "./pieces.js";
import { chooseOther } from "./trace.js";
import {
  ago,
  base,
  isLive,
  lacking,
  lasting,
  lineText,
  nameText,
  phaseWords,
  placeWords,
  startWords,
} from "./words.js";

const RECENT_SHOWN = 8;

export class HomePage {
  /** @param {Dashboard} app */
  constructor(app) {
    // Other methods set these.
    this.shownExamples = /** @type {any} */ (undefined);
    this.app = app;
    this.title = "";
    this.heading = h("h1", { tabindex: "-1" }, "See what freezing does to your model");
    this.jobs = new KeyedList(
      h("ul.fd-list"),
      (job) => job.id,
      (/** @type {any} */ job) => jobRow(app, job),
    );
    this.recent = h("ul.fd-list");
    this.more = h("div.fd-row");
    /** Paths of the ticked traces, in the order of the ticks. @type {string[]} */
    this.picked = [];
    this.pickBar = h("div.fd-pick-bar", { role: "status", hidden: true });
    this.filter = h("input.fv-input", {
      type: "search",
      placeholder: "Filter",
      "aria-label": "Filter recent traces",
      oninput: () => this.showRecent(),
    });
    this.examples = h("ul.fd-cards");
    this.jobsPart = part("Recordings", null, this.jobs.element);
    this.recentPart = part("Recent traces", this.filter, this.recent, this.more, this.pickBar);
    this.examplesPart = part(
      "Examples",
      [h("span.fv-muted", null, "built in, random weights"), this.backends()],
      this.examples,
    );
    this.columns = h(
      "div.fd-columns",
      null,
      h("div.fd-column", null, this.jobsPart, this.recentPart),
      h("div.fd-column", null, this.examplesPart),
    );
    this.element = h(
      "main.fd-page",
      { onkeydown: (event) => this.walk(event) },
      h("div.fd-wide-content", null, this.hero(), this.columns),
    );
    this.all = false;
    this.update();
  }

  hero() {
    const text =
      "Record torch.jit.freeze, or torch.compile with freezing, pass by pass: what each pass removed, folded or fused; which attributes became constants, which did not, and why; whether it got faster, and whether the numbers moved.";
    const actions = [
      button("Record a model…", () => this.app.go({ page: "record", model: "" }), { kind: "primary", icon: "record" }),
      button("Open a file…", () => this.app.openFile(), { icon: "folder" }),
      h("span.fv-muted.fd-wide-only", null, "or drop a model or a trace anywhere on this page"),
    ];
    return h(
      "header.fd-hero",
      null,
      h("div", null, this.heading, h("p.fd-lead", null, text), h("div.fd-row", null, actions)),
      picture(),
    );
  }

  /** With which backend the examples are recorded. */
  backends() {
    const { app } = this;
    const choose = (/** @type {any} */ event) => app.prefer(event.target.value);
    const options = app.channel.site.backends.map(
      (/** @type {{ id: any, name: any, label: any }} */ { id, name, label }) =>
        h("option", { value: id, title: label, selected: id === app.preferred.id }, `with ${name}`),
    );
    return h("select.fv-input", { "aria-label": "Record examples with", onchange: choose }, options);
  }

  update(what = null) {
    const { library, jobs } = this.app.channel;
    this.jobs.update(jobs);
    this.jobsPart.hidden = !jobs.length;
    if (what === "jobs") return;
    this.showRecent();
    this.columns.classList.toggle("fd-first", !library.recent.length && !jobs.length);
    if (this.shownExamples !== library.examples) {
      fill(
        this.examples,
        library.examples.map((/** @type {any} */ example) => this.card(example)),
      );
    }
    this.shownExamples = library.examples;
  }

  showRecent() {
    const { recent } = this.app.channel.library;
    const text = this.filter.value.trim().toLowerCase();
    this.filter.hidden = recent.length <= RECENT_SHOWN;
    const found = recent.filter((/** @type {any} */ trace) =>
      `${trace.name} ${trace.path} ${trace.backend}`.toLowerCase().includes(text),
    );
    const shown = this.all || text ? found : found.slice(0, RECENT_SHOWN);
    const rest = found.length - shown.length;
    const words = recent.length
      ? h("li.fv-muted", null, "No recent trace has that in its name.")
      : h(
          "li",
          null,
          empty("No traces yet", "What you record or open is listed here. An example takes a few seconds."),
        );
    fill(this.recent, shown.length ? shown.map((/** @type {any} */ trace) => this.trace(trace)) : words);
    fill(this.more, rest > 0 ? button(`Show ${rest} more`, () => this.showAll()) : null);
    const there = new Set(
      recent.filter((/** @type {any} */ trace) => !trace.missing).map((/** @type {any} */ trace) => trace.path),
    );
    this.picked = this.picked.filter((path) => there.has(path));
    this.showPicked();
  }

  /**
   * Ticks a trace or takes its tick away; a third tick takes the first one away.
   * @param {string} path
   * @param {boolean} ticked
   */
  pick(path, ticked) {
    this.picked = [...this.picked.filter((other) => other !== path), ...(ticked ? [path] : [])].slice(-2);
    this.showPicked();
  }

  showPicked() {
    /** @type {NodeListOf<HTMLInputElement>} */
    const ticks = this.recent.querySelectorAll(".fd-pick");
    for (const tick of ticks) tick.checked = this.picked.includes(/** @type {string} */ (tick.dataset.pick));
    const [a, b] = this.picked;
    this.pickBar.hidden = !a;
    const { recent } = this.app.channel.library;
    const names = this.picked.map((path) =>
      nameText(recent.find((/** @type {any} */ trace) => trace.path === path).name),
    );
    const compare = () => this.app.go({ page: "compare", path: a, other: b });
    const clear = () => {
      this.picked = [];
      this.showPicked();
      ticks[0]?.focus();
    };
    fill(
      this.pickBar,
      h(
        "span.fd-pick-names",
        null,
        b ? `${names[0]} and ${names[1]}` : `${names[0]}: tick another trace to compare it with.`,
      ),
      b && button("Compare these two", compare, { kind: "primary", icon: "compare" }),
      button("Clear", clear, { "aria-label": "Clear the ticks" }),
    );
  }

  showAll() {
    this.all = true;
    this.showRecent();
    /** @type {NodeListOf<HTMLElement>} */ (this.recent.querySelectorAll("[data-item]"))[RECENT_SHOWN]?.focus();
  }

  /** @param {any} trace */
  trace(trace) {
    const { app } = this;
    const route = { page: "trace", path: trace.path };
    const shown = nameText(trace.name);
    const name = trace.missing
      ? h("span.fd-name", null, shown)
      : app.link(shown, route, { class: "fd-name fd-cover", data: { item: "" } });
    const gone =
      trace.missing &&
      h("span.fv-badge.fv-warn", { title: "The file was moved or deleted" }, sign("warn"), "file is gone");
    const failed = trace.failed && h("span.fv-badge.fv-bad", null, "freeze failed");
    const unmeasured =
      trace.unmeasured && h("span.fv-badge.fv-warn", { title: lineText(trace.unmeasured) }, lacking(trace));
    const facts = nameText(
      [count(trace.steps, "step"), trace.backend, trace.torch && `torch ${trace.torch}`, ago(trace.created)]
        .filter(Boolean)
        .join(" · "),
    );
    const forget = iconButton("close", `Take ${shown} off this list; the file stays`, () => this.forget(trace));
    const compare = trace.missing
      ? null
      : iconButton("compare", `Compare ${shown} with …`, () => chooseOther(app, trace.path));
    const tick = h("input.fd-pick", {
      type: "checkbox",
      "aria-label": `Compare ${shown}, ${facts}: tick two`,
      disabled: Boolean(trace.missing),
      data: { pick: trace.path },
      onchange: (event) => this.pick(trace.path, event.target.checked),
    });
    return h(
      "li.fd-item",
      { class: trace.missing ? "fd-missing" : "", data: { path: trace.path } },
      tick,
      h(
        "div.fd-item-main",
        null,
        h("div.fd-row", null, name, failed, unmeasured, gone),
        trace.verdict && h("div.fv-small.fd-verdict", { title: lineText(trace.verdict) }, lineText(trace.verdict)),
        trace.unmeasured && h("div.fv-small.fv-warn.fd-unmeasured", null, `recorded, ${lineText(trace.unmeasured)}`),
        h("div.fv-muted.fv-small.fd-path", { title: trace.path }, h("bdi", null, lineText(trace.path))),
      ),
      h(
        "div.fd-item-facts.fv-muted.fv-small.fv-num",
        { title: trace.created ? new Date(trace.created).toLocaleString() : null },
        facts,
      ),
      h("div.fd-item-actions", null, compare, forget),
    );
  }

  /** @param {any} trace */
  async forget(trace) {
    const rows = [...this.recent.children];
    const at = rows.findIndex((/** @type {any} */ row) => row.dataset.path === trace.path);
    const done = await this.app.attempt(() => this.app.ask({ type: "forget", path: trace.path }));
    if (!done) return;
    this.app.say(`${nameText(trace.name)} is off the list; ${nameText(base(trace.path))} stays where it is`);
    const left = this.recent.querySelectorAll("button");
    (left[Math.min(at, left.length - 1)] ?? this.heading).focus();
  }

  /** @param {any} example */
  card(example) {
    const model = `example:${example.name}`;
    const record = button("Record", (event) => this.record(event.currentTarget, model), {
      icon: "record",
      "aria-label": `Record ${example.name}`,
      data: { item: "", example: example.name },
    });
    const change = this.app.link(
      "Options…",
      { page: "record", model },
      { "aria-label": `Options for ${example.name}` },
    );
    return h(
      "li.fd-card",
      null,
      h("h3", null, example.name),
      h("p", null, sentence(example.shows ?? example.summary)),
      example.shows ? h("p.fv-muted.fv-small", null, sentence(example.summary)) : null,
      h("div.fd-row.fd-card-actions", null, record, change),
    );
  }

  /**
   * @param {HTMLButtonElement} control
   * @param {any} model
   */
  async record(control, model) {
    control.disabled = true;
    await this.app.attempt(() => this.app.record(this.app.emptyRequest(model)));
    control.disabled = false;
  }

  /**
   * The up and down arrows go from one thing to open to the next.
   * @param {any} event
   */
  walk(event) {
    const move = /** @type {Record<string, any>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    if (!move || event.defaultPrevented || event.target.matches("input, select, textarea")) return;
    const items = [...this.element.querySelectorAll("[data-item]")];
    const at = items.indexOf(event.target.closest("[data-item]"));
    const next = items[at < 0 ? (move > 0 ? 0 : items.length - 1) : at + move];
    if (!next) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (next).focus();
  }

  search() {
    if (!this.filter.hidden) this.filter.focus();
  }
}

/**
 * One recording among others: how far it is, and what can be done with it.
 * @param {Dashboard} app
 * @param {{ id: any }} options
 */
function jobRow(app, { id }) {
  const link = app.link("", { page: "job", id }, { class: "fd-name fd-cover", data: { item: "" } });
  const state = h("span");
  const said = h("div.fv-muted.fv-small.fv-clip");
  const bar = progress("Recording");
  const time = h("div.fd-item-facts.fv-muted.fv-small.fv-num");
  const actions = h("div.fd-item-actions");
  const element = h(
    "li.fd-item",
    { data: { job: id } },
    h("div.fd-item-main", null, h("div.fd-row", null, link, state), said, bar.element),
    time,
    actions,
  );
  /** @type {any} */
  let shown = null;
  const update = (/** @type {JobMessage} */ job) => {
    const name = nameText(job.name || job.model);
    link.textContent = name;
    const running = job.state === "running";
    bar.element.hidden = !running;
    bar.element.setAttribute("aria-label", `Recording of ${name}`);
    bar.update(job.done, job.total);
    said.classList.toggle("fv-clip", job.state !== "waiting"); // its place and its wait are to be read whole
    said.textContent = lineText(
      job.state === "waiting"
        ? `${placeWords(job)} · ${startWords(job)}`
        : running
          ? phaseWords(job)
          : [
              count(job.steps.length, "step"),
              job.unmeasured,
              job.state === "cancelled"
                ? job.message
                : job.conversion
                  ? job.message
                  : job.state !== "finished" && job.died_in && `ended in ${job.died_in}`,
            ]
              .filter(Boolean)
              .join(" · "),
    );
    time.textContent =
      job.state === "waiting"
        ? `waits for ${lasting(job.waited_s)}`
        : running && job.left_s !== null
          ? `about ${lasting(job.left_s)} left`
          : `${lasting(job.elapsed_s)}`;
    if (shown === job.state) return;
    shown = job.state;
    fill(state, badge(job));
    fill(
      actions,
      isLive(job)
        ? button("Cancel", () => app.cancel(id), { "aria-label": `Cancel ${name}` })
        : [
            job.trace && app.link("Open", { page: "trace", path: job.trace }, { "aria-label": `Open ${name}` }),
            iconButton("close", `Take ${name} off this list`, () =>
              app.attempt(() => app.ask({ type: "dismiss", job: id })),
            ),
          ],
    );
  };
  return { element, update };
}

/** The traces and models of a folder. */
export class FolderPage {
  /**
   * @param {Dashboard} app
   * @param {{ path: any }} options
   */
  constructor(app, { path }) {
    this.app = app;
    this.title = base(path) || path;
    this.heading = h("h1", { tabindex: "-1" }, "Open from a folder");
    const open = (/** @type {any} */ entry) => app.attempt(() => app.openPath(entry.path));
    this.folder = new FolderList(app, {
      kinds: ["trace", "model"],
      onchoose: open,
      onfolder: (/** @type {any} */ where) => this.moved(where),
    });
    this.element = h(
      "main.fd-page",
      null,
      h(
        "div.fd-narrow-content",
        null,
        this.heading,
        h("p.fv-muted", null, "Traces open; models go to the form that records them."),
        this.folder.element,
      ),
    );
    this.folder.show(path);
  }

  /**
   * Keeps the address at the folder that is shown.
   * @param {any} path
   */
  moved(path) {
    this.title = base(path) || path;
    this.app.lastFolder = path;
    this.app.rename({ page: "folder", path });
  }

  update() {}

  search() {
    this.folder.filter.focus();
  }
}

/**
 * @param {string} title
 * @param {any} aside
 * @param {...any} children
 */
function part(title, aside, ...children) {
  return h(
    "section.fd-part",
    { "aria-label": title },
    h("div.fd-part-title", null, h("h2", null, title), h("span.fv-spring"), aside),
    children,
  );
}

/** @param {any} text */
function sentence(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : "";
}

/** What the program shows, in small: a pass folds a batch norm into the convolution before it. */
function picture() {
  const box = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {any} */ text,
    /** @type {string} */ kind,
  ) => [
    svg("rect", { x, y, width: 96, height: 26, rx: 6, class: `fd-box fd-box-${kind}` }),
    Object.assign(svg("text", { x: x + 48, y: y + 17, "text-anchor": "middle", class: `fd-box-text fd-box-${kind}` }), {
      textContent: text,
    }),
  ];
  const edge = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ length) =>
    svg("path", { d: `M${x} ${y}v${length}`, class: "fd-edge" });
  const words = (/** @type {number} */ x, /** @type {number} */ y, /** @type {any} */ text) =>
    Object.assign(svg("text", { x, y, "text-anchor": "middle", class: "fd-picture-note" }), { textContent: text });
  return svg(
    "svg",
    { viewBox: "0 0 340 150", class: "fd-picture", "aria-hidden": "true", width: 340, height: 150 },
    words(60, 14, "before"),
    words(280, 14, "after"),
    edge(60, 52, 14),
    edge(60, 92, 14),
    edge(280, 62, 34),
    ...box(12, 26, "conv2d", "changed"),
    ...box(12, 66, "batch_norm", "removed"),
    ...box(12, 106, "relu", "same"),
    ...box(232, 36, "conv2d", "changed"),
    ...box(232, 96, "relu", "same"),
    svg("path", { d: "M124 79h92m-6-5 6 5-6 5", class: "fd-picture-arrow" }),
    words(170, 70, "fold batch norm"),
    words(170, 98, "1 of 23 passes"),
  );
}
