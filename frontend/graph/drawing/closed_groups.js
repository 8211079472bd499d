/* The graph view's painter of closed groups: what is in their boxes. */

import * as words from "../data/words.js";
import { badgesOf, badgesWidth, paintBadges, paintToggle } from "./badges.js";
import { ink, write } from "./ink.js";
import { FONTS, shorten, sized, textWidth } from "./text.js";

const BARE_ZOOM = 0.2; // below it nothing is written in boxes
const FULL_ZOOM = 0.5; // below it there is room for a name only

/**
 * @param {Job} job
 * @param {number} item
 */
export function paintClosed(job, item) {
  const badges = badgesOf(job, item);
  if (job.zoom >= FULL_ZOOM) return paintNear(job, item, badges);
  if (badges.length) paintBand(job, item, badges[0]);
  if (job.zoom >= BARE_ZOOM) paintFarName(job, item);
}

/**
 * @param {Job} job
 * @param {number} item
 * @param {Badge[]} badges
 */
function paintNear(job, item, badges) {
  const { picture, theme } = job;
  const { x, y, width } = picture.box(item);
  const { group } = picture.scene.items[item];
  const tone = job.look.colours?.tone(item, job.look.side, theme);
  const colour = tone ? tone.text : theme.text;
  paintToggle(job, x + 15, y + 16, true);
  write(job, shorten(FONTS.header, group.label, width - 38), x + 28, y + 16, {
    font: FONTS.header,
    colour,
  });
  const worth = job.look.colours?.text(item, job.look.side);
  const ops = `${words.count(picture.opsOf(item, job.look.side), "op")}${worth ? `  \u00b7  ${worth}` : ""}`;
  const last = x + width - 4 - badgesWidth(badges); // where the badges start at the latest
  const after = x + 36 + textWidth(FONTS.count, ops);
  // How much changed counts for more than how much there is: where both have no room, that is left out.
  const fits = !badges.length || after <= last;
  if (fits) write(job, ops, x + 28, y + 34, { font: FONTS.count, colour: tone ? colour : theme.soft });
  paintBadges(job, badges, Math.min(fits ? after : x + 28, last), y + 34);
}

/**
 * From afar the badges are a band of the first change's colour, never thinner than can be seen.
 * @param {Job} job
 * @param {number} item
 * @param {{ status: string }} options
 */
function paintBand(job, item, { status }) {
  const { x, y, width, height } = job.picture.box(item);
  job.s.beginPath();
  job.s.rect(x, y, Math.max(width * 0.06, 4 / job.zoom), height);
  ink(job, job.theme[status].line);
}

/**
 * @param {Job} job
 * @param {number} item
 */
function paintFarName(job, item) {
  const { picture, theme, zoom } = job;
  const { x, y, width, height } = picture.box(item);
  const scale = Math.min(10.5 / zoom, 22) / 12;
  const text = shorten(FONTS.header, picture.scene.items[item].group.label, width - 8, scale);
  write(job, text, x + width / 2, y + height / 2, {
    font: sized(FONTS.header, 12 * scale),
    colour: job.look.colours?.tone(item, job.look.side, theme)?.text ?? theme.text,
    align: "center",
  });
}
