/* One snapshot of a graph as tables: the order of its nodes, where each is, and what makes each value. */

// part of the graph after a step that is new, from this many nodes on
export const NONE = -1;

export class Snapshot {
  /**
   * @param {Model} model
   * @param {{ inputs: number[]; body: number; output: number; }} graph
   */
  constructor(model, graph) {
    const table = (/** @type {number} */ size) => new Int32Array(size).fill(NONE);
    /** @type {number[]} */
    this.order = []; // keys, each node before the ones nested in it
    this.rowOf = table(model.ids.length); // key -> row
    this.holder = table(model.ids.length); // key -> key of the node whose block it is in
    this.block = new Int32Array(model.ids.length); // key -> number of that block
    this.producer = table(model.strings.length); // value (string index) -> key
    this.nodes = NONE; // how many it has, once they are counted
    this._addFrame(model, graph, NONE, 0);
  }

  /**
   * How many nodes it has, without inputs and returns.
   * @param {Model} model
   */
  nodeCount(model) {
    if (this.nodes === NONE) this.nodes = this.order.filter((key) => !model.isPseudo(key)).length;
    return this.nodes;
  }

  /**
   * @param {Model} model
   * @param {{ inputs: number[]; body: number; output: number; }} frame
   * @param {number} holder
   * @param {number} block
   */
  _addFrame(model, frame, holder, block) {
    for (const row of frame.inputs) this._add(model, row, holder, block);
    for (const row of model.bodies[frame.body]) {
      const key = this._add(model, row, holder, block);
      const { blocks } = model;
      for (let number = 0; number < blocks[row].length; number++) {
        this._addFrame(model, blocks[row][number], key, number);
      }
    }
    if (frame.output !== NONE) this._add(model, frame.output, holder, block);
  }

  /**
   * @param {Model} model
   * @param {number} row
   * @param {number} holder
   * @param {number} block
   */
  _add({ keys, rowOutputs: { start, values } }, row, holder, block) {
    const key = keys[row];
    this.order.push(key);
    this.rowOf[key] = row;
    this.holder[key] = holder;
    this.block[key] = block;
    for (let at = start[row]; at < start[row + 1]; at++) this.producer[values[at]] = key;
    return key;
  }
}
