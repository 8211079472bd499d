/* Types of the dashboard: messages of viewer/dashboard/, and the parts of its pages. */

/** The address of a page: see words.js. */
interface Route {
  page: PageName;
  path?: string | null;
  other?: string | null;
  id?: string | null;
  model?: string | null;
  /** The sweep to compare with. */
  before?: string | null;
  fragment?: string;
}

type PageName = "home" | "folder" | "sweep" | "record" | "job" | "trace" | "compare";

/** A page of the dashboard. */
interface Page {
  element: HTMLElement;
  heading: HTMLElement;
  title: string;
  bare?: boolean;
  /** The job that it shows. */
  id?: string;
  early?: string | null;
  viewer?: Viewer;
  job?: JobMessage | null;
  search?: () => void;
  update: (news: News) => void;
  destroy?: () => void;
}

/** The server's reply to each type of message, see viewer/dashboard/messages.py. */
interface Replies {
  record: { job: string };
  cancel: object;
  dismiss: object;
  forget: object;
  inspect: ModelSummary;
  try: CallTrial;
  sandbox: { model: string; problem: string | null; danger: string; existing?: string };
  parse_input: { ok: true; says: string };
  parse_command: { request: RecordingRequest | null };
  list: FolderListing;
  open: { trace: string; name: string };
  read: { job: string | null };
  take_over: object;
}

/** A message of the page to the server. */
type Question<Type extends keyof Replies> = { type: Type; [field: string]: unknown };

/** A model as a look at it found it, see freeze_engine/models/summary.py. */
interface ModelSummary {
  name: string;
  attributes: ModelAttribute[];
  methods: string[];
  inputs: string[] | null;
  brings_inputs: boolean;
  via: "script" | "trace";
  preserved: string[];
  training: boolean;
  devices: string[];
  parameters: ModelParameter[] | null;
  kind: string;
}

interface ModelAttribute {
  path: string;
  kind: string;
  type: string;
  shape: number[] | null;
  dtype: string | null;
  nbytes: number;
  same_as: string;
}

/** What changed: a value of the channel, or the page that is now shown. */
type News = "site" | "library" | "jobs" | "shown";

/** An entry of the list of recent traces, see viewer/dashboard/library.py. */
interface RecentTrace {
  path: string;
  name: string;
  backend: string;
  torch: string;
  created: string;
  steps: number;
  failed: string | null;
  nodes: number | null;
  unmeasured: string | null;
  verdict: string | null;
  /** How a recording ended that did not finish: "cancelled". */
  ending?: string | null;
  missing: boolean;
}

interface Example {
  name: string;
  summary: string;
  shows: string | null;
}

interface Library {
  examples: Example[];
  recent: RecentTrace[];
}

/** A file or folder, see viewer/dashboard/folder_listing.py. */
interface FolderEntry {
  name: string;
  path: string;
  kind: string;
  size_bytes: number | null;
  modified: number;
}

interface FolderListing {
  path: string;
  parent: string | null;
  entries: FolderEntry[];
}

/** A recording as the server describes it, see viewer/dashboard/job.py. */
interface JobMessage {
  id: string;
  model: string;
  name: string;
  backend: string;
  state: JobState;
  message: string;
  /** Place in the queue, and least time to the start, of one that waits. */
  place: number | null;
  starts_s: number | null;
  waited_s: number;
  done: number;
  total: number;
  phase: string;
  detail: string;
  later: string[];
  cancelling: boolean;
  stage: string | null;
  left_s: number | null;
  whole_s: number | null;
  elapsed_s: number;
  steps: JobStep[];
  trace: string | null;
  /** A trace that can be opened before the end. */
  preview: string | null;
  error: string | null;
  unmeasured: string | null;
  /** The conversion that failed. */
  conversion: "scripted" | "traced" | "exported" | null;
  died_in: string | null;
  log: string[];
  request: RecordingRequest | null;
}

type JobState = "waiting" | "running" | "finished" | "failed" | "crashed" | "timed_out" | "over_limit" | "cancelled";

/** A step of a recording that goes on. */
interface JobStep {
  index: number;
  stage: string;
  name: string;
  method: string;
  round: number | null;
  changed: boolean;
  nodes: number;
}

/** A parameter of a model, as the look at it found it. */
interface ModelParameter {
  name: string;
  type: string;
  /** The text of its default; null where there is none. */
  default: string | null;
  is_required: boolean;
  is_keyword: boolean;
  source: "example" | "program" | "operator" | "type" | "";
  /** A suggestion as a text of `--input`, and where it comes from. */
  input: string | null;
  note: string;
}

type InputKind = "tensor" | "value" | "file" | "text";
type InputField = "kind" | "keyword" | "text" | "shape" | "dtype" | "low" | "high" | "type" | "value" | "path";

/** The fields of a row of inputs; those of the other kinds keep what was typed. */
type InputFields = Record<InputField, string>;

/** A row of inputs in the form. */
interface InputRow {
  fields: InputFields;
  id: string;
  parameter: ModelParameter | null;
  /** The parameter that the row was last drawn for. */
  painted: ModelParameter | null | undefined;
  /** The name that it is passed by. */
  named?: string;
  touched: boolean;
  suggested?: string;
  wrong: boolean;
  element: HTMLElement;
  said: HTMLElement;
  /** Shows the failure of a call. */
  failed: HTMLElement;
  timer?: ReturnType<typeof setTimeout>;
  turn?: number;
}

/** The request for a recording, see command.js. */
interface RecordingRequest {
  model: string;
  inputs: string[];
  imports: string[];
  backend: string;
  via: string | null;
  options: Record<string, any>;
  device: string | null;
  measure: Measurements | null;
  checks: string[];
  ablation: boolean;
  float_model: string | null;
  limit_s: number | null;
  memory_bytes: number | null;
  preserve: string[];
}

type Measurements = Record<string, any>;

/** An option of a recording, see viewer/dashboard/form_options.py. */
interface OptionView {
  id: string;
  flag: string;
  kind: "switch" | "yes_no" | "choice" | "choices" | "names" | "count" | "seconds" | "size" | "text";
  label: string;
  help: string;
  default: any;
  choices: { value: any; label: string; help: string }[];
  takes_many: boolean;
  empty: string;
  needs: string | null;
}

/** Facts that stay the same while the server runs, see viewer/dashboard/server_info.py. */
interface Site {
  version: string | null;
  /** Null where torch is not installed. */
  torch: string | null;
  /** The query of the page to open first. */
  start: string | null;
  upload_limit_bytes: number;
  backends: Backend[];
  options: { recording: Record<string, OptionView>; measure: Record<string, OptionView> };
  devices: string[] | null;
  at_once: number;
  dtypes: string[];
  home: string;
}

/** A backend and its options, see viewer/dashboard/form_options.py. */
interface Backend {
  id: string;
  name: string;
  label: string;
  options: OptionView[];
  takes: string[];
  needs_inputs: boolean;
  refuses: Record<string, string>;
  stages: { id: string; help: string }[];
}
