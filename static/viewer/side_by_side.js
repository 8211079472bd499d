/* What Inductor generated with freezing beside what it generated without: kernels that do the same work in one row. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { h, grid } = FreezerViewer;
  const WORDS = { same: "the same", different: "differ", "only with freezing": "only with freezing", "only without freezing": "only without" };

  /** @param {Object} comparison one of `view.comparisons` */
  function sideBySide(app, comparison) {
    return [h("p", null, counts(app, comparison)), kernels(app, comparison), passes(comparison)];
  }

  function counts(app, { frozen, unfrozen, groups }) {
    const { programs } = app.model.view;
    const told = Object.entries(WORDS)
      .map(([difference, words]) => [groups.filter((group) => group.difference === difference).length, words])
      .filter(([count]) => count);
    return `${programs[frozen].kernels.length} kernels with freezing, ${programs[unfrozen].kernels.length} without; by the work they do: ${told.map(([count, words]) => `${count} ${words}`).join(", ")}.`;
  }

  function kernels(app, { frozen, unfrozen, groups }) {
    const chosen = ({ program, kernel }, group) => kernel !== null && ((program === frozen && group.frozen.includes(kernel)) || (program === unfrozen && group.unfrozen.includes(kernel)));
    const rows = groups.map((group) =>
      h(
        "tr",
        { class: `${chosen(app.current, group) ? "fv-chosen" : ""} ${group.difference === "same" ? "fv-row-same" : ""}` },
        h("td", null, links(app, frozen, group.frozen)),
        h("td.fv-num", { class: group.lost && group.unfrozen.length ? "fv-bad" : "" }, group.frozen_time),
        h("td", null, links(app, unfrozen, group.unfrozen)),
        h("td.fv-num", null, group.unfrozen_time),
        h("td", null, group.difference === "same" ? "=" : group.difference, group.lost && group.unfrozen.length ? h("div.fv-bad", null, "takes longer with freezing") : null),
      ),
    );
    return grid("", ["With freezing", "Time", "Without", "Time", ""], rows);
  }

  function links(app, program, places) {
    const { kernels } = app.model.view.programs[program];
    return places.map((kernel) => h("div.fv-mono", null, app.link(kernels[kernel].name, { program, kernel, node: null, attribute: null })));
  }

  function passes({ passes }) {
    if (!passes.length) return null;
    const rows = passes.map(([stage, name, frozen, unfrozen]) => h("tr", null, h("td", null, name, h("div.fv-muted.fv-small", null, stage)), h("td", null, frozen), h("td", null, unfrozen)));
    return grid("Passes with an effect in one of the two only", ["Pass", "With freezing", "Without"], rows);
  }

  Object.assign(FreezerViewer, { sideBySide });
})();
