/* Where a layout runs: in a worker, or here where that is not allowed or not worth it.
 *
 * A page cannot read its own scripts, and a worker under its policy can load none: so the build puts the text of
 * worker.js, bundled, in the place of `LAYOUT_WORKER`. Unbundled sources have no such text and lay out on the page.
 */

import { run } from "./run.js";

const WORKER_SOURCE = typeof LAYOUT_WORKER === "undefined" ? null : LAYOUT_WORKER;
const IN_WORKER = 500; // boxes from which a layout is worth the way to a worker and back

export class LayoutRunner {
  /** @param {"auto" | "never"} mode whether there may be a worker */
  constructor(mode) {
    this.pending = new Map();
    this.next = 0;
    this.worker = null;
    this.refused = mode === "never" || WORKER_SOURCE === null;
  }

  /**
   * The output for one input, or a promise of it. A layout that is still being computed is given up for it: its promise
   * resolves to null.
   * @param {LayoutInput} input
   */
  run(input) {
    this.cancel();
    if (this.refused || input.parent.length < IN_WORKER) return run(input);
    this._start();
    if (!this.worker) return run(input);
    const id = this.next++;
    return new Promise((resolve) => {
      this.pending.set(id, { input, resolve });
      this.worker?.postMessage({ id, input });
    });
  }

  _start() {
    if (this.worker) return;
    try {
      const url = URL.createObjectURL(new Blob([/** @type {string} */ (WORKER_SOURCE)], { type: "text/javascript" }));
      this.worker = new Worker(url);
      URL.revokeObjectURL(url);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      this._refuse(); // SecurityError: the page's policy
      return;
    }
    this.worker.onmessage = ({ data }) => {
      this.pending.get(data.id).resolve(data.output);
      this.pending.delete(data.id);
    };
    // A policy may also let the constructor pass and refuse only the script.
    this.worker.onerror = (event) => {
      event.preventDefault();
      this._refuse();
    };
  }

  /** Gives up the layout that is being computed; a worker can only be ended as a whole. */
  cancel() {
    if (!this.pending.size) return;
    this.stop();
    for (const { resolve } of this.pending.values()) resolve(null);
    this.pending.clear();
  }

  _refuse() {
    this.refused = true;
    this.stop();
    for (const { input, resolve } of this.pending.values()) resolve(run(input));
    this.pending.clear();
  }

  stop() {
    if (this.worker) this.worker.terminate();
    this.worker = null;
  }
}
