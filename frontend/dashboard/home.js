/* The first page: what this is, recordings, recent traces, examples. */

import { fill, h } from "../viewer/dom.js";
import { jobRow } from "./job_row.js";
import { button, KeyedList } from "./pieces.js";
import { picture } from "./picture.js";
import { RecentTraces } from "./recent_traces.js";

export class HomePage {
  /** @param {Dashboard} app */
  constructor(app) {
    // Other methods set these.
    this.shownExamples = /** @type {Example[] | undefined} */ (undefined);
    this.app = app;
    this.title = "";
    this.heading = h("h1", { tabindex: "-1" }, "See what freezing does to your model");
    this.jobs = new KeyedList(
      h("ul.fd-list"),
      (job) => job.id,
      (/** @type {any} */ job) => jobRow(app, job),
    );
    this.recent = new RecentTraces(app, this.heading);
    this.examples = h("ul.fd-cards");
    this.jobsPart = part("Recordings", null, this.jobs.element);
    this.recentPart = part("Recent traces", this.recent.filter, this.recent.elements);
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
    this.update();
  }

  hero() {
    const text =
      "Freezing turns a trained model's weights into constants, and then simplifies its graph. Record torch.jit.freeze, or torch.compile with freezing, pass by pass: what each pass removed, folded or fused; which weights became constants, which did not, and why; whether the model got faster, and whether its outputs changed.";
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

  update(what = /** @type {News | null} */ (null)) {
    const { library, jobs } = this.app.channel;
    this.jobs.update(jobs);
    this.jobsPart.hidden = !jobs.length;
    if (what === "jobs") return;
    this.recent.update();
    this.columns.classList.toggle("fd-first", !library.recent.length && !jobs.length);
    if (this.shownExamples !== library.examples) {
      fill(
        this.examples,
        library.examples.map((/** @type {any} */ example) => this.card(example)),
      );
    }
    this.shownExamples = library.examples;
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
    const { filter } = this.recent;
    if (!filter.hidden) filter.focus();
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
