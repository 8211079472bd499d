/* The graph view's union: all nodes of some snapshots in one order, and the edges that any of the snapshots has. */

const NONE = -1;

export class Union {
  /**
   * @param {Model} model
   * @param {number[]} snapshots whose union this is, in recorded order
   */
  constructor(model, snapshots) {
    this.model = model;
    this.snapshots = snapshots;
    // _mergeOrder
    /** @type {number[]} */
    this.order = [];
    /** @type {number[][]} */
    this.rowsOf = [];
    this.holder = new Int32Array();
    this.block = new Int32Array();
    this.progress = new Float64Array();
    this.position = new Int32Array();
    // _findEdges
    /** @type {Map<number, number[]>} */
    this.producers = new Map();
    /** @type {number[][]} */
    this.inputsOf = [];
    /** @type {number[][]} */
    this.readers = [];
    // _findBypasses
    /** @type {Map<string, number>} */
    this.bypasses = new Map();
    this._mergeOrder();
    this._findEdges();
    this._findBypasses();
  }

  /**
   * The latest version of a node.
   * @param {number} key
   */
  row(key) {
    return /** @type {number} */ (this.rowsOf[key].at(-1));
  }

  /** @param {number} key */
  op(key) {
    return this.model.op(this.row(key));
  }

  /**
   * `order`: keys; a node that came or went is behind the node it was behind. `position`: key -> place in it.
   * `progress`: key -> how far into its graph it is, from 0 to 1, whatever else is there.
   * `rowsOf`: key -> its versions, the latest last. `holder`, `block`: key -> the node and block it is nested in.
   */
  _mergeOrder() {
    const size = this.model.ids.length;
    const next = new Int32Array(size + 1).fill(NONE); // next[0] is the first, next[key + 1] follows key
    const last = new Int32Array(size).fill(NONE);
    const [sums, counts] = [new Float64Array(size), new Int32Array(size)];
    this.holder = new Int32Array(size).fill(NONE);
    this.block = new Int32Array(size);
    for (const index of this.snapshots) {
      const snapshot = this.model.snapshot(index);
      let previous = NONE;
      let place = 0;
      for (const key of snapshot.order) {
        const row = snapshot.rowOf[key];
        sums[key] += place++ / snapshot.order.length;
        counts[key]++;
        if (last[key] === NONE) {
          next[key + 1] = next[previous + 1];
          next[previous + 1] = key;
          this.rowsOf[key] = [row];
        } else if (last[key] !== row) this.rowsOf[key].push(row);
        last[key] = row;
        this.holder[key] = snapshot.holder[key];
        this.block[key] = snapshot.block[key];
        previous = key;
      }
    }
    for (let key = next[0]; key !== NONE; key = next[key + 1]) this.order.push(key);
    this.progress = sums.map((sum, key) => sum / counts[key]);
    this.position = new Int32Array(size);
    this.order.forEach((key, position) => (this.position[key] = position));
  }

  /** `readers`, `inputsOf`: key -> keys, in any of the snapshots; `producers`: value (string index) -> keys. */
  _findEdges() {
    const { model } = this;
    for (const key of this.order) [this.inputsOf[key], this.readers[key]] = [[], []];
    const { start, values } = model.rowInputs;
    /** @type {Snapshot | null} */
    let last = null;
    for (const index of this.snapshots) {
      const snapshot = model.snapshot(index);
      for (const key of snapshot.order) {
        const row = snapshot.rowOf[key];
        const same = last !== null && last.rowOf[key] === row;
        // A value's name may pass to another node from pass to pass, so it is looked up in each snapshot.
        for (let at = start[row]; at < start[row + 1]; at++) {
          const value = values[at];
          const from = snapshot.producer[value];
          if (from === NONE || from === key || (same && last?.producer[value] === from)) continue;
          this._connect(from, key, value);
        }
      }
      last = snapshot;
    }
  }

  /**
   * @param {number} from
   * @param {number} key
   * @param {number} value
   */
  _connect(from, key, value) {
    const makers = this.producers.get(value);
    if (makers === undefined) this.producers.set(value, [from]);
    else if (!makers.includes(from)) makers.push(from);
    if (this.inputsOf[key].includes(from)) return;
    this.inputsOf[key].push(from);
    this.readers[from].push(key);
  }

  /**
   * `bypasses`: "from/to" of edges that exist only where a node between the two does not -> that node's key.
   *
   * A folded batch norm leaves a line from the convolution to what follows. It may run right through the place the
   * batch norm had: the two are never seen together.
   */
  _findBypasses() {
    const { model } = this;
    const snapshots = this.snapshots.map((index) => model.snapshot(index));
    for (const key of this.order) {
      if (this.rowsOf[key].length < 2) continue;
      for (const from of this.inputsOf[key]) {
        const between = this.inputsOf[key].filter((one) => this.inputsOf[one].includes(from));
        const joined = snapshots.filter(
          (one) =>
            one.rowOf[key] !== NONE &&
            model.inputs(one.rowOf[key]).some((/** @type {number} */ value) => one.producer[value] === from),
        );
        const gone = between.find((one) => joined.every((snapshot) => snapshot.rowOf[one] === NONE));
        if (gone !== undefined) this.bypasses.set(`${from}/${key}`, gone);
      }
    }
  }
}
