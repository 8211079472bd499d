/* The source of two traces: one listing, with what became of each line in A and in B. */

import { count } from "../graph/data/words.js";
import { percentText } from "./amounts.js";
import { fill, h } from "./dom.js";
import { SIDES, sideSign } from "./pair.js";
import { section } from "./section.js";
import { lineSections } from "./source_facts.js";
import { lineKey, placeOfKey, shareOf } from "./source_links.js";
import { codeOf, indentOf, SourceListing } from "./source_listing.js";
import { errorMark, passMark, words } from "./source_marks.js";
import { placeText } from "./source_places.js";

const FOREMOST = 12;
const CONTEXT = 2; // lines around one that differs

/**
 * A file of the listing: as of one trace, with the lines of both.
 * @typedef {FileRow & { pair: FilePair }} PairedFile
 */

export class ComparisonSourcePanel {
  /**
   * Whether either trace knows of any line.
   * @param {ComparisonModel} model
   */
  static isFor(model) {
    return model.comparison.source.files.length > 0;
  }

  /** @param {ComparisonApp} app */
  constructor(app) {
    this.app = app;
    this.id = "source";
    this.label = "Source";
    this.pairs = app.model.comparison.source.files;
    /** @type {[string, LinePair][]} */
    this.differing = this.pairs.flatMap((file) =>
      file.lines.filter(([, , , differences]) => differences.length).map((pair) => [keyOf(file, pair), pair]),
    );
    this.count = ownFirst(this.pairs, this.differing).length;
    /** @type {string | null} */
    this.hovered = null;
    this.kept = "";
    this.listing = new PairedListing(app, {
      hover: (key) => this.hover(key),
      pin: (key) => app.navigate({ line: key === app.current.line ? "" : key, node: null, attribute: null }),
    });
    /** @type {ElementOf<"input">} */
    this.quiet = h("input", { type: "checkbox", onchange: () => app.navigate({ quiet: this.quiet.checked }) });
    this.facts = h("div.fv-line-facts", { "aria-live": "polite" });
    this.element = h(
      "div.fv-panel-body.fv-duo",
      null,
      h(
        "section.fv-duo-source",
        { "aria-label": "Source of both traces" },
        h("div.fv-bar.fv-lines-legend", null, h("label.fv-check", null, this.quiet, "Only differences"), legend()),
        this.listing.element,
      ),
      h("section.fv-duo-facts", { "aria-label": "Line in both traces" }, this.facts),
    );
  }

  /** @param {string | null} key */
  hover(key) {
    if (key === this.hovered) return;
    this.hovered = key;
    this.paint();
  }

  /** @param {State} state */
  render(state) {
    this.quiet.checked = state.quiet;
    this.listing.show(state.quiet);
    if (state.line !== this.kept && state.line) this.listing.reveal([state.line]);
    this.kept = state.line;
    this.paint();
  }

  paint() {
    const kept = this.app.current.line || null;
    const key = this.hovered ?? kept;
    this.listing.paint(new Set(key ? [key] : []), kept);
    fill(this.facts, key === null ? this.opening() : this.line(key));
  }

  /** The lines to begin with. */
  opening() {
    const shown = ownFirst(this.pairs, this.differing);
    const items = shown
      .slice(0, FOREMOST)
      .map(([key, [, , , differences]]) =>
        h(
          "li",
          null,
          h("button.fv-linklike", { type: "button", onclick: () => this.app.navigate({ line: key }) }, place(key)),
          h("span.fv-muted", null, ` ${differences.join(", ")}`),
        ),
      );
    const more = shown.length - items.length;
    return [
      h("p", null, "Hover a line to see what became of it in both; a click keeps it. Arrow keys go through lines."),
      items.length
        ? section(
            "Lines that differ",
            h("ol.fv-list", null, items, more ? h("li.fv-muted", null, `and ${more} more`) : null),
          )
        : h("p.fv-muted", null, "Every line of your files has the same outcome in both."),
      h("p.fv-muted.fv-small", null, "Times are of two runs: they are shown, and make no difference."),
    ];
  }

  /** @param {string} key */
  line(key) {
    const { model } = this.app;
    const rows = model.lineRows(key);
    const [, , text, differences] = this.listing.pairs.get(key) ?? [null, null, null, []];
    const sides = SIDES.map((_, side) => {
      const row = rows[side];
      const { notes } = side ? model.comparison.source.b : model.view.by_line;
      return h(
        "section.fv-duo-side",
        null,
        h("div.fv-side-head", null, sideSign(side), ` ${model.comparison.names[side]}`),
        row
          ? model.as(side, () => lineSections(this.app, row, { notes, at: { tab: "graph" } }))
          : h("p.fv-muted", null, "No node of this trace comes from it."),
      );
    });
    return [
      h("h3.fv-line-title", { title: placeOfKey(key)?.file }, place(key)),
      text ? h("p.fv-mono.fv-wrap", null, text.trim()) : null,
      h(
        "p",
        null,
        differences.length ? ["Differs: ", h("strong", null, differences.join(", ")), "."] : "The same in both.",
      ),
      h("div.fv-duo-sides", null, sides),
    ];
  }
}

/** The lines of both traces; those of an edited file have two numbers. */
class PairedListing extends SourceListing {
  /**
   * @param {ComparisonApp} app
   * @param {{ hover: (key: string | null) => void, pin: (key: string) => void }} acts
   */
  constructor(app, acts) {
    const files = app.model.comparison.source.files.map((pair) => paired(app.model, pair));
    super(app, { files }, acts);
    this.isQuiet = /** @type {boolean | null} */ (null);
    /** @type {Map<string, LinePair>} */
    this.pairs = new Map();
    for (const { pair } of files) for (const line of pair.lines) this.pairs.set(keyOf(pair, line), line);
  }

  /** @param {boolean} isQuiet */
  show(isQuiet) {
    if (isQuiet === this.isQuiet) return;
    this.isQuiet = isQuiet;
    this.rows.clear();
    this.openers.clear();
    fill(this.element, this.files());
  }

  /** @param {PairedFile} row */
  name({ file, pair }) {
    const differ = pair.lines.filter(([, , , differences]) => differences.length).length;
    const folder = file.split(/[\\/]/).slice(-3, -1).join("/");
    const edited = pair.edited ? ", edited between A and B" : "";
    return [
      h("strong", null, file.split(/[\\/]/).at(-1)),
      h(
        "span.fv-muted",
        null,
        `${folder ? ` in ${folder}` : ""}, ${differ ? count(differ, "line") : "no line"} of it ${differ > 1 ? "differ" : "differs"}${edited}`,
      ),
    ];
  }

  /** @param {PairedFile} row */
  lines({ file, pair }) {
    const shown = this.isQuiet ? around(pair.lines) : pair.lines;
    if (!shown.length) return h("p.fv-lines-missing.fv-muted", null, "No line differs.");
    const list = this.list(file);
    const largest = Math.max(...pair.lines.map(([a, b]) => Math.max(a ?? 0, b ?? 0)));
    list.style.setProperty("--digits", `${Math.max(3, String(largest).length)}ch`);
    shown.forEach((line, at) => {
      if (at && !follows(shown[at - 1], line)) list.append(h("div.fv-code-gap", { "aria-hidden": "true" }, "⋯"));
      list.append(this.pairLine(pair, line));
    });
    return list;
  }

  /**
   * @param {FilePair} pair
   * @param {LinePair} line
   */
  pairLine(pair, line) {
    const [a, b, text, differences] = line;
    const key = keyOf(pair, line);
    const rows = /** @type {ComparisonModel} */ (this.app.model).lineRows(key);
    const isKnown = rows.some(Boolean);
    const told = isKnown
      ? [
          differences.length ? `Differs: ${differences.join(", ")}` : "The same in both",
          ...rows.map((row, side) => `${"AB"[side]}: ${row ? words(row).join("; ") : "no node comes from it"}`),
        ]
      : [];
    const number = a === null ? `B ${b}` : b === null ? `A ${a}` : a === b ? a : `A ${a}, B ${b}`;
    const spoken = [`Line ${number}: ${(text ?? "").trim()}`, ...told].join(". ");
    const element = h(
      "div.fv-line",
      {
        role: "option",
        id: `${this.app.prefix}-line-${this.made}`,
        "aria-selected": "false",
        "aria-disabled": isKnown ? null : "true",
        "aria-label": spoken,
        title: told.length ? told.join("\n") : null,
        class: `${isKnown ? "fv-line-known" : ""} ${a === null ? "fv-line-only-b" : b === null ? "fv-line-only-a" : ""}`,
      },
      h("span.fv-line-number", null, a),
      pair.edited ? h("span.fv-line-number", null, b) : null,
      rows.map((row, side) => marks(row, side)),
      h("span.fv-line-differs.fv-pair-new", null, differences.length ? "≠" : ""),
      h(
        "span.fv-line-code",
        { style: { "--indent": `${indentOf(text ?? "")}ch` } },
        text === null ? h("span.fv-muted", null, "(neither trace has the text of this line)") : codeOf(text),
      ),
    );
    this.made += 1;
    if (isKnown) {
      element.dataset.line = key;
      this.rows.set(key, element);
    }
    return element;
  }
}

/**
 * A file of both as the listing of one takes it.
 * @param {ComparisonModel} model
 * @param {FilePair} pair
 * @returns {PairedFile}
 */
function paired(model, pair) {
  const lines = pair.lines.flatMap((line) =>
    model
      .lineRows(keyOf(pair, line))
      .filter((row) => row !== null)
      .slice(0, 1),
  );
  return { file: pair.names[0], kind: pair.kind, missing: pair.missing, lines, pair };
}

/**
 * @param {FilePair} file
 * @param {LinePair} line
 */
function keyOf({ names }, [a, b]) {
  return a === null ? lineKey(names[1], /** @type {number} */ (b)) : lineKey(names[0], a);
}

/**
 * The differing lines of the user's own files; where these have none, those of all files.
 * @param {FilePair[]} files
 * @param {[string, LinePair][]} lines
 */
function ownFirst(files, lines) {
  const own = new Set(files.filter(({ kind }) => kind === "own").flatMap(({ names }) => names));
  const found = lines.filter(([key]) => own.has(/** @type {{ file: string }} */ (placeOfKey(key)).file));
  return own.size ? found : lines;
}

/** @param {string} key */
function place(key) {
  return placeText(/** @type {{ file: string, line: number }} */ (placeOfKey(key)));
}

/**
 * Lines that differ, and some around them.
 * @param {LinePair[]} lines
 */
function around(lines) {
  const near = new Set(
    lines.flatMap(([, , , differences], at) =>
      differences.length ? Array.from({ length: 2 * CONTEXT + 1 }, (_, offset) => at + offset - CONTEXT) : [],
    ),
  );
  return lines.filter((_, at) => near.has(at));
}

/**
 * Whether a line is the next one of either file.
 * @param {LinePair} before
 * @param {LinePair} line
 */
function follows([a, b], [nextA, nextB]) {
  const isNext = (/** @type {number | null} */ one, /** @type {number | null} */ next) =>
    one === null || next === null || next === one + 1;
  return isNext(a, nextA) && isNext(b, nextB);
}

/**
 * @param {LineRow | null} row
 * @param {number} side
 */
function marks(row, side) {
  const time = row && shareOf(row);
  return h(
    "span.fv-line-side",
    { class: `fv-line-side-${SIDES[side]}` },
    h("span.fv-line-share.fv-num", null, time ? percentText(time.share) : ""),
    passMark(row ?? undefined),
    errorMark(row ?? undefined),
  );
}

function legend() {
  return [
    ...SIDES.map((_, side) =>
      h(
        "span.fv-muted.fv-small",
        { title: "Share of the time, and how many passes touched the line" },
        sideSign(side),
        " % of its time, ",
        h("span.fv-line-passes.fv-num", null, "3"),
        " passes",
      ),
    ),
    h(
      "span.fv-muted.fv-small",
      { title: "The outcome of the line is another one in B: passes, what is left, kernels or the error it brought" },
      h("span.fv-pair-new", null, "≠"),
      " differs",
    ),
  ];
}
