/* One call of the model, tried in a process of its own before the recording. */

import { fill, h } from "../viewer/dom.js";
import { button } from "./pieces.js";

const TRY_AFTER_MS = 900;
const NS_PER_MS = 1e6;

export class CallTrial {
  /**
   * @param {any} app
   * @param {any} inputs the rows
   * @param {() => any} question what to try, null where there is nothing to try; `own` says that the inputs are the model's
   */
  constructor(app, inputs, question) {
    this.app = app;
    this.inputs = inputs;
    this.question = question;
    /** The question of the outcome, as text. @type {string | null} */
    this.key = null;
    this.outcome = /** @type {any} */ (null);
    this.running = /** @type {Promise<void> | null} */ (null);
    this.timer = /** @type {any} */ (undefined);
    this.gone = false;
    this.element = h("div.fd-trial-line", { role: "status" });
    fill(inputs.trial, this.element);
  }

  /** Tries the call a moment after the last change, if it was not tried yet. */
  changed() {
    clearTimeout(this.timer);
    const question = this.question();
    if (!question) return this.reset();
    if (JSON.stringify(question) === this.key) return;
    this.reset();
    if (question.own || this.isBusy) return this.offer(question);
    this.timer = setTimeout(() => this.run(), TRY_AFTER_MS);
  }

  /** Whether a recording runs, whose figures a call would disturb. */
  get isBusy() {
    return this.app.channel.jobs.some((/** @type {JobMessage} */ job) => job.state === "running");
  }

  reset() {
    this.key = null;
    this.outcome = null;
    this.inputs.fail(null);
    if (!this.running) fill(this.element);
  }

  /** @param {any} question */
  offer(question) {
    const words = question.own ? null : "Not tried: a recording is running, and a call would disturb its figures.";
    fill(
      this.element,
      words && h("span.fv-muted", null, words),
      button("Try one call", () => this.run()),
    );
  }

  /** Tries one call; one at a time, and the newest inputs last. */
  async run() {
    clearTimeout(this.timer);
    while (this.running) await this.running;
    const question = this.question();
    if (!question || this.gone) return;
    const key = JSON.stringify(question);
    if (key === this.key && this.outcome) return;
    this.running = this.ask(question, key);
    await this.running;
    this.running = null;
    if (this.key !== key && !this.gone) this.changed();
  }

  /**
   * @param {any} question
   * @param {string} key
   */
  async ask({ own, ...question }, key) {
    this.key = key;
    fill(this.element, h("span.fd-spinner", { "aria-hidden": "true" }), "Trying one call of the model …");
    const outcome = await this.app
      .ask({ type: "try", ...question, ...this.app.consents.of(question.model) })
      .catch((/** @type {Error} */ error) => ({ refused: error.message }));
    if (this.gone || this.key !== key) return;
    this.outcome = outcome;
    this.show(outcome, own);
  }

  /**
   * @param {any} outcome
   * @param {boolean} own
   */
  show({ refused, failure, output, duration_ns: ns, where }, own) {
    if (refused) return void fill(this.element, h("p.fd-error", null, refused));
    if (!failure) {
      const time = ns >= NS_PER_MS ? `${Math.round(ns / NS_PER_MS)} ms` : "less than 1 ms";
      return void fill(this.element, h("span.fd-runs", null, `It runs; output ${output}, ${time} for the first call.`));
    }
    const fixes = own ? [] : failure.fixes;
    const element = h(
      "div.fd-call-failed",
      null,
      h("p.fd-error", null, `One call of the model fails: ${failure.message}${where ? ` (${where})` : ""}.`),
      fixes.length > 0 &&
        h(
          "div.fd-row",
          null,
          fixes.map((/** @type {any} */ fix) => button(fix.label, () => this.inputs.apply(fix.inputs))),
        ),
    );
    this.inputs.fail({ ...failure, element });
    fill(this.element, this.inputs.isFailureShown ? null : element);
  }

  /**
   * Resolves to whether the recording may start: not after a failure, unless the user insists on these very inputs.
   * @param {string | null} insisted the question that the user insists on
   */
  async allows(insisted) {
    const question = this.question();
    if (!question || question.own) return true;
    const key = JSON.stringify(question);
    if (key === insisted) return true;
    if (key !== this.key && this.isBusy) return true;
    if (key !== this.key || !this.outcome) await this.run();
    return key !== this.key || !this.outcome?.failure;
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.timer);
  }
}
