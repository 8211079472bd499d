/* The part of the form that says what is measured, for how long, and when a recording is given up. */

import { fill, h } from "../viewer/dom.js";
import { MEASUREMENTS, measureSwitches, measuresAnything } from "./command.js";
import { checkbox, field } from "./pieces.js";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

export class MeasureFields {
  /**
   * @param {Site} site
   * @param {() => void} onchange called once what was typed is in the request
   */
  constructor(site, onchange) {
    // Other methods set these.
    this.request = /** @type {any} */ (undefined);
    this.boxes = /** @type {any} */ (undefined);
    this.seconds = /** @type {any} */ (undefined);
    this.threads = /** @type {any} */ (undefined);
    this.sets = /** @type {any} */ (undefined);
    this.limit = /** @type {any} */ (undefined);
    this.memory = /** @type {any} */ (undefined);
    this.site = site;
    this.onchange = onchange;
    this.element = h("div.fd-group");
  }

  /**
   * Puts a request into the controls; what is typed there goes into it.
   * @param {RecordingRequest} request
   */
  set(request) {
    this.request = request;
    const { recording, measure: options } = this.site.options;
    const switches = measureSwitches(this.site);
    const measure = request.measure ?? {
      ...Object.fromEntries(Object.values(options).map((option) => [option.id, option.default])),
      ...Object.fromEntries(MEASUREMENTS.map((id) => [id, false])),
    };
    this.boxes = switches.map(({ id, label, help }) => ({
      name: id,
      ...checkbox(label, measure[id], () => this.update(), help),
    }));
    this.seconds = this.number(options.seconds, measure.seconds, { min: "0.5", step: "0.5" });
    this.threads = this.number(options.threads, measure.threads, { min: "1", step: "1" });
    this.sets = this.number(options.input_sets, measure.input_sets, { min: "1", step: "1" });
    this.limit = this.number(recording.limit_s, request.limit_s, { min: "1", step: "1" });
    const { memory_bytes: memory } = request;
    this.memory = this.number(recording.memory_bytes, memory && memory / GIB, { min: "0.5", step: "0.5" });
    this.enable(measure);
    const fields = [this.seconds, this.threads, this.sets, this.limit, this.memory];
    fill(
      this.element,
      this.boxes.map((/** @type {any} */ { element }) => element),
      h(
        "div.fd-pair",
        null,
        fields.map(({ element }) => element),
      ),
    );
  }

  /**
   * @param {OptionView} option
   * @param {number | null} value
   * @param {Record<string, string>} limits
   */
  number({ label, help, empty: placeholder }, value, limits) {
    const more = { ...limits, placeholder, oninput: () => this.update() };
    return field(label, h("input.fv-input.fd-number", { type: "number", value: value ?? "", ...more }), { note: help });
  }

  /** @param {Measurements} measure */
  enable(measure) {
    this.seconds.control.disabled = !measure.latency;
    this.threads.control.disabled = !measuresAnything(measure);
    this.sets.control.disabled = !measure.numerics;
  }

  update() {
    const { seconds, threads, sets, limit, memory } = this;
    const orNone = (/** @type {{ control: HTMLInputElement }} */ { control }) =>
      control.value === "" ? null : control.valueAsNumber;
    const asked = Object.fromEntries(this.boxes.map((/** @type {any} */ { name, input }) => [name, input.checked]));
    // Without any measurement, a trace keeps values of the weights unless that is switched off.
    const keepsOnlyValues = asked.values && !measuresAnything(asked);
    this.request.measure = keepsOnlyValues
      ? null
      : {
          ...asked,
          seconds: seconds.control.valueAsNumber,
          threads: orNone(threads),
          input_sets: sets.control.valueAsNumber,
        };
    this.request.limit_s = orNone(limit);
    const most = orNone(memory);
    this.request.memory_bytes = most && Math.ceil((most * GIB) / MIB) * MIB;
    this.enable(asked);
    this.check();
    this.onchange();
  }

  /** Marks each wrong number; returns whether all are right. */
  check() {
    const { measure, limit_s: limit, memory_bytes: memory } = this.request;
    const whole = (/** @type {number} */ value) => Number.isInteger(value) && value > 0;
    const checks = [
      [this.seconds, !measure?.latency || measure.seconds > 0, "Give a number of seconds above 0."],
      [
        this.threads,
        !measure || measure.threads === null || whole(measure.threads),
        "Give a whole number above 0, or nothing for torch's own.",
      ],
      [this.sets, !measure?.numerics || whole(measure.input_sets), "Give a whole number above 0."],
      [this.limit, limit === null || limit > 0, "Give a number of seconds above 0, or nothing for no limit."],
      [this.memory, memory === null || memory > 0, "Give a number of GiB above 0, or nothing for no limit."],
    ];
    for (const [place, isRight, words] of checks) place.error(isRight ? null : words);
    return checks.every(([, isRight]) => isRight);
  }
}
