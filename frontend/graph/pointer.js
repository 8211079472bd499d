/* The graph view's pointer: wheel, dragging, pinching, clicks, and what lies under it. */

import { itemUnder, onToggle } from "./hits.js";
import { Tooltip } from "./tooltip.js";

const STILL = 4; // px that a press may wander and still be a click
const [LINE_PX, PAGE_PX] = [16, 400]; // of a wheel that turns by lines or pages

export class Pointer {
  /**
   * Listens on the canvas of a view, and steers it.
   * @param {GraphView} view
   */
  constructor(view) {
    this.view = view;
    this.moved = 0; // px since the pointer went down
    this.inOverview = false;
    this.pressed = new Map(); // pointer id -> its last event
    this.tooltip = new Tooltip(view);
    const on = (
      /** @type {string} */ name,
      /** @type {(event: any) => void} */ act,
      /** @type {AddEventListenerOptions} */ options = {},
    ) => view.stage.canvas.addEventListener(name, act, options);
    on("wheel", (/** @type {PointerEvent} */ event) => this._onWheel(event), { passive: false });
    on("pointerdown", (/** @type {PointerEvent} */ event) => this._onDown(event));
    on("pointermove", (/** @type {PointerEvent} */ event) => this._onMove(event));
    on("pointerup", (/** @type {PointerEvent} */ event) => this._onUp(event));
    on("pointercancel", (/** @type {PointerEvent} */ event) => this._onUp(event));
    on("pointerleave", () => this._leave());
    on("dblclick", (/** @type {PointerEvent} */ event) => this._onDouble(event));
  }

  /** Lets go of what was under the pointer: the picture is another one. */
  forget() {
    this.view.hovered = -1;
    this.tooltip.hide();
  }

  /** @param {Place} place */
  _itemAt(place) {
    const { panes, picture } = this.view;
    return picture ? itemUnder(picture, panes.headers[place.side] ?? [], place) : -1;
  }

  /**
   * @param {Place} place
   * @param {number} item
   */
  _onToggle(place, item) {
    const { camera, panes, picture } = this.view;
    return onToggle(picture, panes.headers[place.side] ?? [], place, { item, zoom: camera.zoom });
  }

  /** @param {any} event */
  _onWheel(event) {
    if (this.view.options.wheel === "ctrl" && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE_PX : event.deltaMode === 2 ? PAGE_PX : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0016;
    const turned = Math.max(-300, Math.min(300, event.deltaY * unit));
    this.view.zoomBy(Math.exp(-turned * speed), this.view.panes.locate(event).offset);
  }

  /** @param {any} event */
  _onDown(event) {
    if (event.button > 0) return;
    const {
      camera,
      overview,
      stage: { canvas },
    } = this.view;
    this.view.root.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    this.pressed.set(event.pointerId, event);
    this.moved = 0;
    camera.stop();
    const point = overview.at(event);
    this.inOverview = point !== null;
    if (point) camera.jump(point);
  }

  /** @param {any} event */
  _onMove(event) {
    const { overview, panes } = this.view;
    const last = this.pressed.get(event.pointerId);
    if (!last) {
      return this._hover(overview.at(event) ? -1 : this._itemAt(panes.locate(event)), event);
    }
    this.pressed.set(event.pointerId, event);
    const point = this.inOverview && overview.at(event, true);
    if (point) return this.view.camera.jump(point);
    const other = [...this.pressed.values()].find((one) => one.pointerId !== event.pointerId);
    if (other) this._pinch(last, event, other);
    else this._drag(last, event);
  }

  /**
   * @param {any} last
   * @param {any} event
   * @param {any} other
   */
  _pinch(last, event, other) {
    const distance = (/** @type {any} */ one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    this.view.zoomBy(distance(event) / Math.max(1, distance(last)), this.view.panes.locate(event).offset);
  }

  /**
   * @param {any} last
   * @param {PointerEvent} event
   */
  _drag(last, event) {
    const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.moved < STILL) return;
    this.view.root.classList.add("fg-drag");
    this._hover(-1);
    const { camera } = this.view;
    camera.pan(-dx / camera.zoom, -dy / camera.zoom);
  }

  /** @param {PointerEvent} event */
  _onUp(event) {
    const known = this.pressed.delete(event.pointerId);
    this.view.root.classList.remove("fg-drag");
    if (!known || event.type === "pointercancel" || this.moved >= STILL || this.inOverview || !this.view.picture) {
      return;
    }
    const place = this.view.panes.locate(event);
    const item = this._itemAt(place);
    if (item > 0 && this._onToggle(place, item)) this.view.groups.toggle(this.view.picture.scene.items[item].group.id);
    else this.view.selection.choose(item);
  }

  /** @param {PointerEvent} event */
  _onDouble(event) {
    if (!this.view.picture) return;
    const place = this.view.panes.locate(event);
    const item = this._itemAt(place);
    const group = item > 0 && this.view.picture.scene.items[item].group;
    if (group && !this._onToggle(place, item)) this.view.groups.toggle(group.id); // each click on the +/- box has done so already
  }

  _leave() {
    this._hover(-1);
  }

  /**
   * @param {number} item
   * @param {PointerEvent} [event]
   */
  _hover(item, event) {
    if (item !== this.view.hovered) this._enter(item, event);
    if (event) this.tooltip.place(event);
  }

  /**
   * @param {number} item
   * @param {any} [event]
   */
  _enter(item, event) {
    const { view } = this;
    view.hovered = item;
    const shown = item > 0 ? view.picture.scene.items[item] : null;
    view.emit("hover", shown && { id: view.picture.scene.idOf(item), kind: shown.group ? "group" : "node" });
    const closed = shown !== null && !shown.open;
    view.stage.canvas.style.cursor = closed ? "pointer" : "";
    if (closed) this.tooltip.show(item, view.panes.locate(event).side);
    else this.tooltip.hide();
    view.stage.redraw();
  }
}
