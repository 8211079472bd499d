/* The outcome of a line in full: passes, remains, kernels, time, error. */

import { count } from "../graph/data/words.js";
import { percentText } from "./amounts.js";
import { h } from "./dom.js";
import { section } from "./section.js";
import { placeOfKey, shareOf, stepsOf } from "./source_links.js";
import { left } from "./source_marks.js";
import { placeText } from "./source_places.js";

const MOST_NODES = 8;

/**
 * @param {Viewer} app
 * @param {string} key
 * @param {LineRow} row
 */
export function lineFacts(app, key, row) {
  const place = /** @type {{ file: string, line: number }} */ (placeOfKey(key));
  const text = app.model.sourceAround(place.file, place.line, 0)[0]?.text;
  return [
    h("h3.fv-line-title", { title: place.file }, placeText(place)),
    text ? h("p.fv-mono.fv-wrap", null, text.trim()) : null,
    ...lineSections(app, row, { notes: app.model.view.by_line.notes }),
  ];
}

/**
 * The outcome of a line in one trace.
 * @param {Viewer} app
 * @param {LineRow} row
 * @param {{ notes: ByLine["notes"], at?: Partial<State> }} options why something is not known; what links lead to besides
 */
export function lineSections(app, row, { notes, at = {} }) {
  return [
    section("Passes that touched it", passes(app, row, at)),
    section("In the last graph", h("p", null, sentence(left(row))), nodes(app, row, at)),
    section("Time", ...times(row, notes)),
    section("Error", ...errors(app, row, { notes, at })),
  ];
}

/**
 * @param {Viewer} app
 * @param {LineRow} row
 * @param {Partial<State>} at
 */
function passes(app, row, at) {
  if (!row.effects.length) return h("p.fv-muted", null, "None: no pass changed it.");
  const items = stepsOf(row).map((step) =>
    h(
      "li",
      null,
      app.details.stepLink(step, at),
      row.effects.filter((effect) => effect.step === step).map(({ text }) => h("div.fv-muted.fv-small", null, text)),
    ),
  );
  return h("ol.fv-list.fv-line-effects", null, items);
}

/**
 * @param {Viewer} app
 * @param {LineRow} row
 * @param {Partial<State>} at
 */
function nodes(app, row, at) {
  const shown = [...row.left, ...row.constants].slice(0, MOST_NODES);
  const items = shown.map(([method, id]) => {
    const step = /** @type {ViewStep} */ (app.model.final(method)).index;
    const op = app.model.graph(step).nodes.get(id)?.op;
    return h(
      "li",
      null,
      app.link(`%${id}`, { step, node: id, attribute: null, kernel: null, ...at }),
      h("span.fv-muted", null, ` ${op}`),
    );
  });
  const more = row.left.length + row.constants.length - shown.length;
  return h("ul.fv-list.fv-small", null, items, more ? h("li.fv-muted", null, `and ${more} more`) : null);
}

/**
 * @param {LineRow} row
 * @param {ByLine["notes"]} notes
 */
function times(row, notes) {
  if (!row.times.length) {
    const why = row.kernels.length ? "Its kernels were not timed." : "Nothing that was timed runs it.";
    return [h("p.fv-muted", null, notes.time || why)];
  }
  const several = row.times.length > 1;
  return row.times.map(({ of, text }) => h("p", null, several ? h("span.fv-muted", null, `${of}: `) : null, text));
}

/**
 * @param {Viewer} app
 * @param {LineRow} row
 * @param {{ notes: ByLine["notes"], at: Partial<State> }} options
 */
function errors(app, row, { notes, at }) {
  if (row.errors.length) {
    return row.errors.map(({ step, text }) =>
      h("p", null, app.details.stepLink(step, at), h("span.fv-muted", null, ` ${text}`)),
    );
  }
  return [h("p.fv-muted", null, notes.error || "No pass that touched it made the error grow.")];
}

/**
 * The page while no line is in focus: a hint, the lines that matter most, and missing facts.
 * @param {Viewer} app
 * @param {[string, LineRow][]} foremost
 * @param {(key: string) => void} pin
 */
export function openingFacts(app, foremost, pin) {
  const items = foremost.map(([key, row]) => {
    const place = /** @type {{ file: string, line: number }} */ (placeOfKey(key));
    const time = shareOf(row);
    return h(
      "li",
      null,
      h("button.fv-linklike", { type: "button", onclick: () => pin(key) }, placeText(place)),
      h(
        "span.fv-muted",
        null,
        ` ${time ? `${percentText(time.share)} of the time` : count(row.effects.length, "effect")}`,
      ),
    );
  });
  const timed = foremost.some(([, row]) => shareOf(row));
  return [
    h(
      "p",
      null,
      "Hover a line, a node or a kernel to see what belongs to it; a click keeps it. Arrow keys go through lines, Enter keeps one.",
    ),
    items.length
      ? section(
          timed ? "Lines that take most time" : "Lines that passes did most to",
          h("ol.fv-list", null, items),
          timed
            ? h(
                "p.fv-muted.fv-small",
                null,
                "Lines overlap: each has the time of what it calls, and of operators or kernels that it shares with others.",
              )
            : null,
        )
      : null,
    ...Object.values(app.model.view.by_line.notes)
      .filter(Boolean)
      .map((note) => h("p.fv-muted.fv-small", null, note)),
  ];
}

/** @param {string} text */
function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
