/* The graph view's epochs: runs of steps that share one layout. */

const EPOCH_GROWTH = 1.3; // a gap where a node used to be is cheap, a page of gaps is not

/**
 * Cuts a method's steps into runs whose snapshots together are hardly larger than the smallest pair among them.
 * @param {Model} model
 * @param {string} method
 */
export function findEpochs(model, method) {
  /** @type {Set<number>[]} */
  const epochs = [];
  /** @type {any} */
  let epoch = null;
  for (const step of model.steps.filter((one) => one.method === method)) {
    const pair = step.before === null ? [step.after] : [step.before, step.after];
    const alone = joined(model, new Uint8Array(model.ids.length), 0, pair);
    if (epoch) {
      const grown = joined(
        model,
        epoch.seen.slice(),
        epoch.size,
        pair.filter((index) => !epoch.members.has(index)),
      );
      const smallest = Math.min(epoch.smallest, alone.size);
      if (grown.size <= EPOCH_GROWTH * smallest) {
        pair.forEach((index) => epoch.members.add(index));
        Object.assign(epoch, grown, { smallest });
        continue;
      }
    }
    epoch = { ...alone, smallest: alone.size, members: new Set(pair) };
    epochs.push(epoch.members);
  }
  return epochs;
}

/**
 * @param {Model} model
 * @param {Uint8Array} seen
 * @param {number} size
 * @param {number[]} snapshots
 */
function joined(model, seen, size, snapshots) {
  for (const index of snapshots) {
    for (const key of model.snapshot(index).order) {
      size += 1 - seen[key];
      seen[key] = 1;
    }
  }
  return { seen, size };
}
