/* The graph view's picture as SVG: the part of a 2D context that the painters use. */

/** The part of a 2D context that the painter uses, writing SVG. Coordinates come out in CSS pixels. */
export class SvgSurface {
  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    /** @type {string[]} */
    this.out = [];
    /** @type {string[]} */
    this.path = [];
    /** @type {{x: number, y: number, scale: number, groups: number}[]} */
    this.stack = [];
    this.clips = 0;
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.font = "";
    /** @type {"left" | "center" | "right"} */
    this.textAlign = "left";
    this.textBaseline = "middle";
    this.at = { x: 0, y: 0, scale: 1, groups: 0 };
    /** @type {number[]} */
    this.dash = [];
  }

  save() {
    this.stack.push({ ...this.at });
    this.at.groups = 0;
  }
  restore() {
    this.out.push("</g>".repeat(this.at.groups));
    this.at = this.stack.pop() ?? this.at;
  }
  /**
   * @param {number} x
   * @param {number} y
   */
  translate(x, y) {
    this.at.x += x * this.at.scale;
    this.at.y += y * this.at.scale;
  }
  /** @param {number} factor */
  scale(factor) {
    this.at.scale *= factor;
  }
  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }
  beginPath() {
    this.path = [];
  }
  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) {
    this.path.push(`M${this._point(x, y)}`);
  }
  /**
   * @param {number} x
   * @param {number} y
   */
  lineTo(x, y) {
    this.path.push(`L${this._point(x, y)}`);
  }
  /**
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} d
   * @param {number} e
   * @param {number} f
   */
  bezierCurveTo(a, b, c, d, e, f) {
    this.path.push(`C${this._point(a, b)} ${this._point(c, d)} ${this._point(e, f)}`);
  }
  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  rect(x, y, width, height) {
    this.roundRect(x, y, width, height, 0);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {number} radius
   */
  roundRect(x, y, width, height, radius) {
    const r = Math.max(0, Math.min(radius, width / 2, height / 2));
    const size = this._number(r * this.at.scale);
    const arc = (/** @type {number} */ toX, /** @type {number} */ toY) =>
      r ? `A${size} ${size} 0 0 1 ${this._point(toX, toY)}` : "";
    this.path.push(
      `M${this._point(x + r, y)}L${this._point(x + width - r, y)}${arc(x + width, y + r)}` +
        `L${this._point(x + width, y + height - r)}${arc(x + width - r, y + height)}L${this._point(x + r, y + height)}` +
        `${arc(x, y + height - r)}L${this._point(x, y + r)}${arc(x + r, y)}Z`,
    );
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   */
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
    const dash = this.dash.length
      ? ` stroke-dasharray="${this.dash.map((part) => this._number(part * this.at.scale)).join(" ")}"`
      : "";
    const width = this._number(this.lineWidth * this.at.scale);
    this.out.push(
      `<path d="${this.path.join("")}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${width}"${dash}/>`,
    );
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const [left, top] = this._point(x, y).split(" ");
    this.out.push(
      `<text x="${left}" y="${top}" dominant-baseline="central" text-anchor="${anchor}" fill="${escapeXml(this.fillStyle)}" ` +
        `font-family="${escapeXml(family)}" font-size="${this._number(Number(size) * this.at.scale)}"${weight ? ` font-weight="${weight}"` : ""}>` +
        `${escapeXml(text)}</text>`,
    );
  }

  toString() {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" ` +
      `viewBox="0 0 ${this.width} ${this.height}">${this.out.join("")}</svg>`
    );
  }

  /** @param {number} value */
  _number(value) {
    return String(Math.round(value * 100) / 100);
  }
  /**
   * @param {number} x
   * @param {number} y
   */
  _point(x, y) {
    return `${this._number(this.at.x + x * this.at.scale)} ${this._number(this.at.y + y * this.at.scale)}`;
  }
}

/** @param {string} text */
function escapeXml(text) {
  // Characters that XML 1.0 does not allow at all become the replacement character.
  const legal = String(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return legal.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
