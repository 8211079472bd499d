/* The graph view's painter of marks: what the page around it says of nodes and values, in colour and with a letter. */

import { ink, paintSign } from "./ink.js";
import { FONTS } from "./text.js";

const LETTER_ZOOM = 0.5; // below it the letters of marks could not be read

/**
 * A mark's letter, for colour alone does not tell marks apart to everyone.
 * @param {Job} job
 * @param {{ sign: string, fill: string }} options
 * @param {number} x
 * @param {number} y
 */
export function paintLetter(job, { sign, fill }, x, y) {
  if (sign) paintSign(job, { sign, colour: fill, font: FONTS.mark, radius: 5.5 }, x, y);
}

/**
 * @param {Job} job
 * @param {number} item
 */
export function paintMark(job, item) {
  const {
    s,
    picture: { layout, scene },
    look,
  } = job;
  const { group, key } = scene.items[item];
  const mark = look.marks.get(key) || look.groupMarks.get(item);
  if (!mark) return;
  const width = Math.max(5, 2 / job.zoom);
  const [right, top, height] = [layout.x[item] + layout.width[item], layout.y[item], layout.height[item]];
  s.beginPath();
  if (group) s.arc(right - 12, top + 14, width, 0, 2 * Math.PI);
  else s.rect(right - width - 1, top + 5, width, height - 10);
  ink(job, mark.fill);
  if (job.zoom < LETTER_ZOOM) return;
  paintLetter(job, mark, group ? right - 14 : right - 5, group ? top + 14 : top + height / 2);
}
