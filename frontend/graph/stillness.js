/* Where to look once another layout takes the place of one: boxes that stay should not seem to move. */

/**
 * The shift of the world that keeps most boxes where they are on the screen: the median of the shifts of those in sight.
 * Without any in sight it is that of the box nearest to the middle; null without boxes that both layouts have.
 * @param {{ from: Point, to: Point }[]} moves of the boxes that both layouts have
 * @param {Point} middle of the view
 * @param {{ width: number, height: number }} room that the view shows of the world
 * @returns {Point | null}
 */
export function commonShift(moves, middle, room) {
  if (!moves.length) return null;
  const seen = moves.filter(({ from }) => isSeen(from, middle, room));
  const counted = seen.length ? seen : [nearest(moves, (one) => one.from, middle)];
  return {
    x: median(counted.map(({ from, to }) => to.x - from.x)),
    y: median(counted.map(({ from, to }) => to.y - from.y)),
  };
}

/**
 * The middle of a view in which a box is in sight: the given one, or the place of the box nearest to it.
 * @param {Point[]} places of boxes
 * @param {Point} middle
 * @param {{ width: number, height: number }} room that the view shows of the world
 * @returns {Point}
 */
export function withBoxInSight(places, middle, room) {
  if (!places.length || places.some((place) => isSeen(place, middle, room))) return middle;
  return nearest(places, (one) => one, middle);
}

/**
 * @param {Point} place
 * @param {Point} middle
 * @param {{ width: number, height: number }} room
 */
function isSeen(place, middle, room) {
  return Math.abs(place.x - middle.x) < room.width / 2 && Math.abs(place.y - middle.y) < room.height / 2;
}

/**
 * @template T
 * @param {T[]} all at least one
 * @param {(one: T) => Point} placeOf
 * @param {Point} middle
 */
function nearest(all, placeOf, middle) {
  const distance = (/** @type {T} */ one) => Math.hypot(placeOf(one).x - middle.x, placeOf(one).y - middle.y);
  return all.reduce((best, one) => (distance(one) < distance(best) ? one : best));
}

/** @param {number[]} numbers at least one */
function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
