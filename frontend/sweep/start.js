/* Unpacks what the page of a sweep carries, and shows it. */

import { add, canUnpack, unpack } from "../unpacking.js";

async function open() {
  const element = /** @type {HTMLElement} */ (document.getElementById("viewer"));
  if (!canUnpack(element)) return;
  const [program, style, text] = await Promise.all(["program", "style", "data"].map(unpack));
  add("style", style);
  add("script", program);
  element.replaceChildren();
  FreezerSweep.mount(element, JSON.parse(text));
}

open();
