/* The graph view's panes: which graphs are shown, where they are on the canvas, and how they are painted on it. */

import { SIDES } from "./data/scene.js";
import { paintPane } from "./drawing/pane.js";
import { FONTS, shorten, textWidth } from "./drawing/text.js";
import { SIGNS, THEMES } from "./drawing/theme.js";

const { AFTER, BEFORE } = SIDES;
export const PANE_HEAD = 40; // px at the top of a pane that its title takes
export const PANE_FOOT = 88; // px at the bottom of a pane that legend and buttons take
const TITLE = PANE_HEAD - 8;

export class Panes {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    /** @type {Record<number, Header[]>} */
    this.headers = {}; // side -> where the names of open groups are
  }

  /** The sides that are shown, from left to right. */
  sides() {
    // While a layout is under way, what is seen is still the picture before it.
    const steps = this.view.picture ? this.view.picture.steps : this.view.steps;
    if (!steps || steps.before === null) return [AFTER];
    return { split: [BEFORE, AFTER], before: [BEFORE], after: [AFTER] }[
      /** @type {"split" | "before" | "after"} */ (this.view.options.panes)
    ];
  }

  /** Of one pane, in px. */
  width() {
    return (this.view.stage.width - this.view.overview.strip()) / this.sides().length;
  }

  /** How much a pane shows that nothing is over, in px. */
  room() {
    return { width: this.width() - 40, height: this.view.stage.height - PANE_HEAD - PANE_FOOT };
  }

  /**
   * Whether the middle of a box is in sight in a pane.
   * @param {number} item
   */
  isInSight(item) {
    const { camera, picture } = this.view;
    const { width, height } = this.room();
    const box = picture.box(item);
    const across = Math.abs(box.x + box.width / 2 - camera.x) * camera.zoom <= width / 2;
    const along = Math.abs(box.y + box.height / 2 - camera.y) * camera.zoom <= height / 2;
    return across && along && this.sides().some((/** @type {number} */ side) => picture.sides[item] & side);
  }

  /**
   * Where an event is: side of the pane, offset in px from its middle, and the point of the world.
   * @param {PointerEvent} event
   */
  locate(event) {
    const {
      camera,
      stage: { canvas, height },
    } = this.view;
    const bounds = canvas.getBoundingClientRect();
    const sides = this.sides();
    const width = this.width();
    const x = event.clientX - bounds.left;
    const pane = Math.min(sides.length - 1, Math.max(0, Math.floor(x / width)));
    const offset = { x: x - (pane + 0.5) * width, y: event.clientY - bounds.top - height / 2 };
    const isBeside = x > width * sides.length; // where the map is: nothing of the graph is there
    return {
      side: sides[pane],
      offset,
      x: isBeside ? Infinity : camera.x + offset.x / camera.zoom,
      y: camera.y + offset.y / camera.zoom,
    };
  }

  /**
   * Paints everything on a surface of the view's size.
   * @param {boolean} live on the screen, with what is under the pointer and the map, and not for a file
   * @param {Surface} surface
   */
  paint(surface, live) {
    const { view } = this;
    const colours = THEMES[view.theme];
    fillRect(surface, { x: 0, width: view.stage.width, height: view.stage.height }, colours.page);
    if (!view.picture) return;
    const sides = this.sides();
    const width = this.width();
    this.headers = {};
    sides.forEach((/** @type {number} */ side, /** @type {number} */ at) => {
      surface.save();
      surface.translate(at * width, 0);
      surface.beginPath();
      surface.rect(0, 0, width, view.stage.height);
      surface.clip();
      this.headers[side] = paintPane(surface, view.picture, this._look(side, live));
      this._paintTitle(surface, side, colours);
      surface.restore();
    });
    if (sides.length === 2) fillRect(surface, { x: width - 0.5, width: 1, height: view.stage.height }, colours.divider);
    if (live) view.overview.paint(surface, colours);
  }

  /**
   * @param {number} side
   * @param {boolean} live
   */
  _look(side, live) {
    const { view } = this;
    return {
      side,
      alone: this.sides().length === 1,
      width: this.width(),
      height: view.stage.height,
      theme: view.theme,
      camera: view.camera,
      selected: view.selection.item,
      hovered: live ? view.hovered : -1,
      marks: view.placedMarks.ofKey,
      groupMarks: view.placedMarks.ofItem,
      matches: view.found.items,
      colours: view.colours,
      headerTop: PANE_HEAD,
    };
  }

  /**
   * Which step it is, how many nodes it has and how many of them changed.
   * @param {Surface} surface
   * @param {number} side
   * @param {Theme} colours
   */
  _paintTitle(surface, side, colours) {
    const { picture } = this.view;
    const width = this.width();
    fillRect(surface, { x: 0, width, height: TITLE }, colours.page);
    const { word, label, nodes, changes } = titleOf(picture, side);
    const write = (
      /** @type {string} */ text,
      /** @type {number} */ x,
      /** @type {string} */ font,
      /** @type {string} */ colour,
    ) => {
      surface.font = font;
      surface.fillStyle = colour;
      surface.textAlign = "left";
      surface.textBaseline = "middle";
      surface.fillText(text, x, TITLE / 2);
      return x + textWidth(font, text);
    };
    const { header, count } = FONTS;
    let x = write(word, 14, count, colours.soft) + 8;
    const room = width - x - 90 - changes.length * 50;
    x = write(shorten(header, label, room), x, header, colours.text) + 12;
    for (const { status, text } of changes) x = write(text, x, header, colours[status].line) + 8;
    write(`${nodes} nodes`, x, count, colours.soft);
  }
}

/**
 * @param {Picture} picture
 * @param {number} side
 */
function titleOf(picture, side) {
  const {
    counts,
    scene: { model },
    steps,
  } = picture;
  const alone = steps.before === null;
  const step = model.steps[/** @type {number} */ (side === BEFORE ? steps.before : steps.after)];
  const statuses = alone
    ? []
    : [side === BEFORE ? "removed" : "added", "changed"].filter((status) => counts[status][0]);
  return {
    word: step.label ? "" : alone ? "graph" : side === BEFORE ? "before" : "after",
    label: `${step.label ?? step.index}  ${step.name}${step.method === "forward" ? "" : `  ·  ${step.method}`}`,
    nodes: model.snapshot(picture.snapshotOf(side)).nodeCount(model),
    changes: statuses.map((status) => ({ status, text: `${SIGNS[status]}${counts[status][0]}` })),
  };
}

/**
 * @param {Surface} surface
 * @param {{ x: number, width: number, height: number }} options
 * @param {string} colour
 */
function fillRect(surface, { x, width, height }, colour) {
  surface.beginPath();
  surface.rect(x, 0, width, height);
  surface.fillStyle = colour;
  surface.fill();
}
