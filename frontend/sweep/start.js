/* Unpacks what the page of a sweep carries, and shows it. Packed: base64 of zlib, see viewer/report.py. */

/** @param {string} id */
async function unpack(id) {
  const packed = /** @type {HTMLElement} */ (document.getElementById(id)).textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

/**
 * @param {string} tag
 * @param {string} text
 */
function add(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  document.head.append(element);
}

async function open() {
  const [program, style, text] = await Promise.all(["program", "style", "data"].map(unpack));
  add("style", style);
  add("script", program);
  const element = /** @type {HTMLElement} */ (document.getElementById("viewer"));
  element.replaceChildren();
  FreezerSweep.mount(element, JSON.parse(text));
}

open();
