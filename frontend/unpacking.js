/* Unpacks what a page of one file carries: base64 of zlib, see viewer/report.py. */

/** Whether the browser can unpack; if not, the element says so. @param {HTMLElement} element */
export function canUnpack(element) {
  if ("DecompressionStream" in globalThis) return true;
  element.textContent =
    "This browser is too old to unpack the page (it lacks DecompressionStream): use one from 2023 or later.";
  return false;
}

/** @param {string} id of the element that holds the packed text */
export async function unpack(id) {
  const packed = Uint8Array.from(atob(/** @type {HTMLElement} */ (document.getElementById(id)).textContent), (letter) =>
    letter.charCodeAt(0),
  );
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/**
 * Adds an element with a text to the page; a script runs at once, for the page's policy names its hash.
 * @param {string} tag
 * @param {string} text
 */
export function add(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  document.head.append(element);
}
