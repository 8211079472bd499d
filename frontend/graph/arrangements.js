/* The graph view's arrangements: scenes with their layouts, the last few of which are kept. */

import { Scene } from "./data/scene.js";
import { boxSize } from "./drawing/box_size.js";
import { LayoutRunner } from "./layout/runner.js";

const KEPT = 12;

export class Arrangements {
  /** @param {"auto" | "never"} mode whether layouts may run in a worker */
  constructor(mode) {
    this.runner = new LayoutRunner(mode);
    this.kept = new Map(); // the latest last
    /** @type {{ name: string, promise: Promise<any> } | null} */
    this.pending = null; // the one that is being computed
  }

  /**
   * `{scene, layout}` of an outline with some groups open, or a promise of it: of null, where a later call came before.
   * @param {Outline} outline
   * @param {Set<string>} expanded
   */
  of(outline, expanded) {
    const name = [outline.snapshots, outline.constants, ...[...expanded].sort()].join("\n");
    const known = this.kept.get(name);
    if (known) {
      this.runner.cancel();
      return this._keep(name, known);
    }
    if (this.pending?.name === name) return this.pending.promise;
    const scene = new Scene(outline, expanded, boxSize);
    const layout = this.runner.run(scene.input);
    if (!(layout instanceof Promise)) return this._keep(name, { scene, layout });
    const promise = layout.then((found) => {
      if (this.pending?.promise === promise) this.pending = null;
      return found && this._keep(name, { scene, layout: found });
    });
    this.pending = { name, promise };
    return promise;
  }

  /**
   * @param {string} name
   * @param {{ scene: Scene, layout: LayoutOutput }} made
   */
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
