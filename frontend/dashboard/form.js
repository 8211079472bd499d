/* The form that starts a recording, and the command line that does the same. */

import { h } from "../viewer/dom.js";
import { toCommand } from "./command.js";
import { FloatModelPart } from "./float_model_part.js";
import { InputRows } from "./inputs.js";
import { MeasureFields } from "./measuring.js";
import { ModelPart } from "./model_part.js";
import { OptionFields } from "./option_fields.js";
import { button, unique } from "./pieces.js";
import { AttributeTree } from "./tree.js";
import { CallTrial } from "./trial.js";

export class FormPage {
  /**
   * @param {Dashboard} app
   * @param {{ model: any }} options
   */
  constructor(app, { model }) {
    // Other methods set these.
    this.heading = /** @type {ElementOf<"h1">} */ (/** @type {any} */ (undefined));
    this.inputs = /** @type {InputRows} */ (/** @type {any} */ (undefined));
    this.tree = /** @type {AttributeTree} */ (/** @type {any} */ (undefined));
    this.trial = /** @type {CallTrial} */ (/** @type {any} */ (undefined));
    /** The call that the user wants to be recorded although it failed. @type {string | null} */
    this.insisted = null;
    this.model = /** @type {ModelPart} */ (/** @type {any} */ (undefined));
    this.fields = /** @type {OptionFields} */ (/** @type {any} */ (undefined));
    this.floatModel = /** @type {FloatModelPart} */ (/** @type {any} */ (undefined));
    this.measure = /** @type {MeasureFields} */ (/** @type {any} */ (undefined));
    this.wrong = /** @type {ElementOf<"p">} */ (/** @type {any} */ (undefined));
    this.submit = /** @type {any} */ (undefined);
    this.command = /** @type {ElementOf<"pre">} */ (/** @type {any} */ (undefined));
    this.preserve = /** @type {any} */ (undefined);
    this.element = /** @type {ElementOf<"main">} */ (/** @type {any} */ (undefined));
    this.app = app;
    const kept = history.state?.request;
    this.request = kept && kept.model === model ? structuredClone(kept) : app.emptyRequest(model);
    this.summary = null;
    this.build();
    this.fill();
    if (this.request.model) this.model.inspect();
  }

  get title() {
    return this.request.model ? `Record ${this.request.model}` : "Record a model";
  }

  get backend() {
    return this.app.backend(this.request.backend);
  }

  /**
   * Whether the backend takes a field of a request besides its options.
   * @param {string} what
   */
  takes(what) {
    return this.backend.takes.includes(what);
  }

  // --- the page

  build() {
    this.heading = h("h1", { tabindex: "-1" }, "Record a model");
    this.inputs = new InputRows(this.app, () => this.changed());
    this.tree = new AttributeTree(() => this.changed());
    this.trial = new CallTrial(this.app, this.inputs, () => this.call());
    this.model = new ModelPart(this);
    this.fields = new OptionFields(this);
    this.floatModel = new FloatModelPart(this);
    this.measure = new MeasureFields(this.app.channel.site, () => this.changed());
    this.wrong = h("p.fd-error", { role: "alert", hidden: true });
    this.submit = button("Record", null, { kind: "primary", icon: "record" });
    this.submit.type = "submit";
    this.command = h("pre.fd-command-text", { tabindex: "0", "aria-label": "The same as a command" });
    const copy = button("Copy", () => this.app.copy(this.line()), { "aria-label": "Copy the command" });
    const form = h(
      "form.fd-form",
      { onsubmit: (event) => this.start(event), novalidate: true, "aria-label": "Recording" },
      group("Model", this.model.field.element, this.model.importField.element, this.model.about),
      group("Inputs", this.inputs.element),
      group("Freezing", this.fields.options, this.fields.places),
      (this.preserve = group(
        "Preserve",
        h(
          "p.fd-note",
          null,
          "What is ticked stays an attribute or method of the frozen module, and is not made a constant.",
        ),
        this.tree.element,
      )),
      group("Measure", this.measure.element),
      group("Afterwards", this.fields.afterwards, this.floatModel.element),
    );
    const foot = h("div.fd-foot", null, this.wrong, h("div.fd-command", null, this.command, copy, this.submit));
    form.append(foot);
    this.element = h(
      "main.fd-page",
      null,
      h(
        "div.fd-narrow-content",
        null,
        this.heading,
        h(
          "p.fv-muted",
          null,
          "Freezing runs in a separate process; you can browse the graphs while measuring continues.",
        ),
        form,
      ),
    );
  }

  /** Puts the request into the controls. */
  fill() {
    const { request } = this;
    this.model.set(request);
    this.inputs.set(request.inputs);
    this.tree.set(request.preserve);
    this.fields.fill();
    this.floatModel.set(request);
    this.measure.set(request);
    this.changed();
  }

  /**
   * Shows the summary of the model, and fills the form with it.
   * @param {any} summary
   */
  known(summary) {
    this.summary = summary;
    this.model.judge();
    this.model.describe(summary);
    this.tree.show(summary);
    if (!this.request.preserve.length && summary.preserved.length) this.tree.set(summary.preserved);
    this.inputs.offer(summary);
    this.fields.fillOptions();
    this.fields.fillPlaces();
    this.changed();
  }

  /** Keeps request, command, address and what the browser's back button finds in step. */
  changed() {
    const { request } = this;
    request.inputs = this.inputs.value();
    request.preserve = this.takes("preserve") ? this.tree.value() : [];
    this.command.textContent = this.line();
    this.app.rename({ page: "record", model: request.model }, { request: structuredClone(request) });
    this.trial.changed();
    if (this.insisted !== this.callKey()) this.insist(null);
  }

  /** One call of the model as it would be recorded; null as long as the model, or an input, is not right. */
  call() {
    const { summary, request, inputs } = this;
    const isRefused = !summary || summary.training || this.backend.refuses[summary.kind];
    if (isRefused || inputs.rows.some((row) => row.wrong)) return null;
    const texts = inputs.value();
    if (inputs.mine ? !texts.length || texts.some((text) => /^$|=$/.test(text)) : !summary.brings_inputs) return null;
    const { model, imports, device, memory_bytes: memory } = request;
    return { model, imports, inputs: texts, device, memory_bytes: memory, own: !inputs.mine };
  }

  callKey() {
    return JSON.stringify(this.call());
  }

  /**
   * Changes the button to one that records in spite of a failed call; null changes it back.
   * @param {string | null} key
   */
  insist(key) {
    this.insisted = key;
    this.submit.lastChild.textContent = key ? "Record anyway" : "Record";
  }

  line() {
    return toCommand(this.request, this.backend, this.app.channel.site);
  }

  /** @param {any} event */
  async start(event) {
    event.preventDefault();
    this.wrong.hidden = true;
    if (!this.request.model) {
      this.model.field.error("Say which model: type a path, browse, or choose an example.");
      this.model.field.control.focus();
      return;
    }
    if (!this.measure.check()) {
      return void (/** @type {HTMLElement} */ (this.element.querySelector("[type=number][aria-invalid]")).focus());
    }
    this.submit.disabled = true;
    try {
      if (!(await this.inputs.check())) return;
      if (!(await this.floatModel.look())) return void this.floatModel.field.control.focus();
      if (!(await this.trial.allows(this.insisted))) return this.refuse();
      await this.app.record(structuredClone(this.request));
    } catch (/** @type {any} */ error) {
      this.wrong.textContent = error.message;
      this.wrong.hidden = false;
      this.wrong.scrollIntoView({ block: "nearest" });
    } finally {
      this.submit.disabled = false;
    }
  }

  /** Shows that the call failed, and offers to record the model anyway. */
  refuse() {
    this.insist(this.callKey());
    const { message } = this.inputs.failure;
    this.wrong.textContent = `One call of the model fails: ${message}. Recorded anyway, it is not measured.`;
    this.wrong.hidden = false;
    this.inputs.failure?.element.scrollIntoView({ block: "nearest" });
  }

  update() {}

  destroy() {
    this.trial.destroy();
    this.model.destroy();
  }
}

/**
 * @param {string} title
 * @param {...any} children
 */
function group(title, ...children) {
  const id = unique("group");
  return h(
    "section.fd-fieldset",
    { role: "group", "aria-labelledby": id },
    h("h2", { id }, title),
    h("div.fd-fieldset-body", null, children),
  );
}
