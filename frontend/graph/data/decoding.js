/* Decoding of the graph data's compact rows: lists, nodes, constants. */

/** @param {number[][]} lists */
export function decodeLists(lists) {
  /** @type {number[][]} */
  const bodies = [];
  for (const [base, ...code] of lists) {
    const body = [];
    for (let at = 0; at < code.length;) {
      if (code[at] < 0) {
        const end = at + 1 - code[at];
        for (at += 1; at < end; at++) body.push(code[at]);
      } else {
        for (let row = code[at], end = row + code[at + 1]; row < end; row++) body.push(bodies[base][row]);
        at += 2;
      }
    }
    bodies.push(body);
  }
  return bodies;
}

/** @param {RawRow} row */
export function shallow(row) {
  return JSON.stringify([
    row.slice(0, 8),
    row[8].map((/** @type {RawBlock} */ [values, , outputs, scope]) => [values, outputs, scope]),
  ]);
}

/**
 * Lists one behind the other: list n is `values` from `start[n]` to `start[n + 1]`.
 * @param {number[][]} lists
 */
export function flatten(lists) {
  const start = new Int32Array(lists.length + 1);
  for (let at = 0; at < lists.length; at++) start[at + 1] = start[at] + lists[at].length;
  const values = new Int32Array(start[lists.length]);
  lists.forEach((list, at) => values.set(list, start[at]));
  return { start, values };
}

/** @param {number[]} list */
export function evenPlaces(list) {
  return list.length === 2 ? [list[0]] : list.filter((_, at) => at % 2 === 0);
}

/**
 * @param {Model} model
 * @param {RawRow} row
 * @returns {GraphNode}
 */
export function decodeNode(model, row) {
  const text = (/** @type {number} */ index) => model.strings[index || 0];
  const pairs = (/** @type {number[]} */ flat, /** @type {string} */ name, /** @type {string} */ other) => {
    /** @type {any[]} */
    const found = [];
    for (let at = 0; at < (flat || []).length; at += 2) {
      found.push({ [name]: text(flat[at]), [other]: text(flat[at + 1]) });
    }
    return found;
  };
  const source = row[6] ? model.sources[row[6] - 1] : null;
  const kept = row[7];
  return {
    id: text(row[0]),
    op: text(row[1]),
    inputs: (row[2] || []).map(text),
    outputs: pairs(row[3], "name", "type"),
    module: text(row[4]),
    attributes: pairs(row[5], "name", "text"),
    source: source && { file: text(source[0]), line: source[1], column: source[2] },
    constant:
      (kept && {
        shape: kept[0],
        dtype: text(kept[1]),
        device: text(kept[2]),
        nbytes: kept[3],
        storage: text(kept[4]) || null,
        digest: text(kept[5]) || null,
        minimum: kept[6],
        maximum: kept[7],
        mean: kept[8],
        std: kept[9],
        nonfinite: kept[10],
        values: kept[11]
          ? {
              zeros: kept[11][0],
              nans: kept[11][1],
              counted: kept[11][2],
              histogram: text(kept[11][3]),
              first: text(kept[11][4]),
            }
          : null,
      }) ||
      null,
  };
}
