/* The graph view's painter of edges: one path per style, arrows where they can be seen. */

import { SIDES } from "../data/scene.js";
import { ink } from "./ink.js";
import { indexOf } from "./row_index.js";

const { AFTER, BEFORE } = SIDES;
const HUB = 12; // readers beyond which a value's lines are drawn faintly
const BOTH = BEFORE | AFTER;
const STRAIGHT_ZOOM = 0.3; // below it curves look like straight lines
const ARROW_ZOOM = 0.5;
const ARROW = 3.6; // half of an arrow's width

/** @param {Job} job */
export function paintEdges(job) {
  const { look, zoom, theme } = job;
  const bins = binSegments(job);
  const own = look.side === BEFORE ? "removed" : "added";
  const thin = 1.4 / Math.max(0.5, Math.min(1, zoom));
  paintSegments(job, bins.hub, theme.hub, thin);
  paintSegments(job, bins.edge, theme.edge, thin);
  paintSegments(job, bins.own, theme[own].line, thin * 1.3);
  paintSegments(job, bins.hover, theme.focus, thin * 1.3);
  paintSegments(job, bins.near, theme.focus, thin * 1.7);
  job.s.lineWidth = 1;
}

/**
 * The segments in sight by how they are drawn.
 * @param {{ picture: Picture, look: Look, view: Job["view"] }} options
 */
function binSegments({ picture, look, view }) {
  const { layout, segmentSides, fanOut } = picture;
  const near = look.selected > 0 ? picture.segmentsOf(look.selected) : new Set();
  const hover = look.hovered > 0 ? picture.segmentsOf(look.hovered) : new Set();
  /** @type {Record<string, number[]>} */
  const bins = { hub: [], edge: [], own: [], hover: [], near: [] };
  for (const at of indexOf(layout).segments.between(view.top, view.bottom)) {
    if (!(segmentSides[at] & look.side)) continue;
    const [x1, x2] = [layout.x1[at], layout.x2[at]];
    if (layout.y1[at] > view.bottom || layout.y2[at] < view.top) continue;
    if ((x1 < view.left && x2 < view.left) || (x1 > view.right && x2 > view.right)) continue;
    const bin = near.has(at)
      ? "near"
      : hover.has(at)
        ? "hover"
        : segmentSides[at] !== BOTH && picture.before !== null
          ? "own"
          : fanOut[layout.owner[at]] > HUB
            ? "hub"
            : "edge";
    bins[bin].push(at);
  }
  return bins;
}

/**
 * @param {Job} job
 * @param {number[]} segments
 * @param {string} colour
 * @param {number} width
 */
function paintSegments(job, segments, colour, width) {
  if (!segments.length) return;
  const {
    s,
    zoom,
    picture: { layout },
  } = job;
  const drawn = new Set();
  s.beginPath();
  for (const at of segments) {
    const [x1, y1, x2, y2] = [layout.x1[at], layout.y1[at], layout.x2[at], layout.y2[at]];
    const through = throughSight(job, at);
    if (through !== null) {
      if (drawn.has(through)) continue;
      drawn.add(through);
    }
    s.moveTo(x1, y1);
    const bend = bendOf(y1, y2);
    if (x1 === x2 || zoom < STRAIGHT_ZOOM) s.lineTo(x2, y2);
    else s.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
  }
  s.strokeStyle = colour;
  s.lineWidth = width;
  s.stroke();
  if (zoom >= ARROW_ZOOM) paintArrows(job, segments, colour);
}

/**
 * How far a curve leaves its box straight down, in px of the layout.
 * @param {number} y1
 * @param {number} y2
 */
const bendOf = (y1, y2) => Math.min(60, Math.abs(y2 - y1) * 0.55);

/**
 * Which pixels a segment takes that passes through the picture from side to side, as one number; null for others.
 * Of thousands of readers of one value, most lines lie on each other there.
 * @param {Job} job
 * @param {number} at
 */
function throughSight({ zoom, picture: { layout }, view }, at) {
  const [x1, x2] = [layout.x1[at], layout.x2[at]];
  if (Math.min(x1, x2) > view.left || Math.max(x1, x2) < view.right) return null;
  let key = 0;
  for (const x of [view.left, (view.left + view.right) / 2, view.right]) {
    const y = (heightAt(layout, at, x, zoom < STRAIGHT_ZOOM) - view.top) * zoom;
    key = key * 2 ** 16 + 2 ** 15 + Math.round(Math.max(-1e4, Math.min(1e4, 2 * y)));
  }
  return key;
}

/**
 * The height of a segment's line at an x between its ends.
 * @param {LayoutOutput} layout
 * @param {number} at
 * @param {number} x
 * @param {boolean} straight
 */
function heightAt(layout, at, x, straight) {
  const [y1, y2] = [layout.y1[at], layout.y2[at]];
  const share = (x - layout.x1[at]) / (layout.x2[at] - layout.x1[at]);
  if (straight) return y1 + share * (y2 - y1);
  const t = 0.5 - Math.sin(Math.asin(1 - 2 * share) / 3); // where 3t² − 2t³ is the share
  const [u, bend] = [1 - t, bendOf(y1, y2)];
  return u ** 3 * y1 + 3 * u * u * t * (y1 + bend) + 3 * u * t * t * (y2 - bend) + t ** 3 * y2;
}

/**
 * An arrow on each segment that ends at a box.
 * @param {Job} job
 * @param {number[]} segments
 * @param {string} colour
 */
function paintArrows(job, segments, colour) {
  const { s, picture, view } = job;
  const { arrows, layout } = picture;
  s.beginPath();
  for (const at of segments) {
    if (!arrows[at]) continue;
    const [x, y] = [layout.x2[at], layout.y2[at]];
    if (x < view.left - ARROW || x > view.right + ARROW) continue;
    s.moveTo(x, y);
    s.lineTo(x - ARROW, y - 6.5);
    s.lineTo(x + ARROW, y - 6.5); // filling closes it; closePath takes time with the length of the path
  }
  ink(job, colour);
}
