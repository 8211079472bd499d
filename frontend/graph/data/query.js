/* The graph view's queries: what a search field says, as tests of texts. */

import { compilePattern } from "./pattern.js";

const MOST_LETTERS = 4000; // of one text that a regular expression looks through

/**
 * A query: `names` tests the names of a node, `shapes` the types of its values, `source` its place and line of source.
 *
 * Plain text is looked for in names; in shapes and places where it looks like one, lest a number find half the graph. A
 * regular expression is looked for in everything; each name is a line of its own, so ^ and $ match at its ends.
 * @param {string} text `/…/` is a regular expression as well
 * @param {boolean} isPattern whether the text is a regular expression
 * @returns {Query | null} null where nothing is looked for; raises a `PatternError`
 */
export function makeQuery(text, isPattern) {
  const trimmed = text.trim();
  const slashed = /^\/(.+)\/i?$/.exec(trimmed);
  if (isPattern || slashed) {
    const pattern = slashed ? slashed[1] : trimmed;
    if (!pattern) return null;
    const compiled = compilePattern(pattern);
    const test = (/** @type {string} */ one) => compiled(one.slice(0, MOST_LETTERS));
    return { names: test, shapes: test, source: test, line: test };
  }
  const wanted = trimmed.toLowerCase();
  if (!wanted) return null;
  const test = (/** @type {string} */ one) => one.toLowerCase().includes(wanted);
  return {
    names: test,
    shapes: /^[\d.%]+$/.test(wanted) ? null : test,
    source: /\.py\b|:\d/.test(wanted) ? test : null,
    line: null,
  };
}
