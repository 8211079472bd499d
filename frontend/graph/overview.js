/* The graph view's small map in the corner: where one is, and where the changes are. */

import { SIDES } from "./data/scene.js";
import { PANE_HEAD } from "./panes.js";

const MOST = { width: 110, height: 230, share: 0.4 }; // px, and of the view's height
const LEAST = { width: 46, height: 60 };
const FAINT = 0.3; // opacity of a map that stands on a box
const SMALL = { width: 420, height: 300 }; // px of a view without room for a map

export class Overview {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {{canvas: HTMLCanvasElement, theme: string} | null} */
    this.image = null;
    /** @type {(Box & {left: number, top: number, scale: Point}) | any} */
    this.map = null; // place and scale of the map while it is shown
    this.reached = false; // whether the pointer is on it
  }

  /** Lets go of the image: the picture is another one. */
  forget() {
    this.image = null;
  }

  /**
   * Tells whether the pointer is on the map: then it is seen plainly, whatever it stands on.
   * @param {boolean} reached
   */
  reach(reached) {
    if (reached === this.reached) return;
    this.reached = reached;
    this.view.stage.redraw();
  }

  /**
   * Draws the map, where the graph is larger than what a pane shows.
   * @param {Surface} surface
   * @param {Theme} colours
   */
  paint(surface, colours) {
    this.map = this._place();
    if (!this.map) return;
    const { left, top, width, height } = this.map;
    if (this.image?.theme !== this.view.theme) this.image = { canvas: this._render(colours), theme: this.view.theme };
    surface.save();
    if (this._covers()) surface.globalAlpha = FAINT;
    surface.drawImage(this.image.canvas, left, top, width, height);
    this._paintSight(surface, colours);
    surface.restore();
  }

  /**
   * The frame of what the panes show.
   * @param {Surface} surface
   * @param {Theme} colours
   */
  _paintSight(surface, colours) {
    const { left, top, width, height, scale } = this.map;
    const { camera, panes } = this.view;
    const seen = { width: panes.width() / camera.zoom, height: this.view.stage.height / camera.zoom };
    const x1 = Math.max(0, (camera.x - seen.width / 2) * scale.x);
    const y1 = Math.max(0, (camera.y - seen.height / 2) * scale.y);
    const x2 = Math.min(width, (camera.x + seen.width / 2) * scale.x);
    const y2 = Math.min(height, (camera.y + seen.height / 2) * scale.y);
    surface.strokeStyle = colours.focus;
    surface.lineWidth = 1.5;
    surface.strokeRect(left + x1, top + y1, Math.max(4, x2 - x1), Math.max(4, y2 - y1));
  }

  /** Whether a box that is in sight lies under the map, while the pointer is not on it. */
  _covers() {
    if (this.reached) return false;
    const { camera, panes, picture, stage } = this.view;
    const middle = stage.width - panes.width() / 2; // of the pane that the map stands on
    const from = {
      x: camera.x + (this.map.left - middle) / camera.zoom,
      y: camera.y + (this.map.top - stage.height / 2) / camera.zoom,
    };
    const to = { x: from.x + this.map.width / camera.zoom, y: from.y + this.map.height / camera.zoom };
    return picture.anyWithin(from, to, panes.sides().at(-1) ?? SIDES.AFTER);
  }

  /** Where the map stands and how small it shows the world; null where there is no need or no room for it. */
  _place() {
    const { view } = this;
    const { whole } = view.picture;
    if (view.stage.width < SMALL.width || view.stage.height < SMALL.height) return null;
    if (view.camera.fits(whole, 0.97 * view.camera.zoom)) return null; // the margin of a view that frames it all
    const ratio = Math.min(
      MOST.width / whole.width,
      Math.min(MOST.height, view.stage.height * MOST.share) / whole.height,
    );
    const width = Math.max(LEAST.width, whole.width * ratio);
    const height = Math.max(LEAST.height, whole.height * ratio);
    return {
      left: view.stage.width - width - 16,
      top: PANE_HEAD + 4,
      width,
      height,
      scale: { x: width / whole.width, y: height / whole.height },
    };
  }

  /** @param {Theme} colours */
  _render(colours) {
    const { width, height, scale } = this.map;
    const {
      picture,
      stage: { ratio },
    } = this.view;
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * ratio);
    canvas.height = Math.ceil(height * ratio);
    const surface = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    surface.scale(ratio, ratio);
    surface.fillStyle = colours.page;
    surface.strokeStyle = colours.groupLine;
    surface.beginPath();
    surface.roundRect(0.5, 0.5, width - 1, height - 1, 4);
    surface.fill();
    surface.stroke();
    const { layout } = picture;
    const fill = (/** @type {number[]} */ items, /** @type {string} */ colour, /** @type {number} */ least) => {
      surface.fillStyle = colour;
      for (const item of items) {
        const [w, h] = [Math.max(least, layout.width[item] * scale.x), Math.max(least, layout.height[item] * scale.y)];
        surface.fillRect(
          Math.min(width - w, layout.x[item] * scale.x),
          Math.min(height - h, layout.y[item] * scale.y),
          w,
          h,
        );
      }
    };
    fill(picture.closedItems(), colours.hub, 0.6);
    const changed = picture.changedItems();
    for (const status of ["changed", "removed", "added"]) {
      fill(
        changed.filter((item) => picture.counts[status][item]),
        colours[status].line,
        2.5,
      );
    }
    return canvas;
  }

  /**
   * The point of the world under the pointer, or null beside the map (unless `outside` counts as well).
   * @param {any} event
   */
  at(event, outside = false) {
    if (!this.map) return null;
    const bounds = this.view.stage.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left - this.map.left, event.clientY - bounds.top - this.map.top];
    const within = x >= 0 && y >= 0 && x <= this.map.width && y <= this.map.height;
    if (!within && !outside) return null;
    const { whole } = this.view.picture;
    return {
      x: Math.max(0, Math.min(whole.width, x / this.map.scale.x)),
      y: Math.max(0, Math.min(whole.height, y / this.map.scale.y)),
    };
  }
}
