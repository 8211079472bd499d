/* The graph view's contents: what a box says, and how the chips of its constants are set. */

import * as words from "../data/words.js";
import { FONTS, shorten, textWidth } from "./text.js";

const MOST_CHIPS = 5;
const CHIP_PAD = 5; // px on either side of its text
const CHIP_GAP = 12; // px between two, so that the letter of a mark at the start of one does not cover the end of the other

/**
 * What a box says in one version of its node: `{title, caption, detail, chips: [{key, text, value}], pseudo}`.
 * @param {Map<number, string[]>} names see `Model.pathsOf`
 * @param {Outline} outline
 * @param {number} row
 * @param {string} caption
 */
export function contentOf(outline, row, caption, names) {
  const { model } = outline;
  const node = model.node(row);
  const key = model.keyOfRow[row];
  const pseudo = model.isPseudo(key);
  const chips = chipsOf(outline, row, names);
  const paths = model.pathsOf(row, names);
  const known = paths && words.pathText(paths, outline.frameOf(key));
  const [first] = node.outputs;
  const type = first ? words.shortType(first.type) : "";
  if (pseudo) {
    const returns = node.op === "return";
    return { title: returns ? "return" : known || first.name, caption: "", detail: returns ? "" : type, chips, pseudo };
  }
  const more = node.outputs.length > 1 ? `  \u00d7${node.outputs.length}` : "";
  const plain = type === "Tensor" && first.name;
  const literal = outline.isConstant[key] ? words.chipText(node, known) || constantText(node) : "";
  return {
    title: words.opName(node.op),
    caption: literal || caption,
    detail: (plain ? `%${first.name}` : type) + more,
    chips,
    pseudo,
  };
}

/**
 * The constants that a row reads and that are no boxes.
 * @param {Outline} outline
 * @param {number} row
 * @param {Map<number, string[]>} names
 */
function chipsOf(outline, row, names) {
  const { model, hidden, union } = outline;
  const frame = outline.frameOf(model.keyOfRow[row]);
  /** @type {Chip[]} */
  const chips = [];
  for (const value of model.inputs(row)) {
    for (const key of union.producers.get(value) || []) {
      if (!hidden[key]) continue;
      const paths = model.pathsOf(union.row(key), names);
      const text = words.chipText(model.node(union.row(key)), paths && words.pathText(paths, frame));
      if (text && !chips.some((chip) => chip.key === key)) chips.push({ key, text, value });
    }
  }
  return chips;
}

/** @param {GraphNode} node */
function constantText(node) {
  const value = node.attributes.find((pair) => pair.name === "value" || pair.name === "name");
  return value ? value.text : "";
}

/**
 * Chips set line by line; the last one says how many there was no room for.
 * @param {Chip[]} chips
 * @param {number} width
 */
export function chipLines(chips, width) {
  const shown = chips
    .slice(0, MOST_CHIPS)
    .map((chip) => ({ ...chip, text: shorten(FONTS.chip, chip.text, width - 2 * CHIP_PAD) }));
  if (chips.length > MOST_CHIPS) shown.push({ key: -1, text: `+${chips.length - MOST_CHIPS}` });
  /** @type {any[][]} */
  const lines = [];
  for (const chip of shown) {
    chip.width = textWidth(FONTS.chip, chip.text) + 2 * CHIP_PAD;
    const line = lines.at(-1);
    const x = line ? line.at(-1).x + line.at(-1).width + CHIP_GAP : 0;
    if (line && x + chip.width <= width) line.push(Object.assign(chip, { x }));
    else lines.push([Object.assign(chip, { x: 0 })]);
  }
  return lines;
}
