/* The graph view's index of what is at which height: a frame looks only at what may be in sight. */

const ROW = 400; // units of the world in one row of the index
const TALL = 24; // rows; what spans more of them is looked at in every frame

export class RowIndex {
  /**
   * @param {number} count of spans
   * @param {(at: number) => number} top of span n
   * @param {(at: number) => number} bottom of span n
   */
  constructor(count, top, bottom) {
    this.count = count;
    /** @type {number[]} */
    this.tall = [];
    /** @type {number[][]} */
    this.rows = [];
    for (let at = 0; at < count; at++) {
      const [first, last] = [rowOf(top(at)), rowOf(bottom(at))];
      if (last - first > TALL) this.tall.push(at);
      else for (let row = first; row <= last; row++) (this.rows[row] ??= []).push(at);
    }
    this.seen = new Uint32Array(count);
    this.turn = 0;
  }

  /**
   * Spans that may be between two heights, in order, each once; every span that is there is among them.
   * @param {number} top
   * @param {number} bottom
   */
  between(top, bottom) {
    const [first, last] = [rowOf(top), Math.min(rowOf(bottom), this.rows.length - 1)];
    const found = this.tall.slice();
    this.turn++;
    for (let row = first; row <= last; row++) {
      for (const at of this.rows[row] ?? []) {
        if (this.seen[at] === this.turn) continue;
        this.seen[at] = this.turn;
        found.push(at);
      }
    }
    return found.sort((a, b) => a - b);
  }
}

/** @param {number} y */
function rowOf(y) {
  return Math.max(0, Math.floor(y / ROW));
}

/**
 * The indices of a layout's items and segments, made when it is first painted.
 * @param {LayoutOutput} layout
 */
export function indexOf(layout) {
  let known = indices.get(layout);
  if (!known) {
    const { x1, y1, y2, y, height } = layout;
    known = {
      segments: new RowIndex(
        x1.length,
        (at) => Math.min(y1[at], y2[at]),
        (at) => Math.max(y1[at], y2[at]),
      ),
      items: new RowIndex(
        y.length,
        (at) => y[at],
        (at) => y[at] + height[at],
      ),
    };
    indices.set(layout, known);
  }
  return known;
}

/** @type {WeakMap<LayoutOutput, { segments: RowIndex, items: RowIndex }>} */
const indices = new WeakMap();
