/* The graph view's painter of one pane: what is in sight, from the areas of open groups up to the frames of what is chosen.
 *
 * Drawn in as few paths as there are styles, and less of it the further one is away: boxes keep a pixel or two even where
 * thousands are in view, and changed ones are never smaller than can be seen.
 */

import { paintBoxes } from "./boxes.js";
import { paintEdges } from "./edges.js";
import { paintAreas, paintHeaders } from "./open_groups.js";
import { indexOf } from "./row_index.js";
import { THEMES } from "./theme.js";

/**
 * Draws one pane.
 *
 * @param {Surface} surface a CanvasRenderingContext2D or an SvgSurface, origin at the pane's corner, clipped to it
 * @param {Picture} picture
 * @param {any} look `{side: 1|2, alone, theme, width, height, camera: {x, y, zoom}, selected, hovered, marks,
 *     groupMarks, matches, headerTop}`: `side` 1 is before, 2 after; `alone` where the other side is not shown; the
 *     camera's point is in the pane's middle
 * @returns {Header[]} where the names of open groups are
 */
export function paintPane(surface, picture, look) {
  const { camera, width, height } = look;
  const { zoom } = camera;
  const view = {
    left: camera.x - width / 2 / zoom,
    top: camera.y - height / 2 / zoom,
    right: camera.x + width / 2 / zoom,
    bottom: camera.y + height / 2 / zoom,
  };
  const job = {
    s: surface,
    picture,
    look,
    view,
    zoom,
    theme: THEMES[look.theme],
    ...itemsInSight(picture, look, view),
  };
  surface.save();
  surface.translate(width / 2, height / 2);
  surface.scale(zoom, zoom);
  surface.translate(-camera.x, -camera.y);
  paintAreas(job);
  paintEdges(job);
  paintBoxes(job);
  const headers = paintHeaders(job);
  paintFrames(job);
  surface.restore();
  return headers;
}

/**
 * Items in view: open groups, boxes, and the outermost places where only the other side has a box.
 * @param {Picture} picture
 * @param {Look} look
 * @param {any} view
 */
function itemsInSight(picture, look, view) {
  const { layout, scene, sides } = picture;
  /** @type {number[][]} */
  const [groups, boxes, ghosts] = [[], [], []];
  for (const item of indexOf(layout).items.between(view.top, view.bottom)) {
    if (!item) continue; // the graph itself
    const [x, y] = [layout.x[item], layout.y[item]];
    if (x > view.right || y > view.bottom || x + layout.width[item] < view.left || y + layout.height[item] < view.top) {
      continue;
    }
    if (!(sides[item] & look.side)) {
      if (sides[item] && sides[scene.items[item].parent] & look.side && !picture.replaced) ghosts.push(item);
    } else (scene.items[item].open ? groups : boxes).push(item);
  }
  return { groups, boxes, ghosts };
}

/**
 * Frames around what was found, what is under the pointer, and what is selected.
 * @param {Job} job
 */
function paintFrames(job) {
  const { look, theme, zoom } = job;
  for (const item of look.matches) paintFrame(job, item, { colour: theme.match, width: 2, gap: 3 / Math.min(1, zoom) });
  paintFrame(job, look.hovered, { colour: theme.focus, width: 1, gap: 2 });
  paintFrame(job, look.selected, { colour: theme.focus, width: 2.5, gap: 4 });
}

/**
 * @param {Job} options
 * @param {number} item
 * @param {{ colour: string, width: number, gap: number }} more
 */
function paintFrame({ s, picture, zoom }, item, { colour, width, gap }) {
  if (item <= 0 || !picture.sides[item]) return;
  const box = picture.box(item, gap);
  s.beginPath();
  s.roundRect(box.x, box.y, box.width, box.height, 9);
  s.strokeStyle = colour;
  s.lineWidth = width / Math.min(1, zoom);
  s.stroke();
}
