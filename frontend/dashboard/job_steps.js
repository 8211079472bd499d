/* The steps of a recording, as they come. */

import { count } from "../graph/data/words.js";
import { fill, h } from "../viewer/dom.js";
import { isLive, STATES } from "./words.js";

const NEAR_END = 40; // px from the end at which the list follows new steps

export class JobSteps {
  /** @param {Dashboard} app */
  constructor(app) {
    this.app = app;
    /** The file that the rows link into. @type {string | null | undefined} */
    this.linked = undefined;
    /** The row of the pass that ended the recording. @type {HTMLElement | null} */
    this.failed = null;
    /** The stage that is shown as long as no step is known. @type {string | null | undefined} */
    this.waiting = undefined;
    /** Method and stage of the last row. @type {string | null} */
    this.stage = null;
    this.drawn = 0;
    this.steps = h("ol.fd-steps", { tabindex: "0", "aria-label": "Recorded steps" });
    this.count = h("span.fv-muted.fv-num");
    this.nothing = h("div.fd-steps-none");
    this.element = h(
      "section.fd-part",
      { "aria-label": "Steps" },
      h("div.fd-part-title", null, h("h2", null, "Steps"), this.count),
      this.nothing,
      this.steps,
    );
  }

  /** @param {JobMessage} job */
  update(job) {
    const { steps } = job;
    const path = job.trace ?? job.preview;
    if (path !== this.linked) this.clear();
    this.linked = path;
    this.nothing.hidden = steps.length > 0 || job.state !== "running";
    if (!this.nothing.hidden) this.showStage(job);
    this.steps.hidden = !steps.length;
    this.element.hidden = job.state !== "running" && !steps.length;
    const changed = steps.filter((step) => step.changed).length;
    this.count.textContent = changed ? `${steps.length}; ${changed} changed the graph` : String(steps.length || "");
    const follow = this.steps.scrollHeight - this.steps.scrollTop - this.steps.clientHeight < NEAR_END;
    for (; this.drawn < steps.length; this.drawn += 1) this.steps.append(...this.rows(steps, this.drawn));
    if (!isLive(job) && job.died_in && !this.failed) this.steps.append((this.failed = this.died(job)));
    if (follow && this.drawn) this.toEnd();
  }

  /** Scrolls to the last step, and so that the heading of a stage, which stays at the top, cuts no row in two. */
  toEnd() {
    const { steps } = this;
    const least =
      steps.scrollHeight - steps.clientHeight - /** @type {HTMLElement} */ (steps.lastElementChild).offsetHeight;
    const covered = /** @type {HTMLElement} */ (steps.querySelector(".fv-passes-stage")).offsetHeight;
    const first = [.../** @type {NodeListOf<HTMLElement>} */ (steps.querySelectorAll(".fd-step"))].find(
      (row) => row.offsetTop - covered >= least,
    );
    steps.scrollTop = first && least > 0 ? first.offsetTop - covered : steps.scrollHeight;
  }

  /**
   * Shows the current stage as long as no step is known.
   * @param {JobMessage} job
   */
  showStage(job) {
    const { stages, name } = this.app.backend(job.backend);
    if (this.waiting === job.stage) return;
    this.waiting = job.stage;
    const words = stages.length
      ? `${name} goes through these stages; its steps appear here as they run.`
      : "Steps appear here as torch runs them.";
    const row = (/** @type {{ id: any, help: string }} */ { id, help }) =>
      h(
        "li",
        { class: id === job.stage ? "fd-stage-now" : "", "aria-current": id === job.stage ? "step" : null },
        h("strong", null, id),
        h("span.fv-muted", null, help),
      );
    fill(
      this.nothing,
      h("p.fv-muted", null, words),
      stages.length ? h("ol.fd-stages", { "aria-label": "Stages" }, stages.map(row)) : null,
    );
  }

  /** Once there is a file, the rows are made anew, as links into it. */
  clear() {
    this.steps.replaceChildren();
    this.drawn = 0;
    this.stage = null;
    this.failed = null;
  }

  /**
   * A step's row, under its stage's where that is new.
   * @param {any} steps
   * @param {number} at
   */
  rows(steps, at) {
    const step = steps[at];
    const stage = `${step.method}, ${step.stage}`;
    const title =
      stage === this.stage
        ? []
        : [h("li.fv-passes-stage", null, h("span", null, step.stage), h("span", null, step.method))];
    this.stage = stage;
    const previous = steps.slice(0, at).findLast((/** @type {any} */ one) => one.method === step.method);
    const delta = previous && step.changed ? step.nodes - previous.nodes : 0;
    const change = delta
      ? h("span", { class: delta < 0 ? "fv-removed" : "fv-added" }, `${delta < 0 ? "−" : "+"}${Math.abs(delta)}`)
      : step.changed && previous
        ? h("span.fv-modified", null, "changed")
        : null;
    const name = this.linked
      ? this.app.link(
          step.name,
          { page: "trace", path: this.linked, fragment: `#step=${step.index}` },
          { class: "fd-cover", title: "Look at the graphs of this step" },
        )
      : step.name;
    const row = h(
      "li.fv-pass.fd-step",
      { class: step.changed || !previous ? "" : "fv-pass-quiet" },
      h("span.fv-pass-index.fv-num", null, step.index),
      h("span.fv-pass-name", null, name),
      step.round === null ? null : h("span.fv-round", null, `r${step.round}`),
      h("span.fv-spring"),
      h("span.fv-counts.fv-num", null, change),
      h("span.fd-nodes.fv-num.fv-muted", null, count(step.nodes, "node")),
    );
    return [...title, row];
  }

  /** @param {JobMessage} job */
  died(job) {
    return h(
      "li.fv-pass.fv-pass-failed",
      null,
      h("span.fv-pass-index", { "aria-hidden": "true" }, "✕"),
      h("span.fv-pass-name", null, job.died_in),
      h("span.fv-spring"),
      h("span.fv-badge.fv-bad", null, STATES[job.state].word),
    );
  }
}
