/* Time ratios with their intervals, on one axis with 1 in the middle. */

import { h } from "./dom.js";

const LEAST_SPREAD = 0.05; // smaller ratios are drawn small

/**
 * The end of the axis of some ratios: its distance from 1, as a factor, on both sides.
 * @param {any} ratios
 */
export function ratioSpread(ratios) {
  const far = ratios
    .flatMap((/** @type {{ low: any, value: number, high: any }} */ { low, value, high }) => [low, value, high])
    .filter((/** @type {any} */ one) => one > 0)
    .map((/** @type {any} */ one) => Math.abs(Math.log(one)));
  return Math.max(LEAST_SPREAD, ...far) * 1.08;
}

/**
 * The ends and the middle of the axis: how much less or more time.
 * @param {any} spread
 */
export function ratioAxis(spread) {
  const end = (/** @type {number} */ at) => {
    const percent = Math.round((Math.exp(at) - 1) * 100);
    return percent > 100 ? `${Math.exp(at).toFixed(1)}×` : `${percent < 0 ? "−" : "+"}${Math.abs(percent)}%`;
  };
  return h(
    "span.fv-ratio-axis.fv-num",
    null,
    h("span", null, end(-spread)),
    h("span", null, "same"),
    h("span", null, end(spread)),
  );
}

/**
 * A time ratio and its interval on a logarithmic axis, with 1 in the middle.
 * @param {{ low: any, value: number, high: any, text: any, verdict: string }} options
 * @param {any} spread
 */
export function ratioBar({ low, value, high, text, verdict }, spread) {
  if (!(value > 0)) return null;
  const place = (/** @type {any} */ one) => 50 + (50 * Math.max(-spread, Math.min(spread, Math.log(one)))) / spread;
  const [start, end] = [low > 0 ? place(low) : 0, high === null ? 100 : place(high)];
  const word = verdict ?? (value < 1 ? "faster" : "slower");
  return h(
    "span.fv-ratio",
    { role: "img", "aria-label": `${text}, ${word}`, class: `fv-ratio-${word.split(" ")[0]}` },
    h("span.fv-ratio-bar", {
      style: { left: `${Math.min(50, place(value))}%`, width: `${Math.abs(place(value) - 50)}%` },
    }),
    h("span.fv-ratio-span", { style: { left: `${start}%`, width: `${end - start}%` } }),
    h("span.fv-ratio-point", { style: { left: `${place(value)}%` } }),
  );
}
