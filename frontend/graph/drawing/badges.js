/* The graph view's badges of groups: how much changed in one, and the box that opens and closes it. */

import { SIDES } from "../data/scene.js";
import { ink, write } from "./ink.js";
import { FONTS, textWidth } from "./text.js";
import { SIGNS } from "./theme.js";

const { BEFORE } = SIDES;

/**
 * What changed in a group, as far as it is seen in this pane: what was removed before, what was added after.
 * @param {{ picture: Picture, look: Look }} options
 * @param {number} item
 */
export function badgesOf({ picture, look }, item) {
  const hidden = look.alone ? "" : look.side === BEFORE ? "added" : "removed";
  return ["removed", "added", "changed"]
    .filter((status) => status !== hidden && picture.counts[status][item])
    .map((status) => ({ status, text: `${SIGNS[status]}${picture.counts[status][item]}` }));
}

/** @param {Badge[]} badges */
export function badgesWidth(badges) {
  return badges.reduce((sum, badge) => sum + textWidth(FONTS.header, badge.text) + 13, 0);
}

/**
 * @param {Job} job
 * @param {Badge[]} badges
 * @param {number} left
 * @param {number} y
 */
export function paintBadges(job, badges, left, y) {
  const { s, theme } = job;
  let x = left;
  for (const { status, text } of badges) {
    const width = textWidth(FONTS.header, text) + 9;
    s.beginPath();
    s.roundRect(x, y - 8, width, 16, 5);
    ink(job, theme[status].fill, theme[status].line);
    write(job, text, x + width / 2, y + 0.5, { font: FONTS.header, colour: theme[status].text, align: "center" });
    x += width + 4;
  }
}

/**
 * @param {Job} job
 * @param {number} x
 * @param {number} y
 * @param {boolean} closed
 */
export function paintToggle(job, x, y, closed) {
  const { s, theme } = job;
  s.beginPath();
  s.roundRect(x - 6, y - 6, 12, 12, 3);
  ink(job, theme.box, theme.closedLine);
  s.beginPath();
  s.moveTo(x - 3, y);
  s.lineTo(x + 3, y);
  if (closed) {
    s.moveTo(x, y - 3);
    s.lineTo(x, y + 3);
  }
  s.strokeStyle = theme.soft;
  s.lineWidth = 1.4;
  s.stroke();
}
