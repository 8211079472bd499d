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
  const seen = moves.filter(
    ({ from }) => Math.abs(from.x - middle.x) < room.width / 2 && Math.abs(from.y - middle.y) < room.height / 2,
  );
  const counted = seen.length ? seen : [nearest(moves, middle)];
  return {
    x: median(counted.map(({ from, to }) => to.x - from.x)),
    y: median(counted.map(({ from, to }) => to.y - from.y)),
  };
}

/**
 * @param {{ from: Point, to: Point }[]} moves
 * @param {Point} middle
 */
function nearest(moves, middle) {
  const distance = (/** @type {{ from: Point }} */ { from }) => Math.hypot(from.x - middle.x, from.y - middle.y);
  return moves.reduce((best, one) => (distance(one) < distance(best) ? one : best));
}

/** @param {number[]} numbers at least one */
function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
