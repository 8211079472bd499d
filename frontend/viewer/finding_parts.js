/* Frames and words that the findings share. */

import { h } from "./dom.js";
import { section } from "./section.js";

export const TIDIED = () =>
  h("span.fv-muted", { title: "It removed nodes that nothing read, and nothing else" }, " only tidied up");

/**
 * @param {any} error
 * @param {boolean} close
 */
export function judged(error, close) {
  if (error === null) return h("span.fv-muted", null, "not compared");
  return [error, close === false ? h("span.fv-bad", null, " ≠") : null];
}

/**
 * @param {string} name
 * @param {...any} children
 */
export function part(name, ...children) {
  const element = section(name, children);
  element.classList.add("fv-finding");
  return element;
}

/**
 * @param {any} name
 * @param {...any} children
 */
export function wide(name, ...children) {
  const element = part(name, children);
  element.classList.add("fv-finding-wide");
  return element;
}
