/* The sentences of a recording's page. */

import { count } from "../graph/data/words.js";
import { measureSwitches, toSize } from "./command.js";
import { failureBefore, lasting, lineText, placeWords } from "./words.js";

/** Title and note of each end. @type {Record<string, any>} */
export const ENDS = {
  finished: (/** @type {JobMessage} */ job) => [
    `Recorded ${count(job.steps.length, "step")}`,
    job.unmeasured && `Recorded, ${lineText(job.unmeasured)}`,
  ],
  failed: (/** @type {JobMessage} */ job) =>
    job.conversion
      ? [`The model cannot be ${job.conversion}`, `${lineText(job.message)} No freeze began.`]
      : failureBefore(job)
        ? [failureBefore(job), "No freeze began."]
        : [job.died_in ? `The freeze failed in ${job.died_in}` : "The freeze failed", "torch's message"],
  crashed: (/** @type {JobMessage} */ job) => [
    job.died_in ? `The recording crashed in ${job.died_in}` : "The recording crashed",
    "This server and other recordings go on.",
  ],
  timed_out: (/** @type {JobMessage} */ job) => [
    job.died_in ? `Stopped at the time limit, in ${job.died_in}` : "Stopped at the time limit",
    "Give it more time, or measure less.",
  ],
  over_limit: (/** @type {JobMessage} */ job) => [
    job.died_in ? `Stopped at the memory limit, in ${job.died_in}` : "Stopped at the memory limit",
    "Give it more memory, smaller inputs, or measure less.",
  ],
  cancelled: (/** @type {JobMessage} */ job) => [
    job.message[0].toUpperCase() + job.message.slice(1),
    job.trace || job.preview ? "What was recorded until then is kept." : "No trace was kept of it.",
  ],
};

/**
 * The parts of a request: [name, words].
 * @param {RecordingRequest} options
 * @param {Backend} backend
 * @param {Site} site
 */
export function askedWords(
  {
    inputs,
    device,
    measure,
    options,
    preserve,
    checks,
    ablation,
    float_model: floatModel,
    limit_s: limit,
    memory_bytes: memory,
  },
  backend,
  site,
) {
  const chosen = backend.options.flatMap((option) => optionWords(option, options[option.id]));
  const measured = measureSwitches(site).flatMap(({ id, label }) => (measure?.[id] ? [label.toLowerCase()] : []));
  const kinds = measure ? measured.join(", ") : "nothing";
  return [
    ["inputs", inputs.length ? inputs.join(", ") : "the model's own, if it brings any"],
    ["device", device ?? "where the model is"],
    ["options", chosen.join("; ") || "none"],
    ...(backend.takes.includes("preserve") ? [["preserved", preserve.join(", ") || "nothing by name"]] : []),
    ["measured", measure?.latency ? `${kinds}; ${measure.seconds} s for latencies` : kinds],
    ...(checks.length
      ? [
          [
            "checked",
            site.options.recording.checks.choices
              .filter((/** @type {{ value: string }} */ { value }) => checks.includes(value))
              .map((/** @type {{ label: string }} */ { label }) => label)
              .join(", "),
          ],
        ]
      : []),
    ...(ablation ? [["afterwards", "frozen again without each pass"]] : []),
    ...(floatModel ? [["compared with", `${floatModel}, layer by layer`]] : []),
    ["time limit", limit ? lasting(limit) : "none"],
    ["memory limit", memory ? toSize(memory) : "none"],
  ];
}

/**
 * The value of an option in words; none where it is off or the default.
 * @param {{ label: any, kind: string, choices: any }} options
 * @param {any} value
 */
function optionWords({ label, kind, choices }, value) {
  if (kind === "switch") return value ? [label] : [];
  if (kind === "names") return value?.length ? [`${label}: ${value.join(", ")}`] : [];
  return value === null ? [] : [`${label}: ${choices.find((/** @type {any} */ one) => one.value === value).label}`];
}

/**
 * The reason why a recording waits, and its place in the queue.
 * @param {JobMessage} job
 * @param {Site} options
 */
export function waitingWords(job, { at_once: most }) {
  const few = most === 1 ? "one recording at a time, as several" : `${count(most, "recording")} at a time, as more`;
  return `Waiting, ${placeWords(job)}. This server runs ${few} would disturb each other's figures.`;
}

/**
 * The times that a recording waited and ran; a wait below 1 s is omitted.
 * @param {JobMessage} options
 */
export function timeWords({ state, waited_s: waited, elapsed_s: elapsed }) {
  if (state === "waiting") return `waits for ${lasting(waited)}`;
  const wait = waited >= 1 ? `waited ${lasting(waited)}, ` : "";
  return `${wait}${lasting(elapsed)}${state === "running" ? "" : " in all"}`;
}

/**
 * Whether a model is named by its code, ``package.module:factory``.
 * @param {string} model
 */
export function isCode(model) {
  return /^[^\W\d]\w*(\.\w+)*:\w+(\.\w+)*$/u.test(model) && !model.startsWith("example:");
}
