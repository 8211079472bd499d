/* The sizes of the viewer that its style sheet knows. */

/** @type {[string, number][]} */
const SIZES = [
  ["wide", 1800],
  ["middle", 1340],
  ["small", 1080],
  ["tight", 760],
  ["narrow", 1],
]; // px of width, at least

/**
 * The name of a size; undefined while the viewer is not shown.
 * @param {number} width px
 */
export function sizeOf(width) {
  return SIZES.find(([, least]) => width >= least)?.[0];
}
