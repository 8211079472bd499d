/* The graph view's painter of what is in a node's box: title, caption, type, chips, sign of its change. */

import { CHIP_STEP } from "./box_size.js";
import { ink, paintSign, write } from "./ink.js";
import { paintLetter } from "./marks.js";
import { FONTS, shorten, sized, textWidth } from "./text.js";
import { SIGNS } from "./theme.js";

export const FLAT_ZOOM = 0.35; // below it changed boxes are filled with their line's colour
const FULL_ZOOM = 0.5; // below it there is room for a title only
const LINE_TITLE = 17;
const CHIP_HEIGHT = 15;

/**
 * @param {Job} job
 * @param {number} item
 */
export function paintContent(job, item) {
  const { picture, theme, look } = job;
  const { layout } = picture;
  const content = picture.content(item, look.side);
  const status = content.pseudo ? undefined : picture.statusOf(item);
  const own = status ? theme[status] : null;
  const tone = look.colours?.tone(item, look.side, theme) ?? own;
  if (job.zoom < FULL_ZOOM) return paintFarTitle(job, item, content, tone);
  const [x, y, width] = [layout.x[item], layout.y[item], layout.width[item]];
  const place = { middle: x + width / 2, y: y + (content.detail ? 15 : 14), room: width - 16 };
  paintTitle(job, content, tone, place);
  if (content.detail) {
    const style = { font: FONTS.detail, colour: tone ? tone.text : theme.soft, align: "center" };
    write(job, shorten(FONTS.detail, content.detail, place.room), place.middle, place.y + LINE_TITLE, style);
  }
  paintChips(job, item, content.lines, y + (content.detail ? 41 : 27));
  if (own && status) {
    paintSign(job, { sign: SIGNS[status], colour: own.line, font: FONTS.sign, radius: 8 }, x + 1, y + 1);
  }
}

/**
 * The title, and beside it the caption where there is room for both.
 * @param {Job} job
 * @param {{ title: string, caption: string }} options
 * @param {any} own
 * @param {{ middle: number, y: number, room: number }} more
 */
function paintTitle(job, { title, caption }, own, { middle, y, room }) {
  const colour = own ? own.text : job.theme.text;
  const full = textWidth(FONTS.title, title) + (caption ? textWidth(FONTS.caption, caption) + 7 : 0);
  if (!caption || full > room) {
    return write(job, shorten(FONTS.title, title, room), middle, y, { font: FONTS.title, colour, align: "center" });
  }
  const start = middle - full / 2;
  write(job, title, start, y, { font: FONTS.title, colour });
  const after = start + textWidth(FONTS.title, title) + 7;
  write(job, caption, after, y, { font: FONTS.caption, colour: own ? own.text : job.theme.soft });
}

/**
 * Too small for all of it: the title alone, as large as the box allows, cut where it could not be read.
 * @param {Job} job
 * @param {number} item
 * @param {{ title: string }} options
 * @param {any} own
 */
function paintFarTitle(job, item, { title }, own) {
  const { layout } = job.picture;
  const { theme, zoom } = job;
  const [width, height] = [layout.width[item], layout.height[item]];
  const room = width - 8;
  const fitting = Math.min(10 / zoom, 26, (13 * room) / textWidth(FONTS.title, title), height - 4);
  const size = Math.max(fitting, Math.min(7 / zoom, height - 4));
  if (size * zoom < 4) return;
  const text = shorten(FONTS.title, title, room, size / 13);
  const colour = !own ? theme.text : zoom < FLAT_ZOOM && own.line ? theme.box : own.text;
  write(job, text, layout.x[item] + width / 2, layout.y[item] + height / 2, {
    font: sized(FONTS.title, size),
    colour,
    align: "center",
  });
}

/**
 * @param {Job} job
 * @param {number} item
 * @param {any[]} lines
 * @param {number} top
 */
function paintChips(job, item, lines, top) {
  const { layout } = job.picture;
  lines.forEach((line, number) => {
    const end = line.at(-1);
    const start = layout.x[item] + (layout.width[item] - end.x - end.width) / 2;
    for (const chip of line) paintChip(job, chip, start + chip.x, top + number * CHIP_STEP);
  });
}

/**
 * @param {Job} job
 * @param {any} chip
 * @param {number} x
 * @param {number} y
 */
function paintChip(job, chip, x, y) {
  const { s, picture, theme, look } = job;
  const status = picture.statuses.get(chip.key);
  const mark = look.marks.get(chip.key);
  s.beginPath();
  s.roundRect(x, y, chip.width, CHIP_HEIGHT, 7);
  const line = mark ? mark.fill : status ? theme[status].line : null;
  ink(job, status ? theme[status].fill : theme.chip, line, mark ? 2 : 1);
  const colour = status ? theme[status].text : theme.chipText;
  write(job, chip.text, x + chip.width / 2, y + 8, { font: FONTS.chip, colour, align: "center" });
  if (mark) paintLetter(job, mark, x - 2, y + 8);
}
