/* The graph view's marks: which nodes and closed groups bear those that the page around it gives to ids and values. */

/**
 * @param {Record<string, Mark>} marks by id of a node or name of a value
 * @param {Picture | null} picture
 * @returns {{ofKey: Map<number, object>, ofItem: Map<number, object>}} marks of nodes, and of the closed groups around them
 */
export function placeMarks(marks, picture) {
  const placed = { ofKey: new Map(), ofItem: new Map() };
  const named = Object.entries(marks);
  if (!named.length || !picture) return placed;
  const { model, items, ownerOfKey } = picture.scene;
  const makers = makersOf(picture);
  for (const [name, mark] of named) {
    const key = model.keyOfId.get(name) ?? makers.get(name);
    if (key === undefined) continue;
    placed.ofKey.set(key, mark);
    const item = ownerOfKey[key];
    if (item !== undefined && items[item].group) placed.ofItem.set(item, mark);
  }
  return placed;
}

/**
 * Name of a value -> key of the node that makes it.
 * @param {{ scene: { model: Model }, before: number | null, after: number }} options
 */
function makersOf({ scene: { model }, before, after }) {
  const makers = new Map();
  for (const index of [before, after]) {
    if (index === null) continue;
    model.snapshot(index).producer.forEach((key, value) => key >= 0 && makers.set(model.strings[value], key));
  }
  return makers;
}
