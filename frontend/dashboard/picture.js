/* The picture of the first page. */

import { svg } from "../viewer/dom.js";

/** A small picture of the program's subject: a pass folds a batch norm into the convolution before it. */
export function picture() {
  const box = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ text,
    /** @type {string} */ kind,
  ) => [
    svg("rect", { x, y, width: 96, height: 26, rx: 6, class: `fd-box fd-box-${kind}` }),
    Object.assign(svg("text", { x: x + 48, y: y + 17, "text-anchor": "middle", class: `fd-box-text fd-box-${kind}` }), {
      textContent: text,
    }),
  ];
  const edge = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ length) =>
    svg("path", { d: `M${x} ${y}v${length}`, class: "fd-edge" });
  const words = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ text) =>
    Object.assign(svg("text", { x, y, "text-anchor": "middle", class: "fd-picture-note" }), { textContent: text });
  return svg(
    "svg",
    { viewBox: "0 0 340 150", class: "fd-picture", "aria-hidden": "true", width: 340, height: 150 },
    words(60, 14, "before"),
    words(280, 14, "after"),
    edge(60, 52, 14),
    edge(60, 92, 14),
    edge(280, 62, 34),
    ...box(12, 26, "conv2d", "changed"),
    ...box(12, 66, "batch_norm", "removed"),
    ...box(12, 106, "relu", "same"),
    ...box(232, 36, "conv2d", "changed"),
    ...box(232, 96, "relu", "same"),
    svg("path", { d: "M124 79h92m-6-5 6 5-6 5", class: "fd-picture-arrow" }),
    words(170, 70, "fold batch norm"),
    words(170, 98, "1 of 23 passes"),
  );
}
