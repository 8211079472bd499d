/* The graph view's arrangements: scenes with their layouts, the last few of which are kept. */
(function (root) {
  "use strict";

  const { LayoutRunner, Scene, drawing } = root.FreezerGraph;
  const KEPT = 12;

  class Arrangements {
    /** @param {"auto" | "never"} mode whether layouts may run in a worker */
    constructor(mode) {
      this.runner = new LayoutRunner(mode);
      this.kept = new Map(); // the latest last
    }

    /** `{scene, layout}` of an outline with some groups open, or a promise of it. */
    of(outline, expanded) {
      const name = [outline.snapshots, outline.constants, ...[...expanded].sort()].join("\n");
      const known = this.kept.get(name);
      if (known) return this._keep(name, known);
      const scene = new Scene(outline, expanded, drawing.boxSize);
      const layout = this.runner.run(scene.input);
      if (!(layout instanceof Promise)) return this._keep(name, { scene, layout });
      return layout.then((found) => this._keep(name, { scene, layout: found }));
    }

    _keep(name, made) {
      this.kept.delete(name);
      this.kept.set(name, made);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
      return made;
    }

    forget() {
      this.kept.clear();
    }

    stop() {
      this.runner.stop();
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { Arrangements });
})(globalThis);
