/* The graph view's search: what was found last, and the boxes that show it. */

import { TextIndex } from "./data/lookup.js";

export class Search {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {TextIndex | null} */
    this.texts = null;
    /** @type {{id: string, label: string, module: string}[]} */
    this.matches = [];
    /** @type {Set<number>} */
    this.items = new Set();
  }

  /** Lets go of all that belongs to one trace. */
  forget() {
    this.texts = null;
    this.matches = [];
    this.items = new Set();
  }

  /** @param {string} text */
  run(text) {
    const { model, steps } = this.view;
    this.texts ??= model && new TextIndex(model);
    const shown = steps ? [steps.after, steps.before].filter((index) => index !== null) : [];
    this.matches = this.texts ? this.texts.find(text, shown) : [];
    this.resolve();
    this.view.stage.redraw();
    return this.matches.map((match) => ({ ...match }));
  }

  /** Finds the boxes anew: the picture or the matches are others. */
  resolve() {
    const { picture } = this.view;
    const items = picture ? this.matches.map((match) => picture.scene.itemOf(picture.shownAs(match.id))) : [];
    this.items = new Set(items.filter((item) => item > 0));
  }
}
