/* The form that starts a recording, and the command line that does the same. */

import { count } from "../graph/data/words.js";
import { bytesText } from "../viewer/amounts.js";
import { fill, h } from "../viewer/dom.js";
import { toCommand } from "./command.js";
import { chooseFile, isTrace } from "./files.js";
import { InputRows } from "./inputs.js";
import { MeasureFields } from "./measuring.js";
import { button, checkbox, field, unique } from "./pieces.js";
import { AttributeTree } from "./tree.js";
import { CallTrial } from "./trial.js";

const INSPECT_AFTER_MS = 500;

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
    this.options = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.places = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.measure = /** @type {MeasureFields} */ (/** @type {any} */ (undefined));
    this.afterwards = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.wrong = /** @type {ElementOf<"p">} */ (/** @type {any} */ (undefined));
    this.submit = /** @type {any} */ (undefined);
    this.command = /** @type {ElementOf<"pre">} */ (/** @type {any} */ (undefined));
    this.preserve = /** @type {any} */ (undefined);
    this.element = /** @type {ElementOf<"main">} */ (/** @type {any} */ (undefined));
    this.modelField = /** @type {any} */ (undefined);
    this.importField = /** @type {any} */ (undefined);
    this.about = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.timer = /** @type {any} */ (undefined);
    this.inspected = /** @type {any} */ (undefined);
    this.gone = /** @type {boolean} */ (/** @type {any} */ (undefined));
    this.app = app;
    const kept = history.state?.request;
    this.request = kept && kept.model === model ? structuredClone(kept) : app.emptyRequest(model);
    this.summary = null;
    this.build();
    this.fill();
    if (this.request.model) this.inspect();
  }

  get title() {
    return this.request.model ? `Record ${this.request.model}` : "Record a model";
  }

  get backend() {
    return this.app.backend(this.request.backend);
  }

  /**
   * Whether the backend can be asked for something besides its options.
   * @param {any} what
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
    this.buildModel();
    this.options = h("div.fd-group");
    this.places = h("div.fd-pair");
    this.measure = new MeasureFields(this.app.channel.site, () => this.changed());
    this.afterwards = h("div.fd-group");
    this.wrong = h("p.fd-error", { role: "alert", hidden: true });
    this.submit = button("Record", null, { kind: "primary", icon: "record" });
    this.submit.type = "submit";
    this.command = h("pre.fd-command-text", { tabindex: "0", "aria-label": "The same as a command" });
    const copy = button("Copy", () => this.app.copy(this.line()), { "aria-label": "Copy the command" });
    const form = h(
      "form.fd-form",
      { onsubmit: (event) => this.start(event), novalidate: true, "aria-label": "Recording" },
      group("Model", this.modelField.element, this.importField.element, this.about),
      group("Inputs", this.inputs.element),
      group("Freezing", this.options, this.places),
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
      group("Afterwards", this.afterwards),
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

  buildModel() {
    const names = this.app.channel.library.examples.map((/** @type {any} */ example) => `example:${example.name}`);
    const list = h(
      "datalist",
      { id: unique("models") },
      names.map((/** @type {any} */ value) => h("option", { value })),
    );
    const input = h("input.fv-input.fd-grow", {
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "/path/to/model.pt, or example:resnet18",
      oninput: () => this.typed(),
      onchange: () => this.inspect(),
    });
    input.setAttribute("list", list.id);
    const browse = button("Browse…", () => this.browse(), { icon: "folder" });
    const note =
      "A TorchScript file (torch.jit.save), an exported program (.pt2), or a built-in example. A file is opened in a sandbox, where there is one.";
    this.modelField = field("File or example", input, { note, wrap: h("div.fd-row", null, input, browse, list) });
    this.about = h("div.fd-about", { role: "status" });
    const { imports } = this.app.channel.site.options.recording;
    const modules = h("input.fv-input", {
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "torchao.quantization.pt2e",
      oninput: () => this.importing(),
      onchange: () => this.inspect(),
    });
    const help = `${imports.help[0].toUpperCase()}${imports.help.slice(1)}. Only what is installed here, and in the sandbox.`;
    this.importField = field(imports.label, modules, { note: help });
  }

  /** Puts the request into the controls. */
  fill() {
    const { request } = this;
    this.modelField.control.value = request.model;
    this.importField.control.value = request.imports.join(" ");
    this.showImports();
    this.inputs.set(request.inputs);
    this.tree.set(request.preserve);
    this.fillOptions();
    this.fillPlaces();
    this.measure.set(request);
    this.fillAfterwards();
    this.changed();
  }

  fillOptions() {
    const { request, backend } = this;
    const { backends } = this.app.channel.site;
    const choose = (/** @type {any} */ event) => {
      this.app.prefer(event.target.value);
      const next = this.app.emptyRequest();
      Object.assign(request, { backend: next.backend, options: next.options, via: null });
      this.fillOptions();
      this.fillPlaces();
      this.judge();
      this.changed();
    };
    const select = h(
      "select.fv-input",
      { onchange: choose },
      backends.map((/** @type {any} */ one) =>
        h("option", { value: one.id, selected: one.id === request.backend }, one.label),
      ),
    );
    fill(
      this.options,
      field("Backend", select).element,
      backend.options.map((/** @type {any} */ option) => this.option(option)),
    );
    this.preserve.hidden = !this.takes("preserve");
    this.inputs.need(backend.needs_inputs ? backend.name : null);
  }

  /** @param {any} option */
  option(option) {
    const { options } = this.request;
    const set = (/** @type {any} */ value) => {
      options[option.id] = value;
      this.changed();
    };
    if (option.kind === "choice" || option.kind === "yes_no") return this.choice(option, set);
    if (option.kind === "switch") {
      return checkbox(option.label, Boolean(options[option.id]), (event) => set(event.target.checked), option.help)
        .element;
    }
    const known = h(
      "datalist",
      { id: unique("names") },
      (this.summary?.methods ?? []).map((/** @type {any} */ value) => h("option", { value })),
    );
    /** @type {ElementOf<"input">} */
    const input = h("input.fv-input", {
      value: (options[option.id] ?? []).join(" "),
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => set(input.value.split(/[\s,]+/).filter(Boolean)),
    });
    input.setAttribute("list", known.id);
    return h("div", null, field(option.label, input, { note: option.help }).element, known);
  }

  /**
   * @param {{ id: any, label: any, choices: any, help: string }} options
   * @param {any} set
   */
  choice({ id, label, choices, help }, set) {
    const chosen = this.request.options[id];
    const options = choices.map(
      (/** @type {{ value: any, label: any }} */ { value, label: text }, /** @type {number} */ at) =>
        h("option", { value: at, selected: value === chosen }, text),
    );
    return field(
      label,
      h("select.fv-input", { onchange: (event) => set(choices[event.target.value].value) }, options),
      { note: help },
    ).element;
  }

  fillPlaces() {
    const { request } = this;
    const devices = this.summary?.devices ?? this.app.channel.site.devices ?? [];
    const listed = request.device && !devices.includes(request.device) ? [...devices, request.device] : devices;
    const set = (/** @type {string} */ key) => (/** @type {any} */ event) => {
      request[key] = event.target.value || null;
      this.changed();
    };
    const options = (/** @type {any} */ values, /** @type {any} */ current, /** @type {any} */ none) => [
      h("option", { value: "" }, none),
      values.map((/** @type {any} */ value) => h("option", { value, selected: value === current }, value)),
    ];
    const device = h(
      "select.fv-input",
      { onchange: set("device") },
      options(listed, request.device, this.app.channel.site.options.recording.device.empty),
    );
    const { recording } = this.app.channel.site.options;
    const [unset, ...ways] = recording.via.choices;
    const via = h(
      "select.fv-input",
      { onchange: set("via") },
      options(
        ways.map((/** @type {{ value: string }} */ { value }) => value),
        request.via,
        unset.label,
      ),
    );
    const isModule = this.takes("via") && (!request.model || request.model.startsWith("example:"));
    fill(
      this.places,
      field(recording.device.label, device).element,
      isModule ? field(recording.via.label, via, { note: recording.via.help }).element : null,
    );
  }

  /** What is asked of the frozen module once it is there. */
  fillAfterwards() {
    const { request } = this;
    const { checks: offered, ablation } = this.app.channel.site.options.recording;
    const ask = (/** @type {any} */ id) => (/** @type {any} */ event) => {
      request.checks = offered.choices
        .map((/** @type {{ value: string }} */ { value }) => value)
        .filter((/** @type {any} */ other) => (other === id ? event.target.checked : request.checks.includes(other)));
      this.changed();
    };
    const checks = offered.choices.map(
      (/** @type {{ value: string, label: string, help: string }} */ { value, label, help }) =>
        checkbox(label, request.checks.includes(value), ask(value), help).element,
    );
    const ablate = (/** @type {any} */ event) => {
      request.ablation = event.target.checked;
      this.changed();
    };
    fill(this.afterwards, checks, checkbox(ablation.label, request.ablation, ablate, ablation.help).element);
  }

  // --- what follows from what is typed

  typed() {
    const model = this.modelField.control.value.trim();
    if (model === this.request.model) return;
    this.request.model = model;
    this.showImports();
    this.unknown();
  }

  /** Reads the modules to import, with which the model may hold something else. */
  importing() {
    const names = this.importField.control.value.split(/[\s,]+/).filter(Boolean);
    if (names.join() === this.request.imports.join()) return;
    this.request.imports = names;
    this.unknown();
  }

  /** A built-in example needs no imports. */
  showImports() {
    const isExample = this.request.model.startsWith("example:");
    this.importField.element.hidden = isExample;
    if (!isExample) return;
    this.request.imports = [];
    this.importField.control.value = "";
  }

  /** Forgets what was known of the model, and looks at it soon. */
  unknown() {
    const { model } = this.request;
    this.summary = null;
    this.modelField.error(null);
    this.tree.say(model ? "Reading the model …" : "Choose a model first: its attributes appear here.");
    fill(this.about);
    this.changed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.inspect(), INSPECT_AFTER_MS);
  }

  /** Looks at the model in a process of its own, and offers what it has. */
  async inspect() {
    clearTimeout(this.timer);
    const { model, imports } = this.request;
    const key = [model, ...imports].join("\n");
    if (!model || this.inspected === key) return;
    this.inspected = key;
    this.tree.say("Reading the model …");
    fill(
      this.about,
      h("span.fd-spinner", { "aria-hidden": "true" }),
      "Reading the model in a separate process; this takes some seconds.",
    );
    if (!(await this.mayOpen(model))) return;
    const result = await this.app.inspect(model, imports).then(
      (/** @type {any} */ summary) => ({ summary }),
      (/** @type {Error} */ error) => ({ error }),
    );
    if (this.request.model !== model || this.request.imports.join() !== imports.join() || this.gone) return;
    if (result.error) this.refused(result.error);
    else this.known(result.summary);
  }

  /**
   * Resolves to whether a model may be opened; where there is no sandbox for it, asks the user first.
   * @param {any} model
   */
  async mayOpen(model) {
    if (model.startsWith("example:") || this.app.agreed.has(model)) return true;
    const found = await this.app.ask({ type: "sandbox", model }).catch((/** @type {Error} */ error) => ({ error }));
    if (this.request.model !== model || this.gone) return false;
    if (found.error) this.refused(found.error);
    else if (found.problem) this.askConsent(model, found);
    return !found.error && !found.problem;
  }

  /**
   * Asks once: leaving the field looks at the model again, which would take the button away under the pointer.
   * @param {any} model
   * @param {{ model: any, problem: any, danger: any }} options
   */
  askConsent(model, { model: file, problem, danger }) {
    this.tree.say("The model was not opened.");
    const agree = () => {
      this.app.agreed.set(model, file);
      this.inspected = null;
      this.inspect();
    };
    const words = [
      h("strong", null, "This file was not opened yet."),
      ` ${danger}. freezer-ui opens files in a sandbox, but ${problem}.`,
    ];
    fill(
      this.about,
      h(
        "div.fd-consent",
        { role: "alertdialog", "aria-label": "No sandbox" },
        h("p", null, words),
        button("Open this file without a sandbox", agree),
      ),
    );
  }

  /** @param {Error} error */
  refused(error) {
    this.inspected = null;
    this.modelField.error(error.message);
    fill(this.about);
    this.tree.say("The model could not be read.");
  }

  /** @param {any} summary */
  known(summary) {
    this.summary = summary;
    this.judge();
    const parameters = summary.attributes.filter(
      (/** @type {any} */ attribute) => attribute.kind === "parameter" && !attribute.same_as,
    );
    const bytes = parameters.reduce(
      (/** @type {any} */ sum, /** @type {any} */ attribute) => sum + (attribute.nbytes ?? 0),
      0,
    );
    fill(
      this.about,
      h("strong", null, summary.name),
      ` ${count(parameters.length, "parameter")}${bytes ? `, ${bytesText(bytes)}` : ""}, ${summary.methods.length === 1 ? "method" : "methods"} ${summary.methods.join(", ")}`,
    );
    this.tree.show(summary);
    if (!this.request.preserve.length && summary.preserved.length) this.tree.set(summary.preserved);
    this.inputs.offer(summary);
    this.fillOptions();
    this.fillPlaces();
    this.changed();
  }

  /** Says why the model cannot be recorded, as far as the look at it tells. */
  judge() {
    const { summary, backend } = this;
    if (!summary) return;
    const training = summary.training
      ? "The model is in training mode, which freezing refuses: call model.eval() before saving it."
      : null;
    this.modelField.error(backend.refuses[summary.kind] ?? training);
  }

  async browse() {
    const path = await chooseFile(this.app, {
      title: "Choose a model",
      kinds: ["model", "trace"],
      note: "Files on the machine that runs freezer-ui. A trace opens right away.",
    });
    if (path === null) return;
    if (isTrace(path)) return void this.app.attempt(() => this.app.openPath(path));
    this.modelField.control.value = path;
    this.typed();
    this.inspect();
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
      this.modelField.error("Say which model: type a path, browse, or choose an example.");
      this.modelField.control.focus();
      return;
    }
    if (!this.measure.check()) {
      return void (/** @type {HTMLElement} */ (this.element.querySelector("[type=number][aria-invalid]")).focus());
    }
    this.submit.disabled = true;
    try {
      if (!(await this.inputs.check())) return;
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

  /** Says that the call failed, and offers to record it all the same. */
  refuse() {
    this.insist(this.callKey());
    const { message } = this.inputs.failure;
    this.wrong.textContent = `One call of the model fails: ${message}. Recorded anyway, it is not measured.`;
    this.wrong.hidden = false;
    this.inputs.failure?.element.scrollIntoView({ block: "nearest" });
  }

  update() {}

  destroy() {
    this.gone = true;
    this.trial.destroy();
    clearTimeout(this.timer);
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
