/* The graph view's small map in the corner: where one is, and where the changes are. */
(function (root) {
  "use strict";

  const { draw } = root.FreezerGraph;

  class Overview {
    constructor(view) {
      this.view = view;
      this.image = null;
      this.map = null; // place and scale of the map while it is shown
    }

    /** Lets go of the image: the picture is another one. */
    forget() {
      this.image = null;
    }

    /** Draws the map, where the graph is larger than what a pane shows. */
    paint(surface, colours) {
      const whole = this.view._whole();
      this.map = null;
      const small = this.view.width < 420 || this.view.height < 300;
      if (small || this.view.camera.fits(whole, 0.97 * this.view.camera.zoom)) return; // the margin of a view that frames it all
      const scale = { x: 0, y: 0 };
      const [most, least] = [{ width: 110, height: Math.min(230, this.view.height * 0.4) }, { width: 46, height: 60 }];
      const ratio = Math.min(most.width / whole.width, most.height / whole.height);
      const width = Math.max(least.width, whole.width * ratio);
      const height = Math.max(least.height, whole.height * ratio);
      Object.assign(scale, { x: width / whole.width, y: height / whole.height });
      const left = this.view.width - width - 16;
      const top = draw.PANE_HEAD + 4;
      this.map = { left, top, width, height, scale };
      this.image ??= this._render(width, height, scale, colours);
      if (this.image.theme !== this.view.theme) this.image = this._render(width, height, scale, colours);
      surface.drawImage(this.image.canvas, left, top, width, height);
      const view = { width: this.view._paneWidth() / this.view.camera.zoom, height: this.view.height / this.view.camera.zoom };
      const x1 = Math.max(0, (this.view.camera.x - view.width / 2) * scale.x);
      const y1 = Math.max(0, (this.view.camera.y - view.height / 2) * scale.y);
      const x2 = Math.min(width, (this.view.camera.x + view.width / 2) * scale.x);
      const y2 = Math.min(height, (this.view.camera.y + view.height / 2) * scale.y);
      surface.strokeStyle = colours.focus;
      surface.lineWidth = 1.5;
      surface.strokeRect(left + x1, top + y1, Math.max(4, x2 - x1), Math.max(4, y2 - y1));
    }

    _render(width, height, scale, colours) {
      const canvas = document.createElement("canvas");
      canvas.width = Math.ceil(width * this.view.ratio);
      canvas.height = Math.ceil(height * this.view.ratio);
      const surface = canvas.getContext("2d");
      surface.scale(this.view.ratio, this.view.ratio);
      surface.fillStyle = colours.page;
      surface.strokeStyle = colours.groupLine;
      surface.beginPath();
      surface.roundRect(0.5, 0.5, width - 1, height - 1, 4);
      surface.fill();
      surface.stroke();
      const { layout, scene } = this.view.picture;
      const fill = (items, colour, least) => {
        surface.fillStyle = colour;
        for (const item of items) {
          const [w, h] = [Math.max(least, layout.width[item] * scale.x), Math.max(least, layout.height[item] * scale.y)];
          surface.fillRect(Math.min(width - w, layout.x[item] * scale.x), Math.min(height - h, layout.y[item] * scale.y), w, h);
        }
      };
      const shut = scene.items.map((_, item) => item).filter((item) => item && !scene.items[item].open);
      fill(shut, colours.hub, 0.6);
      const changed = this.view._changedItems();
      for (const status of ["changed", "removed", "added"]) fill(changed.filter((item) => this.view.picture.counts[status][item]), colours[status].line, 2.5);
      return { canvas, theme: this.view.theme };
    }

    /** The point of the world under the pointer, or null beside the map (unless `outside` counts as well). */
    at(event, outside = false) {
      if (!this.map) return null;
      const bounds = this.view.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - bounds.left - this.map.left, event.clientY - bounds.top - this.map.top];
      const within = x >= 0 && y >= 0 && x <= this.map.width && y <= this.map.height;
      if (!within && !outside) return null;
      const whole = this.view._whole();
      return {
        x: Math.max(0, Math.min(whole.width, x / this.map.scale.x)), y: Math.max(0, Math.min(whole.height, y / this.map.scale.y)),
      };
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { Overview });
})(globalThis);
