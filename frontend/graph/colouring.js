/* The graph view's colours of values: what each box is worth in each graph, and the tone that says so.
 *
 * A *colouring* gives each node its parts, pairs of a key and an amount. A closed group has the parts of all its nodes, each
 * key once, so that memory that two nodes share and a kernel that computes several count once:
 *
 *   label     what is shown ("memory"), `of` what of a box ("weights and constants that it reads")
 *   rule      "sum", "max", or "same": the one key that all parts have, or mixed
 *   parts     {before, after}: id of a node -> [[key, amount], …]; a node that is not in it was not measured
 *   text      amount (or, with "same", key) -> words
 *   absent    what the legend calls a box without a value
 *   missing   what to do where nothing was measured
 */

import { SIDES } from "./data/scene.js";

const SHARES = [0.03, 0.1, 0.25, 0.5]; // of the largest value in the picture: where the next tone starts
const MIXED = "mixed";

export class Colours {
  /**
   * @param {Colouring} colouring
   * @param {Picture} picture
   */
  constructor(colouring, picture) {
    this.colouring = colouring;
    this.picture = picture;
    /** @type {Map<number, BoxValue>[]} */
    this.values = []; // by side: item -> what it is worth
    for (const side of [SIDES.BEFORE, SIDES.AFTER]) this.values[side] = valuesOf(colouring, picture, side);
    const all = [SIDES.BEFORE, SIDES.AFTER].flatMap((side) => [...this.values[side].values()]);
    this.most = Math.max(0, ...all.map(({ amount }) => (Number.isFinite(amount) ? amount : 0)));
    this.keys = [...new Set(all.map(({ key }) => key))].sort();
    this.isPartial = picture.closedItems().some((item) => isMissing(this, picture, item));
  }

  /**
   * What a box is worth on a side; undefined where that was not measured.
   * @param {number} item
   * @param {number} side
   */
  of(item, side) {
    return this.values[side].get(item);
  }

  /**
   * The value of a box in words.
   * @param {number} item
   * @param {number} side
   */
  text(item, side) {
    const value = this.of(item, side);
    if (!value) return "";
    return this.colouring.rule === "same" ? value.text : this.colouring.text(value.amount);
  }

  /**
   * The colours of a box: fill and text; none for an input or a return without a value.
   * @param {number} item
   * @param {number} side
   * @param {Theme} theme
   */
  tone(item, side, theme) {
    const value = this.of(item, side);
    if (!value) return isEnd(this.picture, item) ? undefined : theme.unknown;
    return this.colouring.rule === "same" ? keyTone(theme, value.key) : theme.ramp[this.level(value.amount)];
  }

  /** @param {number} amount */
  level(amount) {
    if (!(amount > 0)) return Number.isNaN(amount) ? SHARES.length + 1 : 0;
    return 1 + SHARES.filter((share) => amount >= share * this.most).length;
  }

  /**
   * What the legend says: `{tone, label}` for each tone in use.
   * @param {Theme} theme
   */
  entries(theme) {
    const { rule, text } = this.colouring;
    if (rule === "same") return this.keys.map((key) => ({ tone: keyTone(theme, key), label: key }));
    if (!this.values.some((side) => side.size)) return [];
    const starts = [0, ...SHARES].map((share) => share * this.most);
    const ranges = starts.map((start, at) => {
      const end = starts[at + 1];
      return at === 0 ? `to ${text(end)}` : end === undefined ? `${text(start)} to ${text(this.most)}` : text(start);
    });
    const labels = this.most > 0 ? [text(0), ...ranges.slice(0, 1), ...ranges.slice(1).map(from)] : [text(0)];
    return labels.map((label, level) => ({ tone: theme.ramp[level], label }));
  }
}

/**
 * @param {string} text
 * @param {number} at
 * @param {string[]} all
 */
function from(text, at, all) {
  return at === all.length - 1 ? text : `from ${text}`;
}

/**
 * Whether a box is an input or a return.
 * @param {Picture} picture
 * @param {number} item
 */
function isEnd(picture, item) {
  const { group, key } = picture.scene.items[item];
  return !group && picture.scene.model.isPseudo(key);
}

/**
 * Whether an operation has no value on a side that it is on.
 * @param {Colours} colours
 * @param {Picture} picture
 * @param {number} item
 */
function isMissing(colours, picture, item) {
  if (isEnd(picture, item)) return false;
  return [SIDES.BEFORE, SIDES.AFTER].some((side) => picture.sides[item] & side && !colours.of(item, side));
}

/**
 * @param {Theme} theme
 * @param {string} key
 */
function keyTone(theme, key) {
  return theme.kinds[key] ?? theme.kinds[family(key)] ?? theme.kinds[MIXED];
}

/**
 * What a dtype belongs to that has no colour of its own.
 * @param {string} key
 */
function family(key) {
  if (/^q|^u?int\d+x|^bits/.test(key)) return "quantised";
  if (/^(i|u)\d+|^u?int/.test(key)) return "i64";
  if (/^f8|^float8/.test(key)) return "f16";
  return MIXED;
}

/**
 * @param {Colouring} colouring
 * @param {Picture} picture
 * @param {number} side
 * @returns {Map<number, BoxValue>}
 */
function valuesOf({ parts, rule }, picture, side) {
  const index = picture.snapshotOf(side);
  const given = side === SIDES.BEFORE ? parts.before : parts.after;
  /** @type {Map<number, Map<string, number>>} */
  const found = new Map();
  if (index === null || !given) return new Map();
  const { model, outline, ownerOfKey } = picture.scene;
  for (const key of model.snapshot(index).order) {
    const own = given.get(model.ids[key]);
    const item = ownerOfKey[key];
    if (!own || item === undefined || item <= 0) continue;
    if (rule === "same" && outline.hidden[key]) continue; // a chip says itself what it is
    const held = found.get(item) ?? new Map();
    if (!found.has(item)) found.set(item, held);
    for (const [name, amount] of own) held.set(name, amount);
  }
  return new Map([...found].map(([item, held]) => [item, together(held, rule)]));
}

/**
 * @param {Map<string, number>} held
 * @param {string} rule
 * @returns {BoxValue}
 */
function together(held, rule) {
  const amounts = [...held.values()];
  const names = [...held.keys()].sort();
  const amount = rule === "sum" ? amounts.reduce((sum, one) => sum + one, 0) : Math.max(0, ...amounts);
  const key = names.length === 1 ? names[0] : MIXED;
  return { amount, key, text: names.length === 1 ? key : `${MIXED}: ${names.join(", ")}` };
}
