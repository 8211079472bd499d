/* The field for the float model that a quantised model was made from. */

import { fill, h } from "../viewer/dom.js";
import { chooseFile } from "./files.js";
import { consentTo } from "./model_part.js";
import { button, field } from "./pieces.js";

export class FloatModelPart {
  /** @param {import("./form.js").FormPage} form */
  constructor(form) {
    this.form = form;
    this.app = form.app;
    const { float_model: option } = this.app.channel.site.options.recording;
    const input = h("input.fv-input.fd-grow", {
      autocomplete: "off",
      spellcheck: "false",
      placeholder: option.empty,
      oninput: () => this.typed(),
      onchange: () => this.look(),
    });
    const browse = button("Browse…", () => this.browse(), {
      icon: "folder",
      "aria-label": "Browse for the float model",
    });
    const note = `${option.help[0].toUpperCase()}${option.help.slice(1)}. An exported program (.pt2).`;
    this.field = field(option.label, input, { note, wrap: h("div.fd-row", null, input, browse) });
    this.question = h("div", { role: "status" });
    this.element = h("div", null, this.field.element, this.question);
  }

  /**
   * Puts a request into the control.
   * @param {RecordingRequest} request
   */
  set(request) {
    this.field.control.value = request.float_model ?? "";
    this.field.error(null);
    fill(this.question);
  }

  typed() {
    this.form.request.float_model = this.field.control.value.trim() || null;
    this.field.error(null);
    fill(this.question);
    this.form.changed();
  }

  /** Resolves to whether the model may be opened; shows why not, or asks where there is no sandbox. */
  async look() {
    const { float_model: model } = this.form.request;
    if (!model || model.startsWith("example:") || this.app.consents.has(model)) return true;
    const found = await this.app.ask({ type: "sandbox", model }).catch((/** @type {Error} */ error) => error);
    if (this.form.request.float_model !== model) return false;
    const isRead = "existing" in found && found.existing;
    const error = isRead ? `This is ${found.existing}: it is only read, so there is nothing to compare.` : null;
    this.field.error(found instanceof Error ? found.message : error);
    if (found instanceof Error || error) return false;
    if (found.problem) this.askConsent(model, found);
    return !found.problem;
  }

  /**
   * @param {string} model
   * @param {Replies["sandbox"]} found
   */
  askConsent(model, { model: file, problem, danger }) {
    const agree = () => {
      this.app.consents.add(model, file);
      fill(this.question);
    };
    if (!this.question.firstChild) fill(this.question, consentTo(problem, danger, agree));
  }

  async browse() {
    const path = await chooseFile(this.app, {
      title: "Choose the float model",
      kinds: ["model"],
      note: "Files on the machine that runs freezer-ui.",
    });
    if (path === null) return;
    this.field.control.value = path;
    this.typed();
    this.look();
  }
}
