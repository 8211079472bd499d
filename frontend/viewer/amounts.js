/* Sizes and times in words, as freeze_engine/analysis/number_texts.py writes them. */

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const TIME_UNITS = /** @type {[string, number][]} */ ([
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
]);

/**
 * A size in binary units, three significant digits.
 * @param {number} nbytes
 */
export function bytesText(nbytes) {
  let [size, unit] = [nbytes, 0];
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit ? threeDigits(size) : nbytes} ${BYTE_UNITS[unit]}`;
}

/**
 * A duration in the largest fitting unit.
 * @param {number} ns
 */
export function durationText(ns) {
  const [unit, scale] = TIME_UNITS.find(([, least]) => ns >= least) ?? ["ns", 1];
  return `${threeDigits(ns / scale)} ${unit}`;
}

/**
 * A share of a measured whole, in whole percent.
 * @param {number} share from 0 to 1
 */
export function percentText(share) {
  return share > 0 && share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`;
}

/**
 * A share of something counted, in percent, three significant digits.
 * @param {number} part
 * @param {number} whole
 */
export function partText(part, whole) {
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 0.1 ? "less than 0.1%" : `${Number(percent.toPrecision(3))}%`;
}

/** @param {number} number */
function threeDigits(number) {
  return number.toFixed(number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2);
}
