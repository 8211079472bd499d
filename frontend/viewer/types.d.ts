/* Types of the viewer: the messages that viewer/views/ writes. */

/** What `mount` shows; docs/viewer-protocol.md describes it. */
interface ViewerData {
  view: ViewData;
  graph: GraphMessage;
  charts?: ChartData | null;
  comparison?: ComparisonData;
  options?: Partial<ViewerOptions>;
}

/** Bokeh's documents, by the chart that they draw; opaque to the viewer. */
type ChartData = Record<string, any>;

interface ViewerOptions {
  hash: boolean;
  keys: "page" | "viewer";
  /** Brings BokehJS. */
  loadBokeh: (() => Promise<any>) | null;
  wheel: "zoom" | "scroll";
  tour: (() => void) | undefined;
  actions: ViewerAction[];
  theme: string;
  state?: Partial<State>;
  charts: ChartData | null;
  /** Brings the charts, where the page does not have them from the start. */
  loadCharts?: () => Promise<ChartData | null>;
}

/** Something that the page around the viewer offers. */
interface ViewerAction {
  id: string;
  label: string;
  title?: string;
  icon?: string;
  run: (viewer: Viewer) => unknown;
}

type ViewerEvent = "step" | "select" | "tab" | "state" | "theme";

/** A tab's panel. */
interface Panel {
  id: string;
  label: string;
  element: HTMLElement;
  render: (state: State, previous: State | null) => unknown;
  /** A number beside the label of the tab. */
  count?: number | string;
  /** The term of the glossary that explains the tab. */
  term?: string;
  destroy?: () => void;
  focusSearch?: () => void;
  /** What the panel prints. */
  content?: () => HTMLElement;
}

/** A pass and what it is compared with. */
type ComparedPair = Pair & { before: ViewStep };

/** A row of facts: a label and what follows it. */
type Fact = [label: string, ...value: Child[]];

/** A part of the page that follows the state. */
interface Part {
  element: HTMLElement;
  render: (state: State, previous: State | null) => unknown;
}

/** A list of passes; `visible` returns what it shows, in its order. */
interface PassesView extends Part {
  visible: () => any[];
  filter: HTMLInputElement;
  /** Whether the drawer that holds it on narrow pages is open. */
  drawn: boolean;
  drawerButton: () => HTMLElement;
  draw: (open: boolean) => void;
}

/** The classes that a viewer is made of. */
interface ViewerParts {
  Details: new (app: any) => Details;
  PassList: new (app: any) => PassesView;
  PassSummary: new (app: any) => Part;
  panels: { new (app: any): Panel; isFor?: (model: any) => boolean }[];
  sheet?: Parameters<typeof import("./sheet.js").keySheet>[0];
}

/** A figure with its label; `step` is the pass that it came from. */
interface MeasuredFact {
  label: string;
  value: string;
  note: string;
  tone: string;
  step: number | null;
}

interface OverviewFact extends MeasuredFact {
  kind: string;
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
  /** What ran, where it was not the frozen model. */
  beside: string;
  notes: string[];
  text: string;
  value: number;
  low: number;
  high: number;
  /** The smallest difference that would have shown, where none did. */
  unseen: string | null;
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

/** Constants that several steps held twice, from one step until another. */
interface DuplicateBetween {
  step: number;
  until: number;
  bytes: string;
  names: string[];
}

interface AblationLatency {
  device: string;
  verdict: string;
  text: string;
  value: number;
  low: number;
  high: number;
  unseen: string | null;
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
  memory: MeasuredFact[];
  duplicates: Duplicate[];
  ablation: AblationRow[];
  absent: [what: string, how: string][];
  unseen: string | null;
  duplicates_between: DuplicateBetween[];
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
  about: string;
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
  of: string;
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
  notes: { calls: string; rest: string; time: string; error: string };
}

/** What became of quantised layers, see viewer/views/quantisation.py. */
interface QuantisationView {
  sentence: string;
  error: string;
  has_errors: boolean;
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
  errors: string[];
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

/** A line of A, of B, its text, and what differs between its outcomes. */
type LinePair = [number | null, number | null, string | null, string[]];

interface FilePair {
  names: [string, string];
  kind: "own" | "saved" | "library";
  missing: string;
  edited: boolean;
  lines: LinePair[];
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
  folds: string[];
  source: { b: ByLine; files: FilePair[] };
  empty: boolean;
}
