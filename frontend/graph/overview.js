/* The graph view's small map in the corner: where one is, and where the changes are. */

import { PANE_HEAD } from "./panes.js";

const MOST = { width: 110, height: 230, share: 0.4, breadth: 0.13 }; // px, and of the view's height and width
const LEAST = { width: 46, height: 60 };
const ASIDE = 10; // px on both sides of the map
const SMALL = { width: 420, height: 300 }; // px of a view without room for a map

export class Overview {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {{canvas: HTMLCanvasElement, theme: string} | null} */
    this.image = null;
    /** @type {{canvas: HTMLCanvasElement, theme: string, layout: LayoutOutput, width: number, height: number} | null} */
    this.ground = null; // all boxes, whatever changed: the same for all passes of one layout
    /** @type {(Box & {left: number, top: number, scale: Point}) | any} */
    this.map = null; // place and scale of the map while it is shown
  }

  /** Lets go of the image: the picture is another one. */
  forget() {
    this.image = null;
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

  /** The px at the right of the view that the map has for itself, so that it covers no box; 0 for a graph without one. */
  strip() {
    const size = this._size();
    return size ? size.width + 2 * ASIDE : 0;
  }

  /** The size of the map, whatever part of the graph is in sight; null where there is no need or no room for it. */
  _size() {
    const { picture, stage } = this.view;
    if (!picture || stage.width < SMALL.width || stage.height < SMALL.height) return null;
    const { whole } = picture;
    if (whole.height <= stage.height && whole.width <= stage.width / 2) return null; // it can be seen at once
    const ratio = Math.min(
      Math.min(MOST.width, stage.width * MOST.breadth) / whole.width,
      Math.min(MOST.height, stage.height * MOST.share) / whole.height,
    );
    return {
      width: Math.max(LEAST.width, whole.width * ratio),
      height: Math.max(LEAST.height, whole.height * ratio),
    };
  }

  /** Where the map is and how small it shows the world, null without a map. */
  _place() {
    const size = this._size();
    if (!size) return null;
    const { whole } = this.view.picture;
    const left = this.view.stage.width - size.width - ASIDE;
    return { ...size, left, top: PANE_HEAD + 4, scale: { x: size.width / whole.width, y: size.height / whole.height } };
  }

  /** @param {Theme} colours */
  _render(colours) {
    const { canvas, surface } = this._canvas();
    const { picture, theme } = this.view;
    const { layout } = picture;
    const { width, height } = this.map;
    let ground = this.ground;
    if (ground?.layout !== layout || ground.theme !== theme || ground.width !== width || ground.height !== height) {
      this.ground = ground = { canvas: this._renderGround(colours), theme, layout, width, height };
    }
    surface.drawImage(ground.canvas, 0, 0, width, height);
    const changed = picture.changedItems();
    for (const status of ["changed", "removed", "added"]) {
      const items = changed.filter((item) => picture.counts[status][item]);
      this._fill(surface, items, colours[status].line, 2.5);
    }
    return canvas;
  }

  /** @param {Theme} colours */
  _renderGround(colours) {
    const { canvas, surface } = this._canvas();
    const { width, height } = this.map;
    surface.fillStyle = colours.page;
    surface.strokeStyle = colours.groupLine;
    surface.beginPath();
    surface.roundRect(0.5, 0.5, width - 1, height - 1, 4);
    surface.fill();
    surface.stroke();
    this._fill(surface, this.view.picture.closedItems(), colours.hub, 0.6);
    return canvas;
  }

  _canvas() {
    const { ratio } = this.view.stage;
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(this.map.width * ratio);
    canvas.height = Math.ceil(this.map.height * ratio);
    const surface = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    surface.scale(ratio, ratio);
    return { canvas, surface };
  }

  /**
   * Fills boxes; of those that would fall on the same spot of the map only the first, for there are thousands.
   * @param {CanvasRenderingContext2D} surface
   * @param {number[]} items
   * @param {string} colour
   * @param {number} least width and height of a box
   */
  _fill(surface, items, colour, least) {
    const { width, height, scale } = this.map;
    const { layout } = this.view.picture;
    const spots = 2 * this.view.stage.ratio; // per px
    const across = Math.ceil(width * spots) + 1;
    const taken = new Uint8Array(across * (Math.ceil(height * spots) + 1));
    surface.fillStyle = colour;
    for (const item of items) {
      const [w, h] = [Math.max(least, layout.width[item] * scale.x), Math.max(least, layout.height[item] * scale.y)];
      const [x, y] = [Math.min(width - w, layout.x[item] * scale.x), Math.min(height - h, layout.y[item] * scale.y)];
      const spot = Math.max(0, Math.floor(y * spots)) * across + Math.max(0, Math.floor(x * spots));
      if (taken[spot] && w <= 2 * least && h <= 2 * least) continue;
      taken[spot] = 1;
      surface.fillRect(x, y, w, h);
    }
  }

  /**
   * The point of the world under the pointer, or null beside the map (unless `outside` counts as well).
   * @param {MouseEvent} event
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
