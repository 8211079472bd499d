/* The command line that does what the form says, and back. Pure. */

export const MEASURES = ["latency", "numerics", "memory"];
export const SECONDS = 12; // freeze_engine.Measure's default
export const INPUT_SETS = 3; // the same

/** @type {Record<string, any>} */
const UNITS = { M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

const OTHER_COMMANDS = ["run", "report", "stats"];
const PASSED_OVER = [
  "--backend",
  "-o",
  "--output",
  "--report",
  "--host",
  "--port",
  "--token",
  "--upload-limit",
  "--upload-total",
]; // with a value each

/**
 * What a record form starts with; the same as the message that starts a recording.
 * @param {Backend} backend
 * @returns {RecordingRequest}
 */
export function emptyRequest(backend, model = "") {
  const options = Object.fromEntries(backend.options.map((/** @type {any} */ option) => [option.id, option.default]));
  return {
    model,
    inputs: [],
    backend: backend.id,
    via: null,
    options,
    device: null,
    measure: { latency: true, numerics: true, memory: true, seconds: SECONDS, threads: null, input_sets: INPUT_SETS },
    checks: [],
    ablation: false,
    limit_s: null,
    memory_bytes: null,
    preserve: [],
  };
}

/**
 * Puts a word so that a POSIX shell reads it as one.
 * @param {string} word
 */
export function quote(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/**
 * @param {any} request the message that starts the recording
 * @param {any} backend of `site.backends`
 * @returns {string[]} words of the command; `quote` each for a shell
 */
export function toWords(request, backend) {
  const words = ["freezer-ui", "record", request.model || "MODEL"];
  for (const input of request.inputs) words.push("--input", input);
  if (request.backend !== "torchscript") words.push("--backend", request.backend);
  if (request.via) words.push("--via", request.via);
  if (request.preserve.length) words.push("--preserve", ...request.preserve);
  for (const option of backend.options) words.push(...optionWords(option, request.options[option.id]));
  if (request.device) words.push("--device", request.device);
  words.push(...measureWords(request.measure));
  for (const check of request.checks) words.push("--check", check);
  if (request.ablation) words.push("--ablation");
  if (request.limit_s) words.push("--limit", String(request.limit_s));
  if (request.memory_bytes) words.push("--memory", toSize(request.memory_bytes));
  return words;
}

/**
 * A size as --memory takes it, such as 500M or 4G.
 * @param {number} bytes
 */
export function toSize(bytes) {
  return bytes % UNITS.G ? `${Math.ceil(bytes / UNITS.M)}M` : `${bytes / UNITS.G}G`;
}

/**
 * @param {any} option
 * @param {any} value
 */
function optionWords(option, value) {
  if (option.kind === "names") return (value ?? []).flatMap((/** @type {any} */ name) => [`--${option.flag}`, name]);
  if (value === option.default) return [];
  if (typeof value === "string") return [`--${option.flag}`, value];
  return [`--${value ? "" : "no-"}${option.flag}`];
}

/** @param {any} measure */
function measureWords(measure) {
  if (!measure) return ["--no-measure"];
  const off = MEASURES.filter((name) => !measure[name]).map((name) => `--no-${name}`);
  const seconds = measure.latency && measure.seconds !== SECONDS ? ["--seconds", String(measure.seconds)] : [];
  const threads = measure.threads === null ? [] : ["--threads", String(measure.threads)];
  const sets =
    measure.numerics && measure.input_sets !== INPUT_SETS ? ["--input-sets", String(measure.input_sets)] : [];
  return [...off, ...seconds, ...threads, ...sets];
}

/**
 * Splits a command line as a POSIX shell does; null where a quote is left open.
 * @param {any} text
 */
function split(text) {
  const words = [];
  let rest = text.trim();
  while (rest) {
    const match = /^(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/s.exec(rest);
    if (!match) return null;
    words.push(
      match[0].replace(
        /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/gs,
        (_, escaped, single, double) => escaped ?? single ?? double.replace(/\\(["\\$`])/g, "$1"),
      ),
    );
    rest = rest.slice(match[0].length).trimStart();
  }
  return words;
}

/**
 * Reads a command that recorded something: freezer-ui record MODEL …, or freezer-ui MODEL ….
 * @param {string|null} text such as a trace carries
 * @param {{backends: any[], checks: any[]}} site what the server offers
 * @returns {Object|null} the request; null where it is no such command
 */
export function fromCommand(text, { backends, checks }) {
  const words = split(text ?? "");
  if (!words || words[0] !== "freezer-ui" || OTHER_COMMANDS.includes(words[1])) return null;
  const named = words[words.indexOf("--backend") + 1];
  const backend = backends.find((one) => words.includes("--backend") && one.id === named) ?? backends[0];
  const request = emptyRequest(backend);
  for (let at = words[1] === "record" ? 2 : 1; at < words.length; at += 1) at = readWord(request, backend, words, at);
  if (request.checks.includes("all")) request.checks = checks.map((check) => check.id);
  return request.model ? request : null;
}

/**
 * Reads the word at `at` with what belongs to it; returns the index of the last one read.
 * @param {RecordingRequest} request
 * @param {Backend} backend
 * @param {any} words
 * @param {number} at
 */
function readWord(request, backend, words, at) {
  const word = words[at];
  if (!word.startsWith("-")) {
    request.model = word;
    return at;
  }
  const [flag, glued] = word.split(/=(.*)/s);
  const value = glued ?? words[at + 1];
  const end = glued === undefined ? at + 1 : at;
  if (flag === "--input") request.inputs.push(value);
  else if (flag === "--via") request.via = value;
  else if (flag === "--device") request.device = value;
  else if (flag === "--check") request.checks.push(value);
  else if (flag === "--limit") request.limit_s = Number(value);
  else if (flag === "--memory") {
    request.memory_bytes = parseInt(value, 10) * (UNITS[value.replace(/^\d+|iB$/g, "")] ?? NaN) || null;
  } else if (flag === "--seconds") request.measure = { ...request.measure, seconds: Number(value) };
  else if (flag === "--threads") request.measure = { ...request.measure, threads: Number(value) };
  else if (flag === "--input-sets") request.measure = { ...request.measure, input_sets: Number(value) };
  else if (flag === "--preserve") return readNames(request.preserve, words, at, glued);
  else if (!PASSED_OVER.includes(flag)) return readFlag(request, backend, flag, value) ? end : at;
  return end;
}

/**
 * @param {any} names
 * @param {any} words
 * @param {number} at
 * @param {any} glued
 */
function readNames(names, words, at, glued) {
  if (glued !== undefined) names.push(glued);
  let last = at;
  while (last + 1 < words.length && !words[last + 1].startsWith("-")) names.push(words[(last += 1)]);
  return last;
}

/**
 * Whether the flag took a value.
 * @param {RecordingRequest} request
 * @param {Backend} backend
 * @param {any} flag
 * @param {any} value
 */
function readFlag(request, backend, flag, value) {
  if (flag === "--no-measure") request.measure = null;
  if (flag === "--ablation") request.ablation = true;
  const measured = MEASURES.find((name) => flag === `--no-${name}`);
  if (measured && request.measure) request.measure[measured] = false;
  for (const option of backend.options) {
    const named = flag === `--${option.flag}`;
    if (named && takesWord(option)) {
      request.options[option.id] = option.kind === "names" ? [...request.options[option.id], value] : value;
      return true;
    }
    if (named) request.options[option.id] = true;
    if (flag === `--no-${option.flag}`) request.options[option.id] = false;
  }
  return false;
}

/**
 * Whether an option's flag is followed by a word: a name, or the choice.
 * @param {{ kind: string, choices: any }} options
 */
function takesWord({ kind, choices }) {
  return (
    kind === "names" ||
    (kind === "choice" && choices.some((/** @type {{ value: any }} */ { value }) => typeof value === "string"))
  );
}

/**
 * The command in one line, to be copied.
 * @param {RecordingRequest} request
 * @param {Backend} backend
 */
export function toCommand(request, backend) {
  return toWords(request, backend).map(quote).join(" ");
}
