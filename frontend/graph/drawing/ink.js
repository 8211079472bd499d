/* The graph view's ink: the strokes that its painters share. All draw world coordinates through a *job*:
 *
 *   s         a CanvasRenderingContext2D, or an SvgSurface
 *   picture   what is drawn, and `look`, how: see `paintPane`
 *   theme     its colours; `zoom`, how large it is drawn; `view`, the part of the world in sight
 *   groups, boxes, ghosts    the items in sight: open groups, all others, and places where only the other side has one
 */

const SQUARE_ZOOM = 0.25; // below it corners could not be seen to be round

/**
 * @param {Job} job
 * @param {number} item
 * @param {number} radius
 */
export function traceBox(job, item, radius) {
  const { x, y, width, height } = job.picture.layout;
  if (job.zoom < SQUARE_ZOOM) job.s.rect(x[item], y[item], width[item], height[item]);
  else job.s.roundRect(x[item], y[item], width[item], height[item], radius);
}

/**
 * Fills the current path, and strokes it where there is a line's colour.
 * @param {Job} job
 * @param {string} fill
 */
export function ink(job, fill, line = null, width = 1) {
  const { s } = job;
  s.fillStyle = fill;
  s.fill();
  if (line === null) return;
  s.strokeStyle = line;
  s.lineWidth = width;
  s.stroke();
}

/**
 * @param {Job} job
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {{ font: string, colour: string, align?: string }} options
 */
export function write(job, text, x, y, { font, colour, align = "left" }) {
  const { s } = job;
  s.font = font;
  s.fillStyle = colour;
  s.textAlign = align;
  s.textBaseline = "middle";
  s.fillText(text, x, y);
}

/**
 * A letter or sign in a disc.
 * @param {Job} job
 * @param {{ sign: string, colour: string, font: string, radius: number }} options
 * @param {number} x
 * @param {number} y
 */
export function paintSign(job, { sign, colour, font, radius }, x, y) {
  job.s.beginPath();
  job.s.arc(x, y, radius, 0, 2 * Math.PI);
  ink(job, colour);
  write(job, sign, x, y + 0.5, { font, colour: job.theme.box, align: "center" });
}
