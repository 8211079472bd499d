/* The lines that two texts share. Every line has a unique key in its text, so that no line is matched by guessing. */

/**
 * Compares two texts line by line: of the lines that read the same, the most that are in the same order are kept.
 * @param {Array<{key: string}>} before lines, each with a key that no other line of its text has
 * @param {Array<{key: string}>} after the later text's lines
 * @param {(one: any, other: any) => boolean} same whether two lines with one key read the same
 * @returns {any[]} rows {kind: "same" | "removed" | "added", line, old, new}; `old` and `new` count lines
 *   from 1. The two rows of a line that was rewritten or moved know each other's line as `pair`, and are `moved`
 *   where it reads the same.
 */
export function diffLines(before, after, same) {
  const places = new Map(before.map((line, at) => [line.key, at]));
  const common = after.flatMap((line, at) => {
    const old = places.get(line.key);
    return old !== undefined && same(before[old], line) ? [[old, at]] : [];
  });
  const kept = increasing(common.map(([old]) => old)).map((at) => common[at]);
  const rows = [];
  let [old, now] = [0, 0];
  for (const [nextOld, nextNow] of [...kept, [before.length, after.length]]) {
    for (; old < nextOld; old += 1) rows.push({ kind: "removed", line: before[old], old: old + 1 });
    for (; now < nextNow; now += 1) rows.push({ kind: "added", line: after[now], new: now + 1 });
    if (old < before.length && now < after.length) {
      rows.push({ kind: "same", line: after[now], old: (old += 1), new: (now += 1) });
    }
  }
  return pairUp(rows, same);
}

/**
 * @param {any[]} rows
 * @param {any} same
 */
function pairUp(rows, same) {
  const dropped = new Map(rows.filter((row) => row.kind === "removed").map((row) => [row.line.key, row]));
  for (const row of rows) {
    const other = row.kind === "added" ? dropped.get(row.line.key) : undefined;
    if (other === undefined) continue;
    [row.pair, other.pair] = [other.line, row.line];
    row.moved = other.moved = same(row.line, other.line);
  }
  return rows;
}

/**
 * Positions of a longest strictly increasing run of some numbers, which need not be side by side.
 * @param {number[]} numbers
 */
export function increasing(numbers) {
  /** @type {any[]} */
  const ends = []; // ends[n]: position of the least number that ends a run of n + 1
  const previous = new Array(numbers.length);
  numbers.forEach((number, /** @type {number} */ at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    previous[at] = low ? ends[low - 1] : -1;
    ends[low] = at;
  });
  const run = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]) run.push(at);
  return run.reverse();
}

/**
 * Lines of a plain text with keys: a line is its words and how often they occurred before.
 * @param {string} text
 */
export function textLines(text) {
  const seen = new Map();
  return text
    .trimEnd()
    .split("\n")
    .map((words) => {
      const times = seen.get(words) ?? 0;
      seen.set(words, times + 1);
      return { key: `${times}:${words}`, text: words };
    });
}
