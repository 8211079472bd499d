/* The command line that does what the form says. Pure: the server sends the options, and parses commands. */

/** @type {Record<string, number>} */
const UNITS = { M: 2 ** 20, G: 2 ** 30 };

/**
 * The initial state of the form; it has the shape of the message that starts a recording.
 * @param {Site} site
 * @param {Backend} backend
 * @returns {RecordingRequest}
 */
export function emptyRequest({ options: { recording, measure } }, backend, model = "") {
  return {
    .../** @type {RecordingRequest} */ (defaults(Object.values(recording))),
    model,
    backend: backend.id,
    options: defaults(backend.options),
    measure: /** @type {Measurements} */ (defaults(Object.values(measure))),
  };
}

/**
 * @param {OptionView[]} options
 * @returns {Record<string, any>}
 */
function defaults(options) {
  return Object.fromEntries(options.map((option) => [option.id, structuredClone(option.default)]));
}

/**
 * The switches among the measurements: latency, numerics, memory, the executor's graph, and the values of weights.
 * @param {Site} site
 */
export function measureSwitches({ options: { measure } }) {
  return Object.values(measure).filter(({ kind }) => kind === "switch");
}

/** @type {readonly string[]} */
export const MEASUREMENTS = ["latency", "numerics", "memory", "runtime"];

/**
 * Whether a recording runs the model for measurements; what a trace keeps of the weights is none.
 * @param {Record<string, any>} measure
 */
export function measuresAnything(measure) {
  return MEASUREMENTS.some((id) => measure[id]);
}

/**
 * Puts a word so that a POSIX shell reads it as one.
 * @param {string} word
 */
function quote(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/**
 * @param {RecordingRequest} request the message that starts the recording
 * @param {Backend} backend of the request
 * @param {Site} site
 * @returns {string[]} words of the command; `quote` each for a shell
 */
function toWords(request, backend, { options: { recording, measure } }) {
  const { via, preserve } = recording;
  const values = /** @type {Record<string, any>} */ (request);
  const own = (/** @type {OptionView[]} */ options) => options.flatMap((option) => words(option, values[option.id]));
  return [
    "freezer-ui",
    "record",
    request.model || "MODEL",
    ...own([recording.inputs, recording.imports, recording.backend, via, preserve]),
    ...backend.options.flatMap((option) => words(option, request.options[option.id])),
    ...own([recording.device]),
    ...measureWords(request.measure, Object.values(measure)),
    ...own([recording.checks, recording.ablation, recording.limit_s, recording.memory_bytes, recording.float_model]),
  ];
}

/**
 * The words that give an option a value; none for its default.
 * @param {OptionView} option
 * @param {any} value
 * @returns {string[]}
 */
function words({ kind, flag, default: standard, takes_many: takesMany }, value) {
  const name = `--${flag}`;
  if (kind === "names" || kind === "choices") {
    if (takesMany && value.length) return [name, ...value];
    return value.flatMap((/** @type {string} */ each) => [name, each]);
  }
  if (value === standard || value === null) return [];
  if (typeof value === "boolean") return [value ? name : `--no-${flag}`];
  return [name, kind === "size" ? toSize(value) : String(value)];
}

/**
 * @param {Measurements | null} measure
 * @param {OptionView[]} options
 */
function measureWords(measure, options) {
  if (!measure) return ["--no-measure"];
  if (!measuresAnything(measure)) return ["--no-measure", "--no-values"];
  const matter = options.filter(({ needs }) => !needs || measure[needs]);
  return matter.flatMap((option) => words(option, measure[option.id]));
}

/**
 * A size as --memory takes it, such as 500M or 4G.
 * @param {number} bytes
 */
export function toSize(bytes) {
  return bytes % UNITS.G ? `${Math.ceil(bytes / UNITS.M)}M` : `${bytes / UNITS.G}G`;
}

/**
 * The command in one line, to be copied.
 * @param {RecordingRequest} request
 * @param {Backend} backend
 * @param {Site} site
 */
export function toCommand(request, backend, site) {
  return toWords(request, backend, site).map(quote).join(" ");
}
