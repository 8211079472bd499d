/* Notes on a measured latency: what disturbed it, and what would help. */

import { h } from "./dom.js";

/**
 * A list with one line for each note; its subject stands out.
 * @param {string[]} notes such as "noisy: the interval reaches 60% away from 1; stop other programs"
 */
export function measuringNotes(notes) {
  if (!notes.length) return null;
  return h(
    "div.fv-measuring-notes",
    null,
    h("p.fv-muted.fv-small", null, "About this measurement:"),
    h("ul.fv-list.fv-small", null, notes.map(line)),
  );
}

/** @param {string} note */
function line(note) {
  const [, subject, rest] = note.match(/^([a-z]+(?: [a-z]+)?): (.*)$/su) ?? [null, "", note];
  return h("li", null, subject ? h("strong", null, `${subject}: `) : null, rest);
}
