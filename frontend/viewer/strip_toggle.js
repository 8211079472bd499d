/* Opens and closes the strip of facts about the chosen pass, where a small window shows its first line only. */

import { fill, h } from "./dom.js";

/**
 * A button that shows the rest of a strip; the style sheet shows the button where the strip is shortened.
 * @param {HTMLElement} strip
 */
export function stripToggle(strip) {
  const isOpen = () => strip.dataset.open === "true";
  const button = h("button.fv-linklike.fv-small.fv-summary-toggle", {
    type: "button",
    onclick: () => {
      strip.dataset.open = String(!isOpen());
      show();
    },
  });
  const show = () => {
    button.setAttribute("aria-expanded", String(isOpen()));
    fill(button, isOpen() ? "Less" : "More");
  };
  strip.dataset.open ??= "false";
  show();
  return button;
}
