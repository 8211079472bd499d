/* Dialogs: what the keys and signs mean, and a text to copy by hand. */

import { h } from "./dom.js";
import { pairs } from "./section.js";

const KEYS = [
  ["↑ ↓", "previous, next pass"],
  ["r f", "previous, next pass that changed something"],
  ["c", "compare from the chosen pass on; again, or Esc: with the pass before, as usual"],
  ["/", "search in the open tab"],
  ["0 … 9", "open a tab; 0 is the summary"],
  ["s", "the source; there ↑ ↓ go through its lines, ↵ keeps one"],
  ["h", "hide or show passes without effect"],
  ["n p", "in the graph: next, previous change"],
  ["+ − 0", "in the graph: zoom, whole graph; the wheel zooms, dragging moves"],
  ["↵", "in the graph: open or close the chosen module"],
  ["Esc", "leave a field, close details, end the comparison"],
  ["?", "this sheet"],
];

/** @type {[() => Child, string][]} */
const PASS_SIGNS = [
  [
    () => [h("span.fv-removed", null, "−9 "), h("span.fv-added", null, "+7 "), h("span.fv-modified", null, "~4")],
    "nodes that a pass removed, added, changed",
  ],
  [() => h("span.fv-muted", null, "−2 unread"), "the pass only tidied up: it removed nodes that nothing read"],
  [() => h("span.fv-muted", null, "moved"), "the same nodes in another order"],
  [() => h("span.fv-muted", null, "module"), "the graph stayed, the module's attributes changed"],
  [() => h("span.fv-round", null, "r2"), "second round of a loop of passes"],
  [
    () => [
      h("span.fv-payoff.fv-payoff-faster", null, "▼ −12%"),
      " ",
      h("span.fv-payoff.fv-payoff-slower", null, "▲ +10%"),
    ],
    "the pass saved, or cost, measurable time against the pass before",
  ],
  [
    () =>
      h(
        "span.fv-speed",
        null,
        h("span.fv-speed-bar", { style: { width: "70%" } }),
        h("span.fv-speed-spread", { style: { left: "58%", width: "24%" } }),
      ),
    "median latency after the pass, with its 95% interval; teal or red where the difference from the first step is measurable",
  ],
  [
    () => [h("span.fv-pass-broke", null, "≠"), " ", h("span.fv-muted", null, "≠")],
    "outputs are past torch's tolerances against eager: the first pass that made them so, those after it",
  ],
  [() => h("span.fv-warn", null, "!"), "there is a notice about the pass"],
];

/** @type {[() => Child, string][]} */
const OTHER_SIGNS = [
  [() => fateBadge("inlined"), "the value is a constant of the final graph"],
  [() => fateBadge("folded"), "it was, and a later pass consumed that constant"],
  [() => fateBadge("preserved"), "still an attribute of the frozen module, or an input of the compiled graph"],
  [() => fateBadge("dropped"), "no kept code reads it"],
  [
    () => h("span.fv-chip-sign", null, "weight [64]"),
    "in the graph: a constant or attribute that the box reads; its frame has the colour of the fate",
  ],
  [() => h("span.fv-ghost-sign"), "in the graph: only the other side has a box here"],
];

/**
 * @param {string} fate
 * @param {Record<string, any>} [props]
 */
export function fateBadge(fate, props = {}) {
  return h("span.fv-badge.fv-fate", { class: `fv-fate-${fate}`, ...props }, h("span.fv-dot"), fate);
}

/**
 * @param {string} label
 * @param {...any} children
 */
function dialog(label, ...children) {
  /** @type {ElementOf<"dialog">} */
  const element = h(
    "dialog.fv-sheet",
    { "aria-label": label, onclick: (event) => event.target === element && element.close() },
    children,
    h("form", { method: "dialog" }, h("button.fv-button", null, "Close")),
  );
  return element;
}

/**
 * Two traces have some keys and signs for other things than one has: `words` says which.
 * @param {{ keys?: Record<string, string>, passSigns?: [() => Child, string][], glossary?: [string, string][], tour?: () => void }} [words]
 */
export function keySheet({ keys: otherKeys = {}, passSigns = PASS_SIGNS, glossary = [], tour } = {}) {
  const keys = KEYS.map(([key, text]) => [
    h(
      "dt",
      null,
      key.split(" ").map((name) => [h("kbd", null, name), " "]),
    ),
    h("dd", null, otherKeys[key] ?? text),
  ]);
  const signs = [...passSigns, ...OTHER_SIGNS].map(([sign, text]) => [h("dt", null, sign()), h("dd", null, text)]);
  const columns = h(
    "div.fv-sheet-columns",
    null,
    h("section", null, h("h2", null, "Keys"), h("dl.fv-pairs", null, keys)),
    h("section", null, h("h2", null, "Signs"), h("dl.fv-pairs", null, signs)),
    glossary.length ? h("section.fv-glossary", null, h("h2", null, "Glossary"), pairs(glossary)) : null,
  );
  const start =
    tour && h("button.fv-button.fv-sheet-tour", { type: "button", onclick: () => begin() }, "Take the tour");
  const element = dialog("Keys and signs", start, columns);
  const begin = () => {
    element.close();
    tour?.();
  };
  return element;
}

/** For pages that get no clipboard: shows the text, chosen and ready for the browser's own copy. */
export function copySheet() {
  const text = h("textarea.fv-copy-text", { readonly: true, rows: 6, "aria-label": "Text to copy" });
  const element = dialog(
    "Copy by hand",
    h("h2", null, "Copy by hand"),
    h("p.fv-muted", null, "This page may not use the clipboard: press Ctrl+C, or ⌘C."),
    text,
  );
  /** @param {string} words */
  const show = (words) => {
    text.value = words;
    element.showModal();
    text.select();
  };
  return { element, show };
}
