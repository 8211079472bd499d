/* The graph view's painter of open groups: their areas under everything, their names above it. */

import { badgesOf, badgesWidth, paintBadges, paintToggle } from "./badges.js";
import { HEADER } from "./box_size.js";
import { ink, traceBox, write } from "./ink.js";
import { FONTS, shorten, textWidth } from "./text.js";
import { SIGNS } from "./theme.js";

const INSET = 6; // of a name in its group
const GAP = 6; // between names side by side

/** @param {Job} job */
export function paintAreas(job) {
  const { s, theme, zoom } = job;
  for (const item of job.groups) {
    const status = job.picture.statusOf(item);
    s.beginPath();
    traceBox(job, item, 10);
    ink(job, theme.group, status ? theme[status].line : theme.groupLine, (status ? 2 : 1) / Math.min(1, zoom));
  }
  if (zoom < 0.2 || !job.ghosts.length) return;
  s.beginPath();
  for (const item of job.ghosts) traceBox(job, item, 7);
  s.strokeStyle = theme.groupLine;
  s.lineWidth = 1;
  s.setLineDash([4, 4]);
  s.stroke();
  s.setLineDash([]);
}

/**
 * Names of open groups. They stay in view while any of the group is: at the top, side by side, as a path to here.
 * @param {Job} job
 * @returns {Header[]} where they are in the world, for the pointer
 */
export function paintHeaders(job) {
  const scale = headerScale(job.zoom);
  const headers = placeHeaders(job, scale);
  /** @type {Header[]} */
  const taken = [];
  const { picture } = job;
  for (const header of headers) {
    if (!header.label || taken.some((other) => overlaps(other, header))) continue;
    taken.push(header);
  }
  // The room after a name belongs to the next part of the path, if there is one.
  for (const header of taken) {
    const next = taken.find((other) => picture.scene.items[other.item].parent === header.item && other.y === header.y);
    paintHeader(job, header, { scale, end: next?.x });
  }
  return headers;
}

/**
 * Where the names of open groups are; `job.groups` has a group before those in it.
 * @param {Pick<Job, "groups" | "look" | "picture" | "view" | "zoom">} job
 * @param {number} scale of the names
 */
export function placeHeaders(job, scale) {
  /** @type {Header[]} */
  const headers = [];
  for (const item of job.groups) {
    const header = placeHeader(job, item, headers, scale);
    if (header) headers.push(header);
  }
  return headers;
}

/**
 * Where boxes can be read, names take the room kept for them; from further away they are what is to be read.
 * @param {number} zoom
 */
function headerScale(zoom) {
  const far = Math.min(1, Math.max(0, (0.6 - zoom) / 0.2));
  return 1 + far * (Math.max(1, Math.min(5, 0.8 / zoom)) - 1);
}

/**
 * @param {Pick<Job, "look" | "picture" | "view" | "zoom">} job
 * @param {number} item
 * @param {Header[]} headers
 * @param {number} scale
 */
function placeHeader(job, item, headers, scale) {
  const { picture, look, view, zoom } = job;
  const { group, parent } = picture.scene.items[item];
  const box = picture.box(item);
  if (box.width * zoom < 34 || box.height * zoom < 16) return null;
  const height = HEADER * scale;
  const above = headers.find((header) => header.item === parent);
  const top = view.top + look.headerTop / zoom;
  const status = picture.statusOf(item);
  const label = shorten(FONTS.header, (status ? `${SIGNS[status]} ` : "") + group.label, box.width - 34 * scale, scale);
  const width = textWidth(FONTS.header, label) * scale + 26 * scale;
  const x = Math.max(box.x + INSET, Math.min(view.left + INSET / zoom, box.x + box.width - width - INSET));
  // Where the group around it is cut by the top of the view, too, the name follows that group's.
  const after = above ? Math.max(x, above.x + above.width + GAP * scale) : x;
  const right = Math.min(view.right, box.x + box.width - INSET);
  if (above && above.y === top && box.y <= top && after + width <= right) {
    return { item, label, x: after, y: Math.min(top, box.y + box.height - height - INSET), width, height };
  }
  const least = above ? above.y + height : top;
  const y = Math.max(box.y, Math.min(least, box.y + box.height - height - INSET));
  return { item, label, x, y, width, height };
}

/**
 * @param {Box} a
 * @param {Box} b
 */
function overlaps(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height * 0.8 && b.y < a.y + a.height * 0.8;
}

/**
 * @param {Job} job
 * @param {{ item: number, label: string, x: number, y: number, width: number }} options
 * @param {{ scale: number, end?: number }} room `end`: where the next name in the same line begins
 */
function paintHeader(job, { item, label, x, y, width }, { scale, end = Infinity }) {
  const { s, theme, picture } = job;
  const status = picture.statusOf(item);
  s.save();
  s.translate(x, y + 3 * scale);
  s.scale(scale, scale);
  s.beginPath();
  s.roundRect(0, 2, width / scale, 19, 5);
  ink(job, status ? theme[status].fill : theme.label);
  paintToggle(job, 10, 11.5, false);
  write(job, label, 21, 12, { font: FONTS.header, colour: status ? theme[status].text : theme.groupText });
  const box = picture.box(item);
  const room = (Math.min(end, box.x + box.width) - x - width) / scale - INSET;
  const badges = badgesOf(job, item);
  // From afar the changed boxes themselves are what is seen.
  if (badgesWidth(badges) <= room && scale < 1.5) paintBadges(job, badges, width / scale + 6, 12);
  s.restore();
}
