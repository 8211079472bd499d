/* The part of the form that says what is measured, for how long, and when a recording is given up. */

import { fill, h } from "../viewer/dom.js";
import { INPUT_SETS, MEASURES, SECONDS } from "./command.js";
import { checkbox, field } from "./pieces.js";

const NOTHING = {
  latency: false,
  numerics: false,
  memory: false,
  seconds: SECONDS,
  threads: null,
  input_sets: INPUT_SETS,
};
const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** @type {Record<string, any>} */
const WORDS = {
  latency: ["Latency", "of every step that can be run, with intervals"],
  numerics: ["Numerics", "how far the outputs are from eager's"],
  memory: ["Memory", "bytes of the constants"],
};

export class MeasureFields {
  /** @param {() => void} onchange called once what was typed is in the request */
  constructor(onchange) {
    // Other methods set these.
    this.request = /** @type {any} */ (undefined);
    this.boxes = /** @type {any} */ (undefined);
    this.seconds = /** @type {any} */ (undefined);
    this.threads = /** @type {any} */ (undefined);
    this.sets = /** @type {any} */ (undefined);
    this.limit = /** @type {any} */ (undefined);
    this.memory = /** @type {any} */ (undefined);
    this.onchange = onchange;
    this.element = h("div.fd-group");
  }

  /**
   * Puts a request into the controls; what is typed there goes into it.
   * @param {RecordingRequest} request
   */
  set(request) {
    this.request = request;
    const measure = request.measure ?? NOTHING;
    this.boxes = MEASURES.map((name) => ({
      name,
      ...checkbox(WORDS[name][0], measure[name], () => this.update(), WORDS[name][1]),
    }));
    this.seconds = this.number("Seconds for latencies", measure.seconds, "per device, after warming up", {
      min: "0.5",
      step: "0.5",
    });
    this.threads = this.number("Threads", measure.threads, "on the CPU", {
      min: "1",
      step: "1",
      placeholder: "torch's",
    });
    this.sets = this.number("Sets of inputs", measure.input_sets, "the given one, and generated ones like it", {
      min: "1",
      step: "1",
    });
    this.limit = this.number("Time limit, seconds", request.limit_s, "ends a recording that hangs", {
      min: "1",
      step: "1",
      placeholder: "none",
    });
    this.memory = this.number(
      "Memory limit, GiB",
      request.memory_bytes && request.memory_bytes / GIB,
      "ends a recording that takes more",
      { min: "0.5", step: "0.5", placeholder: "none" },
    );
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
   * @param {any} label
   * @param {any} value
   * @param {string} note
   * @param {any} given
   */
  number(label, value, note, given) {
    return field(
      label,
      h("input.fv-input.fd-number", { type: "number", value: value ?? "", oninput: () => this.update(), ...given }),
      { note },
    );
  }

  /** @param {{ latency: any, numerics: any }} options */
  enable({ latency, numerics }) {
    this.seconds.control.disabled = this.threads.control.disabled = !latency;
    this.sets.control.disabled = !numerics;
  }

  update() {
    const { seconds, threads, sets, limit, memory } = this;
    const orNone = (/** @type {{ control: HTMLInputElement }} */ { control }) =>
      control.value === "" ? null : control.valueAsNumber;
    const asked = Object.fromEntries(this.boxes.map((/** @type {any} */ { name, input }) => [name, input.checked]));
    const some = MEASURES.some((name) => asked[name]);
    this.request.measure = some
      ? {
          ...asked,
          seconds: seconds.control.valueAsNumber,
          threads: orNone(threads),
          input_sets: sets.control.valueAsNumber,
        }
      : null;
    this.request.limit_s = orNone(limit);
    const most = orNone(memory);
    this.request.memory_bytes = most && Math.ceil((most * GIB) / MIB) * MIB;
    this.enable(/** @type {any} */ (asked));
    this.check();
    this.onchange();
  }

  /** Says beside each number what is wrong with it; returns whether nothing is. */
  check() {
    const { measure, limit_s: limit, memory_bytes: memory } = this.request;
    const whole = (/** @type {any} */ value) => Number.isInteger(value) && value > 0;
    const checks = [
      [this.seconds, !measure?.latency || measure.seconds > 0, "Give a number of seconds above 0."],
      [
        this.threads,
        !measure?.latency || measure.threads === null || whole(measure.threads),
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
