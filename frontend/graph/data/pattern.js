/* Regular expressions that cannot hang the page: their time is linear in the text, whatever the pattern.
 *
 * JavaScript's own go back and try again, which takes for ever with a pattern such as (a+)+$, and nothing can stop them.
 * Here all ways through the pattern are followed at once (K. Thompson, "Regular expression search algorithm", CACM 11,
 * 1968), and the sets of ways that were met are kept, so that most letters of a text cost one look-up.
 */

import { isLineEnd, isWord, parsePattern, PatternError } from "./pattern_syntax.js";

const MOST_STATES = 600; // of a pattern with its repetitions written out
const MOST_KEPT = 3000; // sets of states, kept at once
const MOST_WORK = 2e6; // states visited for sets that were not kept, in one search of a graph: a second or so
const FOUND = -1;

/**
 * A test for texts: case does not matter, ^ and $ match at the ends of lines. Raises a `PatternError`.
 * @param {string} text of a regular expression
 */
export function compilePattern(text) {
  const matcher = new Matcher(parsePattern(text));
  return (/** @type {string} */ one) => matcher.isIn(one);
}

class Matcher {
  /** @param {PatternTree} tree */
  constructor(tree) {
    /** @type {PatternState[]} */
    this.states = [{}]; // the first is the end
    this.start = this.build(tree, 0);
    this.work = 0;
    /** @type {Map<string, number>} */
    this.indexOf = new Map();
    /** @type {{ core: number[], before: string, next: Map<string, number> }[]} */
    this.kept = [];
    this.first = this.keep([], "");
  }

  forget() {
    this.indexOf.clear();
    this.kept.length = 0;
    this.first = this.keep([], "");
  }

  /** @param {PatternState} state */
  add(state) {
    if (this.states.length >= MOST_STATES) throw new PatternError("repeats too much: use * or + or smaller counts");
    return this.states.push(state) - 1;
  }

  /**
   * Adds the states of a part of the pattern that go on to `next`; returns the first.
   * @param {any} tree
   * @param {number} next
   * @returns {number}
   */
  build(tree, next) {
    if (tree.set) return this.add({ set: tree.set, next });
    if (tree.at) return this.add({ at: tree.at, next });
    if (tree.items) {
      return tree.items.reduceRight((/** @type {number} */ to, /** @type {any} */ item) => this.build(item, to), next);
    }
    if (tree.options) return this.add({ fork: tree.options.map((/** @type {string} */ one) => this.build(one, next)) });
    let from = next;
    if (tree.max === Infinity) {
      from = this.add({ fork: [] });
      this.states[from].fork = [this.build(tree.item, from), next];
    } else {
      for (let n = tree.min; n < tree.max; n++) from = this.add({ fork: [this.build(tree.item, from), next] });
    }
    for (let n = 0; n < tree.min; n++) from = this.build(tree.item, from);
    return from;
  }

  /** @param {string} text */
  isIn(text) {
    let at = this.first;
    for (let place = 0; place <= text.length; place++) {
      const letter = text[place] ?? "";
      at = this.kept[at].next.get(letter) ?? this.go(at, letter);
      if (at === FOUND) return true;
    }
    return false;
  }

  /**
   * The set after a letter, or after the end of the text, which is no letter.
   * @param {number} from
   * @param {string} letter
   */
  go(from, letter) {
    const { core, before, next } = this.kept[from];
    const reached = this.reached(core, before, letter);
    if (reached.has(0)) {
      next.set(letter, FOUND);
      return FOUND;
    }
    const after = new Set();
    for (const index of reached) {
      const state = this.states[index];
      if (letter && state.set?.(letter)) after.add(state.next);
    }
    if (this.kept.length >= MOST_KEPT) {
      this.forget();
      return this.keep([...after], letter);
    }
    const to = this.keep([...after], letter);
    next.set(letter, to);
    return to;
  }

  /**
   * All states that can be in between two letters without reading one.
   * @param {number[]} core
   * @param {string} before
   * @param {string} letter
   */
  reached(core, before, letter) {
    const found = new Set([...core, this.start]);
    for (const index of found) {
      const { fork, at, next } = this.states[index]; // the set grows while it is read
      if (fork) fork.forEach((one) => found.add(one));
      else if (at && holds(at, before, letter)) found.add(/** @type {number} */ (next));
    }
    this.work += found.size;
    if (this.work > MOST_WORK) throw new PatternError("takes too long in this graph: make it simpler");
    return found;
  }

  /**
   * Index of a set; of the letter before it only what assertions ask counts.
   * @param {number[]} core
   * @param {string} letter
   */
  keep(core, letter) {
    const before = !letter || isLineEnd(letter) ? "" : isWord(letter) ? "w" : "-";
    const name = `${before}${core.sort((a, b) => a - b)}`;
    let index = this.indexOf.get(name);
    if (index === undefined) {
      index = this.kept.push({ core, before, next: new Map() }) - 1;
      this.indexOf.set(name, index);
    }
    return index;
  }
}

/**
 * @param {string} at
 * @param {string} before empty at the start of a line
 * @param {string} letter empty at the end of the text
 */
function holds(at, before, letter) {
  if (at === "^") return before === "";
  if (at === "$") return letter === "" || isLineEnd(letter);
  const isBorder = (before === "w") !== (letter !== "" && isWord(letter));
  return at === "b" ? isBorder : !isBorder;
}
