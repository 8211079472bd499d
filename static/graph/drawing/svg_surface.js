/* The graph view's picture as SVG: the part of a 2D context that the painters use. */
(function (root) {
  "use strict";

  /** The part of a 2D context that the painter uses, writing SVG. Coordinates come out in CSS pixels. */
  class SvgSurface {
    constructor(width, height) {
      Object.assign(this, { width, height, out: [], path: [], stack: [], clips: 0 });
      Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "", textAlign: "left", textBaseline: "middle" });
      this.at = { x: 0, y: 0, scale: 1, groups: 0 };
      this.dash = [];
    }

    save() { this.stack.push({ ...this.at }); this.at.groups = 0; }
    restore() { this.out.push("</g>".repeat(this.at.groups)); this.at = this.stack.pop(); }
    translate(x, y) { this.at.x += x * this.at.scale; this.at.y += y * this.at.scale; }
    scale(factor) { this.at.scale *= factor; }
    setLineDash(dash) { this.dash = dash; }
    beginPath() { this.path = []; }
    closePath() { this.path.push("Z"); }
    moveTo(x, y) { this.path.push(`M${this._point(x, y)}`); }
    lineTo(x, y) { this.path.push(`L${this._point(x, y)}`); }
    bezierCurveTo(a, b, c, d, e, f) { this.path.push(`C${this._point(a, b)} ${this._point(c, d)} ${this._point(e, f)}`); }
    rect(x, y, width, height) { this.roundRect(x, y, width, height, 0); }

    roundRect(x, y, width, height, radius) {
      const r = Math.max(0, Math.min(radius, width / 2, height / 2));
      const size = this._number(r * this.at.scale);
      const arc = (toX, toY) => (r ? `A${size} ${size} 0 0 1 ${this._point(toX, toY)}` : "");
      this.path.push(`M${this._point(x + r, y)}L${this._point(x + width - r, y)}${arc(x + width, y + r)}` +
        `L${this._point(x + width, y + height - r)}${arc(x + width - r, y + height)}L${this._point(x + r, y + height)}` +
        `${arc(x, y + height - r)}L${this._point(x, y + r)}${arc(x + r, y)}Z`);
    }

    arc(x, y, radius) {
      this.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius);
    }

    clip() {
      const id = `clip${++this.clips}`;
      this.out.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
      this.at.groups++;
    }

    fill() {
      if (this.path.length) this.out.push(`<path d="${this.path.join("")}" fill="${escapeXml(this.fillStyle)}"/>`);
    }

    stroke() {
      if (!this.path.length) return;
      const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map((part) => this._number(part * this.at.scale)).join(" ")}"` : "";
      const width = this._number(this.lineWidth * this.at.scale);
      this.out.push(`<path d="${this.path.join("")}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${width}"${dash}/>`);
    }

    fillText(text, x, y) {
      const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font);
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
      const [left, top] = this._point(x, y).split(" ");
      this.out.push(`<text x="${left}" y="${top}" dominant-baseline="central" text-anchor="${anchor}" fill="${escapeXml(this.fillStyle)}" ` +
        `font-family="${escapeXml(family)}" font-size="${this._number(size * this.at.scale)}"${weight ? ` font-weight="${weight}"` : ""}>` +
        `${escapeXml(text)}</text>`);
    }

    toString() {
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" ` +
        `viewBox="0 0 ${this.width} ${this.height}">${this.out.join("")}</svg>`;
    }

    _number(value) { return String(Math.round(value * 100) / 100); }
    _point(x, y) { return `${this._number(this.at.x + x * this.at.scale)} ${this._number(this.at.y + y * this.at.scale)}`; }
  }

  function escapeXml(text) {
    // Characters that XML 1.0 does not allow at all become the replacement character.
    const legal = String(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
    return legal.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  }

  Object.assign(root.FreezerGraph.drawing, { SvgSurface });
})(globalThis);
