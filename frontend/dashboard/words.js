/* Words for times and states, and the address of every page. Pure. */

import { count } from "../graph/data/words.js";

const SPANS = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86400, 3600, "hour"],
  [7 * 86400, 86400, "day"],
];

/**
 * The age of a time: "5 minutes ago"; the date for older ones.
 * @param {any} time
 */
export function ago(time, now = Date.now()) {
  const moment = new Date(time);
  if (time === null || time === undefined || Number.isNaN(moment.getTime())) return "";
  const seconds = (Number(now) - Number(moment)) / 1000;
  if (seconds < 45) return "just now";
  const span = /** @type {[number, number, string] | undefined} */ (
    /** @type {any[]} */ (SPANS).find(([limit]) => seconds < limit)
  );
  if (!span) return moment.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
  return `${count(Math.round(seconds / span[1]), span[2])} ago`;
}

/**
 * A duration for people who wait: "12 s", "3 min 5 s".
 * @param {number} seconds
 */
export function lasting(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 100) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/**
 * The last part of a path, of either kind of slash.
 * @param {string} path
 */
export function base(path) {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

const NAME_LETTERS = 80;

/**
 * A text that somebody else chose, for one line: signs that break or turn a line are shown, not obeyed.
 * Stacks of accents, which would cover the lines above, are cut.
 * @param {string | null} text
 */
export function lineText(text) {
  const sign = (/** @type {any} */ one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`;
  return String(text)
    .replace(/(\p{M}{3})\p{M}+/gu, "$1")
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, sign);
}

/**
 * A name as a list shows it: never empty, and not longer than a few lines.
 * @param {string} text
 */
export function nameText(text) {
  const letters = [...lineText(text ?? "")];
  if (/^[\s\p{Cf}]*$/u.test(letters.join(""))) return "unnamed";
  return letters.length > NAME_LETTERS ? `${letters.slice(0, NAME_LETTERS).join("")}…` : letters.join("");
}

/** @type {Record<string, any>} */
export const STATES = {
  waiting: { word: "waiting", tone: "quiet" },
  running: { word: "recording", tone: "running" },
  finished: { word: "finished", tone: "good" },
  failed: { word: "freeze failed", tone: "bad" },
  crashed: { word: "crashed", tone: "bad" },
  timed_out: { word: "out of time", tone: "bad" },
  over_limit: { word: "over its limit", tone: "bad" },
  cancelled: { word: "cancelled", tone: "quiet" },
};

/**
 * Whether a recording finished without the requested figures.
 * @param {JobMessage} options
 */
export function isUnmeasured({ state, unmeasured }) {
  return state === "finished" && Boolean(unmeasured);
}

/**
 * The missing part of a recording, without the reason: "not measured", "not timed".
 * @param {{ unmeasured: any }} options
 */
export function lacking({ unmeasured }) {
  return unmeasured.split(": ")[0];
}

/** What a recording does before anything is frozen, as the failure of it. @type {Record<string, string>} */
const BEFORE = {
  "importing torch": "torch cannot be imported",
  "loading the model": "The model cannot be loaded",
  "making the inputs": "The inputs cannot be made",
};

/**
 * The failure of a recording that ended before its freeze began; null for others.
 * @param {{ state: string, died_in: string | null }} options
 */
export function failureBefore({ state, died_in: place }) {
  return (state === "failed" && place && BEFORE[place]) || null;
}

/**
 * The state of a recording, in a word or two.
 * @param {JobMessage} job
 */
export function stateName(job) {
  if (failureBefore(job)) return "not recorded";
  if (job.conversion) return `cannot be ${job.conversion}`;
  return isUnmeasured(job) ? `recorded, ${lacking(job)}` : STATES[job.state].word;
}

/**
 * The same with the reason: "recorded, not measured: forward() is missing mask".
 * @param {JobMessage} job
 */
export function stateWords(job) {
  if (job.conversion) return lineText(job.message);
  const before = failureBefore(job);
  if (before) return before;
  return isUnmeasured(job) ? `recorded, ${lineText(job.unmeasured)}` : STATES[job.state].word;
}

/**
 * Whether a recording has not ended: it runs, or waits for its turn.
 * @param {{ state: JobState | undefined }} job
 */
export function isLive(job) {
  return job.state === "running" || job.state === "waiting";
}

/**
 * The place of a waiting recording in the line: "next in line".
 * @param {{ place: number | null }} options
 */
export function placeWords({ place }) {
  return place === 1 ? "next in line" : `number ${place} in line`;
}

/**
 * The phase of a running recording and its progress, or what a cancelled one waits for.
 * @param {JobMessage} job
 */
export function phaseWords(job) {
  if (job.cancelling || !job.phase) return job.message || "Starting its process …";
  return job.detail ? `${job.phase}: ${job.detail}` : job.phase;
}

/**
 * The remaining time of the recording; where only that of the current phase is known, that and the phases after it.
 * @param {JobMessage} job
 */
export function leftWords(job) {
  if (job.cancelling) return "";
  const then = (job.later ?? []).map((/** @type {string} */ one) => one[0].toLowerCase() + one.slice(1)).join(", ");
  if (isKnown(job.whole_s)) return `about ${lasting(job.whole_s)} left`;
  if (job.left_s === null) return then && `then ${then}`;
  return `about ${lasting(job.left_s)} left${then ? ` of this, then ${then}` : ""}`;
}

/**
 * @param {number | null | undefined} time a server that was not restarted since an update sends none
 * @returns {time is number}
 */
export function isKnown(time) {
  return typeof time === "number";
}

/**
 * The start of a waiting recording; only the remaining time of the running ones' current phases is known.
 * @param {JobMessage} options
 */
export function startWords({ starts_s: least }) {
  return least === null ? "when it starts is not known yet" : `starts in ${lasting(least)} at the earliest`;
}

// --- addresses: the query says which page, the fragment what the viewer shows

/**
 * @param {string} search the address's query
 * @returns {Route} with `path`, `path` and `other`, `id`, or `model`
 */
export function parseRoute(search) {
  const words = new URLSearchParams(search);
  if (words.has("compare") && words.get("with")) {
    return { page: "compare", path: words.get("compare"), other: words.get("with") };
  }
  if (words.get("trace")) return { page: "trace", path: words.get("trace") };
  if (words.get("job")) return { page: "job", id: words.get("job") };
  if (words.has("record")) return { page: "record", model: words.get("record") };
  if (words.get("sweep")) return { page: "sweep", path: words.get("sweep"), before: words.get("since") };
  if (words.has("folder")) return { page: "folder", path: words.get("folder") };
  return { page: "home" };
}

/** @param {Route} route */
export function formatRoute(route) {
  /** @type {Record<string, any[][]>} */
  const pages = {
    home: [],
    trace: [["trace", route.path]],
    compare: [
      ["compare", route.path],
      ["with", route.other],
    ],
    job: [["job", route.id]],
    record: [["record", route.model ?? ""]],
    folder: [["folder", route.path]],
    sweep: [["sweep", route.path], ...(route.before ? [["since", route.before]] : [])],
  };
  return `?${pages[route.page].map(([key, value]) => `${key}=${encode(value)}`).join("&")}`;
}

/**
 * Like encodeURIComponent, but paths stay readable in the address bar.
 * @param {string} text
 */
function encode(text) {
  return encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%3A", ":");
}
