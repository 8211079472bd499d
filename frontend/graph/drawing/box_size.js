/* The graph view's sizes of boxes, in CSS px at zoom 1, even ones. */

import { chipLines, contentOf } from "./content.js";
import { FONTS, textWidth } from "./text.js";

export const HEADER = 28; // what the name of an open group takes
export const CHIP_STEP = 18; // from one line of chips to the next
const WIDEST = { box: 250, input: 320 }; // the paths of inputs differ at their ends

/**
 * Size of item `index` of a scene: the largest that any of its node's versions needs, so that boxes never resize.
 * @param {any} scene
 * @param {number} index
 */
export function boxSize(scene, index) {
  const item = scene.items[index];
  const { width, height } = item.group ? groupSize(item) : nodeSize(scene.outline, item);
  return { width: 2 * Math.ceil(width / 2), height: 2 * Math.ceil(height / 2) };
}

/**
 * What a closed group takes, and an open one at least.
 * @param {{ group: Group, open: Set<string>, parent: number }} options
 */
function groupSize({ group, open, parent }) {
  if (parent < 0) return { width: 0, height: 0 };
  const label = Math.min(240, textWidth(FONTS.header, group.label));
  return open ? { width: label + 120, height: HEADER + 20 } : { width: Math.max(168, label + 56), height: 48 };
}

/**
 * @param {Outline} outline
 * @param {{ key: number, caption: string }} options
 */
function nodeSize(outline, { key, caption }) {
  const size = { width: 84, height: 28 };
  for (const content of contentsOf(outline, key, caption)) {
    const title =
      textWidth(FONTS.title, content.title) + (content.caption ? textWidth(FONTS.caption, content.caption) + 8 : 0);
    const lines = chipLines(content.chips, 208);
    const widest = Math.max(0, ...lines.map((line) => line.at(-1).x + line.at(-1).width));
    const wide = Math.max(title + 30, textWidth(FONTS.detail, content.detail) + 24, widest + 28);
    size.width = Math.max(size.width, Math.min(content.pseudo ? WIDEST.input : WIDEST.box, wide));
    const text = content.detail ? 42 : 28;
    size.height = Math.max(size.height, text + (lines.length ? lines.length * CHIP_STEP + 2 : 0));
  }
  return size;
}

/**
 * @param {Outline} outline
 * @param {number} key
 * @param {string} caption
 */
function contentsOf(outline, key, caption) {
  return outline.union.rowsOf[key].flatMap((row) =>
    outline.names.map((names) => contentOf(outline, row, caption, names)),
  );
}
