/* Regular expressions, parsed: the syntax of JavaScript's, without what needs backtracking (lookaround, backreferences).
 *
 * A tree of `{set}` (a test of one character), `{at}` (an assertion), `{items}` (one after the other), `{options}` (one of
 * several) and `{item, min, max}` (repeated).
 */

const MOST_LETTERS = 500;
const WORD = /\w/;
const SPACE = /\s/;
const DIGIT = /\d/;
/** @type {Record<string, (letter: string) => boolean>} */
const SETS = {
  d: (letter) => DIGIT.test(letter),
  D: (letter) => !DIGIT.test(letter),
  w: (letter) => WORD.test(letter),
  W: (letter) => !WORD.test(letter),
  s: (letter) => SPACE.test(letter),
  S: (letter) => !SPACE.test(letter),
};
/** @type {Record<string, string>} */
const CONTROLS = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v", 0: "\0" };
/** @type {Record<string, string>} */
const REFUSED = {
  "?=": "lookahead (?=…)",
  "?!": "negative lookahead (?!…)",
  "?<=": "lookbehind (?<=…)",
  "?<!": "negative lookbehind (?<!…)",
};

export class PatternError extends Error {}

/** @param {string} letter */
export function isLineEnd(letter) {
  return letter === "\n" || letter === "\r" || letter === "\u2028" || letter === "\u2029";
}

/** @param {string} letter */
export function isWord(letter) {
  return WORD.test(letter);
}

/**
 * Parses a pattern; raises a `PatternError` that says what is wrong with it.
 * @param {string} text
 * @returns {PatternTree}
 */
export function parsePattern(text) {
  if (text.length > MOST_LETTERS) throw new PatternError(`longer than ${MOST_LETTERS} characters`);
  checkSyntax(text);
  return new Parser(text).options();
}

/**
 * The browser knows the syntax best, and has words for what is wrong.
 * @param {string} text
 */
function checkSyntax(text) {
  try {
    new RegExp(text, "im");
  } catch (/** @type {any} */ error) {
    const reason = String(error.message).split(": ").at(-1) ?? "";
    throw new PatternError(`${reason[0].toLowerCase()}${reason.slice(1)}`);
  }
}

class Parser {
  /** @param {string} text of a pattern that is known to be well-formed */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** @returns {PatternTree} */
  options() {
    const options = [this.sequence()];
    while (this.take("|")) options.push(this.sequence());
    return options.length === 1 ? options[0] : { options };
  }

  /** @returns {PatternTree} */
  sequence() {
    const items = [];
    while (this.at < this.text.length && !"|)".includes(this.text[this.at])) items.push(this.repeated(this.atom()));
    return { items };
  }

  /**
   * @param {PatternTree} item
   * @returns {PatternTree}
   */
  repeated(item) {
    const counts = this.counts();
    if (!counts) return item;
    this.take("?"); // lazy or not, it is found in the same texts
    return { item, ...counts };
  }

  counts() {
    if (this.take("*")) return { min: 0, max: Infinity };
    if (this.take("+")) return { min: 1, max: Infinity };
    if (this.take("?")) return { min: 0, max: 1 };
    const found = this.match(/\{(\d+)(,?)(\d*)\}/y);
    if (!found) return null;
    const min = Number(found[1]);
    return { min, max: !found[2] ? min : found[3] ? Number(found[3]) : Infinity };
  }

  /** @returns {PatternTree} */
  atom() {
    const letter = this.text[this.at++];
    if (letter === "(") return this.group();
    if (letter === "[") return this.letters();
    if (letter === ".") return { set: (/** @type {string} */ one) => !isLineEnd(one) };
    if (letter === "^" || letter === "$") return { at: letter };
    if (letter !== "\\") return { set: same(letter) };
    if (this.take("b")) return { at: "b" };
    if (this.take("B")) return { at: "B" };
    return { set: this.escaped() };
  }

  group() {
    const start = this.match(/\?(<?[=!]|:|<[^>=!]*>|)/y)?.[0];
    if (start && start in REFUSED) throw new PatternError(`${REFUSED[start]} is not supported in this search`);
    if (start === "?") throw new PatternError("this kind of group (?…) is not supported in this search");
    const inside = this.options();
    this.take(")");
    return inside;
  }

  /** Letters in brackets. */
  letters() {
    const isOther = this.take("^");
    /** @type {((letter: string) => boolean)[]} */
    const tests = [];
    while (!this.take("]")) {
      const first = this.member();
      const isRange = typeof first === "string" && this.match(/-(?!\])/y);
      const last = isRange ? this.member() : null;
      if (typeof first === "string" && typeof last === "string") tests.push(between(first, last));
      else {
        tests.push(typeof first === "string" ? same(first) : first);
        if (isRange) tests.push(same("-"), typeof last === "string" ? same(last) : /** @type {any} */ (last));
      }
    }
    const has = (/** @type {string} */ letter) => tests.some((test) => test(letter));
    return { set: isOther ? (/** @type {string} */ letter) => !has(letter) : has };
  }

  /**
   * One letter in brackets, or a set of them.
   * @returns {string | ((letter: string) => boolean)}
   */
  member() {
    const letter = this.text[this.at++];
    if (letter !== "\\") return letter;
    if (this.take("b")) return "\b";
    const next = this.text[this.at];
    if (!(next in SETS)) return this.escapedLetter();
    this.at++;
    return SETS[next];
  }

  /** @returns {(letter: string) => boolean} */
  escaped() {
    const next = this.text[this.at];
    if (/[1-9k]/.test(next)) throw new PatternError(`the backreference \\${next} is not supported in this search`);
    if (!(next in SETS)) return same(this.escapedLetter());
    this.at++;
    return SETS[next];
  }

  escapedLetter() {
    const code = this.match(/x([0-9a-f]{2})|u([0-9a-f]{4})/iy);
    if (code) return String.fromCharCode(parseInt(code[1] ?? code[2], 16));
    const letter = this.text[this.at++];
    return CONTROLS[letter] ?? letter;
  }

  /** @param {string} letter */
  take(letter) {
    const found = this.text[this.at] === letter;
    if (found) this.at++;
    return found;
  }

  /** @param {RegExp} start a sticky expression */
  match(start) {
    start.lastIndex = this.at;
    const found = start.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }
}

/**
 * Upper case where that is one letter, as JavaScript compares letters regardless of case.
 * @param {string} letter
 */
function upper(letter) {
  const found = letter.toUpperCase();
  return found.length === 1 && !(letter > "\x7f" && found <= "\x7f") ? found : letter;
}

/** @param {string} letter */
function same(letter) {
  const wanted = upper(letter);
  return (/** @type {string} */ one) => upper(one) === wanted;
}

/**
 * @param {string} first
 * @param {string} last
 */
function between(first, last) {
  const holds = (/** @type {string} */ letter) => letter >= first && letter <= last;
  return (/** @type {string} */ letter) => holds(letter) || holds(upper(letter)) || holds(letter.toLowerCase());
}
