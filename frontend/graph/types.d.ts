/* Types of the graph view: its own, and the message that viewer/views/graph_data.py writes. */

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
type Colours = import("./colouring.js").Colours;
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
type ModuleTree = import("./data/module_tree.js").ModuleTree;
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

// ---- the message

/** A list of nodes: values, the place of the list, what it returns, and the scope of a block. */
type RawBody = [values: number[], list: number, outputs: number[]];
/** The same of a block nested in a node. */
type RawBlock = [...body: RawBody, scope: number];
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
