/* The graph view's search: what was found last, and the boxes that show it. */
(function (root) {
  "use strict";

  const { TextIndex } = root.FreezerGraph;

  class Search {
    constructor(view) {
      this.view = view;
      this.forget();
    }

    /** Lets go of all that belongs to one trace. */
    forget() {
      this.texts = null;
      this.matches = [];
      this.items = new Set();
    }

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

  root.FreezerGraph = Object.assign(root.FreezerGraph, { Search });
})(globalThis);
