/* The graph view's look-up of one node in two graphs. */

/**
 * A node in both graphs of a pair, null where it is in neither.
 * @param {Model} model
 * @param {[number | null, number | null]} options
 * @param {string} id
 */
export function nodeIn(model, [before, after], id) {
  const key = model.keyOfId.get(id);
  if (key === undefined) return null;
  const read = (/** @type {number | null} */ index) => {
    const row = index === null ? -1 : model.snapshot(index).rowOf[key];
    return row < 0 ? null : model.node(row);
  };
  const [old, now] = [read(before), read(after)];
  if (!old && !now) return null;
  return { id, status: model.diff(before, /** @type {number} */ (after)).get(key) || null, before: old, after: now };
}
