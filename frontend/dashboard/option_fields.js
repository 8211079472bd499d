/* The parts of the form for a backend's options, the places, and what is done afterwards. */

import { fill, h } from "../viewer/dom.js";
import { checkbox, field, unique } from "./pieces.js";

export class OptionFields {
  /** @param {import("./form.js").FormPage} form */
  constructor(form) {
    this.form = form;
    this.app = form.app;
    this.options = h("div.fd-group");
    this.places = h("div.fd-pair");
    this.afterwards = h("div.fd-group");
  }

  /** Puts the request into the controls. */
  fill() {
    this.fillOptions();
    this.fillPlaces();
    this.fillAfterwards();
  }

  fillOptions() {
    const { request, backend } = this.form;
    const { backends } = this.app.channel.site;
    const choose = (/** @type {any} */ event) => {
      this.app.prefer(event.target.value);
      const next = this.app.emptyRequest();
      Object.assign(request, { backend: next.backend, options: next.options, via: null });
      this.fillOptions();
      this.fillPlaces();
      this.form.model.judge();
      this.form.changed();
    };
    const select = h(
      "select.fv-input",
      { onchange: choose },
      backends.map((one) => h("option", { value: one.id, selected: one.id === request.backend }, one.label)),
    );
    fill(
      this.options,
      field("Backend", select).element,
      backend.options.map((option) => this.option(option)),
    );
    this.form.preserve.hidden = !this.form.takes("preserve");
    this.form.inputs.need(backend.needs_inputs ? backend.name : null);
  }

  /** @param {any} option */
  option(option) {
    const { options } = this.form.request;
    const set = (/** @type {Child} */ value) => {
      options[option.id] = value;
      this.form.changed();
    };
    if (option.kind === "choice" || option.kind === "yes_no") return this.choice(option, set);
    if (option.kind === "switch") {
      return checkbox(option.label, Boolean(options[option.id]), (event) => set(event.target.checked), option.help)
        .element;
    }
    const known = h(
      "datalist",
      { id: unique("names") },
      (this.form.summary?.methods ?? []).map((/** @type {string} */ value) => h("option", { value })),
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
    const chosen = this.form.request.options[id];
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
    const { request } = this.form;
    const devices = this.form.summary?.devices ?? this.app.channel.site.devices ?? [];
    const listed = request.device && !devices.includes(request.device) ? [...devices, request.device] : devices;
    const set = (/** @type {string} */ key) => (/** @type {any} */ event) => {
      request[key] = event.target.value || null;
      this.form.changed();
    };
    const options = (/** @type {any} */ values, /** @type {any} */ current, /** @type {any} */ none) => [
      h("option", { value: "" }, none),
      values.map((/** @type {string} */ value) => h("option", { value, selected: value === current }, value)),
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
    const isModule = this.form.takes("via") && (!request.model || request.model.startsWith("example:"));
    fill(
      this.places,
      field(recording.device.label, device).element,
      isModule ? field(recording.via.label, via, { note: recording.via.help }).element : null,
    );
  }

  /** The checks of the frozen module, and the ablation. */
  fillAfterwards() {
    const { request } = this.form;
    const { checks: offered, ablation } = this.app.channel.site.options.recording;
    const ask = (/** @type {any} */ id) => (/** @type {any} */ event) => {
      request.checks = offered.choices
        .map((/** @type {{ value: string }} */ { value }) => value)
        .filter((/** @type {any} */ other) => (other === id ? event.target.checked : request.checks.includes(other)));
      this.form.changed();
    };
    const checks = offered.choices.map(
      (/** @type {{ value: string, label: string, help: string }} */ { value, label, help }) =>
        checkbox(label, request.checks.includes(value), ask(value), help).element,
    );
    const ablate = (/** @type {any} */ event) => {
      request.ablation = event.target.checked;
      this.form.changed();
    };
    fill(this.afterwards, checks, checkbox(ablation.label, request.ablation, ablate, ablation.help).element);
  }
}
