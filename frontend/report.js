/* Unpacks what the page carries and shows it. */

import { add, canUnpack, unpack } from "./unpacking.js";

let bokeh = null;

/** BokehJS is only unpacked when the charts are opened. */
function loadBokeh() {
  bokeh ??= unpack("bokeh").then((text) => {
    add("script", text);
    return globalThis.Bokeh;
  });
  return bokeh;
}

async function open() {
  const element = /** @type {HTMLElement} */ (document.getElementById("viewer"));
  if (!canUnpack(element)) return;
  const [program, style, text] = await Promise.all(["program", "style", "trace"].map(unpack));
  add("style", style);
  add("script", program);
  const { embedding, ...data } = JSON.parse(text);
  element.replaceChildren();
  const inFrame = { keys: "page", wheel: "ctrl", state: embedding?.state, loadBokeh };
  globalThis.viewer = FreezerViewer.mount(element, {
    ...data,
    options: embedding ? inFrame : { hash: true, loadBokeh },
  });
  if (embedding) FreezerViewer.joinPage(globalThis.viewer, embedding.id);
}

open();
