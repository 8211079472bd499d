/* Seventh phase, per scope: y, and with it the size of the scope's box and where everything is in it. */

const NONE = -1;
const PAD = 14;
const HEADER = 28;
const ROW_GAP = 26;
const PORT_GAP = 10;
const WIDE_GAP = 0.07; // a row gap grows with the widest sidestep in it, so that curves stay steep enough to read
const MOST_GAP = 60;

/**
 * Tops and heights of rows; the port rows at either end are flat.
 * @param {Grid} grid
 * @param {Scope} scope
 * @param {LayoutBoxes} result
 */
export function placeY(grid, scope, result) {
  const count = grid.rows.length;
  const sidestep = widestSteps(grid);
  grid.top = new Float64Array(count);
  grid.depth = new Float64Array(count);
  let y = scope.box ? HEADER : PAD;
  for (let row = 0; row < count; row++) {
    for (const element of grid.rows[row]) {
      if (grid.box[element] !== NONE) grid.depth[row] = Math.max(grid.depth[row], result.height[grid.box[element]]);
    }
    grid.top[row] = y;
    const isPort = (grid.entering && row === 0) || (grid.leaving && row === count - 2);
    const least = isPort ? PORT_GAP : ROW_GAP;
    y += grid.depth[row] + (row + 1 < count ? least + Math.round(Math.min(MOST_GAP, WIDE_GAP * sidestep[row])) : 0);
  }
  grid.bottom = y;
}

/**
 * Per row, how far the link that leans most goes sideways below it.
 * @param {Grid} grid
 */
function widestSteps(grid) {
  const widest = new Float64Array(grid.rows.length);
  for (let at = 0; at < grid.upper.length; at++) {
    const [upper, lower] = [grid.upper[at], grid.lower[at]];
    const step = Math.abs(grid.x[upper] + grid.upperShift[at] - grid.x[lower] - grid.lowerShift[at]);
    widest[grid.row[upper]] = Math.max(widest[grid.row[upper]], step);
  }
  return widest;
}

/**
 * Size of the scope's box, places of its children inside it, and of the ports on its border.
 * @param {Grid} grid
 * @param {Scope} scope
 * @param {LayoutBoxes} result
 */
export function finishScope(grid, scope, result) {
  const { box } = scope;
  // Whole, even numbers: lines are crisp, and sums are the same whatever they are made of.
  const width = 2 * Math.ceil(Math.max(result.width[box], grid.extent + 2 * PAD) / 2);
  const left = (width - grid.extent) / 2;
  result.width[box] = width;
  result.height[box] = Math.max(result.height[box], grid.bottom + PAD);
  for (let element = 0; element < grid.x.length; element++) {
    grid.x[element] = Math.round(grid.x[element] + left);
    const child = grid.box[element];
    if (child === NONE) continue;
    result.x[child] = grid.x[element] - result.width[child] / 2;
    result.y[child] = grid.top[grid.row[element]];
  }
  for (const [net, { chain, port }] of grid.chains) {
    if (net.from === NONE) net.entryX = grid.x[chain[0]];
    if (net.exits) net.exitX = grid.x[port];
  }
  result.lean[box] = leanOf(scope.nets);
}

/** @param {Net[]} nets */
function leanOf(nets) {
  const [enters, leaves] = [nets.filter((net) => net.from === NONE), nets.filter((net) => net.exits)];
  if (!enters.length || !leaves.length) return 0;
  const mean = (/** @type {number[]} */ values) =>
    values.reduce((sum, /** @type {number} */ value) => sum + value, 0) / values.length;
  return (mean(leaves.map((net) => net.exitX)) - mean(enters.map((net) => net.entryX))) / 2;
}
