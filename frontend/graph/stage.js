/* The graph view's stage: its canvas, sized and painted anew when needed, and pictures of it as files. */

import { SvgSurface } from "./drawing/svg_surface.js";
import { element } from "./element.js";

const LOW = 240; // px of height below which the legend would cover the graph
const LEAST_RATIO = 2; // of a PNG's pixels to those of the page

export class Stage {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    this.canvas = element("canvas", "", view.root);
    this.surface = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    this.frame = 0;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(view.root);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.view.root;
    const ratio = globalThis.devicePixelRatio || 1;
    if (!width || !height || (width === this.width && height === this.height && ratio === this.ratio)) return;
    const before = { width: this.view.panes.width(), height: this.height };
    Object.assign(this, { width, height, ratio });
    this.view.root.classList.toggle("fg-low", height < LOW);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.view.camera.lookFirst();
    this.view.camera.keepSelected(before);
    this.draw();
  }

  /** Paints with the next frame, once however often it is asked for. */
  redraw() {
    if (!this.view.gone) this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** Paints at once. */
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.width || this.view.gone) return;
    this.surface.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.view.panes.paint(this.surface, true);
  }

  stop() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  toSVG() {
    const surface = new SvgSurface(this.width, this.height);
    this.view.panes.paint(surface, false);
    return surface.toString();
  }

  toPNG() {
    const canvas = document.createElement("canvas");
    const ratio = Math.max(LEAST_RATIO, this.ratio);
    canvas.width = this.width * ratio;
    canvas.height = this.height * ratio;
    const surface = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    surface.scale(ratio, ratio);
    this.view.panes.paint(surface, false);
    return new Promise((resolve, reject) => {
      canvas.toBlob(
        (blob) => (blob ? resolve(blob) : reject(new Error("graph view: the picture is too large for a PNG"))),
        "image/png",
      );
    });
  }
}
