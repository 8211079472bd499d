/* Where a layout runs: in a worker, or here where that is not allowed or not worth it. */
(function (root) {
  "use strict";

  const { layout, workerSource } = root.FreezerLayout;
  const IN_WORKER = 500; // boxes from which a layout is worth the way to a worker and back

  class LayoutRunner {
    /** @param {"auto" | "never"} mode whether there may be a worker */
    constructor(mode) {
      this.pending = new Map();
      this.next = 0;
      this.worker = null;
      this.refused = mode === "never";
    }

    /** The output for one input, or a promise of it. */
    run(input) {
      if (this.refused || input.parent.length < IN_WORKER) return layout.run(input);
      this._start();
      if (!this.worker) return layout.run(input);
      const id = this.next++;
      return new Promise((resolve) => {
        this.pending.set(id, { input, resolve });
        this.worker.postMessage({ id, input });
      });
    }

    _start() {
      if (this.worker) return;
      try {
        const url = URL.createObjectURL(new Blob([workerSource()], { type: "text/javascript" }));
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

    _refuse() {
      this.refused = true;
      this.stop();
      for (const { input, resolve } of this.pending.values()) resolve(layout.run(input));
      this.pending.clear();
    }

    stop() {
      if (this.worker) this.worker.terminate();
      this.worker = null;
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph || {}, { LayoutRunner });
})(globalThis);
