/* Where many boxes stand together, such as the changes of a pass. Pure. */

const PLACES_TRIED = 400;

/**
 * The first place where at least a third as many boxes stand together as anywhere: the first box of all may stand alone.
 * @param {Box[]} boxes from top to bottom
 * @param {number} width of a place
 * @param {number} height
 * @returns {Box} around the boxes that stand there
 */
export function firstCrowd(boxes, width, height) {
  const [least, reach] = [Math.max(0, width), Math.max(0, height)];
  const places = boxes.slice(0, PLACES_TRIED).map((box, at) => {
    let [left, right, bottom, count] = [box.x, box.x + box.width, box.y + box.height, 1];
    for (let next = at + 1; next < boxes.length && boxes[next].y <= box.y + reach; next++) {
      const one = boxes[next];
      const [from, to] = [Math.min(left, one.x), Math.max(right, one.x + one.width)];
      if (to - from > least || one.y + one.height > box.y + reach) continue;
      [left, right, bottom] = [from, to, Math.max(bottom, one.y + one.height)];
      count += 1;
    }
    return { box: { x: left, y: box.y, width: right - left, height: bottom - box.y }, count };
  });
  const most = Math.max(...places.map(({ count }) => count));
  const found = places.find(({ count }) => 3 * count >= most);
  return /** @type {{ box: Box }} */ (found).box;
}
