/* The graph view's camera: the point of the world in the middle of each pane, how large it is drawn, and where to look. */

import { firstCrowd } from "./crowd.js";
import { PANE_FOOT, PANE_HEAD } from "./panes.js";
import { commonShift, withBoxInSight } from "./stillness.js";

const [LEAST_ZOOM, MOST_ZOOM] = [0.004, 4];
const TOP_ZOOM = 0.6; // of a first look where nothing changed
const CHANGE_ZOOM = 0.85; // of a look at the first changes
const CROWD_MARGIN = 60;
const GLIDE_MS = 180;
const EDGE = 12; // px to leave beside a box at the edge of a pane

export class Camera {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
    this.gliding = 0;
    this.unseen = true; // until a first look has been framed, which takes a picture and a size
  }

  /** Where it is, or where it glides to. */
  place() {
    const { x, y, zoom } = this.gliding ? this.target : this;
    return { x, y, zoom };
  }

  /**
   * Looks elsewhere at once: `place` has any of x, y and zoom.
   * @param {any} place
   */
  jump(place) {
    this.stop();
    Object.assign(this, place);
    this.view.stage.redraw();
  }

  /**
   * Moves by some of the world, not past the edge of the graph.
   * @param {number} dx
   * @param {number} dy
   */
  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this._keepInSight();
    this.view.stage.redraw();
  }

  /**
   * Zooms about a point, given as its offset in px from the pane's middle.
   * @param {number} factor
   * @param {Point} at
   */
  zoomBy(factor, at) {
    this.stop();
    const zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.zoom * factor));
    this.x += at.x / this.zoom - at.x / zoom;
    this.y += at.y / this.zoom - at.y / zoom;
    this.zoom = zoom;
    this._keepInSight();
    this.view.stage.redraw();
  }

  _keepInSight() {
    if (!this.view.picture) return;
    const whole = this.view.picture.whole;
    this.x = Math.min(whole.width, Math.max(0, this.x));
    this.y = Math.min(whole.height, Math.max(0, this.y));
  }

  /**
   * Centres a rectangle of the world in the panes, glides there unless it should jump.
   * @param {Box} box
   */
  frame(box, { least = LEAST_ZOOM, most = 1.15, jump = false } = {}) {
    const { width, height } = this.view.panes.room();
    const room = { width: Math.max(60, width), height: Math.max(60, height) };
    const zoom = Math.min(most, Math.max(least, Math.min(room.width / box.width, room.height / box.height)));
    // What does not fit is shown from its top.
    const y =
      box.height * zoom > room.height
        ? box.y + room.height / 2 / zoom
        : Math.max(box.y + box.height / 2, Math.min(room.height / 2 / zoom, this.view.picture.whole.height / 2));
    this._glide({ x: box.x + box.width / 2, y: y + (PANE_FOOT - PANE_HEAD) / 4 / zoom, zoom }, jump);
  }

  /**
   * Brings a box into the middle; an open group is framed.
   * @param {number} item
   */
  centre(item) {
    const box = this.view.picture.box(item);
    const zoom = Math.max(this.zoom, 0.7);
    if (this.view.picture.scene.items[item].open) this.frame(this.view.picture.box(item, 20), { least: 0.3 });
    else this._glide({ x: box.x + box.width / 2, y: this._withoutGap(box.y + box.height / 2, zoom), zoom });
  }

  /**
   * The height to look at, such that no room is left above or below the graph that it could fill.
   * @param {number} y
   * @param {number} zoom
   */
  _withoutGap(y, zoom) {
    const least = (this.view.stage.height / 2 - PANE_HEAD - 12) / zoom;
    const most = this.view.picture.whole.height - (this.view.stage.height / 2 - PANE_FOOT) / zoom;
    return least < most ? Math.min(most, Math.max(least, y)) : y;
  }

  /**
   * @param {any} target
   * @param {boolean} [jump]
   */
  _glide(target, jump) {
    if (jump || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.jump(target);
    this.stop();
    const from = this.place();
    const start = performance.now();
    const move = (/** @type {number} */ now) => {
      const part = Math.min(1, Math.max(0, (now - start) / GLIDE_MS));
      const eased = 1 - (1 - part) ** 3;
      this.zoom = from.zoom * (target.zoom / from.zoom) ** eased;
      this.x = from.x + (target.x - from.x) * eased;
      this.y = from.y + (target.y - from.y) * eased;
      this.view.stage.draw();
      this.gliding = part < 1 ? requestAnimationFrame(move) : 0;
    };
    this.target = target;
    this.gliding = requestAnimationFrame(move);
  }

  stop() {
    cancelAnimationFrame(this.gliding);
    this.gliding = 0;
  }

  /**
   * @param {Box} box
   * @param {number} zoom
   */
  fits(box, zoom) {
    const { width, height } = this.view.panes.room();
    return box.width * zoom <= width && box.height * zoom <= height;
  }

  /** The first look: the changes if they can be read together, else the first of them; without any, the top. */
  lookFirst() {
    const { view } = this;
    if (!this.unseen || !view.stage.width || !view.picture) return;
    this.unseen = false;
    const changes = this._changes();
    const whole = view.picture.whole;
    if (this.fits(whole, view.picture.replaced ? 0.35 : 0.6)) this.frame(whole, { jump: true });
    else if (changes && this.fits(changes.all, 0.4)) this.frame(changes.all, { most: 1, jump: true });
    else if (changes) this.frame(changes.first, { most: CHANGE_ZOOM, jump: true });
    else this.frame(this._top(whole), { least: TOP_ZOOM, most: 1, jump: true });
  }

  /** Where nothing that changed is in sight, the first of it is brought there. */
  findChanges() {
    const changes = this._changes();
    if (changes && !this.view.picture.changedItems().some((item) => this._sees(this.view.picture.box(item)))) {
      this.frame(changes.first, { most: CHANGE_ZOOM, jump: true });
    }
  }

  /**
   * After the panes got another size: what is selected, and was in sight, stays so. To choose a node opens a panel that
   * takes room, and would else cover the very node.
   * @param {{width: number, height: number}} room of a pane before
   */
  keepSelected(room) {
    const { picture, selection } = this.view;
    if (this.gliding || !picture || selection.item <= 0 || picture.scene.items[selection.item].open) return;
    const box = picture.box(selection.item);
    if (!this._sees(box, room)) return;
    const reach = (/** @type {number} */ size, /** @type {number} */ shown, /** @type {number} */ edge) =>
      Math.max(0, (shown / 2 - edge) / this.zoom - size / 2);
    const { panes, stage } = this.view;
    this.x = nearest(this.x, box.x + box.width / 2, reach(box.width, panes.width(), EDGE));
    this.y = nearest(this.y, box.y + box.height / 2, reach(box.height, stage.height, PANE_HEAD));
  }

  /**
   * Whether the middle of a box is in sight, in panes of this size.
   * @param {Box} box
   */
  _sees(box, { width, height } = { width: this.view.panes.width(), height: this.view.stage.height }) {
    const across = Math.abs(box.x + box.width / 2 - this.x) * this.zoom;
    const down = Math.abs(box.y + box.height / 2 - this.y) * this.zoom;
    return across < width / 2 && down < height / 2;
  }

  /**
   * The whole, or where it is too wide as much as fits around the middlemost box of the first row: the middle may be empty.
   * @param {any} whole
   */
  _top(whole) {
    const { picture } = this.view;
    const { layout } = picture;
    const width = this.view.panes.room().width / TOP_ZOOM;
    const middle = (/** @type {number} */ item) => layout.x[item] + layout.width[item] / 2;
    const off = (/** @type {number} */ item) => Math.abs(middle(item) - whole.width / 2);
    const [first] = picture
      .closedItems()
      .sort((one, other) => layout.y[one] - layout.y[other] || off(one) - off(other));
    if (whole.width <= width || first === undefined) return whole;
    return { ...whole, x: middle(first) - width / 2, width };
  }

  frameChanges() {
    const changes = this._changes();
    if (changes) this.frame(changes.all);
  }

  /** The rectangle of all that changed, and of the first place with much of it; null where nothing did. */
  _changes() {
    const items = this.view.picture.changedItems();
    if (!items.length) return null;
    const boxes = items.map((item) => this.view.picture.box(item, 24));
    const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const right = Math.max(...boxes.map((box) => box.x + box.width));
    const bottom = Math.max(...boxes.map((box) => box.y + box.height));
    const room = this.view.panes.room();
    const [wide, high] = [room.width / CHANGE_ZOOM, room.height / CHANGE_ZOOM];
    const crowd = firstCrowd(boxes, wide - CROWD_MARGIN, high - CROWD_MARGIN);
    const beside = Math.min(160, Math.max(0, (wide - crowd.width) / 2));
    const around = Math.min(360, Math.max(0, high - crowd.height));
    return {
      all: { x, y, width: right - x, height: bottom - y },
      first: {
        x: crowd.x - beside,
        y: crowd.y - around / 3,
        width: crowd.width + 2 * beside,
        height: crowd.height + around,
      },
    };
  }

  /**
   * Moves along with a new picture, so that what one looks at does not seem to move.
   * @param {Picture} old whose items are
   * @param {Picture} next looked up in this one
   * @param {number} [held] the item to hold still; without it, or where it is gone, most of what is in sight
   */
  holdStill(old, next, held) {
    const { panes, stage } = this.view;
    const room = { width: panes.width() / this.zoom, height: stage.height / this.zoom };
    const kept = held === undefined ? [] : movesBetween(old, next, [held]);
    const moves = kept.length ? kept : movesBetween(old, next, old.closedItems());
    const drawn = moves.filter((one) => one.drawn);
    const shift = commonShift(drawn.length ? drawn : moves, this, room);
    const middle = { x: this.x + (shift?.x ?? 0), y: this.y + (shift?.y ?? 0) };
    const boxes = kept.length ? [] : next.closedItems().filter((item) => next.sides[item]);
    this.stop();
    Object.assign(
      this,
      withBoxInSight(
        boxes.map((item) => placeOf(next, item)),
        middle,
        room,
      ),
    );
  }
}

/**
 * The middle of the upper edge of an item.
 * @param {Picture} picture
 * @param {number} item
 */
function placeOf({ layout }, item) {
  return { x: layout.x[item] + layout.width[item] / 2, y: layout.y[item] };
}

/**
 * The places in two pictures of those of some items that both have, and whether both draw them as boxes: a layout has gaps
 * for nodes of other passes, and a group that opens is no box any more.
 * @param {Picture} old
 * @param {Picture} next
 * @param {number[]} items of the old one
 */
function movesBetween(old, next, items) {
  return items.flatMap((item) => {
    const { key, group } = old.scene.items[item];
    const other = group ? next.scene.itemOfGroup.get(group.id) : next.scene.itemOfKey[key];
    if (other === undefined) return [];
    const drawn = !!(old.sides[item] && next.sides[other]) && !next.scene.items[other].open;
    return [{ from: placeOf(old, item), to: placeOf(next, other), drawn }];
  });
}

/**
 * What is nearest to `here` and no farther than `reach` from `middle`.
 * @param {number} here
 * @param {number} middle
 * @param {any} reach
 */
function nearest(here, middle, reach) {
  return Math.min(middle + reach, Math.max(middle - reach, here));
}
