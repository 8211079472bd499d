/* The graph view's search: what was found last, and the boxes that show it. */

import { makeQuery } from "./data/query.js";
import { TextIndex } from "./data/text_index.js";

export class Search {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {TextIndex | null} */
    this.texts = null;
    /** @type {Match[]} */
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

  /**
   * Finds nodes; a bad pattern finds none, and raises a `PatternError`.
   * @param {string} text
   * @param {{ pattern?: boolean }} [how] `pattern`: the text is a regular expression
   */
  run(text, { pattern = false } = {}) {
    const { model, options, steps } = this.view;
    this.texts ??= model && new TextIndex(model, options.sourceLine);
    const shown = steps ? [steps.after, steps.before].filter((index) => index !== null) : [];
    this.matches = [];
    try {
      const query = makeQuery(text, pattern);
      this.matches = this.texts ? this.texts.find(query, shown) : [];
    } finally {
      this.resolve();
      this.view.stage.redraw();
    }
    return this.matches.map((match) => ({ ...match }));
  }

  /** Finds the boxes anew: the picture or the matches are others. */
  resolve() {
    const { picture } = this.view;
    const items = picture ? this.matches.map((match) => this._itemOf(match)) : [];
    this.items = new Set(items.filter((item) => item > 0));
  }

  /**
   * Index of the match to go to first: one in sight, else one whose box is there, else the first, which a closed group hides.
   */
  first() {
    const { picture, panes } = this.view;
    if (!picture) return 0;
    const boxes = this.matches.map((match) => {
      const item = this._itemOf(match);
      return item > 0 && !(picture.scene.items[item].group && picture.scene.idOf(item) !== match.id) ? item : -1;
    });
    const inSight = boxes.findIndex((item) => item > 0 && panes.isInSight(item));
    return Math.max(0, inSight >= 0 ? inSight : boxes.findIndex((item) => item > 0));
  }

  /** @param {Match} match */
  _itemOf(match) {
    const { picture } = this.view;
    return picture.scene.itemOf(picture.shownAs(match.id));
  }
}
