/* Unpacks what the page carries and shows it. Packed: base64 of zlib, see viewer/report.py. */

/** @param {string} id */
async function unpack(id) {
  const packed = Uint8Array.from(atob(/** @type {HTMLElement} */ (document.getElementById(id)).textContent), (letter) =>
    letter.charCodeAt(0),
  );
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/**
 * Adds an element with that text to the page; a script runs at once, for the page's policy names its hash.
 * @param {string} tag
 * @param {string} text
 */
function add(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  document.head.append(element);
}

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
  if (!("DecompressionStream" in globalThis)) {
    element.textContent =
      "This browser is too old to unpack the report (it lacks DecompressionStream): use one from 2023 or later.";
    return;
  }
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
