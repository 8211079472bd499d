/* The graph view's data: reads what viewer/views/graph_data.py writes (the format is described there).
 *
 * Nodes are numbered (a *key*: index into `Model.ids`), and per-node tables are typed arrays, because thirty snapshots of
 * ten thousand nodes are looked at within one frame. A graph's inputs and its return, and those of nested blocks, have
 * keys and rows as well: they are drawn as nodes (`isPseudo`).
 */

import { findEpochs } from "./epochs.js";
import { Outline } from "./outline.js";
import { NONE, Snapshot } from "./snapshot.js";
import { decodeLists, decodeNode, evenPlaces, flatten, shallow } from "./decoding.js";

const FORMAT = 2;
const REPLACED = { share: 0.5, least: 30 };
export class Model {
  /** @param {GraphMessage} data what `viewer.views.graph_data.graph_data` returned; anything else raises an Error. */
  constructor(data) {
    if (!data || data.format !== FORMAT) {
      throw new Error(
        `graph view: cannot read format ${data && data.format}, only ${FORMAT}; make the data and the ` +
          "scripts with the same version of freezer-ui",
      );
    }
    this.name = data.name;
    this.steps = data.steps;
    this.strings = data.strings.slice();
    this.sources = data.sources;
    this.rows = data.nodes.slice();
    // place -> (value's string index -> paths of the attributes that an input or constant called so is or holds)
    this.names = data.names.map(
      (rows) => new Map(rows.map(([value, ...paths]) => [value, paths.map((path) => this.strings[path])])),
    );
    this.bodies = decodeLists(data.lists);
    /** @type {string[]} */
    this.ids = [];
    /** @type {Map<string, number>} */
    this.keyOfId = new Map();
    this.keyOfRow = this.rows.map((row) => this._key(this.strings[row[0] || 0]));
    /** @type {Map<string, number>} */
    this.pseudo = new Map(); // row text -> row index of the inputs and returns, which the format has no rows for
    /** @type {Map<number, "input" | "return">} */
    this.kinds = new Map(); // key -> "input" | "return", for those
    this.blocks = this.rows.map((row, index) =>
      (row[8] || []).map((/** @type {RawBlock} */ [values, body, outputs], /** @type {number} */ number) =>
        this._frame(`%${this.ids[this.keyOfRow[index]]}#${number}`, values, body, outputs),
      ),
    );
    this.graphs = data.snapshots.map(([values, body, outputs]) => this._frame("%", values, body, outputs));
    this.rowInputs = flatten(this.rows.map((row) => row[2] || [])); // row -> the values that it reads
    this.rowOutputs = flatten(this.rows.map((row) => evenPlaces(row[3] || []))); // row -> the values that it makes
    this.keys = Int32Array.from(this.keyOfRow);
    /** @type {GraphNode[]} */
    this.nodes = [];
    /** @type {Snapshot[]} */
    this.snapshots = [];
    /** @type {Map<string, Outline>} */
    this.outlines = new Map();
    /** @type {Map<string, number> | null} */
    this.indexOfString = null;
    /** @type {Map<string, any> | null} */
    this.digests = null;
    /** @type {Set<number>[] | null} */
    this.epochs = null;
  }

  /** @param {string} id */
  _key(id) {
    let key = this.keyOfId.get(id);
    if (key === undefined) {
      key = this.ids.length;
      this.keyOfId.set(id, key);
      this.ids.push(id);
    }
    return key;
  }

  /**
   * A graph or block with rows for its inputs and its return, which are drawn as nodes but are none in torch.
   * @param {string} prefix
   * @param {number[]} values
   * @param {number} body
   * @param {number[]} outputs
   */
  _frame(prefix, values, body, outputs) {
    const inputs = [];
    for (let at = 0; at < values.length; at += 2) {
      const id = `${prefix}${prefix.length > 1 ? "." : ""}${this.strings[values[at]]}`;
      inputs.push(this._pseudoRow("input", id, [], [values[at], values[at + 1]]));
    }
    const id = prefix.length > 1 ? prefix : "%return";
    return { inputs, body, output: outputs.length ? this._pseudoRow("return", id, outputs, []) : NONE };
  }

  /**
   * @param {"input" | "return"} kind
   * @param {string} id
   * @param {number[]} inputs
   * @param {number[]} outputs
   */
  _pseudoRow(kind, id, inputs, outputs) {
    const text = JSON.stringify([kind, id, inputs, outputs]);
    let row = this.pseudo.get(text);
    if (row === undefined) {
      row = this.rows.push([this.strings.push(id) - 1, this.strings.push(kind) - 1, inputs, outputs]) - 1;
      this.pseudo.set(text, row);
      this.keyOfRow.push(this._key(id));
      this.kinds.set(this.keyOfRow[row], kind);
    }
    return row;
  }

  /** @param {number} key */
  isPseudo(key) {
    return this.kinds.has(key);
  }

  /**
   * Place of a text in `strings`; undefined where there is no such text.
   * @param {string} text
   */
  stringIndex(text) {
    if (!this.indexOfString) {
      /** @type {Map<string, number>} */
      const places = new Map();
      // The first one counts: those of inputs and returns, which were put behind, are no names of values.
      this.strings.forEach((one, index) => places.has(one) || places.set(one, index));
      this.indexOfString = places;
    }
    return this.indexOfString.get(text);
  }

  /** @param {number} row */
  op(row) {
    return this.strings[this.rows[row][1]];
  }

  /**
   * A constant of any graph by its digest; undefined where none has it.
   * @param {string} digest
   */
  constantOfDigest(digest) {
    if (!this.digests) {
      this.digests = new Map();
      this.rows.forEach((row, index) => {
        const constant = row[7] ? this.node(index).constant : null;
        if (constant?.values && constant.digest) this.digests?.set(constant.digest, constant);
      });
    }
    return this.digests.get(digest);
  }

  /**
   * The values that a row reads, as string indices.
   * @param {number} row
   */
  inputs(row) {
    return this.rows[row][2] || [];
  }

  /**
   * How many blocks are nested in a row's node.
   * @param {number} row
   */
  blockCount(row) {
    return this.blocks[row]?.length ?? 0; // rows of inputs and returns have none
  }

  /**
   * The decoded node of a row: strings instead of indices.
   * @param {number} row
   */
  node(row) {
    return (this.nodes[row] ??= decodeNode(this, this.rows[row]));
  }

  /** @param {number} index */
  snapshot(index) {
    return (this.snapshots[index] ??= new Snapshot(this, this.graphs[index]));
  }

  /**
   * Paths of the attributes that a row's node is or holds, by some `names`; null for anything but inputs and constants.
   * @param {number} row
   * @param {Map<number, string[]>} names
   */
  pathsOf(row, names) {
    const isHolder = this.op(row) === "get_attr" || this.kinds.get(this.keyOfRow[row]) === "input";
    return (isHolder && names.get(this.rows[row][3]?.[0])) || null;
  }

  /**
   * The names of a step's values.
   * @param {number} step
   */
  namesOf(step) {
    return this.names[this.steps[step].names];
  }

  methods() {
    return [...new Set(this.steps.map((step) => step.method))];
  }

  /**
   * Whether two rows of one node read the same, the nodes inside its blocks left out.
   * @param {number} first
   * @param {number} second
   */
  sameNode(first, second) {
    if (first === second) return true;
    const [a, b] = [this.rows[first], this.rows[second]];
    return Boolean(a[8] && b[8]) && shallow(a) === shallow(b);
  }

  /**
   * Map from node key to "added", "removed" or "changed"; nodes that read the same are not in it.
   * @param {number | null} before
   * @param {number} after
   */
  diff(before, after) {
    /** @type {Map<number, Status>} */
    const statuses = new Map();
    if (before === null || before === after) return statuses;
    const [old, now] = [this.snapshot(before), this.snapshot(after)];
    for (const key of old.order) {
      if (now.rowOf[key] === NONE) statuses.set(key, "removed");
      else if (!this.sameNode(old.rowOf[key], now.rowOf[key])) statuses.set(key, "changed");
    }
    for (const key of now.order) if (old.rowOf[key] === NONE) statuses.set(key, "added");
    return statuses;
  }

  /**
   * Whether a step made most of its graph anew, as inlining does: then place by place there is little to compare.
   * @param {number | null} before
   * @param {number} after
   */
  replaced(before, after) {
    if (before === null || before === after) return false;
    const [old, now] = [this.snapshot(before), this.snapshot(after)];
    const made = now.order.filter((key) => old.rowOf[key] === NONE).length;
    return now.order.length >= REPLACED.least && made > REPLACED.share * now.order.length;
  }

  /**
   * Index of the step of the same method before this one; null for the first.
   * @param {GraphStep} step
   */
  stepBefore(step) {
    return this.steps.slice(0, step.index).findLast((one) => one.method === step.method)?.index ?? null;
  }

  /**
   * @param {number[]} snapshots
   * @param {boolean} constants
   */
  outline(snapshots, constants) {
    const name = `${[...new Set(snapshots)].sort((a, b) => a - b)}/${constants}`;
    const known = this.outlines.get(name);
    if (known) return known;
    const made = new Outline(this, snapshots, constants);
    this.outlines.set(name, made);
    return made;
  }

  /**
   * Snapshots that share one layout with this pair: its epoch's, or only the two where it spans several.
   * @param {number | null} before
   * @param {number} after
   */
  epochOf(before, after) {
    this.epochs ??= this.methods().flatMap((method) => findEpochs(this, method));
    const epoch = this.epochs.find((one) => one.has(after) && (before === null || one.has(before)));
    return epoch ? [...epoch] : before === null ? [after] : [before, after];
  }
}
