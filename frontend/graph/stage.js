/* The graph view's stage: its canvas, sized and painted anew when needed, and pictures of it as files. */

import { SvgSurface } from "./drawing/svg_surface.js";
import { element } from "./element.js";

const LOW = 240; // px of height below which the legend would cover the graph
const NARROW = 560; // px of width below which legend and buttons have a strip of their own, below the graph
const ASIDE = 20; // px above and below what is in it
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
    const { clientWidth: width, clientHeight } = this.view.root;
    const height = clientHeight - this._strip(width, clientHeight);
    const ratio = globalThis.devicePixelRatio || 1;
    this.view.root.classList.toggle("fg-low", height < LOW);
    if (!width || !height || (width === this.width && height === this.height && ratio === this.ratio)) return;
    const before = { width: this.view.panes.width(), height: this.height };
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.view.camera.lookFirst();
    this.view.camera.keepSelected(before);
    this.draw();
  }

  /**
   * The height of the strip for the legend and the buttons, so that they lie over no box; 0 where there is room beside the
   * graph, or too little for both.
   * @param {number} width
   * @param {number} height
   */
  _strip(width, height) {
    const { legend, toolbar } = this.view;
    if (width >= NARROW || !legend || !toolbar) return 0;
    this.view.root.classList.remove("fg-low"); // else the legend has no height
    const strip = Math.max(legend.box.offsetHeight, toolbar.bar?.offsetHeight ?? 0);
    return strip && height - strip - ASIDE >= LOW ? strip + ASIDE : 0;
  }

  /** Paints with the next frame, once, however often it is requested. */
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
