/* What every view of a viewer shows as chosen. */

/**
 * Ids of nodes: the chosen one, or those of the chosen attribute, kernel or line.
 * @param {TraceModel} model
 * @param {State} state
 * @param {Pair | null} pair the chosen pass and what it is compared with
 * @returns {string[]}
 */
export function focusOf(model, state, pair) {
  const { node, attribute, kernel, line } = state;
  if (node !== null || !pair) return node === null ? [] : [node];
  if (attribute === null && kernel === null && line) return model.lineNodes(line, pair);
  if (attribute === null) return model.kernelNodes(state, pair);
  const { after, before } = pair;
  const now = model.nodesOf(after.index, attribute);
  return now.length || !before ? now : model.nodesOf(before.index, attribute);
}
