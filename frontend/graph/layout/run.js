/* Compound layered layout, top to bottom: boxes inside boxes, edges that cross their borders through ports.
 *
 * Each group (a *scope*) is laid out on its own, innermost first, and then is one box of the scope around it. A source
 * box has one *net* per scope it reaches: a single chain of bends that all its readers there share, so that a value
 * read everywhere costs one line and not hundreds. Where a net crosses a group's border it has a port on it.
 *
 * Phases, one file each:  nets → per scope {layers, chains, order, columns, straighten, rows} → segments
 *
 * Pure and deterministic: the same input gives the same output, in a worker as on the main thread.
 *
 * Input   parent Int32Array     box that holds box i; box 0 is the root; a box follows its parent
 *         group  Uint8Array     1 for a box that is open and so gets its size from what it holds
 *         width, height         sizes of closed boxes, least sizes of open ones, even (world units = CSS px at zoom 1)
 *         source, target        the edges, as boxes; the order of boxes is an execution order
 *         via Int32Array        box through whose place an edge runs, or -1: only another version of the graph has that
 *                               box, and the edge takes the lines to it and from it, which are among the edges
 * Output  x, y, width, height   Float32Array, left top corners and sizes of all boxes
 *         x1, y1, x2, y2        Float32Array, segments; each runs downward and starts and ends vertically
 *         owner Int32Array      source box of segment s
 *         previous Int32Array   segment that segment s continues, or -1; always smaller than s
 *         last Int32Array       segment that arrives at the target of edge e, or -1 where there is nothing to draw
 *         layer Int32Array      layer of box i in its scope
 *         lean  Float32Array    half of how far the ways out of box i lie to the right of the ways in
 */

import { buildChains } from "./chains.js";
import { placeX } from "./columns.js";
import { assignLayers } from "./layers.js";
import { indexTree, routeNets } from "./nets.js";
import { orderRows } from "./order.js";
import { finishScope, placeY } from "./rows.js";
import { drawSegments } from "./segments.js";
import { closeColumns, straightenChains } from "./straighten.js";

/** @param {LayoutInput} input */
export function run(input) {
  const tree = indexTree(input);
  const nets = routeNets(input, tree);
  const size = input.parent.length;
  const result = {
    x: new Float32Array(size),
    y: new Float32Array(size),
    layer: new Int32Array(size),
    lean: new Float32Array(size),
    width: Float32Array.from(input.width),
    height: Float32Array.from(input.height),
  };
  /** @type {(Grid | null)[]} */
  const scopes = Array.from({ length: size }, () => null); // box -> its grid
  for (let box = size - 1; box >= 0; box--) {
    if (input.group[box]) scopes[box] = layoutScope(box, tree, nets, result);
  }
  placeAbsolutely(input, result);
  return Object.assign(result, drawSegments(input, tree, nets, scopes, result));
}

/**
 * @param {number} box
 * @param {Tree} tree
 * @param {Nets} nets
 * @param {LayoutBoxes} result
 */
function layoutScope(box, tree, nets, result) {
  const scope = {
    box,
    nets: nets.inScope[box],
    children: tree.children[box],
    find: (/** @type {number} */ inner, /** @type {number} */ owner) => nets.find(inner, owner),
  };
  const layers = assignLayers(scope, tree);
  const grid = buildChains(scope, layers, tree, result);
  orderRows(grid);
  placeX(grid);
  straightenChains(grid);
  closeColumns(grid);
  placeY(grid, scope, result);
  finishScope(grid, scope, result);
  return grid;
}

/**
 * @param {LayoutInput} input
 * @param {LayoutBoxes} result
 */
function placeAbsolutely(input, result) {
  for (let box = 1; box < input.parent.length; box++) {
    result.x[box] += result.x[input.parent[box]];
    result.y[box] += result.y[input.parent[box]];
  }
}
