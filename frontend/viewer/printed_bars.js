/* A chart for paper: one bar for each step, from zero. */

import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const SIZE = { width: 680, height: 120, foot: 16 }; // px

/**
 * Returns the chart, `null` without two values.
 * @param {string} title
 * @param {{ step: number, value: number | null, text: string }[]} values
 */
export function bars(title, values) {
  const known = values.filter(({ value }) => value !== null && Number.isFinite(value));
  if (known.length < 2) return null;
  const largest = known.reduce((one, other) => (Number(other.value) > Number(one.value) ? other : one));
  const most = Number(largest.value);
  if (!most) return figure(title, `${largest.text} at every step`, null);
  const slot = SIZE.width / values.length;
  const every = Math.ceil(values.length / 30); // so many numbers fit below
  const drawn = element("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height + SIZE.foot}`, role: "img" });
  values.forEach(({ step, value }, at) => {
    const height = (SIZE.height * (Number.isFinite(value) ? Number(value) : 0)) / most;
    const place = { x: at * slot, y: SIZE.height - height, width: Math.max(1, slot * 0.8), height };
    drawn.append(element("rect", { ...place, class: "fv-bar-kept" }));
    if (at % every) return;
    const number = element("text", { x: at * slot + slot * 0.4, y: SIZE.height + 12, "text-anchor": "middle" });
    number.textContent = String(step);
    drawn.append(number);
  });
  const words = `largest ${largest.text}, step ${largest.step}; at the end ${known.at(-1)?.text}`;
  return figure(title, words, drawn);
}

/**
 * @param {string} title
 * @param {string} words
 * @param {SVGElement | null} drawn nothing where all values are zero
 */
function figure(title, words, drawn) {
  const caption = h("figcaption", null, h("strong", null, title), h("span.fv-muted", null, ` ${words}`));
  return h("figure.fv-print-chart", null, caption, drawn);
}

/**
 * @param {string} name
 * @param {Record<string, any>} attributes
 */
function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
