"use strict";
(() => {
  function canUnpack(element) {
    if ("DecompressionStream" in globalThis) return true;
    element.textContent = "This browser is too old to unpack the page (it lacks DecompressionStream): use one from 2023 or later.";
    return false;
  }
  async function unpack(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }
  function add(tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    document.head.append(element);
  }
  var bokeh = null;
  function loadBokeh() {
    bokeh ??= unpack("bokeh").then((text) => {
      add("script", text);
      return globalThis.Bokeh;
    });
    return bokeh;
  }
  async function open() {
    const element = document.getElementById("viewer");
    if (!canUnpack(element)) return;
    const [program, style, text] = await Promise.all(["program", "style", "trace"].map(unpack));
    add("style", style);
    add("script", program);
    const { embedding, ...data } = JSON.parse(text);
    element.replaceChildren();
    const inFrame = { keys: "page", wheel: "ctrl", state: embedding?.state, loadBokeh };
    globalThis.viewer = FreezerViewer.mount(element, { ...data, options: embedding ? inFrame : { hash: true, loadBokeh } });
    if (embedding) FreezerViewer.joinPage(globalThis.viewer, embedding.id);
  }
  open();
})();
