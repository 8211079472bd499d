/* The graph view's hits: what of a picture a point of the world is on, as it was painted. */

const SLOP = 6; // px around a +/- box that still count as it
const TOGGLE_ZOOM = 0.5; // below it the +/- boxes are not drawn

/**
 * The item under a place (see `Panes.locate`), or -1. Names of open groups float over what they hold, so they come first.
 * @param {Picture} picture
 * @param {Header[]} headers
 * @param {Place} place
 */
export function itemUnder(picture, headers, place) {
  return headers.find((header) => holds(header, place))?.item ?? picture.itemAt(place);
}

/**
 * @param {{ x: number, y: number, width: number, height: number }} options
 * @param {Place} place
 */
function holds({ x, y, width, height }, place) {
  return place.x >= x && place.x <= x + width && place.y >= y && place.y <= y + height;
}

/**
 * Whether a place is on the +/- box of an item.
 * @param {Picture} picture
 * @param {Header[]} headers
 * @param {Place} place
 * @param {{ item: number, zoom: number }} options
 */
export function onToggle(picture, headers, place, { item, zoom }) {
  const { group, open } = picture.scene.items[item];
  if (!group || zoom < TOGGLE_ZOOM) return false;
  const middle = open ? toggleOfHeader(headers, item) : toggleOfBox(picture, item);
  return middle !== null && Math.abs(place.x - middle.x) <= 6 + SLOP && Math.abs(place.y - middle.y) <= 6 + SLOP;
}

/**
 * @param {Header[]} headers
 * @param {number} item
 */
function toggleOfHeader(headers, item) {
  const header = headers.find((one) => one.item === item);
  return header ? { x: header.x + 10, y: header.y + 14 } : null;
}

/**
 * @param {Picture} options
 * @param {number} item
 */
function toggleOfBox({ layout }, item) {
  return { x: layout.x[item] + 15, y: layout.y[item] + 16 };
}
