/* The part of the form that names and inspects the model. */

import { count } from "../graph/data/words.js";
import { bytesText } from "../viewer/amounts.js";
import { fill, h } from "../viewer/dom.js";
import { chooseFile, isTrace } from "./files.js";
import { button, field, unique } from "./pieces.js";

const INSPECT_AFTER_MS = 500;

export class ModelPart {
  /** @param {import("./form.js").FormPage} form */
  constructor(form) {
    this.form = form;
    this.app = form.app;
    /** Runs out when the model is looked at. @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Model and imports of the last look. @type {string | null} */
    this.inspected = null;
    this.gone = false;
    const names = this.app.channel.library.examples.map((example) => `example:${example.name}`);
    const list = h(
      "datalist",
      { id: unique("models") },
      names.map((value) => h("option", { value })),
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
    this.field = field("File or example", input, { note, wrap: h("div.fd-row", null, input, browse, list) });
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

  /**
   * Puts a request into the controls.
   * @param {RecordingRequest} request
   */
  set(request) {
    this.field.control.value = request.model;
    this.importField.control.value = request.imports.join(" ");
    this.showImports();
  }

  typed() {
    const model = this.field.control.value.trim();
    if (model === this.form.request.model) return;
    this.form.request.model = model;
    this.showImports();
    this.unknown();
  }

  /** Reads the modules to import, with which the model may hold something else. */
  importing() {
    const names = this.importField.control.value.split(/[\s,]+/).filter(Boolean);
    if (names.join() === this.form.request.imports.join()) return;
    this.form.request.imports = names;
    this.unknown();
  }

  /** A built-in example needs no imports. */
  showImports() {
    const isExample = this.form.request.model.startsWith("example:");
    this.importField.element.hidden = isExample;
    if (!isExample) return;
    this.form.request.imports = [];
    this.importField.control.value = "";
  }

  /** Forgets the summary of the model, and inspects it soon. */
  unknown() {
    const { model } = this.form.request;
    this.form.summary = null;
    this.field.error(null);
    this.form.tree.say(model ? "Reading the model …" : "Choose a model first: its attributes appear here.");
    fill(this.about);
    this.form.changed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.inspect(), INSPECT_AFTER_MS);
  }

  /** Inspects the model in a separate process, and fills the form with the result. */
  async inspect() {
    clearTimeout(this.timer);
    const { model, imports } = this.form.request;
    const key = [model, ...imports].join("\n");
    if (!model || this.inspected === key) return;
    this.inspected = key;
    this.form.tree.say("Reading the model …");
    fill(
      this.about,
      h("span.fd-spinner", { "aria-hidden": "true" }),
      "Reading the model in a separate process; this takes some seconds.",
    );
    this.form.inputs.read(true);
    if (!(await this.mayOpen(model))) return this.form.inputs.read(false);
    const result = await this.app.inspect(model, imports).then(
      (/** @type {any} */ summary) => ({ summary }),
      (/** @type {Error} */ error) => ({ error }),
    );
    if (this.form.request.model !== model || this.form.request.imports.join() !== imports.join() || this.gone) return;
    this.form.inputs.read(false);
    if (result.error) this.refused(result.error);
    else this.form.known(result.summary);
  }

  /**
   * Resolves to whether a model may be opened; where there is no sandbox for it, asks the user first.
   * @param {any} model
   */
  async mayOpen(model) {
    if (model.startsWith("example:") || this.app.consents.has(model)) return true;
    const found = await this.app.ask({ type: "sandbox", model }).catch((/** @type {Error} */ error) => error);
    if (this.form.request.model !== model || this.gone) return false;
    if (found instanceof Error) {
      this.refused(found);
      return false;
    }
    if (found.existing) this.offerReading(model, found.existing);
    else if (found.problem) this.askConsent(model, found);
    return !found.existing && !found.problem;
  }

  /**
   * Asks once: leaving the field looks at the model again, which would take the button away under the pointer.
   * @param {any} model
   * @param {Replies["sandbox"]} options
   */
  askConsent(model, { model: file, problem, danger }) {
    this.form.tree.say("The model was not opened.");
    const agree = () => {
      this.app.consents.add(model, file);
      this.inspected = null;
      this.inspect();
    };
    fill(this.about, consentTo(problem, danger, agree));
  }

  /**
   * Offers to read what exists already, such as a folder of torch's logs: it is no model, and nothing of it is run.
   * @param {string} path
   * @param {string} what
   */
  offerReading(path, what) {
    this.form.tree.say("There is nothing to record: it exists already.");
    const read = () => this.app.attempt(() => this.app.openPath(path.replace(/\/+$/, "")));
    fill(
      this.about,
      h(
        "div.fd-consent",
        null,
        h("p", null, `This is ${what}. It is read into a trace, and nothing of it is run.`),
        button("Read it", read),
      ),
    );
  }

  /** @param {Error} error */
  refused(error) {
    this.inspected = null;
    this.field.error(error.message);
    fill(this.about);
    this.form.tree.say("The model could not be read.");
  }

  /** Shows why the model cannot be recorded, as far as its summary shows that. */
  judge() {
    const { summary, backend } = this.form;
    if (!summary) return;
    const training = summary.training
      ? "The model is in training mode, which freezing refuses: call model.eval() before saving it."
      : null;
    this.field.error(backend.refuses[summary.kind] ?? training);
  }

  async browse() {
    const path = await chooseFile(this.app, {
      title: "Choose a model",
      kinds: ["model", "trace"],
      note: "Files on the machine that runs freezer-ui. A trace opens right away.",
    });
    if (path === null) return;
    if (isTrace(path)) return void this.app.attempt(() => this.app.openPath(path));
    this.field.control.value = path;
    this.typed();
    this.inspect();
  }

  /**
   * Shows the name, weights and methods of the model.
   * @param {any} summary
   */
  describe(summary) {
    // A parameter may be None, as those of an attention that does without.
    const weights = summary.attributes.filter(
      (/** @type {any} */ { kind, shape, same_as: first }) => /^(parameter|buffer)$/.test(kind) && shape && !first,
    );
    const bytes = weights.reduce(
      (/** @type {number} */ sum, /** @type {any} */ attribute) => sum + (attribute.nbytes ?? 0),
      0,
    );
    const methods = `${summary.methods.length === 1 ? "method" : "methods"} ${summary.methods.join(", ")}`;
    const size = bytes ? `, ${bytesText(bytes)}` : "";
    const counted = count(weights.length, "weight or buffer", "weights and buffers");
    fill(this.about, h("strong", null, summary.name), ` ${counted}${size}, ${methods}`);
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.timer);
  }
}

/**
 * The question whether a file may be opened without a sandbox.
 * @param {string | null} problem why there is none
 * @param {string} danger
 * @param {() => void} agree
 */
export function consentTo(problem, danger, agree) {
  const words = [
    h("strong", null, "This file was not opened yet."),
    ` ${danger}. freezer-ui opens files in a sandbox, but ${problem}.`,
  ];
  return h(
    "div.fd-consent",
    { role: "alertdialog", "aria-label": "No sandbox" },
    h("p", null, words),
    button("Open this file without a sandbox", agree),
  );
}
