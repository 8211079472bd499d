/* The graph view's painter of boxes: one path per style, then what is in each. */

import { FLAT_ZOOM, paintContent } from "./box_content.js";
import { paintClosed } from "./closed_groups.js";
import { ink, traceBox } from "./ink.js";
import { paintMark } from "./marks.js";

const BARE_ZOOM = 0.2; // below it nothing is written in boxes
const LINE_ZOOM = 0.08; // below it only what changed keeps its line

/** @param {Job} job */
export function paintBoxes(job) {
  const { picture } = job;
  for (const [style, items] of binByStyle(job)) {
    if (typeof style === "string") paintShapes(job, style, items);
    else paintTones(job, style, items);
  }
  for (const item of job.boxes) {
    if (picture.scene.items[item].group) paintClosed(job, item);
    else if (job.zoom >= BARE_ZOOM) paintContent(job, item);
    paintMark(job, item);
  }
}

/** @param {Job} job */
function binByStyle(job) {
  const bins = new Map();
  for (const item of job.boxes) {
    const style = styleOf(job, item);
    if (!bins.has(style)) bins.set(style, []);
    bins.get(style).push(item);
  }
  return bins;
}

/**
 * "closed" group, "pill" for an input or return, the status of a change, or "box"; where values are shown, the box's tone.
 * @param {Job} options
 * @param {number} item
 */
function styleOf({ picture, look, theme }, item) {
  const tone = look.colours?.tone(item, look.side, theme);
  if (tone) return tone;
  const status = picture.statusOf(item);
  const { group, key } = picture.scene.items[item];
  if (group && !status) return "closed";
  // A pill that changed only says that something else did: it keeps its colour.
  if (!group && picture.scene.model.isPseudo(key)) return "pill";
  return status || "box";
}

/**
 * Boxes whose colour is their value; what was not measured has a dashed line. Changes keep their signs.
 * @param {Job} job
 * @param {Tone} tone
 * @param {number[]} items
 */
function paintTones(job, tone, items) {
  const { s, theme, zoom } = job;
  const isUnknown = tone === theme.unknown;
  if (zoom > 0.3) {
    paintStack(
      job,
      items.filter((item) => job.picture.scene.items[item].group),
    );
  }
  s.beginPath();
  for (const item of items) traceBox(job, item, 7);
  if (isUnknown) s.setLineDash([4 / Math.min(1, zoom), 3 / Math.min(1, zoom)]);
  ink(job, tone.fill, zoom > LINE_ZOOM ? theme.line : null, Math.min(3, 1 / Math.min(1, zoom)));
  if (isUnknown) s.setLineDash([]);
}

/**
 * @param {Job} job
 * @param {string} style
 * @param {number[]} items
 */
function paintShapes(job, style, items) {
  const { s, picture, theme, zoom } = job;
  const plain = {
    closed: [theme.closed, theme.closedLine],
    pill: [theme.pill, theme.pillLine],
    box: [theme.box, theme.line],
  }[style];
  const [fill, line] = plain ?? [theme[style].fill, theme[style].line];
  if (style === "closed" && zoom > 0.3) paintStack(job, items);
  s.beginPath();
  for (const item of items) traceBox(job, item, style === "pill" ? Math.min(14, picture.layout.height[item] / 2) : 7);
  if (plain) return ink(job, fill, zoom > LINE_ZOOM ? line : null, Math.min(3, 1 / Math.min(1, zoom)));
  // From afar a change is filled with its line's colour, and the rest with its own; it keeps two pixels of line around
  // it, so that it never vanishes.
  const far = zoom < FLAT_ZOOM;
  ink(job, far ? line : fill, line, Math.max(1.6, far ? 2 / zoom : 0));
}

/**
 * A second sheet behind each closed group.
 * @param {Job} job
 * @param {number[]} items
 */
function paintStack(job, items) {
  const {
    s,
    theme,
    picture: { layout },
  } = job;
  s.beginPath();
  for (const item of items) {
    s.roundRect(layout.x[item] + 4, layout.y[item] + 4, layout.width[item] - 1, layout.height[item] - 1, 7);
  }
  ink(job, theme.pill, theme.closedLine);
}
