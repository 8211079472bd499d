/* Types that several modules share. Messages from Python are as viewer/graph_data.py and viewer/view_models/ write them. */

// ---- classes, by the names that comments use

type Arrangements = import("./graph/arrangements.js").Arrangements;
type Camera = import("./graph/camera.js").Camera;
type Grid = import("./graph/layout/chains.js").Grid;
type Model = import("./graph/data/model.js").Model;
type Nets = import("./graph/layout/nets.js").Nets;
type Outline = import("./graph/data/outline.js").Outline;
type Picture = import("./graph/drawing/picture.js").Picture;
type Scene = import("./graph/data/scene.js").Scene;
type Snapshot = import("./graph/data/model.js").Snapshot;
type Union = import("./graph/data/union.js").Union;
type GraphView = import("./graph/view.js").View;

type Details = import("./viewer/details.js").Details;
type Pair = import("./viewer/pair.js").Pair;
type TraceModel = import("./viewer/trace_model.js").TraceModel;
type ComparisonModel = import("./viewer/comparison_model.js").ComparisonModel;
type Viewer = import("./viewer/app.js").Viewer;
type ComparisonApp = Viewer & { model: ComparisonModel };
type State = import("./viewer/state.js").State;

type Dashboard = import("./dashboard/app.js").Dashboard;

// ---- elements

/** The element that `h("button.link")` makes. */
type ElementOf<Tag extends string> = Tag extends `${infer Name}.${string}` ? ElementNamed<Name> : ElementNamed<Tag>;
type ElementNamed<Name extends string> = Name extends keyof HTMLElementTagNameMap
  ? HTMLElementTagNameMap[Name]
  : HTMLElement;
/** Contents of an element; texts never become markup. */
type Child = Node | string | number | boolean | null | undefined | readonly Child[];
/** An event of an element: what it comes from is as its listener knows it to be. */
type HeardEvent<Name extends keyof GlobalEventHandlersEventMap> = GlobalEventHandlersEventMap[Name] & { target: any };
type Props = {
  [Name in keyof GlobalEventHandlersEventMap as `on${Name}`]?: ((event: HeardEvent<Name>) => unknown) | null;
} & {
  [name: string]: any;
};

// ---- the graph view

interface Point {
  x: number;
  y: number;
}
interface Box extends Point {
  width: number;
  height: number;
}
interface Size {
  width: number;
  height: number;
}
/** A point of the world, the pane it is in, and its offset in px from that pane's middle. */
interface Place extends Point {
  side: number;
  offset: Point;
}
/** The colours of a box: see drawing/theme.js. */
interface Tone {
  fill: string;
  text: string;
}
/** Parts of the values of nodes, by id. */
type Parts = Map<string, [key: string, amount: number][]>;
/** The quantity that colours boxes, see graph/colouring.js. */
interface Colouring {
  label: string;
  rule: "sum" | "max" | "same";
  parts: { before: Parts | null; after: Parts };
  text: (amount: number) => string;
  absent: string;
  missing: string;
}
interface BoxValue {
  amount: number;
  key: string;
  text: string;
}
type Colours = import("./graph/colouring.js").Colours;
interface Match {
  id: string;
  label: string;
  module: string;
}
/** Tests of the texts of a node, see data/query.js; null where these are not looked through. */
interface Query {
  names: (text: string) => boolean;
  shapes: ((text: string) => boolean) | null;
  source: ((text: string) => boolean) | null;
  line: ((text: string) => boolean) | null;
}
/** Texts of a node, each name on a line of its own. */
interface NodeTexts {
  names: string;
  shapes: string;
  source: string;
  line: string;
}
/** A regular expression, see data/pattern_syntax.js. */
type PatternTree =
  | { set: (letter: string) => boolean }
  | { at: string }
  | { items: PatternTree[] }
  | { options: PatternTree[] }
  | { item: PatternTree; min: number; max: number };
/** A state of a pattern: reads a letter, holds at a place, forks, or is the end. */
interface PatternState {
  set?: (letter: string) => boolean;
  at?: string;
  next?: number;
  fork?: number[];
}
interface Header extends Box {
  item: number;
  label: string;
}
type Status = "removed" | "added" | "changed";
type Surface = any; // CanvasRenderingContext2D or SvgSurface, which has the part of it that painters use
type Theme = Record<string, any>;
interface Mark {
  fill: string;
  label: string;
  sign: string;
}
interface Badge {
  text: string;
  status: string;
}
interface Chip {
  key: number;
  value?: number;
  text: string;
  x?: number;
  width?: number;
}
/** The view of a pane, see drawing/pane.js. */
interface Look {
  side: number;
  alone: boolean;
  width: number;
  height: number;
  theme: "light" | "dark";
  camera: Point & { zoom: number };
  selected: number;
  hovered: number;
  marks: Map<number, Mark>;
  groupMarks: Map<number, Mark>;
  matches: Iterable<number>;
  colours: Colours | null;
  headerTop: number;
}
/** State that painters share while one pane is painted. */
interface Job {
  s: Surface;
  picture: Picture;
  look: Look;
  view: { left: number; top: number; right: number; bottom: number };
  zoom: number;
  theme: Theme;
  groups: number[];
  boxes: number[];
  ghosts: number[];
}
/** A module or nested block of an outline. */
interface Group {
  id: string;
  label: string;
  segment?: string;
  parent: Group | null;
  node: number;
  block?: boolean;
  /** The groups of one structure that it holds: the first of them, and a group with the rest. */
  repeat?: Group[];
  isRest?: boolean;
  ops: number;
  children: any[];
}
interface Item {
  group: any;
  open: boolean;
  key: number;
  caption: string;
  parent: number;
}
type ModuleTree = import("./graph/data/module_tree.js").ModuleTree;
interface ShownSteps {
  before: number | null;
  after: number;
}

interface LayoutInput {
  parent: Int32Array;
  group: Uint8Array;
  width: Float32Array;
  height: Float32Array;
  source: Int32Array;
  target: Int32Array;
  via: Int32Array;
}
interface LayoutBoxes {
  x: Float32Array;
  y: Float32Array;
  width: Float32Array;
  height: Float32Array;
  layer: Int32Array;
  lean: Float32Array;
}
interface LayoutOutput extends LayoutBoxes {
  x1: Float32Array;
  y1: Float32Array;
  x2: Float32Array;
  y2: Float32Array;
  owner: Int32Array;
  previous: Int32Array;
  last: Int32Array;
}
/** The net of one source box in one scope, see layout/nets.js. */
interface Net {
  scope: number;
  owner: number;
  from: number;
  sinks: number[];
  known: Set<number>;
  exits: boolean;
  entryX: number;
  exitX: number;
}
interface Tree {
  parent: Int32Array;
  group: Uint8Array;
  depth: Int32Array;
  children: number[][];
  place: Int32Array;
}
interface Scope {
  box: number;
  nets: Net[];
  children: number[];
  find: (inner: number, owner: number) => Net | undefined;
}
interface Links {
  of: number[][];
  ends: number[];
  theirShift: number[];
  ownShift: number[];
}

// ---- the graph view's message

/** A list of nodes: values, the place of the list, what it returns, and the scope of a block. */
type RawBody = [values: number[], list: number, outputs: number[], scope?: number];
type RawRow = any[];
interface GraphStep {
  index: number;
  stage: string;
  name: string;
  method: string;
  changed: boolean;
  before: number | null;
  after: number;
  names: number;
  label?: string;
}
interface GraphMessage {
  format: number;
  name: string;
  strings: string[];
  sources: number[][];
  nodes: RawRow[];
  lists: number[][];
  snapshots: RawBody[];
  names: number[][][];
  steps: GraphStep[];
}
interface GraphNode {
  id: string;
  op: string;
  inputs: string[];
  outputs: { name: string; type: string }[];
  module: string;
  attributes: { name: string; text: string }[];
  source: SourceRef | null;
  constant: any;
  [field: string]: any;
}
/** One line of a graph as text. */
interface Line {
  key: string;
  depth: number;
  node?: GraphNode;
  row?: number;
  text?: string;
  words?: string;
}
interface DiffRow<Of> {
  kind: "same" | "removed" | "added";
  line: Of;
  old?: number;
  new?: number;
  pair?: Of;
  moved?: boolean;
}
interface GraphText {
  lines: Line[];
  nodes: Map<string, GraphNode>;
  makers: Map<string, string>;
  readers: Map<string, string[]>;
  yielded: Set<string>;
  root: string;
  reads?: Map<string, string>;
}

// ---- the dashboard's messages

type Route = { page: string; [part: string]: any };
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

/** The request for a recording, see dashboard/command.js. */
/** A parameter of a model, as the look at it found it. */
interface ModelParameter {
  name: string;
  type: string;
  /** The text of its default; null where there is none. */
  default: string | null;
  is_required: boolean;
  is_keyword: boolean;
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
  backends: Backend[];
  options: { recording: Record<string, OptionView>; measure: Record<string, OptionView> };
  [name: string]: any;
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

// ---- the viewer's messages

interface ViewerOptions {
  [name: string]: any;
}

interface OverviewFact {
  kind: string;
  label: string;
  value: string;
  note: string;
  tone: string;
  step: number | null;
}

interface Failure {
  title: string;
  sign: string;
  left: string;
  type: string;
  message: string;
  stage: string;
  name: string;
  method: string | null;
  step: number;
  log: string | null;
}

interface Unmeasured {
  what: string;
  reason: string;
  remedy: string;
}

interface Latency {
  unseen?: string | null;
  change_unseen?: string | null;
  device: string;
  text: string;
  interval: string;
  median: number;
  low: number;
  high: number;
  ratio: string | null;
  verdict: string;
  previous: string | null;
  change: string | null;
  first: string;
  warmup: number;
  warmup_time: string | null;
  samples: number;
  notes: string[];
}

interface OutputError {
  output: string;
  max_abs: string;
  max_rel: string;
  sqnr: string;
  ulp: string | null;
  nonfinite: number;
  close: boolean;
}

interface InputErrors {
  inputs: string;
  close: boolean;
  error: string | null;
  outputs: OutputError[];
}

interface Numerics {
  reference: string;
  close: boolean;
  max_abs: string | null;
  span: string | null;
  error: string | null;
  inputs: InputErrors[];
}

interface Baseline {
  name: string;
  latency: Latency[];
  numerics: Numerics[];
}

interface Notice {
  code: string;
  message: string;
  quoted: string | null;
  step: number | null;
}

interface Environment {
  call: string;
  machine: string[][];
  settings: string[][];
  options: string[][];
  recording: string[][];
  inputs: string[][];
  baselines: Baseline[];
  notices: Notice[];
  facts: Notice[];
}

interface WholeEffect {
  method: string;
  device: string;
  step: number;
  verdict: string;
  words: string | null;
  notes: string[];
  text: string;
  value: number;
  low: number;
  high: number;
}

interface Payoff {
  step: number;
  since: number;
  device: string;
  text: string;
  value: number;
  low: number;
  high: number;
}

interface AddedError {
  step: number;
  from: string;
  to: string;
  span: string | null;
  worst: string | null;
  close: boolean;
  first_past: boolean;
}

interface ErrorSource {
  method: string;
  present: string | null;
  present_close: boolean | null;
  total: string | null;
  frozen: string | null;
  added: AddedError[];
}

interface Check {
  name: string;
  verdict: string;
  message: string;
  details: string[];
}

interface Duplicate {
  step: number;
  nbytes: number;
  bytes: string;
  kind: string;
  names: string[];
}

interface AblationLatency {
  device: string;
  verdict: string;
  text: string;
  value: number;
  low: number;
  high: number;
}

interface AblationRow {
  stage: string;
  name: string;
  steps: number[];
  tidied: boolean;
  latency: AblationLatency[];
  with: string | null;
  without: string | null;
  close_with: boolean | null;
  close_without: boolean | null;
  error: string | null;
}

interface Findings {
  whole: WholeEffect[];
  losses: any[];
  payoffs: Payoff[];
  errors: ErrorSource[];
  checks: Check[];
  memory: OverviewFact[];
  duplicates: Duplicate[];
  ablation: AblationRow[];
  absent: string[][];
}

interface SourceRef {
  file: string;
  line: number;
  column: number;
}

interface Kernel {
  name: string;
  kind: string;
  nodes: string[];
  origins: string[];
  ops: string[];
  computes: string;
  sources: SourceRef[];
  time: string | null;
  short_time: string | null;
  time_ns: number | null;
  call: number | null;
  definition: number[] | null;
}

interface Program {
  name: string;
  method: string;
  step: number;
  time: string | null;
  kernels: Kernel[];
  code: string | null;
  no_kernel: string[][];
  passes: [string, string, number, boolean][];
  side?: number;
}

interface KernelGroup {
  frozen: number[];
  unfrozen: number[];
  difference: string;
  frozen_time: string | null;
  unfrozen_time: string | null;
  lost: boolean;
}

interface ProgramComparison {
  frozen: number;
  unfrozen: number;
  groups: KernelGroup[];
  passes: string[][];
}

interface LatencyChange {
  device: string;
  since: number;
  ratio: number;
  short: string;
  verdict: string;
  text: string;
}

interface Rewrite {
  kind: string;
  consumed: string[];
  produced: string[];
  attributes: string[];
  modules: string[];
}

interface NearMiss {
  saves?: string;
  kind: string;
  node: string;
  neighbour: string;
  reason: string;
  detail: string;
  advice: string;
}

interface ViewStep {
  index: number;
  stage: string;
  name: string;
  title: string;
  method: string;
  round: number | null;
  before: number | null;
  changed: boolean;
  does: number[];
  why_not: string;
  executable: boolean;
  nodes: number;
  added: number;
  removed: number;
  modified: number;
  tidied: boolean;
  duration: string | null;
  latency: Latency[];
  latency_changes: LatencyChange[];
  numerics: Numerics[];
  error: number | null;
  past_tolerance: string[];
  constants: string;
  constants_delta: string | null;
  rewrites: Rewrite[];
  near_misses: NearMiss[];
  aliases: number | null;
  code: number | null;
  log: string[];
  notes: string[];
  notices: string[];
  side?: number;
  label?: string;
}

interface ChainLink {
  value: string;
  node: string;
  op: string;
  source: SourceRef;
}

interface Evidence {
  fact: string;
  method: string | null;
  step: number | null;
  node: string | null;
  op: string | null;
  source: SourceRef | null;
  chain: ChainLink[];
}

interface AttributeLocation {
  method: string;
  value: string;
  step: number;
  node: string;
}

interface AttributeRow {
  path: string;
  kind: string;
  type: string;
  shape: string;
  dtype: string | null;
  nbytes: number;
  bytes: string;
  same_as: string;
  digest: string | null;
  tensor: any;
  fate: string;
  minor: boolean;
  counted: boolean;
  reason: string | null;
  why: string;
  evidence: Evidence[];
  advice: string;
  step: number | null;
  locations: AttributeLocation[];
}

interface AliasWrite {
  node: string;
  op: string;
  targets: string[];
  source: SourceRef;
}

interface AliasSets {
  entries: [string, string, string[]][];
  writes: AliasWrite[];
}

interface SourceText {
  file: string;
  first_line: number;
  lines: string[];
}

interface SummaryAction {
  aim: string;
  title: string;
  evidence: string;
  fix: string;
  gain: string;
  step: number | null;
  node: string | null;
  attribute: string | null;
  source: SourceRef | null;
}

interface SummaryTime {
  device: string;
  since: number;
  value: number | null;
  verdict: string;
  text: string;
}

interface SummaryPass {
  step: number;
  name: string;
  stage: string;
  method: string;
  round: number | null;
  nodes: [number, number];
  nodes_text: string;
  constants: [number, number] | null;
  constants_text: string | null;
  times: SummaryTime[];
  error: number | null;
  error_text: string | null;
  rewrites: number;
  past_tolerance: boolean;
  node: string | null;
}

interface Summary {
  sentence: string;
  actions: SummaryAction[];
  passes: SummaryPass[];
  main_step: number | null;
}

interface LineEffect {
  step: number;
  what: string;
  text: string;
  nodes: string[];
}

interface LineTime {
  program: number;
  frozen: boolean;
  share: number;
  alone: number;
  text: string;
}

interface LineRow {
  line: number;
  operators: number;
  effects: LineEffect[];
  left: [string, string][];
  constants: [string, string][];
  kernels: [number, number][];
  times: LineTime[];
  errors: { step: number; text: string }[];
}

interface FileRow {
  file: string;
  kind: "own" | "saved" | "library";
  missing: string;
  lines: LineRow[];
}

/** The outcome of each line of source, see viewer/views/source_lines.py. */
interface ByLine {
  files: FileRow[];
  places: [number, number][];
  sets: number[][];
  nodes: Record<string, [string, number, number][]>;
  notes: { calls: string; time: string; error: string };
}

/** What became of quantised layers, see viewer/views/quantisation.py. */
interface QuantisationView {
  sentence: string;
  error: string;
  layers: QuantisedRow[];
  left: { node: string; op: string; step: number; why: string }[];
}

interface QuantisedRow {
  name: string;
  op: string;
  method: string;
  step: number;
  node: string;
  outcome: string;
  meaning: string;
  tone: string;
  undone_by: number | null;
  weight: string;
  activation: string;
  kernel: string;
  bytes: string;
  rounding: string;
  is_quantised: boolean;
  weights: string[];
  patterns: QuantisationPattern[];
}

interface QuantisationPattern {
  name: string;
  group: string;
  step: number | null;
  matched: boolean;
  why: string;
}

interface ViewData {
  by_line: ByLine;
  summary: Summary;
  name: string;
  backend: string;
  torch: string;
  methods: string[];
  stages: Record<string, string>;
  glossary: [string, string][];
  about: string;
  overview: OverviewFact[];
  fates: [string, number][];
  others: [string, number][];
  failure: Failure | null;
  unmeasured: Unmeasured | null;
  first_step: number | null;
  environment: Environment;
  findings: Findings;
  quantisation: QuantisationView | null;
  programs: Program[];
  comparisons: ProgramComparison[];
  steps: ViewStep[];
  attributes: AttributeRow[];
  pass_texts: [string, string][];
  aliases: AliasSets[];
  codes: string[];
  sources: SourceText[];
}

interface QuotedMessage {
  message: string;
  quoted: string | null;
}

interface GraphDifference {
  added: number;
  removed: number;
  changed: number;
  moved: number;
  empty: number;
}

interface SidesOfDevice {
  device: string;
  a: string | null;
  b: string | null;
}

interface SidesOfError {
  reference: string;
  a: string | null;
  b: string | null;
  differs: boolean;
}

interface PassRow {
  stage: string;
  name: string;
  method: string;
  round: number | null;
  a: number | null;
  b: number | null;
  shown: (number | null)[];
  differs: boolean;
  carried: boolean;
  graph: GraphDifference | null;
  constants: (string | null)[];
  latency: SidesOfDevice[];
  errors: SidesOfError[];
}

interface BackendPass {
  name: string;
  count: number;
  changed: number;
  step: number;
}

interface BackendSide {
  passes: BackendPass[];
  changed: number;
  removed: number;
  added: number;
  rewrites: [string, number][];
  only: string[];
  instead: string;
}

interface BackendPair {
  purpose: string;
  why: string;
  effect: boolean;
  a: BackendSide;
  b: BackendSide;
}

interface VerdictRatio {
  text: string;
  value: number;
  low: number;
  high: number;
  verdict: string;
}

interface FindingSide {
  text: string;
  note: string;
  tone: string;
  details: string[];
  ratio: VerdictRatio | null;
}

interface FindingRow {
  name: string;
  where: string;
  steps: (number | null)[];
  a: FindingSide | null;
  b: FindingSide | null;
  differs: boolean;
}

interface FindingTable {
  title: string;
  note: string;
  none: string;
  differs: boolean;
  rows: FindingRow[];
}

interface Ratio {
  text: string;
  value: number;
  low: number;
  high: number;
}

interface GroupPair {
  a: number[];
  b: number[];
  difference: string;
  a_time: string | null;
  b_time: string | null;
  ratio: any;
}

interface ProgramPair {
  name: string;
  method: string;
  a: number | null;
  b: number | null;
  times: (string | null)[];
  ratio: Ratio | null;
  groups: GroupPair[];
}

interface AttributePair {
  path: string;
  kind: string;
  shape: string;
  dtype: string | null;
  type: string;
  fields: string[];
  counted: boolean;
  minor: boolean;
  a: AttributeRow | null;
  b: AttributeRow | null;
}

interface Setting {
  subject: string;
  name: string;
  a: string | null;
  b: string | null;
}

interface NearMissText {
  kind: string;
  node: string;
  reason: string;
  detail: string;
}

interface ComparisonData {
  summary: { sentences: string[]; changes: { subject: string; text: string }[]; about: string };
  names: string[];
  made: string[];
  calls: string[];
  notices: QuotedMessage[][];
  facts: QuotedMessage[][];
  rows: PassRow[];
  backends: string[];
  pairs: BackendPair[];
  findings: FindingTable[];
  programs: ProgramPair[];
  without_programs: (string | null)[];
  attributes: AttributePair[];
  settings: Setting[];
  failures: (string | null)[];
  near_misses: NearMissText[][];
  empty: boolean;
}
